//! What the visitor should know about the network: none, or a newer version of the site.
//!
//! `public/boot.js` registers the service worker and speaks through two events of the window.

use gloo::events::EventListener;
use leptos::prelude::*;
use web_sys::Event;

use super::components::Notice;

/// A newer build has been fetched and waits.
const AVAILABLE: &str = "update-available";
/// The visitor wants it.
const ACCEPTED: &str = "update-accepted";

/// Notices at the top of every page.
#[component]
pub fn Updates() -> impl IntoView {
    let update = RwSignal::new(false);
    let offline = RwSignal::new(!window().navigator().on_line());
    for (event, signal, value) in [
        (AVAILABLE, update, true),
        ("offline", offline, true),
        ("online", offline, false),
    ] {
        EventListener::new(&window(), event, move |_| signal.set(value)).forget();
    }
    let reload = move |_| {
        if let Ok(event) = Event::new(ACCEPTED) {
            // An event of our own cannot be refused.
            let _ = window().dispatch_event(&event);
        }
    };
    view! {
        <Show when=move || update.get()>
            <Notice title="A newer version of this site is ready" on_close=move |()| update.set(false)>
                <div class="row">
                    <span>"What runs now would be lost."</span>
                    <button type="button" class="button button--quiet button--small" id="update" on:click=reload>"Reload"</button>
                </div>
            </Notice>
        </Show>
        <Show when=move || offline.get()>
            <Notice title="You are offline" on_close=move |()| offline.set(false)>
                <p id="offline">"Everything here runs on your machine and goes on working."</p>
            </Notice>
        </Show>
    }
    .into_any()
}
