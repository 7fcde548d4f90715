//! The experiment that runs, kept while the visitor moves between pages.

use leptos::prelude::*;
use web_sys::Blob;

use crate::{
    engine::{
        client::Engine,
        protocol::{DeviceUsed, Event, Progress, Work},
    },
    experiments::{
        explore::{Answer, Origin},
        report::{Partial, Report},
        spec::Spec,
    },
};

mod asking;

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
    /// What is being prepared, in words; empty once that is done.
    pub preparing: RwSignal<String>,
    /// The trained model as the bytes of a safetensors file; empty without one.
    pub weights: RwSignal<Vec<u8>>,
    /// The result.
    pub report: RwSignal<Option<Report>>,
    /// Every result since the page was opened, the last of each experiment.
    pub runs: RwSignal<Vec<Report>>,
    /// Experiments that run after this one.
    pub queue: RwSignal<Vec<Spec>>,
    /// What the model says of the environment on the page.
    pub answer: RwSignal<Option<Answer>>,
    /// Why it says nothing; empty if it does.
    pub no_answer: RwSignal<String>,
    /// Models that the page has: what each was trained for, and the bytes of its safetensors file.
    models: StoredValue<Vec<(Spec, Vec<u8>)>>,
    /// A result from elsewhere that came without its model.
    opened: StoredValue<Option<Answer>>,
    /// Asked while another question was under way.
    waiting: StoredValue<Option<Spec>>,
    /// How often the past was forgotten; what was asked before that is no longer heard.
    forgotten: StoredValue<u32>,
    /// What the model of an earlier visit was trained for; the engine gets it with the first question.
    earlier: StoredValue<Option<Spec>>,
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
            preparing: RwSignal::default(),
            weights: RwSignal::default(),
            report: RwSignal::default(),
            runs: RwSignal::default(),
            queue: RwSignal::default(),
            answer: RwSignal::default(),
            no_answer: RwSignal::default(),
            models: StoredValue::default(),
            opened: StoredValue::default(),
            waiting: StoredValue::default(),
            forgotten: StoredValue::default(),
            earlier: StoredValue::default(),
        }
    }

    /// Runs experiments one after the other.
    pub fn start_all(self, specs: impl IntoIterator<Item = Spec>) {
        self.cancel();
        self.queue.set(specs.into_iter().collect());
        self.start_next();
    }

    fn start_next(self) {
        let next = self
            .queue
            .try_update(|queue| (!queue.is_empty()).then(|| queue.remove(0)));
        if let Some(Some(spec)) = next {
            self.run(spec);
        }
    }

    /// Runs an experiment instead of the one that runs.
    pub fn start(self, spec: Spec) {
        self.cancel();
        self.run(spec);
    }

    fn run(self, spec: Spec) {
        self.launch(Work::Experiment(spec), move |event| self.hear(event));
    }

    /// Does some work instead of what runs; the listener hears of every event.
    pub fn begin(self, work: Work, listener: impl Fn(Event) + 'static) {
        self.cancel();
        self.launch(work, listener);
    }

    fn launch(self, work: Work, listener: impl Fn(Event) + 'static) {
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

    /// Shows a result from elsewhere: of an earlier visit, or of a file whose model the engine has.
    pub fn show(self, report: Report, weights: Vec<u8>, origin: Origin) {
        self.ignore_past();
        self.cancel();
        self.clear();
        self.no_answer.set(String::new());
        self.losses.set(report.losses.clone());
        self.device.set(Some(report.device.clone()));
        let answer = Answer {
            origin,
            ..Answer::from(&report)
        };
        if weights.is_empty() {
            self.opened.set_value(Some(answer.clone()));
        } else if origin == Origin::Trained {
            self.earlier.set_value(Some(report.spec.clone()));
        }
        self.remember(&report, weights.clone());
        self.weights.set(weights);
        self.answer.set(Some(answer));
        self.report.set(Some(report));
    }

    /// Lists a result, and holds its model.
    fn remember(self, report: &Report, weights: Vec<u8>) {
        self.runs.update(|runs| {
            runs.retain(|other| other.spec != report.spec);
            runs.push(report.clone());
        });
        self.hold(&report.spec, weights);
    }

    fn hold(self, spec: &Spec, weights: Vec<u8>) {
        self.models.update_value(|models| {
            models.retain(|(other, _)| !spec.trains_like(other));
            if !weights.is_empty() {
                models.push((spec.clone(), weights));
            }
        });
    }

    /// From now on nothing is heard of what was asked before.
    fn ignore_past(self) {
        self.forgotten.update_value(|times| *times += 1);
        self.waiting.set_value(None);
    }

    /// Stops what runs and forgets what was found.
    pub fn forget(self) {
        self.ignore_past();
        self.cancel();
        self.clear();
        self.models.set_value(Vec::new());
        self.runs.set(Vec::new());
        self.answer.set(None);
        self.no_answer.set(String::new());
    }

    /// The same, and ends the engine, which remembers models and files too.
    pub fn close(self) {
        self.forget();
        self.engine.with_value(Engine::close);
    }

    fn clear(self) {
        self.status.set(Status::Idle);
        self.progress.set(None);
        self.losses.set(Vec::new());
        self.notes.set(Vec::new());
        self.device.set(None);
        self.preparing.set(String::new());
        self.weights.set(Vec::new());
        self.earlier.set_value(None);
        self.opened.set_value(None);
        self.report.set(None);
    }

    /// Stops the experiment and those that wait.
    pub fn cancel(self) {
        self.queue.set(Vec::new());
        self.engine.with_value(Engine::cancel);
    }

    /// Takes in what the engine says.
    pub fn hear(self, event: Event) {
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
            Event::Partial(Partial::Making { done, of }) => self
                .preparing
                .set(format!("{done} of {of} environments simulated")),
            Event::Weights(weights) => self.weights.set(weights.0),
            Event::Finished(report) => {
                self.losses.set(report.losses.clone());
                self.answer.set(Some(Answer::from(&*report)));
                self.remember(&report, self.weights.get_untracked());
                self.report.set(Some(*report));
                self.status.set(Status::Finished);
                self.start_next();
            }
            Event::Cancelled => self.status.set(Status::Cancelled),
            Event::Failed(message) => {
                self.status.set(Status::Failed(message));
                self.start_next();
            }
            _ => {}
        }
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}
