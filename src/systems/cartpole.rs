//! Cartpole: `(M+m) ÿ + m l (φ̈ cosφ − φ̇² sinφ) = u + F`, a pole that swings on a driven cart.
//!
//! The pole hangs down at φ = 0. It is a point mass m at length l, on a cart of mass M (the cart's
//! own mass, without the pole) that is pushed by u and held back by Coulomb-like friction
//! `F = −β (M+m) g tanh ẏ`. With `D = M + m sin²φ`,
//!
//! ```text
//! ÿ = [ m sinφ (l φ̇² + g cosφ) + F + u ] / D
//! φ̈ = [ −m l φ̇² cosφ sinφ − (M+m) g sinφ − (F + u) cosφ ] / (l D)
//! ```
//!
//! What is learned is the inverse dynamics: u from x = (ẏ, ÿ, cosφ, sinφ, φ̇, φ̈). It is linear in
//! (M, m), friction included. Explicit Euler steps make the forward-difference accelerations of x
//! exact, so a perfect model has no error.

use std::f64::consts::PI;

use super::{
    Description, Parameter, Quantity, Robot, Role, Shape, Split, System, SystemError, Task,
    check_parameters, quantity,
    simulate::{check_setting, euler},
    sketch::{chamfered, disc, line},
    trajectories::{self, Sampling},
};
use crate::random;

/// Cart masses M of the training environments [kg].
const TRAINING_CARTS: [f64; 2] = [1.0, 2.0];
/// Pole masses m of the training environments [kg].
const TRAINING_POLES: [f64; 2] = [0.2, 0.5];
/// Masses (M, m) outside of what training has seen: both heavier [kg].
const HEAVY: [(f64, f64); 2] = [(2.5, 4.0), (0.5, 0.8)];
/// Test and out-of-domain environments.
const ENVIRONMENTS: usize = 50;

/// At rest, hanging.
const HANGING: [f64; 4] = [0.0; 4];
/// At rest, upright.
const UPRIGHT: [f64; 4] = [0.0, 0.0, PI, 0.0];

static ABOUT: Description = Description {
    name: "cartpole",
    title: "Cartpole",
    equation: "u = (M+m) ÿ + m l (φ̈ cos φ − φ̇² sin φ) + β (M+m) g tanh ẏ",
    parameters: &[
        Parameter {
            name: "cart mass",
            quantity: quantity("M", "kg"),
            allowed: (0.1, 20.0),
            test: (1.5, 2.5),
            typical: 2.0,
        },
        Parameter {
            name: "pole mass",
            quantity: quantity("m", "kg"),
            allowed: (0.01, 5.0),
            test: (0.2, 0.4),
            typical: 0.3,
        },
    ],
    inputs: &[
        quantity("ẏ", "m/s"),
        quantity("ÿ", "m/s²"),
        quantity("cos φ", "1"),
        quantity("sin φ", "1"),
        quantity("φ̇", "rad/s"),
        quantity("φ̈", "rad/s²"),
    ],
    target: quantity("u", "N"),
    shares_inputs: false,
    affine: true,
};

const STATE: [Quantity; 4] = [
    quantity("y", "m"),
    quantity("ẏ", "m/s"),
    quantity("φ", "rad"),
    quantity("φ̇", "rad/s"),
];

/// The cartpole, with φ = (M, m). Its default has the paper's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Cartpole {
    /// Length l of the pole [m], 0.1 to 10.
    pub length: f64,
    /// Gravity g [m/s²], 0 to 100.
    pub gravity: f64,
    /// Friction coefficient β of the cart [1], 0 (none) to 1.
    pub friction: f64,
    /// Time between two samples [s], 0.0001 to 0.1.
    pub time_step: f64,
    /// Largest |ẏ| [m/s] and |φ̇| [rad/s], 1 to 1000.
    pub speed_limit: f64,
    /// How trajectories are sampled; starts are around hanging and around upright.
    pub sampling: Sampling,
}

impl Default for Cartpole {
    fn default() -> Self {
        Self {
            length: 1.0,
            gravity: 9.8,
            friction: 0.1,
            time_step: 0.02,
            speed_limit: 10.0,
            sampling: Sampling {
                trajectories: 8,
                steps: 200,
                test_steps: 400,
                amplitude: 5.0,
                periods: 4,
                spread: 0.5,
                largest_speed: f64::INFINITY,
            },
        }
    }
}

impl Cartpole {
    /// Friction force on the cart, `F = −β (M+m) g tanh ẏ` [N].
    pub fn friction_force(&self, parameters: &[f64], speed: f64) -> f64 {
        -self.friction * (parameters[0] + parameters[1]) * self.gravity * speed.tanh()
    }

    /// Inverse dynamics without friction, `u = (M+m) ÿ + m l (φ̈ cosφ − φ̇² sinφ)` [N]: what a
    /// textbook gives, and the baseline that learned models are compared with.
    pub fn analytic_inverse(&self, parameters: &[f64], features: &[f64]) -> f64 {
        let [cart, pole] = [parameters[0], parameters[1]];
        let [acceleration, cos, sin, rate, angular] = [1, 2, 3, 4, 5].map(|i| features[i]);
        (cart + pole) * acceleration + pole * self.length * (angular * cos - rate * rate * sin)
    }

    /// The pole's tip [m] for a cart that runs along y = 0.
    pub fn tip(&self, state: &[f64]) -> [f64; 2] {
        let (sin, cos) = state[2].sin_cos();
        [state[0] + self.length * sin, -self.length * cos]
    }

    /// Refuses settings for which a simulation makes no sense.
    fn check_settings(&self) -> Result<(), SystemError> {
        check_setting("pole length", self.length, (0.1, 10.0), "m")?;
        check_setting("gravity", self.gravity, (0.0, 100.0), "m/s²")?;
        check_setting("friction", self.friction, (0.0, 1.0), "")?;
        check_setting("time step", self.time_step, (1e-4, 0.1), "s")?;
        check_setting("speed limit", self.speed_limit, (1.0, 1e3), "m/s")?;
        self.sampling.check()
    }
}

impl System for Cartpole {
    fn description(&self) -> &Description {
        &ABOUT
    }

    fn environments(&self, split: Split, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = random::generator(seed, split as u64);
        match split {
            Split::Train => TRAINING_CARTS
                .iter()
                .flat_map(|&cart| TRAINING_POLES.map(|pole| vec![cart, pole]))
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
            .task(self, parameters, split, seed, [&HANGING, &UPRIGHT])
    }

    fn robot(&self) -> Option<&dyn Robot> {
        Some(self)
    }

    fn check(&self, parameters: &[f64]) -> Result<(), SystemError> {
        check_parameters(&ABOUT, parameters)?;
        self.check_settings()
    }
}

impl Robot for Cartpole {
    fn state(&self) -> &'static [Quantity] {
        &STATE
    }

    fn time_step(&self) -> f64 {
        self.time_step
    }

    fn derivative(&self, parameters: &[f64], state: &[f64], input: f64) -> Vec<f64> {
        let [cart, pole] = [parameters[0], parameters[1]];
        let (speed, rate) = (state[1], state[3]);
        let (sin, cos) = state[2].sin_cos();
        let (l, g) = (self.length, self.gravity);
        let force = input + self.friction_force(parameters, speed);
        let d = cart + pole * sin * sin;
        let acceleration = (pole * sin * (l * rate * rate + g * cos) + force) / d;
        let angular =
            (-pole * l * rate * rate * cos * sin - (cart + pole) * g * sin - force * cos) / (l * d);
        vec![speed, acceleration, rate, angular]
    }

    fn step(&self, parameters: &[f64], state: &[f64], input: f64) -> Vec<f64> {
        let derivative = self.derivative(parameters, state, input);
        let mut next = euler(state, &derivative, self.time_step);
        self.limit(&mut next);
        next
    }

    fn limit(&self, state: &mut [f64]) {
        for i in [1, 3] {
            state[i] = state[i].clamp(-self.speed_limit, self.speed_limit);
        }
    }

    fn features(&self, state: &[f64], next: &[f64]) -> Vec<f64> {
        let (sin, cos) = state[2].sin_cos();
        let change = |i: usize| (next[i] - state[i]) / self.time_step;
        vec![state[1], change(1), cos, sin, state[3], change(3)]
    }

    fn inverse(&self, parameters: &[f64], features: &[f64]) -> f64 {
        self.analytic_inverse(parameters, features) - self.friction_force(parameters, features[0])
    }

    fn energy(&self, parameters: &[f64], state: &[f64]) -> f64 {
        let [cart, pole] = [parameters[0], parameters[1]];
        let (speed, rate, l) = (state[1], state[3], self.length);
        let cos = state[2].cos();
        0.5 * (cart + pole) * speed * speed + pole * l * rate * (speed * cos + 0.5 * l * rate)
            - pole * self.gravity * l * cos
    }

    /// The cart runs on a rail along y = 0 that is drawn five metres to either side; sizes grow
    /// with the cube root of the masses.
    fn sketch(&self, parameters: &[f64], state: &[f64]) -> Vec<Shape> {
        let [cart, pole] = [parameters[0], parameters[1]];
        let y = state[0];
        let half = 0.16 * cart.cbrt();
        let (top, bottom, wheel) = (0.5 * half, -0.35 * half, 0.22 * half);
        let rail = bottom - 2.0 * wheel;
        let tip = self.tip(state);
        vec![
            line(&[[-5.0, rail], [5.0, rail]], 0.015, Role::Ground),
            line(
                &[[-5.0, rail - 0.06], [-5.0, rail + 0.06]],
                0.02,
                Role::Ground,
            ),
            line(
                &[[5.0, rail - 0.06], [5.0, rail + 0.06]],
                0.02,
                Role::Ground,
            ),
            disc([y - 0.6 * half, rail + wheel], wheel, Role::Joint),
            disc([y + 0.6 * half, rail + wheel], wheel, Role::Joint),
            chamfered([y - half, bottom], [y + half, top], 0.25 * half, Role::Body),
            line(&[[y, 0.0], tip], 0.04, Role::Limb),
            disc([y, 0.0], 0.035, Role::Joint),
            disc(tip, 0.1 * pole.cbrt(), Role::Joint),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::simulate::{Integrator, simulate};

    #[test]
    fn every_sample_obeys_the_exact_inverse_dynamics() {
        let system = Cartpole::default();
        for split in [Split::Train, Split::Test, Split::OutOfDomain] {
            for phi in system.environments(split, 3) {
                let task = system.task(&phi, split, 3).unwrap();
                for (x, u) in task.inputs.rows().zip(&task.targets) {
                    assert!((system.inverse(&phi, x) - u).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn sizes_are_the_papers() {
        let system = Cartpole::default();
        let train = system.environments(Split::Train, 0);
        assert_eq!(train.len(), 4);
        assert_eq!(
            system
                .task(&train[0], Split::Train, 0)
                .unwrap()
                .targets
                .len(),
            1600
        );
        assert_eq!(system.environments(Split::Test, 0).len(), 50);
    }

    #[test]
    fn an_upright_pole_at_rest_without_input_stays_there() {
        let system = Cartpole::default();
        let start = [0.0, 0.0, PI, 0.0];
        let states = simulate(&system, &[2.0, 0.3], &start, &[0.0; 50], Integrator::Own).unwrap();
        assert!((states[50][2] - PI).abs() < 1e-12);
    }
}
