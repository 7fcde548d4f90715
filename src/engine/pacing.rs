//! Work in slices, so that a job can be cancelled and a page stays alive.

use std::{cell::Cell, time::Duration};

use web_time::Instant;

use super::protocol::{Event, Progress};
use crate::{experiments::live::Command, learners};

/// Longest time that a job works before it lets others run.
pub const SLICE: Duration = Duration::from_millis(25);

/// Time between two progress messages.
pub const REPORT: Duration = Duration::from_millis(100);

/// Longest time that a job which works says nothing. Whoever hears less may think that it hangs.
pub const SILENCE: Duration = Duration::from_secs(1);

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

/// Passes everything on to a host, and says [`Event::Alive`] for a job that lets others run but has
/// nothing to say, such as a demonstration that is paused.
#[derive(Debug)]
pub struct Beating<'a, H> {
    host: &'a H,
    silence: Duration,
    spoke: Cell<Instant>,
}

impl<'a, H: Host> Beating<'a, H> {
    /// Speaks up after so long a silence.
    pub fn new(host: &'a H, silence: Duration) -> Self {
        let spoke = Cell::new(Instant::now());
        Self {
            host,
            silence,
            spoke,
        }
    }

    fn beat(&self) {
        if self.spoke.get().elapsed() >= self.silence {
            self.emit(Event::Alive);
        }
    }
}

impl<H: Host> Host for Beating<'_, H> {
    fn emit(&self, event: Event) {
        self.spoke.set(Instant::now());
        self.host.emit(event);
    }

    fn cancelled(&self) -> bool {
        self.host.cancelled()
    }

    async fn breathe(&self) {
        self.beat();
        self.host.breathe().await;
    }

    async fn sleep(&self, time: Duration) {
        self.beat();
        self.host.sleep(time).await;
    }

    async fn read(&self, file: &str) -> Result<Vec<u8>, String> {
        self.host.read(file).await
    }

    fn commands(&self) -> Vec<Command> {
        self.host.commands()
    }

    async fn file(&self) -> Result<Vec<u8>, String> {
        self.host.file().await
    }
}

/// Measures a training run: when to breathe, when to report, how fast it goes.
#[derive(Debug)]
pub struct Pace {
    steps: usize,
    begun: Instant,
    /// Since when steps are counted.
    counted: Instant,
    slice: Instant,
    report: Instant,
}

impl Pace {
    /// Starts the clock of a run of so many steps; a training tells of its own.
    pub fn new(steps: usize) -> Self {
        let now = Instant::now();
        Self {
            steps,
            begun: now,
            counted: now,
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

    /// Takes in that the run has begun again: steps are counted from here on, its seconds are not.
    pub fn count_again(&mut self) {
        self.counted = Instant::now();
    }

    /// The message after so many steps, which are all alike.
    pub fn progress(&self, step: usize) -> Progress {
        let work = step as f64 / self.steps.max(1) as f64;
        self.message((step, self.steps), work, 0.0)
    }

    /// The message of a training, whose later steps may be longer, and which may have become shorter.
    pub fn training(&self, at: &learners::Progress, loss: f64) -> Progress {
        self.message((at.step, at.steps), at.work, loss)
    }

    /// The part of the work that is done says how long the rest takes.
    fn message(&self, (step, steps): (usize, usize), work: f64, loss: f64) -> Progress {
        let seconds = self.counted.elapsed().as_secs_f64().max(1e-9);
        Progress {
            step,
            steps,
            loss,
            steps_per_second: step as f64 / seconds,
            seconds_left: seconds * (1.0 - work.min(1.0)) / work.max(1e-9),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::listener::Listener;

    /// What a host hears of a job that breathes, says one thing, and sleeps.
    fn heard(silence: Duration) -> Vec<Event> {
        let listener = Listener::default();
        let host = Beating::new(&listener, silence);
        pollster::block_on(async {
            host.breathe().await;
            host.emit(Event::Done);
            host.sleep(SLICE).await;
        });
        listener.0.into_inner()
    }

    #[test]
    fn a_run_that_begins_again_has_the_speed_of_its_new_steps() {
        let mut pace = Pace::new(1_000);
        let long = Duration::from_secs(1_000);
        (pace.begun, pace.counted) = (pace.begun - long, pace.counted - long);
        let slow = pace.progress(10);
        assert!(slow.steps_per_second < 0.02 && slow.seconds_left > 5e4);
        pace.count_again();
        let fast = pace.training(&at(10, 20, 0.5), 0.0);
        assert!(fast.steps_per_second > 0.02 && fast.seconds_left < 1e3);
        assert_eq!((fast.step, fast.steps), (10, 20));
        assert!(pace.seconds() >= 1e3);
    }

    fn at(step: usize, steps: usize, work: f64) -> learners::Progress {
        learners::Progress {
            step,
            steps,
            done: step as f64 / steps as f64,
            work,
            rate: 0.0,
            error: None,
            notices: Vec::new(),
        }
    }

    /// Four in ten steps over a quarter of the rows are one seventh of the work.
    #[test]
    fn the_time_left_is_that_of_the_work_left_and_not_of_the_steps() {
        let mut pace = Pace::new(10);
        pace.counted -= Duration::from_secs(10);
        let left = pace.training(&at(4, 10, 1.0 / 7.0), 0.0).seconds_left;
        assert!((left - 60.0).abs() < 1.0, "{left}");
        let left = pace.progress(4).seconds_left;
        assert!((left - 15.0).abs() < 1.0, "{left}");
        assert_eq!(pace.training(&at(10, 10, 1.0), 0.0).seconds_left, 0.0);
    }

    #[test]
    fn only_a_job_that_has_been_silent_for_long_says_that_it_lives() {
        let all = vec![Event::Alive, Event::Done, Event::Alive];
        assert_eq!(heard(Duration::ZERO), all);
        assert_eq!(heard(Duration::from_secs(3_600)), vec![Event::Done]);
    }
}
