//! Golden numbers: states that the robots must reach and potentials that the fields must have, the
//! same natively and in the browser.
//!
//! They were computed from the Lagrangians by `tests/golden/robots.py` and by a direct solver in
//! `tests/golden/fields.py`, which share nothing with this library.

use serde::Deserialize;

use super::{
    Robot, SystemError,
    arm::Arm,
    by_name,
    cartpole::Cartpole,
    pendulum::Pendulum,
    simulate::{Integrator, simulate},
    trajectories::Sine,
    upkie::Upkie,
};

const ROBOTS: &str = include_str!("../../tests/golden/robots.json");
const FIELDS: &str = include_str!("../../tests/golden/fields.json");
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
    let cases: Vec<Case> = read(ROBOTS)?;
    cases.iter().try_fold(0.0, |largest, case| {
        Ok(f64::max(largest, case.deviation()?))
    })
}

#[derive(Deserialize)]
struct FieldCase {
    field: String,
    parameters: Vec<f64>,
    points: Vec<[f64; 2]>,
    potentials: Vec<f64>,
}

impl FieldCase {
    fn deviation(&self) -> Result<f64, SystemError> {
        let system = by_name(&self.field)?;
        let field = system
            .field()
            .ok_or_else(|| SystemError::Invalid(format!("{} is no field", self.field)))?;
        let potential = field.solve(&self.parameters)?;
        let apart = self.points.iter().zip(&self.potentials);
        Ok(apart
            .map(|(&x, y)| (potential.value(x) - y).abs())
            .fold(0.0, f64::max))
    }
}

/// The name of each field and its largest deviation from a golden potential [V].
pub fn field_deviations() -> Result<Vec<(String, f64)>, SystemError> {
    let cases: Vec<FieldCase> = read(FIELDS)?;
    let deviation = |case: &FieldCase| Ok((case.field.clone(), case.deviation()?));
    cases.iter().map(deviation).collect()
}

/// Deviation that is rounding, or the iterative solver's remainder [V].
pub fn allowed_deviation(field: &str) -> f64 {
    if field.starts_with("charges") {
        1e-12
    } else {
        1e-6
    }
}

fn read<T: serde::de::DeserializeOwned>(numbers: &str) -> Result<T, SystemError> {
    serde_json::from_str(numbers)
        .map_err(|error| SystemError::Invalid(format!("golden numbers: {error}")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_fields_have_the_potentials_of_a_direct_solution() {
        let fields = super::field_deviations().unwrap();
        assert_eq!(fields.len(), 4);
        for (field, deviation) in fields {
            let allowed = super::allowed_deviation(&field);
            assert!(deviation < allowed, "{field}: {deviation} V");
        }
    }

    #[test]
    fn the_robots_reach_the_states_of_their_lagrangians() {
        let deviation = super::largest_deviation().unwrap();
        assert!(deviation < 1e-9, "{deviation}");
    }
}
