//! A disturbance observer: what the model could not explain in the last step is applied in the next.
//!
//! With `d_k = u_k − F(x_k; ŵ)`, the part of the input that the model cannot explain, and `c_k` the
//! compensation that was applied for it, the next one is
//!
//! ```text
//! S_{k+1} = λ (S_k + d_k − c_k)        input that came too late so far: momentum to make up for
//! c_{k+1} = share · (d_k + S_{k+1})
//! ```
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

    /// What to add to the input of the coming step.
    pub fn input(&mut self) -> f64 {
        self.applied = self.share * (self.unexplained + self.shortfall);
        self.applied
    }

    /// Takes in the part of the last input that the model could not explain.
    pub fn observe(&mut self, unexplained: f64) {
        if unexplained.is_finite() {
            self.shortfall = KEPT * (self.shortfall + unexplained - self.applied);
            self.unexplained = unexplained;
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
            observer.observe(3.0);
            if k >= 1 {
                assert!(momentum.abs() < 0.1, "step {k}: {momentum}");
            }
        }
        assert!((observer.input() - 3.0).abs() < 0.1);
    }

    #[test]
    fn a_share_outside_0_to_1_is_refused_with_its_value() {
        let error = Compensation::new(1.5).unwrap_err().to_string();
        assert!(error.ends_with("between 0 and 1, but is 1.5"), "{error}");
    }
}
