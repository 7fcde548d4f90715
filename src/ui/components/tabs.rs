//! Several views in one place.

use leptos::{ev, html::Div, prelude::*};
use wasm_bindgen::JsCast as _;

use crate::ui::browser::unique_id;

/// A row of tabs above the view of the chosen one. Arrow keys move between tabs.
#[component]
pub fn Tabs(
    /// What the tabs are views of.
    #[prop(into)]
    label: String,
    /// The tabs: name in links, text for people.
    options: Vec<(String, String)>,
    /// Name of the chosen tab.
    #[prop(into)]
    value: Signal<String>,
    /// Called with the name of a newly chosen tab.
    #[prop(into)]
    on_change: Callback<String>,
    /// The view of the chosen tab.
    children: Children,
) -> impl IntoView {
    let id = unique_id("tabs");
    let panel = format!("{id}-panel");
    let row = NodeRef::<Div>::new();
    let names: Vec<String> = options.iter().map(|(name, _)| name.clone()).collect();
    let key = move |event: ev::KeyboardEvent| {
        let count = names.len();
        let now = value
            .with_untracked(|v| names.iter().position(|n| n == v))
            .unwrap_or(0);
        let next = match event.key().as_str() {
            "ArrowRight" => (now + 1) % count,
            "ArrowLeft" => (now + count - 1) % count,
            "Home" => 0,
            "End" => count - 1,
            _ => return,
        };
        event.prevent_default();
        on_change.run(names[next].clone());
        focus_child(row, next);
    };
    let tab = {
        let panel = panel.clone();
        move |(name, text): (String, String)| {
            let chosen = {
                let name = name.clone();
                Memo::new(move |_| value.with(|value| *value == name))
            };
            view! {
                <button
                    type="button"
                    role="tab"
                    aria-selected=move || chosen.get().to_string()
                    aria-controls=panel.clone()
                    tabindex=move || if chosen.get() { "0" } else { "-1" }
                    on:click=move |_| on_change.run(name.clone())
                >
                    {text}
                </button>
            }
        }
    };
    view! {
        <div class="stack">
            <div class="tabs" role="tablist" aria-label=label node_ref=row on:keydown=key>
                {options.into_iter().map(tab).collect_view()}
            </div>
            <div class="stack" role="tabpanel" id=panel>
                {children()}
            </div>
        </div>
    }
    .into_any()
}

fn focus_child(row: NodeRef<Div>, index: usize) {
    let tab = row.get_untracked().and_then(|row| {
        row.query_selector(&format!("[role=tab]:nth-child({})", index + 1))
            .ok()?
    });
    if let Some(tab) = tab.and_then(|tab| tab.dyn_into::<web_sys::HtmlElement>().ok()) {
        // Focus is a courtesy.
        let _ = tab.focus();
    }
}
