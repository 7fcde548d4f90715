//! The run of online control, kept while the visitor moves between pages.

use leptos::prelude::*;

use crate::{
    engine::{
        client::Engine,
        protocol::{Event, Work},
    },
    experiments::{live::Command, online_report::OnlineReport, online_run::OnlineSpec},
};

/// Multiple of real time at which a run starts.
const SPEED: f64 = 4.0;

/// A run in a worker of its own.
#[derive(Clone, Copy)]
pub struct Online {
    engine: StoredValue<Engine, LocalStorage>,
    /// What runs, or ran last, and what happened so far.
    pub report: RwSignal<Option<OnlineReport>>,
    /// Whether it runs.
    pub busy: RwSignal<bool>,
    /// Whether its clock stands.
    pub paused: RwSignal<bool>,
    /// Multiple of real time.
    pub speed: RwSignal<f64>,
    /// What went wrong; empty if nothing.
    pub problem: RwSignal<String>,
}

impl Online {
    /// Nothing has run yet.
    pub fn new() -> Self {
        Self {
            engine: StoredValue::new_local(Engine::default()),
            report: RwSignal::default(),
            busy: RwSignal::default(),
            paused: RwSignal::default(),
            speed: RwSignal::new(SPEED),
            problem: RwSignal::default(),
        }
    }

    /// Runs this instead of what runs.
    pub fn start(self, spec: OnlineSpec) {
        self.problem.set(String::new());
        self.paused.set(false);
        self.report.set(Some(OnlineReport::new(spec.clone())));
        let hear = move |event| self.hear(event);
        self.engine
            .with_value(|engine| engine.start(Work::Online(spec), hear));
        // Only now: what ran before has said by now that it was cancelled.
        self.busy.set(true);
    }

    /// Shows a run from elsewhere instead of what runs.
    pub fn show(self, report: OnlineReport) {
        // Whoever ran is no longer heard.
        self.engine.with_value(Engine::close);
        self.busy.set(false);
        self.problem.set(String::new());
        self.report.set(Some(report));
    }

    fn hear(self, event: Event) {
        match event {
            Event::Started { .. } => {
                self.send(Command::Speed(self.speed.get_untracked()));
                self.send(Command::Paused(self.paused.get_untracked()));
            }
            Event::Online(news) => match news.open() {
                Ok(news) => self.report.update(|report| {
                    if let Some(report) = report {
                        report.run.extend(news);
                    }
                }),
                Err(text) => self.fail(text),
            },
            Event::Failed(text) => self.fail(text),
            Event::Done | Event::Cancelled => self.busy.set(false),
            _ => {}
        }
    }

    fn fail(self, problem: String) {
        self.problem.set(problem);
        self.busy.set(false);
    }

    /// Passes a command on.
    pub fn send(self, command: Command) {
        self.engine.with_value(|engine| engine.command(command));
    }

    /// Stops the run; what happened stays.
    pub fn cancel(self) {
        self.engine.with_value(Engine::cancel);
    }

    /// Stops the clock or lets it run.
    pub fn toggle(self) {
        self.paused.update(|paused| *paused = !*paused);
        self.send(Command::Paused(self.paused.get_untracked()));
    }

    /// Starts anew; a run that stands shows its first step.
    pub fn reset(self) {
        self.send(Command::Reset);
        if self.paused.get_untracked() {
            self.send(Command::Step(1));
        }
    }

    /// Sets the multiple of real time.
    pub fn set_speed(self, speed: f64) {
        self.speed.set(speed);
        self.send(Command::Speed(speed));
    }
}

impl Default for Online {
    fn default() -> Self {
        Self::new()
    }
}
