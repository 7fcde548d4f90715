//! Where this project differs from the paper, from one data file.

use leptos::prelude::*;
use serde::Deserialize;

use crate::{
    charts::Table,
    ui::{
        components::DataTable,
        text_file::{Pending, TextFile},
    },
};

/// One difference.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    topic: String,
    paper: String,
    here: String,
    effect: String,
}

/// The page.
#[component]
pub fn Differences() -> impl IntoView {
    let file = TextFile::open("differences.json");
    let shown = |text: &str| {
        let table = Signal::stored(table(text));
        view! { <div class="tall words"><DataTable table=table /></div> }.into_any()
    };
    let list = move || file.load.with(|load| load.text().map(shown));
    view! {
        <header class="page-head">
            <p class="eyebrow"><a href="#/how">"How it works"</a></p>
            <h1>"Where we differ from the paper"</h1>
            <p class="lead">
                "Where the paper and the authors' code disagree, or one is physically wrong, these are our choices. "
                <a href="differences.json" download="differences.json">"The same list as data"</a>"."
            </p>
        </header>
        <Pending file />
        {list}
    }
    .into_any()
}

fn table(text: &str) -> Table {
    let list: Vec<Difference> = serde_json::from_str(text).unwrap_or_default();
    let columns = ["Topic", "Paper or its code", "Here", "Effect"];
    let mut table = Table::new("Differences", columns);
    for Difference {
        topic,
        paper,
        here,
        effect,
    } in list
    {
        table.push([topic, paper, here, effect]);
    }
    table
}
