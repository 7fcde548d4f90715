//! Pause, step, speed and reset of something that moves.

use leptos::prelude::*;

use super::Segmented;

/// The buttons, for a bar or a row that has room for more.
#[component]
pub fn Playback(
    /// What the ids of the buttons begin with.
    #[prop(optional)]
    prefix: &'static str,
    /// Whether it stands.
    #[prop(into)]
    paused: Signal<bool>,
    /// Lets it stand or go on.
    #[prop(into)]
    on_toggle: Callback<()>,
    /// Makes one step while it stands.
    #[prop(into)]
    on_step: Callback<()>,
    /// Starts anew.
    #[prop(into)]
    on_reset: Callback<()>,
    /// Multiples of real time, and how they are written.
    speeds: &'static [(f64, &'static str)],
    /// The chosen one.
    #[prop(into)]
    speed: RwSignal<f64>,
    /// Called with another one.
    #[prop(into)]
    on_speed: Callback<f64>,
    /// Whether there is nothing that could move.
    #[prop(into, optional)]
    idle: Signal<bool>,
) -> impl IntoView {
    let options = speeds
        .iter()
        .map(|(speed, text)| (speed.to_string(), (*text).to_owned()));
    let choose = move |name: String| {
        if let Ok(speed) = name.parse() {
            on_speed.run(speed);
        }
    };
    view! {
        <button type="button" id=format!("{prefix}pause") class="button button--quiet button--small" disabled=idle
            on:click=move |_| on_toggle.run(())>{move || if paused.get() { "Play" } else { "Pause" }}</button>
        <button type="button" id=format!("{prefix}step") class="button button--bare button--small"
            disabled=move || idle.get() || !paused.get() on:click=move |_| on_step.run(())>"Step"</button>
        <Segmented label="Speed" options=options.collect() value=Signal::derive(move || speed.get().to_string())
            on_change=choose />
        <button type="button" id=format!("{prefix}reset") class="button button--bare button--small" disabled=idle
            on:click=move |_| on_reset.run(())>"Reset"</button>
    }
    .into_any()
}
