//! Cells of the tables that are made again in the visitor's browser, on several workers at once. They
//! go on while the visitor moves between pages.

use gloo::events::EventListener;
use leptos::prelude::*;

use super::{
    keeper::{self, FORGET},
    storage,
};
use crate::{
    engine::{
        client::Engine,
        protocol::{Event, Work},
    },
    experiments::{record::Record, rerun::Rerun},
};

/// Name under which records are kept.
const KEPT: &str = "reruns";
/// Most workers.
const MOST_WORKERS: usize = 8;

/// Where a rerun stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// No worker is free yet.
    Waiting,
    /// It trains: the part that is done and the seconds left.
    Running(f64, f64),
    /// It is done.
    Done,
    /// It did not come to its end, and why.
    Stopped(String),
}

/// A rerun and where it stands.
pub type Entry = (Rerun, Stage);

/// All reruns of this visit.
#[derive(Clone, Copy)]
pub struct Reruns {
    engines: StoredValue<Vec<Engine>, LocalStorage>,
    /// Every rerun that was asked for.
    pub entries: RwSignal<Vec<Entry>>,
    /// What they found.
    pub records: RwSignal<Vec<Record>>,
}

impl Reruns {
    /// What was found at the last visit; what is found now is kept for the next.
    pub fn follow() -> Self {
        let kept = storage::get(KEPT).and_then(|text| serde_json::from_str(&text).ok());
        let reruns = Self {
            engines: StoredValue::new_local(Vec::new()),
            entries: RwSignal::default(),
            records: RwSignal::new(kept.unwrap_or_default()),
        };
        Effect::new(move || {
            let records = reruns.records.get();
            keeper::keep_json(KEPT, (!records.is_empty()).then_some(&records));
        });
        EventListener::new(&window(), FORGET, move |_| reruns.forget()).forget();
        reruns
    }

    /// Stops everything and forgets what was found.
    fn forget(self) {
        self.close();
        self.entries.update(Vec::clear);
        self.records.update(Vec::clear);
    }

    /// Workers that run at once: all cores but one, which stays with the page.
    pub fn workers() -> usize {
        let cores = window().navigator().hardware_concurrency() as usize;
        cores.saturating_sub(1).clamp(1, MOST_WORKERS)
    }

    /// Whether something runs or waits.
    pub fn active(self) -> bool {
        self.entries
            .with(|entries| entries.iter().any(|(_, stage)| is_active(stage)))
    }

    /// Part of all reruns that is done.
    pub fn part(self) -> f64 {
        self.entries.with(|entries| {
            let part = |(_, stage): &Entry| match stage {
                Stage::Waiting => 0.0,
                Stage::Running(part, _) => *part,
                Stage::Done | Stage::Stopped(_) => 1.0,
            };
            entries.iter().map(part).sum::<f64>() / entries.len().max(1) as f64
        })
    }

    /// Queues reruns. A new round forgets what has ended; what was found is kept.
    pub fn start(self, reruns: Vec<Rerun>) {
        let active = self.active();
        self.entries.update(|entries| {
            if !active {
                entries.clear();
            }
            for rerun in reruns {
                if !entries.iter().any(|(e, s)| *e == rerun && is_active(s)) {
                    entries.push((rerun, Stage::Waiting));
                }
            }
        });
        self.fill();
    }

    /// Stops everything. What has been found is kept.
    pub fn cancel(self) {
        self.entries.update(|entries| {
            for (_, stage) in entries
                .iter_mut()
                .filter(|(_, stage)| *stage == Stage::Waiting)
            {
                *stage = Stage::Stopped("cancelled".to_owned());
            }
        });
        self.engines
            .with_value(|engines| engines.iter().for_each(Engine::cancel));
    }

    /// Gives every free worker something to do, or ends them all when nothing is left.
    fn fill(self) {
        while let Some(place) = self.next() {
            let engine = self.free_engine();
            let Some(engine) = engine else { return };
            let rerun = self
                .entries
                .with_untracked(|entries| entries[place].0.clone());
            self.set(place, Stage::Running(0.0, f64::NAN));
            engine.start(Work::Rerun(rerun), move |event| self.hear(place, event));
        }
        if !self
            .entries
            .with_untracked(|e| e.iter().any(|(_, s)| is_active(s)))
        {
            self.close();
        }
    }

    /// Ends the workers. Nothing is heard of them any more.
    fn close(self) {
        self.engines.update_value(|engines| {
            engines.iter().for_each(Engine::close);
            engines.clear();
        });
    }

    fn next(self) -> Option<usize> {
        let waits = |(_, stage): &Entry| *stage == Stage::Waiting;
        self.entries
            .with_untracked(|entries| entries.iter().position(waits))
    }

    fn free_engine(self) -> Option<Engine> {
        let free = self
            .engines
            .with_value(|engines| engines.iter().find(|engine| !engine.is_busy()).cloned());
        if free.is_none() && self.engines.with_value(Vec::len) < Self::workers() {
            let engine = Engine::default();
            self.engines
                .update_value(|engines| engines.push(engine.clone()));
            return Some(engine);
        }
        free
    }

    fn set(self, place: usize, stage: Stage) {
        self.entries.update(|entries| {
            if let Some(entry) = entries.get_mut(place) {
                entry.1 = stage;
            }
        });
    }

    fn hear(self, place: usize, event: Event) {
        match event {
            Event::Progress(p) => {
                let part = p.step as f64 / p.steps.max(1) as f64;
                self.set(place, Stage::Running(part, p.seconds_left));
            }
            Event::Record(record) => match record.open() {
                Ok(record) => self.keep(record),
                Err(why) => self.set(place, Stage::Stopped(why)),
            },
            Event::Done => self.end(place, Stage::Done),
            Event::Cancelled => self.end(place, Stage::Stopped("cancelled".to_owned())),
            Event::Failed(why) => self.end(place, Stage::Stopped(why)),
            _ => {}
        }
    }

    fn end(self, place: usize, stage: Stage) {
        self.set(place, stage);
        self.fill();
    }

    /// Keeps a record in the place of an older one of the same cell.
    fn keep(self, record: Record) {
        self.records.update(|records| {
            records.retain(|r| {
                (&r.system, &r.method) != (&record.system, &record.method)
                    || (r.shots, r.noise) != (record.shots, record.noise)
            });
            records.push(record);
        });
    }
}

fn is_active(stage: &Stage) -> bool {
    matches!(stage, Stage::Waiting | Stage::Running(..))
}
