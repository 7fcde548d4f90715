//! Figures of merit of identification: errors and coverage over random environments.

use serde::{Deserialize, Serialize};

use super::{error::IdentificationError, identifier::Identified, quantile::NOMINAL_95};
use crate::systems::{Samples, Split, System, SystemError, Task};

/// Median, mean and maximum of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Median.
    pub median: f64,
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub max: f64,
}

impl Summary {
    /// Of a sample; not a number if it is empty.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self {
            median: median_of_sorted(&sorted),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            max: sorted.last().copied().unwrap_or(f64::NAN),
        }
    }
}

/// The median of a sorted sample; not a number if it is empty.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => {
            // Two infinite neighbours have an infinite median, not an undefined one.
            let (low, high) = (sorted[n / 2 - 1], sorted[n / 2]);
            if low == high { low } else { (low + high) / 2.0 }
        }
    }
}

/// Errors of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterErrors {
    /// Name of the parameter.
    pub name: String,
    /// |estimate / truth − 1|.
    pub relative_error: Summary,
    /// Share of trials whose 95 % interval holds the truth; `None` without error bars.
    pub coverage_95: Option<f64>,
}

/// Identification over many environments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdentifyReport {
    /// Name of the system.
    pub system: String,
    /// Shots of each trial.
    pub shots: usize,
    /// Environments.
    pub trials: usize,
    /// Over all parameters.
    pub relative_error: Summary,
    /// Over all parameters; `None` without error bars.
    pub coverage_95: Option<f64>,
    /// Share of the parameters that the shots determine.
    pub determined: f64,
    /// Least number of directions of the parameters that the shots of a trial move.
    pub rank: usize,
    /// Condition number of the shots; `null` where a direction is not moved at all.
    pub condition: Summary,
    /// Whether the error bars are those of a map from contexts to parameters alone, without what the shots leave
    /// open.
    pub map_alone: bool,
    /// Parameter by parameter.
    pub parameters: Vec<ParameterErrors>,
}

/// Why trials could not be run.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum TrialError {
    /// An environment could not be made.
    #[error(transparent)]
    System(#[from] SystemError),
    /// A trial could not be identified.
    #[error(transparent)]
    Identification(#[from] IdentificationError),
    /// A number of trials or shots that makes no sense.
    #[error("{name} must be between {min} and {max}, but is {value}")]
    Count {
        /// What is counted.
        name: &'static str,
        /// Given number.
        value: usize,
        /// Smallest allowed.
        min: usize,
        /// Largest allowed.
        max: usize,
    },
}

/// Checks a number of trials, shots or steps.
pub(crate) fn check_count(
    name: &'static str,
    value: usize,
    (min, max): (usize, usize),
) -> Result<(), TrialError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(TrialError::Count {
        name,
        value,
        min,
        max,
    })
}

/// Refuses a number of trials that nobody would wait for.
pub fn check_trials(trials: usize) -> Result<(), TrialError> {
    check_count("the number of trials", trials, (1, 10_000))
}

/// Maps shots to parameters.
pub type Identify<'a> =
    &'a mut dyn FnMut(&Samples, &[f64]) -> Result<Identified, IdentificationError>;

/// Identifies `trials` test environments from their first `shots` samples each. `identify` maps
/// shots to an estimate; standard errors of zero length mean that it gives no error bars.
pub fn identify_trials(
    system: &dyn System,
    shots: usize,
    trials: usize,
    seed: u64,
    identify: Identify,
) -> Result<IdentifyReport, TrialError> {
    check_trials(trials)?;
    let about = system.description();
    let count = about.parameters.len();
    let mut errors = vec![Vec::with_capacity(trials); count];
    let mut covered = vec![0_usize; count];
    let (mut bars, mut map_alone) = (true, false);
    let (mut determined, mut rank, mut conditions) = (0, count, Vec::with_capacity(trials));
    for trial in 0..trials {
        let (parameters, inputs, targets) = shots_of(system, trial, shots, seed)?;
        let found = identify(&inputs, &targets)?;
        determined += found.determined.iter().filter(|known| **known).count();
        rank = rank.min(found.rank);
        conditions.push(found.condition);
        map_alone |= found.map_alone;
        let estimate = found.estimate;
        bars &= estimate.standard_errors.len() == count;
        for j in 0..count {
            let error = (estimate.values[j] - parameters[j]).abs();
            errors[j].push(error / parameters[j].abs());
            if bars {
                covered[j] += usize::from(error <= NOMINAL_95 * estimate.standard_errors[j]);
            }
        }
    }
    let share = |covered: usize, of: usize| bars.then_some(covered as f64 / of as f64);
    Ok(IdentifyReport {
        system: about.name.to_owned(),
        shots,
        trials,
        relative_error: Summary::of(&errors.concat()),
        coverage_95: share(covered.iter().sum(), count * trials),
        determined: determined as f64 / (count * trials) as f64,
        rank,
        condition: Summary::of(&conditions),
        map_alone,
        parameters: (0..count)
            .map(|j| ParameterErrors {
                name: about.parameters[j].name.to_owned(),
                relative_error: Summary::of(&errors[j]),
                coverage_95: share(covered[j], trials),
            })
            .collect(),
    })
}

/// Parameters of test environment number `trial`, and the seed of its data. When a system's test
/// environments are used up, those of the next seed follow.
pub fn test_environment(system: &dyn System, trial: usize, seed: u64) -> (Vec<f64>, u64) {
    let environments = system.environments(Split::Test, seed);
    let rounds = (trial / environments.len().max(1)) as u64;
    let seed = seed.wrapping_add(rounds);
    let round = if rounds == 0 {
        environments
    } else {
        system.environments(Split::Test, seed)
    };
    (round[trial % round.len()].clone(), seed)
}

/// Refuses a number of shots that a test environment does not have.
pub fn check_shots(task: &Task, shots: usize) -> Result<(), TrialError> {
    check_count("the number of shots", shots, (1, task.targets.len()))
}

/// Parameters and first samples of test environment number `trial`.
fn shots_of(
    system: &dyn System,
    trial: usize,
    shots: usize,
    seed: u64,
) -> Result<(Vec<f64>, Samples, Vec<f64>), TrialError> {
    let (parameters, seed) = test_environment(system, trial, seed);
    let task = system.task(&parameters, Split::Test, seed)?;
    check_shots(&task, shots)?;
    let inputs = Samples {
        dim: task.inputs.dim,
        values: task.inputs.values[..shots * task.inputs.dim].to_vec(),
    };
    Ok((parameters, inputs, task.targets[..shots].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        identification::{
            affine_map::Offset,
            identifier::{Identifier, Prior},
            model::{KnownFeatures, PhysicalModel},
            residuals::ResidualModel,
        },
        random::generator,
        systems::cartpole::Cartpole,
    };
    use rand_distr::{Distribution as _, StandardNormal};

    #[test]
    fn error_bars_with_known_features_cover_the_truth_as_often_as_they_say() {
        let system = Cartpole::default();
        let phi = system.environments(Split::Train, 0);
        let known = KnownFeatures::new(system.clone());
        let model = PhysicalModel::of_tasks(known, &phi, &phi, Offset::Zero).unwrap();
        let noise = ResidualModel::white(0.1).unwrap();
        let mut identifier = Identifier::from_parts(model, noise, Prior::of_tasks(&phi));
        let mut rng = generator(5, 0);
        let mut identify = |inputs: &Samples, targets: &[f64]| {
            let mut noisy = |y: &f64| -> f64 {
                let noise: f64 = StandardNormal.sample(&mut rng);
                y + 0.1 * noise
            };
            let targets: Vec<f64> = targets.iter().map(&mut noisy).collect();
            identifier.identify(inputs, &targets, 0.0)
        };
        let report = identify_trials(&system, 50, 200, 0, &mut identify).unwrap();
        let coverage = report.coverage_95.unwrap();
        assert!((0.92..=0.98).contains(&coverage), "{coverage}");
        assert!(report.relative_error.median < 0.02);
        assert_eq!(report.parameters[1].name, "pole mass");
        assert!(report.rank == 2 && report.determined > 0.99, "{report:?}");
        assert!(report.condition.median >= 1.0, "{report:?}");
    }

    #[test]
    fn zero_shots_or_more_than_there_are_are_refused_with_the_number() {
        let system = Cartpole::default();
        let mut never = |_: &Samples, _: &[f64]| -> Result<Identified, IdentificationError> {
            panic!("there is nothing to identify from")
        };
        for shots in [0, 100_000] {
            let error = identify_trials(&system, shots, 1, 0, &mut never).unwrap_err();
            assert!(error.to_string().ends_with(&format!("but is {shots}")));
        }
    }
}
