//! A button that opens a short list of choices.

use leptos::{ev, html::Details, prelude::*};
use wasm_bindgen::JsCast as _;

fn close(menu: NodeRef<Details>) {
    if let Some(menu) = menu.get_untracked() {
        menu.set_open(false);
    }
}

/// A list of choices that closes after a choice, with Escape, and when the focus leaves it.
#[component]
pub fn Menu(
    /// Text of the button.
    #[prop(into)]
    label: String,
    /// [`MenuItem`]s.
    children: Children,
) -> impl IntoView {
    let menu = NodeRef::<Details>::new();
    let leave = move |event: ev::FocusEvent| {
        let next = event
            .related_target()
            .and_then(|t| t.dyn_into::<web_sys::Node>().ok());
        let inside = menu
            .get_untracked()
            .is_some_and(|m| m.contains(next.as_ref()));
        if next.is_some() && !inside {
            close(menu);
        }
    };
    let key = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            close(menu);
        }
    };
    view! {
        <details class="menu" node_ref=menu on:focusout=leave on:keydown=key>
            <summary class="button button--bare button--small">{label}</summary>
            <div class="menu__list" on:click=move |_| close(menu)>
                {children()}
            </div>
        </details>
    }
    .into_any()
}

/// One choice of a [`Menu`].
#[component]
pub fn MenuItem(
    /// Text of the choice.
    #[prop(into)]
    label: String,
    /// What it does.
    #[prop(into)]
    on_choose: Callback<()>,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class="button button--bare button--small"
            on:click=move |_| on_choose.run(())
        >
            {label}
        </button>
    }
    .into_any()
}
