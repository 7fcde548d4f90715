//! A field for one of several choices.

use leptos::prelude::*;

use crate::ui::browser::unique_id;

/// A labelled list of choices.
#[component]
pub fn SelectField(
    /// Id of the field; a fresh one if left out.
    #[prop(optional)]
    id: Option<&'static str>,
    /// What is chosen.
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
    /// A short explanation.
    #[prop(into, optional)]
    hint: String,
    /// Whether the field is locked.
    #[prop(into, optional)]
    disabled: Signal<bool>,
    /// Whether the field takes a whole row of its form.
    #[prop(optional)]
    wide: bool,
) -> impl IntoView {
    let id = id.map_or_else(|| unique_id("select"), str::to_owned);
    let about = format!("{id}-about");
    let choice = move |(name, text): (String, String)| {
        let chosen = {
            let name = name.clone();
            move || value.with(|value| *value == name)
        };
        view! {
            <option value=name selected=chosen>
                {text}
            </option>
        }
    };
    view! {
        <div class="field" class:field--wide=wide>
            <label class="field__label" for=id.clone()>
                {label}
            </label>
            <span class="field__control">
                <select
                    id=id
                    class="select"
                    disabled=disabled
                    aria-describedby=about.clone()
                    prop:value=value
                    on:change=move |event| on_change.run(event_target_value(&event))
                >
                    {options.into_iter().map(choice).collect_view()}
                </select>
            </span>
            <span id=about class="field__hint">
                {hint}
            </span>
        </div>
    }
    .into_any()
}
