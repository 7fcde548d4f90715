//! Upkie's bodies, servos and exact dynamics, `M(q) q̈ + h(q, q̇) = Q` both ways.

use nalgebra::{Matrix3, Vector3};

use super::{
    Robot as _,
    chain::{Body, Chain, Coordinates},
    simulate::semi_implicit_euler,
    upkie::Upkie,
};

/// Distance from the axle to the knee [m].
pub(super) const TIBIA: f64 = 0.507 - 0.332;
/// Distance from the knee to the hip [m].
pub(super) const FEMUR: f64 = 0.332 - 0.164;
/// Height of the hip in the torso's frame of the robot's description [m].
pub(super) const HIP: f64 = -0.164;
/// Radius of the wheels [m].
pub(super) const WHEEL: f64 = 0.05;
/// Half height and half depth of the torso link, a box [m].
pub(super) const TORSO_BOX: [f64; 2] = [0.125, 0.0625];
/// Centre of the torso link in the torso's frame, (forward, up from the hip) [m].
pub(super) const TORSO_CENTRE: [f64; 2] = [0.0, -0.1 - HIP];
/// Mass of the torso link in the robot's description [kg].
pub(super) const TORSO_MASS: f64 = 1.0;
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

/// Positions of a state.
pub(super) fn positions(state: &[f64]) -> Coordinates {
    Coordinates::new(state[0], state[2], state[4], state[6])
}

/// Speeds of a state.
pub(super) fn rates(state: &[f64]) -> Coordinates {
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

    /// Speed at which a wheel turns against its tibia, in metres of its rim [m/s].
    pub fn wheel_speed(&self, state: &[f64]) -> f64 {
        state[1] - WHEEL * state[3]
    }

    /// Torque of a wheel servo that should roll at `speed` [m/s], `τ = clip(forward + kd (ω*−ω))`.
    pub fn wheel_servo(&self, state: &[f64], speed: f64, forward: f64) -> f64 {
        let wanted = speed / WHEEL;
        let rate = state[1] / WHEEL - state[3];
        let torque = forward + self.damping * (wanted - rate);
        torque.clamp(-self.wheel_limit, self.wheel_limit)
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

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use super::*;
    use crate::{random, systems::System as _};

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
