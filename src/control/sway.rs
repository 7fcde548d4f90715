//! A show for the cartpole: it swings up, then sways upright for ever.
//!
//! Upright, an LQR follows `ȳ = A sin(2πt/T)` while a quicker push `a sin(2πt/τ)` shakes the cart.
//! Without the push, only the sum of both masses could be told: in slow motion the pole leans by
//! −ÿ/g, so that both masses ask for the same force.

use std::f64::consts::{PI, TAU};

use nalgebra::DVector;

use super::{
    reference::{Reference, wrapped},
    swing_up::{SwingUp, balance_gain},
};
use crate::systems::{SystemError, cartpole::Cartpole};

/// Steps of the swing-up; then the pole is upright.
pub const UPRIGHT_FROM: usize = 250;
/// The sway is the same after this number of steps, 4 s.
pub const PERIOD: usize = 200;
/// A step of the sway from which it repeats itself.
const SETTLED: usize = 1_000;
/// Amplitude A of the sway [m].
const SWAY: f64 = 0.6;
/// Amplitude a of the push [N].
const PUSH: f64 = 3.0;
/// Pushes in a period of the sway.
const PUSHES: f64 = 4.0;
/// Time in which sway and push grow to their amplitudes [s].
const FADE: f64 = 3.0;

/// Swing-up and sway.
#[derive(Clone, Debug)]
pub struct Show {
    /// The trajectory, longer than it is followed so that a regulator along it has a horizon.
    pub reference: Reference,
    /// Steps after the last of which the first comes again.
    pub repeats: (usize, usize),
}

impl Show {
    /// The show of a cartpole with φ = (M, m). Its states suit any masses.
    pub fn new(cartpole: &Cartpole, parameters: &[f64]) -> Result<Self, SystemError> {
        let swing_up = SwingUp {
            energy_gain: 0.7,
            position_gain: 2.0,
            ..SwingUp::default()
        };
        let gain = balance_gain(cartpole, parameters)?;
        let up = swing_up.reference(cartpole, parameters, UPRIGHT_FROM)?;
        let steps = SETTLED + 2 * PERIOD;
        let start = up.states[0].clone();
        let reference =
            Reference::closed_loop(cartpole, parameters, &start, steps, |state, step| match up
                .inputs
                .get(step)
            {
                Some(&input) => input,
                None => sway(&gain, state, (step - UPRIGHT_FROM) as f64 * up.dt, up.dt),
            })?;
        Ok(Self {
            reference,
            repeats: (SETTLED, SETTLED + PERIOD),
        })
    }
}

/// The input of the sway at time `t` since the swing-up.
fn sway(gain: &DVector<f64>, state: &[f64], t: f64, dt: f64) -> f64 {
    let rate = TAU / (PERIOD as f64 * dt);
    let grown = (t / FADE).min(1.0);
    let (sin, cos) = (rate * t).sin_cos();
    let error = [
        state[0] - grown * SWAY * sin,
        state[1] - grown * SWAY * rate * cos,
        wrapped(state[2] - PI),
        state[3],
    ];
    grown * PUSH * (PUSHES * rate * t).sin() - gain.dot(&DVector::from_column_slice(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show() -> Show {
        Show::new(&Cartpole::default(), &[1.5, 0.3]).unwrap()
    }

    #[test]
    fn the_pole_is_up_within_five_seconds_and_stays_up() {
        let states = show().reference.states;
        let lean = |state: &Vec<f64>| wrapped(state[2] - PI).abs();
        assert!(states[..50].iter().all(|state| lean(state) > 2.0));
        assert!(states[UPRIGHT_FROM..].iter().all(|state| lean(state) < 0.3));
        assert!(states.iter().all(|state| state[0].abs() < 1.6));
    }

    #[test]
    fn the_sway_repeats_itself() {
        let Show { reference, repeats } = show();
        let (a, b) = (&reference.states[repeats.0], &reference.states[repeats.1]);
        assert!(
            a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3),
            "{a:?} {b:?}"
        );
        assert!(repeats.1 < reference.len());
    }
}
