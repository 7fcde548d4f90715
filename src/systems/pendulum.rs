//! Pendulum: `I q̈ + m g sin q = u`, the paper's first example.
//!
//! A rod of inertia I about its pivot, with a mass m at one metre, turned by the torque u; q = 0
//! hangs down. What is learned is the inverse dynamics: u from x = (q, q̇, q̈). It is linear in
//! φ = (I, m), so everything about it can be checked by hand: the features are (q̈, g sin q) and
//! the weights are φ itself.
//!
//! q is fed as it is, not wrapped and not as cosine and sine: the inputs are weak enough for the
//! pendulum to swing without going over the top, within ±3 rad.

use super::{
    Description, Parameter, Quantity, Robot, Role, Shape, Split, System, SystemError, Task,
    check_parameters, quantity,
    simulate::{check_setting, semi_implicit_euler},
    sketch::{disc, line},
    trajectories::{self, Sampling},
};
use crate::random;

/// Values of I [kg m²] and of m [kg] of the training environments, all pairs of them.
const TRAINING: [f64; 3] = [0.5, 1.0, 1.5];
/// Parameters (I, m) outside of what training has seen: both heavier [kg m², kg].
const HEAVY: [(f64, f64); 2] = [(1.5, 2.5), (1.5, 2.5)];
/// Test and out-of-domain environments.
const ENVIRONMENTS: usize = 50;
/// Distance of the mass from the pivot [m].
const LENGTH: f64 = 1.0;
/// At rest, hanging.
const HANGING: [f64; 2] = [0.0; 2];

static ABOUT: Description = Description {
    name: "pendulum",
    title: "Pendulum",
    equation: "u = I q̈ + m g sin q",
    parameters: &[
        Parameter {
            name: "inertia",
            quantity: quantity("I", "kg m²"),
            allowed: (0.01, 20.0),
            test: (0.5, 1.5),
            typical: 1.0,
        },
        Parameter {
            name: "mass",
            quantity: quantity("m", "kg"),
            allowed: (0.01, 20.0),
            test: (0.5, 1.5),
            typical: 1.0,
        },
    ],
    inputs: &[
        quantity("q", "rad"),
        quantity("q̇", "rad/s"),
        quantity("q̈", "rad/s²"),
    ],
    target: quantity("u", "N m"),
    shares_inputs: false,
    affine: true,
};

const STATE: [Quantity; 2] = [quantity("q", "rad"), quantity("q̇", "rad/s")];

/// The pendulum, with φ = (I, m).
#[derive(Clone, Debug, PartialEq)]
pub struct Pendulum {
    /// Gravity g [m/s²], 0 to 100.
    pub gravity: f64,
    /// Viscous friction c of the pivot, a torque −c q̇ [N m s], 0 (none, the default) to 100.
    pub friction: f64,
    /// Time between two samples [s], 0.0001 to 0.1.
    pub time_step: f64,
    /// How trajectories are sampled; starts are around hanging.
    pub sampling: Sampling,
}

impl Default for Pendulum {
    fn default() -> Self {
        Self {
            gravity: 9.8,
            friction: 0.0,
            time_step: 0.02,
            sampling: Sampling {
                trajectories: 4,
                steps: 200,
                test_steps: 200,
                amplitude: 1.0,
                periods: 2,
                spread: 1.0,
                largest_speed: f64::INFINITY,
            },
        }
    }
}

impl System for Pendulum {
    fn description(&self) -> &Description {
        &ABOUT
    }

    fn environments(&self, split: Split, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = random::generator(seed, split as u64);
        match split {
            Split::Train => TRAINING
                .iter()
                .flat_map(|&inertia| TRAINING.map(|mass| vec![inertia, mass]))
                .collect(),
            Split::Test => {
                let ranges = [ABOUT.parameters[0].test, ABOUT.parameters[1].test];
                trajectories::random_parameters(ranges, ENVIRONMENTS, &mut rng)
            }
            Split::OutOfDomain => trajectories::random_parameters(HEAVY, ENVIRONMENTS, &mut rng),
        }
    }

    fn task(&self, parameters: &[f64], split: Split, seed: u64) -> Result<Task, SystemError> {
        self.sampling
            .task(self, parameters, split, seed, [&HANGING, &HANGING])
    }

    fn robot(&self) -> Option<&dyn Robot> {
        Some(self)
    }

    fn check(&self, parameters: &[f64]) -> Result<(), SystemError> {
        check_parameters(&ABOUT, parameters)?;
        check_setting("gravity", self.gravity, (0.0, 100.0), "m/s²")?;
        check_setting("friction", self.friction, (0.0, 100.0), "N m s")?;
        check_setting("time step", self.time_step, (1e-4, 0.1), "s")?;
        self.sampling.check()
    }
}

impl Robot for Pendulum {
    fn state(&self) -> &'static [Quantity] {
        &STATE
    }

    fn time_step(&self) -> f64 {
        self.time_step
    }

    fn derivative(&self, parameters: &[f64], state: &[f64], input: f64) -> Vec<f64> {
        let [inertia, mass] = [parameters[0], parameters[1]];
        let torque =
            input - mass * self.gravity * LENGTH * state[0].sin() - self.friction * state[1];
        vec![state[1], torque / inertia]
    }

    fn step(&self, parameters: &[f64], state: &[f64], input: f64) -> Vec<f64> {
        let derivative = self.derivative(parameters, state, input);
        semi_implicit_euler(state, &derivative, self.time_step)
    }

    fn features(&self, state: &[f64], next: &[f64]) -> Vec<f64> {
        vec![state[0], state[1], (next[1] - state[1]) / self.time_step]
    }

    fn inverse(&self, parameters: &[f64], features: &[f64]) -> f64 {
        let [inertia, mass] = [parameters[0], parameters[1]];
        inertia * features[2]
            + mass * self.gravity * LENGTH * features[0].sin()
            + self.friction * features[1]
    }

    fn energy(&self, parameters: &[f64], state: &[f64]) -> f64 {
        let [inertia, mass] = [parameters[0], parameters[1]];
        0.5 * inertia * state[1] * state[1] - mass * self.gravity * LENGTH * state[0].cos()
    }

    /// Hung from a bracket at the origin; the rod is thicker for a larger inertia, the disc
    /// larger for a larger mass.
    fn sketch(&self, parameters: &[f64], state: &[f64]) -> Vec<Shape> {
        let [inertia, mass] = [parameters[0], parameters[1]];
        let (sin, cos) = state[0].sin_cos();
        let end = [LENGTH * sin, -LENGTH * cos];
        let mut shapes = vec![line(&[[-0.3, 0.12], [0.3, 0.12]], 0.02, Role::Ground)];
        shapes.extend((0..6).map(|i| {
            let x = -0.25 + 0.1 * f64::from(i);
            line(&[[x, 0.12], [x + 0.06, 0.18]], 0.01, Role::Ground)
        }));
        shapes.extend([
            line(&[[0.0, 0.12], [0.0, 0.0]], 0.04, Role::Ground),
            line(
                &[[0.0, 0.0], end],
                0.04 * inertia.sqrt().min(3.0),
                Role::Limb,
            ),
            disc([0.0, 0.0], 0.04, Role::Joint),
            disc(end, 0.11 * mass.cbrt(), Role::Body),
        ]);
        shapes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_obeys_the_equation() {
        let system = Pendulum::default();
        for split in [Split::Train, Split::Test, Split::OutOfDomain] {
            for phi in system.environments(split, 3) {
                let task = system.task(&phi, split, 3).unwrap();
                for (x, u) in task.inputs.rows().zip(&task.targets) {
                    assert!((phi[0] * x[2] + phi[1] * 9.8 * x[0].sin() - u).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn the_pendulum_never_goes_over_the_top() {
        let system = Pendulum::default();
        for seed in 0..20 {
            for split in [Split::Train, Split::Test, Split::OutOfDomain] {
                for phi in system.environments(split, seed) {
                    let task = system.task(&phi, split, seed).unwrap();
                    assert!(task.inputs.rows().all(|x| x[0].abs() < 3.0));
                }
            }
        }
    }
}
