//! A run of the engine as the page shows it, whatever it is about.

use leptos::prelude::*;
use web_sys::Blob;

use crate::engine::{
    client::Engine,
    protocol::{DeviceUsed, Event, Progress, Work},
};

/// Where a run stands.
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

/// An engine, and how far it is with what it does.
#[derive(Clone, Copy)]
pub struct Run {
    /// The engine.
    pub engine: StoredValue<Engine, LocalStorage>,
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
    /// What is being prepared, in words; empty once that is done.
    pub preparing: RwSignal<String>,
    /// The trained model as the bytes of a safetensors file; empty without one.
    pub weights: RwSignal<Vec<u8>>,
}

impl Run {
    /// An engine that has done nothing yet.
    pub fn new() -> Self {
        Self {
            engine: StoredValue::new_local(Engine::default()),
            status: RwSignal::default(),
            progress: RwSignal::default(),
            losses: RwSignal::default(),
            notes: RwSignal::default(),
            device: RwSignal::default(),
            preparing: RwSignal::default(),
            weights: RwSignal::default(),
        }
    }

    /// Does some work instead of what runs; the listener hears of every event.
    pub fn begin(self, work: Work, listener: impl Fn(Event) + 'static) {
        self.cancel();
        self.clear();
        self.engine
            .with_value(|engine| engine.start(work, listener));
        // Only now: what ran before has said by now that it was cancelled.
        self.status.set(Status::Preparing);
    }

    /// Gives the engine a file to read.
    pub fn offer(self, file: Blob) {
        self.engine.with_value(|engine| engine.offer(file));
    }

    /// Stops what runs.
    pub fn cancel(self) {
        self.engine.with_value(Engine::cancel);
    }

    /// Stops what runs and forgets what was found.
    pub fn forget(self) {
        self.cancel();
        self.clear();
    }

    /// The same, and ends the engine, which remembers models and files too.
    pub fn close(self) {
        self.forget();
        self.engine.with_value(Engine::close);
    }

    /// Forgets what was found.
    pub fn clear(self) {
        self.status.set(Status::Idle);
        self.progress.set(None);
        self.losses.set(Vec::new());
        self.notes.set(Vec::new());
        self.device.set(None);
        self.preparing.set(String::new());
        self.weights.set(Vec::new());
    }

    /// Takes in what the engine says on the way, and of an end without a result.
    pub fn follow(self, event: Event) {
        match event {
            // Also when a run starts again on another device.
            Event::Started { device } => {
                self.losses.set(Vec::new());
                self.progress.set(None);
                self.device.set(Some(device));
            }
            Event::Note(note) => self.notes.update(|notes| notes.push(note)),
            Event::Progress(progress) => {
                self.status.set(Status::Running);
                if progress.loss.is_finite() {
                    self.losses.update(|losses| {
                        // A training that was restarted counts its steps again.
                        losses.retain(|(step, _)| *step < progress.step);
                        losses.push((progress.step, progress.loss));
                    });
                }
                self.progress.set(Some(progress));
            }
            Event::Making { done, of } => self
                .preparing
                .set(format!("{done} of {of} environments simulated")),
            Event::Weights(weights) => self.weights.set(weights.0),
            Event::Cancelled => self.status.set(Status::Cancelled),
            Event::Failed(message) => self.status.set(Status::Failed(message)),
            _ => {}
        }
    }
}

impl Default for Run {
    fn default() -> Self {
        Self::new()
    }
}
