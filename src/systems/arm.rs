//! Arm (acrobot): `M(φ) φ̈ + C(φ, φ̇) φ̇ = τg(φ) + (0, u) − c φ̇`, two links with one motor.
//!
//! φ1 is the first link's angle from hanging, φ2 the second link's angle relative to the first.
//! Centres of mass are at half length, inertias are about the upper end of each link, the motor
//! turns the joint between them. With s, c of φ2 and s12 = sin(φ1 + φ2),
//!
//! ```text
//! M  = [[I1 + I2 + m2 l1² + m2 l1 l2 c2,  I2 + m2 l1 l2 c2/2],  [M12,  I2]]
//! C  = [[−m2 l1 l2 s2 φ̇2,  −m2 l1 l2 s2 φ̇2/2],  [m2 l1 l2 s2 φ̇1/2,  0]]
//! τg = [−m1 g l1 s1/2 − m2 g (l1 s1 + l2 s12/2),  −m2 g l2 s12/2]
//! ```
//!
//! What is learned is the inverse dynamics: u from
//! x = (cosφ1, sinφ1, φ̇1, φ̈1, cosφ2, sinφ2, φ̇2, φ̈2). It is affine in (I2, m2); friction is the
//! constant part. A link's inertia about its end is at least that of its mass at its centre, so
//! `I2 ≥ m2 l2²/4`: anything less makes M indefinite and is refused.

use std::f64::consts::PI;

use super::{
    Description, Parameter, Quantity, Robot, Role, Shape, Split, System, SystemError, Task,
    check_parameters, quantity,
    simulate::{check_setting, euler},
    sketch::{disc, line},
    trajectories::{self, Sampling},
};
use crate::random;

/// Inertias I2 of the training environments [kg m²].
const TRAINING_INERTIAS: [f64; 3] = [0.3, 0.35, 0.4];
/// Masses m2 of the training environments [kg].
const TRAINING_MASSES: [f64; 3] = [0.9, 1.0, 1.1];
/// Parameters (I2, m2) outside of what training has seen: both heavier [kg m², kg].
const HEAVY: [(f64, f64); 2] = [(0.45, 0.6), (1.12, 1.4)];
/// Test and out-of-domain environments.
const ENVIRONMENTS: usize = 50;
/// At rest, hanging.
const HANGING: [f64; 4] = [0.0; 4];
/// At rest, upright.
const UPRIGHT: [f64; 4] = [PI, 0.0, 0.0, 0.0];

static ABOUT: Description = Description {
    name: "arm",
    title: "Arm",
    equation: "u = (I2 + m2 l1 l2 c2/2) φ̈1 + I2 φ̈2 + m2 l1 l2 s2 φ̇1²/2 + m2 g l2 s12/2 + c φ̇2",
    parameters: &[
        Parameter {
            name: "inertia of the second link",
            quantity: quantity("I2", "kg m²"),
            allowed: (0.01, 10.0),
            test: (0.28, 0.45),
            typical: 0.35,
        },
        Parameter {
            name: "mass of the second link",
            quantity: quantity("m2", "kg"),
            allowed: (0.01, 20.0),
            test: (0.85, 1.12),
            typical: 1.0,
        },
    ],
    inputs: &[
        quantity("cos φ1", "1"),
        quantity("sin φ1", "1"),
        quantity("φ̇1", "rad/s"),
        quantity("φ̈1", "rad/s²"),
        quantity("cos φ2", "1"),
        quantity("sin φ2", "1"),
        quantity("φ̇2", "rad/s"),
        quantity("φ̈2", "rad/s²"),
    ],
    target: quantity("u", "N m"),
    shares_inputs: false,
    affine: true,
};

const STATE: [Quantity; 4] = [
    quantity("φ1", "rad"),
    quantity("φ̇1", "rad/s"),
    quantity("φ2", "rad"),
    quantity("φ̇2", "rad/s"),
];

/// The arm, with φ = (I2, m2). Its default has the paper's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Lengths l1, l2 of the links [m], 0.1 to 10.
    pub lengths: [f64; 2],
    /// Mass m1 of the first link [kg], 0.01 to 20.
    pub first_mass: f64,
    /// Inertia I1 of the first link about its pivot [kg m²], m1 l1²/4 to 10.
    pub first_inertia: f64,
    /// Gravity g [m/s²], 0 to 100.
    pub gravity: f64,
    /// Viscous friction c of both joints [N m s], 0 (none) to 100.
    pub friction: f64,
    /// Time between two samples [s], 0.0001 to 0.1.
    pub time_step: f64,
    /// Largest |φ̇1| and |φ̇2| [rad/s], 1 to 1000.
    pub speed_limit: f64,
    /// How trajectories are sampled; starts are around hanging and around upright.
    pub sampling: Sampling,
}

impl Default for Arm {
    fn default() -> Self {
        Self {
            lengths: [1.0, 1.0],
            first_mass: 1.0,
            first_inertia: 1.0 / 3.0,
            gravity: 9.8,
            friction: 0.5,
            time_step: 0.02,
            speed_limit: 30.0,
            sampling: Sampling {
                trajectories: 8,
                steps: 200,
                test_steps: 400,
                amplitude: 5.0,
                periods: 2,
                spread: 0.5,
                largest_speed: f64::INFINITY,
            },
        }
    }
}

impl Arm {
    /// The mass matrix as (M11, M12, M22), for cosφ2.
    fn mass_matrix(&self, parameters: &[f64], cos2: f64) -> [f64; 3] {
        let [inertia, mass] = [parameters[0], parameters[1]];
        let [l1, l2] = self.lengths;
        let coupling = mass * l1 * l2 * cos2;
        [
            self.first_inertia + inertia + mass * l1 * l1 + coupling,
            inertia + coupling / 2.0,
            inertia,
        ]
    }

    /// Elbow and tip [m]; the shoulder is at the origin.
    pub fn joints(&self, state: &[f64]) -> [[f64; 2]; 2] {
        let [l1, l2] = self.lengths;
        let (first, second) = (state[0], state[0] + state[2]);
        let elbow = [l1 * first.sin(), -l1 * first.cos()];
        let tip = [elbow[0] + l2 * second.sin(), elbow[1] - l2 * second.cos()];
        [elbow, tip]
    }

    fn check_link(name: &str, mass: f64, inertia: f64, length: f64) -> Result<(), SystemError> {
        let least = mass * length * length / 4.0;
        if inertia >= least {
            return Ok(());
        }
        Err(SystemError::Invalid(format!(
            "the inertia of the {name} link must be at least m l²/4 = {least} kg m² for its mass \
             of {mass} kg, or the mass matrix is not positive definite, but is {inertia}"
        )))
    }
}

impl System for Arm {
    fn description(&self) -> &Description {
        &ABOUT
    }

    fn environments(&self, split: Split, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = random::generator(seed, split as u64);
        match split {
            Split::Train => TRAINING_INERTIAS
                .iter()
                .flat_map(|&inertia| TRAINING_MASSES.map(|mass| vec![inertia, mass]))
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
        let [l1, l2] = self.lengths;
        check_setting("length of the first link", l1, (0.1, 10.0), "m")?;
        check_setting("length of the second link", l2, (0.1, 10.0), "m")?;
        check_setting(
            "mass of the first link",
            self.first_mass,
            (0.01, 20.0),
            "kg",
        )?;
        check_setting(
            "inertia of the first link",
            self.first_inertia,
            (1e-4, 10.0),
            "kg m²",
        )?;
        check_setting("gravity", self.gravity, (0.0, 100.0), "m/s²")?;
        check_setting("friction", self.friction, (0.0, 100.0), "N m s")?;
        check_setting("time step", self.time_step, (1e-4, 0.1), "s")?;
        check_setting("speed limit", self.speed_limit, (1.0, 1e3), "rad/s")?;
        Self::check_link("first", self.first_mass, self.first_inertia, l1)?;
        Self::check_link("second", parameters[1], parameters[0], l2)?;
        self.sampling.check()
    }
}

impl Robot for Arm {
    fn state(&self) -> &'static [Quantity] {
        &STATE
    }

    fn time_step(&self) -> f64 {
        self.time_step
    }

    fn derivative(&self, parameters: &[f64], state: &[f64], input: f64) -> Vec<f64> {
        let (mass, [l1, l2], g) = (parameters[1], self.lengths, self.gravity);
        let (rate1, rate2) = (state[1], state[3]);
        let (sin2, cos2) = state[2].sin_cos();
        let (sin1, sin12) = (state[0].sin(), (state[0] + state[2]).sin());
        let turning = mass * l1 * l2 * sin2;
        let force1 = turning * rate2 * (rate1 + rate2 / 2.0)
            - self.first_mass * g * l1 * sin1 / 2.0
            - mass * g * (l1 * sin1 + l2 * sin12 / 2.0)
            - self.friction * rate1;
        let force2 = input
            - turning * rate1 * rate1 / 2.0
            - mass * g * l2 * sin12 / 2.0
            - self.friction * rate2;
        let [m11, m12, m22] = self.mass_matrix(parameters, cos2);
        let determinant = m11 * m22 - m12 * m12;
        vec![
            rate1,
            (m22 * force1 - m12 * force2) / determinant,
            rate2,
            (m11 * force2 - m12 * force1) / determinant,
        ]
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
        let (sin1, cos1) = state[0].sin_cos();
        let (sin2, cos2) = state[2].sin_cos();
        let change = |i: usize| (next[i] - state[i]) / self.time_step;
        vec![
            cos1,
            sin1,
            state[1],
            change(1),
            cos2,
            sin2,
            state[3],
            change(3),
        ]
    }

    fn inverse(&self, parameters: &[f64], features: &[f64]) -> f64 {
        let (mass, [l1, l2]) = (parameters[1], self.lengths);
        let &[cos1, sin1, rate1, angular1, cos2, sin2, rate2, angular2] = features else {
            return f64::NAN;
        };
        let [_, m12, m22] = self.mass_matrix(parameters, cos2);
        m12 * angular1
            + m22 * angular2
            + mass * l1 * l2 * sin2 * rate1 * rate1 / 2.0
            + mass * self.gravity * l2 * (sin1 * cos2 + cos1 * sin2) / 2.0
            + self.friction * rate2
    }

    fn energy(&self, parameters: &[f64], state: &[f64]) -> f64 {
        let (mass, [l1, l2]) = (parameters[1], self.lengths);
        let (rate1, rate2) = (state[1], state[3]);
        let (cos1, cos12) = (state[0].cos(), (state[0] + state[2]).cos());
        let [m11, m12, m22] = self.mass_matrix(parameters, state[2].cos());
        let height = self.first_mass * l1 * cos1 / 2.0 + mass * (l1 * cos1 + l2 * cos12 / 2.0);
        0.5 * (m11 * rate1 * rate1 + m22 * rate2 * rate2) + m12 * rate1 * rate2
            - self.gravity * height
    }

    /// Hung from a post at the origin; the second link is thicker for a larger mass.
    fn sketch(&self, parameters: &[f64], state: &[f64]) -> Vec<Shape> {
        let [elbow, tip] = self.joints(state);
        let shoulder = [0.0, 0.0];
        let first = 0.09 * self.first_mass.sqrt().min(2.0);
        let second = 0.09 * parameters[1].sqrt().min(2.0);
        vec![
            disc(shoulder, 0.14, Role::Ground),
            line(&[shoulder, elbow], first, Role::Limb),
            line(&[elbow, tip], second, Role::Body),
            disc(shoulder, 0.05, Role::Joint),
            disc(elbow, 0.075, Role::Joint),
            disc(tip, 0.05, Role::Joint),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_obeys_the_exact_inverse_dynamics() {
        let system = Arm::default();
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
    fn an_indefinite_mass_matrix_is_refused_with_its_values() {
        let error = Arm::default().check(&[0.25, 1.3]).unwrap_err().to_string();
        assert!(error.contains("0.325") && error.contains("1.3") && error.contains("0.25"));
    }

    #[test]
    fn the_samples_are_as_strong_as_stated() {
        let system = Arm::default();
        let phi = [0.35, 1.0];
        let task = system.task(&phi, Split::Train, 0).unwrap();
        let power = task.targets.iter().map(|u| u * u).sum::<f64>() / 1600.0;
        assert!((power - 12.5).abs() < 0.2, "{power}");
    }
}
