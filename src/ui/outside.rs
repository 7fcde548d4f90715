//! What the page shows until the program of [`super::more`] is here.

use gloo::events::EventListener;
use leptos::prelude::*;
use web_sys::Event;

use super::{
    components::{Notice, Tone},
    more::{FAILED, READY, WANTED},
};

/// Whether the other program runs, or why not.
#[derive(Clone, Copy)]
pub struct Outside {
    ready: RwSignal<bool>,
    failed: RwSignal<bool>,
}

impl Outside {
    /// Listens for it.
    pub fn follow() -> Self {
        let outside = Self {
            ready: RwSignal::new(false),
            failed: RwSignal::new(false),
        };
        EventListener::new(&window(), READY, move |_| outside.ready.set(true)).forget();
        EventListener::new(&window(), FAILED, move |_| outside.failed.set(true)).forget();
        outside
    }

    /// Asks for it, unless it is there.
    pub fn ask(self) {
        if self.ready.get_untracked() {
            return;
        }
        self.failed.set(false);
        if let Ok(event) = Event::new(WANTED) {
            // An event of our own cannot be refused.
            let _ = window().dispatch_event(&event);
        }
    }
}

/// Grey bars while it is on its way, or a button to try again.
#[component]
pub fn Loading(
    /// The other program.
    outside: Outside,
) -> impl IntoView {
    outside.ask();
    view! {
        <Show when=move || !outside.ready.get() && !outside.failed.get()>
            <div class="stack" role="status" aria-label="Loading">
                <div class="skeleton skeleton--title"></div>
                <div class="skeleton skeleton--block"></div>
            </div>
        </Show>
        <Show when=move || outside.failed.get()>
            <Notice tone=Tone::Error title="This page could not be loaded; check the network">
                <button type="button" class="button button--quiet button--small" on:click=move |_| outside.ask()>"Try again"</button>
            </Notice>
        </Show>
    }
    .into_any()
}
