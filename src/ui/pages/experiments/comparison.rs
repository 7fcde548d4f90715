//! Several methods on the same system, side by side.

use leptos::prelude::*;

use crate::{
    charts::{Axis, BarChart, BarSeries, Chart, Hue, Table, number},
    experiments::{
        link::Page,
        report::Report,
        spec::{Draft, Spec},
        view,
    },
    learners::METHODS,
    ui::{
        components::{ChartView, DataTable, Empty},
        route::Route,
        run::Status,
        session::Session,
    },
};

/// Methods that are ticked at first.
const FIRST: &str = "camel.anil.r2d2";
/// Name of the ticked methods in the view of a link.
const TICKED: &str = "compare";

/// Trains several methods and compares what they found.
#[component]
pub fn Comparison(
    /// The experiment; its seed, shots and environment are used for all methods.
    spec: Memo<Spec>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let route = expect_context::<Route>();
    let chosen = Memo::new(move |_| {
        let ticked = view::get(&route.link().view, TICKED);
        let ticked = ticked.unwrap_or_else(|| FIRST.to_owned());
        let listed = |name: &str| ticked.split('.').any(|ticked| ticked == name);
        let methods = METHODS.iter().filter(|method| !method.zero_shot);
        let names = methods.map(|method| method.name);
        names.filter(|name| listed(name)).collect::<Vec<_>>()
    });
    let active = move || session.run.status.with(Status::is_active);
    let runs = Memo::new(move |_| {
        let system = spec.with(|spec| spec.system.clone());
        let mut runs = session.runs.get();
        runs.retain(|report| report.spec.system == system);
        runs
    });
    let some = move || runs.with(|runs| !runs.is_empty());
    let waiting = move || match session.queue.with(Vec::len) {
        0 => String::new(),
        count => format!("{count} more to train."),
    };
    view! {
        <section class="card stack" id="comparison" aria-label="Comparison of methods">
            <div class="stack stack--tight">
                <h2>"Compare methods"</h2>
                <p class="small muted">
                    "Each is trained with its own tuned settings and this seed, then adapts to the environment above. What you have trained since you opened the page is listed too. "
                    <a id="paper" href=move || route.way_to(Page::Tables).write()>"Figures and tables beside the paper's"</a>
                </p>
            </div>
            <fieldset class="ticks">
                <legend class="visually-hidden">"Methods"</legend>
                {METHODS.iter().filter(|method| !method.zero_shot).map(|method| tick(route, method.name, method.title, chosen)).collect_view()}
            </fieldset>
            <div class="row">
                <button type="button" class="button button--quiet" id="compare"
                    disabled=move || active() || chosen.with(Vec::is_empty)
                    on:click=move |_| session.start_all(specs(&spec.get_untracked(), &chosen.get_untracked()))>
                    "Train these one after the other"
                </button>
                <span class="small muted" role="status">{waiting}</span>
            </div>
            <Show when=some fallback=|| view! {
                <Empty title="Nothing to compare yet">"Tick some methods and train them, or press Train above: each result gets a bar and a row."</Empty>
            }>
                <ChartView chart=Signal::derive(move || runs.with(|runs| bars(runs))) />
                <DataTable table=Signal::derive(move || runs.with(|runs| table(runs))) />
            </Show>
        </section>
    }
    .into_any()
}

fn tick(
    route: Route,
    name: &'static str,
    title: &'static str,
    chosen: Memo<Vec<&'static str>>,
) -> impl IntoView {
    let checked = move || chosen.with(|chosen| chosen.contains(&name));
    let change = move |_| {
        let mut chosen = chosen.get_untracked();
        match chosen.iter().position(|other| *other == name) {
            Some(place) => {
                chosen.remove(place);
            }
            None => chosen.push(name),
        }
        let ticked = chosen.join(".");
        route.set_view(&[(TICKED, Some(ticked).filter(|ticked| ticked != FIRST))]);
    };
    view! {
        <label class="tick"><input type="checkbox" name=name prop:checked=checked on:change=change />
            <span><span class=format!("swatch hue--{name}")></span>{title}</span></label>
    }
    .into_any()
}

/// The same environment for every method, with the method's own settings.
fn specs(spec: &Spec, methods: &[&str]) -> Vec<Spec> {
    let draft = |method: &&str| {
        let own = Draft::recommended(&spec.system, method).ok()?;
        Some(own.in_environment_of(spec).corrected().0)
    };
    methods.iter().filter_map(draft).collect()
}

fn title(report: &Report) -> String {
    METHODS
        .iter()
        .find(|method| method.name == report.spec.method)
        .map_or(report.spec.method.clone(), |method| method.title.to_owned())
}

/// Largest error of an identified parameter [%].
fn identification(report: &Report) -> Option<f64> {
    report
        .adaptation
        .identified
        .iter()
        .filter_map(|found| Some(100.0 * found.off()?.abs()))
        .reduce(f64::max)
}

fn bars(runs: &[Report]) -> Chart {
    let bar = |report: &Report| {
        let found = &report.adaptation;
        let told = found.zero_shot.map_or(f64::NAN, |error| error.normalised);
        BarSeries {
            name: title(report),
            hue: Hue::of_method(&report.spec.method),
            values: vec![found.few_shot.normalised, told],
            errors: Vec::new(),
        }
    };
    Chart::Bars(BarChart {
        title: "Normalised error after adaptation".to_owned(),
        category: "adaptation".to_owned(),
        y: Axis::log("error over the mean squared target", ""),
        categories: ["few-shot", "zero-shot"].map(str::to_owned).to_vec(),
        series: runs.iter().map(bar).collect(),
        levels: Vec::new(),
    })
}

fn table(runs: &[Report]) -> Table {
    let columns = [
        "method",
        "shots",
        "error",
        "normalised",
        "zero-shot, normalised",
        "identified within [%]",
        "steps",
        "training [s]",
        "device",
    ];
    let mut table = Table::new("Methods compared".to_owned(), columns.map(str::to_owned));
    let number = |value: f64| number::significant(value, 3);
    for report in runs {
        let found = &report.adaptation;
        table.push([
            title(report),
            found.shots.to_string(),
            number(found.few_shot.mse),
            number(found.few_shot.normalised),
            found
                .zero_shot
                .map_or("–".to_owned(), |error| number(error.normalised)),
            identification(report).map_or("–".to_owned(), number),
            report.steps.to_string(),
            // A model from a file may come without the course of its training.
            match report.seconds > 0.0 {
                true => number(report.seconds),
                false => "–".to_owned(),
            },
            report.device.name.clone(),
        ]);
    }
    table
}
