//! What the adapted model knows and does.

use leptos::prelude::*;

use crate::{
    experiments::report::{Adaptation, ErrorSize, Identified, Report},
    ui::{
        components::ChartView,
        figures::{identified_text, prediction_chart, tracking_chart},
        pages::experiments::motion_view::MotionView,
        session::Session,
    },
};

/// The results of the last run, once there are some.
#[component]
pub fn Results() -> impl IntoView {
    let session = expect_context::<Session>();
    move || {
        session
            .report
            .get()
            .map(|report| view! { <Report report /> })
    }
}

/// One report.
#[component]
fn Report(
    /// What was found.
    report: Report,
) -> impl IntoView {
    let adaptation = report.adaptation.clone();
    let method = report.spec.method.clone();
    let predictions = prediction_chart(&report);
    let system = report.spec.system.clone();
    let motion = report.motion.map(|motion| {
        let chart = tracking_chart(&method, &motion);
        view! {
            <section class="card stack" id="tracking" aria-label="Tracking">
                <h2>"Following a reference"</h2>
                <p class="small muted">
                    "The adapted model computes the force. The ghost is the reference. "
                    {if motion.success { "It ends upright." } else { "It does not end upright." }}
                </p>
                <MotionView system=system method=method motion=motion />
                <ChartView chart=Signal::stored(chart) />
            </section>
        }
    });
    view! {
        <section class="card stack" id="results" aria-label="Results">
            <h2>"A new environment, from " {adaptation.shots} " samples"</h2>
            <IdentifiedTable identified=adaptation.identified.clone() />
            <ErrorList adaptation />
            <ChartView chart=Signal::stored(predictions) />
        </section>
        {motion}
    }
    .into_any()
}

/// True against identified parameters.
#[component]
fn IdentifiedTable(
    /// The parameters.
    identified: Vec<Identified>,
) -> impl IntoView {
    if identified.is_empty() {
        return view! { <p>"This method gives no estimate of the parameters."</p> }.into_any();
    }
    let rows = identified.into_iter().map(|parameter| {
        let estimate = identified_text(&parameter);
        let off = 100.0 * (parameter.estimate - parameter.truth) / parameter.truth;
        view! {
            <tr>
                <th scope="row">{parameter.name.clone()} " " <i>{parameter.symbol.clone()}</i></th>
                <td class="number">{format!("{:.4} {}", parameter.truth, parameter.unit)}</td>
                <td class="number">{estimate}</td>
                <td class="number">{format!("{off:+.2} %")}</td>
            </tr>
        }
    });
    view! {
        <div class="table-scroll">
        <table class="table" id="identified">
            <caption class="visually-hidden">"True and identified parameters, with standard errors"</caption>
            <thead>
                <tr><th scope="col">"Parameter"</th><th scope="col" class="number">"True"</th><th scope="col" class="number">"Identified"</th><th scope="col" class="number">"Off by"</th></tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
        </div>
    }
    .into_any()
}

/// Errors of the adapted models.
#[component]
fn ErrorList(
    /// What was found.
    adaptation: Adaptation,
) -> impl IntoView {
    let unit = adaptation.target.1.clone();
    let line = move |name: &'static str, error: ErrorSize| {
        let text = format!("{:.2e} {unit}²", error.mse);
        let share = format!("{:.2e} of the mean squared target", error.normalised);
        view! { <div class="readout"><dt>{name}</dt><dd title=share>{text}</dd></div> }
    };
    view! {
        <dl class="readouts" id="errors">
            {line("Mean squared error", adaptation.few_shot)}
            {adaptation.zero_shot.map(|error| line("From the true parameters, no sample", error))}
        </dl>
    }
    .into_any()
}
