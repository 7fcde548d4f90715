//! What pushes the robot, as the visitor chooses it.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};

use crate::{
    control::reference::Reference,
    experiments::link::Link,
    systems::{cartpole::Cartpole, trajectories::Sine},
    ui::{
        browser::{self, Throttle},
        components::{Segmented, Slider},
        pages::gallery::setting::WRITES,
        route::Route,
        stage::{Drive, Push, push::PERIODS},
    },
};

/// Inputs that lead a robot upright, where there are some.
type Inputs = Option<Arc<Vec<f64>>>;

/// The chosen input.
#[derive(Clone, Copy)]
pub struct DriveChoice {
    robot: &'static str,
    route: Route,
    push: RwSignal<Push>,
    swing_up: RwSignal<Inputs>,
}

impl DriveChoice {
    /// Reads the input from the link, follows it, and writes changes into it.
    pub fn follow(robot: &'static str) -> Self {
        let route = expect_context::<Route>();
        let linked = Memo::new(move |_| Push::read(robot, &route.link().view));
        let choice = Self {
            robot,
            route,
            push: RwSignal::new(linked.get_untracked()),
            swing_up: RwSignal::new(None),
        };
        let push = choice.push;
        Effect::new(move || {
            let linked = linked.get();
            if push.with_untracked(|push| push.write(robot) != linked.write(robot)) {
                push.set(linked);
            }
        });
        let throttle = Throttle::new(WRITES);
        Effect::new(move || {
            if push.with(|push| push.write(robot)) != linked.get_untracked().write(robot) {
                throttle.run(move || choice.write());
            }
        });
        choice.prepare();
        choice
    }

    fn write(self) {
        if let Some(push) = self.push.try_get_untracked() {
            let view = push.write(self.robot);
            let link = self.route.link_untracked();
            self.route.replace(Link { view, ..link });
        }
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
        let kind = self.push.with(|push| push.kind.clone());
        (kind, self.swing_up.with(Option::is_some))
    }

    /// The input.
    pub fn drive(self) -> Drive {
        self.push.with(|push| match push.kind.as_str() {
            "sine" => Drive::Sine(Sine {
                amplitude: push.amplitude,
                period: push.period,
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
        let input = self.push.with(|push| match push.kind.as_str() {
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
        self.push.with(|push| match push.kind.as_str() {
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
    let push = choice.push;
    let kind = Memo::new(move |_| push.with(|push| push.kind.clone()));
    let is_sine = move || kind.with(|kind| kind == "sine");
    let amplitudes = Push::amplitudes(choice.robot);
    view! {
        <Segmented label="Input" options=choice.options() value=kind
            on_change=move |kind| push.update(|push| push.kind = kind) />
        <Show when=is_sine>
            <div class="stage__sliders">
                <Slider label="Amplitude" unit=unit value=Signal::derive(move || push.with(|push| push.amplitude))
                    on_input=move |value| push.update(|push| push.amplitude = value)
                    range=amplitudes step=amplitudes.max / 60.0 />
                <Slider label="Period" unit="s" value=Signal::derive(move || push.with(|push| push.period))
                    on_input=move |value| push.update(|push| push.period = value)
                    range=PERIODS step=0.1 />
            </div>
        </Show>
    }
    .into_any()
}
