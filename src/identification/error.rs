//! What can be wrong with a request to identify.

use thiserror::Error;

/// Why something could not be identified.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum IdentificationError {
    /// Too few training tasks for a map between task weights and parameters.
    #[error("a map of {inputs} inputs needs at least 2 training tasks, but there are {tasks}")]
    TooFewTasks {
        /// Training tasks given.
        tasks: usize,
        /// Inputs of the map.
        inputs: usize,
    },
    /// Lengths that do not fit together.
    #[error("{what} must have length {expected}, but has {given}")]
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// Length it should have.
        expected: usize,
        /// Length it has.
        given: usize,
    },
    /// A number that is infinite or not a number.
    #[error("{what} {index} must be finite, but is {value}")]
    NotFinite {
        /// Which list the number is in.
        what: &'static str,
        /// Place in the list.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A setting outside its range.
    #[error("{name} must be {allowed}, but is {value}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Given value.
        value: f64,
        /// What is allowed, in words.
        allowed: &'static str,
    },
}

/// Checks that two lengths agree.
pub(crate) fn check_length(
    what: &'static str,
    expected: usize,
    given: usize,
) -> Result<(), IdentificationError> {
    if expected == given {
        Ok(())
    } else {
        Err(IdentificationError::Length {
            what,
            expected,
            given,
        })
    }
}

/// Checks that all numbers are finite.
pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), IdentificationError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(IdentificationError::NotFinite {
            what,
            index,
            value: values[index],
        }),
    }
}

/// Checks a setting against a condition that `allowed` says in words.
pub(crate) fn check_setting(
    name: &'static str,
    value: f64,
    allowed: &'static str,
    holds: bool,
) -> Result<(), IdentificationError> {
    if holds && value.is_finite() {
        Ok(())
    } else {
        Err(IdentificationError::Setting {
            name,
            value,
            allowed,
        })
    }
}
