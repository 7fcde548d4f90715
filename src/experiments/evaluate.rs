//! What a trained model finds out in an environment that it has not seen: adapt, identify.

use std::sync::Arc;

use nalgebra::DVector;
use rand::seq::index;
use rand_distr::{Distribution as _, StandardNormal};
use thiserror::Error;

use super::{
    identifiers,
    report::{Adaptation, Conditioning, ErrorSize, Identified},
    spec::{Spec, SpecError},
};
use crate::{
    control::error::ControlError,
    identification::{
        by_map::identify_by_map,
        error::IdentificationError,
        identifier::{self, Identifier},
        learned::{LearnedError, LearnedModel},
    },
    learners::{Adapted, LearnerError, Model},
    random::generator,
    systems::{
        Description, Field, Parameter, Samples, Split, System, SystemError, Task, charges::Charges,
    },
};

/// Shots whose smallest singular value is below this share of their size do not tell all charges.
const LEAST_SINGULAR: f64 = 1e-7;
/// Pairs of true and predicted targets that a report keeps.
const PAIRS: usize = 300;
/// Stream of the noise and of the choice of shots.
const SHOT_STREAM: u64 = 71;

/// Stream of the choice of rows to test on.
const THIN_STREAM: u64 = 74;

/// Why a model could not be evaluated.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// The environment.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The model.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// The model in physical parameters.
    #[error(transparent)]
    Learned(#[from] LearnedError),
    /// The identification.
    #[error(transparent)]
    Identification(#[from] IdentificationError),
    /// The controller.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The settings.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// No model of these settings is at hand.
    #[error("there is no model of these settings yet; train one")]
    NotTrained,
    /// A model of other settings or another system.
    #[error("the model does not fit: {0}")]
    OtherModel(String),
    /// The adapted model left the finite numbers.
    #[error(
        "the adapted model predicts numbers that are not finite; give other or more shots, or train with a lower learning rate"
    )]
    NotFinite,
    /// Trials that gave no number to report.
    #[error("{method} on {system} has no finite error")]
    NoError {
        /// Name of the system.
        system: String,
        /// Name of the method.
        method: String,
    },
    /// More shots than the environment has samples besides at least one to test on.
    #[error("{system} has {samples} samples, so there can be at most {most} shots, but {shots} are asked for", most = samples - 1)]
    TooManyShots {
        /// Name of the system.
        system: &'static str,
        /// Samples of the environment.
        samples: usize,
        /// Shots asked for.
        shots: usize,
    },
}

/// One environment with its shots and the samples that are left to test on.
#[derive(Debug)]
pub struct Trial {
    /// The environment.
    pub task: Task,
    /// Inputs of the shots.
    pub inputs: Samples,
    /// Targets of the shots, with noise.
    pub targets: Vec<f64>,
    /// Rows that no shot uses.
    pub rest: Vec<usize>,
}

impl Trial {
    /// Takes shots: the first samples of a trajectory, or random points of a field.
    pub fn new(
        system: &dyn System,
        parameters: &[f64],
        shots: usize,
        noise: f64,
        seed: u64,
    ) -> Result<Self, EvaluationError> {
        let task = system.task(parameters, Split::Test, seed)?;
        let samples = task.targets.len();
        if shots >= samples {
            let system = system.description().name;
            return Err(EvaluationError::TooManyShots {
                system,
                samples,
                shots,
            });
        }
        let mut rng = generator(seed, SHOT_STREAM);
        let rows = match system.field() {
            Some(_) => index::sample(&mut rng, samples, shots).into_vec(),
            None => (0..shots).collect(),
        };
        let mut used = vec![false; samples];
        let mut inputs = Vec::with_capacity(shots * task.inputs.dim);
        let mut targets = Vec::with_capacity(shots);
        for &row in &rows {
            used[row] = true;
            inputs.extend_from_slice(task.inputs.row(row));
            let error: f64 = StandardNormal.sample(&mut rng);
            targets.push(task.targets[row] + noise * error);
        }
        let inputs = Samples {
            dim: task.inputs.dim,
            values: inputs,
        };
        let rest = (0..samples).filter(|&row| !used[row]).collect();
        Ok(Self {
            task,
            inputs,
            targets,
            rest,
        })
    }

    /// Takes the shots that an experiment asks for: at its points, or as many as it says.
    pub fn of_spec(spec: &Spec, system: &dyn System, phi: &[f64]) -> Result<Self, EvaluationError> {
        match system.field() {
            Some(field) if !spec.points.is_empty() => Self::measured(spec, system, field, phi),
            _ => Self::new(system, phi, spec.shots, spec.noise, spec.seed),
        }
    }

    /// Measures a field at the experiment's points; all samples are left to test on.
    fn measured(
        spec: &Spec,
        system: &dyn System,
        field: &dyn Field,
        phi: &[f64],
    ) -> Result<Self, EvaluationError> {
        let task = system.task(phi, Split::Test, spec.seed)?;
        let potential = field.solve(phi)?;
        let mut rng = generator(spec.seed, SHOT_STREAM);
        let mut measure = |&x: &[f64; 2]| {
            let error: f64 = StandardNormal.sample(&mut rng);
            potential.value(x) + spec.noise * error
        };
        let targets = spec.points.iter().map(&mut measure).collect();
        let values = spec.points.iter().flatten().copied().collect();
        let rest = (0..task.targets.len()).collect();
        Ok(Self {
            task,
            inputs: Samples { dim: 2, values },
            targets,
            rest,
        })
    }

    /// Keeps at most `count` of the rows that no shot uses, drawn at random.
    pub fn thin(&mut self, count: usize, seed: u64) {
        if self.rest.len() > count {
            let mut rng = generator(seed, THIN_STREAM);
            let kept = index::sample(&mut rng, self.rest.len(), count);
            self.rest = kept.into_iter().map(|row| self.rest[row]).collect();
        }
    }

    /// Inputs of the rows that no shot uses.
    pub fn rest_inputs(&self) -> Samples {
        let values = self
            .rest
            .iter()
            .flat_map(|&row| self.task.inputs.row(row))
            .copied()
            .collect();
        Samples {
            dim: self.task.inputs.dim,
            values,
        }
    }

    /// Targets of the rows that no shot uses.
    pub fn rest_targets(&self) -> Vec<f64> {
        self.rest
            .iter()
            .map(|&row| self.task.targets[row])
            .collect()
    }
}

/// The environment that an experiment adapts to.
pub fn parameters(spec: &Spec, about: &Description) -> Vec<f64> {
    if spec.phi.is_empty() {
        return about.typical();
    }
    spec.phi.clone()
}

/// Adapts, predicts and identifies. Gives the adapted model too.
pub fn adapt(
    spec: &Spec,
    system: &dyn System,
    model: &Arc<Model>,
) -> Result<(Adaptation, Adapted), EvaluationError> {
    let phi = parameters(spec, system.description());
    // Before the trial, so that the system's last solution is that of φ.
    let known = known_parameters(system, model, spec.seed)?;
    let trial = Trial::of_spec(spec, system, &phi)?;
    let from_shots = model.adapt(&trial.inputs, &trial.targets)?;
    let truth = trial.rest_targets();
    let few_shot = model.predict(&from_shots, &trial.rest_inputs())?;
    let zero_shot = match &known {
        Some(known) => {
            let informed = model.with_context(&known.model().task_weights(&phi)?)?;
            Some(ErrorSize::of(
                &truth,
                &model.predict(&informed, &trial.rest_inputs())?,
            ))
        }
        None => None,
    };
    let found = match known {
        Some(mut known) => known.identify(&trial.inputs, &trial.targets, spec.noise)?,
        None => identify_by_map(model, &from_shots)?,
    };
    let target = system.description().target;
    let adaptation = Adaptation {
        shots: trial.targets.len(),
        few_shot: ErrorSize::of(&truth, &few_shot),
        zero_shot,
        identified: describe(system, &phi, &found),
        conditioning: Some(Conditioning {
            rank: found.rank,
            condition: found.condition,
        }),
        predictions: pairs(&truth, &few_shot)?,
        target: (target.symbol.to_owned(), target.unit.to_owned()),
        floor: charges(spec).and_then(|charges| noise_floor(&charges, spec.noise, &trial)),
    };
    Ok((adaptation, from_shots))
}

/// The charges of an experiment on charges.
fn charges(spec: &Spec) -> Option<Charges> {
    let charges = Charges::by_name(&spec.system)?;
    match spec.places.is_empty() {
        true => Some(charges),
        false => charges.moved(&spec.places).ok(),
    }
}

/// What the noise leaves to the best of models: charges fitted with their true potentials.
pub fn noise_floor(charges: &Charges, noise: f64, trial: &Trial) -> Option<f64> {
    if noise == 0.0 {
        return None;
    }
    let features = charges.features(&trial.inputs);
    let gram = features.tr_mul(&features);
    let least = LEAST_SINGULAR.powi(2) * gram.trace();
    if gram.symmetric_eigenvalues().min() <= least {
        return None;
    }
    let targets = DVector::from_column_slice(&trial.targets);
    let fitted = gram.cholesky()?.solve(&features.tr_mul(&targets));
    let predicted = charges.features(&trial.rest_inputs()) * fitted;
    Some(ErrorSize::of(&trial.rest_targets(), predicted.as_slice()).mse)
}

/// Some of the pairs of true and predicted targets, evenly chosen.
pub fn pairs(truth: &[f64], predicted: &[f64]) -> Result<Vec<(f64, f64)>, EvaluationError> {
    if predicted.iter().any(|value| !value.is_finite()) {
        return Err(EvaluationError::NotFinite);
    }
    let stride = truth.len().div_ceil(PAIRS).max(1);
    let pairs = truth.iter().copied().zip(predicted.iter().copied());
    Ok(pairs.step_by(stride).collect())
}

/// The model in physical parameters, if it is affine in its context.
pub fn known_parameters(
    system: &dyn System,
    model: &Arc<Model>,
    seed: u64,
) -> Result<Option<Identifier<LearnedModel>>, EvaluationError> {
    if LearnedModel::new(model.clone()).is_err() {
        return Ok(None);
    }
    Ok(Some(identifiers::of_model(model, system, seed)?))
}

fn describe(system: &dyn System, truth: &[f64], found: &identifier::Identified) -> Vec<Identified> {
    let parameters = system.description().parameters.iter().zip(truth);
    let describe = |(j, (parameter, &truth)): (usize, (&Parameter, &f64))| Identified {
        name: parameter.name.to_owned(),
        symbol: parameter.quantity.symbol.to_owned(),
        unit: parameter.quantity.unit.to_owned(),
        truth,
        estimate: found.estimate.values[j],
        standard_error: found.estimate.standard_errors[j],
        determined: found.determined[j],
        map_alone: found.map_alone,
    };
    parameters.enumerate().map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{experiments::spec::Draft, learners::weights, systems::cartpole::Cartpole};

    #[test]
    fn samples_that_do_not_tell_the_masses_apart_say_so() {
        let bytes = include_bytes!("../../public/weights/cartpole-camel.safetensors");
        let model = Arc::new(weights::import(bytes).unwrap());
        let found = |shots: usize| {
            let draft = Draft {
                shots,
                ..Draft::recommended("cartpole", "camel").unwrap()
            };
            let spec = draft.check().unwrap();
            adapt(&spec, &Cartpole::default(), &model).unwrap().0
        };
        let (few, many) = (found(2), found(100));
        let told = |adaptation: &Adaptation| -> Vec<bool> {
            let all = adaptation.identified.iter();
            all.map(|parameter| parameter.determined).collect()
        };
        assert_eq!(told(&few), [true, false], "{:?}", few.identified);
        assert_eq!(told(&many), [true, true], "{:?}", many.identified);
        let (few, many) = (few.conditioning.unwrap(), many.conditioning.unwrap());
        assert_eq!(many.rank, 2);
        assert!(many.condition < few.condition, "{many:?} {few:?}");
    }
}
