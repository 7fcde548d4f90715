//! How fast this machine trains and adapts every learner.

use leptos::{prelude::*, task::spawn_local};

use crate::{
    engine::adapter,
    experiments::{
        bench_link::BenchLink,
        bench_sheet::{Machine, Sheet},
        link::{Link, Page},
    },
    ui::{
        browser,
        components::{ChartView, DataTable, Empty, Notice, ProgressBar, Segmented, ShareBox, Tone},
        measuring::Measuring,
        pages::bench::import::Import,
        route::Route,
        run::Status,
    },
};

mod import;

/// The page.
#[component]
pub fn Bench() -> impl IntoView {
    let machine = RwSignal::new(here());
    spawn_local(async move {
        let gpu = adapter::find()
            .await
            .map_or_else(|why| why, |found| found.name);
        machine.try_update(|machine| machine.gpu = gpu);
    });
    let choices = Choices::follow();
    let other = choices.follow_other();
    view! {
        <header class="page-head">
            <p class="eyebrow">"Bench"</p>
            <h1>"How fast is this machine?"</h1>
            <p class="lead">
                "The suite that the developers run, in your browser: training and adaptation of every learner, how a step grows with tasks and samples, and the time to the paper's error."
            </p>
        </header>
        <RunPanel machine choices />
        <Outcome choices other />
        <Import other />
    }
    .into_any()
}

/// What is chosen on the page, in step with the link.
#[derive(Clone, Copy)]
struct Choices {
    route: Route,
    run: Measuring,
    linked: Memo<BenchLink>,
}

impl Choices {
    fn follow() -> Self {
        let route = expect_context::<Route>();
        Self {
            route,
            run: expect_context::<Measuring>(),
            linked: Memo::new(move |_| BenchLink::read(&route.link().view)),
        }
    }

    /// The link with something else chosen.
    fn link(self, change: impl FnOnce(&mut BenchLink)) -> Link {
        let mut chosen = self.linked.get_untracked();
        change(&mut chosen);
        Link {
            page: Page::Bench,
            run: false,
            view: chosen.write(),
            ..self.route.link_untracked()
        }
    }

    fn change(self, change: impl FnOnce(&mut BenchLink)) {
        let link = self.link(change);
        if link != self.route.link_untracked() {
            self.route.replace(link);
        }
    }

    /// The figures of another machine: those of the link, unless they are of this one. The link then
    /// follows what else is taken in, or holds the figures of this machine for others.
    fn follow_other(self) -> RwSignal<Option<Sheet>> {
        let linked = Memo::new(move |_| self.linked.with(|linked| linked.sheet.clone()));
        let other = RwSignal::new(None::<Sheet>);
        Effect::new(move |before: Option<String>| {
            let (text, own) = (linked.get(), self.run.sheet.get());
            let shown = other.with(|other| other.as_ref().map(Sheet::write));
            let news = before.as_ref() != Some(&text) && text != own.write();
            // What came from a file holds more than its link.
            if news && !text.is_empty() && shown.as_ref() != Some(&text) {
                other.set(Sheet::read(&text));
            } else if !self.run.status.with(Status::is_active) {
                let own = (!own.measured.is_empty()).then(|| own.write());
                self.change(|chosen| chosen.sheet = shown.or(own).unwrap_or_default());
            }
            text
        });
        other
    }
}

/// What the browser tells of the machine.
fn here() -> Machine {
    let navigator = window().navigator();
    Machine {
        cores: navigator.hardware_concurrency() as usize,
        gpu: String::new(),
        browser: browser_name(&navigator.user_agent().unwrap_or_default()),
        device: String::new(),
    }
}

/// The browser's own product in its long description.
fn browser_name(agent: &str) -> String {
    let products = [
        "Firefox/",
        "Edg/",
        "OPR/",
        "HeadlessChrome/",
        "Chrome/",
        "Version/",
    ];
    let found = products.into_iter().find_map(|product| {
        let rest = &agent[agent.find(product)?..];
        rest.split(' ').next()
    });
    found
        .unwrap_or("unknown browser")
        .replace('/', " ")
        .replace("Version", "Safari")
}

/// The machine, the button and the progress.
#[component]
fn RunPanel(
    /// This machine.
    machine: RwSignal<Machine>,
    /// What is chosen.
    choices: Choices,
) -> impl IntoView {
    let Choices { run, linked, .. } = choices;
    let active = move || run.status.with(Status::is_active);
    let start = move |_| {
        let chosen = linked.get_untracked();
        let sheet = Sheet {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: Machine {
                device: chosen.device().to_owned(),
                ..machine.get_untracked()
            },
            measured: Vec::new(),
        };
        run.start(sheet, chosen.brief);
    };
    let length = Signal::derive(move || linked.with(|linked| linked.length().to_owned()));
    let device = Signal::derive(move || linked.with(|linked| linked.device().to_owned()));
    let named = |names: [(&str, &str); 2]| {
        names
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .to_vec()
    };
    let devices = named([("cpu", "CPU"), ("webgpu", "WebGPU")]);
    let lengths = named([("whole", "Everything"), ("brief", "Cartpole only")]);
    let facts = move || {
        machine.with(|m| {
            [
                format!("{} cores", m.cores),
                m.gpu.clone(),
                m.browser.clone(),
            ]
            .join(" · ")
        })
    };
    view! {
        <section class="card stack" aria-label="This machine">
            <div class="row row--spread">
                <div class="stack stack--tight">
                    <h2>"This machine"</h2>
                    <p class="muted" id="machine">{facts}</p>
                </div>
                <div class="row">
                    <Segmented label="Length" options=lengths value=length disabled=Signal::derive(active)
                        on_change=move |name: String| choices.change(|chosen| chosen.brief = name == "brief") />
                    <Segmented label="Device" options=devices value=device disabled=Signal::derive(active)
                        on_change=move |name: String| choices.change(|chosen| chosen.webgpu = name == "webgpu") />
                    <button type="button" class="button button--primary" id="measure" disabled=active on:click=start>"Measure"</button>
                    <button type="button" class="button button--danger" disabled=move || !active() on:click=move |_| run.cancel()>"Cancel"</button>
                </div>
            </div>
            <p id="bench-status" role="status" class="small muted">{move || run.status.with(status_text)}</p>
            <Show when=active>
                <ProgressBar label="Benchmark"
                    part=Signal::derive(move || run.progress.get().map(|p| p.step as f64 / p.steps.max(1) as f64))
                    done=Signal::derive(move || run.progress.get().map(|p| format!("{} of {} measurements", p.step, p.steps)).unwrap_or_default())
                    left=Signal::derive(move || run.progress.get().map(|p| format!("{:.0} s left", p.seconds_left)).unwrap_or_default()) />
            </Show>
            {move || run.device.get().filter(|d| !d.reason.is_empty()).map(|d| view! { <Notice tone=Tone::Warn title=d.reason /> })}
        </section>
    }
    .into_any()
}

fn status_text(status: &Status) -> String {
    match status {
        Status::Idle => {
            "One core works for some minutes, longer on a slow device. Close what else is busy for honest figures."
                .to_owned()
        }
        Status::Preparing => "Preparing: loading the engine and simulating the data …".to_owned(),
        Status::Running => "Measuring …".to_owned(),
        Status::Finished => "Finished.".to_owned(),
        Status::Cancelled => "Cancelled. What was measured is kept.".to_owned(),
        Status::Failed(why) => format!("Stopped: {why}."),
    }
}

/// What was measured, beside another machine's figures if there are some.
#[component]
fn Outcome(
    /// What is chosen.
    choices: Choices,
    /// The other machine.
    other: RwSignal<Option<Sheet>>,
) -> impl IntoView {
    let run = choices.run;
    let some = move || run.sheet.with(|sheet| !sheet.measured.is_empty());
    let chart = move |make: fn(&Sheet) -> crate::charts::Chart| {
        view! { <ChartView chart=Signal::derive(move || run.sheet.with(make)) /> }
    };
    let table = move || {
        run.sheet
            .with(|sheet| other.with(|other| sheet.table(other.as_ref())))
    };
    let slopes = move || run.sheet.with(Sheet::slopes);
    let accuracies = move || run.sheet.with(Sheet::accuracies);
    let address = move || {
        choices.linked.track();
        let own = run.sheet.with(Sheet::write);
        Route::address(&choices.link(|chosen| chosen.sheet = own))
    };
    let save = move |_| {
        if let Ok(text) = run.sheet.with_untracked(serde_json::to_string_pretty) {
            browser::save_text("camel-lab-bench.json", "application/json", &text);
        }
    };
    view! {
        <Show when=some fallback=|| view! {
            <Empty title="Nothing measured yet">"Press Measure to see how many training steps a second this machine makes."</Empty>
        }>
            <section class="stack" id="bench-results" aria-label="Results">
                {chart(Sheet::bars)}
                <div class="grid grid--wide">{chart(|sheet| sheet.growth("T"))}{chart(|sheet| sheet.growth("N"))}</div>
                <div class="card stack tall"><DataTable table=Signal::derive(table) /></div>
                <div class="card stack"><DataTable table=Signal::derive(slopes) /></div>
                <Show when=move || !accuracies().rows.is_empty()>
                    <div class="card stack" id="accuracies"><DataTable table=Signal::derive(accuracies) /></div>
                </Show>
            </section>
            <section class="card stack stack--tight" aria-label="Share">
                <h2>"Share"</h2>
                <p class="small muted">"Whoever opens the link sees their machine beside yours."</p>
                <ShareBox link=Signal::derive(address) />
                <div class="row"><button type="button" class="button button--quiet" id="bench-save" on:click=save>"Save as JSON"</button></div>
            </section>
        </Show>
    }
    .into_any()
}
