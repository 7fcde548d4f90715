//! What a worker or a thread does when it is asked for work.

use std::time::Duration;

use web_time::Instant;

use super::{
    pacing::{Beating, Host, SILENCE},
    protocol::{DeviceUsed, Event, Ticks, Work},
};
use crate::experiments::{
    bench, dataset,
    evaluate::EvaluationError,
    explore::{self, Answer},
    live::{Command, Live, LiveError},
    online_run, rerun, run,
    spec::Spec,
};

/// Time between two messages of the demonstration.
const FRAME: Duration = Duration::from_millis(16);
/// Most steps of the demonstration between two messages.
const MOST_STEPS: f64 = 500.0;
/// How much of the measured time of a step is kept from one message to the next.
const MEMORY: f64 = 0.995;
/// Fastest run, as a multiple of real time.
const FASTEST: f64 = 100.0;

/// Does the work and tells the host of every event, the last one included.
pub async fn run(work: &Work, host: &impl Host) {
    let host = &Beating::new(host, SILENCE);
    match work {
        Work::Experiment(spec) => run::run(spec, host).await,
        Work::Explore(spec) => {
            let last = match explore(spec, host).await {
                Ok(answer) => Event::Answered(answer.into()),
                Err(error) => Event::Failed(error.to_string()),
            };
            host.emit(last);
        }
        Work::Adopt {
            spec,
            weights,
            origin,
        } => {
            let last = match explore::keep_file(spec, *origin, &weights.0) {
                Ok(()) => Event::Done,
                Err(error) => Event::Failed(error.to_string()),
            };
            host.emit(last);
        }
        Work::Outline => dataset::run::outline(host).await,
        Work::Dataset(spec) => dataset::run::learn(spec, host).await,
        Work::Rerun(cells) => rerun::run(cells, host).await,
        Work::Bench(plan) => bench::run(plan, host).await,
        Work::Online(spec) => online_run::run(spec, host).await,
        Work::Live => {
            let last = match demonstrate(host).await {
                Ok(()) => Event::Cancelled,
                Err(error) => Event::Failed(error.to_string()),
            };
            host.emit(last);
        }
    }
}

/// Asks the model at hand, or the shipped one.
async fn explore(spec: &Spec, host: &impl Host) -> Result<Answer, EvaluationError> {
    if let (false, Some(file)) = (explore::is_ready(spec), explore::shipped_file(spec)) {
        // A site without this file can still train the model.
        if let Ok(bytes) = host.read(&file).await {
            explore::keep_shipped(spec, &bytes)?;
        }
    }
    explore::answer(spec)
}

/// Runs the demonstration in (a multiple of) real time until it is cancelled.
async fn demonstrate(host: &impl Host) -> Result<(), LiveError> {
    let mut live = Live::new()?;
    let name = "cpu".to_owned();
    host.emit(Event::Started {
        device: DeviceUsed {
            name,
            ..DeviceUsed::default()
        },
    });
    let mut clock = Clock::default();
    let mut last = Instant::now();
    let mut times = Times::default();
    while !host.cancelled() {
        for command in host.commands() {
            if let Err(error) = obey(command, &mut live, &mut clock) {
                host.emit(Event::Note(error.to_string()));
            }
        }
        let passed = last.elapsed().as_secs_f64();
        last = Instant::now();
        let steps = clock.steps(passed, live.time_step());
        if steps > 0 {
            let (ticks, seconds) = live.advance(steps)?;
            let news = Ticks {
                ticks,
                seconds_a_tick: times.mean(&seconds, steps),
            };
            host.emit(Event::Ticks(news.into()));
        }
        host.sleep(FRAME).await;
    }
    Ok(())
}

fn obey(command: Command, live: &mut Live, clock: &mut Clock) -> Result<(), LiveError> {
    match command {
        Command::CartMass(mass) => live.set_cart_mass(mass)?,
        Command::Reset => live.reset()?,
        other => clock.obey(other),
    }
    Ok(())
}

/// Mean times of a step, lane by lane. Browsers round the clock to a tenth of a millisecond, so a
/// single step cannot be timed.
#[derive(Default)]
struct Times {
    seconds: Vec<f64>,
    count: f64,
}

impl Times {
    /// Takes in what `steps` steps took; the old fades.
    fn mean(&mut self, seconds: &[f64], steps: usize) -> Vec<f64> {
        self.count = MEMORY * self.count + steps as f64;
        self.seconds.resize(seconds.len(), 0.0);
        for (sum, new) in self.seconds.iter_mut().zip(seconds) {
            *sum = MEMORY * *sum + new;
        }
        self.seconds.iter().map(|sum| sum / self.count).collect()
    }
}

/// Turns time into steps.
pub(crate) struct Clock {
    paused: bool,
    speed: f64,
    /// Steps that time has not yet been given for.
    debt: f64,
    /// Steps that were asked for one by one and are not made yet.
    asked: usize,
    /// Those among the steps that were given last.
    granted: usize,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            paused: false,
            speed: 1.0,
            debt: 0.0,
            asked: 0,
            granted: 0,
        }
    }
}

impl Clock {
    /// Does what concerns the clock.
    pub fn obey(&mut self, command: Command) {
        match command {
            Command::Paused(paused) => self.paused = paused,
            Command::Step(steps) => self.asked = self.asked.saturating_add(steps),
            Command::Speed(speed) if speed.is_finite() => self.speed = speed.clamp(0.0, FASTEST),
            Command::Reset => self.asked = 0,
            Command::Speed(_) | Command::CartMass(_) => {}
        }
    }

    /// Steps to make after so much time.
    pub fn steps(&mut self, seconds: f64, time_step: f64) -> usize {
        if !self.paused {
            self.debt += self.speed * seconds / time_step;
        }
        let steps = self.debt.min(MOST_STEPS).floor();
        self.debt = (self.debt - steps).min(1.0);
        // Time that is lost is not caught up with, but whoever asks for a step gets it.
        self.granted = self.asked.min(MOST_STEPS as usize - steps as usize);
        self.asked -= self.granted;
        steps as usize + self.granted
    }

    /// Takes back steps that were given last but not made: those that were asked for come again.
    pub fn give_back(&mut self, steps: usize) {
        let owed = steps.min(self.granted);
        self.granted -= owed;
        self.asked += owed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_keeps_the_rest_of_a_step_and_never_catches_up_for_ever() {
        let mut clock = Clock::default();
        assert_eq!(clock.steps(0.05, 0.02), 2);
        assert_eq!(clock.steps(0.01, 0.02), 1);
        assert_eq!(clock.steps(1e6, 0.02), 500);
        assert!(clock.steps(0.0, 0.02) <= 1);
    }

    #[test]
    fn a_faster_clock_makes_as_many_times_the_steps_and_a_senseless_speed_changes_nothing() {
        let mut clock = Clock::default();
        for (speed, steps) in [
            (4.0, 40),
            (f64::NAN, 40),
            (0.5, 5),
            (-1.0, 0),
            (1e9, 10 * FASTEST as usize),
        ] {
            clock.obey(Command::Speed(speed));
            assert_eq!(
                clock.steps(0.2, 0.02),
                steps.min(MOST_STEPS as usize),
                "{speed}"
            );
        }
    }

    #[test]
    fn a_clock_that_stands_makes_only_the_steps_it_is_asked_for() {
        let mut clock = Clock {
            paused: true,
            ..Clock::default()
        };
        assert_eq!(clock.steps(1.0, 0.02), 0);
        clock.obey(Command::Step(3));
        assert_eq!(clock.steps(1.0, 0.02), 3);
        assert_eq!(clock.steps(1.0, 0.02), 0);
        clock.obey(Command::Step(1_200));
        let made = [(); 4].map(|()| clock.steps(1.0, 0.02));
        assert_eq!(made, [500, 500, 200, 0]);
    }
}
