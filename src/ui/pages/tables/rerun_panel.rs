//! Makes cells again on the visitor's machine and compares them with the committed ones.

use leptos::prelude::*;

use crate::{
    experiments::{
        compare::{Results, method_title, short_title},
        rerun::Rerun,
    },
    learners::METHODS,
    ui::{
        components::{DataTable, ProgressBar},
        reruns::{Entry, Reruns, Stage},
    },
};

/// Buttons for a method, a system and everything; progress; the comparison.
#[component]
pub fn RerunPanel(
    /// The system in view.
    system: Memo<String>,
    /// The committed figures.
    results: StoredValue<Results>,
) -> impl IntoView {
    let reruns = expect_context::<Reruns>();
    let trained: Vec<&'static str> = METHODS
        .iter()
        .filter(|method| method.name == method.trained_as)
        .map(|method| method.name)
        .collect();
    let button = |name: &'static str| {
        let label = format!("Run {} again", method_title(name));
        let click = move |_| {
            let plan = results.with_value(|all| plan(all, &system.get_untracked(), Some(name)));
            reruns.start(plan);
        };
        view! {
            <button type="button" class="button button--quiet button--small" aria-label=label on:click=click>
                <span class=format!("swatch hue--{name}")></span>{method_title(name)}
            </button>
        }
        .into_any()
    };
    let all_of_system = move |_| {
        reruns.start(results.with_value(|all| plan(all, &system.get_untracked(), None)));
    };
    let everything = move |_| {
        let plans = results.with_value(|all| {
            let systems = all.systems();
            systems
                .into_iter()
                .flat_map(|name| plan(all, name, None))
                .collect()
        });
        reruns.start(plans);
    };
    let found = move || {
        let name = system.get();
        let records: Vec<_> = reruns
            .records
            .with(|all| all.iter().filter(|r| r.system == name).cloned().collect());
        (!records.is_empty()).then(|| {
            let table = results.with_value(|all| all.against(&records));
            view! { <div id="rerun-found"><DataTable table=Signal::stored(table) /></div> }
        })
    };
    let workers = Reruns::workers();
    view! {
        <section class="card stack" id="rerun" aria-label="Make it again">
            <div class="stack stack--tight">
                <h2>"Make it again"</h2>
                <p class="muted prose-width">
                    {format!("Trains and tests in this page on {workers} of your cores, with the seed of the committed figures. ")}
                    "Processors round differently, so the last digits may differ."
                </p>
            </div>
            <div class="row" role="group" aria-label="Methods">{trained.into_iter().map(button).collect::<Vec<_>>()}</div>
            <div class="row">
                <button type="button" class="button button--primary" on:click=all_of_system>
                    {move || format!("Whole table of {}", short_title(&system.get()))}
                </button>
                <button type="button" class="button button--quiet" on:click=everything>"Every table"</button>
                <button type="button" class="button button--danger" id="rerun-cancel" disabled=move || !reruns.active()
                    on:click=move |_| reruns.cancel()>"Cancel"</button>
            </div>
            <Show when=move || reruns.entries.with(|entries| !entries.is_empty())>
                <ProgressBar label="Reruns" part=Signal::derive(move || Some(reruns.part())) />
                <ul class="jobs" id="rerun-jobs">{move || reruns.entries.with(|entries| {
                    entries.iter().map(line).collect::<Vec<_>>()
                })}</ul>
            </Show>
            {found}
        </section>
    }
    .into_any()
}

/// The trainings of a system, all or those of one method, with the committed seed and noises.
fn plan(results: &Results, system: &str, method: Option<&str>) -> Vec<Rerun> {
    let seed = results.of(system).next().map_or(0, |record| record.seed);
    let mut noises: Vec<f64> = Vec::new();
    for record in results.of(system) {
        if !noises.contains(&record.noise) {
            noises.push(record.noise);
        }
    }
    METHODS
        .iter()
        .filter(|m| m.name == m.trained_as && method.is_none_or(|name| name == m.name))
        .filter(|m| results.of(system).any(|record| record.method == m.name))
        .map(|m| Rerun {
            system: system.to_owned(),
            method: m.name.to_owned(),
            noises: noises.clone(),
            trials: None,
            steps: None,
            seed,
        })
        .collect()
}

fn line((rerun, stage): &Entry) -> AnyView {
    let text = match stage {
        Stage::Waiting => "waits for a free core".to_owned(),
        Stage::Running(_, left) if left.is_nan() => "prepares its data …".to_owned(),
        Stage::Running(part, left) => format!("{:.0} %, {left:.0} s left", 100.0 * part),
        Stage::Done => "done".to_owned(),
        Stage::Stopped(why) => why.clone(),
    };
    let name = format!(
        "{}, {}",
        short_title(&rerun.system),
        method_title(&rerun.method)
    );
    view! { <li><span>{name}</span><span class="muted">{text}</span></li> }.into_any()
}
