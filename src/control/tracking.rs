//! Inverse-dynamics tracking (paper, A.3): `u = F(x̄) + K (q̄ − q) + K′ (q̄̇ − q̇)`.
//!
//! The model F predicts the input that the reference's own features x̄ call for; a weak feedback
//! corrects the rest. The better the model, the closer the robot stays to the reference.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use web_time::Instant;

use super::{error::ControlError, feedback::Feedback, plant::Plant, reference::Reference};
use crate::{
    identification::model::{AdaptedModel, AffineModel},
    systems::{Robot, arm::Arm, cartpole::Cartpole},
};

/// Share of the full height that a tip must keep for the robot to count as upright.
const UPRIGHT: f64 = 0.9;
/// Time at the end for which it must [s].
const HOLD: f64 = 0.2;

/// A model of the inverse dynamics: the input that explains features x.
pub trait InverseModel {
    /// The input u for features x.
    fn input(&mut self, features: &[f64]) -> f64;
}

/// A known formula is a model: analytic inverse dynamics, or the oracle's with true parameters.
impl<F: FnMut(&[f64]) -> f64> InverseModel for F {
    fn input(&mut self, features: &[f64]) -> f64 {
        self(features)
    }
}

/// A model that is affine in its weights, adapted to one task.
impl<M: AffineModel> InverseModel for AdaptedModel<M> {
    fn input(&mut self, features: &[f64]) -> f64 {
        self.predict(features)
    }
}

/// A robot with a tip that shall reach the top.
pub trait Tipped: Robot {
    /// Place of the tip [m].
    fn tip(&self, state: &[f64]) -> [f64; 2];

    /// Height of the tip when upright [m].
    fn reach(&self) -> f64;
}

impl Tipped for Cartpole {
    fn tip(&self, state: &[f64]) -> [f64; 2] {
        Cartpole::tip(self, state)
    }

    fn reach(&self) -> f64 {
        self.length
    }
}

impl Tipped for Arm {
    fn tip(&self, state: &[f64]) -> [f64; 2] {
        self.joints(state)[1]
    }

    fn reach(&self) -> f64 {
        let upright = [std::f64::consts::PI, 0.0, 0.0, 0.0];
        self.joints(&upright)[1][1]
    }
}

/// Distance between two tips [m].
pub fn tip_distance(robot: &impl Tipped, state: &[f64], target: &[f64]) -> f64 {
    let (a, b) = (robot.tip(state), robot.tip(target));
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Whether the robot stands upright for the last 0.2 s of these states, `dt` apart.
pub fn ends_upright(robot: &impl Tipped, states: &[Vec<f64>], dt: f64) -> bool {
    let stands = |state: &Vec<f64>| robot.tip(state)[1] > UPRIGHT * robot.reach();
    states.iter().rev().take(held_steps(dt)).all(stands)
}

/// States at the end in which a robot must stand to count as upright.
fn held_steps(dt: f64) -> usize {
    (HOLD / dt).ceil() as usize
}

/// How a tracking run went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tracking {
    /// States, the start first.
    pub states: Vec<Vec<f64>>,
    /// Inputs that were applied.
    pub inputs: Vec<f64>,
    /// Distance of the tip to the reference's after each step [m].
    pub errors: Vec<f64>,
    /// Sum of the errors [m]; infinite if the plant diverged.
    pub total: f64,
    /// Whether the robot stood upright for the last 0.2 s.
    pub upright: bool,
    /// Whether the run ended early because the plant left the finite numbers.
    pub diverged: bool,
    /// Time that the controller took for all inputs [s], of the model and of the feedback but not of the plant.
    pub seconds: f64,
}

/// Tracks a reference from the plant's state to the reference's end, or until the plant diverges.
pub fn track<R: Tipped>(
    plant: &mut Plant<R>,
    reference: &Reference,
    feedback: &impl Feedback,
    model: &mut dyn InverseModel,
) -> Result<Tracking, ControlError> {
    let hold = held_steps(reference.dt);
    if reference.len() < hold {
        return Err(ControlError::TooShortToStand {
            steps: reference.len(),
            hold,
        });
    }
    let mut states = vec![plant.state().to_vec()];
    let (mut inputs, mut errors) = (Vec::new(), Vec::new());
    let (mut diverged, mut spent) = (false, Duration::ZERO);
    for (k, target) in reference.states.iter().enumerate().take(reference.len()) {
        let begun = Instant::now();
        let predicted = model.input(&reference.features(plant.robot(), k));
        let input = predicted + feedback.input(k, plant.state(), target);
        spent += begun.elapsed();
        let applied = ControlError::survived(plant.apply(input).map(<[f64]>::to_vec))?;
        let Some(state) = applied else {
            diverged = true;
            break;
        };
        errors.push(tip_distance(
            plant.robot(),
            &state,
            &reference.states[k + 1],
        ));
        states.push(state);
        inputs.push(input);
    }
    Ok(Tracking {
        upright: !diverged && ends_upright(plant.robot(), &states, reference.dt),
        total: if diverged {
            f64::INFINITY
        } else {
            errors.iter().sum()
        },
        seconds: spent.as_secs_f64(),
        states,
        inputs,
        errors,
        diverged,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::feedback::{StateFeedback, TipFeedback, TrajectoryFeedback};

    fn swing_up(friction: bool, feedback: &dyn Fn(&Reference) -> Box<dyn Feedback>) -> Tracking {
        let robot = Cartpole::default();
        let phi = [2.0, 0.3];
        let reference = Reference::cartpole_swing_up(&robot, &phi).unwrap();
        let start = &reference.states[0];
        let mut plant = Plant::new(robot.clone(), &phi, start, 0.0, 0).unwrap();
        let mut model = |x: &[f64]| match friction {
            true => robot.inverse(&phi, x),
            false => robot.analytic_inverse(&phi, x),
        };
        track(&mut plant, &reference, &feedback(&reference), &mut model).unwrap()
    }

    #[test]
    fn the_oracle_swings_up_and_the_frictionless_model_strays() {
        let robot = Cartpole::default();
        let stable = |reference: &Reference| -> Box<dyn Feedback> {
            let nominal = [1.5, 0.35];
            Box::new(TrajectoryFeedback::cartpole(
                &robot, &nominal, reference, 10.0,
            ))
        };
        let (oracle, textbook) = (swing_up(true, &stable), swing_up(false, &stable));
        assert!(oracle.upright && oracle.total < 1e-6, "{}", oracle.total);
        assert!(textbook.total > 20.0, "{}", textbook.total);
        let weak = |_: &Reference| -> Box<dyn Feedback> {
            Box::new(TipFeedback::swing_up(Cartpole::default()))
        };
        assert!(swing_up(true, &weak).upright);
        assert!(swing_up(false, &weak).total > textbook.total);
    }

    #[test]
    fn the_arm_follows_its_swing_up_with_the_exact_model() {
        let robot = Arm::default();
        let phi = [0.35, 1.0];
        let reference = Reference::arm_swing_up().unwrap();
        let start = &reference.states[0];
        let mut plant = Plant::new(robot.clone(), &phi, start, 0.0, 0).unwrap();
        let mut model = |x: &[f64]| robot.inverse(&phi, x);
        let run = track(&mut plant, &reference, &StateFeedback::arm(), &mut model).unwrap();
        assert!(run.upright, "total {}", run.total);
    }

    #[test]
    fn a_run_that_diverges_is_kept_up_to_there_and_is_no_success() {
        let robot = Cartpole::default();
        let phi = [2.0, 0.3];
        let reference = Reference::cartpole_swing_up(&robot, &phi).unwrap();
        let mut plant = Plant::new(robot.clone(), &phi, &reference.states[0], 0.0, 0).unwrap();
        let mut calls = 0;
        let mut broken = |_: &[f64]| {
            calls += 1;
            if calls > 7 { f64::NAN } else { 0.0 }
        };
        let feedback = TipFeedback::swing_up(robot);
        let run = track(&mut plant, &reference, &feedback, &mut broken).unwrap();
        assert!(run.diverged && !run.upright && run.total.is_infinite());
        assert_eq!((run.states.len(), run.errors.len()), (8, 7));
    }

    /// A part of a controller that takes two milliseconds.
    struct Slow;

    const PAUSE: Duration = Duration::from_millis(2);

    impl Feedback for Slow {
        fn input(&self, _step: usize, _state: &[f64], _target: &[f64]) -> f64 {
            std::thread::sleep(PAUSE);
            0.0
        }
    }

    #[test]
    fn the_time_of_the_controller_is_that_of_its_feedback_too() {
        let robot = Cartpole::default();
        let phi = [2.0, 0.3];
        let reference = Reference::open_loop(&robot, &phi, &[0.0; 4], vec![0.0; 20]).unwrap();
        let mut plant = Plant::new(robot, &phi, &[0.0; 4], 0.0, 0).unwrap();
        let mut slow = |_: &[f64]| {
            std::thread::sleep(PAUSE);
            0.0
        };
        let run = track(&mut plant, &reference, &Slow, &mut slow).unwrap();
        assert!(run.seconds >= 40.0 * PAUSE.as_secs_f64(), "{run:?}");
    }

    #[test]
    fn a_reference_too_short_to_judge_is_refused() {
        let robot = Cartpole::default();
        let short = Reference::open_loop(&robot, &[2.0, 0.3], &[0.0; 4], vec![0.0; 3]).unwrap();
        let mut plant = Plant::new(robot.clone(), &[2.0, 0.3], &[0.0; 4], 0.0, 0).unwrap();
        let mut nothing = |_: &[f64]| 0.0;
        let feedback = TipFeedback::swing_up(robot);
        let error = track(&mut plant, &short, &feedback, &mut nothing).unwrap_err();
        let said = "the reference has 3 steps, but a robot must stand for 10 at its end";
        assert_eq!(error.to_string(), said);
    }
}
