//! Online identification: a model that learns from each control step.
//!
//! [`OnlineLeastSquares`] is the paper's Algorithm 2 without its oracle: recursive least squares on
//! the model's features, and a cumulative sum of the innovations that notices when the plant is no
//! longer what it was. It sees inputs and features alone; nothing tells it that or when something
//! changes.

use serde::{Deserialize, Serialize};

use super::{
    affine_map::AffineMap,
    change::{Cusum, CusumSettings},
    error::{IdentificationError, check_length},
    model::AffineModel,
    recursive::{RecursiveLeastSquares, RecursiveSettings},
};
use nalgebra::DMatrix;

/// Identified parameters with error bars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The parameters φ, in their units.
    pub values: Vec<f64>,
    /// Standard error of each.
    pub standard_errors: Vec<f64>,
}

/// A model that adapts while it is used.
pub trait OnlineModel {
    /// Learns that features x were seen under input u; true when it noticed a change.
    fn observe(&mut self, features: &[f64], input: f64) -> bool;

    /// The input u that the model expects to explain features x.
    fn predict(&mut self, features: &[f64]) -> f64;

    /// The physical parameters, if the model identifies them.
    fn identify(&self) -> Option<Estimate>;
}

impl<M: OnlineModel + ?Sized> OnlineModel for Box<M> {
    fn observe(&mut self, features: &[f64], input: f64) -> bool {
        (**self).observe(features, input)
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        (**self).predict(features)
    }

    fn identify(&self) -> Option<Estimate> {
        (**self).identify()
    }
}

/// How weights become physical parameters.
#[derive(Clone, Debug)]
pub enum Readout {
    /// The weights are the physical parameters.
    Direct,
    /// The weights are task weights; the map ω ↦ φ reads them.
    Map(AffineMap),
}

/// Recursive least squares with change detection on any affine model.
#[derive(Clone, Debug)]
pub struct OnlineLeastSquares<M> {
    model: M,
    estimate: RecursiveLeastSquares,
    change: Option<Cusum>,
    readout: Readout,
    /// Error bars are wider than the recursion's by this factor, for residuals that come in runs.
    inflation: f64,
    features: Vec<f64>,
}

impl<M: AffineModel> OnlineLeastSquares<M> {
    /// Starts from weights `start`. Without `change` it never resets (the paper's Algorithm 2).
    pub fn new(
        model: M,
        start: &[f64],
        settings: RecursiveSettings,
        change: Option<CusumSettings>,
        readout: Readout,
    ) -> Result<Self, IdentificationError> {
        check_length("the start", model.size(), start.len())?;
        if let Readout::Map(map) = &readout {
            check_length("the map's input", model.size(), map.matrix().ncols())?;
        }
        Ok(Self {
            features: vec![0.0; model.size()],
            estimate: RecursiveLeastSquares::new(start, settings)?,
            change: change.map(Cusum::new).transpose()?,
            inflation: 1.0,
            model,
            readout,
        })
    }

    /// Widens the error bars by a factor of at least 1, measured on validation trajectories.
    #[must_use]
    pub fn with_inflation(mut self, factor: f64) -> Self {
        self.inflation = factor.max(1.0);
        self
    }

    /// How close the change detector is to an alarm, 0 to 1.
    pub fn alarm_level(&self) -> f64 {
        self.change.as_ref().map_or(0.0, Cusum::level)
    }
}

impl<M: AffineModel> OnlineModel for OnlineLeastSquares<M> {
    fn observe(&mut self, features: &[f64], input: f64) -> bool {
        let rest = input - self.model.features_into(features, &mut self.features);
        let innovation = self.estimate.update(&self.features, rest);
        let changed = match &mut self.change {
            Some(change) => change.update(innovation.normalised),
            None => false,
        };
        if changed {
            self.estimate.reset_covariance();
            self.estimate.update(&self.features, rest);
        }
        changed
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        let bias = self.model.features_into(features, &mut self.features);
        bias + self.estimate.predict(&self.features)
    }

    fn identify(&self) -> Option<Estimate> {
        let weights = self.estimate.weights();
        let (values, mut standard_errors) = match &self.readout {
            Readout::Direct => {
                let errors = (0..weights.len()).map(|i| self.estimate.standard_error(i));
                (weights.to_vec(), errors.collect::<Vec<f64>>())
            }
            Readout::Map(map) => {
                let size = weights.len();
                let spread = DMatrix::from_fn(size, size, |i, j| self.estimate.covariance(i, j));
                let covariance = map.covariance(weights, &spread).ok()?;
                let errors = covariance.diagonal().map(|v| v.max(0.0).sqrt());
                (
                    map.apply(weights).ok()?.as_slice().to_vec(),
                    errors.as_slice().to_vec(),
                )
            }
        };
        for error in &mut standard_errors {
            *error *= self.inflation;
        }
        Some(Estimate {
            values,
            standard_errors,
        })
    }
}
