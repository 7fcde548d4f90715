//! Errors of every method on every system beside the paper's, and the means to check them.

use leptos::prelude::*;
use serde::de::DeserializeOwned;

use crate::{
    charts::Table,
    experiments::{
        compare::{Marked, Results, short_title, title},
        link::{Link, Page},
        spec::Draft,
    },
    ui::{
        components::{ChartView, DataTable, Empty, Notice, Segmented, ShareBox, Tone},
        pages::tables::rerun_panel::RerunPanel,
        route::Route,
        text_file::{Load, Pending, TextFile},
    },
};

mod rerun_panel;

/// What goes with the tables, which stand without it: words, curves, compute times, what is left out,
/// swing-ups.
const EXTRAS: [&str; 6] = [
    "results/remarks.json",
    "results/figures.json",
    "results/times.json",
    "results/paper-times.json",
    "results/left-out.json",
    "results/tracking.json",
];

/// The page.
#[component]
pub fn Tables() -> impl IntoView {
    let table = TextFile::open("results/table.json");
    let paper = TextFile::open("results/paper.json");
    let extras = EXTRAS.map(TextFile::open);
    let content = move || {
        let (records, printed) = (table.load.get(), paper.load.get());
        let extras = extras.map(|file| file.load.get());
        if extras.contains(&Load::Waiting) {
            return None;
        }
        match (records.text(), printed.text()) {
            (Some(records), Some(printed)) => Some(
                match read(records, printed, extras.each_ref().map(Load::text)) {
                    Ok(results) => view! { <Content results /> }.into_any(),
                    Err(why) => view! { <Notice tone=Tone::Error title=why /> }.into_any(),
                },
            ),
            _ => None,
        }
    };
    view! {
        <header class="page-head">
            <p class="eyebrow">"Tables"</p>
            <h1>"Every method, every system, beside the paper"</h1>
            <p class="lead">
                "Each figure is made by one command from a seed. Make any of them again here, on your own machine."
            </p>
        </header>
        {move || {
            let missing = [table, paper].into_iter().find(|file| file.load.with(|load| load.text().is_none()));
            missing.map(|file| view! { <Pending file /> })
        }}
        {content}
    }
    .into_any()
}

fn read(records: &str, printed: &str, extras: [Option<&str>; 6]) -> Result<Results, String> {
    let [remarks, figures, times, paper_times, left_out, swing_ups] = extras;
    Ok(Results {
        records: parse("results/table.json", records)?,
        printed: parse("results/paper.json", printed)?,
        remarks: optional(remarks),
        curves: optional(figures),
        step_times: optional(times),
        paper_times: optional(paper_times),
        left_out: optional(left_out),
        swing_ups: optional(swing_ups),
    })
}

fn optional<T: DeserializeOwned + Default>(text: Option<&str>) -> T {
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("{name} is damaged or of another version: {error}"))
}

/// The tables, once they are here.
#[component]
fn Content(
    /// All figures.
    results: Results,
) -> impl IntoView {
    let systems = results.systems();
    let Some(&first) = systems.first() else {
        return view! {
            <Empty title="No figures yet">
                "The command " <code>"./lab camel table --json public/results/table.json"</code> " makes them."
            </Empty>
        }
        .into_any();
    };
    let results = StoredValue::new(results);
    let route = expect_context::<Route>();
    let names = systems.clone();
    let system = Memo::new(move |_| {
        let asked = route.link().spec.system.clone();
        if names.contains(&&*asked) {
            asked
        } else {
            first.to_owned()
        }
    });
    let options = systems
        .iter()
        .map(|name| ((*name).to_owned(), short_title(name).to_owned()))
        .collect();
    let choose = move |name: String| {
        let link = route.link_untracked();
        if let Ok(draft) = Draft::recommended(&name, &link.spec.method) {
            route.replace(Link {
                page: Page::Tables,
                spec: draft.corrected().0,
                ..link
            });
        }
    };
    let marked = move |make: fn(&Results, &str) -> Marked| {
        let made = move || system.with(|name| results.with_value(|all| make(all, name)));
        let table: Signal<Table> = Signal::derive(move || made().0);
        (table, Signal::derive(move || made().1))
    };
    let (overview, overview_best) = marked(|all, _| all.overview());
    let (errors, best) = marked(|all, name| all.errors(name));
    let (times, _) = marked(|all, name| (all.times(name), Vec::new()));
    let compute = results.with_value(Results::compute_times);
    let said = move |say: fn(&Results, &str) -> Vec<String>| {
        Signal::derive(move || system.with(|name| results.with_value(|all| say(all, name))))
    };
    let charts = move || {
        let charts = system.with(|name| results.with_value(|all| all.charts(name)));
        let shown = |chart| view! { <ChartView chart=Signal::stored(chart) /> }.into_any();
        charts.into_iter().map(shown).collect::<Vec<_>>()
    };
    let swing_ups = move || {
        let table = system.with(|name| results.with_value(|all| all.swing_ups(name)))?;
        Some(view! {
            <div class="card stack tall" id="swing-ups">
                <DataTable table=Signal::stored(table) />
                <p class="small muted">
                    "The tip's distances to the reference of the swing-up, all steps of a run together. Textbook and oracle know the masses."
                </p>
            </div>
        })
    };
    let address = move || {
        Route::address(&Link {
            page: Page::Tables,
            ..route.link()
        })
    };
    view! {
        <section class="card stack tall" id="overview" aria-label="Overview">
            <h2>"At a glance"</h2>
            <DataTable table=overview best=overview_best />
            <p class="small muted">"The best of each column is in bold. φ-CAMEL sees no sample: it is told the parameters."</p>
        </section>
        <section class="card stack tall" id="compute-time" aria-label="Compute time">
            <h2>"Compute time"</h2>
            <DataTable table=Signal::stored(compute) />
            <p class="small muted">
                "Mean over the systems of a method's time over CAMEL's: a step of Adam on as many rows for every method, and an adaptation from the most shots. The paper's unit is the shortest time."
            </p>
        </section>
        <section class="stack" aria-label="One system">
            <div class="row row--spread">
                <h2>{move || title(&system.get())}</h2>
                <Segmented label="System" options value=system on_change=choose />
            </div>
            <div class="card stack tall" id="errors">
                <DataTable table=errors best=best />
                <p class="small muted" id="notes">{move || said(Results::notes).get().join(" ")}</p>
                <Remarks lines=said(Results::remarks) />
            </div>
            <div class="grid grid--wide" id="figures">{charts}</div>
            <div class="card stack tall" id="times"><DataTable table=times /></div>
            {swing_ups}
        </section>
        <RerunPanel system results />
        <section class="card stack stack--tight" aria-label="Share">
            <h2>"Share"</h2>
            <ShareBox link=Signal::derive(address) />
        </section>
    }
    .into_any()
}

/// Where ours are worse, and why.
#[component]
fn Remarks(
    /// One sentence each.
    lines: Signal<Vec<String>>,
) -> impl IntoView {
    let items = move || {
        let lines = lines.get();
        let text = if lines.is_empty() {
            "No remarks: no figure here is above one of the paper's."
        } else {
            "Remarks"
        };
        let lines: Vec<AnyView> = lines
            .into_iter()
            .map(|line| view! { <li>{line}</li> }.into_any())
            .collect();
        view! {
            <p><strong>{text}</strong></p>
            <ul>{lines}</ul>
        }
    };
    view! { <div class="small remarks" id="remarks">{items}</div> }.into_any()
}
