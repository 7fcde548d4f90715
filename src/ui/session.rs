//! The experiment that runs, kept while the visitor moves between pages.

use leptos::prelude::*;

use crate::{
    engine::{
        client::Engine,
        protocol::{DeviceUsed, Event, Progress, Work},
    },
    experiments::{
        report::{Partial, Report},
        spec::Spec,
    },
};

/// Where an experiment stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Status {
    /// Nothing has run yet.
    #[default]
    Idle,
    /// The engine is being loaded or the data are being made.
    Preparing,
    /// It trains.
    Running,
    /// It is done.
    Finished,
    /// The visitor stopped it.
    Cancelled,
    /// It stopped with an error.
    Failed(String),
}

impl Status {
    /// Whether it can be cancelled.
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Preparing | Self::Running)
    }
}

/// Everything the page shows of a run.
#[derive(Clone, Copy)]
pub struct Session {
    engine: StoredValue<Engine, LocalStorage>,
    /// Where it stands.
    pub status: RwSignal<Status>,
    /// How far training is.
    pub progress: RwSignal<Option<Progress>>,
    /// Loss curve so far: step and value.
    pub losses: RwSignal<Vec<(usize, f64)>>,
    /// What the engine had to say.
    pub notes: RwSignal<Vec<String>>,
    /// Where it runs.
    pub device: RwSignal<Option<DeviceUsed>>,
    /// The result.
    pub report: RwSignal<Option<Report>>,
}

impl Session {
    /// A session in which nothing has run.
    pub fn new() -> Self {
        Self {
            engine: StoredValue::new_local(Engine::default()),
            status: RwSignal::default(),
            progress: RwSignal::default(),
            losses: RwSignal::default(),
            notes: RwSignal::default(),
            device: RwSignal::default(),
            report: RwSignal::default(),
        }
    }

    /// Runs an experiment instead of the one that runs.
    pub fn start(self, spec: Spec) {
        self.cancel();
        self.status.set(Status::Preparing);
        self.progress.set(None);
        self.losses.set(Vec::new());
        self.notes.set(Vec::new());
        self.device.set(None);
        self.report.set(None);
        self.engine.with_value(|engine| {
            engine.start(Work::Experiment(spec), move |event| self.hear(event))
        });
    }

    /// Stops the experiment.
    pub fn cancel(self) {
        self.engine.with_value(Engine::cancel);
    }

    fn hear(self, event: Event) {
        match event {
            Event::Started { device } => self.device.set(Some(device)),
            Event::Note(note) => self.notes.update(|notes| notes.push(note)),
            Event::Progress(progress) => {
                self.status.set(Status::Running);
                self.losses
                    .update(|losses| losses.push((progress.step, progress.loss)));
                self.progress.set(Some(progress));
            }
            Event::Partial(Partial::Data { .. } | Partial::Adapted(_)) | Event::Ticks { .. } => {}
            Event::Finished(report) => {
                self.losses.set(report.losses.clone());
                self.report.set(Some(*report));
                self.status.set(Status::Finished);
            }
            Event::Cancelled => self.status.set(Status::Cancelled),
            Event::Failed(message) => self.status.set(Status::Failed(message)),
        }
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}
