//! Checked simulation of any robot: fixed steps, no number that is not finite ever leaves it.

use std::str::FromStr;

use super::{Robot, SystemError};

/// A state variable beyond this is no physics any more, whatever its unit.
const LARGEST: f64 = 1e9;

/// How a robot is advanced by one of its time steps h.
///
/// States alternate positions and speeds, `(q1, q̇1, q2, q̇2, ..)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// The robot's own scheme, the one its data sets are made with.
    #[default]
    Own,
    /// `x ← x + h f(x, u)`.
    Euler,
    /// `q̇ ← q̇ + h q̈(q, q̇, u)`, then `q ← q + h q̇` with the new speed.
    SemiImplicitEuler,
    /// The classical Runge-Kutta scheme of order four.
    Rk4,
}

impl FromStr for Integrator {
    type Err = SystemError;

    fn from_str(name: &str) -> Result<Self, SystemError> {
        match name {
            "own" => Ok(Self::Own),
            "euler" => Ok(Self::Euler),
            "semi-implicit-euler" => Ok(Self::SemiImplicitEuler),
            "rk4" => Ok(Self::Rk4),
            _ => Err(SystemError::Invalid(format!(
                "the integrator must be own, euler, semi-implicit-euler or rk4, but is '{name}'"
            ))),
        }
    }
}

impl Integrator {
    /// The state one time step later, within the robot's limits.
    pub fn step(self, robot: &dyn Robot, parameters: &[f64], x: &[f64], u: f64) -> Vec<f64> {
        let h = robot.time_step();
        let f = |x: &[f64]| robot.derivative(parameters, x, u);
        let mut next = match self {
            Self::Own => return robot.step(parameters, x, u),
            Self::Euler => euler(x, &f(x), h),
            Self::SemiImplicitEuler => semi_implicit_euler(x, &f(x), h),
            Self::Rk4 => {
                let k1 = f(x);
                let k2 = f(&euler(x, &k1, h / 2.0));
                let k3 = f(&euler(x, &k2, h / 2.0));
                let k4 = f(&euler(x, &k3, h));
                (0..x.len())
                    .map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
                    .collect()
            }
        };
        robot.limit(&mut next);
        next
    }
}

/// `x + h ẋ`.
pub fn euler(x: &[f64], derivative: &[f64], h: f64) -> Vec<f64> {
    x.iter().zip(derivative).map(|(x, d)| x + h * d).collect()
}

/// Speeds first, then positions with the new speeds.
pub fn semi_implicit_euler(x: &[f64], derivative: &[f64], h: f64) -> Vec<f64> {
    let mut next = euler(x, derivative, h);
    for i in (0..x.len()).step_by(2) {
        next[i] = x[i] + h * next[i + 1];
    }
    next
}

/// The states of a run, the start first: one more than there are inputs.
///
/// Refuses parameters, settings, starts and inputs that make no sense, and stops with an error at
/// the first state that is not finite or beyond 1e9.
pub fn simulate(
    robot: &dyn Robot,
    parameters: &[f64],
    start: &[f64],
    inputs: &[f64],
    integrator: Integrator,
) -> Result<Vec<Vec<f64>>, SystemError> {
    robot.check(parameters)?;
    check_start(robot, start)?;
    let mut states = Vec::with_capacity(inputs.len() + 1);
    states.push(start.to_vec());
    for (step, &input) in inputs.iter().enumerate() {
        if !input.is_finite() {
            return Err(SystemError::Invalid(format!(
                "the input must be finite, but is {input} at step {step}"
            )));
        }
        let next = integrator.step(robot, parameters, &states[step], input);
        states.push(checked(robot, next, step)?);
    }
    Ok(states)
}

/// The state that follows `step`, if it is finite and not absurdly large.
pub fn checked(robot: &dyn Robot, next: Vec<f64>, step: usize) -> Result<Vec<f64>, SystemError> {
    if next.iter().all(|value| value.abs() < LARGEST) {
        return Ok(next);
    }
    Err(SystemError::Diverged {
        system: robot.description().name,
        step,
    })
}

fn check_start(robot: &dyn Robot, start: &[f64]) -> Result<(), SystemError> {
    let quantities = robot.state();
    if start.len() != quantities.len() {
        return Err(SystemError::Invalid(format!(
            "{} has {} state variables, but {} were given",
            robot.description().name,
            quantities.len(),
            start.len()
        )));
    }
    for (quantity, value) in quantities.iter().zip(start) {
        if !value.is_finite() {
            return Err(SystemError::Invalid(format!(
                "the start's {} must be finite, but is {value}",
                quantity.symbol
            )));
        }
    }
    Ok(())
}

/// Refuses a setting (a length, a time step, a limit) outside `min..=max`, or not a number.
pub fn check_setting(
    name: &str,
    value: f64,
    (min, max): (f64, f64),
    unit: &'static str,
) -> Result<(), SystemError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(SystemError::ParameterRange {
        name: name.to_owned(),
        value,
        min,
        max,
        unit,
    })
}
