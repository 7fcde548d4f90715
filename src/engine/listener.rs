//! A host for tests: keeps what it hears.

use std::{cell::RefCell, time::Duration};

use super::{pacing::Host, protocol::Event};
use crate::experiments::live::Command;

/// Keeps events, in order.
#[derive(Default)]
pub struct Listener(pub RefCell<Vec<Event>>);

impl Host for Listener {
    fn emit(&self, event: Event) {
        self.0.borrow_mut().push(event);
    }

    fn cancelled(&self) -> bool {
        false
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
