//! Jobs on a thread, for the command line and for tests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use super::{
    jobs,
    pacing::Host,
    protocol::{Event, Work},
};
use crate::experiments::live::Command;

/// A running job.
#[derive(Debug)]
pub struct Job {
    /// Its events; the channel closes after the last one.
    pub events: Receiver<Event>,
    cancel: Arc<AtomicBool>,
    commands: Sender<Command>,
}

impl Job {
    /// Starts work on a thread of its own.
    pub fn start(work: Work) -> Self {
        Self::with_file(work, Vec::new())
    }

    /// The same with the bytes of a file to learn from.
    pub fn with_file(work: Work, file: Vec<u8>) -> Self {
        let (sender, events) = channel();
        let (commands, received) = channel();
        let cancel = Arc::new(AtomicBool::new(false));
        let host = ThreadHost {
            sender,
            cancel: cancel.clone(),
            received,
            file,
        };
        std::thread::spawn(move || pollster::block_on(jobs::run(&work, &host)));
        Self {
            events,
            cancel,
            commands,
        }
    }

    /// Asks the job to stop; it ends with [`Event::Cancelled`].
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

impl Job {
    /// Does something to a demonstration.
    pub fn command(&self, command: Command) {
        // A demonstration that has ended needs no commands.
        let _ = self.commands.send(command);
    }
}

struct ThreadHost {
    sender: Sender<Event>,
    cancel: Arc<AtomicBool>,
    received: Receiver<Command>,
    file: Vec<u8>,
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

    async fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    async fn read(&self, file: &str) -> Result<Vec<u8>, String> {
        let site = concat!(env!("CARGO_MANIFEST_DIR"), "/public");
        std::fs::read(format!("{site}/{file}")).map_err(|error| format!("{file}: {error}"))
    }

    fn commands(&self) -> Vec<Command> {
        self.received.try_iter().collect()
    }

    async fn file(&self) -> Result<Vec<u8>, String> {
        Ok(self.file.clone())
    }
}
