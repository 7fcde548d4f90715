//! The potential of charges or plates.

use leptos::{html::Canvas, prelude::*};

use crate::{
    charts::{Chart, FieldChart},
    systems::SystemError,
    ui::{
        browser::Throttle,
        components::{ChartTools, FieldCanvas, Notice, Scale, Tone},
        pages::gallery::charges::{ChargeButtons, Charges},
        route::Route,
        stage::map::Source,
    },
};

/// Most solutions in a second.
const SOLUTIONS: f64 = 20.0;

/// A potential map with field lines. Charges can be dragged, added and removed; what is not possible
/// is explained while the last possible picture stays.
#[component]
pub fn FieldStage(
    /// Name of the system.
    name: &'static str,
    /// What it is called.
    title: &'static str,
    /// The parameters φ.
    phi: RwSignal<Vec<f64>>,
) -> impl IntoView {
    let route = expect_context::<Route>();
    let linked = route.link_untracked().spec.places.clone();
    match Source::new(name, &linked) {
        Ok(source) => view! { <Map source=source title=title phi=phi /> }.into_any(),
        Err(error) => view! { <Notice tone=Tone::Error title=error.to_string() /> }.into_any(),
    }
}

#[component]
fn Map(
    /// The charges or plates.
    source: Source,
    /// What they are called.
    title: &'static str,
    /// The parameters φ.
    phi: RwSignal<Vec<f64>>,
) -> impl IntoView {
    let charges = (!source.usual_places().is_empty()).then(|| Charges::follow(&source, phi));
    let places = charges.as_ref().map(|charges| charges.places);
    let domain = source.window();
    let chart = RwSignal::new(FieldChart {
        title: title.to_owned(),
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
        if let Some(places) = places {
            places.track();
        }
        throttle.run(move || {
            let places = match places {
                Some(places) => places.try_get_untracked(),
                None => Some(Vec::new()),
            };
            let (Some(phi), Some(places)) = (phi.try_get_untracked(), places) else {
                return;
            };
            source.try_with_value(|source| show(source.map(&phi, &places)));
        });
    });
    let refused = Signal::derive(move || problem.with(|problem| !problem.is_empty()));
    let label = Signal::derive(move || chart.with(FieldChart::describe));
    let canvas = NodeRef::<Canvas>::new();
    let whole = Signal::derive(move || Chart::Field(chart.get()));
    let tools = view! { <ChartTools chart=whole canvas=canvas /> };
    match charges {
        Some(charges) => {
            let moved = move |points| charges.drag(points);
            view! {
                <figure class="map">
                    <FieldCanvas field=chart points=charges.places on_points=moved movable=true
                        hidden=Signal::derive(move || !refused.get()) label=label canvas=canvas />
                    {tools}
                </figure>
                <Show when=move || refused.get()>
                    <Notice tone=Tone::Warn title="Not possible; the last possible picture stays">
                        <p>{problem}</p>
                    </Notice>
                </Show>
                <div class="row row--spread">
                    <Scale chart=chart />
                    <ChargeButtons charges=charges source=source refused=refused />
                </div>
                <p class="small muted">
                    "Lines of the field run from positive to negative charges. Drag the charges, or press Enter to choose one and move it with the arrow keys. Another sign of φ is another sign of its charge."
                </p>
            }
            .into_any()
        }
        None => view! {
            <figure class="map">
                <FieldCanvas field=chart label=label canvas=canvas />
                {tools}
            </figure>
            <div class="row row--spread"><Scale chart=chart /></div>
            <p class="small muted">
                "Lines of the field run from the positive to the negative plate. Solved on 150 × 100 nodes whenever a slider moves."
            </p>
        }
        .into_any(),
    }
}
