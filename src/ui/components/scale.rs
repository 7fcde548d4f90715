//! What the colours of a map stand for.

use leptos::prelude::*;

use crate::charts::{FieldChart, number::short};

/// The colours of a map between the values that its ends stand for.
#[component]
pub fn Scale(
    /// The map.
    #[prop(into)]
    chart: Signal<FieldChart>,
) -> impl IntoView {
    let ends = Memo::new(move |_| {
        chart.with(|chart| {
            let text = |value: f64| format!("{} {}", short(value), chart.quantity.unit);
            let span = (!chart.values.is_empty()).then(|| chart.span());
            span.map(|span| [text(span.low), text(span.high)])
        })
    });
    let end = move |index: usize| move || ends.get().map(|ends| ends[index].clone());
    let label = move || {
        let [low, high] = ends.get()?;
        Some(format!("Colours from {low} to {high}"))
    };
    view! {
        <div class="scale" role="img" aria-label=label>
            <span>{end(0)}</span>
            <span class="scale__bar"></span>
            <span>{end(1)}</span>
        </div>
    }
    .into_any()
}
