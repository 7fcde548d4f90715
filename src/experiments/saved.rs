//! A run as a JSON file: what was run, where, with which version, and what was found.
//!
//! ```json
//! { "format": "camel-lab experiment 1", "browser": "…", "report": { "spec": …, "device": …, "version": …, … } }
//! ```
//!
//! A file may come from anywhere, so that everything the page relies on is checked when it is read.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use thiserror::Error;

use super::{
    dataset::report::DataReport,
    report::{Motion, Report},
};
use crate::systems;

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
}

/// What tells one kind of file from another.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    format: Option<String>,
}

#[derive(Deserialize)]
struct Read<R> {
    report: R,
}

/// A result as the text of a file.
pub fn write<R: Saveable>(report: &R, browser: &str) -> Result<String, SavedError> {
    let format = R::FORMAT;
    let written = Written {
        format,
        browser,
        report,
    };
    serde_json::to_string(&written).map_err(|error| unreadable::<R>(&error))
}

/// The result that the text of a file holds: one that a page has saved, or that
/// `camel train --json` has printed.
pub fn read<R: Saveable>(text: &str) -> Result<R, SavedError> {
    if text.len() > MOST_BYTES {
        let given = text.len() as f64 / 1e6;
        return Err(SavedError::TooLarge { given });
    }
    let kind: Kind = serde_json::from_str(text).map_err(|error| unreadable::<R>(&error))?;
    let report: R = match kind.format {
        Some(format) if format == R::FORMAT => {
            serde_json::from_str::<Read<R>>(text)
                .map_err(|error| unreadable::<R>(&error))?
                .report
        }
        Some(given) => {
            return Err(SavedError::Format {
                expected: R::FORMAT,
                given: super::spec::shortened(&given),
            });
        }
        None => serde_json::from_str(text).map_err(|error| unreadable::<R>(&error))?,
    };
    report.check()?;
    Ok(report)
}

fn unreadable<R: Saveable>(error: &serde_json::Error) -> SavedError {
    SavedError::Unreadable {
        kind: R::KIND,
        problem: error.to_string(),
    }
}

/// A picture of a robot needs states of the right length.
fn check_motion(name: &str, motion: &Motion) -> Result<(), SavedError> {
    let wrong = |problem: String| Err(SavedError::Inconsistent(problem));
    let system = systems::by_name(name).ok();
    let Some(robot) = system.as_ref().and_then(|system| system.robot()) else {
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
    let length = robot.state().len();
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
mod tests {
    use super::*;
    use crate::{
        engine::protocol::DeviceUsed,
        experiments::{
            report::{Adaptation, ErrorSize, Identified},
            spec::Draft,
        },
        random::generator,
    };
    use rand::{Rng as _, RngExt as _};

    fn report() -> Report {
        let error = ErrorSize {
            mse: 0.1 + 0.2,
            normalised: 1e-9,
        };
        Report {
            spec: Draft::recommended("cartpole", "camel")
                .unwrap()
                .check()
                .unwrap(),
            device: DeviceUsed::default(),
            version: "0.1.0".to_owned(),
            seconds: 1.5,
            steps: 300,
            losses: vec![(1, 0.5), (2, 0.25)],
            adaptation: Adaptation {
                shots: 10,
                few_shot: error,
                zero_shot: Some(error),
                identified: vec![Identified {
                    name: "cart mass".to_owned(),
                    symbol: "M".to_owned(),
                    unit: "kg".to_owned(),
                    truth: 2.0,
                    estimate: 2.1,
                    standard_error: 0.1,
                    determined: true,
                }],
                conditioning: None,
                predictions: vec![(1.0, 1.1)],
                target: ("u".to_owned(), "N".to_owned()),
            },
            motion: Some(Motion {
                dt: 0.02,
                reference: vec![vec![0.0; 4]],
                states: vec![vec![0.0; 4]],
                errors: vec![0.1],
                success: true,
                compared: vec![("oracle".to_owned(), vec![0.0])],
            }),
        }
    }

    #[test]
    fn a_saved_run_is_opened_again() {
        let text = write(&report(), "Browser 1").unwrap();
        assert!(text.contains("\"browser\":\"Browser 1\"") && text.contains("\"device\""));
        assert_eq!(read::<Report>(&text).unwrap(), report());
        let printed = serde_json::to_string(&report()).unwrap();
        assert_eq!(read::<Report>(&printed).unwrap(), report());
    }

    #[test]
    fn what_is_not_finite_survives() {
        let mut odd = report();
        odd.adaptation.identified[0].standard_error = f64::INFINITY;
        let read: Report = read(&write(&odd, "").unwrap()).unwrap();
        assert!(read.adaptation.identified[0].standard_error.is_nan());
    }

    #[test]
    fn another_file_is_named() {
        let said = |text: &str| read::<Report>(text).unwrap_err().to_string();
        assert!(said("a,b,c").contains("does not hold an experiment of camel-lab"));
        assert!(said("{\"format\":\"camel-lab data 1\"}").contains("but is 'camel-lab data 1'"));
        assert!(said("{\"colour\":1}").contains("missing field"));
        let text = write(&report(), "")
            .unwrap()
            .replace("\"depth\":3", "\"depth\":99");
        assert!(said(&text).contains("depth must be between 1 and 6, but is 99"));
        assert!(said(&" ".repeat(MOST_BYTES + 1)).contains("at most 20 MB"));
    }

    #[test]
    fn a_motion_that_cannot_be_drawn_is_refused() {
        let refuse = |change: fn(&mut Motion)| {
            let mut broken = report();
            change(broken.motion.as_mut().unwrap());
            read::<Report>(&write(&broken, "").unwrap())
                .unwrap_err()
                .to_string()
        };
        assert!(
            refuse(|motion| motion.states[0].truncate(1))
                .contains("must have 4 numbers, but has 1")
        );
        assert!(refuse(|motion| motion.dt = 0.0).contains("but is 0"));
        assert!(refuse(|motion| motion.reference.clear()).contains("no states"));
    }

    #[test]
    fn a_hundred_thousand_random_and_mutated_files_never_panic() {
        let whole = write(&report(), "Browser 1").unwrap().into_bytes();
        let mut rng = generator(7, 0);
        let alphabet = b"{}[]\",:0123456789.eE-+ntfu\\ null";
        for round in 0..100_000 {
            let mut bytes = if round % 4 == 0 {
                (0..rng.random_range(0..60))
                    .map(|_| alphabet[rng.random_range(0..alphabet.len())])
                    .collect()
            } else {
                whole.clone()
            };
            for _ in 0..rng.random_range(1..6) {
                if bytes.is_empty() {
                    break;
                }
                let place = rng.random_range(0..bytes.len());
                match rng.random_range(0..5) {
                    0 => bytes.truncate(place),
                    1 => drop(bytes.remove(place)),
                    2 => bytes[place] = (rng.next_u32() & 0xff) as u8,
                    _ => bytes[place] = alphabet[rng.random_range(0..alphabet.len())],
                }
            }
            if let Ok(report) = read::<Report>(&String::from_utf8_lossy(&bytes)) {
                assert!(report.check().is_ok());
                assert!(Draft::from(report.spec).check().is_ok());
            }
        }
    }
}
