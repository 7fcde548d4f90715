//! What an experiment found, with everything that is needed to repeat and to draw it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::spec::Spec;
use crate::{charts::nullable, engine::protocol::DeviceUsed};

/// The result of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was run.
    pub spec: Spec,
    /// Where it ran.
    pub device: DeviceUsed,
    /// Version of the program.
    pub version: String,
    /// Training time [s].
    pub seconds: f64,
    /// Steps taken; fewer than asked for if training had stopped to improve.
    pub steps: usize,
    /// Training loss in the target's unit squared: step and value.
    pub losses: Vec<(usize, f64)>,
    /// How well the model does in the new environment.
    pub adaptation: Adaptation,
    /// The robot following a reference with the adapted model.
    pub motion: Option<Motion>,
}

/// Adaptation to one environment that training has not seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    /// Samples adapted from.
    pub shots: usize,
    /// Error on the samples that were not used, after adaptation from the shots.
    pub few_shot: ErrorSize,
    /// The same for the model that is given the true parameters and no sample.
    pub zero_shot: Option<ErrorSize>,
    /// The physical parameters, read off the adapted model.
    pub identified: Vec<Identified>,
    /// How well the samples tell the parameters apart, where that is known.
    #[serde(default)]
    pub conditioning: Option<Conditioning>,
    /// Some of the true and predicted targets.
    pub predictions: Vec<(f64, f64)>,
    /// The target's symbol and unit.
    pub target: (String, String),
    /// Mean squared error that the noise of the shots leaves to a perfect model, where that is known.
    #[serde(default)]
    pub floor: Option<f64>,
}

/// How well samples tell the parameters apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conditioning {
    /// How many directions of the parameters they move.
    pub rank: usize,
    /// Condition number, parameters scaled alike.
    #[serde(with = "nullable::number")]
    pub condition: f64,
}

/// A mean squared error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorSize {
    /// In the target's unit squared.
    #[serde(with = "nullable::number")]
    pub mse: f64,
    /// Over the mean squared target.
    #[serde(with = "nullable::number")]
    pub normalised: f64,
}

impl ErrorSize {
    /// The error of predictions.
    pub fn of(truth: &[f64], predicted: &[f64]) -> Self {
        let count = truth.len().max(1) as f64;
        let mse = truth
            .iter()
            .zip(predicted)
            .map(|(y, p)| (y - p).powi(2))
            .sum::<f64>()
            / count;
        Self {
            mse,
            normalised: mse / mean_square(truth).max(f64::MIN_POSITIVE),
        }
    }
}

/// The mean of the squares of some numbers; 0 of none.
pub fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|y| y * y).sum::<f64>() / values.len().max(1) as f64
}

/// A physical parameter as the model sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identified {
    /// Its name in words.
    pub name: String,
    /// Its symbol.
    pub symbol: String,
    /// Its unit.
    pub unit: String,
    /// The true value.
    pub truth: f64,
    /// The identified value.
    #[serde(with = "nullable::number")]
    pub estimate: f64,
    /// Its standard error.
    #[serde(with = "nullable::number")]
    pub standard_error: f64,
    /// Whether the shots determine it.
    pub determined: bool,
    /// Whether the standard error is that of the map from contexts to parameters alone, without what the shots
    /// leave open; older files do not say.
    #[serde(default)]
    pub map_alone: bool,
}

impl Identified {
    /// How far the identified value is off, as a share of the true one; none where that is zero.
    pub fn off(&self) -> Option<f64> {
        (self.truth != 0.0).then(|| (self.estimate - self.truth) / self.truth)
    }
}

/// A robot following a reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// Time between two states [s].
    pub dt: f64,
    /// Reference states.
    pub reference: Vec<Vec<f64>>,
    /// The robot's states.
    pub states: Vec<Vec<f64>>,
    /// Distance of the tip from its reference at each step [m].
    pub errors: Vec<f64>,
    /// Whether it ended upright.
    pub success: bool,
    /// Mean time in which the controller gave the input of a step [s]; former files have none, or that of the
    /// model without its feedback.
    #[serde(default)]
    pub seconds_a_step: f64,
    /// Other controllers in the same run, by name: the distance of the tip at each step [m].
    #[serde(default)]
    pub compared: Vec<(String, Vec<f64>)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} on {}: {} steps in {:.1} s",
            self.spec.method, self.spec.system, self.steps, self.seconds
        )?;
        self.adaptation.fmt(f)
    }
}

impl fmt::Display for Adaptation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            few_shot,
            zero_shot,
            identified,
            shots,
            ..
        } = self;
        writeln!(
            f,
            "{shots}-shot error {:.3e} ({:.3e} of the mean target²)",
            few_shot.mse, few_shot.normalised
        )?;
        if let Some(error) = zero_shot {
            writeln!(
                f,
                "zero-shot error {:.3e} ({:.3e})",
                error.mse, error.normalised
            )?;
        }
        for Identified {
            name,
            truth,
            estimate,
            standard_error,
            unit,
            map_alone,
            ..
        } in identified
        {
            let of = if *map_alone {
                ", ± of the map alone"
            } else {
                ""
            };
            writeln!(
                f,
                "{name}: {estimate:.4} ± {standard_error:.4} {unit} (true {truth}{of})"
            )?;
        }
        Ok(())
    }
}
