//! One of few choices, all in view.

use leptos::prelude::*;

/// A row of joined buttons, one of which is pressed.
#[component]
pub fn Segmented(
    /// What is chosen, for those who do not see the row.
    #[prop(into)]
    label: String,
    /// The choices: name in links, text for people.
    options: Vec<(String, String)>,
    /// Name of the choice.
    #[prop(into)]
    value: Signal<String>,
    /// Called with the name of a new choice.
    #[prop(into)]
    on_change: Callback<String>,
    /// Whether the row is locked.
    #[prop(into, optional)]
    disabled: Signal<bool>,
) -> impl IntoView {
    let choice = move |(name, text): (String, String)| {
        let pressed = {
            let name = name.clone();
            move || value.with(|value| *value == name).to_string()
        };
        view! {
            <button
                type="button"
                aria-pressed=pressed
                disabled=disabled
                on:click=move |_| on_change.run(name.clone())
            >
                {text}
            </button>
        }
    };
    view! {
        <div class="segmented" role="group" aria-label=label>
            {options.into_iter().map(choice).collect_view()}
        </div>
    }
    .into_any()
}
