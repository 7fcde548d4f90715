//! The experiment that runs, kept while the visitor moves between pages.

use leptos::prelude::*;

use super::run::{Run, Status};
use crate::{
    engine::{
        client::Engine,
        protocol::{Event, Work},
    },
    experiments::{
        explore::{Answer, Origin},
        report::Report,
        spec::Spec,
    },
};

mod asking;

/// Everything the page shows of a run.
#[derive(Clone, Copy)]
pub struct Session {
    /// The engine, and how far it is.
    pub run: Run,
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
    /// Models that the page has.
    models: StoredValue<Vec<Held>>,
    /// A result from elsewhere that came without its model.
    opened: StoredValue<Option<Answer>>,
    /// Asked while another question was under way.
    waiting: StoredValue<Option<Spec>>,
    /// How often the past was forgotten; what was asked before that is no longer heard.
    forgotten: StoredValue<u32>,
}

/// A model that the page has.
#[derive(Clone)]
struct Held {
    /// What it was trained for.
    spec: Spec,
    /// Its safetensors file.
    bytes: Vec<u8>,
    origin: Origin,
    /// The engine's worker that has it, too; another one gets it with the first question.
    worker: Option<u32>,
}

impl Session {
    /// A session in which nothing has run.
    pub fn new() -> Self {
        Self {
            run: Run::new(),
            report: RwSignal::default(),
            runs: RwSignal::default(),
            queue: RwSignal::default(),
            answer: RwSignal::default(),
            no_answer: RwSignal::default(),
            models: StoredValue::default(),
            opened: StoredValue::default(),
            waiting: StoredValue::default(),
            forgotten: StoredValue::default(),
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
            self.train(spec);
        }
    }

    /// Runs an experiment instead of the one that runs.
    pub fn start(self, spec: Spec) {
        self.cancel();
        self.train(spec);
    }

    fn train(self, spec: Spec) {
        self.clear();
        let hear = move |event| self.hear(event);
        self.run.begin(Work::Experiment(spec), hear);
    }

    /// Shows a result from elsewhere: of an earlier visit, or of a file whose model the engine has.
    pub fn show(self, report: Report, weights: Vec<u8>, origin: Origin) {
        self.ignore_past();
        self.cancel();
        self.clear();
        self.no_answer.set(String::new());
        self.run.losses.set(report.losses.clone());
        self.run.device.set(Some(report.device.clone()));
        let answer = Answer {
            origin,
            ..Answer::from(&report)
        };
        if weights.is_empty() {
            self.opened.set_value(Some(answer.clone()));
        }
        // The engine has the model of a file, but not that of an earlier visit.
        let worker = match origin {
            Origin::File => self.worker(),
            _ => None,
        };
        self.remember(&report, weights.clone(), origin, worker);
        self.run.weights.set(weights);
        self.answer.set(Some(answer));
        self.report.set(Some(report));
    }

    /// Lists a result, and holds its model.
    fn remember(self, report: &Report, bytes: Vec<u8>, origin: Origin, worker: Option<u32>) {
        self.runs.update(|runs| {
            runs.retain(|other| other.spec != report.spec);
            runs.push(report.clone());
        });
        self.hold(Held {
            spec: report.spec.clone(),
            bytes,
            origin,
            worker,
        });
    }

    fn hold(self, new: Held) {
        self.models.update_value(|models| {
            models.retain(|old| !new.spec.trains_like(&old.spec));
            if !new.bytes.is_empty() {
                models.push(new);
            }
        });
    }

    fn worker(self) -> Option<u32> {
        self.run.engine.with_value(Engine::worker)
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
        self.run.close();
    }

    fn clear(self) {
        self.run.clear();
        self.opened.set_value(None);
        self.report.set(None);
    }

    /// Stops the experiment and those that wait.
    pub fn cancel(self) {
        self.queue.set(Vec::new());
        self.run.cancel();
    }

    /// Takes in what the engine says of an experiment.
    pub fn hear(self, event: Event) {
        let ended = matches!(event, Event::Finished(_) | Event::Failed(_));
        match event {
            Event::Finished(report) => match report.open() {
                Ok(report) => {
                    self.run.losses.set(report.losses.clone());
                    self.answer.set(Some(Answer::from(&report)));
                    let weights = self.run.weights.get_untracked();
                    self.remember(&report, weights, Origin::Trained, self.worker());
                    self.report.set(Some(report));
                    self.run.status.set(Status::Finished);
                }
                Err(problem) => self.run.status.set(Status::Failed(problem)),
            },
            other => self.run.follow(other),
        }
        if ended {
            self.start_next();
        }
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}
