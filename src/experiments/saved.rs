//! A run as a JSON file: what was run, where, with which version, and what was found.
//!
//! ```json
//! { "format": "camel-lab experiment 1", "browser": "…", "report": { "spec": …, "device": …, "version": …, … },
//!   "weights": "…" }
//! ```
//!
//! The weights are the model as a safetensors file in hexadecimal digits; a file may go without.
//! A file may come from anywhere, so that everything the page relies on is checked when it is read.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use thiserror::Error;

use super::{
    dataset::report::DataReport,
    report::{Motion, Report},
};
use crate::{engine::protocol::Weights, systems};

/// Largest file [bytes].
const MOST_BYTES: usize = 20_000_000;

/// Why a file is not a run of ours.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SavedError {
    /// Too long.
    #[error("the file may have at most {most} MB, but has {given:.0} MB", most = MOST_BYTES / 1_000_000)]
    TooLarge {
        /// Size [MB].
        given: f64,
    },
    /// Not JSON, or not with our keys.
    #[error("the file does not hold {kind}: {problem}")]
    Unreadable {
        /// What was expected.
        kind: &'static str,
        /// Why it is not that.
        problem: String,
    },
    /// JSON of another kind.
    #[error("the file's format must be '{expected}', but is '{given}'")]
    Format {
        /// What was expected.
        expected: &'static str,
        /// What the file says.
        given: String,
    },
    /// A value that cannot be shown.
    #[error("the file does not fit together: {0}")]
    Inconsistent(String),
}

/// A result that can be saved and opened again.
pub trait Saveable: Serialize + DeserializeOwned {
    /// What the file says of itself.
    const FORMAT: &'static str;
    /// What it is, for people.
    const KIND: &'static str;

    /// Whether everything that the page relies on holds.
    fn check(&self) -> Result<(), SavedError>;
}

impl Saveable for Report {
    const FORMAT: &'static str = "camel-lab experiment 1";
    const KIND: &'static str = "an experiment of camel-lab";

    fn check(&self) -> Result<(), SavedError> {
        match &self.motion {
            Some(motion) => check_motion(&self.spec.system, motion),
            None => Ok(()),
        }
    }
}

impl Saveable for DataReport {
    const FORMAT: &'static str = "camel-lab data 1";
    const KIND: &'static str = "results of your data";

    fn check(&self) -> Result<(), SavedError> {
        Ok(())
    }
}

#[derive(Serialize)]
struct Written<'a, R> {
    format: &'static str,
    browser: &'a str,
    report: &'a R,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Weights>,
}

/// What tells one kind of file from another.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    format: Option<String>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Saved<R> {
    /// The result.
    pub report: R,
    /// The model that found it; empty if the file goes without.
    #[serde(default)]
    pub weights: Weights,
}

/// A result as the text of a file, with the bytes of its model if there are any.
pub fn write<R: Saveable>(report: &R, weights: &[u8], browser: &str) -> Result<String, SavedError> {
    let written = Written {
        format: R::FORMAT,
        browser,
        report,
        weights: (!weights.is_empty()).then(|| Weights(weights.to_vec())),
    };
    serde_json::to_string(&written).map_err(|error| unreadable(R::KIND, &error))
}

/// What a file says of itself, if it does.
pub fn format(text: &str) -> Option<String> {
    serde_json::from_str::<Kind>(text).ok()?.format
}

/// The result that the text of a file holds: one that a page has saved, or that
/// `camel train --json` has printed.
pub fn read<R: Saveable>(text: &str) -> Result<Saved<R>, SavedError> {
    if text.len() > MOST_BYTES {
        let given = text.len() as f64 / 1e6;
        return Err(SavedError::TooLarge { given });
    }
    let (format, unreadable) = (R::FORMAT, |error| unreadable(R::KIND, &error));
    let saved: Saved<R> = match says_so(text, format).map_err(unreadable)? {
        Ok(true) => serde_json::from_str(text).map_err(unreadable)?,
        Ok(false) => Saved {
            report: serde_json::from_str(text).map_err(unreadable)?,
            weights: Weights::default(),
        },
        Err(given) => {
            return Err(SavedError::Format {
                expected: format,
                given,
            });
        }
    };
    saved.report.check()?;
    Ok(saved)
}

/// Whether a file says that it has this format, or the other one that it says it has; one that was
/// printed says none. Not generic, so that pages hold it once.
fn says_so(text: &str, expected: &str) -> serde_json::Result<Result<bool, String>> {
    let kind: Kind = serde_json::from_str(text)?;
    Ok(match kind.format {
        Some(given) if given != expected => Err(super::spec::shortened(&given)),
        given => Ok(given.is_some()),
    })
}

fn unreadable(kind: &'static str, error: &serde_json::Error) -> SavedError {
    SavedError::Unreadable {
        kind,
        problem: error.to_string(),
    }
}

/// A picture of a robot needs states of the right length.
fn check_motion(name: &str, motion: &Motion) -> Result<(), SavedError> {
    let wrong = |problem: String| Err(SavedError::Inconsistent(problem));
    let system = systems::portrait(name, &[]).ok();
    let Some(state) = system.and_then(|system| system.moving_state()) else {
        return wrong(format!("{name} does not move, but there is a motion"));
    };
    if !(motion.dt > 0.0 && motion.dt <= 10.0) {
        return wrong(format!(
            "the time step must be above 0 and at most 10 s, but is {}",
            motion.dt
        ));
    }
    if motion.states.is_empty() || motion.reference.is_empty() {
        return wrong("the motion has no states".to_owned());
    }
    let length = state.len();
    let mut states = motion.states.iter().chain(&motion.reference);
    match states.find(|state| state.len() != length) {
        Some(state) => wrong(format!(
            "a state of {name} must have {length} numbers, but has {}",
            state.len()
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
