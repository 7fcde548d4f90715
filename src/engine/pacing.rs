//! Work in slices, so that a job can be cancelled and a page stays alive.

use std::time::Duration;

use web_time::Instant;

use super::protocol::{Event, Progress};
use crate::experiments::live::Command;

/// Longest time that a job works before it lets others run.
pub const SLICE: Duration = Duration::from_millis(25);

/// Time between two progress messages.
pub const REPORT: Duration = Duration::from_millis(100);

/// Whoever runs a job.
pub trait Host {
    /// Passes an event on.
    fn emit(&self, event: Event);

    /// Whether the job should stop.
    fn cancelled(&self) -> bool;

    /// Lets everything else on this thread run.
    fn breathe(&self) -> impl Future<Output = ()>;

    /// Waits for so long.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()>;

    /// Reads a file of the site.
    fn read(&self, file: &str) -> impl Future<Output = Result<Vec<u8>, String>>;

    /// What a visitor has done since the last call.
    fn commands(&self) -> Vec<Command>;

    /// The bytes of the visitor's file, or why there are none.
    fn file(&self) -> impl Future<Output = Result<Vec<u8>, String>> {
        async { Err("no file was given".to_owned()) }
    }
}

/// Measures a training run: when to breathe, when to report, how fast it goes.
#[derive(Debug)]
pub struct Pace {
    steps: usize,
    begun: Instant,
    slice: Instant,
    report: Instant,
}

impl Pace {
    /// Starts the clock of a run of so many steps.
    pub fn new(steps: usize) -> Self {
        let now = Instant::now();
        Self {
            steps,
            begun: now,
            slice: now,
            report: now,
        }
    }

    /// Whether a slice is over; if so the next one begins.
    pub fn slice_is_over(&mut self) -> bool {
        over(&mut self.slice, SLICE)
    }

    /// Whether it is time for a message.
    pub fn report_is_due(&mut self) -> bool {
        over(&mut self.report, REPORT)
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// The message after so many steps.
    pub fn progress(&self, step: usize, loss: f64) -> Progress {
        let seconds = self.seconds().max(1e-9);
        let steps_per_second = step as f64 / seconds;
        let seconds_left = (self.steps - step.min(self.steps)) as f64 / steps_per_second.max(1e-9);
        Progress {
            step,
            steps: self.steps,
            loss,
            steps_per_second,
            seconds_left,
        }
    }
}

fn over(since: &mut Instant, length: Duration) -> bool {
    let over = since.elapsed() >= length;
    if over {
        *since = Instant::now();
    }
    over
}
