//! The plant: the simulated robot that a controller moves but cannot look into.
//!
//! It alone knows the true parameters and when they change. What leaves it is the state.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

use super::error::ControlError;
use crate::{random, systems::Robot};

/// Stream of the disturbance in the plant's seed.
const DISTURBANCE_STREAM: u64 = 0x91a7;

/// A parameter that takes a new value at a step. Plants and oracles are told of it; a controller that
/// learns has to notice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// First step with the new value.
    pub step: usize,
    /// Number of the parameter.
    pub parameter: usize,
    /// Its new value.
    pub value: f64,
}

/// A robot with parameters that may change while it moves, and noise on its input.
#[derive(Clone, Debug)]
pub struct Plant<R> {
    robot: R,
    parameters: Vec<f64>,
    state: Vec<f64>,
    disturbance: f64,
    rng: ChaCha8Rng,
    changes: Vec<Change>,
    step: usize,
}

impl<R: Robot> Plant<R> {
    /// A robot at `start`. `disturbance` is the standard deviation of a white force (or torque) that
    /// adds to each input, in the input's unit, 0 or more.
    pub fn new(
        robot: R,
        parameters: &[f64],
        start: &[f64],
        disturbance: f64,
        seed: u64,
    ) -> Result<Self, ControlError> {
        robot.check(parameters)?;
        if !(disturbance.is_finite() && disturbance >= 0.0) {
            return Err(ControlError::Setting {
                name: "the disturbance",
                value: disturbance,
                allowed: "0 or more".to_owned(),
            });
        }
        check_state(&robot, start)?;
        Ok(Self {
            robot,
            parameters: parameters.to_vec(),
            state: start.to_vec(),
            disturbance,
            rng: random::generator(seed, DISTURBANCE_STREAM),
            changes: Vec::new(),
            step: 0,
        })
    }

    /// Gives a parameter a new value from now on.
    pub fn change(&mut self, parameter: usize, value: f64) -> Result<(), ControlError> {
        self.parameters = self.checked(parameter, value)?;
        Ok(())
    }

    /// Gives a parameter a new value at a step to come.
    pub fn schedule(&mut self, change: Change) -> Result<(), ControlError> {
        self.checked(change.parameter, change.value)?;
        self.changes.push(change);
        self.make_changes();
        Ok(())
    }

    /// Puts the robot by hand into another state.
    pub fn place(&mut self, state: &[f64]) -> Result<(), ControlError> {
        check_state(&self.robot, state)?;
        self.state = state.to_vec();
        Ok(())
    }

    /// Makes the changes of the step that comes next.
    fn make_changes(&mut self) {
        for change in &self.changes {
            if change.step == self.step {
                self.parameters[change.parameter] = change.value;
            }
        }
    }

    fn checked(&self, parameter: usize, value: f64) -> Result<Vec<f64>, ControlError> {
        let mut parameters = self.parameters.clone();
        let count = parameters.len();
        let Some(slot) = parameters.get_mut(parameter) else {
            return Err(ControlError::Setting {
                name: "the number of the parameter to change",
                value: parameter as f64,
                allowed: format!("below {count}"),
            });
        };
        *slot = value;
        self.robot.check(&parameters)?;
        Ok(parameters)
    }

    /// Moves one time step under `input`; returns the new state.
    pub fn apply(&mut self, input: f64) -> Result<&[f64], ControlError> {
        let noise: f64 = StandardNormal.sample(&mut self.rng);
        let force = input + self.disturbance * noise;
        let next = self.robot.step(&self.parameters, &self.state, force);
        if !input.is_finite() || next.iter().any(|x| !x.is_finite()) {
            return Err(ControlError::Diverged {
                step: self.step,
                input,
            });
        }
        self.state = next;
        self.step += 1;
        self.make_changes();
        Ok(&self.state)
    }

    /// The state now.
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// The true parameters, those of the next step: for displays and figures of merit, never for a controller.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Steps made so far.
    pub fn steps(&self) -> usize {
        self.step
    }

    /// The robot without its parameters.
    pub fn robot(&self) -> &R {
        &self.robot
    }
}

fn check_state(robot: &dyn Robot, state: &[f64]) -> Result<(), ControlError> {
    let expected = robot.state().len();
    if state.len() == expected && state.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(ControlError::Setting {
        name: "the number of finite start values",
        value: state.iter().filter(|x| x.is_finite()).count() as f64,
        allowed: expected.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::cartpole::Cartpole;

    fn plant() -> Plant<Cartpole> {
        Plant::new(Cartpole::default(), &[1.5, 0.3], &[0.0; 4], 0.0, 0).unwrap()
    }

    fn cart_becomes(value: f64, step: usize) -> Change {
        Change {
            step,
            parameter: 0,
            value,
        }
    }

    #[test]
    fn a_mass_of_zero_or_less_is_refused_with_its_value() {
        for mass in [0.0, -2.0, f64::NAN] {
            let error = plant().change(0, mass).unwrap_err().to_string();
            assert!(error.contains("cart mass"), "{error}");
            assert!(error.ends_with(&format!("but is {mass}")), "{error}");
            assert!(plant().schedule(cart_becomes(mass, 10)).is_err());
        }
        assert!(
            plant()
                .change(7, 1.0)
                .unwrap_err()
                .to_string()
                .ends_with("but is 7")
        );
    }

    #[test]
    fn a_scheduled_change_acts_at_its_step() {
        let (mut early, mut late) = (plant(), plant());
        late.schedule(cart_becomes(3.0, 5)).unwrap();
        for k in 0..10 {
            let a = early.apply(1.0).unwrap().to_vec();
            let b = late.apply(1.0).unwrap();
            assert_eq!(a == b, k < 5, "step {k}");
        }
        assert_eq!(late.parameters(), &[3.0, 0.3]);
    }

    #[test]
    fn an_input_that_is_not_a_number_is_an_error_and_moves_nothing() {
        let mut plant = plant();
        assert!(matches!(
            plant.apply(f64::NAN),
            Err(ControlError::Diverged { step: 0, .. })
        ));
        assert_eq!(plant.state(), &[0.0; 4]);
    }
}
