//! Why a draft is not an experiment.

use thiserror::Error;

use crate::{learners::LearnerError, systems::SystemError};

/// Why a draft is not an experiment.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SpecError {
    /// A name that is not on the list.
    #[error("{key} must be one of {allowed}, but is '{value}'")]
    Choice {
        /// Key in the link.
        key: &'static str,
        /// Given text.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A way of training that the method does not have.
    #[error("{key} must be {allowed} for {method}, but is '{value}'")]
    Variant {
        /// Key in the link.
        key: &'static str,
        /// Given value.
        value: String,
        /// The method.
        method: &'static str,
        /// What is allowed.
        allowed: String,
    },
    /// A number outside its range.
    #[error("{key} must be between {min} and {max}, but is {value}", value = readable(.value))]
    Range {
        /// Key in the link.
        key: &'static str,
        /// Given number.
        value: f64,
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
    },
    /// Fewer samples than the method can adapt from.
    #[error("shots must be at least {needed} for CAMEL with rank {rank}, but is {given}")]
    Shots {
        /// Given number.
        given: usize,
        /// Fewest allowed.
        needed: usize,
        /// The rank.
        rank: usize,
    },
    /// Fewer measured points than the method can adapt from.
    #[error(
        "the number of points must be at least {needed} for CAMEL with rank {rank}, but is {given}"
    )]
    FewPoints {
        /// Given number.
        given: usize,
        /// Fewest allowed.
        needed: usize,
        /// The rank.
        rank: usize,
    },
    /// A longer task vector than training tasks can tell apart.
    #[error(
        "rank must be at most {tasks}, the number of training tasks of {system}, but is {rank}"
    )]
    Rank {
        /// Given rank.
        rank: usize,
        /// Training tasks.
        tasks: usize,
        /// Name of the system.
        system: String,
    },
    /// Not a number, or not a whole one where one is needed.
    #[error("{key} must be {kind}, but is '{value}'")]
    NotANumber {
        /// Key in the link.
        key: &'static str,
        /// Given text.
        value: String,
        /// What is needed.
        kind: &'static str,
    },
    /// Parameters that the system refuses.
    #[error("phi: {0}")]
    Parameters(#[from] SystemError),
    /// Charges that cannot be where they are put.
    #[error("places: {0}")]
    Places(SystemError),
    /// A place at which nothing can be measured.
    #[error("points: ({x}, {y}) cannot be used: {why}", x = .0[0], y = .0[1], why = .1)]
    Point([f64; 2], &'static str),
    /// Settings that no learner has.
    #[error("{0}")]
    Settings(String),
}

/// A number as people write it: in powers of ten where all its digits would fill a line.
fn readable(value: &f64) -> String {
    if *value == 0.0 || (1e-6..1e16).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

impl From<LearnerError> for SpecError {
    fn from(error: LearnerError) -> Self {
        Self::Settings(error.to_string())
    }
}
