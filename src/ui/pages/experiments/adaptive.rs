//! Online control: the visitor changes a mass, the model finds out.

use leptos::prelude::*;

use crate::{
    charts::{Chart, LineChart},
    experiments::{
        link::Link,
        live::Command,
        online_report::OnlineReport,
        online_run::{EXCITING, FACTORS, METHODS, OnlineSpec, VIEW, duration, tick_ms},
        saved, view,
    },
    ui::{
        browser,
        components::{ChartView, Notice, Playback, SelectField, Slider, Tone},
        entry::Range,
        figures::title,
        online::Online,
        online_figures::{error_chart, mass_chart, mass_name, summary, total},
        route::Route,
    },
};

/// Multiples of real time, and how they are written.
const SPEEDS: [(f64, &str); 3] = [(1.0, "1 ×"), (4.0, "4 ×"), (100.0, "fast")];

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
    let mass = mass_name(&system);
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
                {format!("The {} changes while the robot moves. The controller is told neither that nor when; it has to notice.", mass)}
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
            <Shown online system />
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
) -> impl IntoView {
    let tick = tick_ms(&system).unwrap_or_default();
    let shown = Memo::new(move |_| {
        let here =
            |report: &OnlineReport| report.spec.system == system && !report.run.points.is_empty();
        online
            .report
            .with(|report| report.as_ref().is_some_and(here))
    });
    let chart = move |draw: fn(&OnlineReport) -> Chart| {
        Signal::derive(move || {
            online.report.with(|report| match report {
                Some(report) => draw(report),
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
            <p id="online-total">{move || online.report.with(|report| report.as_ref().and_then(total))}</p>
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
