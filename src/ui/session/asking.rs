//! Questions to the model at hand, and models from elsewhere that can then be asked.

use leptos::{prelude::*, task::spawn_local};

use super::{Held, Session, Status};
use crate::{
    engine::{
        client::Engine,
        protocol::{Event, Weights, Work},
    },
    experiments::{
        explore::{self, Answer, Origin},
        spec::Spec,
    },
};

/// Why a question without a model has no answer.
const NO_MODEL: &str = "There is no model of these settings yet. Press Train to make one.";

impl Session {
    /// Asks the model at hand about an environment; only the last of many questions is answered.
    /// Training is not disturbed.
    pub fn ask(self, spec: Spec) {
        let busy = self.run.engine.with_value(Engine::is_busy);
        if self.run.status.with_untracked(Status::is_active) {
            return;
        }
        let opened = self.opened.get_value();
        if let Some(answer) = opened.filter(|opened| explore::same_question(&opened.spec, &spec)) {
            self.ignore_past();
            self.no_answer.set(String::new());
            return self.answer.set(Some(answer));
        }
        if busy {
            return self.waiting.set_value(Some(spec));
        }
        match self.held(&spec) {
            Some(held) if held.worker.is_none() || held.worker != self.worker() => {
                self.waiting.set_value(Some(spec));
                self.hand_over(held);
            }
            None if explore::shipped_file(&spec).is_none() => {
                self.no_answer.set(NO_MODEL.to_owned());
            }
            _ => self.question(Work::Explore(spec)),
        }
    }

    /// Whether the last question had no answer because there is no model.
    pub fn lacks_model(self) -> bool {
        self.no_answer.with(|why| why == NO_MODEL)
    }

    /// What the model says of an experiment's system with its method.
    pub fn answer_for(self, spec: &Spec) -> Option<Answer> {
        let answer = self.answer.get()?;
        let fits = answer.spec.system == spec.system && answer.spec.method == spec.method;
        fits.then_some(answer)
    }

    /// The model that the page has for these settings.
    pub fn model(self, spec: &Spec) -> Option<Vec<u8>> {
        self.held(spec).map(|held| held.bytes)
    }

    fn held(self, spec: &Spec) -> Option<Held> {
        self.models.with_value(|models| {
            let mut fitting = models.iter().filter(|held| spec.trains_like(&held.spec));
            fitting.next().cloned()
        })
    }

    /// Gives the engine a model from elsewhere, and says how that went.
    pub fn adopt(
        self,
        spec: Spec,
        weights: Vec<u8>,
        origin: Origin,
        then: impl Fn(Result<(), String>) + 'static,
    ) {
        self.cancel();
        let work = Work::Adopt {
            spec: Box::new(spec.clone()),
            weights: Weights(weights.clone()),
            origin,
        };
        let listener = move |event| {
            match event {
                Event::Done => {
                    self.opened.set_value(None);
                    self.hold(Held {
                        spec: spec.clone(),
                        bytes: weights.clone(),
                        origin,
                        worker: self.worker(),
                    });
                    then(Ok(()));
                }
                Event::Failed(why) => then(Err(why)),
                Event::Cancelled => return then(Err("something else was started".to_owned())),
                _ => return,
            }
            self.ask_waiting();
        };
        self.run
            .engine
            .with_value(|engine| engine.start(work, listener));
    }

    /// Gives the engine a model that it does not have; one that it does not take is dropped.
    fn hand_over(self, held: Held) {
        let Held {
            spec,
            bytes,
            origin,
            ..
        } = held.clone();
        let then = move |outcome: Result<(), String>| {
            if outcome.is_err() {
                self.hold(Held {
                    bytes: Vec::new(),
                    ..held.clone()
                });
            }
        };
        self.adopt(spec, bytes, origin, then);
    }

    fn question(self, work: Work) {
        if untrack(|| self.lacks_model()) {
            self.no_answer.set(String::new());
        }
        let asked = self.forgotten.get_value();
        let listener = move |event| {
            let heard = self.forgotten.get_value() == asked;
            self.hear_answer(event, heard);
        };
        self.run
            .engine
            .with_value(|engine| engine.start(work, listener));
    }

    fn hear_answer(self, event: Event, heard: bool) {
        match event {
            Event::Answered(answer) if heard => {
                let (answer, problem) = match answer.open() {
                    Ok(answer) => (Some(answer), String::new()),
                    Err(problem) => (None, problem),
                };
                self.no_answer.set(problem);
                self.answer.set(answer);
            }
            Event::Failed(message) if heard => self.no_answer.set(message),
            Event::Answered(_) | Event::Failed(_) | Event::Done => {}
            // Later, since other work may be about to take its place.
            Event::Cancelled => return spawn_local(async move { self.ask_waiting() }),
            _ => return,
        }
        self.ask_waiting();
    }

    fn ask_waiting(self) {
        let waiting = self.waiting.try_update_value(Option::take);
        if let Some(Some(spec)) = waiting {
            self.ask(spec);
        }
    }
}
