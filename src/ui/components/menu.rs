//! A button that opens a short list of choices.

use gloo::events::EventListener;
use leptos::{ev, html::Details, prelude::*};
use wasm_bindgen::JsCast as _;
use web_sys::{EventTarget, HtmlElement, Node};

use crate::ui::browser;

/// Closes the list; the keyboard is on the button again.
fn close(menu: NodeRef<Details>) {
    let Some(menu) = menu.get_untracked() else {
        return;
    };
    menu.set_open(false);
    let button = menu.first_element_child();
    if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
        // A button that cannot be focused is found with the next key.
        let _ = button.focus();
    }
}

/// A list of choices that closes after a choice, with Escape, when the focus leaves it, and when
/// something else is pressed.
#[component]
pub fn Menu(
    /// Text of the button.
    label: &'static str,
    /// What the choices are about, for those who only hear the button.
    #[prop(into)]
    about: Signal<String>,
    /// [`MenuItem`]s.
    children: Children,
) -> impl IntoView {
    let menu = NodeRef::<Details>::new();
    let leave = move |next: Option<EventTarget>| {
        let next = next.and_then(|target| target.dyn_into::<Node>().ok());
        if let (Some(menu), Some(next)) = (menu.get_untracked(), next)
            && !menu.contains(Some(&next))
        {
            menu.set_open(false);
        }
    };
    let pressed = move |event: &web_sys::Event| leave(event.target());
    browser::keep(EventListener::new(&window(), "pointerdown", pressed));
    let key = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            close(menu);
        }
    };
    view! {
        <details class="menu" node_ref=menu on:focusout=move |event| leave(event.related_target()) on:keydown=key>
            <summary class="button button--bare button--small" aria-label=move || format!("{label}: {}", about.get())>
                {label}
            </summary>
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
