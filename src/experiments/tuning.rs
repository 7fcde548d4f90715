//! What settings are chosen from: for every method on every system as many changes, each a whole training,
//! judged on environments that no table uses.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    evaluate::EvaluationError,
    table::{Cell, Evaluator, protocol},
    training::train,
};
use crate::{
    learners::{LearnerError, Optimiser, Settings},
    systems::{self, Split},
};

/// Added to a training's seed, it is the seed of environments that no table uses.
const VALIDATION: u64 = 1_000;

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

/// A change is a gain if it brings errors below this share of what they are.
const GAIN: f64 = 0.9;
/// A change that makes errors this many times larger with any one seed fails there, and is no gain: the
/// tables are means, which one failure makes as large as itself.
const FAILURE: f64 = 10.0;

/// Whether the settings `change` are better than `usual`, of the same system and method.
pub fn is_gain(tried: &[&Tried], change: &str, usual: &str) -> bool {
    let seeds: BTreeSet<u64> = tried.iter().map(|t| t.seed).collect();
    let fails = |seed: &u64| {
        let of_seed: Vec<&Tried> = tried.iter().copied().filter(|t| t.seed == *seed).collect();
        ratio(&of_seed, change, usual).is_some_and(|ratio| ratio > FAILURE)
    };
    let better = ratio(tried, change, usual).is_some_and(|ratio| ratio < GAIN);
    better && !seeds.iter().any(fails)
}

/// Errors with the settings `change` over those with `usual`: the geometric mean over the seeds and numbers
/// of shots that both were tried with. None where either diverged.
pub fn ratio(tried: &[&Tried], change: &str, usual: &str) -> Option<f64> {
    let of = |settings: &str| {
        let settings = settings.to_owned();
        tried.iter().filter(move |t| t.settings == settings)
    };
    let mut logarithms = Vec::new();
    for new in of(change) {
        for old in of(usual).filter(|old| (old.seed, old.shots) == (new.seed, new.shots)) {
            logarithms.push((new.nmse? / old.nmse?).ln());
        }
    }
    let count = logarithms.len() as f64;
    (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp())
}

/// The candidates of a method on a system: the recommended settings, a third and three times the
/// learning rate, weight decay or none, a knob of the method's own, and twice the steps. L-BFGS has
/// neither rate nor decay; in their place Adam is tried, at three rates. The sizes of nets and contexts are
/// those of the paper or the same for all methods, and are not tried.
pub fn candidates(system: &str, method: &str) -> Result<Vec<Candidate>, LearnerError> {
    let usual = Settings::new(system, method)?;
    let mut found = vec![Candidate {
        settings: usual.clone(),
        tried: "recommended".to_owned(),
    }];
    let mut change = |name: &str, value: f64, put: fn(&mut Settings, f64)| {
        let value = rounded(value);
        let mut settings = usual.clone();
        put(&mut settings, value);
        let tried = format!("{name}={value}");
        found.push(Candidate { settings, tried });
    };
    let rate = usual.learning_rate;
    if usual.optimiser == Optimiser::Lbfgs {
        for rate in [rate / 3.0, rate, rate * 3.0] {
            change("optimiser=adam learning_rate", rate, |s, x| {
                *s = Settings {
                    learning_rate: x,
                    ..s.clone().with_adam()
                };
            });
        }
    } else {
        for rate in [rate / 3.0, rate * 3.0] {
            change("learning_rate", rate, |s, x| s.learning_rate = x);
        }
        let decay = if usual.weight_decay == 0.0 { 1e-2 } else { 0.0 };
        change("weight_decay", decay, |s, x| s.weight_decay = x);
    }
    match usual.method.as_str() {
        "camel" => {
            let noise = if usual.prior_noise == 0.02 { 0.0 } else { 0.02 };
            change("prior_noise", noise, |s, x| s.prior_noise = x);
        }
        "r2d2" => change("ridge", 10.0 * usual.ridge, |s, x| s.ridge = x),
        "coda" => change("context_penalty", 10.0 * usual.context_penalty, |s, x| {
            s.context_penalty = x;
        }),
        _ => change("inner_rate", 3.0 * usual.inner_rate, |s, x| {
            s.inner_rate = x;
        }),
    }
    change("steps", 2.0 * usual.steps as f64, |s, x| {
        s.steps = x as usize
    });
    Ok(found)
}

/// To three digits, so that a setting reads as it was meant.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

impl Candidate {
    /// All settings that candidates change, in a few words.
    pub fn knobs(&self) -> String {
        let Settings {
            learning_rate,
            weight_decay,
            batch,
            steps,
            ..
        } = &self.settings;
        let own = match self.settings.method.as_str() {
            "camel" => format!("prior_noise={}", self.settings.prior_noise),
            "r2d2" => format!("ridge={}", self.settings.ridge),
            "coda" => format!("context_penalty={}", self.settings.context_penalty),
            _ => format!("inner_rate={}", self.settings.inner_rate),
        };
        match self.settings.optimiser {
            Optimiser::Adam => format!(
                "learning_rate={learning_rate} weight_decay={weight_decay} batch={batch} {own} steps={steps}"
            ),
            Optimiser::Lbfgs => format!("optimiser=lbfgs {own} steps={steps}"),
        }
    }

    /// Trains and tries the model from each of the system's numbers of shots. A training that diverges is
    /// a result, too.
    pub fn try_out(&self, seed: u64, trials: Option<usize>) -> Result<Vec<Tried>, EvaluationError> {
        let Settings { system, method, .. } = &self.settings;
        let physics = systems::by_name(system)?;
        let usual = protocol(system);
        let entry = |shots| Tried {
            system: system.clone(),
            method: method.clone(),
            tried: self.tried.clone(),
            settings: self.knobs(),
            steps: Some(self.settings.steps),
            shots,
            mse: None,
            nmse: None,
            identification_error: None,
            seed,
            trials: trials.unwrap_or(usual.trials),
            seconds: None,
        };
        let mut found: Vec<Tried> = usual.shots.iter().copied().map(entry).collect();
        let environments = physics.environments(Split::Train, seed);
        let (model, made) = match train(
            physics.as_ref(),
            &self.settings,
            &environments,
            seed,
            |_| (),
        ) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{learners::METHODS, systems::NAMES};

    #[test]
    fn every_method_gets_as_many_allowed_candidates_that_all_differ() {
        for system in NAMES {
            for method in METHODS.iter().filter(|method| !method.zero_shot) {
                let all = candidates(system, method.name).unwrap();
                assert_eq!(all.len(), 6);
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

    fn entry(nmse: Option<f64>) -> Tried {
        Tried {
            system: String::new(),
            method: String::new(),
            tried: String::new(),
            settings: String::new(),
            steps: None,
            shots: 10,
            mse: nmse,
            nmse,
            identification_error: None,
            seed: 0,
            trials: 1,
            seconds: None,
        }
    }

    #[test]
    fn errors_are_compared_where_both_were_tried() {
        let tried = |settings: &str, seed, shots, nmse| Tried {
            settings: settings.to_owned(),
            seed,
            shots,
            ..entry(nmse)
        };
        let all = [
            tried("usual", 2, 10, Some(4.0)),
            tried("usual", 2, 50, Some(1.0)),
            tried("usual", 3, 10, Some(7.0)),
            tried("new", 2, 10, Some(1.0)),
            tried("new", 2, 50, Some(1.0)),
            tried("diverged", 2, 10, None),
            tried("diverged", 2, 50, Some(1.0)),
        ];
        let all: Vec<&Tried> = all.iter().collect();
        assert!((ratio(&all, "new", "usual").unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(ratio(&all, "diverged", "usual"), None);
        assert_eq!(ratio(&all, "untried", "usual"), None);
        assert!(is_gain(&all, "new", "usual"));
        assert!(!is_gain(&all, "usual", "new"));
        assert!(!is_gain(&all, "diverged", "usual"));
    }

    #[test]
    fn what_fails_with_one_seed_is_no_gain_however_good_it_is_with_the_others() {
        let tried = |settings: &str, seed, nmse| Tried {
            settings: settings.to_owned(),
            seed,
            ..entry(nmse)
        };
        let of = |errors: [f64; 4]| {
            let new = (2..)
                .zip(errors)
                .map(|(seed, e)| tried("new", seed, Some(e)));
            let usual = (2..6).map(|seed| tried("usual", seed, Some(1.0)));
            new.chain(usual).collect::<Vec<_>>()
        };
        let gains = |errors| is_gain(&of(errors).iter().collect::<Vec<_>>(), "new", "usual");
        assert!(gains([1e-3, 1e-3, 1e-3, 9.0]));
        assert!(!gains([1e-3, 1e-3, 1e-3, 11.0]));
    }

    #[test]
    fn a_candidate_is_tried_from_every_number_of_shots() {
        let all = candidates("pendulum", "r2d2").unwrap();
        let mut knob = all.into_iter().find(|c| c.tried == "ridge=0.01").unwrap();
        knob.settings.steps = 100;
        let found = knob.try_out(0, Some(2)).unwrap();
        let shots: Vec<_> = found.iter().map(|tried| tried.shots).collect();
        assert_eq!(shots, protocol("pendulum").shots);
        for tried in &found {
            assert_eq!((tried.steps, tried.trials), (Some(100), 2));
            assert!(tried.mse.is_some_and(|mse| mse > 0.0), "{tried:?}");
        }
    }
}
