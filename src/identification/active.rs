//! Active sensing over many trials: what planned measurements gain over usual ones.
//!
//! On a static field the planned points are D-optimal for the learned features, the usual ones are
//! random. A robot plays the most exciting of many inputs, against the sine of the adaptive run.
//! Both plans are made before anything is measured, from the learned model and the prior alone.

use rand::seq::index;
use rand_distr::{Distribution as _, StandardNormal};
use serde::{Deserialize, Serialize};

use super::{
    excitation::{ExcitationLimits, exciting_input},
    identifier::Identifier,
    model::{AffineModel, feature_rows},
    trials::{Summary, TrialError, check_count, check_trials, test_environment},
};
use crate::{
    random::generator,
    systems::{Robot, Samples, Split, System, cartpole::Cartpole, trajectories::Sine},
};

/// Stream of the measurement noise in a trial's seed.
const NOISE_STREAM: u64 = 0xac71;
/// Stream of the random points in the seed.
const POINT_STREAM: u64 = 0xac72;
/// Inputs among which the most exciting one is chosen.
const CANDIDATES: usize = 300;

/// Errors after a number of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActivePoint {
    /// Measurements made.
    pub samples: usize,
    /// Relative errors with planned measurements, of each trial the mean over the parameters.
    pub planned: Summary,
    /// The same with usual ones.
    pub usual: Summary,
}

/// Planned against usual measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActiveReport {
    /// Name of the system.
    pub system: String,
    /// How measurements are planned.
    pub planned: String,
    /// What they are compared with.
    pub usual: String,
    /// Test environments.
    pub trials: usize,
    /// Noise of a measurement, in the target's unit.
    pub noise: f64,
    /// Errors against the number of measurements.
    pub curve: Vec<ActivePoint>,
}

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActiveTrials {
    /// Test environments, 1 to 10,000.
    pub trials: usize,
    /// Most measurements.
    pub samples: usize,
    /// Noise of a measurement, in the target's unit.
    pub noise: f64,
    /// Seed of environments and noise.
    pub seed: u64,
}

/// Measurements in the order in which they are made.
type Shots = (Samples, Vec<f64>);
/// Makes the planned and the usual measurements in an environment, for a seed.
type Measure<'a> = &'a mut dyn FnMut(&[f64], u64) -> Result<[Shots; 2], TrialError>;

impl ActiveTrials {
    /// Points of a static field.
    pub fn points<M: AffineModel + Clone>(
        &self,
        system: &dyn System,
        identifier: &mut Identifier<M>,
    ) -> Result<ActiveReport, TrialError> {
        let design = identifier.design(self.noise)?;
        let mut physical = identifier.model().clone();
        let mut rng = generator(self.seed, POINT_STREAM);
        let mut shots = |parameters: &[f64], seed: u64| {
            let task = system.task(parameters, Split::Test, seed)?;
            check_count(
                "the number of points",
                self.samples,
                (1, task.targets.len()),
            )?;
            let features = feature_rows(&mut physical, &task.inputs);
            let chosen = design.clone().greedy(&features, self.samples)?;
            let at = |rows: &[usize]| {
                let values = rows.iter().flat_map(|&row| task.inputs.row(row)).copied();
                let inputs = Samples {
                    dim: task.inputs.dim,
                    values: values.collect(),
                };
                (inputs, rows.iter().map(|&row| task.targets[row]).collect())
            };
            // The rows of a task may be those of a grid, in order.
            let random = index::sample(&mut rng, task.targets.len(), self.samples).into_vec();
            Ok([at(&chosen), at(&random)])
        };
        let names = ["D-optimal points", "random points"];
        self.run(system, identifier, names, &mut shots)
    }

    /// An input for the cartpole, which hangs at rest at the beginning.
    pub fn excitation<M: AffineModel + Clone>(
        &self,
        cartpole: &Cartpole,
        identifier: &mut Identifier<M>,
    ) -> Result<ActiveReport, TrialError> {
        check_count("the number of steps", self.samples, (1, 10_000))?;
        let limits = ExcitationLimits::cartpole(self.samples);
        let exciting = exciting_input(
            cartpole,
            &identifier.prior().centre.clone(),
            &[0.0; 4],
            &limits,
            &mut identifier.model().clone(),
            &identifier.design(self.noise)?,
            (CANDIDATES, self.seed),
        )?;
        let sine = Sine {
            amplitude: limits.peak,
            period: 500.0 * cartpole.time_step,
            phase: 0.0,
        };
        let sine = sine.samples(self.samples, cartpole.time_step);
        let exciting = exciting.map_or_else(|| sine.clone(), |found| found.inputs);
        let mut shots = |parameters: &[f64], _: u64| {
            Ok([&exciting, &sine].map(|inputs| played(cartpole, parameters, inputs)))
        };
        let names = ["exciting input", "sine"];
        self.run(cartpole, identifier, names, &mut shots)
    }

    fn run<M: AffineModel>(
        &self,
        system: &dyn System,
        identifier: &mut Identifier<M>,
        [planned, usual]: [&str; 2],
        shots: Measure,
    ) -> Result<ActiveReport, TrialError> {
        check_trials(self.trials)?;
        let counts = counts(system.description().parameters.len(), self.samples);
        let mut errors = vec![[Vec::new(), Vec::new()]; counts.len()];
        for trial in 0..self.trials {
            let (parameters, seed) = test_environment(system, trial, self.seed);
            let mut both = shots(&parameters, seed)?;
            for (kind, (inputs, targets)) in both.iter_mut().enumerate() {
                let mut rng = generator(self.seed.wrapping_add(trial as u64), NOISE_STREAM);
                for target in targets.iter_mut() {
                    let error: f64 = StandardNormal.sample(&mut rng);
                    *target += self.noise * error;
                }
                for (slot, &count) in counts.iter().enumerate() {
                    let first = Samples {
                        dim: inputs.dim,
                        values: inputs.values[..count * inputs.dim].to_vec(),
                    };
                    let found = identifier.identify(&first, &targets[..count], self.noise)?;
                    let found = found.estimate.values.iter().zip(&parameters);
                    let off: f64 = found.map(|(v, t)| (v / t - 1.0).abs()).sum();
                    errors[slot][kind].push(off / parameters.len() as f64);
                }
            }
        }
        Ok(ActiveReport {
            system: system.description().name.to_owned(),
            planned: planned.to_owned(),
            usual: usual.to_owned(),
            trials: self.trials,
            noise: self.noise,
            curve: counts
                .iter()
                .zip(&errors)
                .map(|(&samples, [planned, usual])| ActivePoint {
                    samples,
                    planned: Summary::of(planned),
                    usual: Summary::of(usual),
                })
                .collect(),
        })
    }
}

/// Numbers of measurements after which errors are looked at: about ten of them.
fn counts(first: usize, last: usize) -> Vec<usize> {
    let step = last.saturating_sub(first).div_ceil(9).max(1);
    let mut counts: Vec<usize> = (first.min(last)..last).step_by(step).collect();
    counts.push(last);
    counts
}

/// Features and inputs while the robot plays an input from rest.
fn played(robot: &dyn Robot, parameters: &[f64], inputs: &[f64]) -> Shots {
    let mut state = vec![0.0; robot.state().len()];
    let mut values = Vec::new();
    for &input in inputs {
        let next = robot.step(parameters, &state, input);
        values.extend(robot.features(&state, &next));
        state = next;
    }
    let dim = values.len() / inputs.len().max(1);
    (Samples { dim, values }, inputs.to_vec())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        identification::{
            affine_map::Offset, identifier::Prior, model::PhysicalModel, residuals::ResidualModel,
        },
        learners::weights,
        systems::{self, charges::Charges},
    };

    /// The exact features of point charges.
    #[derive(Clone)]
    struct Exact(Arc<Charges>);

    impl AffineModel for Exact {
        fn size(&self) -> usize {
            self.0.sites().len()
        }

        fn features_into(&mut self, inputs: &[f64], features: &mut [f64]) -> f64 {
            let point = Samples {
                dim: 2,
                values: inputs.to_vec(),
            };
            features.copy_from_slice(self.0.features(&point).as_slice());
            0.0
        }
    }

    #[test]
    fn planned_points_identify_charges_better_than_random_ones() {
        let system = Arc::new(Charges::quadrupole());
        let phi = system.environments(Split::Train, 0);
        let exact = Exact(system.clone());
        let model = PhysicalModel::of_tasks(exact, &phi, &phi, Offset::Zero).unwrap();
        let residuals = ResidualModel::white(1e-3).unwrap();
        let mut identifier = Identifier::from_parts(model, residuals, Prior::of_tasks(&phi));
        let setting = ActiveTrials {
            trials: 30,
            samples: 10,
            noise: 0.05,
            seed: 1,
        };
        let report = setting.points(system.as_ref(), &mut identifier).unwrap();
        for point in &report.curve[1..] {
            assert!(point.planned.median < point.usual.median, "{point:?}");
        }
    }

    macro_rules! shipped {
        ($name:literal) => {{
            let bytes = include_bytes!(concat!(
                "../../public/weights/",
                $name,
                "-camel.safetensors"
            ));
            let model = Arc::new(weights::import(bytes).unwrap());
            let system = systems::by_name($name).unwrap();
            let identifier = Identifier::of_model(&model, system.as_ref(), 0).unwrap();
            (system, identifier)
        }};
    }

    #[test]
    fn planned_points_are_better_with_learned_features_too() {
        for ((system, mut identifier), trials) in [
            (shipped!("charges-pair"), 100),
            (shipped!("charges-dipole"), 100),
            (shipped!("charges-quadrupole"), 100),
            (shipped!("capacitor-eps"), 20),
        ] {
            let setting = ActiveTrials {
                trials,
                samples: 12,
                noise: 0.05,
                seed: 60_000,
            };
            let report = setting.points(system.as_ref(), &mut identifier).unwrap();
            for point in &report.curve {
                let ActivePoint { planned, usual, .. } = point;
                println!(
                    "{}: {:.4}, {:.4}",
                    report.system, planned.median, usual.median
                );
                assert!(
                    planned.median < usual.median,
                    "{}: {point:?}",
                    report.system
                );
                // Random points are now and then all in a bad place, which the mean tells of.
                assert!(planned.mean < usual.mean, "{}: {point:?}", report.system);
            }
        }
    }

    #[test]
    fn an_exciting_input_identifies_the_cartpole_faster_than_the_sine() {
        let (_, mut identifier) = shipped!("cartpole");
        let robot = Cartpole::default();
        let setting = ActiveTrials {
            trials: 100,
            samples: 60,
            noise: 0.05,
            seed: 60_000,
        };
        let report = setting.excitation(&robot, &mut identifier).unwrap();
        let late = report.curve.iter().filter(|point| point.samples >= 20);
        for point in late {
            assert!(point.planned.median < 0.5 * point.usual.median, "{point:?}");
        }
    }

    #[test]
    fn errors_are_looked_at_about_ten_times() {
        assert_eq!(counts(2, 20), [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
        assert_eq!(counts(4, 3), [3]);
    }
}
