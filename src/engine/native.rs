//! Jobs on a thread, for the command line and for tests.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc::{Receiver, Sender, channel},
};

use super::{pacing::Host, protocol::Event};
use crate::experiments::{run::run, spec::Spec};

/// A running job.
#[derive(Debug)]
pub struct Job {
    /// Its events; the channel closes after the last one.
    pub events: Receiver<Event>,
    cancel: Arc<AtomicBool>,
}

impl Job {
    /// Starts an experiment on a thread of its own.
    pub fn start(spec: Spec) -> Self {
        let (sender, events) = channel();
        let cancel = Arc::new(AtomicBool::new(false));
        let host = ThreadHost { sender, cancel: cancel.clone() };
        #[expect(clippy::disallowed_methods, reason = "this module is native only")]
        std::thread::spawn(move || pollster::block_on(run(&spec, &host)));
        Self { events, cancel }
    }

    /// Asks the job to stop; it ends with [`Event::Cancelled`].
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

struct ThreadHost {
    sender: Sender<Event>,
    cancel: Arc<AtomicBool>,
}

impl Host for ThreadHost {
    fn emit(&self, event: Event) {
        // Nobody listens any more: nothing left to tell.
        let _ = self.sender.send(event);
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    async fn breathe(&self) {}
}
