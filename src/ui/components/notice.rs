//! A message in the page.

use leptos::prelude::*;

/// How serious a notice is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Good to know.
    #[default]
    Info,
    /// Something was corrected or is limited.
    Warn,
    /// Something did not work.
    Error,
}

/// A message that is read out when it appears.
#[component]
pub fn Notice(
    /// How serious it is.
    #[prop(optional)]
    tone: Tone,
    /// The message in a few words.
    #[prop(into)]
    title: Signal<String>,
    /// Called when the visitor closes the notice; without it, there is no button to close it.
    #[prop(into, optional)]
    on_close: Option<Callback<()>>,
    /// More on it.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let (class, role) = match tone {
        Tone::Info => ("notice", "status"),
        Tone::Warn => ("notice notice--warn", "status"),
        Tone::Error => ("notice notice--error", "alert"),
    };
    let close = on_close.map(|close| {
        view! {
            <button
                type="button"
                class="button button--bare button--small notice__close"
                aria-label="Close"
                on:click=move |_| close.run(())
            >
                "✕"
            </button>
        }
    });
    view! {
        <div class=class role=role>
            <div class="notice__body">
                <p class="notice__title">{title}</p>
                {children.map(|children| children())}
            </div>
            {close}
        </div>
    }
    .into_any()
}
