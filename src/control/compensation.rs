//! A disturbance observer: what the model could not explain in the last step is applied in the next.
//!
//! With `d_k = u_k − F(x_k; ŵ_k)`, the part of the input that the model could not explain when the
//! input was chosen, `d′_k = u_k − F(x_k; ŵ_{k+1})` after the model has learned from it, and `c_k` the
//! compensation that was applied, the next one is
//!
//! ```text
//! S_{k+1} = λ (S_k + d_k − c_k)        input that came too late so far: momentum to make up for
//! c_{k+1} = share · (d′_k + S_{k+1})
//! ```
//!
//! What came too late is counted with the model of that time: one that has learned in between
//! explains the force, but has not applied it.
//!
//! It acts one step after the plant changes, several steps before a change can be noticed or its
//! size identified, and fades out as the model adapts. It also takes out the slowly varying residual
//! of a learned model.

use super::error::ControlError;

/// Share of the momentum shortfall λ that is kept from step to step.
const KEPT: f64 = 0.98;

/// The observer's memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compensation {
    share: f64,
    unexplained: f64,
    applied: f64,
    shortfall: f64,
}

impl Compensation {
    /// Compensates this share of the disturbance, 0 (not at all) to 1.
    pub fn new(share: f64) -> Result<Self, ControlError> {
        if !(0.0..=1.0).contains(&share) {
            return Err(ControlError::Setting {
                name: "the compensated share of the disturbance",
                value: share,
                allowed: "between 0 and 1".to_owned(),
            });
        }
        Ok(Self {
            share,
            ..Self::default()
        })
    }

    /// Whether anything is compensated.
    pub fn is_on(&self) -> bool {
        self.share > 0.0
    }

    /// Starts anew.
    pub fn forget(&mut self) {
        let share = self.share;
        *self = Self {
            share,
            ..Self::default()
        };
    }

    /// What to add to the input of the coming step.
    pub fn input(&mut self) -> f64 {
        self.applied = self.share * (self.unexplained + self.shortfall);
        self.applied
    }

    /// Takes in the part of the last input that the model could not explain: `before` and `after`
    /// it learned from it.
    pub fn observe(&mut self, before: f64, after: f64) {
        if before.is_finite() && after.is_finite() {
            self.shortfall = KEPT * (self.shortfall + before - self.applied);
            self.unexplained = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sudden_force_is_met_after_one_step_and_its_momentum_after_two() {
        let mut observer = Compensation::new(1.0).unwrap();
        let mut momentum = 0.0;
        for k in 0..10 {
            momentum += 3.0 - observer.input();
            observer.observe(3.0, 3.0);
            if k >= 1 {
                assert!(momentum.abs() < 0.1, "step {k}: {momentum}");
            }
        }
        assert!((observer.input() - 3.0).abs() < 0.1);
    }

    #[test]
    fn a_model_that_has_learned_the_force_still_owes_its_momentum() {
        let mut observer = Compensation::new(1.0).unwrap();
        observer.input();
        observer.observe(3.0, 0.0);
        assert!((observer.input() - 3.0 * KEPT).abs() < 1e-12);
        observer.observe(0.0, 0.0);
        assert!(observer.input().abs() < 0.1);
    }

    #[test]
    fn a_share_outside_0_to_1_is_refused_with_its_value() {
        let error = Compensation::new(1.5).unwrap_err().to_string();
        assert!(error.ends_with("between 0 and 1, but is 1.5"), "{error}");
    }
}
