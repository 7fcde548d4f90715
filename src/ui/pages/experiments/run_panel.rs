//! Train, cancel, progress and the loss.

use leptos::prelude::*;

use crate::{
    engine::protocol::{DeviceUsed, Progress},
    experiments::spec::Spec,
    ui::{
        components::{ChartView, Notice, ProgressBar, Tone},
        figures::loss_chart,
        run::{Run, Status},
    },
};

/// The controls of a run and what it says while it goes.
#[component]
pub fn RunPanel(
    /// What runs.
    run: Run,
    /// What it trains.
    spec: Memo<Spec>,
    /// What the Train button does.
    #[prop(into)]
    on_train: Callback<()>,
    /// What the Cancel button does.
    #[prop(into)]
    on_cancel: Callback<()>,
    /// Whether there is nothing to train yet.
    #[prop(into, optional)]
    blocked: Signal<bool>,
) -> impl IntoView {
    let status = move || {
        let preparing = run.preparing.get();
        match run.status.get() {
            Status::Preparing if !preparing.is_empty() => format!("Preparing: {preparing} …"),
            status => status_text(&status),
        }
    };
    let active = move || run.status.with(Status::is_active);
    let chart = Signal::derive(move || loss_chart(&spec.get().method, &run.losses.get()));
    view! {
        <section class="card stack" aria-label="Training">
            <div class="row row--spread">
                <p id="status" role="status">{status}</p>
                <div class="row">
                    <button type="button" class="button button--primary" id="train"
                        disabled=move || active() || blocked.get() on:click=move |_| on_train.run(())>"Train"</button>
                    <button type="button" class="button button--danger" id="cancel" disabled=move || !active()
                        on:click=move |_| on_cancel.run(())>"Cancel"</button>
                </div>
            </div>
            <Show when=active>
                <ProgressBar label="Training" part=Signal::derive(move || run.progress.get().map(share_done))
                    done=Signal::derive(move || run.progress.get().map(done_text).unwrap_or_default())
                    left=Signal::derive(move || run.progress.get().map(left_text).unwrap_or_default()) />
            </Show>
            <p class="small muted" id="device-used">{move || run.device.get().map(device_text)}</p>
            <Notes notes=run.notes />
            <Show when=move || run.losses.with(|losses| losses.len() > 1)>
                <ChartView chart=chart />
            </Show>
        </section>
    }
    .into_any()
}

fn status_text(status: &Status) -> String {
    match status {
        Status::Idle => "Ready. Training runs on your machine.".to_owned(),
        Status::Preparing => {
            "Preparing: loading the engine and simulating the training data …".to_owned()
        }
        Status::Running => "Training …".to_owned(),
        Status::Finished => "Finished.".to_owned(),
        Status::Cancelled => {
            "Cancelled. The settings are kept; train again at any time.".to_owned()
        }
        Status::Failed(message) => format!("Stopped: {message}."),
    }
}

fn share_done(progress: Progress) -> f64 {
    progress.step as f64 / progress.steps.max(1) as f64
}

fn done_text(
    Progress {
        step, steps, loss, ..
    }: Progress,
) -> String {
    if loss.is_nan() {
        return format!("step {step} of {steps}");
    }
    format!("step {step} of {steps} · loss {loss:.2e}")
}

fn left_text(
    Progress {
        steps_per_second,
        seconds_left,
        ..
    }: Progress,
) -> String {
    format!("{steps_per_second:.0} steps/s · {seconds_left:.0} s left")
}

fn device_text(device: DeviceUsed) -> String {
    let DeviceUsed {
        name,
        adapter,
        reason,
    } = device;
    let place = if name == "cpu" {
        "Runs on the CPU".to_owned()
    } else {
        format!("Runs on WebGPU ({adapter})")
    };
    if reason.is_empty() {
        place
    } else {
        format!("{place}: {reason}")
    }
}

/// What the engine had to say.
#[component]
fn Notes(
    /// One text each.
    notes: RwSignal<Vec<String>>,
) -> impl IntoView {
    let items = move || {
        let notes = notes.get().into_iter();
        notes
            .map(|note| view! { <Notice tone=Tone::Warn title=note /> })
            .collect_view()
    };
    view! { <div id="notes">{items}</div> }
}
