//! A robot that moves.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    systems::System,
    ui::{
        browser::{self, Throttle},
        canvas::Scene,
        components::{Notice, Playback, RobotCanvas, Tone},
        pages::gallery::robot_stage::drive_form::{DriveChoice, DriveForm},
        stage::{Balanced, Drive, Driven, Figure, Performer},
        views::SPEEDS,
    },
};

mod drive_form;
mod figures;

use figures::Figures;

/// Time that a step makes pass [s].
const STEP: f64 = 0.02;
/// Most changes of the numbers in a second, so that they can be read.
const READINGS: f64 = 8.0;

/// A robot, its ghost, what pushes it, and its numbers.
#[component]
pub fn RobotStage(
    /// The robot.
    system: Arc<dyn System>,
    /// Its parameters φ; refused ones change nothing.
    phi: RwSignal<Vec<f64>>,
) -> impl IntoView {
    let about = system.description();
    let (name, title, unit) = (about.name, about.title, about.target.unit);
    let choice = DriveChoice::follow(name);
    let play = Play::new(system, phi, choice);
    let Play {
        paused,
        scene,
        figures,
        stopped,
        ..
    } = play;
    let speed = RwSignal::new(1.0);
    let running = Signal::derive(move || !paused.get());
    browser::animate(running, move |milliseconds| {
        play.advance(speed.get_untracked() * milliseconds / 1e3)
    });
    let toggle = move |()| {
        if stopped.with_untracked(Option::is_some) {
            play.restart();
        }
        paused.update(|paused| *paused = !*paused);
    };
    let label = move || format!("{title}, {}", choice.words());
    view! {
        <div class="stage">
            <div class="stage__view">
                <RobotCanvas scene=scene label=Signal::derive(label) />
            </div>
            <div class="stage__bar">
                <Playback paused=paused on_toggle=toggle on_step=move |()| play.advance(STEP)
                    on_reset=move |()| play.restart() speeds=&SPEEDS speed=speed on_speed=move |s| speed.set(s) />
                <DriveForm choice=choice unit=unit />
            </div>
        </div>
        <Show when=move || stopped.with(Option::is_some)>
            <Notice tone=Tone::Warn title="Stopped">
                <p>{move || stopped.get()} ". Press Reset to start again."</p>
            </Notice>
        </Show>
        <Figures figures=figures />
        <p class="small muted">{move || choice.explanation()}</p>
    }
    .into_any()
}

/// A running robot.
#[derive(Clone, Copy)]
struct Play {
    system: StoredValue<Arc<dyn System>>,
    phi: RwSignal<Vec<f64>>,
    choice: DriveChoice,
    performer: StoredValue<Option<Box<dyn Performer>>, LocalStorage>,
    readings: StoredValue<std::rc::Rc<Throttle>, LocalStorage>,
    paused: RwSignal<bool>,
    scene: RwSignal<Scene>,
    figures: RwSignal<Vec<Figure>>,
    stopped: RwSignal<Option<String>>,
}

impl Play {
    fn new(system: Arc<dyn System>, phi: RwSignal<Vec<f64>>, choice: DriveChoice) -> Self {
        let play = Self {
            system: StoredValue::new(system),
            phi,
            choice,
            performer: StoredValue::new_local(None),
            readings: StoredValue::new_local(Throttle::new(READINGS)),
            paused: RwSignal::new(browser::reduced_motion()),
            scene: RwSignal::default(),
            figures: RwSignal::default(),
            stopped: RwSignal::new(None),
        };
        // Another kind of input starts anew, a changed size or parameter acts at once.
        let kind = Memo::new(move |_| choice.kind());
        Effect::new(move || {
            // Read, not only tracked: a memo that nobody reads hears of no change.
            kind.with(|_| ());
            play.restart();
        });
        Effect::new(move || {
            let drive = choice.drive();
            play.change(|performer| performer.set_drive(drive));
        });
        Effect::new(move || {
            // A refusal is told next to the sliders.
            phi.with(|phi| play.change(|performer| drop(performer.set_parameters(phi))));
        });
        play
    }

    fn change(self, change: impl FnOnce(&mut dyn Performer)) {
        self.performer.update_value(|performer| {
            if let Some(performer) = performer {
                change(&mut **performer);
            }
        });
        self.show();
    }

    /// Back to the start. Where the present parameters are refused, the usual ones are taken.
    fn restart(self) {
        let system = self.system.get_value();
        let phi = self.phi.get_untracked();
        let phi = if system.check(&phi).is_ok() {
            phi
        } else {
            system.description().typical()
        };
        match performer(system, &phi, self.choice.drive_untracked()) {
            Ok(performer) => {
                self.performer.set_value(Some(performer));
                self.stopped.set(None);
            }
            Err(error) => self.stop(error.to_string()),
        }
        self.show();
    }

    fn advance(self, seconds: f64) {
        let outcome = self
            .performer
            .try_update_value(|performer| match performer {
                Some(performer) => performer.advance(seconds),
                None => Ok(()),
            });
        match outcome {
            Some(Err(error)) => self.stop(error.to_string()),
            _ => self.show(),
        }
    }

    fn stop(self, reason: String) {
        self.paused.set(true);
        self.stopped.set(Some(reason));
    }

    fn show(self) {
        self.performer.with_value(|performer| {
            if let Some(performer) = performer {
                self.scene.set(performer.scene());
            }
        });
        let read = move || {
            let figures = self
                .performer
                .try_with_value(|p| p.as_ref().map(|p| p.figures()));
            if let Some(Some(figures)) = figures {
                self.figures.try_set(figures);
            }
        };
        self.readings.with_value(|readings| readings.run(read));
    }
}

fn performer(
    system: Arc<dyn System>,
    phi: &[f64],
    drive: Drive,
) -> Result<Box<dyn Performer>, crate::systems::SystemError> {
    Ok(match system.description().name {
        "upkie" => Box::new(Balanced::new(phi)?),
        _ => Box::new(Driven::new(system, phi, drive)?),
    })
}
