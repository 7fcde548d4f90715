//! A slider for a quantity.

use leptos::prelude::*;

use crate::{
    charts::number::significant,
    ui::{browser::unique_id, entry::Range},
};

/// A labelled slider that shows its value and unit.
#[component]
pub fn Slider(
    /// What the value is.
    #[prop(into)]
    label: String,
    /// Its unit; none if empty.
    #[prop(into, optional)]
    unit: String,
    /// The value.
    #[prop(into)]
    value: Signal<f64>,
    /// Called with each new value while the handle moves.
    #[prop(into)]
    on_input: Callback<f64>,
    /// Ends of the slider.
    range: Range,
    /// Smallest change.
    step: f64,
    /// A short explanation.
    #[prop(into, optional)]
    hint: String,
    /// Whether the slider is locked.
    #[prop(into, optional)]
    disabled: Signal<bool>,
) -> impl IntoView {
    let id = unique_id("slider");
    let about = format!("{id}-about");
    let shown = {
        let unit = if unit.is_empty() {
            unit
        } else {
            format!(" {unit}")
        };
        move || format!("{}{unit}", significant(value.get(), 3))
    };
    let part = move || {
        let part = (value.get() - range.min) / (range.max - range.min);
        format!(
            "{:.2}%",
            100.0
                * if part.is_finite() {
                    part.clamp(0.0, 1.0)
                } else {
                    0.0
                }
        )
    };
    let moved = move |text: String| {
        if let Ok(value) = range.read(&text) {
            on_input.run(value);
        }
    };
    let spoken = shown.clone();
    view! {
        <div class="field field--wide">
            <span class="field__label">
                <label for=id.clone()>{label}</label>
                <output class="slider__value" for=id.clone()>
                    {shown}
                </output>
            </span>
            <input
                id=id
                class="slider"
                type="range"
                min=range.min
                max=range.max
                step=step
                disabled=disabled
                aria-valuetext=spoken
                aria-describedby=about.clone()
                style=("--part", part)
                prop:value=move || value.get().to_string()
                on:input=move |event| moved(event_target_value(&event))
            />
            <span id=about class="field__hint">
                {hint}
            </span>
        </div>
    }
    .into_any()
}
