//! A time budget for a model that adapts online: what is not ready by the end of the tick is late.
//!
//! The time of every adaptation is measured. One that takes longer than a tick is put to use as
//! many ticks later; until then the model predicts with what it had, and no other adaptation
//! begins. Such ticks count as missed.

use std::time::Duration;

use web_time::Instant;

use super::online::{Estimate, OnlineModel};
use crate::systems::Samples;

/// Measurements of an adaptation that is late, of which the shortest counts: the machine may have
/// been busy with something else.
const ATTEMPTS: usize = 3;
/// Most measurements that are kept: a demonstration has no end.
const MOST_MEASURED: usize = 100_000;

/// Does some work and says how long that took.
pub type Stopwatch = fn(&mut dyn FnMut()) -> Duration;

/// What each adaptation may take, and what says how long it took.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Time for an adaptation.
    pub tick: Duration,
    /// The machine's clock, or in a test a speed that is always the same.
    pub stopwatch: Stopwatch,
}

/// Measures by the machine's clock.
pub fn measured(work: &mut dyn FnMut()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

impl From<Duration> for Budget {
    fn from(tick: Duration) -> Self {
        Self {
            tick,
            stopwatch: measured,
        }
    }
}

/// How a model kept its budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Punctuality {
    /// Ticks in all.
    pub ticks: usize,
    /// Ticks that ended without the adaptation to their observation.
    pub missed: usize,
    /// Measured time of each adaptation [s], of the first hundred thousand.
    pub seconds: Vec<f64>,
    /// Time that went into measuring late adaptations again [s], which no robot would spend.
    pub repeated: f64,
}

/// Of a model that has no budget to keep.
pub static UNMEASURED: Punctuality = Punctuality {
    ticks: 0,
    missed: 0,
    seconds: Vec::new(),
    repeated: 0.0,
};

/// A model that is being adapted beyond its tick.
#[derive(Clone, Debug)]
struct Late<M> {
    model: M,
    /// Whether it noticed a change.
    changed: bool,
    /// Ticks until it is ready.
    left: usize,
}

/// A model with a time budget.
#[derive(Clone, Debug)]
pub struct Budgeted<M> {
    now: M,
    /// The model that is being adapted.
    next: Option<Late<M>>,
    /// What was observed in the meantime.
    backlog: Vec<(Vec<f64>, f64)>,
    budget: Budget,
    punctuality: Punctuality,
}

impl<M: OnlineModel + Clone> Budgeted<M> {
    /// Gives a model this long for each observation.
    pub fn new(model: M, budget: impl Into<Budget>) -> Self {
        Self {
            now: model,
            next: None,
            backlog: Vec::new(),
            budget: budget.into(),
            punctuality: Punctuality::default(),
        }
    }

    /// The model after an observation, whether it noticed a change, and the time that took.
    fn adapted(&self, features: &[f64], input: f64) -> (M, bool, Duration) {
        let (mut model, mut changed) = (self.now.clone(), false);
        let taken = (self.budget.stopwatch)(&mut || changed = model.observe(features, input));
        (model, changed, taken)
    }

    /// Ticks beyond its own that something of this length takes.
    fn late(&self, taken: Duration) -> usize {
        let budget = self.budget.tick.as_secs_f64().max(f64::MIN_POSITIVE);
        let ticks = (taken.as_secs_f64() / budget).ceil();
        (ticks.min(1e9) as usize).saturating_sub(1)
    }

    /// Puts the late model to use once it is ready; true when it, or what it then catches up on,
    /// noticed a change.
    fn wait(&mut self, mut late: Late<M>) -> bool {
        late.left -= 1;
        if late.left > 0 {
            self.next = Some(late);
            return false;
        }
        self.now = late.model;
        let caught_up = self.backlog.drain(..);
        caught_up.fold(late.changed, |changed, (features, input)| {
            self.now.remember(&features, input) || changed
        })
    }
}

impl<M: OnlineModel + Clone> OnlineModel for Budgeted<M> {
    fn punctuality(&self) -> &Punctuality {
        &self.punctuality
    }

    fn observe(&mut self, features: &[f64], input: f64) -> bool {
        self.punctuality.ticks += 1;
        if let Some(late) = self.next.take() {
            self.punctuality.missed += 1;
            self.backlog.push((features.to_vec(), input));
            return self.wait(late);
        }
        let (mut model, mut changed, mut taken) = self.adapted(features, input);
        for _ in 1..ATTEMPTS {
            if self.late(taken) > 0 {
                let again = self.adapted(features, input);
                self.punctuality.repeated += again.2.max(taken).as_secs_f64();
                if again.2 < taken {
                    (model, changed, taken) = again;
                }
            }
        }
        if self.punctuality.seconds.len() < MOST_MEASURED {
            self.punctuality.seconds.push(taken.as_secs_f64());
        }
        match self.late(taken) {
            0 => {
                self.now = model;
                changed
            }
            left => {
                self.punctuality.missed += 1;
                self.next = Some(Late {
                    model,
                    changed,
                    left,
                });
                false
            }
        }
    }

    fn warm_up(&mut self, inputs: &Samples, targets: &[f64]) {
        self.now.warm_up(inputs, targets);
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        self.now.predict(features)
    }

    fn disturbance(&self) -> f64 {
        self.now.disturbance()
    }

    fn identify(&self) -> Option<Estimate> {
        self.now.identify()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows how many observations it has adapted to and how many it merely remembers; an input of 1
    /// is a change to it.
    #[derive(Clone, Default)]
    struct Counter {
        adapted: usize,
        remembered: usize,
    }

    fn late(changed: bool, left: usize) -> Budgeted<Counter> {
        let model = Counter {
            adapted: 1,
            remembered: 0,
        };
        let mut budgeted = Budgeted::new(Counter::default(), Duration::from_secs(60));
        budgeted.next = Some(Late {
            model,
            changed,
            left,
        });
        budgeted
    }

    impl OnlineModel for Counter {
        fn observe(&mut self, _: &[f64], input: f64) -> bool {
            self.adapted += 1;
            input == 1.0
        }

        fn remember(&mut self, _: &[f64], input: f64) -> bool {
            self.remembered += 1;
            input == 1.0
        }

        fn predict(&mut self, _: &[f64]) -> f64 {
            self.adapted as f64
        }

        fn identify(&self) -> Option<Estimate> {
            None
        }
    }

    #[test]
    fn a_model_within_its_budget_misses_nothing() {
        let mut model = Budgeted::new(Counter::default(), Duration::from_secs(60));
        for _ in 0..10 {
            model.observe(&[0.0], 0.0);
        }
        assert_eq!(model.predict(&[0.0]), 10.0);
        assert_eq!(model.punctuality().missed, 0);
        assert_eq!(model.punctuality().seconds.len(), 10);
    }

    #[test]
    fn what_is_late_is_used_later_and_nothing_is_forgotten() {
        let mut model = late(false, 3);
        for expected in [0.0, 0.0, 1.0, 2.0] {
            model.observe(&[0.0], 0.0);
            assert_eq!(model.predict(&[0.0]), expected);
        }
        assert_eq!(model.punctuality().missed, 3);
        assert_eq!(model.now.remembered, 3);
    }

    #[test]
    fn an_alarm_is_raised_when_the_model_that_heard_it_is_in_use() {
        let told = |mut model: Budgeted<Counter>, inputs: [f64; 4]| {
            inputs.map(|input| model.observe(&[0.0], input))
        };
        assert_eq!(told(late(true, 3), [0.0; 4]), [false, false, true, false]);
        let backlog = [0.0, 1.0, 0.0, 0.0];
        assert_eq!(told(late(false, 3), backlog), [false, false, true, false]);
        let mut hurried = Budgeted::new(Counter::default(), Duration::ZERO);
        assert!(!hurried.observe(&[0.0], 1.0));
    }

    #[test]
    fn what_takes_a_while_is_measured() {
        let pause = Duration::from_millis(3);
        assert!(measured(&mut || std::thread::sleep(pause)) >= pause);
    }

    #[test]
    fn an_adaptation_of_two_and_a_half_ticks_is_in_use_after_three() {
        let budget = Budget {
            tick: Duration::from_millis(4),
            stopwatch: |work| {
                work();
                Duration::from_millis(10)
            },
        };
        let mut model = Budgeted::new(Counter::default(), budget);
        let predictions = [(); 6].map(|()| {
            model.observe(&[0.0], 0.0);
            model.predict(&[0.0])
        });
        assert_eq!(predictions, [0.0, 0.0, 1.0, 1.0, 1.0, 2.0]);
        let kept = model.punctuality();
        assert_eq!((kept.ticks, kept.missed), (6, 6));
        assert_eq!(kept.seconds, [0.01, 0.01]);
        // Each was measured three times.
        assert!((kept.repeated - 0.04).abs() < 1e-12);
    }

    #[test]
    fn shots_are_adapted_to_before_the_first_tick() {
        let mut model = Budgeted::new(Counter::default(), Duration::ZERO);
        let shots = Samples {
            dim: 1,
            values: vec![0.0; 5],
        };
        model.warm_up(&shots, &[0.0; 5]);
        assert_eq!((model.now.adapted, model.now.remembered), (1, 4));
        assert_eq!(model.punctuality(), &Punctuality::default());
    }

    #[test]
    fn the_ticks_of_a_late_adaptation_are_counted() {
        let model = Budgeted::new(Counter::default(), Duration::from_millis(5));
        let late = |ms| model.late(Duration::from_micros(ms));
        assert_eq!(
            [late(10), late(5_000), late(5_001), late(21_000)],
            [0, 0, 1, 4]
        );
    }
}
