//! `θ_t = θ − α ∇_θ ℓ(D_t; θ)`: model-agnostic meta-learning.
//!
//! The model is F(x; θ) = wᵀv(x; θ_v) with θ = (θ_v, w), all of which the inner loop adapts to one
//! half of a batch, by gradient steps on ℓ = ½ mean (F − y)²; the meta-loss is the error on the
//! other half. The inner gradient is written out as a differentiable quantity, so one outer
//! derivative gives the exact meta-gradient `(I − α∇²ℓ)…∇L` for any number of inner steps.
//! `first_order` leaves the Hessian out.

use std::sync::Arc;

use burn::tensor::Tensor;
use rand_chacha::ChaCha8Rng;

use super::{
    Adapted, Batch, Learner, LearnerError, Loss, Method, Settings, Shape, Shots, Workspace,
    anil::first_head,
    backbone::{apply_heads, pull_heads},
    descent::Descent,
    host::Scratch,
    net::Mlp,
};

/// MAML.
pub(super) const METHOD: Method = Method {
    name: "maml",
    title: "MAML",
    equation: "F(x; θ) = wᵀ v(x; θ), all weights by gradient steps from a learned start",
    zero_shot: false,
    trained_as: "maml",
    lbfgs: false,
    first_order: true,
    shared_part: false,
};

/// Model-agnostic meta-learning.
#[derive(Debug)]
struct Maml {
    features: Mlp,
    rate: f64,
    inner_steps: usize,
    adaptation_steps: usize,
    first_order: bool,
}

pub(super) fn build(settings: &Settings, shape: Shape) -> Result<Arc<dyn Learner>, LearnerError> {
    let sizes: Vec<usize> = [&[shape.inputs], &settings.hidden[..], &[settings.rank]].concat();
    Ok(Arc::new(Maml {
        features: Mlp::new(sizes)?,
        rate: settings.inner_rate,
        inner_steps: settings.inner_steps,
        adaptation_steps: settings.adaptation_steps,
        first_order: settings.first_order,
    }))
}

impl Maml {
    fn rank(&self) -> usize {
        self.features.output_size()
    }

    /// One inner step of the net's weights `[W, P]` and the heads `[T, r]`.
    fn inner_step(
        &self,
        weights: Tensor<2>,
        heads: Tensor<2>,
        support: &Batch,
    ) -> (Tensor<2>, Tensor<2>) {
        let features = self.features.forward(weights.clone(), support.x.clone());
        let residuals = apply_heads(features.clone(), heads.clone()) - support.y.clone();
        let residuals = residuals.div_scalar(support.rows() as f64);
        let pull = residuals.clone().unsqueeze_dim::<3>(2) * heads.clone().unsqueeze_dim::<3>(1);
        let weight_gradient = self
            .features
            .gradient(weights.clone(), support.x.clone(), pull);
        let head_gradient = pull_heads(features, residuals);
        let (weight_gradient, head_gradient) = if self.first_order {
            (weight_gradient.detach(), head_gradient.detach())
        } else {
            (weight_gradient, head_gradient)
        };
        (
            weights - weight_gradient.mul_scalar(self.rate),
            heads - head_gradient.mul_scalar(self.rate),
        )
    }
}

impl Learner for Maml {
    fn parameter_count(&self) -> usize {
        self.features.weight_count() + self.rank()
    }

    fn initial_parameters(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut parameters = self.features.initial_weights(rng);
        parameters.extend(first_head(self.rank(), rng));
        parameters
    }

    fn loss(&self, parameters: Tensor<1>, batch: &Batch) -> Loss {
        let (support, query) = batch.halves();
        let count = self.features.weight_count();
        let mut weights = parameters.clone().narrow(0, 0, count).unsqueeze::<2>();
        let mut heads = parameters
            .narrow(0, count, self.rank())
            .reshape([1, self.rank()])
            .expand([batch.tasks(), self.rank()]);
        for _ in 0..self.inner_steps {
            (weights, heads) = self.inner_step(weights, heads, &support);
        }
        let features = self.features.forward(weights, query.x);
        Loss::of_residuals(apply_heads(features, heads) - query.y)
    }

    fn context_size(&self) -> usize {
        self.rank()
    }

    fn adapted_weights(&self) -> usize {
        self.features.weight_count()
    }

    fn adapt(&self, parameters: &[f64], shots: Shots) -> Result<Adapted, LearnerError> {
        let (rank, count) = (self.rank(), shots.targets.len());
        let split = self.features.weight_count();
        let mut scratch = Scratch::default();
        let mut features = vec![0.0; count * rank];
        let mut pull = vec![0.0; count * rank];
        let descent = Descent {
            rate: self.rate,
            plain_steps: self.inner_steps,
            steps: self.adaptation_steps,
        };
        let mut weights = descent.run(parameters.to_vec(), |parameters, gradient| {
            let (weights, head) = parameters.split_at(split);
            let (weight_gradient, head_gradient) = gradient.split_at_mut(split);
            scratch.outputs(&self.features, weights, shots.inputs, &mut features);
            head_gradient.fill(0.0);
            let mut loss = 0.0;
            let rows = features.chunks_exact(rank).zip(pull.chunks_exact_mut(rank));
            for ((row, pull), y) in rows.zip(shots.targets) {
                let output = row.iter().zip(head).map(|(v, w)| v * w).sum::<f64>();
                let residual = (output - y) / count as f64;
                loss += 0.5 * residual * (output - y);
                for (g, v) in head_gradient.iter_mut().zip(row) {
                    *g += residual * v;
                }
                for (pull, w) in pull.iter_mut().zip(head) {
                    *pull = residual * w;
                }
            }
            let at = (weights, shots.inputs, &pull[..]);
            scratch.weight_gradient(&self.features, at, weight_gradient);
            loss
        });
        let context = weights.split_off(split);
        Ok(Adapted { context, weights })
    }

    fn with_context(&self, _parameters: &[f64], _context: &[f64]) -> Result<Adapted, LearnerError> {
        Err(LearnerError::Unsupported {
            method: METHOD.title,
            action: "be adapted by a context alone: it adapts all of its weights",
        })
    }

    fn predict(
        &self,
        _parameters: &[f64],
        adapted: &Adapted,
        inputs: &[f64],
        outputs: &mut [f64],
        workspace: &mut Workspace,
    ) {
        let rank = self.rank();
        workspace.features.resize(outputs.len() * rank, 0.0);
        let features = &mut workspace.features;
        workspace
            .net
            .outputs(&self.features, &adapted.weights, inputs, features);
        for (output, row) in outputs.iter_mut().zip(features.chunks_exact(rank)) {
            *output = row.iter().zip(&adapted.context).map(|(v, w)| v * w).sum();
        }
    }
}
