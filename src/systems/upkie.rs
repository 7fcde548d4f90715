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
//! Nothing stops the robot at the ground: a fall goes on below it.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};
use rand::RngExt as _;

use super::{
    Description, Parameter, Quantity, Robot, Role, Shape, Split, System, SystemError, Task,
    chain::{Body, Chain, Coordinates, turned},
    check_parameters, quantity,
    simulate::{check_setting, semi_implicit_euler},
    sketch::{disc, line},
    trajectories,
};
use crate::{control::balance, random};

/// Distance from the axle to the knee [m].
const TIBIA: f64 = 0.507 - 0.332;
/// Distance from the knee to the hip [m].
const FEMUR: f64 = 0.332 - 0.164;
/// Height of the hip in the torso's frame of the robot's description [m].
const HIP: f64 = -0.164;
/// Radius of the wheels [m].
const WHEEL: f64 = 0.05;
/// Half height and half depth of the torso link, a box [m].
const TORSO_BOX: [f64; 2] = [0.125, 0.0625];
/// Centre of the torso link in the torso's frame, (forward, up from the hip) [m].
const TORSO_CENTRE: [f64; 2] = [0.0, -0.1 - HIP];
/// Mass of the torso link in the robot's description [kg].
const TORSO_MASS: f64 = 1.0;
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

/// Torques of one side [N m]; both sides do the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torques {
    /// Turns the torso forward against the femur.
    pub hip: f64,
    /// Turns the femur forward against the tibia.
    pub knee: f64,
    /// Turns the wheel forward against the tibia.
    pub wheel: f64,
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

/// Positions of a state.
fn positions(state: &[f64]) -> Coordinates {
    Coordinates::new(state[0], state[2], state[4], state[6])
}

/// Speeds of a state.
fn rates(state: &[f64]) -> Coordinates {
    Coordinates::new(state[1], state[3], state[5], state[7])
}

/// Generalised forces of torques, both sides together.
fn generalised(torques: &Torques) -> Coordinates {
    let Torques { hip, knee, wheel } = *torques;
    2.0 * Coordinates::new(wheel / WHEEL, -wheel - knee, knee - hip, hip)
}

impl Upkie {
    /// The bodies for a torso link of `torso_mass` [kg].
    pub fn chain(&self, torso_mass: f64) -> Chain {
        let leg = |mass, inertia, segment, offsets| Body {
            mass: 2.0 * mass,
            inertia: 2.0 * inertia,
            segment,
            offsets,
        };
        let above_hip = |centre| [[0.0, TIBIA], [0.0, FEMUR], centre];
        let [height, depth] = TORSO_BOX;
        let extra = torso_mass - TORSO_MASS;
        Chain {
            wheel_mass: 2.0 * 0.18455,
            wheel_inertia: 2.0 * 0.000_174_6,
            wheel_radius: WHEEL,
            gravity: self.gravity,
            bodies: vec![
                leg(
                    0.39540,
                    0.002_122_7,
                    0,
                    [[0.0, 0.507 - 0.46192], [0.0; 2], [0.0; 2]],
                ),
                leg(
                    0.69241,
                    0.002_801_2,
                    1,
                    [[0.0, TIBIA], [0.0, 0.332 - 0.30766], [0.0; 2]],
                ),
                // Torso with battery, handle and hip stators, its own link of one kilogram ..
                Body {
                    mass: 2.79450,
                    inertia: 0.013_173_9,
                    segment: 2,
                    offsets: above_hip([-0.01145, -0.11877 - HIP]),
                },
                // .. and what that link is heavier (or lighter), a box of the same size.
                Body {
                    mass: extra,
                    inertia: extra * (height * height + depth * depth) / 3.0,
                    segment: 2,
                    offsets: above_hip(TORSO_CENTRE),
                },
            ],
        }
    }

    /// Torques of the hip and knee servos in a state, with the wheel's given.
    pub fn servo_torques(&self, state: &[f64], wheel: f64) -> Torques {
        let servo = |above: usize, below: usize| {
            let bend = state[above] - state[below];
            let rate = state[above + 1] - state[below + 1];
            let torque = -self.stiffness * bend - self.damping * rate;
            torque.clamp(-self.joint_limit, self.joint_limit)
        };
        Torques {
            hip: servo(6, 4),
            knee: servo(4, 2),
            wheel,
        }
    }

    /// Torque of a wheel servo that should roll at `speed` [m/s].
    pub fn wheel_servo(&self, state: &[f64], speed: f64) -> f64 {
        let wanted = speed / WHEEL;
        let rate = state[1] / WHEEL - state[3];
        (self.damping * (wanted - rate)).clamp(-self.wheel_limit, self.wheel_limit)
    }

    /// Exact forward dynamics: the accelerations of y, tibia, femur and torso under torques.
    pub fn accelerations(&self, torso_mass: f64, state: &[f64], torques: &Torques) -> [f64; 4] {
        let (q, rates) = (positions(state), rates(state));
        let chain = self.chain(torso_mass);
        chain
            .accelerations(&q, &rates, &generalised(torques))
            .into()
    }

    /// Exact inverse dynamics: the torques that explain the accelerations of all coordinates.
    /// The equations are four and the torques three, so the torso's, the femur's and the
    /// ground's tell them.
    pub fn joint_torques(
        &self,
        torso_mass: f64,
        state: &[f64],
        accelerations: &[f64; 4],
    ) -> Torques {
        let (q, rates) = (positions(state), rates(state));
        let forces = self
            .chain(torso_mass)
            .forces(&q, &rates, &Coordinates::from(*accelerations))
            / 2.0;
        Torques {
            hip: forces[3],
            knee: forces[2] + forces[3],
            wheel: forces[0] * WHEEL,
        }
    }

    /// The state in which the robot stands still on its servos with no torque at the wheels:
    /// its centre of mass is above the axle. Found by Newton's method; not a number if the
    /// servos are too weak to stand.
    pub fn standing(&self, torso_mass: f64) -> Vec<f64> {
        let chain = self.chain(torso_mass);
        let state = |angles: &Vector3<f64>| {
            let mut state = vec![0.0; 8];
            for i in 0..3 {
                state[2 * i + 2] = angles[i];
            }
            state
        };
        let imbalance = |angles: &Vector3<f64>| {
            let state = state(angles);
            let forces = generalised(&self.servo_torques(&state, 0.0));
            (chain.bias(&positions(&state), &Coordinates::zeros()) - forces)
                .fixed_rows::<3>(1)
                .into_owned()
        };
        let mut angles = Vector3::zeros();
        for _ in 0..20 {
            let present = imbalance(&angles);
            let jacobian = Matrix3::from_columns(&[0, 1, 2].map(|j| {
                let mut moved = angles;
                moved[j] += 1e-6;
                (imbalance(&moved) - present) / 1e-6
            }));
            match jacobian.lu().solve(&present) {
                Some(change) => angles -= change,
                None => angles.fill(f64::NAN),
            }
        }
        state(&angles)
    }

    /// One step of the physics.
    pub fn physics_step(&self, parameters: &[f64], state: &[f64], wheel: f64) -> Vec<f64> {
        let derivative = self.derivative(parameters, state, wheel);
        semi_implicit_euler(state, &derivative, self.physics_step)
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
        sketch(parameters[0], state)
    }
}

/// Seen from its right side, rolling on the ground at height 0 towards the right. The torso is
/// a little larger when it is heavier; a mark on the wheel shows it rolling.
fn sketch(torso_mass: f64, state: &[f64]) -> Vec<Shape> {
    let along = |from: [f64; 2], offset: [f64; 2], angle: f64| {
        let arm = turned(offset, angle);
        [from[0] + arm.x, from[1] + arm.y]
    };
    let axle = [state[0], WHEEL];
    let knee = along(axle, [0.0, TIBIA], state[2]);
    let hip = along(knee, [0.0, FEMUR], state[4]);
    let scale = (0.9 + 0.05 * torso_mass.sqrt()).min(1.2);
    let [height, depth] = TORSO_BOX.map(|half| scale * half);
    let in_torso =
        |[x, z]: [f64; 2]| along(hip, [TORSO_CENTRE[0] + x, TORSO_CENTRE[1] + z], state[6]);
    let cut = 0.3 * depth;
    let corners = [
        [-depth + cut, -height],
        [depth - cut, -height],
        [depth, -height + cut],
        [depth, height - cut],
        [depth - cut, height],
        [-depth + cut, height],
        [-depth, height - cut],
        [-depth, -height + cut],
    ];
    let handle = [
        [-0.04, height],
        [-0.04, height + 0.035],
        [0.04, height + 0.035],
        [0.04, height],
    ];
    let mark = state[0] / WHEEL;
    let marks = [0.0, PI].map(|half| along(axle, [0.0, 0.75 * WHEEL], mark + half));
    vec![
        line(&[[-2.0, 0.0], [2.0, 0.0]], 0.006, Role::Ground),
        line(&handle.map(in_torso), 0.012, Role::Limb),
        Shape::Polygon {
            points: corners.map(in_torso).to_vec(),
            role: Role::Body,
        },
        disc(in_torso([0.6 * depth, 0.45 * height]), 0.012, Role::Ground),
        disc(axle, WHEEL, Role::Joint),
        line(&marks, 0.008, Role::Ground),
        line(&[axle, knee], 0.022, Role::Limb),
        line(&[knee, hip], 0.022, Role::Limb),
        disc(axle, 0.014, Role::Ground),
        disc(knee, 0.03, Role::Joint),
        disc(hip, 0.03, Role::Joint),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torques_then_accelerations_then_torques_are_the_same() {
        let upkie = Upkie::default();
        let mut rng = random::generator(0, 0);
        let mut draw = |size: f64| rng.random_range(-size..size);
        for _ in 0..10_000 {
            let mass = 5.0 + draw(4.9);
            let state: Vec<f64> = (0..8).map(|i| draw([1.0, 4.0][i % 2])).collect();
            let torques = Torques {
                hip: draw(16.0),
                knee: draw(16.0),
                wheel: draw(1.7),
            };
            let accelerations = upkie.accelerations(mass, &state, &torques);
            let found = upkie.joint_torques(mass, &state, &accelerations);
            assert!((found.hip - torques.hip).abs() < 1e-9);
            assert!((found.knee - torques.knee).abs() < 1e-9);
            assert!((found.wheel - torques.wheel).abs() < 1e-9);
        }
    }

    #[test]
    fn the_fourth_equation_holds_too() {
        let upkie = Upkie::default();
        let state = [0.1, 0.2, 0.05, -0.3, -0.04, 0.5, 0.02, -0.1];
        let torques = upkie.servo_torques(&state, 0.3);
        let q = positions(&state);
        let chain = upkie.chain(2.0);
        let accelerations = Coordinates::from(upkie.accelerations(2.0, &state, &torques));
        let forces = chain.forces(&q, &rates(&state), &accelerations);
        assert!((forces[1] + 2.0 * (torques.wheel + torques.knee)).abs() < 1e-9);
    }

    #[test]
    fn with_stiff_legs_the_locked_inverse_is_exact() {
        let stiff = Upkie {
            stiffness: 1e3,
            damping: 10.0,
            joint_limit: 1e3,
            physics_step: 1e-5,
            substeps: 500,
            ..Upkie::default()
        };
        let mut state = vec![0.0, 0.1, 0.05, 0.1, 0.05, 0.1, 0.05, 0.1];
        for _ in 0..10 {
            state = stiff.step(&[1.0], &state, 0.2);
        }
        let next = stiff.step(&[1.0], &state, 0.2);
        let found = stiff.inverse(&[1.0], &stiff.features(&state, &next));
        assert!((found - 0.2).abs() < 0.01, "{found}");
    }

    #[test]
    fn it_stands_still_where_it_is_balanced() {
        let upkie = Upkie::default();
        let state = upkie.standing(4.0);
        let torques = upkie.servo_torques(&state, 0.0);
        let accelerations = upkie.accelerations(4.0, &state, &torques);
        assert!(
            accelerations.iter().all(|a| a.abs() < 1e-9),
            "{accelerations:?}"
        );
        assert!(state[6].abs() < 0.05);
    }

    #[test]
    fn a_torso_of_no_mass_is_refused() {
        let error = Upkie::default().check(&[0.0]).unwrap_err().to_string();
        assert!(error.contains("torso mass") && error.contains("but is 0"));
    }
}
