//! A visitor's own data: drop a file, say what its columns are, train, see.

use leptos::prelude::*;

use crate::{
    experiments::{
        link::{Link, Page},
        spec::{Draft, Spec},
    },
    ui::{
        data_session::DataSession,
        pages::{
            data::{columns::ColumnRoles, file::FileCard, results::DataResults},
            experiments::{run_panel::RunPanel, settings::SettingsForm},
        },
        route::Route,
    },
};

mod columns;
mod file;
mod results;

/// Training steps that are enough for most files.
const USUAL_STEPS: usize = 5_000;
/// Shots that are enough for most files.
const USUAL_SHOTS: usize = 50;

/// Two to train on and one to adapt to.
const LEAST_ENVIRONMENTS: usize = 3;

/// The page.
#[component]
pub fn Data() -> impl IntoView {
    let route = expect_context::<Route>();
    let data = expect_context::<DataSession>();
    // Settings of its own: the way to another page leads back to the experiment's.
    let spec = Memo::new(move |_| route.link().spec);
    let change = move |spec: Spec| {
        route.replace(Link {
            page: Page::Data,
            spec,
            run: false,
            ..route.link_untracked()
        })
    };
    Effect::new(move || {
        if data.outline.with(Option::is_some) {
            change(fitting(data, spec.get_untracked()));
        }
    });
    Effect::new(move || {
        if data.outline.with(Option::is_some) {
            route.set_view(&data.choices());
        }
    });
    let ready = move || data.outline.with(Option::is_some);
    view! {
        <header class="page-head">
            <p class="eyebrow">"Your data"</p>
            <h1>"Learn from your own measurements"</h1>
            <p class="lead">
                "A CSV file with several environments is enough. It is read in this page and goes nowhere."
            </p>
        </header>
        <FileCard />
        <Show when=ready>
            <div class="split split--right">
                <ColumnRoles />
                <SettingsForm spec=spec change=Callback::new(change) own_data=true />
            </div>
            <RunPanel run=data.run spec=spec on_train=move |()| data.start(spec.get_untracked())
                on_cancel=move |()| data.run.cancel()
                blocked=Signal::derive(move || data.columns().is_err() || data.reading.with(|file| !file.is_empty())) />
        </Show>
        <DataResults />
    }
    .into_any()
}

/// Settings that fit the file: what it cannot support is lowered, and a visitor who has not chosen
/// anything gets usual ones.
fn fitting(data: DataSession, spec: Spec) -> Spec {
    let environments = untrack(|| data.environments());
    if environments.len() < LEAST_ENVIRONMENTS {
        // Nothing can be learned from it, so that it should not change anything either.
        return spec;
    }
    let training = environments.len().saturating_sub(1).max(1);
    let held_out = data.held_out.get_untracked();
    let rows = environments.iter().find(|(name, _)| *name == held_out);
    let most_shots = rows.map_or(1, |(_, rows)| rows.saturating_sub(1)).max(1);
    let parameters = untrack(|| data.columns()).map_or(0, |columns| columns.parameters.len());
    let mut draft = Draft::from(spec);
    if Draft::recommended(&draft.system, &draft.method) == Ok(draft.clone()) {
        draft.steps = USUAL_STEPS;
        draft.shots = USUAL_SHOTS;
        draft.rank = if parameters > 0 { parameters } else { 3 };
    }
    draft.rank = draft.rank.min(training);
    draft.shots = draft.shots.min(most_shots);
    draft.corrected().0
}
