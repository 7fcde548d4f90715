//! Train, cancel, progress, the loss, and the link to share.

use leptos::prelude::*;

use crate::{
    engine::protocol::{DeviceUsed, Progress},
    experiments::{
        link::{Link, Page},
        spec::Spec,
    },
    ui::{
        components::{chart_view::ChartView, share_box::ShareBox},
        figures::loss_chart,
        route::Route,
        session::{Session, Status},
    },
};

/// The controls of a run and what it says while it goes.
#[component]
pub fn RunPanel(
    /// What the Train button runs.
    spec: Memo<Spec>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let active = move || session.status.with(Status::is_active);
    let address = move || {
        let link = Link { page: Page::Experiments, spec: spec.get(), run: true };
        Route::address(&link)
    };
    let chart = Memo::new(move |_| loss_chart(&session.losses.get()));
    view! {
        <section class="card" aria-label="Training">
            <div class="actions">
                <button class="button-primary" id="train" disabled=active
                    on:click=move |_| session.start(spec.get_untracked())>"Train"</button>
                <button class="button-danger" id="cancel" disabled=move || !active()
                    on:click=move |_| session.cancel()>"Cancel"</button>
                <ShareBox address=Signal::derive(address) />
            </div>
            <p id="status" role="status">{move || session.status.with(status_text)}</p>
            <ProgressLine />
            <Notes />
            <Show when=move || session.losses.with(|losses| losses.len() > 1)>
                <ChartView chart=chart />
            </Show>
        </section>
    }
}

fn status_text(status: &Status) -> String {
    match status {
        Status::Idle => "Ready. Train runs on your machine.".to_owned(),
        Status::Preparing => "Preparing: loading the engine and simulating the training data …".to_owned(),
        Status::Running => "Training …".to_owned(),
        Status::Finished => "Finished.".to_owned(),
        Status::Cancelled => "Cancelled. The settings are kept; train again at any time.".to_owned(),
        Status::Failed(message) => format!("Stopped: {message}."),
    }
}

/// The bar, the numbers and the device.
#[component]
fn ProgressLine() -> impl IntoView {
    let session = expect_context::<Session>();
    let share = move || session.progress.get().map_or(0.0, |p| p.step as f64 / p.steps as f64);
    let numbers = move || session.progress.get().map(progress_text);
    let device = move || session.device.get().map(device_text);
    view! {
        <Show when=move || session.status.with(Status::is_active)>
            <progress aria-label="Training progress" max="1" prop:value=share></progress>
            <p class="figures" id="progress">{numbers}</p>
        </Show>
        <p class="figures" id="device-used">{device}</p>
    }
}

fn progress_text(progress: Progress) -> String {
    let Progress { step, steps, loss, steps_per_second, seconds_left } = progress;
    format!("step {step} of {steps} · loss {loss:.2e} · {steps_per_second:.0} steps/s · {seconds_left:.0} s left")
}

fn device_text(device: DeviceUsed) -> String {
    let DeviceUsed { name, adapter, reason } = device;
    let place = if name == "cpu" { "Runs on the CPU".to_owned() } else { format!("Runs on WebGPU ({adapter})") };
    if reason.is_empty() { place } else { format!("{place}: {reason}") }
}

/// What the engine had to say.
#[component]
fn Notes() -> impl IntoView {
    let session = expect_context::<Session>();
    let items = move || {
        let notes = session.notes.get();
        notes.into_iter().map(|note| view! { <p class="notice notice-warn" role="alert">{note}</p> }).collect_view()
    };
    view! { <div id="notes">{items}</div> }
}
