//! A robot follows its swing-up with an adapted model, as the command line's `camel track` does.

use std::sync::Arc;

use super::{
    evaluate::{EvaluationError, Trial, parameters},
    report::Motion,
    spec::Spec,
};
use crate::{
    control::{
        controllers::inverse_model,
        error::ControlError,
        tracking::Tracking,
        tracking_trials::{self, Correction, SwingsUp, check_shots},
    },
    learners::Model,
    systems::{System, arm::Arm, cartpole::Cartpole},
};

/// Controllers that a followed reference is compared with.
const COMPARED: [&str; 2] = ["analytic", "oracle"];

/// Lets the robot of an experiment follow its swing-up with the adapted model, the textbook and the
/// oracle.
pub fn follow(
    spec: &Spec,
    system: &dyn System,
    model: &Arc<Model>,
) -> Result<Option<Motion>, EvaluationError> {
    match spec.system.as_str() {
        "cartpole" => follow_with(&Cartpole::default(), spec, system, model).map(Some),
        "arm" => follow_with(&Arm::default(), spec, system, model).map(Some),
        _ => Ok(None),
    }
}

/// Refuses an experiment whose robot's swing-up is over before its shots, ere anything is trained.
pub fn check(spec: &Spec) -> Result<(), ControlError> {
    match spec.system.as_str() {
        "cartpole" => check_shots(&Cartpole::default(), spec.shots),
        "arm" => check_shots(&Arm::default(), spec.shots),
        _ => Ok(()),
    }
}

fn follow_with<R: SwingsUp>(
    robot: &R,
    spec: &Spec,
    system: &dyn System,
    model: &Arc<Model>,
) -> Result<Motion, EvaluationError> {
    check_shots(robot, spec.shots)?;
    let phi = parameters(spec, system.description());
    let reference = robot.swing_up(&phi)?;
    let trial = Trial::new(system, &phi, spec.shots, spec.noise, spec.seed)?;
    let run = |method: &str| -> Result<Tracking, ControlError> {
        let shots = (&trial.inputs, trial.targets.as_slice());
        let mut inverse = inverse_model(method, Some(model), robot, &phi, shots)?;
        let kind = Correction::Regulator;
        tracking_trials::follow(robot, &phi, &reference, kind, inverse.as_mut())
    };
    let tracking = run(&spec.method)?;
    let mut compared = Vec::with_capacity(COMPARED.len());
    for method in COMPARED {
        compared.push((method.to_owned(), run(method)?.errors));
    }
    Ok(Motion {
        seconds_a_step: tracking.seconds / tracking.inputs.len().max(1) as f64,
        dt: reference.dt,
        reference: reference.states,
        states: tracking.states,
        errors: tracking.errors,
        success: tracking.upright,
        compared,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::tracking_trials::TrackingTrials, experiments::spec::Draft, learners::weights,
        systems::Split,
    };

    fn shipped(bytes: &[u8]) -> Arc<Model> {
        Arc::new(weights::import(bytes).unwrap())
    }

    #[test]
    fn the_page_follows_as_the_command_line_does() {
        let model = shipped(include_bytes!(
            "../../public/weights/cartpole-camel.safetensors"
        ));
        let robot = Cartpole::default();
        let setting = TrackingTrials {
            shots: 50,
            trials: 1,
            seed: 0,
            correction: Correction::Regulator,
        };
        let cases = setting.cases(&robot).unwrap();
        for method in ["camel", "phi-camel"] {
            let draft = Draft {
                phi: robot.environments(Split::Test, 0)[0].clone(),
                shots: 50,
                ..Draft::recommended("cartpole", method).unwrap()
            };
            let motion = follow(&draft.check().unwrap(), &robot, &model)
                .unwrap()
                .unwrap();
            let report = setting.run(&robot, &cases, method, Some(&model)).unwrap();
            let total: f64 = motion.errors.iter().sum();
            assert!((total / report.total_error.median - 1.0).abs() < 1e-9);
            assert!(motion.success && motion.seconds_a_step > 0.0);
            let names: Vec<_> = motion.compared.iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["analytic", "oracle"]);
            let textbook: f64 = motion.compared[0].1.iter().sum();
            assert!(total < textbook, "{total} {textbook}");
        }
    }

    #[test]
    fn a_heavy_arm_has_its_own_swing_up() {
        let model = shipped(include_bytes!("../../public/weights/arm-camel.safetensors"));
        let draft = Draft {
            phi: vec![0.42, 1.1],
            ..Draft::recommended("arm", "camel").unwrap()
        };
        let motion = follow(&draft.check().unwrap(), &Arm::default(), &model)
            .unwrap()
            .unwrap();
        let oracle: f64 = motion.compared[1].1.iter().sum();
        assert!(
            oracle < 1e-3,
            "the oracle follows what its arm can do: {oracle}"
        );
    }
}
