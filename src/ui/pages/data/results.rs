//! What was learned from the file.

use leptos::prelude::*;

use crate::{
    experiments::{dataset::report::DataReport, saved},
    ui::{
        browser,
        components::{ChartView, Notice, Tone},
        data_session::DataSession,
        figures::prediction_chart,
        pages::experiments::results::{ErrorList, IdentifiedTable},
    },
};

/// The results of the last run, once there are some.
#[component]
pub fn DataResults() -> impl IntoView {
    let data = expect_context::<DataSession>();
    move || data.report.get().map(|report| show(data, report))
}

fn show(data: DataSession, report: DataReport) -> AnyView {
    let adaptation = report.adaptation.clone();
    let chart = prediction_chart(&report.spec.training.method, &adaptation);
    let about = format!(
        "{}: trained on {} environments in {:.1} s ({} steps), adapted to '{}' from {} samples.",
        report.spec.file,
        report.environments,
        report.seconds,
        report.steps,
        report.spec.held_out,
        adaptation.shots
    );
    let notes = report.notes.clone().into_iter();
    let notes = notes.map(|note| view! { <Notice tone=Tone::Warn title=note /> });
    let identified = (!report.spec.columns.parameters.is_empty())
        .then(|| view! { <IdentifiedTable identified=adaptation.identified.clone() /> });
    let stem = format!(
        "{} {}",
        report.spec.file.trim_end_matches(".csv"),
        report.spec.training.method
    );
    let name = move |ending: &str| browser::file_name(&stem, ending);
    let run_name = name("json");
    let model_name = name("safetensors");
    let save_run = move |_| {
        let written = data
            .run
            .weights
            .with_untracked(|weights| saved::write(&report, weights, &browser::name()));
        if let Ok(text) = written {
            browser::save_text(&run_name, "application/json", &text);
        }
    };
    let save_model = move |_| {
        let kind = "application/octet-stream";
        data.run
            .weights
            .with_untracked(|bytes| browser::save(&model_name, kind, bytes));
    };
    view! {
        <section class="card stack" id="results" aria-label="Results">
            <div class="row row--spread">
                <h2>"The held-out environment"</h2>
                <div class="row">
                    <button type="button" class="button button--quiet button--small" id="save-run"
                        on:click=save_run>"Save results (JSON)"</button>
                    <button type="button" class="button button--quiet button--small" id="save-weights"
                        disabled=move || data.run.weights.with(Vec::is_empty)
                        on:click=save_model>"Save model (safetensors)"</button>
                </div>
            </div>
            <p class="small muted">{about}</p>
            {notes.collect_view()}
            {identified}
            <ErrorList adaptation />
            <ChartView chart=Signal::stored(chart) />
        </section>
    }
    .into_any()
}
