//! A time budget for a model that adapts online: what is not ready by the end of the tick is late.
//!
//! The time of every adaptation is measured. One that takes longer than a tick is put to use as
//! many ticks later; until then the model predicts with what it had, and no other adaptation
//! begins. Such ticks count as missed.

use std::time::Duration;

use web_time::Instant;

use super::online::{Estimate, OnlineModel};

/// Measurements of an adaptation that is late, of which the shortest counts: the machine may have
/// been busy with something else.
const ATTEMPTS: usize = 3;

/// How a model kept its budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Punctuality {
    /// Ticks in all.
    pub ticks: usize,
    /// Ticks that ended without the adaptation to their observation.
    pub missed: usize,
    /// Measured time of each adaptation [s].
    pub seconds: Vec<f64>,
}

/// A model with a time budget.
#[derive(Clone, Debug)]
pub struct Budgeted<M> {
    now: M,
    /// The model that is being adapted and the ticks until it is ready.
    next: Option<(M, usize)>,
    /// What was observed in the meantime.
    backlog: Vec<(Vec<f64>, f64)>,
    budget: Duration,
    punctuality: Punctuality,
}

impl<M: OnlineModel + Clone> Budgeted<M> {
    /// Gives a model this long for each observation.
    pub fn new(model: M, budget: Duration) -> Self {
        Self {
            now: model,
            next: None,
            backlog: Vec::new(),
            budget,
            punctuality: Punctuality::default(),
        }
    }

    /// How the model kept its budget so far.
    pub fn punctuality(&self) -> &Punctuality {
        &self.punctuality
    }

    /// The model after an observation, whether it noticed a change, and the time that took.
    fn adapted(&self, features: &[f64], input: f64) -> (M, bool, Duration) {
        let mut model = self.now.clone();
        let begun = Instant::now();
        let changed = model.observe(features, input);
        (model, changed, begun.elapsed())
    }

    /// Ticks beyond its own that something of this length takes.
    fn late(&self, taken: Duration) -> usize {
        let budget = self.budget.as_secs_f64().max(f64::MIN_POSITIVE);
        let ticks = (taken.as_secs_f64() / budget).ceil();
        (ticks.min(1e9) as usize).saturating_sub(1)
    }

    /// Puts the late model to use once it is ready.
    fn wait(&mut self) {
        if let Some((model, left)) = self.next.take() {
            if left > 1 {
                self.next = Some((model, left - 1));
                return;
            }
            self.now = model;
            for (features, input) in self.backlog.drain(..) {
                self.now.remember(&features, input);
            }
        }
    }
}

impl<M: OnlineModel + Clone> OnlineModel for Budgeted<M> {
    fn observe(&mut self, features: &[f64], input: f64) -> bool {
        self.punctuality.ticks += 1;
        if self.next.is_some() {
            self.punctuality.missed += 1;
            self.backlog.push((features.to_vec(), input));
            self.wait();
            return false;
        }
        let (mut model, mut changed, mut taken) = self.adapted(features, input);
        for _ in 1..ATTEMPTS {
            if self.late(taken) > 0 {
                let again = self.adapted(features, input);
                if again.2 < taken {
                    (model, changed, taken) = again;
                }
            }
        }
        self.punctuality.seconds.push(taken.as_secs_f64());
        match self.late(taken) {
            0 => self.now = model,
            ticks => {
                self.punctuality.missed += 1;
                self.next = Some((model, ticks));
            }
        }
        changed
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        self.now.predict(features)
    }

    fn identify(&self) -> Option<Estimate> {
        self.now.identify()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows how many observations it has adapted to and how many it merely remembers.
    #[derive(Clone, Default)]
    struct Counter {
        adapted: usize,
        remembered: usize,
    }

    impl OnlineModel for Counter {
        fn observe(&mut self, _: &[f64], _: f64) -> bool {
            self.adapted += 1;
            false
        }

        fn remember(&mut self, _: &[f64], _: f64) {
            self.remembered += 1;
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
        let mut model = Budgeted::new(Counter::default(), Duration::from_secs(60));
        model.next = Some((
            Counter {
                adapted: 1,
                remembered: 0,
            },
            3,
        ));
        for expected in [0.0, 0.0, 1.0, 2.0] {
            model.observe(&[0.0], 0.0);
            assert_eq!(model.predict(&[0.0]), expected);
        }
        assert_eq!(model.punctuality().missed, 3);
        assert_eq!(model.now.remembered, 3);
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
