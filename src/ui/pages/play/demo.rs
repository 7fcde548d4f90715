//! The demonstration as the page sees it.

use std::collections::VecDeque;

use gloo::events::EventListener;
use leptos::prelude::*;

use crate::{
    engine::{
        client::Engine,
        protocol::{Event, Work},
    },
    experiments::live::{Command, LaneTick, MASSES, Tick},
    ui::{
        canvas::Trail,
        pages::play::{
            picture,
            setting::{self, Setting},
        },
        route::Route,
        views::MASS,
    },
};

/// Steps of the demonstration between two points of the chart.
const STRIDE: usize = 5;
/// Points of the chart: 20 s.
const POINTS: usize = 200;

/// One point of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Time [s].
    pub time: f64,
    /// True mass [kg].
    pub mass: f64,
    /// Mass that CAMEL identifies, and its standard error [kg].
    pub identified: (f64, f64),
    /// Mass that ANIL identifies [kg].
    pub anil: f64,
    /// Whether CAMEL noticed a change since the last point.
    pub noticed: bool,
}

impl Point {
    fn of(tick: &Tick, noticed: bool) -> Self {
        let identified = |lane: usize| tick.lanes.get(lane).and_then(|lane| lane.identified);
        let error = tick.lanes.first().and_then(|lane| lane.standard_error);
        Self {
            time: tick.time,
            mass: tick.mass,
            identified: (identified(0).unwrap_or(f64::NAN), error.unwrap_or(0.0)),
            anil: identified(1).unwrap_or(f64::NAN),
            noticed,
        }
    }
}

/// A running demonstration. It ends with the page that started it.
#[derive(Clone, Copy)]
pub struct Demo {
    engine: StoredValue<Engine, LocalStorage>,
    /// The newest step; none until the engine has loaded.
    pub tick: RwSignal<Option<Tick>>,
    /// The last 20 s.
    pub history: RwSignal<VecDeque<Point>>,
    /// Time of a control step of each lane [s].
    pub seconds_a_tick: RwSignal<Vec<f64>>,
    /// The mass that the visitor has set [kg].
    pub mass: RwSignal<f64>,
    /// Whether the clock stands.
    pub paused: RwSignal<bool>,
    /// Multiple of real time.
    pub speed: RwSignal<f64>,
    /// What went wrong; empty if nothing.
    pub problem: RwSignal<String>,
    trails: StoredValue<Vec<Trail>>,
    count: StoredValue<(usize, bool)>,
}

impl Demo {
    /// Starts in a worker, as the link says. A visitor who prefers reduced motion starts it by hand.
    pub fn start() -> Self {
        let route = expect_context::<Route>();
        let Setting {
            mass,
            speed,
            paused,
        } = Setting::read(&route.link_untracked().view);
        let demo = Self {
            engine: StoredValue::new_local(Engine::default()),
            tick: RwSignal::default(),
            history: RwSignal::default(),
            seconds_a_tick: RwSignal::default(),
            mass: RwSignal::new(mass),
            paused: RwSignal::new(paused),
            speed: RwSignal::new(speed),
            problem: RwSignal::default(),
            trails: StoredValue::new(picture::trails()),
            count: StoredValue::new((0, false)),
        };
        demo.launch();
        setting::follow(route, demo);
        let seen = move |_: &web_sys::Event| demo.send_paused();
        // Listens for as long as the page is there.
        StoredValue::new_local(EventListener::new(&document(), "visibilitychange", seen));
        on_cleanup(move || {
            demo.engine.try_with_value(Engine::close);
        });
        demo
    }

    /// What a link holds of it.
    pub fn setting(self) -> Setting {
        Setting {
            mass: self.mass.get(),
            speed: self.speed.get(),
            paused: self.paused.get(),
        }
    }

    /// Takes over what a link says.
    pub fn set(self, setting: Setting) {
        self.set_mass(setting.mass);
        self.set_speed(setting.speed);
        self.paused.set(setting.paused);
        self.send_paused();
    }

    /// Starts the engine, also again after it has failed.
    pub fn launch(self) {
        self.problem.set(String::new());
        self.engine
            .with_value(|engine| engine.start(Work::Live, move |event| self.hear(event)));
    }

    fn hear(self, event: Event) {
        match event {
            Event::Started { .. } => {
                self.send_paused();
                self.send(Command::Speed(self.speed.get_untracked()));
                self.send(Command::CartMass(self.mass.get_untracked()));
                self.send(Command::Step(1));
            }
            Event::Ticks(ticks) => match ticks.open() {
                Ok(news) => self.show(news.ticks, news.seconds_a_tick),
                Err(text) => {
                    self.problem.try_set(text);
                }
            },
            Event::Note(text) | Event::Failed(text) => {
                self.problem.try_set(text);
            }
            _ => {}
        }
    }

    fn show(self, ticks: Vec<Tick>, seconds_a_tick: Vec<f64>) {
        self.seconds_a_tick.try_set(seconds_a_tick);
        let mut points = Vec::new();
        self.count.try_update_value(|(count, noticed)| {
            for tick in &ticks {
                *count += 1;
                *noticed |= tick.lanes.first().is_some_and(|lane| lane.noticed);
                if *count % STRIDE == 0 {
                    points.push(Point::of(tick, std::mem::take(noticed)));
                }
            }
        });
        if !points.is_empty() {
            self.history.try_update(|history| {
                history.extend(points);
                let excess = history.len().saturating_sub(POINTS);
                history.drain(..excess);
            });
        }
        self.trails.try_update_value(|trails| {
            for tick in &ticks {
                picture::extend(trails, tick);
            }
        });
        if let Some(last) = ticks.into_iter().next_back() {
            self.tick.try_set(Some(last));
        }
    }

    /// Passes a command on.
    pub fn send(self, command: Command) {
        self.engine.try_with_value(|engine| engine.command(command));
    }

    /// Gives the carts another mass [kg].
    pub fn set_mass(self, mass: f64) {
        self.mass.set(mass);
        self.send(Command::CartMass(mass));
    }

    /// Doubles the mass, or halves one whose double would be too heavy.
    pub fn double(self) {
        let factor = if self.is_heavy() { 0.5 } else { 2.0 };
        self.set_mass(factor * self.mass.get_untracked());
    }

    fn is_heavy(self) -> bool {
        2.0 * self.mass.get() > MASS.max
    }

    /// What the big button does.
    pub fn double_text(self) -> &'static str {
        if self.is_heavy() {
            "Halve the cart's mass now"
        } else {
            "Double the cart's mass now"
        }
    }

    /// Stops the clock or lets it run.
    pub fn toggle(self) {
        self.paused.update(|paused| *paused = !*paused);
        self.send_paused();
    }

    /// Nobody looks at a hidden tab, so the clock stands there too.
    fn send_paused(self) {
        if let Some(paused) = self.paused.try_get_untracked() {
            self.send(Command::Paused(paused || document().hidden()));
        }
    }

    /// Sets the multiple of real time.
    pub fn set_speed(self, speed: f64) {
        self.speed.set(speed);
        self.send(Command::Speed(speed));
    }

    /// Starts anew, with another engine if this one has failed.
    pub fn reset(self) {
        self.mass.set(MASSES[0]);
        self.history.set(VecDeque::new());
        self.trails.set_value(picture::trails());
        if !self.problem.with_untracked(String::is_empty) {
            return self.launch();
        }
        self.send(Command::Reset);
        if self.paused.get_untracked() {
            self.send(Command::Step(1));
        }
    }

    /// Where the tip of a lane's pole has been.
    pub fn trail(self, lane: usize) -> Option<Trail> {
        self.trails.with_value(|trails| trails.get(lane).cloned())
    }

    /// Words on one lane of the newest step, or a dash before there is one.
    pub fn lane_text(self, lane: usize, text: impl Fn(&LaneTick) -> String) -> String {
        self.tick.with(|tick| {
            let seen = tick.as_ref().and_then(|tick| tick.lanes.get(lane));
            seen.map_or_else(|| "–".to_owned(), text)
        })
    }

    /// Time of one control step of a lane, in words.
    pub fn step_time(self, lane: usize) -> String {
        self.seconds_a_tick.with(|seconds| {
            let seconds = seconds.get(lane).filter(|seconds| **seconds > 0.0);
            seconds.map_or_else(
                || "–".to_owned(),
                |seconds| format!("{:.0} µs", 1e6 * seconds),
            )
        })
    }
}
