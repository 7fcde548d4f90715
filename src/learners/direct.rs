//! `E = mean (c(x) + w_tᵀv(x) − y)²` and its derivative on the CPU, without tensors.
//!
//! The affine learners differ in where the head w_t of a task comes from: a [`HeadRule`], written
//! next to the learner. The nets go forward once for all rows, the rule gives the error and pulls at
//! features, bias and its own parameters, and the nets go back once. On inputs that all tasks share, all
//! that does not depend on targets is computed once as well: a task adds its products with the features.

use std::fmt::Debug;

use super::{
    Backbone,
    heads::{Features, HeadRule, Problem, Pulls},
    net::{Block, Mlp, Number, with_scratch},
};

/// Where a meta-loss is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T> {
    /// All meta-parameters π.
    pub parameters: &'a [T],
    /// Inputs `[X, N, d]`.
    pub x: &'a [T],
    /// Targets `[T, N]`.
    pub y: &'a [T],
    /// Blocks of inputs X, 1 or T.
    pub groups: usize,
    /// Tasks T.
    pub tasks: usize,
    /// Rows of a task N.
    pub rows: usize,
}

/// A meta-loss and its gradient without tensors.
pub trait Direct: Debug + Send + Sync {
    /// The loss in single precision; adds its derivative to `gradient`.
    fn single(&self, at: Rows<f32>, gradient: &mut [f32]) -> f32;

    /// The loss in double precision; adds its derivative to `gradient`.
    fn double(&self, at: Rows<f64>, gradient: &mut [f64]) -> f64;
}

/// The meta-loss of nets under heads that a rule gives.
#[derive(Debug)]
pub(super) struct AffineLoss<H> {
    pub backbone: Backbone,
    pub heads: H,
}

impl<H: HeadRule> Direct for AffineLoss<H> {
    fn single(&self, at: Rows<f32>, gradient: &mut [f32]) -> f32 {
        self.error(at, gradient)
    }

    fn double(&self, at: Rows<f64>, gradient: &mut [f64]) -> f64 {
        self.error(at, gradient)
    }
}

impl<H: HeadRule> AffineLoss<H> {
    fn error<T: Number>(&self, at: Rows<T>, gradient: &mut [T]) -> T {
        let (net, bias_net) = self.backbone.nets();
        let (weights, rest) = at.parameters.split_at(net.weight_count());
        let (weight_pull, rest_pull) = gradient.split_at_mut(net.weight_count());
        let bias_count = bias_net.map_or(0, Mlp::weight_count);
        let (bias_weights, own) = rest.split_at(bias_count);
        let (bias_pull, own_pull) = rest_pull.split_at_mut(bias_count);

        let features = Evaluated::of(net, weights, at.x);
        let bias = bias_net.map(|net| Evaluated::of(net, bias_weights, at.x));
        let targets = bias.as_ref().map(|c| c.subtracted_from(at.y));
        let targets = targets.as_deref().unwrap_or(at.y);
        let (error, feature_pull, output_pull) =
            self.under_heads(at, &features, targets, (own, own_pull));

        features.back(net, (weights, at.x), &feature_pull, weight_pull);
        if let (Some(net), Some(bias)) = (bias_net, bias) {
            let pull = summed_tasks(&output_pull, at.groups * at.rows);
            bias.back(net, (bias_weights, at.x), &pull, bias_pull);
        }
        error
    }

    /// The error of all tasks, and the pulls at features `[X, N, r]` and outputs `[T, N]`.
    fn under_heads<T: Number>(
        &self,
        at: Rows<T>,
        features: &Evaluated<T>,
        targets: &[T],
        (own, own_pull): (&[T], &mut [T]),
    ) -> (T, Block<T>, Block<T>) {
        let (rank, rows) = (self.backbone.rank(), at.rows);
        let columns = transposed(&features.outputs, rank, rows);
        let mut feature_pull = Block::zeros(columns.len());
        let mut output_pull = Block::of_any_content(targets.len());
        let (mut error, mut shared) = (T::ZERO, H::Shared::default());
        let groups = columns.chunks_exact(rank * rows);
        let pulled = feature_pull.chunks_exact_mut(rank * rows);
        for (group, (values, pulled)) in groups.zip(pulled).enumerate() {
            let features = Features { values, rows };
            self.heads.share(features, own, &mut shared);
            for task in (group..at.tasks).step_by(at.groups) {
                let place = task * rows..(task + 1) * rows;
                let problem = Problem {
                    task,
                    tasks: at.tasks,
                    own,
                    features,
                    targets: &targets[place.clone()],
                };
                let pulls = Pulls {
                    own: &mut *own_pull,
                    features: &mut *pulled,
                    outputs: &mut output_pull[place],
                };
                error += self.heads.error(problem, pulls, &mut shared);
            }
            self.heads.pull_shared(features, pulled, &shared);
        }
        (error, transposed(&feature_pull, rows, rank), output_pull)
    }
}

/// A net's outputs, and what the way back needs.
struct Evaluated<T: Number> {
    outputs: Block<T>,
    kept: Block<T>,
}

impl<T: Number> Evaluated<T> {
    fn of(net: &Mlp, weights: &[T], x: &[T]) -> Self {
        let rows = x.len() / net.input_size();
        let mut outputs = Block::of_any_content(rows * net.output_size());
        let kept = with_scratch(net.sizes(), |scratch| {
            let mut kept = Block::of_any_content(rows * scratch.kept_width());
            scratch.load(weights);
            scratch.forward(x, &mut outputs, Some(&mut kept));
            kept
        });
        Self { outputs, kept }
    }

    fn back(self, net: &Mlp, (weights, x): (&[T], &[T]), dy: &[T], dw: &mut [T]) {
        with_scratch(net.sizes(), |scratch| {
            scratch.load_both(weights);
            scratch.backward(x, dy, Some(&self.kept), Some(dw), None);
        });
    }

    /// `y − c`, for every task on shared or own outputs.
    fn subtracted_from(&self, y: &[T]) -> Block<T> {
        let mut rest = Block::of_any_content(y.len());
        for ((rest, y), c) in rest.iter_mut().zip(y).zip(self.outputs.iter().cycle()) {
            *rest = *y - *c;
        }
        rest
    }
}

/// Blocks of `columns` × `rows` numbers from blocks of `rows` × `columns`.
fn transposed<T: Number>(values: &[T], columns: usize, rows: usize) -> Block<T> {
    let mut result = Block::of_any_content(values.len());
    let size = columns * rows;
    for (from, to) in values.chunks_exact(size).zip(result.chunks_exact_mut(size)) {
        for (k, column) in to.chunks_exact_mut(rows).enumerate() {
            for (to, from) in column.iter_mut().zip(from[k..].iter().step_by(columns)) {
                *to = *from;
            }
        }
    }
    result
}

/// The sum of blocks of `size` numbers.
fn summed_tasks<T: Number>(values: &[T], size: usize) -> Block<T> {
    let mut sum = Block::zeros(size);
    for block in values.chunks_exact(size) {
        for (sum, value) in sum.iter_mut().zip(block) {
            *sum += *value;
        }
    }
    sum
}
