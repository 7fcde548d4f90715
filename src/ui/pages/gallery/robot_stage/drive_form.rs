//! What pushes the robot, as the visitor chooses it.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};

use crate::{
    control::reference::Reference,
    systems::{cartpole::Cartpole, trajectories::Sine},
    ui::{
        browser,
        components::{Segmented, Slider},
        entry::Range,
        stage::Drive,
    },
};

/// Inputs that lead a robot upright, where there are some.
type Inputs = Option<Arc<Vec<f64>>>;

/// The chosen input.
#[derive(Clone, Copy)]
pub struct DriveChoice {
    robot: &'static str,
    kind: RwSignal<String>,
    amplitude: RwSignal<f64>,
    period: RwSignal<f64>,
    swing_up: RwSignal<Inputs>,
}

impl DriveChoice {
    /// The input that a robot has at first.
    pub fn new(robot: &'static str) -> Self {
        let (kind, amplitude, period) = match robot {
            "pendulum" => ("sine", 1.0, 3.0),
            _ => ("swing-up", 5.0, 2.0),
        };
        let choice = Self {
            robot,
            kind: RwSignal::new(kind.to_owned()),
            amplitude: RwSignal::new(amplitude),
            period: RwSignal::new(period),
            swing_up: RwSignal::new(None),
        };
        choice.prepare();
        choice
    }

    /// Computes the cartpole's swing-up and loads the arm's, which takes longer to compute.
    fn prepare(self) {
        match self.robot {
            "cartpole" => {
                let usual = Reference::cartpole_swing_up(&Cartpole::default(), &[2.0, 0.3]);
                self.swing_up
                    .set(usual.ok().map(|reference| Arc::new(reference.inputs)));
            }
            "arm" => spawn_local(async move {
                let inputs = browser::fetch_numbers("references/arm-swing-up.json", "inputs").await;
                self.swing_up.try_set(inputs.map(Arc::new));
            }),
            _ => {}
        }
    }

    /// What has to change for the robot to start anew: the kind, and whether its inputs are there.
    pub fn kind(self) -> (String, bool) {
        (self.kind.get(), self.swing_up.with(Option::is_some))
    }

    /// The input.
    pub fn drive(self) -> Drive {
        self.kind.with(|kind| match kind.as_str() {
            "sine" => Drive::Sine(Sine {
                amplitude: self.amplitude.get(),
                period: self.period.get(),
                phase: 0.0,
            }),
            "swing-up" => Drive::Given(self.swing_up.get().unwrap_or_default()),
            _ => Drive::Free,
        })
    }

    /// The input, without being told when it changes.
    pub fn drive_untracked(self) -> Drive {
        untrack(|| self.drive())
    }

    /// The input in words, for those who do not see it.
    pub fn words(self) -> String {
        if self.robot == "upkie" {
            return "balanced while it rolls to and fro; the ghost is where it should be"
                .to_owned();
        }
        let input = self.kind.with(|kind| match kind.as_str() {
            "sine" => "pushed by a sine",
            "swing-up" => "swinging up",
            _ => "let go near upright",
        });
        format!("{input}; behind it as a ghost, the same with usual parameters")
    }

    /// What the picture shows.
    pub fn explanation(self) -> &'static str {
        if self.robot == "upkie" {
            return "The ghost is where the robot should be.";
        }
        self.kind.with(|kind| match kind.as_str() {
            "swing-up" => {
                "The ghost has the usual parameters, for which these inputs were made: they bring it upright and hold it there. \
                 Your robot gets the same inputs."
            }
            _ => "The ghost has the usual parameters and the same input. It hides behind your robot until yours differ.",
        })
    }

    fn options(self) -> Vec<(String, String)> {
        let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let mut options = vec![named("sine", "Sine"), named("none", "Let go")];
        if self.robot != "pendulum" {
            options.insert(0, named("swing-up", "Swing-up"));
        }
        options
    }
}

/// Swing-up, sine or nothing; a sine has an amplitude and a period.
#[component]
pub fn DriveForm(
    /// The choice.
    choice: DriveChoice,
    /// Unit of the input.
    unit: &'static str,
) -> impl IntoView {
    if choice.robot == "upkie" {
        return ().into_any();
    }
    let largest = match choice.robot {
        "pendulum" => 3.0,
        "cartpole" => 20.0,
        _ => 12.0,
    };
    let is_sine = move || choice.kind.with(|kind| kind == "sine");
    view! {
        <Segmented label="Input" options=choice.options() value=choice.kind on_change=move |kind| choice.kind.set(kind) />
        <Show when=is_sine>
            <div class="stage__sliders">
                <Slider label="Amplitude" unit=unit value=choice.amplitude on_input=move |value| choice.amplitude.set(value)
                    range=Range { min: 0.0, max: largest, whole: false } step=largest / 60.0 />
                <Slider label="Period" unit="s" value=choice.period on_input=move |value| choice.period.set(value)
                    range=Range { min: 0.5, max: 8.0, whole: false } step=0.1 />
            </div>
        </Show>
    }
    .into_any()
}
