//! `F(x; θ, w) = h(x; θ + w)`, `w = Θξ`: context-informed dynamics adaptation.
//!
//! The meta-parameters π = (θ, Θ, ξ_1, …, ξ_T) hold a context ξ_t for every training task and a
//! linear hypernetwork Θ that turns contexts into changes of all weights. The regulariser is
//! `R(π) = a Σ_t ‖ξ_t‖₂² + b Σ_p ‖Θ_p‖₂`, with Θ_p the row of weight p, so that few weights depend
//! on the context: squared ℓ2 norms of contexts, and an ℓ1 norm of row norms (a group lasso) of the
//! hypernetwork. The ℓ2 version of the CoDA paper, b ‖Θ‖², is not offered. It stands beside the mean of
//! the T tasks' errors, so that one task's error has T a ‖ξ‖₂² beside it, in training as in adaptation.
//! A new task is adapted to by minimising both over ξ with θ and Θ fixed, by a quasi-Newton method from
//! the mean training context.

use std::sync::Arc;

use burn::tensor::Tensor;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

use super::{
    Adapted, Batch, Learner, LearnerError, Loss, Method, Settings, Shape, Shots, Workspace,
    direct::{Direct, Rows},
    heads::{add_scaled, dot},
    host::Scratch,
    lbfgs,
    net::{Block, Mlp, Number, with_scratch},
};

/// CoDA.
pub(super) const METHOD: Method = Method {
    name: "coda",
    title: "CoDA",
    equation: "F(x; θ, ξ) = h(x; θ + Θ ξ), ξ by descent with θ and Θ fixed",
    zero_shot: false,
    trained_as: "coda",
    lbfgs: false,
    first_order: false,
    shared_part: false,
};

/// Size of the hypernetwork's first entries.
const FIRST_HYPERNETWORK: f64 = 0.1;
/// Smooths the row norms at zero.
const NORM_FLOOR: f64 = 1e-12;
/// Gradient of the adaptation loss at which ξ counts as converged.
const TOLERANCE: f64 = 1e-9;

/// Context-informed dynamics adaptation.
#[derive(Clone, Debug)]
struct Coda {
    net: Mlp,
    contexts: usize,
    tasks: usize,
    adaptation_steps: usize,
    context_penalty: f64,
    network_penalty: f64,
}

pub(super) fn build(settings: &Settings, shape: Shape) -> Result<Arc<dyn Learner>, LearnerError> {
    Ok(Arc::new(Coda::new(settings, shape)?))
}

impl Coda {
    fn new(settings: &Settings, shape: Shape) -> Result<Self, LearnerError> {
        let sizes: Vec<usize> = [&[shape.inputs], &settings.hidden[..], &[1]].concat();
        Ok(Self {
            net: Mlp::new(sizes)?,
            contexts: settings.rank,
            tasks: shape.tasks,
            adaptation_steps: settings.adaptation_steps,
            context_penalty: settings.context_penalty,
            network_penalty: settings.network_penalty,
        })
    }

    /// Where Θᵀ `[k, P]` and ξ `[T, k]` start in the flat parameters.
    fn starts(&self) -> (usize, usize) {
        let count = self.net.weight_count();
        (count, count * (1 + self.contexts))
    }

    /// R(π) of Θᵀ `[k, P]` and ξ `[T, k]`.
    fn penalty(&self, hypernetwork: Tensor<2>, contexts: Tensor<2>) -> Tensor<1> {
        let rows = hypernetwork.square().sum_dim(0).add_scalar(NORM_FLOOR);
        let contexts = contexts.square().sum();
        contexts.mul_scalar(self.context_penalty)
            + rows.sqrt().sum().mul_scalar(self.network_penalty)
    }

    /// θ + Θξ on the host.
    fn weights(&self, parameters: &[f64], context: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.net.weight_count()];
        self.write_weights(parameters, context, &mut weights);
        weights
    }

    fn write_weights(&self, parameters: &[f64], context: &[f64], weights: &mut [f64]) {
        let count = weights.len();
        weights.copy_from_slice(&parameters[..count]);
        let columns = parameters[count..].chunks_exact(count);
        for (column, xi) in columns.zip(context) {
            for (weight, theta) in weights.iter_mut().zip(column) {
                *weight += theta * xi;
            }
        }
    }

    fn memory(&self, shots: Shots) -> Memory {
        let count = self.net.weight_count();
        Memory {
            outputs: vec![0.0; shots.targets.len()],
            weights: vec![0.0; count],
            pulls: vec![0.0; count],
            scratch: Scratch::default(),
        }
    }

    fn mean_context(&self, parameters: &[f64]) -> Vec<f64> {
        let mut mean = vec![0.0; self.contexts];
        let (_, start) = self.starts();
        for context in parameters[start..].chunks_exact(self.contexts) {
            for (m, xi) in mean.iter_mut().zip(context) {
                *m += xi / self.tasks as f64;
            }
        }
        mean
    }

    /// The adaptation loss `mean (F − y)² + T a ‖ξ‖₂²` and its gradient in ξ.
    fn adaptation_loss(
        &self,
        parameters: &[f64],
        shots: Shots,
        context: &[f64],
        gradient: &mut [f64],
        memory: &mut Memory,
    ) -> f64 {
        let count = shots.targets.len() as f64;
        let Memory {
            outputs,
            weights,
            pulls,
            scratch,
        } = memory;
        self.write_weights(parameters, context, weights);
        scratch.outputs(&self.net, weights, shots.inputs, outputs);
        let mut loss = 0.0;
        for (output, y) in outputs.iter_mut().zip(shots.targets) {
            let residual = *output - y;
            loss += residual * residual / count;
            *output = 2.0 * residual / count;
        }
        let at = (&weights[..], shots.inputs, &outputs[..]);
        scratch.weight_gradient(&self.net, at, pulls);
        let penalty = self.tasks as f64 * self.context_penalty;
        let columns = parameters[weights.len()..].chunks_exact(weights.len());
        for ((g, column), xi) in gradient.iter_mut().zip(columns).zip(context) {
            let pull: f64 = column.iter().zip(pulls.iter()).map(|(c, p)| c * p).sum();
            *g = pull + 2.0 * penalty * xi;
            loss += penalty * xi * xi;
        }
        loss
    }
}

impl Direct for Coda {
    fn single(&self, at: Rows<f32>, gradient: &mut [f32]) -> f32 {
        self.error(at, gradient)
    }

    fn double(&self, at: Rows<f64>, gradient: &mut [f64]) -> f64 {
        self.error(at, gradient)
    }
}

impl Coda {
    /// The mean of the tasks' errors; adds the derivative of the objective, R(π) included.
    fn error<T: Number>(&self, at: Rows<T>, gradient: &mut [T]) -> T {
        let count = self.net.weight_count();
        let (theta, rest) = at.parameters.split_at(count);
        let (columns, contexts) = rest.split_at(self.contexts * count);
        let (theta_pull, rest) = gradient.split_at_mut(count);
        let (column_pulls, context_pulls) = rest.split_at_mut(self.contexts * count);
        let (mut weights, mut pulls) = (Block::of_any_content(count), Block::zeros(count));
        let mut error = T::ZERO;
        let of_tasks = contexts.chunks_exact(self.contexts);
        let pulled = context_pulls.chunks_exact_mut(self.contexts);
        for (task, (context, context_pull)) in of_tasks.zip(pulled).enumerate() {
            weights.copy_from_slice(theta);
            for (column, xi) in columns.chunks_exact(count).zip(context) {
                add_scaled(&mut weights, *xi, column);
            }
            pulls.fill(T::ZERO);
            error += self.task_error(at, task, &weights, &mut pulls);
            add_scaled(theta_pull, T::ONE, &pulls);
            let columns = columns.chunks_exact(count);
            let column_pulls = column_pulls.chunks_exact_mut(count);
            let of_contexts = context.iter().zip(context_pull);
            for ((column, column_pull), (xi, xi_pull)) in columns.zip(column_pulls).zip(of_contexts)
            {
                add_scaled(column_pull, *xi, &pulls);
                *xi_pull += dot(column, &pulls);
            }
        }
        let penalty = T::from_f64(2.0 * self.context_penalty);
        add_scaled(context_pulls, penalty, contexts);
        self.pull_rows(columns, column_pulls);
        error
    }

    /// A task's share of the error, and its pulls at the task's weights.
    fn task_error<T: Number>(&self, at: Rows<T>, task: usize, weights: &[T], pulls: &mut [T]) -> T {
        let inputs = at.rows * self.net.input_size();
        let x = &at.x[(task % at.groups) * inputs..][..inputs];
        let y = &at.y[task * at.rows..][..at.rows];
        let share = T::from_f64(1.0 / (at.tasks * at.rows) as f64);
        let twice = share + share;
        let mut outputs = Block::of_any_content(at.rows);
        with_scratch(self.net.sizes(), |scratch| {
            let mut kept = Block::of_any_content(at.rows * scratch.kept_width());
            scratch.load_both(weights);
            scratch.forward(x, &mut outputs, Some(&mut kept));
            let mut squares = T::ZERO;
            for (output, y) in outputs.iter_mut().zip(y) {
                let residual = *output - *y;
                squares += residual * residual;
                *output = twice * residual;
            }
            scratch.backward(x, &outputs, Some(&kept), Some(pulls), None);
            share * squares
        })
    }

    /// Adds the derivative of `b Σ_p ‖Θ_p‖₂`.
    fn pull_rows<T: Number>(&self, columns: &[T], pulls: &mut [T]) {
        let count = self.net.weight_count();
        let mut rows = Block::of_any_content(count);
        rows.fill(T::from_f64(NORM_FLOOR));
        for column in columns.chunks_exact(count) {
            for (row, value) in rows.iter_mut().zip(column) {
                *row += *value * *value;
            }
        }
        let penalty = T::from_f64(self.network_penalty);
        for row in rows.iter_mut() {
            *row = penalty / row.sqrt();
        }
        let columns = columns.chunks_exact(count);
        for (column, pulls) in columns.zip(pulls.chunks_exact_mut(count)) {
            for ((pull, value), row) in pulls.iter_mut().zip(column).zip(rows.iter()) {
                *pull += *row * *value;
            }
        }
    }
}

/// What an adaptation computes with, so that its steps do not allocate.
struct Memory {
    outputs: Vec<f64>,
    weights: Vec<f64>,
    /// Derivatives by the weights.
    pulls: Vec<f64>,
    scratch: Scratch,
}

impl Learner for Coda {
    fn parameter_count(&self) -> usize {
        self.starts().1 + self.tasks * self.contexts
    }

    fn initial_parameters(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut parameters = self.net.initial_weights(rng);
        let draws = StandardNormal.sample_iter(rng);
        let hypernetwork = draws.take(self.contexts * self.net.weight_count());
        parameters.extend(hypernetwork.map(|w: f64| FIRST_HYPERNETWORK * w));
        parameters.resize(self.parameter_count(), 0.0);
        parameters
    }

    fn loss(&self, parameters: Tensor<1>, batch: &Batch) -> Loss {
        let count = self.net.weight_count();
        let (network_start, context_start) = self.starts();
        let shared = parameters.clone().narrow(0, 0, count).unsqueeze::<2>();
        let hypernetwork = parameters
            .clone()
            .narrow(0, network_start, self.contexts * count)
            .reshape([self.contexts, count]);
        let contexts = parameters
            .narrow(0, context_start, self.tasks * self.contexts)
            .reshape([self.tasks, self.contexts]);
        let weights = shared + contexts.clone().matmul(hypernetwork.clone());
        let outputs = self.net.forward(weights, batch.x.clone());
        Loss::of_residuals(outputs.squeeze_dim::<2>(2) - batch.y.clone())
            .regularised(self.penalty(hypernetwork, contexts))
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(self.clone()))
    }

    fn context_size(&self) -> usize {
        self.contexts
    }

    fn adapted_weights(&self) -> usize {
        self.net.weight_count()
    }

    fn trained_context(&self, parameters: &[f64], task: usize) -> Option<Vec<f64>> {
        let (_, start) = self.starts();
        let mut contexts = parameters[start..].chunks_exact(self.contexts);
        contexts.nth(task).map(<[f64]>::to_vec)
    }

    fn adapt(&self, parameters: &[f64], shots: Shots) -> Result<Adapted, LearnerError> {
        let mut memory = self.memory(shots);
        let start = self.mean_context(parameters);
        let context = lbfgs::minimise(start, self.adaptation_steps, TOLERANCE, |xi, gradient| {
            self.adaptation_loss(parameters, shots, xi, gradient, &mut memory)
        });
        self.with_context(parameters, &context)
    }

    fn with_context(&self, parameters: &[f64], context: &[f64]) -> Result<Adapted, LearnerError> {
        Ok(Adapted {
            context: context.to_vec(),
            weights: self.weights(parameters, context),
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
        let net = &mut workspace.net;
        net.outputs(&self.net, &adapted.weights, inputs, outputs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::{evaluate::Trial, table::protocol},
        identification::trials::test_environment,
        learners::{Model, weights},
        random::generator,
        systems::{self, System},
    };

    /// Norm of the gradient at the end of an adaptation, relative to that at its start.
    fn gradient_left(model: &Model, trial: &Trial) -> f64 {
        let coda = Coda::new(&model.settings, model.shape).unwrap();
        let (scaling, parameters) = (&model.scaling, &model.parameters[..]);
        let mut inputs = Vec::new();
        scaling.inputs_into(&trial.inputs.values, &mut inputs);
        let targets: Vec<f64> = trial.targets.iter().map(|&y| scaling.target(y)).collect();
        let shots = Shots {
            inputs: &inputs,
            targets: &targets,
        };
        let adapted = coda.adapt(parameters, shots).unwrap();
        let mut memory = coda.memory(shots);
        let [start, end] = [&coda.mean_context(parameters), &adapted.context].map(|context| {
            let mut gradient = vec![0.0; coda.contexts];
            coda.adaptation_loss(parameters, shots, context, &mut gradient, &mut memory);
            gradient.iter().map(|g| g * g).sum::<f64>().sqrt()
        });
        end / start
    }

    fn shipped(system: &str) -> Model {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/public/weights");
        let bytes = std::fs::read(format!("{folder}/{system}-coda.safetensors")).unwrap();
        weights::import(&bytes).unwrap()
    }

    /// The paper adapts "until convergence"; the settings give a largest number of steps.
    #[test]
    fn shipped_models_adapt_until_they_converge() {
        for system in systems::NAMES {
            let (model, physics) = (shipped(system), systems::by_name(system).unwrap());
            let physics: &dyn System = physics.as_ref();
            for &shots in protocol(system).shots {
                for number in 0..5 {
                    let (phi, seed) = test_environment(physics, number, 1);
                    let trial = Trial::new(physics, &phi, shots, 0.0, seed).unwrap();
                    let left = gradient_left(&model, &trial);
                    assert!(
                        left < 1e-5,
                        "{system}, {shots} shots, environment {number}: {left:e}"
                    );
                }
            }
        }
    }

    /// The paper: d_ξ = r, and Θ of size p × d_ξ, on the net that all methods share.
    #[test]
    fn the_hypernetwork_has_a_column_for_each_of_the_r_contexts() {
        for (system, inputs, tasks, weights) in [("cartpole", 6, 4, 673), ("arm", 6, 9, 12_993)] {
            let settings = Settings::new(system, "coda").unwrap();
            let coda = build(&settings, Shape { inputs, tasks }).unwrap();
            let contexts = settings.rank;
            assert_eq!(coda.context_size(), contexts);
            let count = weights + weights * contexts + tasks * contexts;
            assert_eq!(coda.parameter_count(), count, "{system}");
            let first = coda.initial_parameters(&mut generator(0, 0));
            assert_eq!(first.len(), count);
            let adapted = coda.with_context(&first, &vec![0.0; contexts]).unwrap();
            assert_eq!(adapted.weights, first[..weights], "θ + Θ0 = θ");
        }
    }
}
