//! The cells of the paper's tables: a method on a system, adapted from a few shots, over many
//! environments that training has not seen.
//!
//! One training serves all cells of a system and a method; an [`Evaluator`] then runs their trials.
//! φ-CAMEL uses CAMEL's training and no shots.

use std::sync::Arc;

use rand::RngExt as _;
use web_time::Instant;

use super::{
    evaluate::{EvaluationError, Trial, known_parameters, noise_floor},
    record::{Record, Summary},
    report::{ErrorSize, mean_square},
};
use crate::{
    identification::{
        by_map::identify_by_map, identifier::Identifier, learned::LearnedModel,
        trials::test_environment,
    },
    learners::{Adapted, LearnerError, METHODS, Model, Settings, method},
    random::generator,
    systems::{self, Parameter, Samples, System, charges::Charges},
};

/// Stream of the seeds of the trials.
const TRIAL_STREAM: u64 = 73;

/// Samples that an error is taken on; of more, that many are drawn.
const MOST_ROWS: usize = 6_000;

/// How a system is tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Protocol {
    /// Numbers of samples to adapt from.
    pub shots: &'static [usize],
    /// Environments to adapt to.
    pub trials: usize,
    /// Standard deviations of the noise on the shots.
    pub noises: &'static [f64],
}

/// The paper's shots, trials and noises of a system; ours where the paper has no table of it.
pub fn protocol(system: &str) -> Protocol {
    let (shots, trials): (&[usize], usize) = match system {
        "charges-quadrupole" => (&[5, 10], 30),
        "capacitor" => (&[5, 40], 5),
        "capacitor-eps" => (&[3, 30], 5),
        "cartpole" | "arm" => (&[50, 100], 50),
        "upkie" => (&[100], 15),
        "pendulum" => (&[10, 50], 30),
        _ => (&[3, 10], 30),
    };
    let noises: &[f64] = if system.starts_with("charges") {
        &[0.0, 0.1]
    } else {
        &[0.0]
    };
    Protocol {
        shots,
        trials,
        noises,
    }
}

/// One cell to compute.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Samples to adapt from; 0 where the parameters are given instead.
    pub shots: usize,
    /// Environments to adapt to.
    pub trials: usize,
    /// Seed of the training and of the trials.
    pub seed: u64,
    /// Standard deviation of the noise on the adaptation targets.
    pub noise: f64,
}

impl Cell {
    /// Whether a record is this cell, whatever it was made with.
    pub fn names(&self, record: &Record) -> bool {
        (&*self.system, &*self.method) == (&*record.system, &*record.method)
            && (self.shots, self.noise) == (record.shots, record.noise)
    }

    /// Whether a record is this cell and need not be made again: the same seed and trials, made by
    /// this version with these settings.
    pub fn is_done(&self, record: &Record, settings: &Settings) -> bool {
        self.names(record)
            && (self.seed, self.trials) == (record.seed, record.mse.n)
            && record.version == env!("CARGO_PKG_VERSION")
            && record.spec == self.spec(settings)
    }

    /// The settings of the training, in the name of this cell's method.
    fn spec(&self, settings: &Settings) -> Settings {
        Settings {
            method: self.method.clone(),
            ..settings.clone()
        }
    }

    /// The cell that a record holds.
    pub fn of(record: &Record) -> Self {
        Self {
            system: record.system.clone(),
            method: record.method.clone(),
            shots: record.shots,
            trials: record.mse.n,
            seed: record.seed,
            noise: record.noise,
        }
    }

    /// The record of this cell after all of its trials.
    pub fn record(&self, outcomes: &[Outcome], made: &Made) -> Result<Record, EvaluationError> {
        let power = outcomes.iter().map(|o| o.power).sum::<f64>() / outcomes.len().max(1) as f64;
        let all = |value: &dyn Fn(&Outcome) -> Option<f64>| {
            let values: Vec<f64> = outcomes.iter().filter_map(value).collect();
            Summary::of(&values)
        };
        let finite = |summary: Option<Summary>| {
            let finite = summary.filter(|summary| (summary.mean + summary.std).is_finite());
            finite.ok_or_else(|| EvaluationError::NoError {
                system: self.system.clone(),
                method: self.method.clone(),
            })
        };
        let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
        Ok(Record {
            system: self.system.clone(),
            method: self.method.clone(),
            shots: self.shots,
            seed: self.seed,
            noise: self.noise,
            spec: self.spec(&made.settings),
            device: made.device.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mse: finite(all(&|o| Some(o.mse)))?,
            nmse: finite(all(&|o| Some(o.mse / power.max(f64::MIN_POSITIVE))))?,
            training_seconds: made.training_seconds,
            adaptation_seconds: seconds / outcomes.len().max(1) as f64,
            identification_error: all(&|o| o.identification),
            zero_shot_error: all(&|o| o.zero_shot),
            floor: all(&|o| o.floor),
        })
    }
}

/// How, where and how long a model was trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// What it was trained with.
    pub settings: Settings,
    /// The device.
    pub device: String,
    /// Training time [s].
    pub training_seconds: f64,
}

/// All cells of one training.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Name of the system.
    pub system: String,
    /// Name of the method that is trained.
    pub method: String,
    /// What it is evaluated on.
    pub cells: Vec<Cell>,
}

/// The cells of systems and methods, grouped by training. Without `shots`, `trials` or `noises` a
/// system's [`protocol`] is used. The names must be known.
pub fn plan(
    systems: &[String],
    methods: &[String],
    shots: &[usize],
    trials: Option<usize>,
    noises: &[f64],
    seed: u64,
) -> Result<Vec<Training>, LearnerError> {
    let mut trainings: Vec<Training> = Vec::new();
    for system in systems {
        let usual = protocol(system);
        let shots = if shots.is_empty() { usual.shots } else { shots };
        let noises = if noises.is_empty() {
            usual.noises
        } else {
            noises
        };
        for name in methods {
            let method = method(name)?;
            let shots: &[usize] = if method.zero_shot { &[0] } else { shots };
            // No shots, no noise on them.
            let noises: &[f64] = if method.zero_shot { &[0.0] } else { noises };
            let cell = |shots, noise| Cell {
                system: system.clone(),
                method: name.clone(),
                shots,
                trials: trials.unwrap_or(usual.trials),
                seed,
                noise,
            };
            let cells = shots
                .iter()
                .flat_map(|&shots| noises.iter().map(move |&noise| cell(shots, noise)));
            let same = |t: &Training| (&t.system, &*t.method) == (system, method.trained_as);
            let training = match trainings.iter().position(same) {
                Some(place) => place,
                None => {
                    trainings.push(Training {
                        system: system.clone(),
                        method: method.trained_as.to_owned(),
                        cells: Vec::new(),
                    });
                    trainings.len() - 1
                }
            };
            for cell in cells {
                // What is named twice is made once.
                if !trainings[training].cells.contains(&cell) {
                    trainings[training].cells.push(cell);
                }
            }
        }
    }
    Ok(trainings)
}

/// The place of a system and a method in the order of the tables.
pub fn place(system: &str, method: &str) -> (Option<usize>, Option<usize>) {
    (
        systems::NAMES.iter().position(|name| *name == system),
        METHODS.iter().position(|known| known.name == method),
    )
}

/// What one trial gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Mean squared error on the samples that were not adapted from.
    pub mse: f64,
    /// Mean square of these samples' targets.
    pub power: f64,
    /// Time of the adaptation [s].
    pub seconds: f64,
    /// Relative error of the identified parameters.
    pub identification: Option<f64>,
    /// Mean squared error of the model that is given the true parameters.
    pub zero_shot: Option<f64>,
    /// Mean squared error of ideal features, fitted to the same noisy shots.
    pub floor: Option<f64>,
}

/// A trained model that is tried on new environments.
#[derive(Debug)]
pub struct Evaluator {
    system: Box<dyn System>,
    model: Arc<Model>,
    known: Option<Identifier<LearnedModel>>,
}

impl Evaluator {
    /// Prepares the identification, where the model allows it.
    pub fn new(
        system: Box<dyn System>,
        model: Arc<Model>,
        seed: u64,
    ) -> Result<Self, EvaluationError> {
        let known = known_parameters(system.as_ref(), &model, seed)?;
        Ok(Self {
            system,
            model,
            known,
        })
    }

    /// Runs trial number `trial` of a cell.
    pub fn trial(&mut self, cell: &Cell, trial: usize) -> Result<Outcome, EvaluationError> {
        let (phi, _) = test_environment(self.system.as_ref(), trial, cell.seed);
        let seed = generator(cell.seed, TRIAL_STREAM + ((trial as u64) << 16)).random();
        let mut trial = Trial::new(self.system.as_ref(), &phi, cell.shots, cell.noise, seed)?;
        trial.thin(MOST_ROWS, seed);
        let truth = trial.rest_targets();
        let inputs = trial.rest_inputs();
        let informed = self.informed(&phi)?;
        let zero_shot = informed
            .as_ref()
            .map(|informed| self.error(informed, &inputs, &truth))
            .transpose()?;
        let power = mean_square(&truth);
        if method(&cell.method)?.zero_shot {
            return informed_outcome(cell, zero_shot, power);
        }
        let begun = Instant::now();
        let adapted = self.model.adapt(&trial.inputs, &trial.targets)?;
        let seconds = begun.elapsed().as_secs_f64();
        let identified = self.identify(&trial, &adapted, cell.noise);
        let parameters = self.system.description().parameters;
        Ok(Outcome {
            mse: self.error(&adapted, &inputs, &truth)?,
            power,
            seconds,
            identification: identified
                .map(|values| relative_error(parameters, &phi, &values))
                .filter(|error| error.is_finite()),
            zero_shot,
            floor: Charges::by_name(&cell.system)
                .and_then(|charges| noise_floor(&charges, cell.noise, &trial)),
        })
    }

    /// Runs all trials of a cell.
    pub fn record(&mut self, cell: &Cell, made: &Made) -> Result<Record, EvaluationError> {
        let outcomes: Result<Vec<_>, _> = (0..cell.trials)
            .map(|trial| self.trial(cell, trial))
            .collect();
        cell.record(&outcomes?, made)
    }

    fn error(
        &self,
        adapted: &Adapted,
        inputs: &Samples,
        truth: &[f64],
    ) -> Result<f64, EvaluationError> {
        Ok(ErrorSize::of(truth, &self.model.predict(adapted, inputs)?).mse)
    }

    /// The model that is given the true parameters, where it can take them.
    fn informed(&self, phi: &[f64]) -> Result<Option<Adapted>, EvaluationError> {
        let Some(known) = &self.known else {
            return Ok(None);
        };
        let weights = known.model().task_weights(phi)?;
        Ok(Some(self.model.with_context(&weights)?))
    }

    /// The physical parameters, where the method and the shots tell them.
    fn identify(&mut self, trial: &Trial, adapted: &Adapted, noise: f64) -> Option<Vec<f64>> {
        if let Some(known) = &mut self.known {
            let found = known.identify(&trial.inputs, &trial.targets, noise).ok()?;
            return Some(found.estimate.values);
        }
        let found = identify_by_map(&self.model, adapted).ok()?;
        Some(found.estimate.values)
    }
}

/// What a model that is given the true parameters gave.
fn informed_outcome(
    cell: &Cell,
    zero_shot: Option<f64>,
    power: f64,
) -> Result<Outcome, EvaluationError> {
    let mse = zero_shot.ok_or_else(|| LearnerError::Unsupported {
        method: method(&cell.method).map_or("the method", |method| method.title),
        action: "be given parameters: it is not affine in its context",
    })?;
    Ok(Outcome {
        mse,
        power,
        seconds: 0.0,
        identification: None,
        zero_shot,
        floor: None,
    })
}

/// Mean over the parameters of |estimate − truth| over |truth|, or over the largest value of its
/// range where that holds 0.
pub fn relative_error(parameters: &[Parameter], truth: &[f64], estimates: &[f64]) -> f64 {
    let error = |((parameter, truth), estimate): ((&Parameter, &f64), &f64)| {
        let (low, high) = parameter.test;
        let scale = if low <= 0.0 && high >= 0.0 {
            low.abs().max(high.abs())
        } else {
            truth.abs()
        };
        (estimate - truth).abs() / scale
    };
    let all = parameters.iter().zip(truth).zip(estimates);
    all.map(error).sum::<f64>() / parameters.len().max(1) as f64
}

#[cfg(test)]
mod tests;
