//! What settings are chosen from: for every method on every system the same few changes, with the
//! same time to train, judged on environments that no table uses.

use std::sync::Arc;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use web_time::Instant;

use super::{
    evaluate::EvaluationError,
    table::{Cell, Evaluator, protocol},
    training::{tasks, train_on},
};
use crate::{
    learners::{LearnerError, Optimiser, Settings, Trainer},
    systems::{self, Split, Task},
};

/// Added to a training's seed, it is the seed of environments that no table uses.
const VALIDATION: u64 = 1_000;
/// Time in which the length of a step is measured [s].
const PROBE_SECONDS: f64 = 0.3;

/// A change of the recommended settings of a method on a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The settings.
    pub settings: Settings,
    /// The change, as `camel table --set` takes it; `recommended` where there is none.
    pub tried: String,
}

/// What a candidate gave from some shots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// What was changed.
    pub tried: String,
    /// All settings that candidates change.
    #[serde(default)]
    pub settings: String,
    /// Training steps; none in entries that were tried by hand.
    #[serde(default)]
    pub steps: Option<usize>,
    /// Samples adapted from.
    pub shots: usize,
    /// Mean squared error; none where the training diverged.
    pub mse: Option<f64>,
    /// The same over the mean squared target.
    pub nmse: Option<f64>,
    /// Relative error of the identified parameters.
    pub identification_error: Option<f64>,
    /// Seed of the training.
    pub seed: u64,
    /// Environments.
    pub trials: usize,
    /// Time of the training [s].
    #[serde(default)]
    pub seconds: Option<f64>,
}

impl Tried {
    /// What tells candidates apart.
    pub fn candidate(&self) -> (&str, &str, &str, &str, u64) {
        let Self {
            system,
            method,
            tried,
            settings,
            seed,
            ..
        } = self;
        (system, method, tried, settings, *seed)
    }
}

/// The candidates of a method on a system: the recommended settings, a third and three times the
/// learning rate, weight decay or none, twice the width, and two knobs of the method's own. L-BFGS has
/// neither rate nor decay; in their place Adam is tried, at three rates.
pub fn candidates(system: &str, method: &str) -> Result<Vec<Candidate>, LearnerError> {
    let usual = Settings::new(system, method)?;
    let mut found = vec![Candidate {
        settings: usual.clone(),
        tried: "recommended".to_owned(),
    }];
    let mut change = |name: &str, value: f64, put: fn(&mut Settings, f64)| {
        let mut settings = usual.clone();
        put(&mut settings, value);
        let tried = format!("{name}={value}");
        found.push(Candidate { settings, tried });
    };
    let rate = usual.learning_rate;
    if usual.optimiser == Optimiser::Lbfgs {
        for rate in [rate / 3.0, rate, rate * 3.0] {
            change("optimiser=adam learning_rate", rounded(rate), |s, x| {
                *s = Settings {
                    learning_rate: x,
                    ..s.clone().with_adam()
                };
            });
        }
    } else {
        for rate in [rate / 3.0, rate * 3.0] {
            change("learning_rate", rounded(rate), |s, x| s.learning_rate = x);
        }
        let decay = if usual.weight_decay == 0.0 { 1e-2 } else { 0.0 };
        change("weight_decay", decay, |s, x| s.weight_decay = x);
    }
    let longer = |s: &mut Settings, x: f64| s.rank = x as usize;
    match usual.method.as_str() {
        "camel" | "r2d2" | "coda" => change("rank", usual.rank as f64 + 1.0, longer),
        // Only the steps that training takes, too.
        _ => change("adaptation_steps", usual.inner_steps as f64, |s, x| {
            s.adaptation_steps = x as usize;
        }),
    }
    match usual.method.as_str() {
        "camel" => {
            let noise = if usual.prior_noise == 0.02 { 0.0 } else { 0.02 };
            change("prior_noise", noise, |s, x| s.prior_noise = x);
        }
        "r2d2" => change("ridge", rounded(10.0 * usual.ridge), |s, x| s.ridge = x),
        "coda" => change(
            "context_penalty",
            rounded(10.0 * usual.context_penalty),
            |s, x| {
                s.context_penalty = x;
            },
        ),
        _ => change("inner_rate", rounded(3.0 * usual.inner_rate), |s, x| {
            s.inner_rate = x;
        }),
    }
    let hidden: Vec<usize> = usual.hidden.iter().map(|units| 2 * units).collect();
    let tried = format!("hidden={}", layers(&hidden));
    let settings = Settings { hidden, ..usual };
    found.push(Candidate { settings, tried });
    Ok(found)
}

/// To three digits, so that a setting reads as it was meant.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn layers(units: &[usize]) -> String {
    let units: Vec<String> = units.iter().map(ToString::to_string).collect();
    format!("[{}]", units.join(","))
}

impl Candidate {
    /// All settings that candidates change, in a few words.
    pub fn knobs(&self) -> String {
        let Settings {
            learning_rate,
            weight_decay,
            hidden,
            rank,
            batch,
            ..
        } = &self.settings;
        let hidden = layers(hidden);
        let own = match self.settings.method.as_str() {
            "camel" => format!("prior_noise={}", self.settings.prior_noise),
            "r2d2" => format!("ridge={}", self.settings.ridge),
            "coda" => format!("context_penalty={}", self.settings.context_penalty),
            _ => format!(
                "inner_rate={} adaptation_steps={}",
                self.settings.inner_rate, self.settings.adaptation_steps
            ),
        };
        match self.settings.optimiser {
            Optimiser::Adam => format!(
                "learning_rate={learning_rate} weight_decay={weight_decay} hidden={hidden} rank={rank} batch={batch} {own}"
            ),
            Optimiser::Lbfgs => format!("optimiser=lbfgs hidden={hidden} rank={rank} {own}"),
        }
    }

    /// Trains for at most about `seconds` and tries the model from each of the system's numbers of
    /// shots. A training that diverges is a result, too.
    pub fn try_out(
        &self,
        seed: u64,
        seconds: f64,
        trials: Option<usize>,
    ) -> Result<Vec<Tried>, EvaluationError> {
        let (system, method) = (&self.settings.system, &self.settings.method);
        let physics = systems::by_name(system)?;
        let data = tasks(
            physics.as_ref(),
            &physics.environments(Split::Train, seed),
            seed,
        )?;
        let mut settings = self.settings.clone();
        settings.steps = affordable_steps(&settings, &data, seed, seconds)?;
        let usual = protocol(system);
        let entry = |shots| Tried {
            system: system.clone(),
            method: method.clone(),
            tried: self.tried.clone(),
            settings: self.knobs(),
            steps: Some(settings.steps),
            shots,
            mse: None,
            nmse: None,
            identification_error: None,
            seed,
            trials: trials.unwrap_or(usual.trials),
            seconds: None,
        };
        let mut found: Vec<Tried> = usual.shots.iter().copied().map(entry).collect();
        let (model, made) = match train_on(&data, &settings, seed, |_| ()) {
            Err(EvaluationError::Learner(LearnerError::Diverged { .. })) => return Ok(found),
            trained => trained?,
        };
        // A model that cannot be tried, or whose errors leave the finite numbers, is a result, too.
        let mut evaluator = Evaluator::new(physics, Arc::new(model), VALIDATION + seed).ok();
        for tried in &mut found {
            let cell = Cell {
                system: system.clone(),
                method: method.clone(),
                shots: tried.shots,
                trials: tried.trials,
                seed: VALIDATION + seed,
                noise: 0.0,
            };
            tried.seconds = Some(made.training_seconds);
            let record = evaluator.as_mut().map(|e| e.record(&cell, &made));
            if let Some(Ok(record)) = record {
                tried.mse = Some(record.mse.mean);
                tried.nmse = Some(record.nmse.mean);
                tried.identification_error = record.identification_error.map(|error| error.mean);
            }
        }
        Ok(found)
    }
}

/// The recommended number of steps, or as many whole hundreds as take about `seconds`.
fn affordable_steps(
    settings: &Settings,
    data: &[Task],
    seed: u64,
    seconds: f64,
) -> Result<usize, LearnerError> {
    let mut trainer = Trainer::new(settings, data, seed, &Device::flex())?;
    pollster::block_on(trainer.step())?;
    let begun = Instant::now();
    let whole = whole_seconds(&mut trainer, |trainer| {
        let step = Instant::now();
        pollster::block_on(trainer.step())?;
        let goes_on = begun.elapsed().as_secs_f64() < PROBE_SECONDS;
        Ok((step.elapsed().as_secs_f64(), goes_on))
    })?;
    let hundreds = (seconds / whole * settings.steps as f64 / 100.0) as usize;
    Ok(settings.steps.min(100 * hundreds.max(1)))
}

/// Time of the whole training, by some of its steps, each of which is that part of it that it is of all
/// work. `step` makes one and says how long it took and whether there is time for more.
fn whole_seconds(
    trainer: &mut Trainer,
    mut step: impl FnMut(&mut Trainer) -> Result<(f64, bool), LearnerError>,
) -> Result<f64, LearnerError> {
    let mut wholes = Vec::new();
    while !trainer.finished() {
        let before = trainer.progress().work;
        let (seconds, goes_on) = step(trainer)?;
        wholes.push(seconds / (trainer.progress().work - before));
        if !goes_on {
            break;
        }
    }
    Ok(median(wholes).unwrap_or(0.0))
}

/// The middle one: steps that something else on the machine interrupted do not count.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{learners::METHODS, systems::NAMES};

    #[test]
    fn every_method_gets_as_many_allowed_candidates_that_all_differ() {
        for system in NAMES {
            for method in METHODS.iter().filter(|method| !method.zero_shot) {
                let all = candidates(system, method.name).unwrap();
                assert_eq!(all.len(), 7);
                for (place, candidate) in all.iter().enumerate() {
                    candidate.settings.check().unwrap();
                    let before = &all[..place];
                    assert!(
                        before
                            .iter()
                            .all(|c| c.settings != candidate.settings
                                && c.knobs() != candidate.knobs()),
                        "{}: {}",
                        candidate.tried,
                        candidate.knobs()
                    );
                }
            }
        }
    }

    /// Its first steps go over a quarter of the rows, and are four in ten.
    #[test]
    fn steps_over_some_of_the_rows_stand_for_longer_ones_over_all() {
        let settings = Settings::new("cartpole", "camel").unwrap();
        let physics = systems::by_name("cartpole").unwrap();
        let environments = physics.environments(Split::Train, 2);
        let data = tasks(physics.as_ref(), &environments, 2).unwrap();
        let mut trainer = Trainer::new(&settings, &data, 2, &Device::flex()).unwrap();
        let mut steps = 0;
        let whole = whole_seconds(&mut trainer, |trainer| {
            pollster::block_on(trainer.step())?;
            steps += 1;
            Ok((0.25, steps < 20))
        });
        let expected = (0.4 * 0.25 + 0.6) * settings.steps as f64;
        let ratio = whole.unwrap() / expected;
        assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
        assert_eq!((steps, settings.optimiser), (20, Optimiser::Lbfgs));
    }

    #[test]
    fn a_candidate_is_tried_from_every_number_of_shots_in_the_time_it_has() {
        let all = candidates("pendulum", "r2d2").unwrap();
        let knob = all.iter().find(|c| c.tried == "ridge=0.01").unwrap();
        let found = knob.try_out(0, 1e-3, Some(2)).unwrap();
        let shots: Vec<_> = found.iter().map(|tried| tried.shots).collect();
        assert_eq!(shots, protocol("pendulum").shots);
        for tried in &found {
            assert_eq!((tried.steps, tried.trials), (Some(100), 2));
            assert!(tried.mse.is_some_and(|mse| mse > 0.0), "{tried:?}");
        }
    }
}
