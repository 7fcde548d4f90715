//! What a table is made of: one [`Record`] for each system, method and number of shots.
//!
//! `public/results/table.json` is an array of records and `public/results/paper.json` an array of
//! [`Printed`] figures of the paper.

use serde::{Deserialize, Serialize};

use crate::learners::Settings;

/// Mean and spread over trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation over the trials.
    pub std: f64,
    /// Number of trials.
    pub n: usize,
}

impl Summary {
    /// The summary of some values; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let square = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>();
        let std = (square / (n.max(2) - 1) as f64).sqrt();
        Some(Self { mean, std, n })
    }
}

/// One cell of a table, with everything that is needed to make it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Samples adapted from; 0 where the parameters are given instead.
    pub shots: usize,
    /// Seed of the training and of the trials.
    pub seed: u64,
    /// Standard deviation of the noise on adaptation targets.
    pub noise: f64,
    /// What the learner was trained with.
    pub spec: Settings,
    /// Where it was computed.
    pub device: String,
    /// Version of the program.
    pub version: String,
    /// Mean squared error on samples not adapted from, in the target's unit squared.
    pub mse: Summary,
    /// The same over the mean squared target of all trials. Over that of each trial alone, a few
    /// weak fields, whose targets are close to zero, would be most of the mean.
    pub nmse: Summary,
    /// Training time [s].
    pub training_seconds: f64,
    /// Time of one adaptation [s].
    pub adaptation_seconds: f64,
    /// Relative error of the identified parameters; only for methods with a task vector.
    pub identification_error: Option<Summary>,
    /// Mean squared error of the model that is given the true parameters.
    pub zero_shot_error: Option<Summary>,
    /// With noise on the shots of charges: mean squared error of the true potentials, fitted to the
    /// same shots by least squares without regularisation. A method with a prior can be below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Summary>,
}

impl Record {
    /// Name of the cell in the table of its system, as links have it: `camel.100.0`.
    pub fn cell(&self) -> String {
        format!("{}.{}.{}", self.method, self.shots, self.noise)
    }
}

/// A figure that the paper prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// Name of the system as we call it.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Samples adapted from.
    pub shots: usize,
    /// Mean squared error as printed; `None` where the paper prints N/A.
    pub mean: Option<f64>,
    /// Standard deviation as printed.
    pub std: Option<f64>,
    /// Table of the paper.
    pub table: String,
    /// What the printed figure has to be multiplied with to be a normalised error, where known.
    pub to_normalised: Option<f64>,
}

/// A compute time that the paper prints, in units of the shortest; from
/// `public/results/paper-times.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrintedTime {
    /// Name of the method.
    pub method: String,
    /// Time of a training step.
    pub training: f64,
    /// Time of an adaptation.
    pub adaptation: f64,
}

/// How long a training step takes, by Adam and on as many rows for every method of a system; from
/// `public/results/times.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepTime {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Rows of each task.
    pub rows: usize,
    /// Median time of a step [s].
    pub seconds: f64,
}

/// Cells that were not made, and why; from `public/results/left-out.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Only this number of shots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shots: Option<usize>,
    /// Only this noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// Why.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::view;

    #[test]
    fn cells_have_names_of_their_own_that_survive_a_link() {
        let text = std::fs::read_to_string("public/results/table.json").unwrap();
        let records: Vec<Record> = serde_json::from_str(&text).unwrap();
        let mut names = std::collections::HashSet::new();
        for record in &records {
            let name = record.cell();
            let view = view::set("", "cell", Some(&name));
            assert_eq!(view::get(&view, "cell").as_ref(), Some(&name));
            assert!(names.insert((&record.system, name)), "{record:?}");
        }
    }

    #[test]
    fn a_summary_of_known_values() {
        assert_eq!(Summary::of(&[]), None);
        let summary = Summary::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(
            summary,
            Summary {
                mean: 2.0,
                std: 1.0,
                n: 3
            }
        );
    }
}
