//! One experiment: its settings, its training, its results.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    experiments::{
        compare,
        link::{Link, Page},
        online_run,
        spec::Spec,
        view,
    },
    ui::{
        pages::{
            chooser::Chooser,
            experiments::{
                adaptive::Adaptive, comparison::Comparison, explorer::Explorer,
                run_panel::RunPanel, settings::SettingsForm, transfer::Transfer,
            },
        },
        route::Route,
        session::Session,
    },
};

mod adaptive;
mod comparison;
mod explorer;
mod motion_view;
mod pictures;
pub(super) mod results;
pub(super) mod run_panel;
pub(super) mod settings;
mod transfer;

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
            route.replace(Link {
                run: false,
                ..link.clone()
            });
            session.start(link.spec);
        }
    });
    let change = move |spec: Spec| route.replace(with_spec(route.link_untracked(), spec));
    let name = Memo::new(move |_| spec.with(|spec| spec.system.clone()));
    let kind = Memo::new(move |_| spec.with(|spec| spec.kind()));
    let explorer = move || {
        // Read, not only tracked: a memo that nobody reads hears of no change.
        kind.with(|_| ());
        let portrait = spec.with_untracked(|spec| spec.portrait()).ok();
        portrait.map(|system| view! { <Explorer system=Arc::from(system) /> })
    };
    view! {
        <header class="page-head">
            <p class="eyebrow">"Experiment"</p>
            <h1>{move || compare::title(&spec.get().system)}</h1>
            <p class="lead">
                "Train a model on several environments, then adapt it to one that it has never seen, from a few samples."
            </p>
        </header>
        <Chooser page=Page::Experiments chosen=name />
        <div class="split">
            <aside class="split__aside stack">
                <SettingsForm spec=spec change=Callback::new(change) />
            </aside>
            <div class="stack">
                <RunPanel run=session.run spec=spec on_train=move |()| session.start(spec.get_untracked())
                    on_cancel=move |()| session.cancel() />
                {explorer}
                <Adaptive system=name />
                <Comparison spec=spec />
                <Transfer spec=spec />
            </div>
        </div>
    }
    .into_any()
}

/// The page with another experiment. The online run of another system goes.
fn with_spec(link: Link, spec: Spec) -> Link {
    let view = match spec.system == link.spec.system {
        true => link.view,
        false => view::set(&link.view, online_run::VIEW, None),
    };
    Link {
        page: Page::Experiments,
        spec,
        run: false,
        view,
    }
}
