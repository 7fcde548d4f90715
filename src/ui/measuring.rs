//! The benchmark that runs, kept while the visitor moves between pages.

use gloo::events::EventListener;
use leptos::prelude::*;

use super::{
    keeper::{self, FORGET},
    run::Status,
    storage,
};
use crate::{
    engine::{
        client::Engine,
        protocol::{DeviceUsed, Event, Progress, Work},
    },
    experiments::{bench::Plan, bench_sheet::Sheet},
};

/// Name under which it is kept.
const KEPT: &str = "bench";
/// Longest measurement of one training [s], in the whole suite and in the brief one.
const SECONDS: [f64; 2] = [1.0, 0.1];

/// Everything the page shows of the benchmark.
#[derive(Clone, Copy)]
pub struct Measuring {
    engine: StoredValue<Engine, LocalStorage>,
    /// Where it stands.
    pub status: RwSignal<Status>,
    /// How far it is.
    pub progress: RwSignal<Option<Progress>>,
    /// Where it runs.
    pub device: RwSignal<Option<DeviceUsed>>,
    /// What was measured on this machine.
    pub sheet: RwSignal<Sheet>,
}

impl Measuring {
    /// What was measured at the last visit; what is measured now is kept for the next.
    pub fn follow() -> Self {
        let kept = storage::get(KEPT).and_then(|text| Sheet::from_json(&text).ok());
        let measuring = Self {
            engine: StoredValue::new_local(Engine::default()),
            status: RwSignal::default(),
            progress: RwSignal::default(),
            device: RwSignal::default(),
            sheet: RwSignal::new(kept.unwrap_or_default()),
        };
        Effect::new(move || {
            let sheet = measuring.sheet.get();
            keeper::keep_json(KEPT, (!sheet.measured.is_empty()).then_some(&sheet));
        });
        EventListener::new(&window(), FORGET, move |_| measuring.forget()).forget();
        measuring
    }

    fn forget(self) {
        self.engine.with_value(Engine::close);
        self.status.set(Status::Idle);
        self.device.set(None);
        self.sheet.set(Sheet::default());
    }

    /// Measures this machine, described by an empty sheet.
    pub fn start(self, sheet: Sheet, brief: bool) {
        let plan = Plan {
            device: sheet.machine.device.clone(),
            seconds: SECONDS[usize::from(brief)],
            brief,
        };
        self.sheet.set(sheet);
        self.progress.set(None);
        self.status.set(Status::Preparing);
        self.engine
            .with_value(|engine| engine.start(Work::Bench(plan), move |event| self.hear(event)));
    }

    /// Stops; what was measured is kept.
    pub fn cancel(self) {
        self.engine.with_value(Engine::cancel);
    }

    fn hear(self, event: Event) {
        match event {
            Event::Started { device } => {
                self.sheet
                    .update(|sheet| sheet.machine.device = device.name.clone());
                self.device.set(Some(device));
            }
            Event::Progress(progress) => {
                self.status.set(Status::Running);
                self.progress.set(Some(progress));
            }
            Event::Measured(measured) => match measured.open() {
                Ok(measured) => self.sheet.update(|sheet| sheet.measured.push(measured)),
                Err(why) => self.end(Status::Failed(why)),
            },
            Event::Done => self.end(Status::Finished),
            Event::Cancelled => self.end(Status::Cancelled),
            Event::Failed(why) => self.end(Status::Failed(why)),
            _ => {}
        }
    }

    fn end(self, status: Status) {
        self.status.set(status);
        // Its memory is worth more than a quick second run.
        self.engine.with_value(Engine::close);
    }
}
