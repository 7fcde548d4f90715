//! Why a learner cannot be made, trained, adapted or loaded.

use thiserror::Error;

use super::{METHODS, net::MlpError};
use crate::systems::NAMES;

/// Why a learner cannot be made, trained, adapted or loaded.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LearnerError {
    /// No method has this name.
    #[error("there is no method '{0}'; the methods are {names}", names = names(METHODS.iter().map(|m| m.name)))]
    UnknownMethod(String),
    /// There are no settings for this system.
    #[error("there are no settings for the system '{0}'; there are for {names}", names = names(NAMES))]
    UnknownSystem(String),
    /// A setting outside its range.
    #[error("{name} must be between {min} and {max}, but is {value}")]
    Range {
        /// What is out of range.
        name: &'static str,
        /// Given value.
        value: f64,
        /// Smallest allowed value.
        min: f64,
        /// Largest allowed value.
        max: f64,
    },
    /// More context numbers than training tasks can tell apart.
    #[error(
        "the rank must be at most the number of training tasks, but is {rank} with {tasks} tasks"
    )]
    RankAboveTasks {
        /// Given rank r.
        rank: usize,
        /// Number of training tasks T.
        tasks: usize,
    },
    /// Training tasks of different shapes, or none.
    #[error("{0}")]
    Tasks(String),
    /// Adaptation data of the wrong shape.
    #[error("{name} must have {expected} numbers, but has {given}")]
    Length {
        /// What has the wrong length.
        name: &'static str,
        /// Allowed length.
        expected: usize,
        /// Given length.
        given: usize,
    },
    /// Too few shots for a unique adaptation.
    #[error("adaptation needs at least {needed} shots, but got {given}")]
    TooFewShots {
        /// Shots given.
        given: usize,
        /// Shots needed.
        needed: usize,
    },
    /// The shots do not excite all features.
    #[error(
        "the Gram matrix of the {rank} features is singular: its smallest pivot is {pivot:e} times its \
         largest number, but must be above {least:e} times; give other or more shots, or a larger ridge"
    )]
    SingularGram {
        /// Number of features.
        rank: usize,
        /// Smallest pivot relative to the largest number of the matrix.
        pivot: f64,
        /// What it must be above.
        least: f64,
    },
    /// A number that is infinite or not a number.
    #[error("{name} must be finite numbers, but number {index} is {value}")]
    NotFinite {
        /// What is not finite.
        name: &'static str,
        /// Position of the first such number.
        index: usize,
        /// The number.
        value: f64,
    },
    /// Training left the finite numbers, twice if a smaller learning rate was tried.
    #[error("training diverged at step {step}{advice}", advice = after_divergence(.rate))]
    Diverged {
        /// Step at which it diverged.
        step: usize,
        /// Learning rate of the second attempt; none with L-BFGS, which has no rate to lower.
        rate: Option<f64>,
    },
    /// The method cannot be adapted this way.
    #[error("{method} cannot {action}")]
    Unsupported {
        /// Name of the method.
        method: &'static str,
        /// What it cannot do.
        action: &'static str,
    },
    /// Second derivatives cannot be left out.
    #[error("first_order must be false for {method} by the optimiser {optimiser}, but is true")]
    FirstOrder {
        /// Name of the method.
        method: &'static str,
        /// Name of the optimiser.
        optimiser: &'static str,
    },
    /// Not a weights file, or one of another model.
    #[error("the weights cannot be read: {0}")]
    Weights(String),
    /// The device failed to compute or to read back.
    #[error("the device failed: {0}")]
    Device(String),
    /// Layer sizes that make no network.
    #[error(transparent)]
    Network(#[from] MlpError),
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// What was tried after a divergence, and what else can be done.
fn after_divergence(rate: &Option<f64>) -> String {
    match rate {
        Some(rate) => {
            format!(", again with the smaller learning rate {rate}; lower the learning rate")
        }
        None => "; L-BFGS has no learning rate to lower: use the optimiser adam".to_owned(),
    }
}

/// Checks a setting against its range.
pub(super) fn in_range(
    name: &'static str,
    value: f64,
    min: f64,
    max: f64,
) -> Result<(), LearnerError> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(LearnerError::Range {
            name,
            value,
            min,
            max,
        })
    }
}

/// Checks that all numbers are finite.
pub(super) fn finite(name: &'static str, values: &[f64]) -> Result<(), LearnerError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => Err(LearnerError::NotFinite {
            name,
            index,
            value: values[index],
        }),
    }
}

/// Checks a length.
pub(super) fn length(
    name: &'static str,
    expected: usize,
    given: usize,
) -> Result<(), LearnerError> {
    if expected == given {
        Ok(())
    } else {
        Err(LearnerError::Length {
            name,
            expected,
            given,
        })
    }
}
