//! Models that are affine in what is identified: `F(x; w) = c(x) + wᵀ v(x)` (paper, Definition 1).
//!
//! The weights w may be the learned task weights ω, or the physical parameters φ themselves: with
//! the inverse map `ω = A φ + b` a learned model becomes
//!
//! ```text
//! F(x; φ) = [c(x) + bᵀ v(x)] + φᵀ Aᵀ v(x)
//! ```
//!
//! which is affine in φ (φ-CAMEL). Identifying in φ uses only the directions of ω that a physical
//! parameter can move, so fewer shots suffice and every error bar is in physical units.

use nalgebra::DMatrix;

use super::{
    affine_map::{AffineMap, Offset, Rank},
    error::{IdentificationError, check_length},
};
use crate::systems::{Robot, Samples};

/// A model that is affine in its weights.
pub trait AffineModel {
    /// Number of weights.
    fn size(&self) -> usize;

    /// Writes v(x) for the input row x and returns c(x). `features` has [`Self::size`] numbers.
    /// Takes `&mut self` so that a model may reuse its memory.
    fn features_into(&mut self, inputs: &[f64], features: &mut [f64]) -> f64;

    /// How much larger the model's own errors are to be expected with these weights than with those
    /// that it was trained on, 1 or more.
    fn reach(&self, _weights: &[f64]) -> f64 {
        1.0
    }
}

impl<M: AffineModel + ?Sized> AffineModel for Box<M> {
    fn size(&self) -> usize {
        (**self).size()
    }

    fn features_into(&mut self, inputs: &[f64], features: &mut [f64]) -> f64 {
        (**self).features_into(inputs, features)
    }

    fn reach(&self, weights: &[f64]) -> f64 {
        (**self).reach(weights)
    }
}

/// Features and bias of many input rows: V with one row each, and the biases.
pub fn regressors(model: &mut impl AffineModel, inputs: &Samples) -> (DMatrix<f64>, Vec<f64>) {
    let mut features = DMatrix::zeros(inputs.len(), model.size());
    let mut row = vec![0.0; model.size()];
    let biases = inputs
        .rows()
        .enumerate()
        .map(|(i, x)| {
            let bias = model.features_into(x, &mut row);
            features.row_mut(i).copy_from_slice(&row);
            bias
        })
        .collect();
    (features, biases)
}

/// The features of many input rows, row by row.
pub fn feature_rows(model: &mut impl AffineModel, inputs: &Samples) -> Vec<Vec<f64>> {
    let (features, _) = regressors(model, inputs);
    let rows = features.row_iter();
    rows.map(|row| row.iter().copied().collect()).collect()
}

/// A robot's exact inverse dynamics, which is affine in its parameters:
/// `ν_j(x) = ID(x; e_j) − ID(x; 0)`. What a perfectly trained model would know.
#[derive(Clone, Debug)]
pub struct KnownFeatures<R> {
    robot: R,
    probe: Vec<f64>,
}

impl<R: Robot> KnownFeatures<R> {
    /// The exact features of a robot whose inverse dynamics is affine in its parameters.
    pub fn new(robot: R) -> Self {
        let probe = vec![0.0; robot.description().parameters.len()];
        Self { robot, probe }
    }
}

impl<R: Robot> AffineModel for KnownFeatures<R> {
    fn size(&self) -> usize {
        self.probe.len()
    }

    fn features_into(&mut self, inputs: &[f64], features: &mut [f64]) -> f64 {
        let bias = self.robot.inverse(&self.probe, inputs);
        for (j, feature) in features.iter_mut().enumerate() {
            self.probe[j] = 1.0;
            *feature = self.robot.inverse(&self.probe, inputs) - bias;
            self.probe[j] = 0.0;
        }
        bias
    }
}

/// A learned model with its physical parameters φ as weights (φ-CAMEL).
#[derive(Clone, Debug)]
pub struct PhysicalModel<M> {
    model: M,
    to_weights: AffineMap,
    weights: Vec<f64>,
}

impl<M: AffineModel> PhysicalModel<M> {
    /// From a model with task weights ω and the map φ ↦ ω.
    pub fn new(model: M, to_weights: AffineMap) -> Result<Self, IdentificationError> {
        check_length("the map's offset", model.size(), to_weights.offset().len())?;
        let weights = vec![0.0; model.size()];
        Ok(Self {
            model,
            to_weights,
            weights,
        })
    }

    /// From a model, and the weights ω and parameters φ of its training tasks.
    pub fn of_tasks(
        model: M,
        weights: &[Vec<f64>],
        parameters: &[Vec<f64>],
        offset: Offset,
    ) -> Result<Self, IdentificationError> {
        let rank = Rank::Numerical(0.0);
        let map = AffineMap::fit(parameters, weights, rank, offset)?;
        Self::new(model, map)
    }

    /// The map φ ↦ ω.
    pub fn map(&self) -> &AffineMap {
        &self.to_weights
    }

    /// The task weights ω that stand for parameters φ.
    pub fn task_weights(&self, parameters: &[f64]) -> Result<Vec<f64>, IdentificationError> {
        Ok(self.to_weights.apply(parameters)?.as_slice().to_vec())
    }
}

impl<M: AffineModel> AffineModel for PhysicalModel<M> {
    fn size(&self) -> usize {
        self.to_weights.matrix().ncols()
    }

    fn features_into(&mut self, inputs: &[f64], features: &mut [f64]) -> f64 {
        let bias = self.model.features_into(inputs, &mut self.weights);
        for (feature, column) in features
            .iter_mut()
            .zip(self.to_weights.matrix().column_iter())
        {
            *feature = dot(column.as_slice(), &self.weights);
        }
        bias + dot(self.to_weights.offset().as_slice(), &self.weights)
    }

    /// The error of the map φ ↦ ω grows away from the training tasks.
    fn reach(&self, weights: &[f64]) -> f64 {
        self.to_weights.reach(weights)
    }
}

/// A model that is affine in its weights, adapted to one task.
#[derive(Clone, Debug)]
pub struct AdaptedModel<M> {
    model: M,
    weights: Vec<f64>,
    features: Vec<f64>,
}

impl<M: AffineModel> AdaptedModel<M> {
    /// The model with these weights.
    pub fn new(model: M, weights: &[f64]) -> Result<Self, IdentificationError> {
        check_length("the weights", model.size(), weights.len())?;
        Ok(Self {
            features: vec![0.0; model.size()],
            weights: weights.to_vec(),
            model,
        })
    }

    /// The prediction for input row x.
    pub fn predict(&mut self, inputs: &[f64]) -> f64 {
        let bias = self.model.features_into(inputs, &mut self.features);
        bias + dot(&self.weights, &self.features)
    }
}

/// Σ aᵢ bᵢ.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;

    use super::*;
    use crate::{
        identification::spectrum::Spectrum,
        systems::{Split, System as _, cartpole::Cartpole},
    };

    /// The weights that fit shots best, or how many directions of them the shots move where not all.
    fn adapt(
        model: &mut impl AffineModel,
        inputs: &Samples,
        targets: &[f64],
    ) -> Result<DVector<f64>, usize> {
        let (features, biases) = regressors(model, inputs);
        let rest = DVector::from_column_slice(targets) - DVector::from_vec(biases);
        let rank = Spectrum::of(&features).rank;
        match rank == model.size() {
            true => Ok(features.svd(true, true).solve(&rest, 0.0).unwrap()),
            false => Err(rank),
        }
    }

    /// Four redundant task weights over two known features: what a trained model looks like.
    struct Redundant(KnownFeatures<Cartpole>);

    fn task_weights(phi: &[f64]) -> Vec<f64> {
        vec![phi[0], phi[1], 0.3 * phi[0] - phi[1], 2.0]
    }

    impl AffineModel for Redundant {
        fn size(&self) -> usize {
            4
        }

        fn features_into(&mut self, inputs: &[f64], features: &mut [f64]) -> f64 {
            let mut known = [0.0; 2];
            self.0.features_into(inputs, &mut known);
            let wave = inputs[0].sin();
            features[2] = wave;
            features[3] = 0.5 * wave;
            features[0] = known[0] - 0.3 * wave;
            features[1] = known[1] + wave;
            -wave
        }
    }

    fn physical() -> PhysicalModel<Redundant> {
        let system = Cartpole::default();
        let phi = system.environments(Split::Train, 0);
        let omega: Vec<Vec<f64>> = phi.iter().map(|p| task_weights(p)).collect();
        let model = Redundant(KnownFeatures::new(system));
        PhysicalModel::of_tasks(model, &omega, &phi, Offset::Free).unwrap()
    }

    #[test]
    fn known_features_reproduce_the_inverse_dynamics() {
        let system = Cartpole::default();
        let task = system.task(&[1.8, 0.27], Split::Test, 1).unwrap();
        let mut model = KnownFeatures::new(system);
        let masses = adapt(&mut model, &task.inputs, &task.targets).unwrap();
        assert!((masses[0] - 1.8).abs() < 1e-9 && (masses[1] - 0.27).abs() < 1e-9);
    }

    #[test]
    fn masses_are_identified_where_the_task_weights_are_not() {
        let task = Cartpole::default()
            .task(&[2.2, 0.33], Split::Test, 2)
            .unwrap();
        let shots = Samples {
            dim: task.inputs.dim,
            values: task.inputs.values[..20 * task.inputs.dim].to_vec(),
        };
        let targets = &task.targets[..20];
        let mut redundant = Redundant(KnownFeatures::new(Cartpole::default()));
        assert_eq!(adapt(&mut redundant, &shots, targets), Err(3));
        let masses = adapt(&mut physical(), &shots, targets).unwrap();
        assert!((masses[0] - 2.2).abs() < 1e-6 && (masses[1] - 0.33).abs() < 1e-6);
    }

    #[test]
    fn known_masses_need_no_shot() {
        let mut model = physical();
        assert!((model.task_weights(&[3.0, 0.1]).unwrap()[2] - 0.8).abs() < 1e-9);
        let task = Cartpole::default()
            .task(&[3.0, 0.1], Split::Test, 3)
            .unwrap();
        let mut features = [0.0; 2];
        for (x, u) in task.inputs.rows().zip(&task.targets) {
            let bias = model.features_into(x, &mut features);
            assert!((bias + dot(&features, &[3.0, 0.1]) - u).abs() < 1e-9);
        }
    }
}
