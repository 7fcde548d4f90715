//! Makes cells again on the visitor's machine and compares them with the committed ones.

use leptos::prelude::*;

use crate::{
    experiments::{
        compare::{Results, method_title, short_title},
        record::Record,
        rerun::Rerun,
        view,
    },
    learners::{self, METHODS},
    ui::{
        components::{DataTable, Empty, ProgressBar, SelectField},
        reruns::{Entry, Reruns, Stage},
        route::Route,
    },
};

/// Name of the chosen cell in the view of a link.
const CELL: &str = "cell";

/// Buttons for a method, a cell, a system and everything; progress; the comparison.
#[component]
pub fn RerunPanel(
    /// The system in view.
    system: Memo<String>,
    /// The committed figures.
    results: StoredValue<Results>,
) -> impl IntoView {
    let reruns = expect_context::<Reruns>();
    let run = move |systems: &[&str], method: Option<&str>| {
        let plans = systems.iter().flat_map(|name| plan(results, name, method));
        reruns.start(plans.collect());
    };
    let button = move |name: &'static str| {
        let label = format!("Run {} again", method_title(name));
        let click = move |_| run(&[&system.get_untracked()], Some(name));
        view! {
            <button type="button" class="button button--quiet button--small" aria-label=label on:click=click>
                <span class=format!("swatch hue--{name}")></span>{method_title(name)}
            </button>
        }
        .into_any()
    };
    let everything = move |_| run(&results.with_value(Results::systems), None);
    let found = move || {
        let name = system.get();
        let records: Vec<_> = reruns
            .records
            .with(|all| all.iter().filter(|r| r.system == name).cloned().collect());
        if records.is_empty() {
            return view! {
                <Empty title="Nothing made again yet">"Choose a method or a cell; what it gives on your machine stands here beside the committed figure."</Empty>
            }
            .into_any();
        }
        let table = results.with_value(|all| all.against(&records));
        view! { <div id="rerun-found"><DataTable table=Signal::stored(table) /></div> }.into_any()
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
            <div class="row" role="group" aria-label="Methods">{trained().map(button).collect::<Vec<_>>()}</div>
            {move || view! { <OneCell system=system.get() results /> }}
            <div class="row">
                <button type="button" class="button button--primary" on:click=move |_| run(&[&system.get_untracked()], None)>
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

/// A choice of one cell, and a button.
#[component]
fn OneCell(
    /// The system in view.
    system: String,
    /// The committed figures.
    results: StoredValue<Results>,
) -> impl IntoView {
    let reruns = expect_context::<Reruns>();
    let records: Vec<Record> = results.with_value(|all| all.of(&system).cloned().collect());
    let route = expect_context::<Route>();
    let name = |record: &Record| (record.cell(), cell_title(record));
    let options: Vec<_> = records.iter().map(name).collect();
    let first = options.first().map(|(name, _)| name.clone());
    let first = StoredValue::new(first.unwrap_or_default());
    let names = options.clone();
    let chosen = Memo::new(move |_| {
        let linked = view::get(&route.link().view, CELL);
        let known = linked.filter(|linked| names.iter().any(|(name, _)| name == linked));
        known.unwrap_or_else(|| first.get_value())
    });
    let choose = move |name: String| {
        let other = first.with_value(|first| name != *first);
        route.set_view(&[(CELL, other.then_some(name))]);
    };
    let click = move |_| {
        let name = chosen.get_untracked();
        let Some(record) = records.iter().find(|record| record.cell() == name) else {
            return;
        };
        let trained_as = learners::method(&record.method).map(|method| method.trained_as);
        reruns.start(vec![Rerun {
            method: trained_as.unwrap_or_default().to_owned(),
            only: Some((record.method.clone(), record.shots, record.noise)),
            ..rerun(results, &record.system)
        }]);
    };
    view! {
        <div class="row">
            <SelectField id="rerun-cell" label="One cell" options value=chosen on_change=choose />
            <button type="button" class="button button--quiet" id="rerun-one" on:click=click>"Run this cell again"</button>
        </div>
    }
    .into_any()
}

fn cell_title(record: &Record) -> String {
    let noise = if record.noise > 0.0 {
        format!(", noise {}", record.noise)
    } else {
        String::new()
    };
    let method = method_title(&record.method);
    format!("{method}, {} shots{noise}", record.shots)
}

/// Names of the methods that are trained.
fn trained() -> impl Iterator<Item = &'static str> {
    let methods = METHODS.iter().filter(|method| !method.zero_shot);
    methods.map(|method| method.name)
}

/// The trainings of a system, all or those of one method.
fn plan(results: StoredValue<Results>, system: &str, method: Option<&str>) -> Vec<Rerun> {
    let wanted = trained().filter(|name| method.is_none_or(|method| method == *name));
    let of = |name: &str| Rerun {
        method: name.to_owned(),
        ..rerun(results, system)
    };
    wanted.map(of).collect()
}

/// A rerun with the committed seed and otherwise as in the table.
fn rerun(results: StoredValue<Results>, system: &str) -> Rerun {
    let seed = results.with_value(|all| all.of(system).next().map(|record| record.seed));
    Rerun {
        system: system.to_owned(),
        method: String::new(),
        noises: Vec::new(),
        trials: None,
        only: None,
        steps: None,
        seed: seed.unwrap_or_default(),
    }
}

fn line((rerun, stage): &Entry) -> AnyView {
    let text = match stage {
        Stage::Waiting => "waits for a free core".to_owned(),
        Stage::Running(_, left) if left.is_nan() => "prepares its data …".to_owned(),
        Stage::Running(part, left) => format!("{:.0} %, {left:.0} s left", 100.0 * part),
        Stage::Done => "done".to_owned(),
        Stage::Stopped(why) => why.clone(),
    };
    let method = method_title(rerun.only.as_ref().map_or(&rerun.method, |cell| &cell.0));
    let shots = rerun
        .only
        .as_ref()
        .map(|cell| format!(", {} shots", cell.1));
    let name = format!(
        "{}, {method}{}",
        short_title(&rerun.system),
        shots.unwrap_or_default()
    );
    view! { <li><span>{name}</span><span class="muted">{text}</span></li> }.into_any()
}
