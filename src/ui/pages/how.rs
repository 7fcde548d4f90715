//! The idea on one page: `public/texts/how.html` around a live table.

use leptos::prelude::*;

use crate::{
    charts::Table,
    experiments::{
        cost::{Sizes, costs},
        link::{Link, Page},
    },
    ui::{
        components::{DataTable, NumberField},
        entry::Range,
        route::Route,
        text_file::{Pending, TextFile},
    },
};

/// Where the live table stands in the text.
const MARK: &str = "<!-- table -->";

/// The page.
#[component]
pub fn How() -> impl IntoView {
    let file = TextFile::open("texts/how.html");
    let text = move || {
        file.load.with(|load| {
            load.text().map(|text| {
                let (before, after) = text.split_once(MARK).unwrap_or((text, ""));
                view! {
                    <article class="prose" id="idea" inner_html=before.to_owned()></article>
                    <CostTable />
                    <article class="prose" inner_html=after.to_owned()></article>
                }
                .into_any()
            })
        })
    };
    view! {
        <header class="page-head">
            <p class="eyebrow">"How it works"</p>
            <h1>"Learn the equation once, read off the rest"</h1>
            <p class="lead">
                "Why a model that is affine in a short vector adapts by least squares, and why that vector is physics."
            </p>
        </header>
        <Pending file />
        {text}
    }
    .into_any()
}

/// The paper's Table 1 for sizes that the visitor chooses.
#[component]
fn CostTable() -> impl IntoView {
    let route = expect_context::<Route>();
    let sizes = Memo::new(move |_| Sizes::read(&route.link().view).unwrap_or_default());
    let labels = [
        ("Weights p", "of the shared nets"),
        ("Task vector r", "CAMEL, ANIL, R2-D2"),
        ("Context d", "CoDA, CAVIA"),
        ("Training tasks T", "environments"),
    ];
    let field = |(place, (label, hint)): (usize, (&'static str, &'static str))| {
        let change = move |value: f64| {
            let mut list = sizes.get_untracked().list();
            list[place] = value as u64;
            if let Some(sizes) = Sizes::of_list(list) {
                let view = sizes.write();
                route.replace(Link {
                    page: Page::How,
                    view,
                    ..route.link_untracked()
                });
            }
        };
        let (min, max) = Sizes::RANGES[place];
        let range = Range {
            min: min as f64,
            max: max as f64,
            whole: true,
        };
        view! {
            <NumberField label hint range value=Signal::derive(move || sizes.get().list()[place] as f64) on_change=change />
        }
    };
    view! {
        <section class="card stack" id="cost" aria-label="What each method costs">
            <h2>"What it costs"</h2>
            <p class="muted prose-width">
                "Table 1 of the paper with numbers, and with the other methods of this site. π is what training learns, w what "
                "distinguishes a task. Order 2 means derivatives of derivatives; order 0 means none, a linear system is solved."
            </p>
            <div class="form form--four">{labels.into_iter().enumerate().map(field).collect_view()}</div>
            <DataTable table=Signal::derive(move || table(sizes.get())) />
        </section>
    }
    .into_any()
}

fn table(sizes: Sizes) -> Table {
    let columns = [
        "Method",
        "π",
        "dim π",
        "dim(π) here",
        "Adaptation",
        "dim(w) here",
        "Training order",
        "Adaptation order",
    ];
    let mut table = Table::new("Dimension and order of each method", columns);
    for cost in costs(sizes) {
        table.push([
            cost.method.to_owned(),
            cost.meta.to_owned(),
            cost.formula.to_owned(),
            grouped(cost.meta_size),
            cost.rule.to_owned(),
            grouped(cost.task_size),
            cost.training_order.to_string(),
            cost.adaptation_order.to_string(),
        ]);
    }
    table
}

/// A whole number with a thin space between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}
