//! What predicts in a run: a formula with the first masses, or a trained model that adapts.

use std::{sync::Arc, time::Duration};

use crate::{
    control::{
        controllers::{Fixed, WINDOW, trained},
        error::ControlError,
    },
    experiments::identifiers,
    identification::{
        budget::{Budget, Budgeted, Stopwatch},
        identifier::Identifier,
        learned::LearnedModel,
        model::PhysicalModel,
        online::{Estimate, OnlineLeastSquares, OnlineModel},
        window::WindowAdaptation,
    },
    learners::Model,
    systems::{Robot, Samples},
};

/// What a driver is made from. It has no room for a change: neither its time nor its size.
pub(super) struct Chosen<'a> {
    /// Name of the method.
    pub method: &'a str,
    /// Whether the reference is the motion under an exciting input.
    pub exciting: bool,
    /// The trained model, for methods that need one.
    pub model: Option<&'a Arc<Model>>,
    /// What says how long an adaptation took.
    pub stopwatch: Stopwatch,
}

impl Chosen<'_> {
    /// CAMEL's identifier.
    pub fn identifier(&self, robot: &dyn Robot) -> Result<Identifier<LearnedModel>, ControlError> {
        let model = trained(self.model, self.method, robot)?;
        Ok(identifiers::of_model(model, robot, 0)?)
    }

    /// A method that adapts to the last observations.
    pub fn windowed(&self, robot: &dyn Robot) -> Result<Driver, ControlError> {
        let model = trained(self.model, self.method, robot)?;
        let windowed = WindowAdaptation::new(model.clone(), WINDOW, 1)?;
        Ok(Driver::Window(Box::new(windowed)))
    }

    /// The driver with a robot's tick for each adaptation.
    pub fn budgeted(&self, driver: Driver, robot: &dyn Robot) -> Budgeted<Driver> {
        let budget = Budget {
            tick: Duration::from_secs_f64(robot.time_step()),
            stopwatch: self.stopwatch,
        };
        Budgeted::new(driver, budget)
    }
}

/// The input that a formula with known masses has for features.
type Formula = fn(&[f64]) -> f64;

/// One of the models that may drive a run, so that a run is compiled once and not for each of them.
#[derive(Clone)]
pub(super) enum Driver {
    Formula(Fixed<Formula>),
    Camel(Box<OnlineLeastSquares<PhysicalModel<LearnedModel>>>),
    Window(Box<WindowAdaptation>),
}

impl Driver {
    /// A formula, which never learns.
    pub fn formula(formula: Formula) -> Self {
        Self::Formula(Fixed(formula))
    }

    fn model(&self) -> &dyn OnlineModel {
        match self {
            Self::Formula(model) => model,
            Self::Camel(model) => &**model,
            Self::Window(model) => &**model,
        }
    }

    fn model_mut(&mut self) -> &mut dyn OnlineModel {
        match self {
            Self::Formula(model) => model,
            Self::Camel(model) => &mut **model,
            Self::Window(model) => &mut **model,
        }
    }
}

impl OnlineModel for Driver {
    fn observe(&mut self, features: &[f64], input: f64) -> bool {
        self.model_mut().observe(features, input)
    }

    fn remember(&mut self, features: &[f64], input: f64) -> bool {
        self.model_mut().remember(features, input)
    }

    fn warm_up(&mut self, inputs: &Samples, targets: &[f64]) {
        self.model_mut().warm_up(inputs, targets);
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        self.model_mut().predict(features)
    }

    fn disturbance(&self) -> f64 {
        self.model().disturbance()
    }

    fn identify(&self) -> Option<Estimate> {
        self.model().identify()
    }
}
