//! Online control: the visitor changes a mass, the model finds out.

use leptos::prelude::*;

use crate::{
    charts::{Axis, Chart, Event as Mark, Hue, LineChart, Series},
    engine::{
        client::Engine,
        protocol::{Event, Work},
    },
    experiments::online_run::{OnlinePoint, OnlineRun, OnlineSpec, duration},
    ui::{
        components::{ChartView, Notice, Slider, Tone},
        entry::Range,
    },
};

/// What a run of a system changes and measures.
struct Words {
    mass: &'static str,
    error: (&'static str, &'static str),
}

fn words(system: &str) -> Words {
    match system {
        "upkie" => Words {
            mass: "torso mass",
            error: ("error of the predicted wheel torque", "N m"),
        },
        _ => Words {
            mass: "cart mass",
            error: ("distance of the tip to its reference", "m"),
        },
    }
}

/// The part of an experiment's page on online control. Empty for systems without it.
#[component]
pub fn Adaptive(
    /// Name of the system.
    #[prop(into)]
    system: Signal<String>,
) -> impl IntoView {
    move || {
        let system = system.get();
        duration(&system).map(|length| view! { <Panel system length /> })
    }
}

#[component]
fn Panel(
    /// Name of the system.
    system: String,
    /// Length of the run [s].
    length: f64,
) -> impl IntoView {
    let engine = StoredValue::new_local(Engine::default());
    on_cleanup(move || {
        engine.try_with_value(Engine::close);
    });
    let factor = RwSignal::new(if system == "upkie" { 4.0 } else { 2.0 });
    let time = RwSignal::new((length / 3.0).round());
    let run = RwSignal::new(None::<OnlineRun>);
    let problem = RwSignal::new(String::new());
    let busy = RwSignal::new(false);
    let name = StoredValue::new(system.clone());
    let start = move |_| {
        let spec = OnlineSpec {
            system: name.get_value(),
            factor: factor.get_untracked(),
            time: time.get_untracked(),
            seed: 0,
        };
        busy.set(true);
        problem.set(String::new());
        let hear = move |event| match event {
            Event::Online(result) => {
                run.try_set(Some(*result));
                busy.try_set(false);
            }
            Event::Failed(text) => {
                problem.try_set(text);
                busy.try_set(false);
            }
            _ => {}
        };
        engine.with_value(|engine| engine.start(Work::Online(spec), hear));
    };
    let Words { mass, error } = words(&system);
    let charts = move || {
        run.get().map(|run| {
            let [weighed, followed] = [mass_chart(&run, mass), error_chart(&run, error)];
            view! {
                <ChartView chart=Signal::stored(weighed) />
                <ChartView chart=Signal::stored(followed) />
                <p class="small muted">{summary(&run)}</p>
            }
        })
    };
    view! {
        <section class="card stack" id="online" aria-label="Online control">
            <h2>"Online control"</h2>
            <p class="muted">
                {format!("The {mass} changes while the robot moves. The controller is told neither that nor when; it has to notice.")}
            </p>
            <div class="grid">
                <Slider label="Factor on the mass" value=factor on_input=move |value| factor.set(value)
                    range=Range { min: 0.5, max: 4.0, whole: false } step=0.1 />
                <Slider label="Time of the change" unit="s" value=time on_input=move |value| time.set(value)
                    range=Range { min: 1.0, max: length - 2.0, whole: false } step=0.1 />
            </div>
            <div class="row">
                <button type="button" id="online-run" class="button button--primary" disabled=busy on:click=start>
                    {move || if busy.get() { "Running …" } else { "Run with the pretrained model" }}
                </button>
            </div>
            <Show when=move || problem.with(|problem| !problem.is_empty())>
                <Notice tone=Tone::Error title=problem />
            </Show>
            {charts}
        </section>
    }
    .into_any()
}

fn mass_chart(run: &OnlineRun, mass: &str) -> Chart {
    let line = |value: fn(&OnlinePoint) -> f64| -> Vec<[f64; 2]> {
        run.points.iter().map(|p| [p.time, value(p)]).collect()
    };
    let bands = run.points.iter().map(|p| {
        let reach = 2.0 * p.standard_error;
        [p.estimate - reach, p.estimate + reach]
    });
    let top = run.points.iter().map(|p| p.truth).fold(1.0, f64::max);
    let mark = |&at: &f64| Mark {
        at,
        label: "noticed".to_owned(),
        hue: Hue::Camel,
    };
    Chart::Lines(LineChart {
        title: format!("The {mass}: true and identified"),
        x: Axis::linear("time", "s"),
        y: Axis::linear("mass", "kg").with_range(0.0, 1.6 * top),
        series: vec![
            Series::new(
                "CAMEL, ± 2 standard errors",
                Hue::Camel,
                line(|p| p.estimate),
            )
            .with_band(bands.collect()),
            Series::new("true", Hue::Oracle, line(|p| p.truth)),
        ],
        events: run.noticed.iter().map(mark).collect(),
        ..LineChart::default()
    })
}

fn error_chart(run: &OnlineRun, (title, unit): (&str, &str)) -> Chart {
    let points = run.points.iter().map(|p| [p.time, p.error]).collect();
    Chart::Lines(LineChart {
        title: title.to_owned(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("error", unit),
        series: vec![Series::new("CAMEL", Hue::Camel, points)],
        ..LineChart::default()
    })
}

fn summary(run: &OnlineRun) -> String {
    let time = format!("{:.0} µs", 1e6 * run.seconds_a_tick);
    format!("One control step took {time} here, simulation included.")
}
