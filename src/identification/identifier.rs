//! Identification of physical parameters from shots, with error bars.
//!
//! Everything that a trained context-affine model needs to speak in physical units: the map φ ↦ ω
//! of its training tasks, the size and correlation of its residuals on validation trajectories, and
//! a wide prior around the training parameters. Gives batch and online identification.

use nalgebra::DMatrix;

use super::{
    affine_map::{AffineMap, Offset, Rank},
    change::CusumSettings,
    error::IdentificationError,
    least_squares::spectrum,
    model::{AdaptedModel, AffineModel, PhysicalModel, regressors},
    online::{Estimate, OnlineLeastSquares, Readout},
    recursive::{RecursiveLeastSquares, RecursiveSettings},
    residuals::{ResidualModel, residuals},
};
use crate::systems::{Samples, Task};

/// Standard deviations of the training parameters that the prior reaches out.
const PRIOR_REACH: f64 = 4.0;
/// A parameter is determined if its error bar is below this share of the prior's.
const DETERMINED: f64 = 0.5;

/// What is believed about the parameters before any shot.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// Most likely parameters φ.
    pub centre: Vec<f64>,
    /// Standard deviation of each.
    pub spread: Vec<f64>,
}

impl Prior {
    /// Centred on the training parameters and four times as wide.
    pub fn of_tasks(parameters: &[Vec<f64>]) -> Self {
        let size = parameters.first().map_or(0, Vec::len);
        let tasks = parameters.len().max(1) as f64;
        let centre: Vec<f64> = (0..size)
            .map(|j| parameters.iter().map(|p| p[j]).sum::<f64>() / tasks)
            .collect();
        let spread = (0..size)
            .map(|j| {
                let squares = parameters.iter().map(|p| (p[j] - centre[j]).powi(2));
                let deviation = (squares.sum::<f64>() / tasks).sqrt();
                let least = 0.1 * centre[j].abs() + f64::EPSILON;
                PRIOR_REACH * deviation.max(least)
            })
            .collect();
        Self { centre, spread }
    }
}

/// Parameters identified from shots.
#[derive(Clone, Debug, PartialEq)]
pub struct Identified {
    /// The parameters and their standard errors.
    pub estimate: Estimate,
    /// Whether the shots say more about each parameter than the prior does.
    pub determined: Vec<bool>,
    /// How many directions of the parameters the shots move.
    pub rank: usize,
    /// Condition number of the shots, parameters scaled alike.
    pub condition: f64,
}

/// A trained model that identifies.
#[derive(Clone, Debug)]
pub struct Identifier<M> {
    model: PhysicalModel<M>,
    residuals: ResidualModel,
    prior: Prior,
}

impl<M: AffineModel> Identifier<M> {
    /// From a model, its training tasks (weights ω and parameters φ) and validation tasks in
    /// training environments ([`super::residuals::validation_tasks`]).
    pub fn new(
        mut model: M,
        weights: &[Vec<f64>],
        parameters: &[Vec<f64>],
        validation: &[Task],
    ) -> Result<Self, IdentificationError> {
        let metric = gram(&mut model, validation);
        let map = weights_of_parameters(weights, parameters, &metric)?;
        let mut model = PhysicalModel::new(model, map)?;
        let mut runs = Vec::with_capacity(validation.len());
        for task in validation {
            runs.push(residuals(&mut model, &task.parameters, task)?);
        }
        Ok(Self {
            model,
            residuals: ResidualModel::of(&runs)?,
            prior: Prior::of_tasks(parameters),
        })
    }

    /// The same for shots that come in no order, so that neighbours are not alike.
    #[must_use]
    pub fn without_order(mut self) -> Self {
        self.residuals.correlation = 0.0;
        self
    }

    /// From parts that are known already.
    pub fn from_parts(model: PhysicalModel<M>, residuals: ResidualModel, prior: Prior) -> Self {
        Self {
            model,
            residuals,
            prior,
        }
    }

    /// Identifies the parameters from shots with measurement noise of standard deviation
    /// `measurement`, in the target's unit (0 for a simulation without noise).
    pub fn identify(
        &mut self,
        inputs: &Samples,
        targets: &[f64],
        measurement: f64,
    ) -> Result<Identified, IdentificationError> {
        super::error::check_length("the targets", inputs.len(), targets.len())?;
        super::error::check_finite("target", targets)?;
        let (features, biases) = regressors(&mut self.model, inputs);
        super::error::check_finite("feature", features.as_slice())?;
        let mut recursion = self.recursion(1.0, measurement)?;
        let mut row = vec![0.0; self.model.size()];
        for (i, target) in targets.iter().enumerate() {
            for (slot, value) in row.iter_mut().zip(features.row(i).iter()) {
                *slot = *value;
            }
            recursion.update(&row, target - biases[i]);
        }
        let seen = spectrum(&features);
        let errors: Vec<f64> = (0..row.len())
            .map(|j| recursion.standard_error(j))
            .collect();
        let spread = &self.prior.spread;
        Ok(Identified {
            determined: (0..row.len())
                .map(|j| errors[j] < DETERMINED * spread[j])
                .collect(),
            estimate: Estimate {
                values: recursion.weights().to_vec(),
                standard_errors: errors,
            },
            rank: seen.rank,
            condition: seen.condition,
        })
    }

    fn recursion(
        &self,
        forgetting: f64,
        measurement: f64,
    ) -> Result<RecursiveLeastSquares, IdentificationError> {
        RecursiveLeastSquares::new(
            &self.prior.centre,
            self.recursive_settings(forgetting, measurement),
        )
    }

    fn recursive_settings(&self, forgetting: f64, measurement: f64) -> RecursiveSettings {
        RecursiveSettings {
            forgetting,
            noise: self.residuals.white_noise(measurement),
            spread: self.prior.spread.clone(),
            drift: self.residuals.drift(),
        }
    }

    /// The model in physical parameters.
    pub fn model(&self) -> &PhysicalModel<M> {
        &self.model
    }

    /// Size and correlation of the model's residuals.
    pub fn residuals(&self) -> ResidualModel {
        self.residuals
    }

    /// What is believed before any shot.
    pub fn prior(&self) -> &Prior {
        &self.prior
    }
}

impl<M: AffineModel + Clone> Identifier<M> {
    /// The model with the parameters that it identifies from shots without noise.
    pub fn adapted(
        &mut self,
        inputs: &Samples,
        targets: &[f64],
    ) -> Result<AdaptedModel<PhysicalModel<M>>, IdentificationError> {
        let identified = self.identify(inputs, targets, 0.0)?;
        AdaptedModel::new(self.model.clone(), &identified.estimate.values)
    }

    /// An online model that starts from the prior, forgets slowly and watches for changes.
    pub fn online(
        &self,
        measurement: f64,
    ) -> Result<OnlineLeastSquares<PhysicalModel<M>>, IdentificationError> {
        OnlineLeastSquares::new(
            self.model.clone(),
            &self.prior.centre,
            self.recursive_settings(0.999, measurement),
            Some(CusumSettings::LEARNED),
            Readout::Direct,
        )
    }
}

/// Mean of v vᵀ over the validation tasks: how much each direction of ω moves the prediction.
fn gram(model: &mut impl AffineModel, tasks: &[Task]) -> DMatrix<f64> {
    let size = model.size();
    let mut sum = DMatrix::zeros(size, size);
    let mut count = 0;
    for task in tasks {
        let (features, _) = regressors(model, &task.inputs);
        sum += features.tr_mul(&features);
        count += features.nrows();
    }
    sum / count.max(1) as f64
}

/// The map φ ↦ ω. It passes through zero (fewer unknowns, better far from the training tasks)
/// unless that misses the training tasks clearly more than an affine map does.
fn weights_of_parameters(
    weights: &[Vec<f64>],
    parameters: &[Vec<f64>],
    metric: &DMatrix<f64>,
) -> Result<AffineMap, IdentificationError> {
    let fit = |offset| AffineMap::fit(parameters, weights, Rank::Numerical(1e-9), offset, None);
    let (linear, affine) = (fit(Offset::Zero)?, fit(Offset::Free)?);
    let miss = |map: &AffineMap| (map.residual() * metric).trace().max(0.0).sqrt();
    let needs_offset = miss(&linear) > 3.0 * miss(&affine);
    Ok(if needs_offset { affine } else { linear })
}
