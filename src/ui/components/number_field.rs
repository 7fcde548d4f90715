//! A field for a number.

use leptos::prelude::*;

use crate::ui::{
    browser::unique_id,
    entry::{Range, written},
};

/// A labelled number with its unit. Text that is not an allowed number gets a message and leaves
/// the value as it is.
#[component]
pub fn NumberField(
    /// Id of the field; a fresh one if left out.
    #[prop(optional)]
    id: Option<&'static str>,
    /// What the number is.
    #[prop(into)]
    label: String,
    /// Its unit; none if empty.
    #[prop(into, optional)]
    unit: String,
    /// The number.
    #[prop(into)]
    value: Signal<f64>,
    /// Called with each allowed number that was typed.
    #[prop(into)]
    on_change: Callback<f64>,
    /// What is allowed.
    range: Range,
    /// A short explanation.
    #[prop(into, optional)]
    hint: String,
    /// Whether the field is locked, such as during training.
    #[prop(into, optional)]
    disabled: Signal<bool>,
    /// Whether the field takes a whole row of its form.
    #[prop(optional)]
    wide: bool,
    /// Called with true while the text is not an allowed number.
    #[prop(into, optional)]
    on_problem: Option<Callback<bool>>,
) -> impl IntoView {
    let id = id.map_or_else(|| unique_id("number"), str::to_owned);
    let about = format!("{id}-about");
    let text = RwSignal::new(written(value.get_untracked()));
    let problem = RwSignal::new(None::<String>);
    let settle = move |found: Option<String>| {
        if let Some(tell) = on_problem
            && found.is_some() != problem.with_untracked(Option::is_some)
        {
            tell.run(found.is_some());
        }
        problem.set(found);
    };
    // A value from elsewhere (a link, a reset) replaces the text; the visitor's own typing stays.
    Effect::new(move |_| {
        let value = value.get();
        if text.with_untracked(|t| range.read(t)) != Ok(value) {
            text.set(written(value));
            settle(None);
        }
    });
    let typed = move |typed: String| {
        let read = range.read(&typed);
        text.set(typed);
        match read {
            Ok(number) => {
                settle(None);
                on_change.run(number);
            }
            Err(message) => settle(Some(message)),
        }
    };
    let class = if unit.is_empty() {
        "input"
    } else {
        "input input--with-unit"
    };
    let message_class = move || {
        if problem.with(Option::is_some) {
            "field__error"
        } else {
            "field__hint"
        }
    };
    let message = move || problem.get().unwrap_or_else(|| hint.clone());
    let mode = if range.whole && range.min >= 0.0 {
        "numeric"
    } else {
        "decimal"
    };
    view! {
        <div class="field" class:field--wide=wide>
            <label class="field__label" for=id.clone()>
                {label}
            </label>
            <span class="field__control">
                <input
                    id=id
                    class=class
                    type="text"
                    inputmode=mode
                    autocomplete="off"
                    prop:value=text
                    disabled=disabled
                    aria-invalid=move || problem.with(|p| p.is_some().to_string())
                    aria-describedby=about.clone()
                    on:input=move |event| typed(event_target_value(&event))
                />
                {(!unit.is_empty()).then(|| view! { <span class="field__unit">{unit}</span> })}
            </span>
            <span id=about class=message_class aria-live="polite">
                {message}
            </span>
        </div>
    }
    .into_any()
}
