//! The environment that a trained model adapts to: parameters, shots, places of measurement.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    experiments::{
        explore::{Answer, Origin, Picture},
        link::{Link, Page},
        spec::{Draft, NUMBERS, Spec},
    },
    systems::Portrait,
    ui::{
        components::{ChartView, Empty, Notice, NumberField, Tone},
        entry::Range,
        figures::{plan_chart, plan_text},
        pages::{
            experiments::{pictures::Pictures, results::Results},
            gallery::{parameters::Parameters, setting::Setting},
        },
        route::Route,
        run::Status,
        session::Session,
    },
};

/// Settings that need no new training.
pub const OF_ENVIRONMENT: [&str; 2] = ["shots", "noise"];

/// A new environment and what the model finds out about it, live.
#[component]
pub fn Explorer(
    /// The system.
    system: Arc<dyn Portrait>,
) -> impl IntoView {
    let (route, session) = (expect_context::<Route>(), expect_context::<Session>());
    let (name, parameters) = (system.about().name, system.about().parameters);
    let is_field = system.extent().is_some();
    let setting = Setting::follow(system);
    let question = Memo::new(move |_| {
        let draft = Draft::from(route.link().spec);
        // When the link goes over to another system, this one's sliders are still there for a moment.
        let phi = match draft.system == name && setting.problem.with(String::is_empty) {
            true => setting.phi.get(),
            false => draft.phi.clone(),
        };
        Draft { phi, ..draft }.corrected().0
    });
    Effect::new(move || {
        session.run.status.track();
        session.ask(question.get());
    });
    let answer = Memo::new(move |_| question.with(|asked| session.answer_for(asked)));
    let edit = move |change: &dyn Fn(&mut Draft)| {
        let link = route.link_untracked();
        let mut draft = Draft::from(link.spec.clone());
        change(&mut draft);
        route.replace(Link {
            page: Page::Experiments,
            spec: draft.corrected().0,
            run: false,
            ..link
        });
    };
    let place = Callback::new(move |points: Vec<[f64; 2]>| {
        edit(&|draft| draft.points = points.clone());
    });
    let spec = Memo::new(move |_| route.link().spec);
    view! {
        <section class="card stack" id="environment" aria-label="A new environment">
            <div class="stack stack--tight">
                <h2>"A new environment"</h2>
                <p class="small muted" id="origin">{move || origin_text(answer.get().as_ref(), &question.get(), session)}</p>
            </div>
            <div class="explore">
                <Parameters parameters=parameters setting=setting />
                <div class="stack">
                    <div class="form">{sample_fields(spec, edit)}</div>
                    <Show when=move || is_field>
                        <PointsLine spec=spec answer=answer on_points=place />
                    </Show>
                    <NoAnswer />
                </div>
            </div>
            <Pictures spec=spec answer=answer on_points=place />
            <Planned answer=answer />
        </section>
        <Show when=move || session.lacks_model() && answer.with(Option::is_none)>
            <Empty title="No result yet">"Press Train: the identified parameters, their error bars and the predictions against the truth stand here then."</Empty>
        </Show>
        <Results answer=answer />
    }
    .into_any()
}

/// Number of shots and their noise.
fn sample_fields(
    spec: Memo<Spec>,
    edit: impl Fn(&dyn Fn(&mut Draft)) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    NUMBERS
        .iter()
        .filter(|number| OF_ENVIRONMENT.contains(&number.key))
        .map(|number| {
            let value = Signal::derive(move || (number.get)(&spec.get()));
            let range = Range { min: number.min, max: number.max, whole: number.whole };
            let set = move |value: f64| edit(&|draft| (number.set)(draft, value));
            view! { <NumberField id=number.key label=number.label hint=number.help value=value range=range on_change=set /> }
        })
        .collect_view()
}

/// Where the field is measured, in words.
#[component]
fn PointsLine(
    /// The experiment.
    spec: Memo<Spec>,
    /// What the model says.
    answer: Memo<Option<Answer>>,
    /// Told of other points; none for random ones.
    on_points: Callback<Vec<[f64; 2]>>,
) -> impl IntoView {
    let count = Memo::new(move |_| spec.with(|spec| spec.points.len()));
    let text = move || match count.get() {
        0 => "Measured at random points. Click into the true field to measure where you like."
            .to_owned(),
        count => format!(
            "Measured at {count} points of your own. Drag them, double-click to remove one."
        ),
    };
    // With what was measured so far, and only once that has been answered.
    let best = Memo::new(move |_| {
        let answer = answer.get()?;
        let fresh = spec.with(|spec| spec.points == answer.spec.points);
        let (Some(plan), Some(Picture::Maps { mut points, .. }), true) =
            (answer.plan, answer.picture, fresh)
        else {
            return None;
        };
        points.push(plan.next);
        Some(points)
    });
    let measure = move |_| {
        if let Some(points) = best.get_untracked() {
            on_points.run(points);
        }
    };
    view! {
        <div class="row row--spread">
            <p class="small muted" id="points" role="status">{text}</p>
            <button type="button" class="button button--quiet button--small" id="best-point"
                disabled=move || best.with(Option::is_none) on:click=measure>"Best next point"</button>
            <Show when=move || { count.get() > 0 }>
                <button type="button" class="button button--quiet button--small" id="random-points"
                    on:click=move |_| on_points.run(Vec::new())>"Random points"</button>
            </Show>
        </div>
    }
    .into_any()
}

/// What planned points gain over random ones.
#[component]
fn Planned(
    /// What the model says.
    answer: Memo<Option<Answer>>,
) -> impl IntoView {
    let plan = Memo::new(move |_| answer.with(|answer| answer.as_ref()?.plan.clone()));
    let chart = Signal::derive(move || plan.with(|plan| plan_chart(plan.as_ref())));
    view! {
        <Show when=move || plan.with(Option::is_some)>
            <ChartView chart=chart />
            <p class="small muted" id="planned">
                {move || plan.with(|plan| plan.as_ref().map(plan_text))}
            </p>
        </Show>
    }
    .into_any()
}

/// Why there is no answer to the last question.
#[component]
fn NoAnswer() -> impl IntoView {
    let session = expect_context::<Session>();
    // The line under the heading says it already.
    let silent = move || session.no_answer.with(|why| !why.is_empty()) && !session.lacks_model();
    view! {
        <Show when=silent>
            <Notice tone=Tone::Info title="No answer for these settings">
                <p>{session.no_answer}</p>
            </Notice>
        </Show>
    }
    .into_any()
}

fn origin_text(answer: Option<&Answer>, asked: &Spec, session: Session) -> &'static str {
    if session.run.status.with(Status::is_active) {
        return "A training runs. What you ask here is answered when it is done.";
    }
    let lacks_model = session.lacks_model();
    let Some(answer) = answer else {
        return match lacks_model {
            true => "No model of these settings yet; press Train.",
            false if session.no_answer.with(String::is_empty) => {
                "Loading a model that came with the site …"
            }
            false => "No model answers; the reason stands below.",
        };
    };
    match answer.origin {
        _ if lacks_model || !answer.spec.trains_like(asked) => {
            "Shown is a model of other settings; press Train for one of these."
        }
        Origin::Shipped => {
            "A model answers that came with the site, trained with these settings from seed 1. Move anything: it adapts at once. Press Train to make your own."
        }
        Origin::Trained => "The model answers that you trained. Move anything: it adapts at once.",
        Origin::File if answer.picture.is_none() => {
            "Shown is what the file says. It came without its model; press Train to make one."
        }
        Origin::File => {
            "The model answers that was in the file that you opened. Move anything: it adapts at once."
        }
    }
}
