//! How it is learned: meta-learners after the paper's Table 1.
//!
//! A meta-learner has meta-parameters π, an adaptation rule w_t = A(π, D_t) and a model
//! F(x; θ, w). It is trained on a device by minimising `L(π) = 1/T Σ_t ℓ(D_t; θ, A(π, D_t)) + R(π)`,
//! for all T tasks at once ([`Trainer`]). What comes out is a [`Model`] on the host, which adapts to
//! the few shots of a new task, predicts, and gives the task's context for identification.
//!
//! A new learner is one file that implements [`Learner`] and one name in `register!`.

use std::{fmt::Debug, sync::Arc};

use burn::tensor::Tensor;
use rand_chacha::ChaCha8Rng;

mod adam;
mod anil;
mod backbone;
mod batches;
mod camel;
mod cavia;
mod coda;
mod descent;
mod direct;
mod error;
mod full_batch;
mod heads;
mod host;
mod host_ops;
mod lbfgs;
mod maml;
mod model;
pub mod net;
mod r2d2;
mod ridge;
mod scaling;
pub mod settings;
mod trainer;
pub mod weights;

#[cfg(test)]
mod exactness;

pub use backbone::Backbone;
pub use batches::Batch;
pub use direct::{Direct, Rows};
pub use error::LearnerError;
pub use model::{Adapted, Model, TrainedTask, Workspace};
pub use ridge::Prior;
pub use scaling::Scaling;
pub use settings::{Optimiser, Settings};
pub use trainer::{Progress, Trainer};

/// A way to learn from several tasks.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Name in links and on the command line.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// The model and the adaptation rule, in plain text.
    pub equation: &'static str,
    /// Whether it adapts from known physical parameters instead of shots. Such a method is trained
    /// as the one named by `trained_as`.
    pub zero_shot: bool,
    /// The method whose training it uses.
    pub trained_as: &'static str,
    /// Whether [`settings::Optimiser::Lbfgs`] can train it.
    pub lbfgs: bool,
    /// Whether it has a variant without second derivatives, [`Settings::first_order`].
    pub first_order: bool,
    /// Whether its model may have a part c(x) that all tasks share, [`Settings::bias`]; the others begin
    /// from a learned start instead.
    pub shared_part: bool,
}

impl Method {
    /// Whether second derivatives may be left out: only of gradient steps inside the loss, and not where
    /// the whole loss is searched along its own gradient.
    pub fn may_be_first_order(&self, optimiser: Optimiser) -> bool {
        self.first_order && optimiser == Optimiser::Adam
    }
}

/// Makes the list of methods and, apart from it, the way to build each: whoever only lists them, as
/// the page does, is not linked with the learners themselves.
macro_rules! register {
    ($first:ident, $($learner:ident),+ $(,)?) => {
        /// All methods.
        pub const METHODS: &[Method] = &[$first::METHOD, $first::ZERO_SHOT, $($learner::METHOD),+];

        fn build(settings: &Settings, shape: Shape) -> Result<Arc<dyn Learner>, LearnerError> {
            let trained_as = method(&settings.method)?.trained_as;
            if trained_as == $first::METHOD.name {
                return $first::build(settings, shape);
            }
            $(if trained_as == $learner::METHOD.name {
                return $learner::build(settings, shape);
            })+
            Err(LearnerError::UnknownMethod(settings.method.clone()))
        }
    };
}

register![camel, anil, maml, coda, r2d2, cavia];

/// The method of that name.
pub fn method(name: &str) -> Result<&'static Method, LearnerError> {
    METHODS
        .iter()
        .find(|m| m.name == name)
        .ok_or_else(|| LearnerError::UnknownMethod(name.to_owned()))
}

/// What a learner is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Numbers in an input row, d.
    pub inputs: usize,
    /// Training tasks, T.
    pub tasks: usize,
}

/// The learner that these settings describe. A rank above the number of tasks is refused: they cannot tell
/// more directions of a context from each other than there are of them.
pub fn learner(settings: &Settings, shape: Shape) -> Result<Arc<dyn Learner>, LearnerError> {
    settings.check()?;
    let (rank, tasks) = (settings.rank, shape.tasks);
    if rank > tasks {
        return Err(LearnerError::RankAboveTasks { rank, tasks });
    }
    build(settings, shape)
}

/// The meta-loss of one batch.
#[derive(Debug)]
pub struct Loss {
    /// What is minimised, `[1]`.
    pub objective: Tensor<1>,
    /// Mean-square error after adaptation, without regularisers, `[1]`.
    pub error: Tensor<1>,
}

impl Loss {
    /// A loss without regulariser: the mean square of the residuals `[T, N]`.
    fn of_residuals(residuals: Tensor<2>) -> Self {
        let objective = residuals.square().mean();
        let error = objective.clone().detach();
        Self { objective, error }
    }

    /// Adds a regulariser `[1]` to the objective.
    fn regularised(self, penalty: Tensor<1>) -> Self {
        Self {
            objective: self.objective + penalty,
            ..self
        }
    }
}

/// Standardised shots of one task, row after row.
#[derive(Clone, Copy, Debug)]
pub struct Shots<'a> {
    /// Inputs, rows of d numbers.
    pub inputs: &'a [f64],
    /// Targets, one a row.
    pub targets: &'a [f64],
}

/// A meta-learner: meta-parameters π as one flat vector, a meta-loss on a device, and adaptation
/// and prediction on the host. All data are standardised.
pub trait Learner: Debug + Send + Sync {
    /// Number of meta-parameters π.
    fn parameter_count(&self) -> usize;

    /// Seeded first meta-parameters.
    fn initial_parameters(&self, rng: &mut ChaCha8Rng) -> Vec<f64>;

    /// The meta-loss of a batch of all tasks, differentiable in the parameters `[P]`.
    fn loss(&self, parameters: Tensor<1>, batch: &Batch) -> Loss;

    /// The same loss and its gradient without tensors, for the CPU, where there is such a way.
    fn direct(&self) -> Option<Arc<dyn Direct>> {
        None
    }

    /// The loss on all rows as a function of the parameters that are not contexts of training tasks:
    /// those are solved for (variable projection) or computed by the learner's own rule.
    fn projected(&self) -> Option<Arc<dyn Direct>> {
        None
    }

    /// Writes the context of a training task that [`Learner::projected`] solves for.
    fn project(
        &self,
        _parameters: &mut [f64],
        _task: usize,
        _rows: Shots,
    ) -> Result<(), LearnerError> {
        Ok(())
    }

    /// Length of a task's context.
    fn context_size(&self) -> usize;

    /// How many weights of its nets an adaptation changes.
    fn adapted_weights(&self) -> usize {
        0
    }

    /// Fewest shots from which it adapts.
    fn least_shots(&self) -> usize {
        1
    }

    /// The context of a training task, if π holds it.
    fn trained_context(&self, _parameters: &[f64], _task: usize) -> Option<Vec<f64>> {
        None
    }

    /// The adaptation rule A(π, D) on the host.
    fn adapt(&self, parameters: &[f64], shots: Shots) -> Result<Adapted, LearnerError>;

    /// The adapted model that a context of the right length stands for.
    fn with_context(&self, _parameters: &[f64], context: &[f64]) -> Result<Adapted, LearnerError> {
        Ok(Adapted::of_context(context.to_vec()))
    }

    /// F(x; θ, w) for rows of inputs, one output each.
    fn predict(
        &self,
        parameters: &[f64],
        adapted: &Adapted,
        inputs: &[f64],
        outputs: &mut [f64],
        workspace: &mut Workspace,
    );

    /// The feature and bias nets of a model that is affine in its context.
    fn backbone(&self) -> Option<&Backbone> {
        None
    }
}
