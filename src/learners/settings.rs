//! What a learner is trained with. [`Settings::new`] gives what is recommended, of every method on every
//! system (`settings/recommended.rs`); any field may be changed, and [`Settings::check`] says what is not
//! allowed.
//!
//! | field | range |
//! |---|---|
//! | rank | 1 to 64 |
//! | hidden, bias | up to 8 layers of 1 to 512 units |
//! | steps | 1 to 1,000,000 |
//! | learning_rate | 1e-7 to 1 |
//! | batch | 2 to 100,000 rows a task |
//! | weight_decay, clip, prior_noise, context_penalty, network_penalty | 0 to 1,000 |
//! | inner_rate | 0 to 10 |
//! | inner_steps | 1 to 50 |
//! | adaptation_steps | 1 to 10,000 |
//! | ridge | 0 to 1,000 |
//! | optimiser | `adam`; `lbfgs` where [`super::Method::lbfgs`] says so |
//! | first_order | `false`; `true` where [`super::Method::may_be_first_order`] says so |

use serde::{Deserialize, Serialize};

use super::{LearnerError, error::in_range, method};

mod recommended;

/// Most training steps.
const MOST_STEPS: usize = 1_000_000;
/// Steps of Adam that take the place of one of L-BFGS.
const ADAM_STEPS: usize = 10;

/// How the meta-loss is minimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimiser {
    /// First order, on minibatches, on any device.
    #[default]
    Adam,
    /// Second order, on all training rows at once, in double precision on the processor. A step is
    /// one iteration; learning rate, batch, weight decay and gradient limit play no part.
    Lbfgs,
}

impl Optimiser {
    /// All optimisers.
    pub const ALL: [Self; 2] = [Self::Adam, Self::Lbfgs];

    /// Name in links and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adam => "adam",
            Self::Lbfgs => "lbfgs",
        }
    }
}

/// What a learner is trained with. Inputs and targets are standardised, so rates and penalties have
/// no units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Length of a context, r.
    pub rank: usize,
    /// Units of the hidden layers of the feature net.
    pub hidden: Vec<usize>,
    /// Units of the hidden layers of the bias net; empty for a model without one.
    pub bias: Vec<usize>,
    /// Training steps.
    pub steps: usize,
    /// How the meta-loss is minimised.
    #[serde(default)]
    pub optimiser: Optimiser,
    /// Learning rate at the start of the cosine schedule.
    pub learning_rate: f64,
    /// Rows of a batch, of each task.
    pub batch: usize,
    /// Decoupled weight decay.
    pub weight_decay: f64,
    /// Largest norm of a gradient; 0 for no limit.
    pub clip: f64,
    /// Step size of the inner loop (ANIL, MAML, CAVIA).
    pub inner_rate: f64,
    /// Gradient steps of the inner loop in training (ANIL, MAML, CAVIA).
    pub inner_steps: usize,
    /// Most gradient steps of an adaptation (ANIL, MAML, CAVIA, CoDA).
    pub adaptation_steps: usize,
    /// Whether second derivatives are left out (ANIL, MAML, CAVIA, each by Adam).
    pub first_order: bool,
    /// Ridge of the closed-form adaptation (CAMEL), its first value where it is learned (R2-D2).
    pub ridge: f64,
    /// Noise of a standardised target in the prior that CAMEL takes from its training contexts; 0
    /// for a plain ridge.
    pub prior_noise: f64,
    /// Penalty of each context beside the mean of all tasks' errors (CoDA).
    pub context_penalty: f64,
    /// Penalty of the hypernetwork beside that mean (CoDA).
    pub network_penalty: f64,
}

impl Settings {
    /// The tuned settings of a method on a system.
    pub fn new(system: &str, method_name: &str) -> Result<Self, LearnerError> {
        recommended::settings(system, method(method_name)?)
    }

    /// The same with Adam: to compare single steps, between devices or with other libraries, or to train
    /// where L-BFGS cannot. A step of Adam passes over a batch and gets less far, so that there are more.
    pub fn with_adam(self) -> Self {
        Self {
            steps: match self.optimiser {
                Optimiser::Adam => self.steps,
                Optimiser::Lbfgs => self.steps.saturating_mul(ADAM_STEPS).min(MOST_STEPS),
            },
            optimiser: Optimiser::Adam,
            ..self
        }
    }

    /// Whether targets are centred: only where the model can put the centre back by itself.
    pub fn centre_targets(&self) -> bool {
        !self.bias.is_empty()
    }

    /// Fewest shots from which the method adapts: as many as CAMEL's context has numbers, where nothing
    /// but a tiny ridge says more about them.
    pub fn least_shots(&self) -> usize {
        let camel = method(&self.method).is_ok_and(|method| method.trained_as == "camel");
        if camel && self.prior_noise == 0.0 {
            self.rank
        } else {
            1
        }
    }

    /// Checks every field against its range.
    pub fn check(&self) -> Result<(), LearnerError> {
        let method = method(&self.method)?;
        if self.optimiser == Optimiser::Lbfgs && !method.lbfgs {
            return Err(LearnerError::Unsupported {
                method: method.title,
                action: "be trained by the optimiser lbfgs, only by adam",
            });
        }
        if self.first_order && !method.may_be_first_order(self.optimiser) {
            return Err(LearnerError::FirstOrder {
                method: method.title,
                optimiser: self.optimiser.name(),
            });
        }
        in_range("the rank", self.rank as f64, 1.0, 64.0)?;
        for layers in [&self.hidden, &self.bias] {
            in_range("the number of hidden layers", layers.len() as f64, 0.0, 8.0)?;
            for &units in layers {
                in_range("the units of a hidden layer", units as f64, 1.0, 512.0)?;
            }
        }
        let most_steps = MOST_STEPS as f64;
        in_range("the number of steps", self.steps as f64, 1.0, most_steps)?;
        in_range("the learning rate", self.learning_rate, 1e-7, 1.0)?;
        in_range("the batch size", self.batch as f64, 2.0, 1e5)?;
        in_range("the weight decay", self.weight_decay, 0.0, 1e3)?;
        in_range("the gradient limit", self.clip, 0.0, 1e3)?;
        in_range("the inner rate", self.inner_rate, 0.0, 10.0)?;
        let inner_steps = self.inner_steps as f64;
        in_range("the number of inner steps", inner_steps, 1.0, 50.0)?;
        let adaptation_steps = self.adaptation_steps as f64;
        in_range("the number of adaptation steps", adaptation_steps, 1.0, 1e4)?;
        in_range("the ridge", self.ridge, 0.0, 1e3)?;
        in_range("the noise of the prior", self.prior_noise, 0.0, 1e3)?;
        in_range("the penalty of contexts", self.context_penalty, 0.0, 1e3)?;
        in_range("the penalty of the network", self.network_penalty, 0.0, 1e3)
    }
}

#[cfg(test)]
mod tests;
