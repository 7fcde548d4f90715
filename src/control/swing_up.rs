//! Cartpole swing-up: the pole's energy is pumped until it is upright, where an LQR catches it.
//!
//! With the pole's energy E, zero when it stands upright at rest,
//!
//! ```text
//! E = ½ m l² φ̇² − m g l (1 + cosφ)
//! a = k_E E φ̇ cosφ − k_p y − k_d ẏ
//! u = (M + m sin²φ) a − m sinφ (l φ̇² + g cosφ) − F,   |u| ≤ 10
//! ```
//!
//! u gives the cart the acceleration a, under which `Ė = −m l a φ̇ cosφ` pulls E to zero. Within
//! 0.5 rad of upright and below 3 rad/s the LQR of the discretised model takes over.

use std::f64::consts::PI;

use nalgebra::DVector;

use super::{
    lqr,
    reference::{Reference, wrapped},
};
use crate::systems::{System as _, SystemError, cartpole::Cartpole};

/// Weights of the LQR: cart position, cart speed, pole angle, pole rate.
pub const STATE_WEIGHTS: [f64; 4] = [1.0, 1.0, 10.0, 1.0];
/// Weight of the LQR's input.
const INPUT_WEIGHT: f64 = 0.1;

/// Gains and limits of the swing-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwingUp {
    /// Energy gain k_E [s/(kg m)].
    pub energy_gain: f64,
    /// Pull of the cart to the centre k_p [1/s²].
    pub position_gain: f64,
    /// Damping of the cart k_d [1/s].
    pub speed_gain: f64,
    /// Largest |u| [N].
    pub largest_input: f64,
    /// The LQR acts within this angle of upright [rad] ..
    pub catch_angle: f64,
    /// .. and below this rate [rad/s].
    pub catch_rate: f64,
    /// Angle from hanging at the start [rad]; at rest straight down there is nothing to pump.
    pub start_angle: f64,
}

impl Default for SwingUp {
    fn default() -> Self {
        Self {
            energy_gain: 1.0,
            position_gain: 1.0,
            speed_gain: 1.0,
            largest_input: 10.0,
            catch_angle: 0.5,
            catch_rate: 3.0,
            start_angle: 0.1,
        }
    }
}

impl SwingUp {
    /// The swing-up of a cartpole with φ = (M, m), as a reference of `steps` steps.
    pub fn reference(
        &self,
        cartpole: &Cartpole,
        parameters: &[f64],
        steps: usize,
    ) -> Result<Reference, SystemError> {
        let gain = balance_gain(cartpole, parameters)?;
        let start = [0.0, 0.0, self.start_angle, 0.0];
        Reference::closed_loop(cartpole, parameters, &start, steps, |state, _| {
            self.input(cartpole, parameters, &gain, state)
        })
    }

    fn input(
        &self,
        cartpole: &Cartpole,
        parameters: &[f64],
        gain: &DVector<f64>,
        state: &[f64],
    ) -> f64 {
        let from_upright = wrapped(state[2] - PI);
        let caught = from_upright.abs() < self.catch_angle && state[3].abs() < self.catch_rate;
        let input = if caught {
            let error = [state[0], state[1], from_upright, state[3]];
            -gain.dot(&DVector::from_column_slice(&error))
        } else {
            self.pumping_input(cartpole, parameters, state)
        };
        input.clamp(-self.largest_input, self.largest_input)
    }

    fn pumping_input(&self, cartpole: &Cartpole, parameters: &[f64], state: &[f64]) -> f64 {
        let [cart, pole] = [parameters[0], parameters[1]];
        let (y, speed, rate) = (state[0], state[1], state[3]);
        let (sin, cos) = state[2].sin_cos();
        let (l, g) = (cartpole.length, cartpole.gravity);
        let energy = 0.5 * pole * l * l * rate * rate - pole * g * l * (1.0 + cos);
        let acceleration = self.energy_gain * energy * rate * cos
            - self.position_gain * y
            - self.speed_gain * speed;
        (cart + pole * sin * sin) * acceleration
            - pole * sin * (l * rate * rate + g * cos)
            - cartpole.friction_force(parameters, speed)
    }
}

/// The LQR gain around the pole standing upright at rest.
pub(super) fn balance_gain(
    cartpole: &Cartpole,
    parameters: &[f64],
) -> Result<DVector<f64>, SystemError> {
    cartpole.check(parameters)?;
    let model = lqr::linearise(cartpole, parameters, &[0.0, 0.0, PI, 0.0], 0.0);
    lqr::gain(&model, &STATE_WEIGHTS, INPUT_WEIGHT)
}

/// Steps of the usual swing-up, 10 s.
pub(super) fn steps(cartpole: &Cartpole) -> usize {
    (10.0 / cartpole.time_step) as usize
}

impl Reference {
    /// The swing-up of a cartpole with φ = (M, m), with the usual gains.
    pub fn cartpole_swing_up(cartpole: &Cartpole, parameters: &[f64]) -> Result<Self, SystemError> {
        SwingUp::default().reference(cartpole, parameters, steps(cartpole))
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use super::*;
    use crate::{random, systems::Robot as _};

    /// Time after which the pole stays within 0.1 rad of upright, if it does for a second.
    fn upright_from(reference: &Reference) -> Option<f64> {
        let last = reference
            .states
            .iter()
            .rposition(|x| wrapped(x[2] - PI).abs() > 0.1)?;
        let time = (last + 1) as f64 * reference.dt;
        let end = reference.len() as f64 * reference.dt;
        (time + 1.0 < end).then_some(time)
    }

    #[test]
    fn the_pole_stands_at_the_end_for_random_masses() {
        let cartpole = Cartpole::default();
        let mut rng = random::generator(1, 0);
        let standing = (0..100)
            .filter(|_| {
                let phi = [rng.random_range(1.0..=3.0), rng.random_range(0.2..=0.5)];
                let reference = Reference::cartpole_swing_up(&cartpole, &phi).unwrap();
                upright_from(&reference).is_some()
            })
            .count();
        assert!(standing >= 90, "{standing} of 100");
    }

    #[test]
    fn the_typical_swing_up_is_quick_and_stays_near_the_centre() {
        let cartpole = Cartpole::default();
        let reference = Reference::cartpole_swing_up(&cartpole, &[2.0, 0.3]).unwrap();
        assert!(upright_from(&reference).unwrap() < 6.0);
        assert!(reference.states.iter().all(|x| x[0].abs() < 2.0));
        assert!(reference.inputs.iter().all(|u| u.abs() <= 10.0));
    }

    #[test]
    fn no_speed_limit_acts_along_the_reference() {
        let cartpole = Cartpole::default();
        let phi = [2.0, 0.3];
        let reference = Reference::cartpole_swing_up(&cartpole, &phi).unwrap();
        for (k, u) in reference.inputs.iter().enumerate() {
            let x = reference.features(&cartpole, k);
            assert!((cartpole.inverse(&phi, &x) - u).abs() < 1e-9);
        }
    }

    #[test]
    fn a_cart_without_mass_is_refused() {
        let refused = Reference::cartpole_swing_up(&Cartpole::default(), &[0.0, 0.3]);
        assert!(refused.unwrap_err().to_string().contains("but is 0"));
    }
}
