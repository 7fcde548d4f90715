//! A host that keeps the events of a job.

#[cfg(not(target_arch = "wasm32"))]
pub mod dataset;

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use camel_lab::{
    engine::{pacing::Host, protocol::Event},
    experiments::{link::Link, live::Command, report::Report, run::run},
};

/// Somebody who hears of an event.
pub type Tell = Box<dyn Fn(&Event)>;

/// Keeps events.
#[derive(Default)]
pub struct Recorder {
    /// What has happened.
    pub events: RefCell<Vec<Event>>,
    /// Set to cancel.
    pub cancel: Cell<bool>,
    /// Cancels at the first event of which this holds.
    pub cancel_at: Option<fn(&Event) -> bool>,
    /// Hears of every event at once.
    pub tell: Option<Tell>,
}

impl Host for Recorder {
    fn emit(&self, event: Event) {
        if self.cancel_at.is_some_and(|reached| reached(&event)) {
            self.cancel.set(true);
        }
        if let Some(tell) = &self.tell {
            tell(&event);
        }
        self.events.borrow_mut().push(event);
    }

    fn cancelled(&self) -> bool {
        self.cancel.get()
    }

    async fn breathe(&self) {}

    async fn sleep(&self, _: Duration) {}

    async fn read(&self, file: &str) -> Result<Vec<u8>, String> {
        Err(format!("{file} is not here"))
    }

    fn commands(&self) -> Vec<Command> {
        Vec::new()
    }
}

/// Runs a link and gives its report.
pub async fn report_of(link: &str) -> Report {
    let (link, remarks) = Link::read(link);
    assert!(remarks.is_empty(), "{remarks:?}");
    let recorder = Recorder::default();
    run(&link.spec, &recorder).await;
    match recorder.events.into_inner().pop() {
        Some(Event::Finished(report)) => report.open().unwrap(),
        other => panic!("the run ended with {other:?}"),
    }
}
