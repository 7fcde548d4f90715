//! `w ← w − α/n Σ_i (wᵀv(x_i) − y_i) v(x_i)` from a learned w₀: almost no inner loop.
//!
//! The model is F(x; θ, w) = wᵀv(x; θ). The inner gradient loop adapts the head w alone, to one half
//! of a batch; the meta-loss is the error on the other half. The inner gradient is written out with
//! tensor operations, so one outer derivative is the exact second-order meta-gradient for any
//! number of inner steps. `first_order` leaves the inner gradient out of the derivative.

use std::sync::Arc;

use burn::tensor::Tensor;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

use super::{
    Adapted, Backbone, Batch, Learner, LearnerError, Loss, Method, Settings, Shape, Shots,
    Workspace,
    backbone::{apply_heads, pull_heads},
    descent::Descent,
    direct::{AffineLoss, Direct},
    heads::{Features, Head, HeadRule, Problem, Pulls},
    net::Scalar,
};

/// ANIL.
pub(super) const METHOD: Method = Method {
    name: "anil",
    title: "ANIL",
    equation: "F(x; θ, w) = wᵀ v(x; θ), w by gradient steps from a learned start",
    zero_shot: false,
    trained_as: "anil",
    lbfgs: true,
    first_order: true,
    shared_part: false,
};

/// Almost no inner loop.
#[derive(Debug)]
struct Anil {
    backbone: Backbone,
    rate: f64,
    inner_steps: usize,
    adaptation_steps: usize,
    first_order: bool,
}

pub(super) fn build(settings: &Settings, shape: Shape) -> Result<Arc<dyn Learner>, LearnerError> {
    Ok(Arc::new(Anil {
        backbone: Backbone::new(settings, shape.inputs)?,
        rate: settings.inner_rate,
        inner_steps: settings.inner_steps,
        adaptation_steps: settings.adaptation_steps,
        first_order: settings.first_order,
    }))
}

/// Random heads of the size that keeps outputs of order one.
pub(super) fn first_head(rank: usize, rng: &mut ChaCha8Rng) -> impl Iterator<Item = f64> {
    let scale = (rank as f64).sqrt().recip();
    StandardNormal
        .sample_iter(rng)
        .take(rank)
        .map(move |w: f64| scale * w)
}

impl Anil {
    fn descent(&self) -> Descent {
        Descent {
            rate: self.rate,
            plain_steps: self.inner_steps,
            steps: self.adaptation_steps,
        }
    }
}

/// Heads after gradient steps `w ← w − α(Gw − b)`.
#[derive(Debug)]
struct Descended {
    rate: f64,
    steps: usize,
    first_order: bool,
}

/// The Gram matrix, memory for a head and its way, and the sum of the tasks' pulls at the Gram matrix.
#[derive(Debug, Default)]
struct Way {
    gram: Vec<f64>,
    vector: Vec<f64>,
    /// The heads before each step, one after the other.
    path: Vec<f64>,
    head: Head,
    moves: Vec<f64>,
    by_vector: Vec<f64>,
    by_gram: Vec<f64>,
}

impl HeadRule for Descended {
    type Shared = Way;

    fn share<T: Scalar>(&self, features: Features<T>, _own: &[T], way: &mut Way) {
        let rank = features.rank();
        way.gram.resize(rank * rank, 0.0);
        features.gram_into(features.halves().0, &mut way.gram);
        way.head.resize(rank);
        for numbers in [&mut way.vector, &mut way.moves, &mut way.by_vector] {
            numbers.resize(rank, 0.0);
        }
        way.path.resize(self.steps * rank, 0.0);
        way.by_gram.clear();
        way.by_gram.resize(rank * rank, 0.0);
    }

    fn error<T: Scalar>(&self, problem: Problem<T>, mut pulls: Pulls<T>, way: &mut Way) -> T {
        let (support, query) = problem.features.halves();
        problem.vector_into(support.clone(), &mut way.vector);
        for (weight, own) in way.head.weights.iter_mut().zip(problem.own) {
            *weight = own.to_f64();
        }
        self.descend(way);
        let error = problem.judge(&mut way.head, query, &mut pulls);
        self.back(way);
        problem.pull_vector(&way.by_vector, support, &mut pulls);
        for (own, pull) in pulls.own.iter_mut().zip(&way.head.pull) {
            *own += T::from_f64(*pull);
        }
        error
    }

    fn pull_shared<T: Scalar>(&self, features: Features<T>, pulled: &mut [T], way: &Way) {
        features.pull_gram(&way.by_gram, features.halves().0, pulled);
    }
}

impl Descended {
    /// Takes the steps from the first head, and writes down the heads before each.
    fn descend(&self, way: &mut Way) {
        let Way {
            gram,
            vector,
            path,
            head,
            moves,
            ..
        } = way;
        for before in path.chunks_exact_mut(vector.len()) {
            before.copy_from_slice(&head.weights);
            for ((by, gw), b) in moves.iter_mut().zip(times(gram, before)).zip(&*vector) {
                *by = self.rate * (gw - b);
            }
            subtract(&mut head.weights, moves);
        }
    }

    /// Takes the pull at the last head back to the first, writes that at the vector and adds that at the
    /// Gram matrix.
    fn back(&self, way: &mut Way) {
        way.by_vector.fill(0.0);
        if self.first_order {
            return;
        }
        let (rank, pull) = (way.vector.len(), &mut way.head.pull);
        for head in way.path.chunks_exact(rank).rev() {
            for (row, p) in way.by_gram.chunks_exact_mut(rank).zip(&*pull) {
                for (g, w) in row.iter_mut().zip(head) {
                    *g -= self.rate * p * w;
                }
            }
            for (b, p) in way.by_vector.iter_mut().zip(&*pull) {
                *b += self.rate * p;
            }
            for (by, gp) in way.moves.iter_mut().zip(times(&way.gram, pull)) {
                *by = self.rate * gp;
            }
            subtract(pull, &way.moves);
        }
    }
}

/// `G w`.
fn times(gram: &[f64], w: &[f64]) -> impl Iterator<Item = f64> {
    let rows = gram.chunks_exact(w.len());
    rows.map(move |row| row.iter().zip(w).map(|(g, w)| g * w).sum())
}

fn subtract(from: &mut [f64], by: &[f64]) {
    for (from, by) in from.iter_mut().zip(by) {
        *from -= by;
    }
}

impl Learner for Anil {
    fn parameter_count(&self) -> usize {
        self.backbone.weight_count() + self.backbone.rank()
    }

    fn initial_parameters(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut parameters = self.backbone.initial_weights(rng);
        parameters.extend(first_head(self.backbone.rank(), rng));
        parameters
    }

    fn loss(&self, parameters: Tensor<1>, batch: &Batch) -> Loss {
        let (features, bias) = self.backbone.forward(&parameters, &batch.x);
        let targets = match bias {
            Some(bias) => batch.y.clone() - bias,
            None => batch.y.clone(),
        };
        let (support, query) = Batch {
            x: features,
            y: targets,
        }
        .halves();
        let rank = self.backbone.rank();
        let mut heads = parameters
            .narrow(0, self.backbone.weight_count(), rank)
            .reshape([1, rank])
            .expand([batch.tasks(), rank]);
        let rate = self.rate / support.rows() as f64;
        for _ in 0..self.inner_steps {
            let residuals = apply_heads(support.x.clone(), heads.clone()) - support.y.clone();
            let gradient = pull_heads(support.x.clone(), residuals);
            let gradient = if self.first_order {
                gradient.detach()
            } else {
                gradient
            };
            heads = heads - gradient.mul_scalar(rate);
        }
        Loss::of_residuals(apply_heads(query.x, heads) - query.y)
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(AffineLoss {
            backbone: self.backbone.clone(),
            heads: Descended {
                rate: self.rate,
                steps: self.inner_steps,
                first_order: self.first_order,
            },
        }))
    }

    fn projected(&self) -> Option<Arc<dyn Direct>> {
        self.direct()
    }

    fn context_size(&self) -> usize {
        self.backbone.rank()
    }

    fn adapt(&self, parameters: &[f64], shots: Shots) -> Result<Adapted, LearnerError> {
        let (features, targets) = self.backbone.regression(parameters, shots);
        let head = parameters[self.backbone.weight_count()..].to_vec();
        let count = targets.len() as f64;
        let head = self.descent().run(head, |head, gradient| {
            gradient.fill(0.0);
            let mut loss = 0.0;
            for (row, y) in features.chunks_exact(head.len()).zip(&targets) {
                let residual = row.iter().zip(head).map(|(v, w)| v * w).sum::<f64>() - y;
                loss += 0.5 * residual * residual / count;
                for (g, v) in gradient.iter_mut().zip(row) {
                    *g += residual * v / count;
                }
            }
            loss
        });
        Ok(Adapted::of_context(head))
    }

    fn predict(
        &self,
        parameters: &[f64],
        adapted: &Adapted,
        inputs: &[f64],
        outputs: &mut [f64],
        workspace: &mut Workspace,
    ) {
        let head = adapted.context();
        self.backbone
            .predict(parameters, head, inputs, outputs, workspace);
    }

    fn backbone(&self) -> Option<&Backbone> {
        Some(&self.backbone)
    }
}
