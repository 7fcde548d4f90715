//! The parameters on the stage, in step with the link.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    experiments::{
        link::{Link, Page},
        spec::Draft,
    },
    systems::Portrait,
    ui::{browser::Throttle, route::Route},
};

/// Most changes of the link in a second; browsers refuse more than a few.
pub const WRITES: f64 = 3.0;

/// The parameters φ of one system.
#[derive(Clone, Copy)]
pub struct Setting {
    route: Route,
    /// The parameters as the sliders give them, accepted or not.
    pub phi: RwSignal<Vec<f64>>,
    /// Why they are refused; empty if they are not.
    pub problem: Signal<String>,
}

impl Setting {
    /// Reads the parameters from the link, follows it, and writes accepted changes into it.
    pub fn follow(system: Arc<dyn Portrait>) -> Self {
        let route = expect_context::<Route>();
        let usual = system.about().typical();
        let linked = Memo::new(move |_| {
            let phi = route.link().spec.phi.clone();
            if phi.len() == usual.len() {
                phi
            } else {
                usual.clone()
            }
        });
        let phi = RwSignal::new(linked.get_untracked());
        Effect::new(move || {
            let linked = linked.get();
            if phi.with_untracked(|phi| *phi != linked) {
                phi.set(linked);
            }
        });
        let problem = Memo::new(move |_| {
            system
                .check_phi(&phi.get())
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default()
        });
        let setting = Self {
            route,
            phi,
            problem: problem.into(),
        };
        let throttle = Throttle::new(WRITES);
        Effect::new(move || {
            let changed = phi.get() != linked.get_untracked();
            if changed && problem.with(String::is_empty) {
                throttle.run(move || setting.write());
            }
        });
        setting
    }

    /// Writes the parameters into the link, if they are accepted by then.
    fn write(self) {
        let link = self.route.link_untracked();
        let (Some(phi), Some(problem)) = (
            self.phi.try_get_untracked(),
            self.problem.try_get_untracked(),
        ) else {
            return;
        };
        if problem.is_empty() {
            let draft = Draft {
                phi,
                ..Draft::from(link.spec.clone())
            };
            self.route.replace(Link {
                spec: draft.corrected().0,
                ..link
            });
        }
    }

    /// The experiment on this system and these parameters. Charges need a weight each.
    pub fn experiment(self) -> impl Fn() -> String + Clone {
        move || {
            let mut draft = Draft::from(self.route.link().spec);
            if !draft.places.is_empty() {
                draft.rank = draft.places.len();
            }
            Link {
                page: Page::Experiments,
                spec: draft.corrected().0,
                run: false,
                view: String::new(),
            }
            .write()
        }
    }
}
