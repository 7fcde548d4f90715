//! What the adapted model knows and does.

use leptos::prelude::*;

use crate::{
    experiments::{
        explore::Answer,
        report::{Adaptation, ErrorSize, Identified, Motion},
    },
    ui::{
        components::{ChartView, DataTable},
        figures::{
            conditioning_text, identified_chart, identified_table, prediction_chart,
            tracking_chart, tracking_total,
        },
        pages::experiments::motion_view::MotionView,
    },
};

/// What the model found out about the environment, once it has.
#[component]
pub fn Results(
    /// What it says.
    answer: Memo<Option<Answer>>,
) -> impl IntoView {
    let has_answer = Memo::new(move |_| answer.with(Option::is_some));
    let moves = Memo::new(move |_| {
        answer.with(|answer| answer.as_ref().is_some_and(|a| a.motion.is_some()))
    });
    view! {
        <Show when=move || has_answer.get()>
            <Found answer=answer />
        </Show>
        <Show when=move || moves.get()>
            <Tracking answer=answer />
        </Show>
    }
    .into_any()
}

/// Identified parameters, errors and predictions.
#[component]
fn Found(
    /// What the model says.
    answer: Memo<Option<Answer>>,
) -> impl IntoView {
    let adaptation = move || answer.with(|answer| answer.as_ref().map(|a| a.adaptation.clone()));
    let chart = Signal::derive(move || {
        answer.with(|answer| match answer {
            Some(answer) => prediction_chart(&answer.spec.method, &answer.adaptation),
            None => prediction_chart("", &Adaptation::default()),
        })
    });
    let identified = Signal::derive(move || {
        answer.with(|answer| match answer {
            Some(answer) => identified_chart(&answer.spec.method, &answer.adaptation.identified),
            None => identified_chart("", &[]),
        })
    });
    let is_identified = Memo::new(move |_| {
        let some = |answer: &Answer| !answer.adaptation.identified.is_empty();
        answer.with(|answer| answer.as_ref().is_some_and(some))
    });
    let shots = move || adaptation().map_or(0, |adaptation| adaptation.shots);
    view! {
        <section class="card stack" id="results" aria-label="Results">
            <h2>"Found out from " {shots} " samples"</h2>
            {move || adaptation().map(|found| view! {
                <IdentifiedTable identified=found.identified.clone() />
                <p class="small muted" id="conditioning">{conditioning_text(&found)}</p>
                <ErrorList adaptation=found />
            })}
            <div class="grid grid--wide">
                <Show when=move || is_identified.get()><ChartView chart=identified /></Show>
                <ChartView chart=chart />
            </div>
        </section>
    }
    .into_any()
}

/// The robot following its reference.
#[component]
fn Tracking(
    /// What the model says.
    answer: Memo<Option<Answer>>,
) -> impl IntoView {
    let motion = Memo::new(move |_| {
        answer.with(|answer| {
            let answer = answer.as_ref()?;
            let motion = answer.motion.clone()?;
            Some((
                answer.spec.system.clone(),
                answer.spec.method.clone(),
                motion,
            ))
        })
    });
    let ends = move || match motion.with(|m| m.as_ref().is_some_and(|(.., m)| m.success)) {
        true => "It ends upright.",
        false => "It does not end upright.",
    };
    let total = move || {
        let of = |(_, method, motion): &(String, String, Motion)| tracking_total(method, motion);
        motion.with(|m| m.as_ref().map(of))
    };
    let chart = Signal::derive(move || {
        motion
            .with(|m| {
                m.as_ref()
                    .map(|(_, method, motion)| tracking_chart(method, motion))
            })
            .unwrap_or_else(|| tracking_chart("camel", &Motion::default()))
    });
    view! {
        <section class="card stack" id="tracking" aria-label="Tracking">
            <h2>"Following a reference"</h2>
            <p class="small muted">
                "The adapted model computes the force. The ghost is the reference. " {ends}
            </p>
            <MotionView motion=motion />
            <ChartView chart=chart />
            <p id="tracking-total">{total}</p>
        </section>
    }
    .into_any()
}

/// True against identified parameters.
#[component]
pub fn IdentifiedTable(
    /// The parameters.
    identified: Vec<Identified>,
) -> impl IntoView {
    if identified.is_empty() {
        return view! { <p>"There is no estimate of the parameters."</p> }.into_any();
    }
    let table = identified_table(&identified);
    view! { <div id="identified"><DataTable table=Signal::stored(table) /></div> }.into_any()
}

/// Errors of the adapted models.
#[component]
pub fn ErrorList(
    /// What was found.
    adaptation: Adaptation,
) -> impl IntoView {
    let unit = squared(&adaptation.target.1);
    let readout = move |name: &'static str, mse: f64, share: String| {
        let text = format!("{mse:.2e} {unit}");
        view! { <div class="readout"><dt>{name}</dt><dd title=share>{text}</dd></div> }
    };
    let line = |name: &'static str, error: ErrorSize| {
        let share = format!("{:.2e} of the mean squared target", error.normalised);
        readout(name, error.mse, share)
    };
    view! {
        <dl class="readouts" id="errors">
            {line("Mean squared error", adaptation.few_shot)}
            {adaptation.zero_shot.map(|error| line("From the true parameters, no sample", error))}
            {adaptation.floor.map(|mse| readout("Noise floor", mse, "What the noise leaves to a perfect model".to_owned()))}
        </dl>
    }
    .into_any()
}

/// The square of a unit.
fn squared(unit: &str) -> String {
    if unit.contains(' ') {
        format!("({unit})²")
    } else {
        format!("{unit}²")
    }
}
