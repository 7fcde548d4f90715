//! All systems.

use leptos::prelude::*;

use crate::systems;

/// All systems with their equations.
#[component]
pub fn Gallery() -> impl IntoView {
    let cards = systems::NAMES.iter().filter_map(|name| systems::by_name(name).ok()).map(|system| {
        let about = system.description();
        view! {
            <article class="card">
                <h2>{about.title}</h2>
                <p class="muted">{about.equation}</p>
            </article>
        }
    });
    view! {
        <header class="page-head"><h1>"Systems"</h1></header>
        <div class="grid">{cards.collect_view()}</div>
    }
}
