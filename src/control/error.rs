//! What can be wrong with a request to control.

use thiserror::Error;

use crate::{
    identification::{error::IdentificationError, learned::LearnedError, trials::TrialError},
    learners::LearnerError,
    systems::SystemError,
};

/// Why a control run cannot start or go on.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ControlError {
    /// The plant's parameters or state make no sense.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The model's adaptation failed.
    #[error(transparent)]
    Identification(#[from] IdentificationError),
    /// The trials make no sense.
    #[error(transparent)]
    Trials(#[from] TrialError),
    /// The trained model cannot do what is asked of it.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// The trained model cannot identify.
    #[error(transparent)]
    Learned(#[from] LearnedError),
    /// A reference that is over before the controller can have adapted.
    #[error("the reference has {steps} steps, but adaptation alone takes {window}")]
    ReferenceTooShort {
        /// Steps of the reference.
        steps: usize,
        /// Steps that adaptation takes.
        window: usize,
    },
    /// A reference that is over before it could show whether the robot stays upright.
    #[error("the reference has {steps} steps, but a robot must stand for {hold} at its end")]
    TooShortToStand {
        /// Steps of the reference.
        steps: usize,
        /// Steps for which the robot must stand.
        hold: usize,
    },
    /// A controller that needs a trained model, but there is none.
    #[error("the controller '{method}' needs a trained model of {system}; train one first")]
    NoModel {
        /// Controller name.
        method: String,
        /// System name.
        system: String,
    },
    /// A setting outside its range.
    #[error("{name} must be {allowed}, but is {value}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Given value.
        value: f64,
        /// What is allowed, in words.
        allowed: String,
    },
    /// A robot for which no swing-up was found that ends upright.
    #[error("no swing-up was found that ends upright with the parameters {parameters:?}")]
    NoSwingUp {
        /// Parameters of the robot.
        parameters: Vec<f64>,
    },
    /// The plant under control left the finite numbers.
    #[error("the plant diverged at step {step} under input {input}")]
    Diverged {
        /// Step at which it diverged.
        step: usize,
        /// Input that was applied.
        input: f64,
    },
    /// The robot fell over.
    #[error("the robot fell at step {step}: it leans by {lean} rad")]
    Fell {
        /// Step at which it fell.
        step: usize,
        /// How far it leans [rad].
        lean: f64,
    },
}

impl ControlError {
    /// What a run gave; none if it was sound but failed: the plant diverged or the robot fell.
    pub fn survived<T>(run: Result<T, Self>) -> Result<Option<T>, Self> {
        match run {
            Err(
                Self::Diverged { .. }
                | Self::Fell { .. }
                | Self::System(SystemError::Diverged { .. }),
            ) => Ok(None),
            other => other.map(Some),
        }
    }
}

/// Refuses a reference of so many steps that does not outlast the window of observations, or the shots,
/// that a controller adapts to.
pub(crate) fn check_length(steps: usize, window: usize) -> Result<(), ControlError> {
    if steps > window {
        return Ok(());
    }
    Err(ControlError::ReferenceTooShort { steps, window })
}
