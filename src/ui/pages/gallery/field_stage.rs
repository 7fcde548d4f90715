//! The potential of charges or plates.

use leptos::prelude::*;

use crate::{
    charts::{FieldChart, number::short},
    experiments::{link::Link, spec::Draft},
    systems::SystemError,
    ui::{
        browser::Throttle,
        components::{FieldCanvas, Notice, Tone},
        route::Route,
        stage::map::Source,
    },
};

/// Most changes of the link in a second; browsers refuse more than a few.
const WRITES: f64 = 3.0;
/// Most solutions in a second.
const SOLUTIONS: f64 = 20.0;

/// A potential map with field lines. Charges can be dragged; what is not possible is explained
/// while the last possible picture stays.
#[component]
pub fn FieldStage(
    /// Name of the system.
    name: &'static str,
    /// The parameters φ.
    phi: RwSignal<Vec<f64>>,
) -> impl IntoView {
    match Source::by_name(name) {
        Ok(source) => view! { <Map source=source phi=phi /> }.into_any(),
        Err(error) => view! { <Notice tone=Tone::Error title=error.to_string() /> }.into_any(),
    }
}

#[component]
fn Map(
    /// The charges or plates.
    source: Source,
    /// The parameters φ.
    phi: RwSignal<Vec<f64>>,
) -> impl IntoView {
    let route = expect_context::<Route>();
    let first = source.places();
    let has_charges = !first.is_empty();
    let linked = route.link_untracked().spec.places.clone();
    let moved_before = linked.len() == first.len();
    let places = RwSignal::new(if moved_before { linked } else { first.clone() });
    write_into_link(route, places, first.clone());
    let domain = source.window();
    let chart = RwSignal::new(FieldChart {
        domain,
        ..FieldChart::default()
    });
    let problem = RwSignal::new(String::new());
    let show = move |outcome: Result<FieldChart, SystemError>| match outcome {
        Ok(map) => {
            chart.set(map);
            problem.set(String::new());
        }
        Err(error) => problem.set(error.to_string()),
    };
    let source = StoredValue::new(source);
    let throttle = Throttle::new(SOLUTIONS);
    Effect::new(move || {
        phi.track();
        places.track();
        throttle.run(move || {
            let (Some(phi), Some(places)) = (phi.try_get_untracked(), places.try_get_untracked())
            else {
                return;
            };
            source.try_with_value(|source| show(source.map(&phi, &places)));
        });
    });
    let refused = Signal::derive(move || problem.with(|problem| !problem.is_empty()));
    let label = Signal::derive(move || chart.with(words));
    let moved = move |points: Vec<[f64; 2]>| {
        // To the millimetre: nobody points more exactly.
        let rounded = |point: [f64; 2]| point.map(|x| (1e3 * x).round() / 1e3);
        let points: Vec<_> = points.into_iter().map(rounded).collect();
        if places.with_untracked(|places| places.len() == points.len() && *places != points) {
            places.set(points);
        }
    };
    let canvas = if has_charges {
        view! { <FieldCanvas field=chart points=places on_points=moved movable=true hidden=Signal::derive(move || !refused.get()) label=label /> }
            .into_any()
    } else {
        view! { <FieldCanvas field=chart label=label /> }.into_any()
    };
    view! {
        {canvas}
        <Show when=move || refused.get() && has_charges>
            <Notice tone=Tone::Warn title="Not possible; the last possible picture stays">
                <p>{problem}</p>
            </Notice>
        </Show>
        <div class="row row--spread">
            <Scale chart=chart />
            <Show when=move || has_charges>
                <button type="button" class="button button--quiet button--small" id="reset"
                    on:click={
                        let first = first.clone();
                        move |_| places.set(first.clone())
                    }>"Charges back"</button>
            </Show>
        </div>
        <p class="small muted">
            {if has_charges {
                "Lines of the field run from positive to negative charges. Drag the charges, or press Enter to choose one and move it with the arrow keys."
            } else {
                "Lines of the field run from the positive to the negative plate. Solved on 150 × 100 nodes whenever a slider moves."
            }}
        </p>
    }
    .into_any()
}

/// Keeps the places in the link; the usual ones are left out.
fn write_into_link(route: Route, places: RwSignal<Vec<[f64; 2]>>, usual: Vec<[f64; 2]>) {
    let throttle = Throttle::new(WRITES);
    Effect::new(move |before: Option<()>| {
        places.track();
        if before.is_none() {
            return;
        }
        let usual = usual.clone();
        throttle.run(move || {
            let Some(places) = places.try_get_untracked() else {
                return;
            };
            let link = route.link_untracked();
            let places = if places == usual { Vec::new() } else { places };
            let draft = Draft {
                places,
                ..Draft::from(link.spec.clone())
            };
            // Impossible places stay out of the link.
            if let Ok(spec) = draft.check() {
                route.replace(Link { spec, ..link });
            }
        });
    });
}

/// What the colours stand for.
#[component]
fn Scale(
    /// The map.
    chart: RwSignal<FieldChart>,
) -> impl IntoView {
    let span = Memo::new(move |_| {
        chart
            .with(|chart| (!chart.values.is_empty()).then(|| chart.span()))
            .map(|s| (s.low, s.high))
    });
    let end = move |pick: fn((f64, f64)) -> f64| {
        move || span.get().map(|span| format!("{} V", short(pick(span))))
    };
    view! {
        <div class="scale" role="img" aria-label="Colours from low to high potential">
            <span>{end(|(low, _)| low)}</span>
            <span class="scale__bar"></span>
            <span>{end(|(_, high)| high)}</span>
        </div>
    }
    .into_any()
}

fn words(chart: &FieldChart) -> String {
    let finite = || {
        chart
            .values
            .iter()
            .copied()
            .filter(|value| value.is_finite())
    };
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    format!(
        "{}: map of the potential from {} to {} V with {} field lines",
        chart.title,
        short(low),
        short(high),
        chart.lines.len()
    )
}
