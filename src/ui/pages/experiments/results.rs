//! What the adapted model knows and does.

use leptos::prelude::*;

use crate::{
    experiments::report::{Adaptation, ErrorSize, Identified, Report},
    ui::{
        components::{chart_view::ChartView, motion_view::MotionView},
        figures::{identified_text, prediction_chart, tracking_chart},
        session::Session,
    },
};

/// The results of the last run, once there are some.
#[component]
pub fn Results() -> impl IntoView {
    let session = expect_context::<Session>();
    move || session.report.get().map(|report| view! { <Report report /> })
}

/// One report.
#[component]
fn Report(
    /// What was found.
    report: Report,
) -> impl IntoView {
    let adaptation = report.adaptation.clone();
    let predictions = Memo::new({
        let report = report.clone();
        move |_| prediction_chart(&report)
    });
    let motion = report.motion.clone().map(|motion| {
        let chart = Memo::new({
            let motion = motion.clone();
            move |_| tracking_chart(&motion)
        });
        view! {
            <section class="card" aria-label="Tracking">
                <h2>"Following a reference"</h2>
                <p>"The adapted model computes the force; the ghost is the reference."</p>
                <MotionView system=report.spec.system.clone() motion=motion />
                <ChartView chart=chart />
            </section>
        }
    });
    view! {
        <section class="card" id="results" aria-label="Results">
            <h2>"A new environment, from " {adaptation.shots} " samples"</h2>
            <IdentifiedTable identified=adaptation.identified.clone() />
            <ErrorList adaptation />
            <ChartView chart=predictions />
        </section>
        {motion}
    }
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
                <td>{format!("{:.4} {}", parameter.truth, parameter.unit)}</td>
                <td class="estimate">{estimate}</td>
                <td>{format!("{off:+.2} %")}</td>
            </tr>
        }
    });
    view! {
        <table id="identified">
            <caption>"True and identified parameters, with standard errors"</caption>
            <thead>
                <tr><th scope="col">"Parameter"</th><th scope="col">"True"</th><th scope="col">"Identified"</th><th scope="col">"Off by"</th></tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
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
        let text = format!("{:.2e} {unit}² ({:.2e} of the mean squared target)", error.mse, error.normalised);
        view! { <div><dt>{name}</dt><dd>{text}</dd></div> }
    };
    view! {
        <dl class="figures" id="errors">
            {line("Mean squared error", adaptation.few_shot)}
            {adaptation.zero_shot.map(|error| line("From the true parameters, no sample", error))}
        </dl>
    }
}
