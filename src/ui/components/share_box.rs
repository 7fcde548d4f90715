//! The link to what is on the page.

use gloo::timers::callback::Timeout;
use leptos::{html::Input, prelude::*, task::spawn_local};

use crate::ui::browser::{self, unique_id};

/// Shows a link and copies it. Where the browser does not allow copying, the link is selected
/// for the visitor to copy.
#[component]
pub fn ShareBox(
    /// The link.
    #[prop(into)]
    link: Signal<String>,
    /// Whether it is copied as soon as it is shown.
    #[prop(optional)]
    at_once: bool,
) -> impl IntoView {
    let id = unique_id("link");
    let input = NodeRef::<Input>::new();
    let said = RwSignal::new("");
    let forget = StoredValue::new_local(None::<Timeout>);
    let copy = move || {
        spawn_local(async move {
            let copied = browser::copy(&link.get_untracked()).await;
            if !copied && let Some(input) = input.get_untracked() {
                input.select();
            }
            said.try_set(if copied {
                "Copied"
            } else {
                "Press Ctrl+C to copy"
            });
            let later = Timeout::new(2500, move || {
                said.try_set("");
            });
            forget.try_set_value(Some(later));
        });
    };
    if at_once {
        copy();
    }
    view! {
        <div class="share">
            <label class="visually-hidden" for=id.clone()>
                "Link to this page"
            </label>
            <input
                id=id
                node_ref=input
                class="input"
                type="text"
                readonly
                prop:value=link
                on:focus=move |_| {
                    if let Some(input) = input.get_untracked() {
                        input.select();
                    }
                }
            />
            <button type="button" class="button button--primary" on:click=move |_| copy()>
                "Copy link"
            </button>
            <span class="small muted" role="status">
                {said}
            </span>
        </div>
    }
    .into_any()
}
