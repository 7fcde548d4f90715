//! Reference trajectories: states that a robot can follow, and the inputs that lead through them.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use crate::systems::{
    Robot, SystemError,
    cartpole::Cartpole,
    simulate::{Integrator, checked, simulate},
    trajectories::Sine,
};

/// Cart and pole of the adaptive runs before anything changes [kg], and of their reference.
pub const START_MASSES: [f64; 2] = [1.5, 0.3];

/// White force on the cart in the adaptive runs [N]. Error bars rest on its size, which the controller is told.
pub const DISTURBANCE: f64 = 0.05;

/// A trajectory to follow. Applying `inputs[k]` in `states[k]` gives `states[k + 1]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// States, the start first: one more than there are inputs.
    pub states: Vec<Vec<f64>>,
    /// Inputs u.
    pub inputs: Vec<f64>,
    /// Time between two states [s].
    pub dt: f64,
}

impl Reference {
    /// What the robot does from `start` under `inputs`.
    pub fn open_loop(
        robot: &dyn Robot,
        parameters: &[f64],
        start: &[f64],
        inputs: Vec<f64>,
    ) -> Result<Self, SystemError> {
        Ok(Self {
            states: simulate(robot, parameters, start, &inputs, Integrator::Own)?,
            inputs,
            dt: robot.time_step(),
        })
    }

    /// What the robot does from `start` when `policy` chooses each input from state and step.
    pub fn closed_loop(
        robot: &dyn Robot,
        parameters: &[f64],
        start: &[f64],
        steps: usize,
        mut policy: impl FnMut(&[f64], usize) -> f64,
    ) -> Result<Self, SystemError> {
        let mut reference = Self::open_loop(robot, parameters, start, Vec::new())?;
        for step in 0..steps {
            let input = policy(&reference.states[step], step);
            let next = robot.step(parameters, &reference.states[step], input);
            reference.inputs.push(input);
            reference.states.push(checked(robot, next, step)?);
        }
        Ok(reference)
    }

    /// The adaptive run's reference: a cart and a pole of [`START_MASSES`] that hang at rest are
    /// pushed by `u = 4 sin(2πk/500)` for 1200 steps. It does not depend on the tracked masses.
    pub fn cartpole_sine(cartpole: &Cartpole) -> Result<Self, SystemError> {
        let sine = Sine {
            amplitude: 4.0,
            period: 500.0 * cartpole.time_step,
            phase: 0.0,
        };
        let inputs = sine.samples(1200, cartpole.time_step);
        Self::open_loop(cartpole, &START_MASSES, &[0.0; 4], inputs)
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// The model's features x at step `k`.
    pub fn features(&self, robot: &dyn Robot, k: usize) -> Vec<f64> {
        robot.features(&self.states[k], &self.states[k + 1])
    }
}

/// The angle between −π and π.
pub fn wrapped(angle: f64) -> f64 {
    let turned = angle.rem_euclid(TAU);
    if turned > TAU / 2.0 {
        turned - TAU
    } else {
        turned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_reference_returns_its_inputs_from_its_features() {
        let cartpole = Cartpole::default();
        let reference = Reference::cartpole_sine(&cartpole).unwrap();
        assert_eq!(reference.len(), 1200);
        assert!((reference.inputs[125] - 4.0).abs() < 1e-12);
        for k in 0..reference.len() {
            let x = reference.features(&cartpole, k);
            assert!((cartpole.inverse(&[1.5, 0.3], &x) - reference.inputs[k]).abs() < 1e-9);
        }
    }

    #[test]
    fn angles_wrap_to_half_a_turn() {
        assert!((wrapped(3.5 * TAU / 2.0) + TAU / 4.0).abs() < 1e-12);
        assert!((wrapped(-0.1) + 0.1).abs() < 1e-12);
    }
}
