//! Swing-ups followed with different models (paper, A.3): tracking error and success over trials.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    arm_swing_up,
    controllers::{Textbook, inverse_model},
    error::{ControlError, check_length},
    feedback::{Feedback, StateFeedback, TipFeedback, TrajectoryFeedback},
    plant::Plant,
    reference::Reference,
    shots::Shots,
    swing_up,
    tracking::{InverseModel, Tipped, Tracking, ends_upright, track},
};
use crate::{
    identification::trials::{Summary, check_trials, test_environment},
    learners::Model,
    systems::{Split, SystemError, arm::Arm, cartpole::Cartpole},
};

/// Points of the error over time that a report keeps.
const POINTS: usize = 60;

/// What corrects the predicted input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// The paper's weak gains, which cannot hold a pole upright by themselves.
    Paper,
    /// The regulator along the reference, with nominal parameters.
    #[default]
    Regulator,
}

/// A robot with a swing-up.
pub trait SwingsUp: Textbook + Tipped + Clone + 'static {
    /// Steps of its swing-ups.
    fn swing_up_steps(&self) -> usize;

    /// The swing-up for these parameters.
    fn swing_up(&self, parameters: &[f64]) -> Result<Reference, SystemError>;

    /// The feedback along it.
    fn correction(&self, reference: &Reference, kind: Correction) -> Box<dyn Feedback>;
}

impl SwingsUp for Cartpole {
    fn swing_up_steps(&self) -> usize {
        swing_up::steps(self)
    }

    fn swing_up(&self, parameters: &[f64]) -> Result<Reference, SystemError> {
        Reference::cartpole_swing_up(self, parameters)
    }

    fn correction(&self, reference: &Reference, kind: Correction) -> Box<dyn Feedback> {
        match kind {
            Correction::Paper => Box::new(TipFeedback::swing_up(self.clone())),
            Correction::Regulator => Box::new(TrajectoryFeedback::cartpole(
                self,
                &[1.5, 0.35],
                reference,
                10.0,
            )),
        }
    }
}

impl SwingsUp for Arm {
    fn swing_up_steps(&self) -> usize {
        arm_swing_up::STEPS
    }

    fn swing_up(&self, parameters: &[f64]) -> Result<Reference, SystemError> {
        arm_swing_up::adjusted(self, parameters)
    }

    fn correction(&self, reference: &Reference, kind: Correction) -> Box<dyn Feedback> {
        match kind {
            Correction::Paper => Box::new(StateFeedback::arm()),
            Correction::Regulator => Box::new(TrajectoryFeedback::new(
                self,
                &arm_swing_up::PARAMETERS,
                reference,
                &[10.0, 1.0, 10.0, 1.0],
                1.0,
            )),
        }
    }
}

/// What is done in every trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackingTrials {
    /// Samples of each environment to adapt to.
    pub shots: usize,
    /// Test environments.
    pub trials: usize,
    /// Seed of the environments and their samples.
    pub seed: u64,
    /// What corrects the predicted input.
    pub correction: Correction,
}

/// How one method followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackingReport {
    /// Name of the controller.
    pub method: String,
    /// Sum of the tip's distances to the reference's over a run [m], infinite where it diverged.
    pub total_error: Summary,
    /// Runs in which the plant diverged.
    #[serde(default)]
    pub diverged: usize,
    /// Share of runs that ended upright.
    pub success: f64,
    /// Median distance of the tip over time: seconds and metres.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_over_time: Vec<(f64, f64)>,
}

/// One test environment with its swing-up.
#[derive(Clone, Debug)]
pub struct Case {
    parameters: Vec<f64>,
    seed: u64,
    reference: Reference,
}

impl TrackingTrials {
    /// Refuses what no trial could do, before any swing-up is solved.
    fn check(&self, robot: &impl SwingsUp) -> Result<(), ControlError> {
        check_trials(self.trials)?;
        let (parameters, seed) = test_environment(robot, 0, self.seed);
        Shots::of(robot, &parameters, self.shots, 0.0, seed)?;
        check_shots(robot, self.shots)
    }

    /// The test environments and their swing-ups, which all controllers share.
    pub fn cases<R: SwingsUp>(&self, robot: &R) -> Result<Vec<Case>, ControlError> {
        self.check(robot)?;
        let mut cases = Vec::with_capacity(self.trials);
        for seed in self.seed.. {
            let round = robot.environments(Split::Test, seed);
            if cases.len() >= self.trials || round.is_empty() {
                break;
            }
            for parameters in round.into_iter().take(self.trials - cases.len()) {
                let reference = robot.swing_up(&parameters)?;
                if !ends_upright(robot, &reference.states, reference.dt) {
                    return Err(ControlError::NoSwingUp { parameters });
                }
                cases.push(Case {
                    reference,
                    parameters,
                    seed,
                });
            }
        }
        Ok(cases)
    }

    /// Lets one controller follow in every test environment.
    pub fn run<R: SwingsUp>(
        &self,
        robot: &R,
        cases: &[Case],
        method: &str,
        model: Option<&Arc<Model>>,
    ) -> Result<TrackingReport, ControlError> {
        let mut runs = Vec::with_capacity(cases.len());
        for case in cases {
            runs.push(self.follow(robot, case, method, model)?);
        }
        let upright = runs.iter().filter(|run| run.upright).count();
        let totals: Vec<f64> = runs.iter().map(|run| run.total).collect();
        Ok(TrackingReport {
            method: method.to_owned(),
            total_error: Summary::of(&totals),
            diverged: runs.iter().filter(|run| run.diverged).count(),
            success: upright as f64 / cases.len().max(1) as f64,
            error_over_time: over_time(&runs, robot.time_step()),
        })
    }

    fn follow<R: SwingsUp>(
        &self,
        robot: &R,
        case: &Case,
        method: &str,
        model: Option<&Arc<Model>>,
    ) -> Result<Tracking, ControlError> {
        let Case {
            parameters,
            seed,
            reference,
        } = case;
        let Shots { inputs, targets } = Shots::of(robot, parameters, self.shots, 0.0, *seed)?;
        let shots = (&inputs, targets.as_slice());
        let mut inverse = inverse_model(method, model, robot, parameters, shots)?;
        follow(
            robot,
            parameters,
            reference,
            self.correction,
            inverse.as_mut(),
        )
    }
}

/// Refuses a robot whose swing-ups do not outlast the shots that a model adapts to.
pub fn check_shots(robot: &impl SwingsUp, shots: usize) -> Result<(), ControlError> {
    check_length(robot.swing_up_steps(), shots)
}

/// Lets a robot with these parameters follow a swing-up with a model.
pub fn follow<R: SwingsUp>(
    robot: &R,
    parameters: &[f64],
    reference: &Reference,
    correction: Correction,
    model: &mut dyn InverseModel,
) -> Result<Tracking, ControlError> {
    let feedback = robot.correction(reference, correction);
    let mut plant = Plant::new(robot.clone(), parameters, &reference.states[0], 0.0, 0)?;
    track(&mut plant, reference, &feedback, model)
}

/// Median error over the runs at every so many steps.
fn over_time(runs: &[Tracking], dt: f64) -> Vec<(f64, f64)> {
    let steps = runs.iter().map(|run| run.errors.len()).max().unwrap_or(0);
    let at = |run: &Tracking, step: usize| run.errors.get(step).copied().unwrap_or(f64::INFINITY);
    (0..steps)
        .step_by((steps / POINTS).max(1))
        .map(|step| {
            let errors: Vec<f64> = runs.iter().map(|run| at(run, step)).collect();
            ((step + 1) as f64 * dt, Summary::of(&errors).median)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::weights;

    fn trials(correction: Correction) -> TrackingTrials {
        TrackingTrials {
            shots: 50,
            trials: 8,
            seed: 0,
            correction,
        }
    }

    #[test]
    fn a_learned_model_follows_the_cartpole_better_than_the_textbook() {
        let bytes = include_bytes!("../../public/weights/cartpole-camel.safetensors");
        let camel = Arc::new(weights::import(bytes).unwrap());
        let robot = Cartpole::default();
        let setting = trials(Correction::Regulator);
        let cases = setting.cases(&robot).unwrap();
        let run = |method| setting.run(&robot, &cases, method, Some(&camel)).unwrap();
        let [oracle, camel, textbook] = ["oracle", "camel", "analytic"].map(run);
        assert_eq!([oracle.success, camel.success], [1.0, 1.0]);
        assert!(oracle.total_error.max < 1e-6, "{oracle:?}");
        assert!(camel.total_error.median < 0.5 * textbook.total_error.median);
        assert!(camel.error_over_time.len() >= POINTS);
    }

    fn every_shipped_method_gives_figures(robot: &impl SwingsUp, system: &str) {
        let setting = TrackingTrials {
            trials: 3,
            ..trials(Correction::Regulator)
        };
        let cases = setting.cases(robot).unwrap();
        for method in ["camel", "anil", "coda", "maml", "r2d2", "cavia"] {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/public/weights");
            let bytes = std::fs::read(format!("{folder}/{system}-{method}.safetensors")).unwrap();
            let model = Arc::new(weights::import(&bytes).unwrap());
            let report = setting.run(robot, &cases, method, Some(&model)).unwrap();
            assert!(report.total_error.max.is_finite(), "{report:?}");
            assert_eq!(report.diverged, 0, "{report:?}");
            let over_time = report.error_over_time;
            assert!(over_time.iter().all(|(_, error)| error.is_finite()));
        }
    }

    #[test]
    fn every_shipped_method_gives_figures_for_the_cartpole() {
        every_shipped_method_gives_figures(&Cartpole::default(), "cartpole");
    }

    #[test]
    fn every_shipped_method_gives_figures_for_the_arm() {
        every_shipped_method_gives_figures(&Arm::default(), "arm");
    }

    #[test]
    fn a_learned_model_follows_the_arm_better_than_the_textbook() {
        let bytes = include_bytes!("../../public/weights/arm-camel.safetensors");
        let camel = Arc::new(weights::import(bytes).unwrap());
        let robot = Arm::default();
        let setting = TrackingTrials {
            trials: 5,
            ..trials(Correction::Regulator)
        };
        let cases = setting.cases(&robot).unwrap();
        let run = |method| setting.run(&robot, &cases, method, Some(&camel)).unwrap();
        let [camel, textbook] = ["camel", "analytic"].map(run);
        assert!(camel.total_error.median < textbook.total_error.median);
        assert!(camel.success >= textbook.success, "{camel:?}");
    }

    #[test]
    fn runs_that_diverge_are_counted_and_not_left_out() {
        let run = |errors: Vec<f64>, diverged: bool| Tracking {
            states: Vec::new(),
            inputs: Vec::new(),
            total: if diverged { f64::INFINITY } else { 1.0 },
            errors,
            upright: !diverged,
            diverged,
            seconds: 0.0,
        };
        let runs = [run(vec![0.1, 0.2], false), run(vec![0.1], true)];
        let last = over_time(&runs, 0.02).pop().unwrap();
        assert!(last.1.is_infinite(), "{last:?}");
    }

    #[test]
    fn the_oracle_swings_the_arms_up() {
        let (setting, robot) = (trials(Correction::Regulator), Arm::default());
        let cases = setting.cases(&robot).unwrap();
        let oracle = setting.run(&robot, &cases, "oracle", None).unwrap();
        assert_eq!(oracle.success, 1.0, "{oracle:?}");
    }

    #[test]
    fn a_swing_up_that_is_over_before_the_shots_is_refused_with_both_numbers() {
        let setting = TrackingTrials {
            shots: 300,
            trials: 1,
            ..trials(Correction::Regulator)
        };
        let said = setting.cases(&Arm::default()).unwrap_err().to_string();
        let expected = "the reference has 300 steps, but adaptation alone takes 300";
        assert_eq!(said, expected);
        assert!(check_shots(&Arm::default(), 299).is_ok());
    }

    #[test]
    fn swing_ups_have_the_steps_that_are_told_before_they_are_solved() {
        fn solved(robot: &impl SwingsUp) {
            let parameters = &robot.environments(Split::Test, 0)[0];
            let steps = robot.swing_up(parameters).unwrap().len();
            assert_eq!(steps, robot.swing_up_steps());
        }
        solved(&Cartpole::default());
        solved(&Arm::default());
    }

    #[test]
    fn more_shots_than_there_are_are_refused_with_the_number() {
        let setting = TrackingTrials {
            shots: 100_000,
            trials: 1,
            ..trials(Correction::Paper)
        };
        let error = setting.cases(&Cartpole::default()).unwrap_err();
        assert!(error.to_string().ends_with("but is 100000"), "{error}");
    }
}
