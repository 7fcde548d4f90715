//! The live demonstration: a cartpole under adaptive control, whose masses a visitor changes.
//!
//! Two lanes follow the same reference under the same changes: CAMEL, which adapts and identifies,
//! and the textbook formula without friction, which goes on believing the first masses.

use std::{f64::consts::TAU, sync::Arc};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::evaluate::{EvaluationError, known_parameters};
use crate::{
    control::{
        adaptive::{AdaptiveLoop, Controller},
        compensation::Compensation,
        error::ControlError,
        feedback::TipFeedback,
        plant::Plant,
        reference::Reference,
    },
    identification::{
        identifier::Identifier,
        learned::LearnedModel,
        model::PhysicalModel,
        online::{Estimate, OnlineLeastSquares, OnlineModel},
    },
    learners::{LearnerError, Model, weights},
    systems::cartpole::Cartpole,
};

/// Weights of the model that drives the demonstration; `camel pretrain` makes them.
const WEIGHTS: &[u8] = include_bytes!("../../public/weights/cartpole-camel.safetensors");
/// Cart and pole at the start [kg].
pub const MASSES: [f64; 2] = [1.5, 0.3];
/// Length of the reference; then it starts anew. A whole number of its periods.
const STEPS: usize = 5_000;
/// Random force on the cart [N].
const DISTURBANCE: f64 = 0.05;
/// Steps that adaptation takes at least.
const WINDOW: usize = 50;

/// What a visitor does to the demonstration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Gives the cart another mass [kg].
    CartMass(f64),
    /// Stops the clock, or lets it run.
    Paused(bool),
    /// Makes so many steps while the clock stands.
    Step(usize),
    /// Runs so many times as fast as real time.
    Speed(f64),
    /// Starts anew.
    Reset,
}

/// One step of the demonstration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    /// Time since the start [s].
    pub time: f64,
    /// What the reference asks for.
    pub reference: Vec<f64>,
    /// State of the adaptive lane.
    pub adaptive: Vec<f64>,
    /// State of the textbook's lane.
    pub textbook: Vec<f64>,
    /// True cart mass [kg].
    pub mass: f64,
    /// Identified cart mass and its standard error [kg].
    pub identified: (f64, f64),
    /// Whether a change was noticed in this step.
    pub noticed: bool,
}

/// Why the demonstration cannot go on.
#[derive(Debug, Error)]
pub enum LiveError {
    /// The shipped weights.
    #[error(transparent)]
    Weights(#[from] LearnerError),
    /// The model.
    #[error(transparent)]
    Model(#[from] EvaluationError),
    /// The controller.
    #[error(transparent)]
    Control(#[from] ControlError),
}

type Lane<M> = AdaptiveLoop<Cartpole, TipFeedback, M>;

/// The demonstration, step by step.
#[derive(Debug)]
pub struct Live {
    identifier: Identifier<LearnedModel>,
    reference: Reference,
    adaptive: Lane<OnlineLeastSquares<PhysicalModel<LearnedModel>>>,
    textbook: Lane<Textbook>,
    steps: usize,
}

impl Live {
    /// The demonstration with the shipped model.
    pub fn new() -> Result<Self, LiveError> {
        Self::with_model(Arc::new(weights::import(WEIGHTS)?))
    }

    /// The demonstration with any model of the cartpole that is affine in its context.
    pub fn with_model(model: Arc<Model>) -> Result<Self, LiveError> {
        let cartpole = Cartpole::default();
        let identifier = known_parameters(&cartpole, &model, 0)?.ok_or_else(|| {
            ControlError::from(crate::systems::SystemError::Invalid(format!(
                "{} cannot drive the demonstration: it is not affine in its context",
                model.settings().method
            )))
        })?;
        let force = |step: usize| 4.0 * f64::sin(TAU * step as f64 / 500.0);
        let inputs = (0..STEPS).map(force).collect();
        let reference = Reference::open_loop(&cartpole, &MASSES, &[0.0; 4], inputs)
            .map_err(ControlError::from)?;
        let online = identifier.online(DISTURBANCE).map_err(ControlError::from)?;
        Ok(Self {
            adaptive: lane(&reference, online, Compensation::new(1.0)?)?,
            textbook: lane(&reference, Textbook(cartpole), Compensation::default())?,
            identifier,
            reference,
            steps: 0,
        })
    }

    /// One control step.
    pub fn step(&mut self) -> Result<Tick, LiveError> {
        let (Some(adaptive), Some(textbook)) = (self.adaptive.step()?, self.textbook.step()?)
        else {
            let mass = self.cart_mass();
            self.reset()?;
            self.set_cart_mass(mass)?;
            return self.step();
        };
        self.steps += 1;
        let Estimate {
            values,
            standard_errors,
        } = adaptive.estimate.unwrap_or_default();
        let first = |list: &[f64]| list.first().copied().unwrap_or(f64::NAN);
        Ok(Tick {
            time: self.steps as f64 * self.reference.dt,
            reference: adaptive.reference,
            mass: first(&adaptive.truth),
            adaptive: adaptive.state,
            textbook: textbook.state,
            identified: (first(&values), first(&standard_errors)),
            noticed: adaptive.detected,
        })
    }

    /// The true mass of the cart [kg].
    pub fn cart_mass(&self) -> f64 {
        self.adaptive.plant().parameters()[0]
    }

    /// Gives the carts of both lanes another mass [kg]. Nobody tells the controllers.
    pub fn set_cart_mass(&mut self, mass: f64) -> Result<(), LiveError> {
        self.adaptive.plant_mut().change(0, mass)?;
        Ok(self.textbook.plant_mut().change(0, mass)?)
    }

    /// Starts anew with the first masses.
    pub fn reset(&mut self) -> Result<(), LiveError> {
        let online = self
            .identifier
            .online(DISTURBANCE)
            .map_err(ControlError::from)?;
        self.adaptive = lane(&self.reference, online, Compensation::new(1.0)?)?;
        self.textbook = lane(
            &self.reference,
            Textbook(Cartpole::default()),
            Compensation::default(),
        )?;
        self.steps = 0;
        Ok(())
    }

    /// Time between two steps [s].
    pub fn time_step(&self) -> f64 {
        self.reference.dt
    }
}

fn lane<M: OnlineModel>(
    reference: &Reference,
    model: M,
    compensation: Compensation,
) -> Result<Lane<M>, ControlError> {
    let cartpole = Cartpole::default();
    let plant = Plant::new(
        cartpole.clone(),
        &MASSES,
        &reference.states[0],
        DISTURBANCE,
        0,
    )?;
    let feedback = TipFeedback::adaptive(cartpole.clone());
    let controller = Controller::new(&cartpole, reference.clone(), feedback, model, WINDOW)?;
    Ok(AdaptiveLoop::new(
        plant,
        controller.with_compensation(compensation),
    ))
}

/// The formula without friction, with the first masses for ever.
#[derive(Debug)]
struct Textbook(Cartpole);

impl OnlineModel for Textbook {
    fn observe(&mut self, _: &[f64], _: f64) -> bool {
        false
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        self.0.analytic_inverse(&MASSES, features)
    }

    fn identify(&self) -> Option<Estimate> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubled_mass_is_noticed_and_identified_while_the_textbook_never_learns() {
        let mut live = Live::new().unwrap();
        for _ in 0..300 {
            live.step().unwrap();
        }
        live.set_cart_mass(3.0).unwrap();
        let ticks: Vec<Tick> = (0..200).map(|_| live.step().unwrap()).collect();
        assert!(ticks.iter().take(20).any(|tick| tick.noticed));
        let (mass, error) = ticks[199].identified;
        assert!((mass - 3.0).abs() < 0.3, "{mass} ± {error}");
    }

    #[test]
    fn a_mass_of_nothing_is_refused_with_its_value() {
        let mut live = Live::new().unwrap();
        let error = live.set_cart_mass(0.0).unwrap_err().to_string();
        assert!(error.contains("but is 0"), "{error}");
        assert_eq!(live.cart_mass(), MASSES[0]);
    }

    #[test]
    fn the_demonstration_goes_on_after_the_end_of_its_reference() {
        let mut live = Live::new().unwrap();
        live.set_cart_mass(2.0).unwrap();
        for _ in 0..STEPS + 10 {
            live.step().unwrap();
        }
        assert_eq!(live.cart_mass(), 2.0);
    }
}
