//! Golden numbers: states that the robots must reach, the same natively and in the browser.
//!
//! They were computed from the Lagrangians by `tests/golden/robots.py`, which shares nothing with
//! the equations of motion in this library.

use serde::Deserialize;

use super::{
    Robot, SystemError,
    arm::Arm,
    cartpole::Cartpole,
    pendulum::Pendulum,
    simulate::{Integrator, simulate},
    trajectories::Sine,
    upkie::Upkie,
};

const ROBOTS: &str = include_str!("../../tests/golden/robots.json");
const STEPS: usize = 100;

#[derive(Deserialize)]
struct Case {
    robot: String,
    parameters: Vec<f64>,
    start: Vec<f64>,
    /// Amplitude, period and phase of the input.
    wave: [f64; 3],
    end: Vec<f64>,
}

impl Case {
    fn deviation(&self) -> Result<f64, SystemError> {
        let robot: Box<dyn Robot> = match self.robot.as_str() {
            "pendulum" => Box::new(Pendulum::default()),
            "cartpole" => Box::new(Cartpole::default()),
            "arm" => Box::new(Arm::default()),
            "upkie" => Box::new(Upkie::default()),
            other => return Err(SystemError::UnknownSystem(other.to_owned())),
        };
        let [amplitude, period, phase] = self.wave;
        let wave = Sine {
            amplitude,
            period,
            phase,
        };
        let inputs = wave.samples(STEPS, robot.time_step());
        let states = simulate(
            &*robot,
            &self.parameters,
            &self.start,
            &inputs,
            Integrator::Own,
        )?;
        let apart = states[STEPS].iter().zip(&self.end);
        Ok(apart.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
    }
}

/// The largest deviation of any robot's state from its golden one.
pub fn largest_deviation() -> Result<f64, SystemError> {
    let cases: Vec<Case> = serde_json::from_str(ROBOTS)
        .map_err(|error| SystemError::Invalid(format!("golden numbers of the robots: {error}")))?;
    cases.iter().try_fold(0.0, |largest, case| {
        Ok(f64::max(largest, case.deviation()?))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_robots_reach_the_states_of_their_lagrangians() {
        let deviation = super::largest_deviation().unwrap();
        assert!(deviation < 1e-9, "{deviation}");
    }
}
