//! One experiment: its settings, its training, its results.

use leptos::prelude::*;

use crate::{
    experiments::{
        link::{Link, Page},
        spec::Spec,
    },
    ui::{
        pages::experiments::{results::Results, run_panel::RunPanel, settings::SettingsForm},
        route::Route,
        session::Session,
    },
};

mod results;
mod run_panel;
mod settings;

/// The page of one experiment.
#[component]
pub fn Experiments() -> impl IntoView {
    let route = expect_context::<Route>();
    let session = expect_context::<Session>();
    let spec = Memo::new(move |_| route.link().spec);
    // A link with `run=1` starts by itself, once for each time it is opened.
    Effect::new(move || {
        let link = route.link();
        if link.run && link.page == Page::Experiments {
            route.replace(Link { run: false, ..link.clone() });
            session.start(link.spec);
        }
    });
    let change = move |spec: Spec| route.replace(Link { page: Page::Experiments, spec, run: false });
    view! {
        <h1>"Experiment"</h1>
        <p class="lead">
            "Train a model on several environments, then adapt it to one that it has never seen, from a few samples."
        </p>
        <div class="split">
            <SettingsForm spec=spec change=Callback::new(change) />
            <div class="stack">
                <RunPanel spec=spec />
                <Results />
            </div>
        </div>
    }
}
