//! Online control: the visitor changes a mass, the model finds out.

use leptos::prelude::*;

use crate::{
    charts::{Axis, Chart, Event as Mark, Hue, LineChart, Series},
    experiments::{
        link::Link,
        live::Command,
        online_report::OnlineReport,
        online_run::{
            EXCITING, FACTORS, METHODS, OnlinePoint, OnlineRun, OnlineSpec, VIEW, duration, tick_ms,
        },
        saved, view,
    },
    ui::{
        browser,
        components::{ChartView, Notice, Playback, SelectField, Slider, Tone},
        entry::Range,
        figures::title,
        online::Online,
        route::Route,
    },
};

/// Multiples of real time, and how they are written.
const SPEEDS: [(f64, &str); 3] = [(1.0, "1 ×"), (4.0, "4 ×"), (100.0, "fast")];

/// What a run of a system changes and measures.
#[derive(Clone, Copy)]
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
    let (route, online) = (expect_context::<Route>(), expect_context::<Online>());
    let text = words(&system);
    let name = StoredValue::new(system.clone());
    let linked =
        move |link: &Link| name.with_value(|system| OnlineSpec::of_view(system, &link.view));
    let spec = Memo::new(move |_| {
        linked(&route.link()).unwrap_or_else(|| OnlineSpec::usual(&name.get_value()))
    });
    let write = move |spec: OnlineSpec| {
        let link = route.link_untracked();
        let view = spec.in_view(&link.view);
        route.replace(Link { view, ..link });
    };
    let edit = move |change: &dyn Fn(&mut OnlineSpec)| {
        let mut spec = spec.get_untracked();
        change(&mut spec);
        write(spec);
    };
    // Back on this page, the link again says what runs; a former link is written as today's.
    Effect::new(move || {
        let link = route.link_untracked();
        let of_here = |report: &OnlineReport| name.with_value(|name| report.spec.system == *name);
        let running = online.report.with_untracked(|report| {
            let report = report.as_ref().filter(|report| of_here(report))?;
            Some(report.spec.clone())
        });
        if let (None, Some(spec)) = (view::get(&link.view, VIEW), linked(&link).or(running)) {
            write(spec);
        }
    });
    let mut methods = METHODS.map(|name| (name.to_owned(), title(name))).to_vec();
    if system == "cartpole" {
        methods.push((EXCITING.to_owned(), "CAMEL, exciting input".to_owned()));
    }
    let method = Signal::derive(move || {
        spec.with(|spec| match spec.exciting {
            true => EXCITING.to_owned(),
            false => spec.method.clone(),
        })
    });
    let choose = move |name: String| {
        edit(&|spec| {
            spec.exciting = name == EXCITING;
            let method = if spec.exciting { METHODS[0] } else { &name };
            method.clone_into(&mut spec.method);
        });
    };
    let factor = Signal::derive(move || spec.with(|spec| spec.factor));
    let time = Signal::derive(move || spec.with(|spec| spec.time));
    view! {
        <section class="card stack" id="online" aria-label="Online control">
            <h2>"Online control"</h2>
            <p class="muted">
                {format!("The {} changes while the robot moves. The controller is told neither that nor when; it has to notice.", text.mass)}
            </p>
            <div class="grid">
                <SelectField id="online-method" label="Controller" options=methods value=method on_change=choose />
                <Slider label="Factor on the mass" value=factor on_input=move |value| edit(&|spec| spec.factor = value)
                    range=Range { min: FACTORS.0, max: FACTORS.1, whole: false } step=0.1 />
                <Slider label="Time of the change" unit="s" value=time on_input=move |value| edit(&|spec| spec.time = value)
                    range=Range { min: 1.0, max: length - 2.0, whole: false } step=0.1 />
            </div>
            <Buttons online spec />
            <Show when=move || online.problem.with(|problem| !problem.is_empty())>
                <Notice tone=Tone::Error title=online.problem />
            </Show>
            <Shown online system text />
        </section>
    }
    .into_any()
}

/// Run and cancel, pause, step, speed and reset.
#[component]
fn Buttons(
    /// The run.
    online: Online,
    /// What the visitor has chosen.
    spec: Memo<OnlineSpec>,
) -> impl IntoView {
    let busy = online.busy;
    let run = move |_| match busy.get_untracked() {
        true => online.cancel(),
        false => online.start(spec.get_untracked()),
    };
    let caption = move || match busy.get() {
        true => "Cancel",
        // A formula has no model.
        false if spec.with(|spec| spec.method == "analytic") => "Run",
        false => "Run with the pretrained model",
    };
    view! {
        <div class="row">
            <button type="button" id="online-run" class="button button--primary" on:click=run>{caption}</button>
            <Playback prefix="online-" paused=online.paused on_toggle=move |()| online.toggle()
                on_step=move |()| online.send(Command::Step(1)) on_reset=move |()| online.reset()
                speeds=&SPEEDS speed=online.speed on_speed=move |speed| online.set_speed(speed)
                idle=Signal::derive(move || !busy.get()) />
        </div>
    }
    .into_any()
}

/// The course of the run, if it is one of this system.
#[component]
fn Shown(
    /// The run.
    online: Online,
    /// Name of the system.
    system: String,
    /// What is changed and measured.
    text: Words,
) -> impl IntoView {
    let tick = tick_ms(&system).unwrap_or_default();
    let shown = Memo::new(move |_| {
        let here =
            |report: &OnlineReport| report.spec.system == system && !report.run.points.is_empty();
        online
            .report
            .with(|report| report.as_ref().is_some_and(here))
    });
    let chart = move |draw: fn(&OnlineReport, Words) -> Chart| {
        Signal::derive(move || {
            online.report.with(|report| match report {
                Some(report) => draw(report, text),
                None => Chart::Lines(LineChart::default()),
            })
        })
    };
    let (weighed, followed) = (chart(mass_chart), chart(error_chart));
    let ticks = move || {
        let of = |report: &OnlineReport| summary(&report.run, tick);
        online.report.with(|report| report.as_ref().map(of))
    };
    view! {
        <Show when=move || shown.get()>
            <ChartView chart=weighed />
            <ChartView chart=followed />
            <div class="row row--spread">
                <p class="small muted" id="online-ticks">{ticks}</p>
                <button type="button" id="save-online" class="button button--quiet button--small"
                    on:click=move |_| online.report.with_untracked(save)>"Save run (JSON)"</button>
            </div>
        </Show>
    }
    .into_any()
}

/// Saves a run as a file, which "Files" opens again.
fn save(report: &Option<OnlineReport>) {
    let Some(report) = report else {
        return;
    };
    if let Ok(text) = saved::write(report, &[], &browser::name()) {
        let title = format!("online {} {}", report.spec.system, report.spec.method);
        browser::save_text(
            &browser::file_name(&title, "json"),
            "application/json",
            &text,
        );
    }
}

fn mass_chart(OnlineReport { spec, run, .. }: &OnlineReport, Words { mass, .. }: Words) -> Chart {
    let (hue, method) = (Hue::of_method(&spec.method), title(&spec.method));
    let top = run.points.iter().map(|p| p.truth).fold(1.0, f64::max);
    let identified = || run.points.iter().filter_map(|p| Some((p, p.estimate?)));
    let line: Vec<_> = identified().map(|(p, mass)| [p.time, mass]).collect();
    let bands = identified().filter_map(|(p, mass)| {
        let reach = 2.0 * p.standard_error?;
        Some([mass - reach, mass + reach])
    });
    let bands: Vec<_> = bands.collect();
    // A band belongs to every point of its line.
    let estimate = if bands.len() < line.len() || line.is_empty() {
        Series::new(method, hue, line)
    } else {
        Series::new(format!("{method}, ± 2 standard errors"), hue, line).with_band(bands)
    };
    let truth = |p: &OnlinePoint| [p.time, p.truth];
    let mark = |&at: &f64| Mark {
        at,
        label: "noticed".to_owned(),
        hue,
    };
    Chart::Lines(LineChart {
        title: format!("The {mass}: true and identified"),
        x: Axis::linear("time", "s"),
        y: Axis::linear("mass", "kg").with_range(0.0, 1.6 * top),
        series: vec![
            estimate,
            Series::new("true", Hue::Oracle, run.points.iter().map(truth).collect()),
        ],
        events: run.noticed.iter().map(mark).collect(),
        ..LineChart::default()
    })
}

fn error_chart(OnlineReport { spec, run, .. }: &OnlineReport, Words { error, .. }: Words) -> Chart {
    let points = run.points.iter().map(|p| [p.time, p.error]).collect();
    Chart::Lines(LineChart {
        title: error.0.to_owned(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("error", error.1),
        series: vec![Series::new(
            title(&spec.method),
            Hue::of_method(&spec.method),
            points,
        )],
        ..LineChart::default()
    })
}

fn summary(run: &OnlineRun, tick: f64) -> String {
    let (missed, ticks) = (run.missed, run.ticks);
    let time = if run.seconds_a_tick > 0.0 {
        format!("took {:.0} µs here", 1e6 * run.seconds_a_tick)
    } else {
        "was too short for this browser's clock so far".to_owned()
    };
    format!("Missed {missed} of {ticks} ticks of {tick} ms. One adaptation {time}.")
}
