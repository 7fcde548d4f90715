//! Where this project differs from the paper, from one data file.

use leptos::prelude::*;
use serde::Deserialize;

/// The list, also served as `differences.json`.
const LIST: &str = include_str!("../../../public/differences.json");

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
    let list: Vec<Difference> = serde_json::from_str(LIST).unwrap_or_default();
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
        <h1>"Where we differ from the paper"</h1>
        <p class="lead">
            "Where the paper and the authors' code disagree, or one is physically wrong, these are our choices. "
            <a href="differences.json" download="differences.json">"The same list as data"</a>"."
        </p>
        <div class="table-scroll" tabindex="0" role="region" aria-label="Differences">
            <table>
                <thead>
                    <tr><th scope="col">"Topic"</th><th scope="col">"Paper or its code"</th><th scope="col">"Here"</th><th scope="col">"Effect"</th></tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
