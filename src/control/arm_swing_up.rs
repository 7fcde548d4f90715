//! The arm's swing-up: 6 s of iLQR, from hanging to upright, with the motor in the elbow alone.
//!
//! `|u| ≤ 12`, `R = 0.01`, a running weight of 0.05 on both rates, final weights
//! (400, 40, 400, 40), for the arm with (I2, m2) = (0.35, 1). It is computed once and shipped.

use std::f64::consts::PI;

use super::{ilqr::Ilqr, reference::Reference};
use crate::systems::{SystemError, arm::Arm};

/// The arm that the reference is made for: I2 [kg m²] and m2 [kg].
pub const PARAMETERS: [f64; 2] = [0.35, 1.0];
/// Steps of 0.02 s.
pub(super) const STEPS: usize = 300;
/// Steps from the shipped swing-up to that of another arm.
const STAGES: u32 = 4;
/// The reference, as [`Reference::arm_swing_up_by_ilqr`] made it.
const SHIPPED: &str = include_str!("../../public/references/arm-swing-up.json");

impl Reference {
    /// The shipped swing-up of the arm.
    pub fn arm_swing_up() -> Result<Self, SystemError> {
        serde_json::from_str(SHIPPED)
            .map_err(|error| SystemError::Invalid(format!("the arm's shipped swing-up: {error}")))
    }

    /// Computes the swing-up of the arm anew (half a second).
    pub fn arm_swing_up_by_ilqr() -> Result<Self, SystemError> {
        settings().solve(&Arm::default(), &PARAMETERS, &[0.0; 4], vec![0.0; STEPS])
    }
}

/// The shipped swing-up adjusted to an arm with other parameters, in small steps towards them.
pub(super) fn adjusted(arm: &Arm, parameters: &[f64]) -> Result<Reference, SystemError> {
    let settings = settings();
    let largest = settings.largest_input;
    let unsquash = |u: &f64| largest * (u / largest).clamp(-0.999, 0.999).atanh();
    let mut reference = Reference::arm_swing_up()?;
    if parameters == PARAMETERS {
        return Ok(reference);
    }
    for stage in 1..=STAGES {
        let share = f64::from(stage) / f64::from(STAGES);
        let between: Vec<f64> = PARAMETERS
            .iter()
            .zip(parameters)
            .map(|(from, to)| from + share * (to - from))
            .collect();
        let guess = reference.inputs.iter().map(unsquash).collect();
        reference = settings.solve(arm, &between, &[0.0; 4], guess)?;
    }
    Ok(reference)
}

fn settings() -> Ilqr {
    Ilqr {
        largest_input: 12.0,
        input_weight: 0.01,
        running_weights: vec![0.0, 0.05, 0.0, 0.05],
        final_weights: vec![400.0, 40.0, 400.0, 40.0],
        goal: vec![PI, 0.0, 0.0, 0.0],
        steps: STEPS,
        iterations: 200,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::simulate::{Integrator, simulate};

    #[test]
    fn the_shipped_reference_is_what_ilqr_computes() {
        let shipped = Reference::arm_swing_up().unwrap();
        let computed = Reference::arm_swing_up_by_ilqr().unwrap();
        assert_eq!(shipped.dt, computed.dt);
        assert_eq!(shipped.len(), computed.len());
        for (a, b) in shipped.states.iter().zip(&computed.states) {
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6));
        }
    }

    #[test]
    fn the_shipped_inputs_lead_the_arm_upright() {
        let (arm, shipped) = (Arm::default(), Reference::arm_swing_up().unwrap());
        let states = simulate(
            &arm,
            &PARAMETERS,
            &[0.0; 4],
            &shipped.inputs,
            Integrator::Own,
        )
        .unwrap();
        let [_, tip] = arm.joints(&states[STEPS]);
        assert!(tip[1] > 1.995, "{tip:?}");
        assert!(states[STEPS][1].abs() < 0.1 && states[STEPS][3].abs() < 0.1);
        assert!(shipped.inputs.iter().all(|u| u.abs() < 12.0));
        for (a, b) in shipped.states.iter().flatten().zip(states.iter().flatten()) {
            assert!((a - b).abs() < 1e-9);
        }
    }
}
