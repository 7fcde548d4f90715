//! Where this project differs from the paper, from one data file.

use leptos::prelude::*;
use serde::Deserialize;

use crate::ui::text_file::{Pending, TextFile};

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
    let list = move || file.load.with(|load| load.text().map(table));
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

fn table(text: &str) -> AnyView {
    let list: Vec<Difference> = serde_json::from_str(text).unwrap_or_default();
    let rows = list.into_iter().map(|difference| {
        view! {
            <tr>
                <th scope="row">{difference.topic}</th>
                <td>{difference.paper}</td>
                <td>{difference.here}</td>
                <td>{difference.effect}</td>
            </tr>
        }
    });
    view! {
        <div class="table-scroll table-scroll--tall" tabindex="0" role="region" aria-label="Differences">
            <table class="table table--words">
                <thead>
                    <tr><th scope="col">"Topic"</th><th scope="col">"Paper or its code"</th><th scope="col">"Here"</th><th scope="col">"Effect"</th></tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
