//! A number that matters.

use leptos::prelude::*;

/// A large number with its unit or error, inside a list of class `readouts`.
#[component]
pub fn Readout(
    /// What the number is.
    #[prop(into)]
    label: String,
    /// The number.
    #[prop(into)]
    value: Signal<String>,
    /// Its unit, or its error with the unit.
    #[prop(into, optional)]
    detail: Signal<String>,
) -> impl IntoView {
    view! {
        <div class="readout">
            <dt>{label}</dt>
            <dd>{value} " " <small>{detail}</small></dd>
        </div>
    }
    .into_any()
}
