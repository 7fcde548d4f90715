//! `F(x; θ, w) = c(x; θ) + wᵀv(x; θ)`, w_t = ω_t: context-affine multi-environment learning.
//!
//! The paper's Definition 1. The meta-parameters π = (θ, ω_1, …, ω_T) hold a context ω_t for every
//! training task and are trained jointly: no inner loop, first derivatives only. A new task is
//! adapted to by least squares in closed form. On small problems the training contexts can be solved for
//! as well, in every evaluation of the loss, and L-BFGS searches for θ alone. Next to a bias net the contexts start at 0, so that the
//! tasks only differ where their data do; without one they start as |N(0, 1)|. φ-CAMEL is the same model with a context that comes
//! from known physical parameters instead of shots.

use std::sync::Arc;

use burn::tensor::Tensor;
use nalgebra::{Cholesky, DMatrix, DVectorViewMut, Dyn};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

use super::{
    Adapted, Backbone, Batch, Learner, LearnerError, Loss, Method, Prior, Settings, Shape, Shots,
    Workspace,
    backbone::apply_heads,
    direct::{AffineLoss, Direct},
    heads::{Features, Head, HeadRule, Problem, Pulls},
    net::Scalar,
    ridge::{self, Regression},
};

/// CAMEL.
pub(super) const METHOD: Method = Method {
    name: "camel",
    title: "CAMEL",
    equation: "F(x; θ, w) = c(x; θ) + wᵀ v(x; θ), w by least squares",
    zero_shot: false,
    trained_as: "camel",
    lbfgs: true,
    first_order: false,
    shared_part: true,
};

/// φ-CAMEL: CAMEL adapted from known physical parameters.
pub(super) const ZERO_SHOT: Method = Method {
    name: "phi-camel",
    title: "φ-CAMEL",
    equation: "F(x; θ, w) = c(x; θ) + wᵀ v(x; θ), w an affine function of φ",
    zero_shot: true,
    ..METHOD
};

/// Ridge of the contexts that variable projection solves for, relative to a mean square feature of 1:
/// small next to every error, large next to rounding.
const PROJECTION_RIDGE: f64 = 1e-8;

/// Context-affine multi-environment learning.
#[derive(Debug)]
struct Camel {
    backbone: Backbone,
    tasks: usize,
    ridge: f64,
    prior_noise: f64,
    least_shots: usize,
}

pub(super) fn build(settings: &Settings, shape: Shape) -> Result<Arc<dyn Learner>, LearnerError> {
    Ok(Arc::new(Camel {
        backbone: Backbone::new(settings, shape.inputs)?,
        tasks: shape.tasks,
        ridge: settings.ridge,
        prior_noise: settings.prior_noise,
        least_shots: settings.least_shots(),
    }))
}

impl Camel {
    /// The contexts ω_t of the training tasks.
    fn contexts<'a>(
        &self,
        parameters: &'a [f64],
    ) -> impl ExactSizeIterator<Item = &'a [f64]> + Clone {
        parameters[self.backbone.weight_count()..].chunks_exact(self.backbone.rank())
    }

    fn prior(&self, parameters: &[f64]) -> Prior {
        let rank = self.backbone.rank();
        if self.prior_noise > 0.0 {
            Prior::of_tasks(
                self.contexts(parameters),
                rank,
                self.prior_noise,
                self.ridge,
            )
        } else {
            Prior::ridge(rank, self.ridge)
        }
    }
}

/// Heads that π holds.
#[derive(Debug)]
struct Given;

impl HeadRule for Given {
    type Shared = Head;

    fn share<T: Scalar>(&self, features: Features<T>, _own: &[T], head: &mut Head) {
        head.resize(features.rank());
    }

    fn error<T: Scalar>(&self, problem: Problem<T>, mut pulls: Pulls<T>, head: &mut Head) -> T {
        let rank = head.weights.len();
        let place = problem.task * rank..(problem.task + 1) * rank;
        for (weight, own) in head.weights.iter_mut().zip(&problem.own[place.clone()]) {
            *weight = own.to_f64();
        }
        let error = problem.judge(head, 0..problem.rows(), &mut pulls);
        for (own, pull) in pulls.own[place].iter_mut().zip(&head.pull) {
            *own += T::from_f64(*pull);
        }
        error
    }
}

/// Heads that are best for the rows: `w = argmin mean (wᵀv − y)² + λ‖w‖²`, the penalty being part of
/// the error. At the least value the head's own derivative vanishes, so that nothing has to be
/// differentiated through the solution.
#[derive(Debug)]
struct Best;

/// The factor of a Gram matrix with its ridge, none where that is not positive, and memory for a head.
#[derive(Debug, Default)]
struct Factored {
    factor: Option<Cholesky<f64, Dyn>>,
    head: Head,
}

impl HeadRule for Best {
    type Shared = Factored;

    fn share<T: Scalar>(&self, features: Features<T>, _own: &[T], shared: &mut Factored) {
        let rank = features.rank();
        let memory = shared.factor.take().map(Cholesky::unpack_dirty);
        let mut gram = memory.unwrap_or_else(|| DMatrix::zeros(rank, rank));
        features.gram_into(0..features.rows, gram.as_mut_slice());
        for k in 0..rank {
            gram[(k, k)] += PROJECTION_RIDGE;
        }
        shared.factor = Cholesky::new(gram);
        shared.head.resize(rank);
    }

    fn error<T: Scalar>(
        &self,
        problem: Problem<T>,
        mut pulls: Pulls<T>,
        Factored { factor, head }: &mut Factored,
    ) -> T {
        let rank = head.weights.len();
        problem.vector_into(0..problem.rows(), &mut head.weights);
        let mut weights = DVectorViewMut::from_slice(&mut head.weights, rank);
        match factor {
            Some(factor) => factor.solve_mut(&mut weights),
            None => weights.fill(f64::NAN),
        }
        let penalty = PROJECTION_RIDGE * weights.norm_squared() / problem.tasks as f64;
        problem.judge(head, 0..problem.rows(), &mut pulls) + T::from_f64(penalty)
    }
}

impl Learner for Camel {
    fn parameter_count(&self) -> usize {
        self.backbone.weight_count() + self.tasks * self.backbone.rank()
    }

    fn initial_parameters(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut parameters = self.backbone.initial_weights(rng);
        let contexts = self.tasks * self.backbone.rank();
        if self.backbone.has_bias() {
            parameters.resize(parameters.len() + contexts, 0.0);
        } else {
            let draws = StandardNormal.sample_iter(rng).take(contexts);
            parameters.extend(draws.map(|w: f64| w.abs()));
        }
        parameters
    }

    fn loss(&self, parameters: Tensor<1>, batch: &Batch) -> Loss {
        let (features, bias) = self.backbone.forward(&parameters, &batch.x);
        let rank = self.backbone.rank();
        let contexts = parameters
            .narrow(0, self.backbone.weight_count(), self.tasks * rank)
            .reshape([self.tasks, rank]);
        let outputs = apply_heads(features, contexts);
        Loss::of_residuals(match bias {
            Some(bias) => outputs + bias - batch.y.clone(),
            None => outputs - batch.y.clone(),
        })
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(AffineLoss {
            backbone: self.backbone.clone(),
            heads: Given,
        }))
    }

    fn projected(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(AffineLoss {
            backbone: self.backbone.clone(),
            heads: Best,
        }))
    }

    /// The targets may be those of several tasks on the same inputs, from `task` on.
    fn project(
        &self,
        parameters: &mut [f64],
        task: usize,
        rows: Shots,
    ) -> Result<(), LearnerError> {
        let (features, targets) = self.backbone.regression(parameters, rows);
        let (rank, first) = (self.backbone.rank(), self.backbone.weight_count());
        let count = features.len() / rank;
        let prior = Prior::ridge(rank, PROJECTION_RIDGE * count as f64);
        let regression = Regression::new(&features, &prior)?;
        let contexts = parameters[first + task * rank..].chunks_exact_mut(rank);
        for (context, targets) in contexts.zip(targets.chunks_exact(count)) {
            context.copy_from_slice(&regression.solve(targets));
        }
        Ok(())
    }

    fn context_size(&self) -> usize {
        self.backbone.rank()
    }

    fn least_shots(&self) -> usize {
        self.least_shots
    }

    fn trained_context(&self, parameters: &[f64], task: usize) -> Option<Vec<f64>> {
        self.contexts(parameters).nth(task).map(<[f64]>::to_vec)
    }

    fn adapt(&self, parameters: &[f64], shots: Shots) -> Result<Adapted, LearnerError> {
        let (features, targets) = self.backbone.regression(parameters, shots);
        let prior = self.prior(parameters);
        let regression = if self.prior_noise == 0.0 && self.ridge <= ridge::GUARD {
            Regression::of_determined(&features, &prior)?
        } else {
            Regression::new(&features, &prior)?
        };
        let context = regression.solve(&targets);
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
        let head = adapted.context();
        self.backbone
            .predict(parameters, head, inputs, outputs, workspace);
    }

    fn backbone(&self) -> Option<&Backbone> {
        Some(&self.backbone)
    }
}
