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
    heads::{HeadRule, Moments, Problem, Pulls, doubles, rounded},
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

impl HeadRule for Descended {
    fn error<T: Scalar>(&self, problem: Problem<T>, mut pulls: Pulls<T>) -> T {
        let (support, query) = problem.halves();
        let moments = problem.moments(support.clone());
        let rank = problem.own.len();
        let mut path = doubles(problem.own);
        path.resize((self.steps + 1) * rank, 0.0);
        for step in 0..self.steps {
            let (before, after) = path.split_at_mut((step + 1) * rank);
            self.step(&before[step * rank..], &moments, &mut after[..rank]);
        }
        let (path, last) = path.split_at(self.steps * rank);
        let mut head_pull = vec![T::ZERO; rank];
        let head = rounded(last);
        let error = problem.judge(&head, query, &mut pulls, &mut head_pull);
        let mut pull = doubles(&head_pull);
        let by = self.back(path, &moments, &mut pull);
        problem.pull_moments(&by, support, &mut pulls);
        for (own, pull) in pulls.own.iter_mut().zip(pull) {
            *own += T::from_f64(pull);
        }
        error
    }
}

impl Descended {
    /// Writes where one step leads from a head.
    fn step(&self, head: &[f64], moments: &Moments, next: &mut [f64]) {
        let slopes = moments.times(head).zip(&moments.vector);
        let moves = slopes.map(|(gw, b)| self.rate * (gw - b));
        for (next, (w, by)) in next.iter_mut().zip(head.iter().zip(moves)) {
            *next = w - by;
        }
    }

    /// Takes the pull at the last head back along the heads before it, which lie one after the other, and
    /// gives the pulls at the moments.
    fn back(&self, path: &[f64], moments: &Moments, pull: &mut [f64]) -> Moments {
        let mut by = Moments::zeros(pull.len());
        let mut moves = vec![0.0; pull.len()];
        if self.first_order {
            return by;
        }
        for head in path.chunks_exact(pull.len()).rev() {
            for (row, p) in by.gram.chunks_exact_mut(pull.len()).zip(pull.iter()) {
                for (g, w) in row.iter_mut().zip(head) {
                    *g -= self.rate * p * w;
                }
            }
            for (b, p) in by.vector.iter_mut().zip(pull.iter()) {
                *b += self.rate * p;
            }
            for (by, gp) in moves.iter_mut().zip(moments.times(pull)) {
                *by = self.rate * gp;
            }
            for (p, by) in pull.iter_mut().zip(&moves) {
                *p -= by;
            }
        }
        by
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
