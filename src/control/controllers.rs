//! The controllers by name: what predicts the input, and what it has to be given.
//!
//! | name | predicts with |
//! |---|---|
//! | `analytic` | textbook inverse dynamics without friction, true parameters |
//! | `oracle` | exact inverse dynamics, true parameters and friction |
//! | `camel` | the learned model in physical parameters, identified from shots |
//! | `phi-camel` | the same, given the true parameters |
//! | any other method | the learned model, adapted by its own rule |

use std::sync::Arc;

use super::{error::ControlError, tracking::InverseModel};
use crate::{
    identification::{
        identifier::Identifier,
        model::AdaptedModel,
        online::{Estimate, OnlineModel},
    },
    learners::{Adapted, Model, Workspace},
    systems::{Robot, Samples, arm::Arm, cartpole::Cartpole},
};

/// Observations to which methods without a recursion adapt in every step; as many shots begin a run.
pub const WINDOW: usize = 50;
/// Seed of the validation trajectories.
const VALIDATION_SEED: u64 = 0;

/// A robot whose textbook inverse dynamics leaves the friction out.
pub trait Textbook: Robot {
    /// Inverse dynamics without friction.
    fn frictionless(&self, parameters: &[f64], features: &[f64]) -> f64;
}

impl Textbook for Cartpole {
    fn frictionless(&self, parameters: &[f64], features: &[f64]) -> f64 {
        self.analytic_inverse(parameters, features)
    }
}

impl Textbook for Arm {
    fn frictionless(&self, parameters: &[f64], features: &[f64]) -> f64 {
        let smooth = Self {
            friction: 0.0,
            ..self.clone()
        };
        smooth.inverse(parameters, features)
    }
}

/// A trained model of this method, or the error that says to train one.
pub(crate) fn trained<'a>(
    model: Option<&'a Arc<Model>>,
    method: &str,
    robot: &dyn Robot,
) -> Result<&'a Arc<Model>, ControlError> {
    model.ok_or_else(|| ControlError::NoModel {
        method: method.to_owned(),
        system: robot.description().title.to_owned(),
    })
}

/// The model of a tracking controller, adapted to shots of the plant. `parameters` are the true
/// ones, which only `analytic`, `oracle` and `phi-camel` look at.
pub fn inverse_model<R: Textbook + Clone + 'static>(
    method: &str,
    model: Option<&Arc<Model>>,
    robot: &R,
    parameters: &[f64],
    (inputs, targets): (&Samples, &[f64]),
) -> Result<Box<dyn InverseModel>, ControlError> {
    robot.check(parameters)?;
    let (known, phi) = (robot.clone(), parameters.to_vec());
    Ok(match method {
        "analytic" => Box::new(move |x: &[f64]| known.frictionless(&phi, x)),
        "oracle" => Box::new(move |x: &[f64]| known.inverse(&phi, x)),
        "camel" => {
            let model = trained(model, method, robot)?;
            let mut identifier = Identifier::of_model(model, robot, VALIDATION_SEED)?;
            Box::new(identifier.adapted(inputs, targets)?)
        }
        "phi-camel" => {
            let model = trained(model, method, robot)?;
            let identifier = Identifier::of_model(model, robot, VALIDATION_SEED)?;
            Box::new(AdaptedModel::new(identifier.model().clone(), parameters)?)
        }
        _ => {
            let model = trained(model, method, robot)?;
            let adapted = model.adapt(inputs, targets)?;
            Box::new(OwnRule::new(model.clone(), adapted))
        }
    })
}

/// A formula that never learns.
#[derive(Clone, Debug)]
pub(crate) struct Fixed<F>(pub F);

impl<F: Fn(&[f64]) -> f64> OnlineModel for Fixed<F> {
    fn observe(&mut self, _features: &[f64], _input: f64) -> bool {
        false
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        self.0(features)
    }

    fn identify(&self) -> Option<Estimate> {
        None
    }
}

/// A trained model adapted by its own rule.
struct OwnRule {
    model: Arc<Model>,
    adapted: Adapted,
    workspace: Workspace,
}

impl OwnRule {
    fn new(model: Arc<Model>, adapted: Adapted) -> Self {
        Self {
            model,
            adapted,
            workspace: Workspace::default(),
        }
    }
}

impl InverseModel for OwnRule {
    fn input(&mut self, features: &[f64]) -> f64 {
        let mut output = [0.0];
        let done =
            self.model
                .predict_into(&self.adapted, features, &mut output, &mut self.workspace);
        done.map_or(f64::NAN, |()| output[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::{Split, System as _};

    #[test]
    fn a_learning_controller_without_a_trained_model_is_refused_by_name() {
        let robot = Cartpole::default();
        let task = robot.task(&[2.0, 0.3], Split::Test, 0).unwrap();
        for method in ["camel", "anil"] {
            let shots = (&*task.inputs, &*task.targets);
            let tracking = inverse_model(method, None, &robot, &[2.0, 0.3], shots);
            let error = tracking.err().unwrap().to_string();
            assert!(
                error.contains(method) && error.contains("Cartpole"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_oracle_explains_every_sample_and_the_textbook_misses_friction() {
        let robot = Cartpole::default();
        let phi = [2.0, 0.3];
        let task = robot.task(&phi, Split::Test, 0).unwrap();
        let error = |method: &str| {
            let shots = (&*task.inputs, &*task.targets);
            let mut model = inverse_model(method, None, &robot, &phi, shots).unwrap();
            let rows = task.inputs.rows().zip(&task.targets);
            rows.fold(0.0_f64, |worst, (x, u)| {
                worst.max((model.input(x) - u).abs())
            })
        };
        assert!(error("oracle") < 1e-9);
        assert!(error("analytic") > 0.5);
    }
}
