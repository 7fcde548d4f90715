//! `F(x; θ, ξ) = h(x, ξ; θ)`, `ξ ← ξ − α ∇_ξ ℓ` from ξ = 0: fast context adaptation.
//!
//! The context ξ enters the net as further inputs. The inner loop adapts ξ alone to one half of a
//! batch, by gradient steps on ℓ = ½ mean (F − y)²; the meta-loss is the error on the other half. The
//! inner gradient is written out as a differentiable quantity, so one outer derivative is the exact
//! second-order meta-gradient. `first_order` leaves the inner gradient out of the derivative.

use std::sync::Arc;

use burn::tensor::Tensor;
use rand_chacha::ChaCha8Rng;

use super::{
    Adapted, Batch, Learner, LearnerError, Loss, Method, Settings, Shape, Shots, Workspace,
    descent::Descent, host::Scratch, net::Mlp,
};

/// CAVIA.
pub(super) const METHOD: Method = Method {
    name: "cavia",
    title: "CAVIA",
    equation: "F(x; θ, ξ) = h(x, ξ; θ), ξ by gradient steps from 0",
    zero_shot: false,
    trained_as: "cavia",
    lbfgs: false,
    first_order: true,
    shared_part: false,
};

/// Fast context adaptation via meta-learning.
#[derive(Debug)]
struct Cavia {
    net: Mlp,
    inputs: usize,
    rate: f64,
    inner_steps: usize,
    adaptation_steps: usize,
    first_order: bool,
}

pub(super) fn build(settings: &Settings, shape: Shape) -> Result<Arc<dyn Learner>, LearnerError> {
    let inputs = shape.inputs + settings.rank;
    let sizes: Vec<usize> = [&[inputs], &settings.hidden[..], &[1]].concat();
    Ok(Arc::new(Cavia {
        net: Mlp::new(sizes)?,
        inputs: shape.inputs,
        rate: settings.inner_rate,
        inner_steps: settings.inner_steps,
        adaptation_steps: settings.adaptation_steps,
        first_order: settings.first_order,
    }))
}

impl Cavia {
    fn contexts(&self) -> usize {
        self.net.input_size() - self.inputs
    }

    /// Inputs `[X, N, d]` next to contexts `[T, k]`: `[T, N, d + k]`.
    fn join(&self, x: Tensor<3>, contexts: Tensor<2>) -> Tensor<3> {
        let [_, rows, dim] = x.dims();
        let [tasks, size] = contexts.dims();
        let x = x.expand([tasks, rows, dim]);
        let contexts = contexts.unsqueeze_dim::<3>(1).expand([tasks, rows, size]);
        Tensor::cat(vec![x, contexts], 2)
    }

    fn inner_step(&self, weights: Tensor<2>, contexts: Tensor<2>, support: &Batch) -> Tensor<2> {
        let x = self.join(support.x.clone(), contexts.clone());
        let outputs = self.net.forward(weights.clone(), x.clone());
        let residuals = outputs - support.y.clone().unsqueeze_dim::<3>(2);
        let residuals = residuals.div_scalar(support.rows() as f64);
        let gradient = self
            .net
            .input_gradient(weights, x, residuals)
            .narrow(2, self.inputs, self.contexts())
            .sum_dim(1)
            .squeeze_dim::<2>(1);
        let gradient = if self.first_order {
            gradient.detach()
        } else {
            gradient
        };
        contexts - gradient.mul_scalar(self.rate)
    }

    /// Input rows next to one context, on the host.
    fn join_rows(&self, rows: &[f64], context: &[f64], joined: &mut Vec<f64>) {
        joined.clear();
        for row in rows.chunks_exact(self.inputs) {
            joined.extend_from_slice(row);
            joined.extend_from_slice(context);
        }
    }
}

impl Learner for Cavia {
    fn parameter_count(&self) -> usize {
        self.net.weight_count()
    }

    fn initial_parameters(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        self.net.initial_weights(rng)
    }

    fn loss(&self, parameters: Tensor<1>, batch: &Batch) -> Loss {
        let (support, query) = batch.halves();
        let weights = parameters.unsqueeze::<2>();
        let place = (&weights.device(), weights.dtype());
        let mut contexts = Tensor::zeros([batch.tasks(), self.contexts()], place);
        for _ in 0..self.inner_steps {
            contexts = self.inner_step(weights.clone(), contexts, &support);
        }
        let outputs = self.net.forward(weights, self.join(query.x, contexts));
        Loss::of_residuals(outputs.squeeze_dim::<2>(2) - query.y)
    }

    fn context_size(&self) -> usize {
        self.contexts()
    }

    fn adapt(&self, parameters: &[f64], shots: Shots) -> Result<Adapted, LearnerError> {
        let count = shots.targets.len();
        let width = self.net.input_size();
        let mut outputs = vec![0.0; count];
        let (mut joined, mut pulls) = (Vec::new(), vec![0.0; count * width]);
        let mut scratch = Scratch::default();
        let descent = Descent {
            rate: self.rate,
            plain_steps: self.inner_steps,
            steps: self.adaptation_steps,
        };
        let context = descent.run(vec![0.0; self.contexts()], |context, gradient| {
            self.join_rows(shots.inputs, context, &mut joined);
            scratch.outputs(&self.net, parameters, &joined, &mut outputs);
            let mut loss = 0.0;
            for (output, y) in outputs.iter_mut().zip(shots.targets) {
                loss += 0.5 * (*output - y).powi(2) / count as f64;
                *output = (*output - y) / count as f64;
            }
            let at = (parameters, &joined[..], &outputs[..]);
            scratch.input_gradient(&self.net, at, &mut pulls);
            gradient.fill(0.0);
            for row in pulls.chunks_exact(width) {
                for (g, pull) in gradient.iter_mut().zip(&row[self.inputs..]) {
                    *g += pull;
                }
            }
            loss
        });
        Ok(Adapted::of_context(context))
    }

    fn predict(
        &self,
        parameters: &[f64],
        adapted: &Adapted,
        inputs: &[f64],
        outputs: &mut [f64],
        workspace: &mut Workspace,
    ) {
        let joined = &mut workspace.features;
        self.join_rows(inputs, adapted.context(), joined);
        workspace
            .net
            .outputs(&self.net, parameters, joined, outputs);
    }
}
