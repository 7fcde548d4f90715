//! One run of online control: a mass changes by a factor and at a time that the visitor chooses, and
//! the model is never told. It runs in (a multiple of) real time, with pause, step and reset.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use web_time::Instant;

use self::{course::Course, simulation::simulation};
use super::{
    identifiers,
    live::{Command, LiveError},
    run::Stop,
    view,
};
use crate::{
    control::error::ControlError,
    engine::{
        jobs::Clock,
        pacing::{Host, REPORT},
        protocol::{DeviceUsed, Event},
    },
    identification::budget::{Punctuality, measured},
    learners::{Model, weights},
    systems::{self, SystemError},
};

mod cartpole_run;
mod course;
mod driver;
mod simulation;
mod upkie_run;

/// What may control, the model or the formula that it predicts with.
pub const METHODS: [&str; 6] = ["camel", "anil", "coda", "maml", "r2d2", "analytic"];
/// Factors on the mass.
pub const FACTORS: (f64, f64) = (0.5, 4.0);
/// Time without a message after which one is due, so that a run that stands does not seem dead.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Most points that a run keeps.
pub const MOST_POINTS: usize = 500;
/// Name of a run in a link's view, and what stood before it in former links.
pub const VIEW: &str = "online";
const FORMER: &str = "online=";
/// What a run with the exciting input says in a link after its numbers.
pub const EXCITING: &str = "exciting";

/// What to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnlineSpec {
    /// `cartpole` or `upkie`.
    pub system: String,
    /// One of [`METHODS`].
    pub method: String,
    /// Factor on the mass, above 0.
    pub factor: f64,
    /// Time of the change [s], within the run.
    pub time: f64,
    /// Seed of the disturbance.
    pub seed: u64,
    /// Whether the cartpole under CAMEL follows the motion under an exciting input, not that under the sine.
    #[serde(default)]
    pub exciting: bool,
}

/// One step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnlinePoint {
    /// Time [s].
    pub time: f64,
    /// True mass [kg].
    pub truth: f64,
    /// Identified mass [kg], if the controller identifies.
    pub estimate: Option<f64>,
    /// Its standard error [kg], if there is one.
    pub standard_error: Option<f64>,
    /// Distance of the cartpole's tip to its reference, or of Upkie to its path [m].
    pub error: f64,
    /// The same for an oracle, which knows the equations and is told of the change.
    #[serde(default)]
    pub oracle: Option<f64>,
    /// Ticks since the point before that ended without the adaptation to their observation.
    #[serde(default)]
    pub missed: usize,
}

/// How a run goes: what happened so far, or since the last message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OnlineRun {
    /// Whether it began anew.
    pub anew: bool,
    /// Every so many of its steps.
    pub points: Vec<OnlinePoint>,
    /// Times at which the model noticed a change [s].
    pub noticed: Vec<f64>,
    /// Ticks so far.
    pub ticks: usize,
    /// Ticks so far that ended without the adaptation to their observation.
    pub missed: usize,
    /// Mean time of an adaptation so far [s], measured around it alone.
    pub seconds_a_tick: f64,
    /// Mean time of a whole tick so far [s], of the robot and its controller; former files have none.
    #[serde(default)]
    pub seconds_a_step: f64,
    /// Sum of the errors of all ticks so far [m]; former files have none.
    #[serde(default)]
    pub total: Option<f64>,
    /// The same for the oracle, as long as it has not failed.
    #[serde(default)]
    pub total_oracle: Option<f64>,
}

impl OnlineRun {
    /// Takes in what happened since.
    pub fn extend(&mut self, news: Self) {
        if news.anew {
            *self = news;
            return;
        }
        self.points.extend(news.points);
        self.noticed.extend(news.noticed);
        (self.ticks, self.missed) = (news.ticks, news.missed);
        (self.seconds_a_tick, self.seconds_a_step) = (news.seconds_a_tick, news.seconds_a_step);
        (self.total, self.total_oracle) = (news.total, news.total_oracle);
    }

    fn keep(
        &mut self,
        Punctuality {
            ticks,
            missed,
            seconds,
            ..
        }: &Punctuality,
        all_steps: f64,
    ) {
        (self.ticks, self.missed) = (*ticks, *missed);
        self.seconds_a_step = all_steps / (*ticks).max(1) as f64;
        self.seconds_a_tick = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
    }
}

/// Time that an adaptation may take on this system [ms], if it has a run: one tick of the robot.
pub fn tick_ms(system: &str) -> Option<f64> {
    match system {
        "cartpole" => Some(20.0),
        "upkie" => Some(5.0),
        _ => None,
    }
}

/// Length of a system's run [s], if it has one.
pub fn duration(system: &str) -> Option<f64> {
    match system {
        "cartpole" => Some(24.0),
        "upkie" => Some(10.0),
        _ => None,
    }
}

/// Whether the mass may change at this time [s] of a system's run: at its end there is no step left.
pub fn may_change_at(system: &str, time: f64) -> bool {
    duration(system).is_some_and(|length| (0.0..length).contains(&time))
}

impl OnlineSpec {
    /// The usual run of a system.
    pub fn usual(system: &str) -> Self {
        Self {
            system: system.to_owned(),
            method: METHODS[0].to_owned(),
            factor: if system == "upkie" { 4.0 } else { 2.0 },
            time: (duration(system).unwrap_or(0.0) / 3.0).round(),
            seed: 0,
            exciting: false,
        }
    }

    /// The run in a link's view, if there is one; what is unknown or out of range is as usual.
    pub fn of_view(system: &str, view: &str) -> Option<Self> {
        let mut spec = Self::usual(system);
        // Former links have `online=camel,3,2.5`.
        let former = || view.split(';').find_map(|part| part.strip_prefix(FORMER));
        let words = view::get(view, VIEW).or_else(|| former().map(str::to_owned))?;
        let mut words = words.split(['-', ',']);
        if let Some(method) = words.next().filter(|word| METHODS.contains(word)) {
            method.clone_into(&mut spec.method);
        }
        let mut number = |low: f64, high: f64| {
            let value: f64 = words.next()?.parse().ok()?;
            (low..=high).contains(&value).then_some(value)
        };
        spec.factor = number(FACTORS.0, FACTORS.1).unwrap_or(spec.factor);
        spec.time = number(0.0, f64::MAX)
            .filter(|time| may_change_at(system, *time))
            .unwrap_or(spec.time);
        let may_excite = system == "cartpole" && spec.method == METHODS[0];
        spec.exciting = may_excite && words.next() == Some(EXCITING);
        Some(spec)
    }

    /// A link's view with this run in it; other parts of it stay.
    pub fn in_view(&self, view: &str) -> String {
        let mut own = format!("{}-{}-{}", self.method, self.factor, self.time);
        if self.exciting {
            own = format!("{own}-{EXCITING}");
        }
        view::set(view, VIEW, Some(&own))
    }

    /// Refuses what cannot be run.
    fn check(&self) -> Result<(), ControlError> {
        let invalid = |text: String| ControlError::from(SystemError::Invalid(text));
        let length = duration(&self.system).ok_or_else(|| {
            invalid(format!(
                "online control is for cartpole and upkie, but the system is '{}'",
                self.system
            ))
        })?;
        if !METHODS.contains(&&*self.method) {
            return Err(invalid(format!(
                "the controller must be one of {}, but is '{}'",
                METHODS.join(", "),
                self.method
            )));
        }
        if !may_change_at(&self.system, self.time) {
            return Err(ControlError::Setting {
                name: "the time of the change",
                value: self.time,
                allowed: format!("0 s or more and below {length} s"),
            });
        }
        Ok(())
    }

    /// The shipped model of the method; a formula needs none.
    async fn model(&self, host: &impl Host) -> Result<Option<Arc<Model>>, LiveError> {
        if self.method == "analytic" {
            return Ok(None);
        }
        let file = format!("weights/{}-{}.safetensors", self.system, self.method);
        let bytes = host.read(&file).await.map_err(LiveError::File)?;
        Ok(Some(Arc::new(weights::import(&bytes)?)))
    }
}

/// Runs and tells the host of every event, the last one included.
pub async fn run(spec: &OnlineSpec, host: &impl Host) {
    host.emit(match online(spec, host).await {
        Ok(()) => Event::Done,
        Err(stop) => stop.into(),
    });
}

/// Runs to the end.
async fn online(spec: &OnlineSpec, host: &impl Host) -> Result<(), Stop> {
    spec.check()?;
    let model = spec.model(host).await?;
    if let Some(model) = model.as_ref().filter(|_| spec.method == "camel") {
        let system = systems::by_name(&spec.system)?;
        identifiers::prepare(model, system.as_ref(), 0, host).await?;
    }
    let begin = || simulation(spec, model.as_ref(), measured).map(Course::new);
    let mut course = begin()?;
    let name = "cpu".to_owned();
    let device = DeviceUsed {
        name,
        ..DeviceUsed::default()
    };
    host.emit(Event::Started { device });
    let mut clock = Clock::default();
    let (mut last, mut said) = (Instant::now(), Instant::now());
    let mut anew = true;
    while !host.cancelled() {
        for command in host.commands() {
            if command == Command::Reset {
                course = begin()?;
                anew = true;
            }
            clock.obey(command);
        }
        let passed = last.elapsed().as_secs_f64();
        last = Instant::now();
        let (mut news, steps, over) = course.advance(&mut clock, passed, REPORT / 2)?;
        news.anew = anew;
        if anew || !news.points.is_empty() || steps > 0 || said.elapsed() > HEARTBEAT {
            (anew, said) = (false, Instant::now());
            host.emit(Event::Online(news.into()));
        }
        if over {
            return Ok(());
        }
        host.sleep(REPORT / 2).await;
    }
    Err(Stop::Cancelled)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod secrecy_tests;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
