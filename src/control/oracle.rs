//! The oracle: exact inverse dynamics with the true parameters, told beforehand when one of them changes.
//!
//! Controllers that learn are compared with it. It is the only model that is made from a [`Change`]: those
//! that learn are made without one, so that they cannot but notice.

use super::plant::Change;
use crate::{
    identification::online::{Estimate, OnlineModel},
    systems::{Robot, Samples},
};

/// The true parameters of every step, and what they ask for.
#[derive(Clone, Debug)]
pub struct Oracle<R> {
    robot: R,
    /// Parameters of the coming step.
    parameters: Vec<f64>,
    change: Change,
    /// Steps so far.
    steps: usize,
}

impl<R: Robot> Oracle<R> {
    /// For a robot that begins with these parameters.
    pub fn new(robot: R, parameters: &[f64], change: Change) -> Self {
        let mut oracle = Self {
            robot,
            parameters: parameters.to_vec(),
            change,
            steps: 0,
        };
        oracle.make_change();
        oracle
    }

    /// Makes the change if the coming step is its; true if it is.
    fn make_change(&mut self) -> bool {
        let now = self.steps == self.change.step;
        if let Some(changing) = self.parameters.get_mut(self.change.parameter)
            && now
        {
            *changing = self.change.value;
        }
        now
    }
}

impl<R: Robot> OnlineModel for Oracle<R> {
    /// It is alarmed just before the change, so that its feedback is strong from then on.
    fn observe(&mut self, _features: &[f64], _input: f64) -> bool {
        self.steps += 1;
        self.make_change()
    }

    /// Shots tell it nothing, and are no steps.
    fn warm_up(&mut self, _inputs: &Samples, _targets: &[f64]) {}

    fn predict(&mut self, features: &[f64]) -> f64 {
        self.robot.inverse(&self.parameters, features)
    }

    fn identify(&self) -> Option<Estimate> {
        Some(Estimate {
            values: self.parameters.clone(),
            standard_errors: vec![0.0; self.parameters.len()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::cartpole::Cartpole;

    #[test]
    fn it_knows_the_new_mass_from_the_first_step_that_has_it() {
        for step in [0, 1, 5] {
            let change = Change {
                step,
                parameter: 0,
                value: 3.0,
            };
            let mut oracle = Oracle::new(Cartpole::default(), &[1.5, 0.3], change);
            let shot = Samples {
                dim: 6,
                values: vec![0.0; 6],
            };
            oracle.warm_up(&shot, &[0.0]);
            let mut known = Vec::new();
            let mut alarms = Vec::new();
            for k in 0..8 {
                known.push(oracle.identify().unwrap().values[0]);
                if oracle.observe(&[0.0; 6], 0.0) {
                    alarms.push(k + 1);
                }
            }
            let heavy = known.iter().position(|mass| *mass == 3.0);
            assert_eq!(heavy, Some(step));
            assert_eq!(alarms.first().copied().unwrap_or(0), step);
        }
    }
}
