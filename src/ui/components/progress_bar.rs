//! How far a run has come.

use leptos::prelude::*;

/// A bar with a line of text below it.
#[component]
pub fn ProgressBar(
    /// What is under way, for those who do not see the bar.
    #[prop(into)]
    label: String,
    /// Share that is done, 0 to 1; none while that is not known.
    #[prop(into)]
    part: Signal<Option<f64>>,
    /// What is done, such as `step 620 of 1000`.
    #[prop(into, optional)]
    done: Signal<String>,
    /// What is to come, such as `1480 steps/s · 3 s left`.
    #[prop(into, optional)]
    left: Signal<String>,
) -> impl IntoView {
    let known = move || {
        part.get()
            .filter(|p| p.is_finite())
            .map(|p| p.clamp(0.0, 1.0))
    };
    let percent = move || known().map(|p| format!("{:.0} %", 100.0 * p));
    view! {
        <div class="progress-line">
            <progress class="progress" max="1" aria-label=label value=known></progress>
            <div class="progress-line__text">
                <span>
                    <strong>{percent}</strong>
                    {move || if known().is_some() && done.with(|d| !d.is_empty()) { " · " } else { "" }}
                    {done}
                </span>
                <span>{left}</span>
            </div>
        </div>
    }
    .into_any()
}
