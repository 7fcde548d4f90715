//! Upkie, the wheeled biped: `M(q) q̈ + h(q, q̇) = Q`, a planar chain on two wheels.
//!
//! Both legs are summed and the wheels roll without slipping, which leaves q = (y, tibia, femur,
//! torso): the axle's position and three absolute angles, all zero when it stands straight. Hips
//! and knees are held straight by position servos `τ = clip(kp (q*−q) − kd ω)`; the input u is the
//! torque *of each wheel*, so that both together push with 2u and act back on the tibias. Bodies
//! are those of the open-source robot, with fixed joints lumped.
//!
//! What is learned is u from x = (ẏ, ÿ, cosφ, sinφ, φ̇, φ̈), where φ is the torso's pitch, for a
//! torso link of φ = (m) kilograms. Six numbers do not tell the eight of the state: the servos let
//! the legs give a little, so the best model of x alone, [`Robot::inverse`], is the torque for
//! *locked* knees and hips. [`Upkie::joint_torques`] is the exact one.
//!
//! Masses, servos and the exact dynamics are in [`upkie_mechanics`](super::upkie_mechanics), the
//! controller that keeps it upright in [`balance`](crate::control::balance).
//! Nothing stops the robot at the ground: a fall goes on below it.

use rand::RngExt as _;

use super::{
    Description, Parameter, Quantity, Robot, Shape, Split, System, SystemError, Task,
    chain::Coordinates,
    check_parameters, quantity,
    simulate::check_setting,
    trajectories,
    upkie_mechanics::{WHEEL, positions, rates},
    upkie_sketch,
};
use crate::{control::balance, random};

/// Heavier than what training has seen [kg].
const HEAVY: [(f64, f64); 1] = [(10.0, 14.0)];
/// Training environments.
const TRAINING: usize = 10;
/// Test and out-of-domain environments.
const ENVIRONMENTS: usize = 15;

static ABOUT: Description = Description {
    name: "upkie",
    title: "Upkie",
    equation: "M(q) q̈ + h(q, q̇) = Q, u the torque of each wheel",
    parameters: &[Parameter {
        name: "torso mass",
        quantity: quantity("m", "kg"),
        allowed: (0.1, 20.0),
        test: (0.5, 10.0),
        typical: 1.0,
    }],
    inputs: &[
        quantity("ẏ", "m/s"),
        quantity("ÿ", "m/s²"),
        quantity("cos φ", "1"),
        quantity("sin φ", "1"),
        quantity("φ̇", "rad/s"),
        quantity("φ̈", "rad/s²"),
    ],
    target: quantity("u", "N m"),
    shares_inputs: false,
    affine: true,
};

const STATE: [Quantity; 8] = [
    quantity("y", "m"),
    quantity("ẏ", "m/s"),
    quantity("tibia", "rad"),
    quantity("tibia rate", "rad/s"),
    quantity("femur", "rad"),
    quantity("femur rate", "rad/s"),
    quantity("φ", "rad"),
    quantity("φ̇", "rad/s"),
];

/// Upkie, with φ = (torso mass).
#[derive(Clone, Debug, PartialEq)]
pub struct Upkie {
    /// Gravity g [m/s²], 0 to 100.
    pub gravity: f64,
    /// Stiffness kp of a hip or knee servo [N m/rad], 0 to 1000.
    pub stiffness: f64,
    /// Damping kd of a servo, wheels included [N m s/rad], 0 to 100.
    pub damping: f64,
    /// Largest torque of a hip or knee servo [N m], 0 to 1000.
    pub joint_limit: f64,
    /// Largest torque of a wheel servo [N m], 0 to 1000.
    pub wheel_limit: f64,
    /// Time step of the physics [s], 0.00001 to 0.002.
    pub physics_step: f64,
    /// Steps of the physics between two samples.
    pub substeps: usize,
    /// Samples of a task.
    pub observations: usize,
    /// Tasks start with a lean uniform within this of balance [rad], 0 to 0.2.
    pub spread: f64,
}

impl Default for Upkie {
    fn default() -> Self {
        Self {
            gravity: 9.81,
            stiffness: 20.0,
            damping: 1.0,
            joint_limit: 16.0,
            wheel_limit: 1.7,
            physics_step: 1e-3,
            substeps: 5,
            observations: 1000,
            spread: 0.05,
        }
    }
}

impl System for Upkie {
    fn description(&self) -> &Description {
        &ABOUT
    }

    fn environments(&self, split: Split, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = random::generator(seed, split as u64);
        let (lightest, heaviest) = ABOUT.parameters[0].test;
        match split {
            Split::Train => (0..TRAINING)
                .map(|i| i as f64 / (TRAINING - 1) as f64)
                .map(|share| vec![lightest + share * (heaviest - lightest)])
                .collect(),
            Split::Test => {
                let range = [ABOUT.parameters[0].test];
                trajectories::random_parameters(range, ENVIRONMENTS, &mut rng)
            }
            Split::OutOfDomain => trajectories::random_parameters(HEAVY, ENVIRONMENTS, &mut rng),
        }
    }

    /// The balanced robot rolls half a metre forward and back again, from a random lean; samples
    /// begin after half a second. The target is the mean torque of a wheel between two samples.
    fn task(&self, parameters: &[f64], split: Split, seed: u64) -> Result<Task, SystemError> {
        let mut rng = trajectories::generator(parameters, split, seed);
        let lean = self.spread * rng.random_range(-1.0..=1.0);
        balance::task(self, parameters, lean)
    }

    fn robot(&self) -> Option<&dyn Robot> {
        Some(self)
    }

    fn check(&self, parameters: &[f64]) -> Result<(), SystemError> {
        check_parameters(&ABOUT, parameters)?;
        check_setting("gravity", self.gravity, (0.0, 100.0), "m/s²")?;
        check_setting("servo stiffness", self.stiffness, (0.0, 1e3), "N m/rad")?;
        check_setting("servo damping", self.damping, (0.0, 100.0), "N m s/rad")?;
        check_setting("joint torque limit", self.joint_limit, (0.0, 1e3), "N m")?;
        check_setting("wheel torque limit", self.wheel_limit, (0.0, 1e3), "N m")?;
        check_setting("physics time step", self.physics_step, (1e-5, 2e-3), "s")?;
        check_setting("number of substeps", self.substeps as f64, (1.0, 1e3), "")?;
        check_setting(
            "number of observations",
            self.observations as f64,
            (1.0, 1e6),
            "",
        )?;
        check_setting("spread of the starts", self.spread, (0.0, 0.2), "rad")
    }
}

impl Robot for Upkie {
    fn state(&self) -> &'static [Quantity] {
        &STATE
    }

    fn time_step(&self) -> f64 {
        self.physics_step * self.substeps as f64
    }

    fn derivative(&self, parameters: &[f64], state: &[f64], input: f64) -> Vec<f64> {
        let torques = self.servo_torques(state, input);
        let acceleration = self.accelerations(parameters[0], state, &torques);
        (0..4)
            .flat_map(|i| [state[2 * i + 1], acceleration[i]])
            .collect()
    }

    /// Five semi-implicit Euler steps of a millisecond with the same wheel torque.
    fn step(&self, parameters: &[f64], state: &[f64], input: f64) -> Vec<f64> {
        (0..self.substeps).fold(state.to_vec(), |state, _| {
            self.physics_step(parameters, &state, input)
        })
    }

    fn features(&self, state: &[f64], next: &[f64]) -> Vec<f64> {
        let (sin, cos) = state[6].sin_cos();
        let change = |i: usize| (next[i] - state[i]) / self.time_step();
        vec![state[1], change(1), cos, sin, state[7], change(7)]
    }

    /// The wheel torque if knees and hips were locked straight:
    /// `2u/R = Σm ÿ + (2I/R²) ÿ + Σ m (J_φ φ̈ + centripetal)`, the ground's equation alone.
    fn inverse(&self, parameters: &[f64], features: &[f64]) -> f64 {
        let [rate, angular] = [features[4], features[5]];
        let pitch = features[3].atan2(features[2]);
        let q = Coordinates::new(0.0, pitch, pitch, pitch);
        let rates = Coordinates::new(features[0], rate, rate, rate);
        let accelerations = Coordinates::new(features[1], angular, angular, angular);
        let chain = self.chain(parameters[0]);
        chain.forces(&q, &rates, &accelerations)[0] * WHEEL / 2.0
    }

    fn energy(&self, parameters: &[f64], state: &[f64]) -> f64 {
        let chain = self.chain(parameters[0]);
        chain.energy(&positions(state), &rates(state))
    }

    fn sketch(&self, parameters: &[f64], state: &[f64]) -> Vec<Shape> {
        upkie_sketch::upkie(parameters[0], state)
    }
}
