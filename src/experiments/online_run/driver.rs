//! What predicts in a run: a formula with known masses, or a trained model that adapts.

use crate::{
    identification::{
        learned::LearnedModel,
        model::PhysicalModel,
        online::{Estimate, OnlineLeastSquares, OnlineModel},
        window::WindowAdaptation,
    },
    systems::Samples,
};

/// The input for masses and features.
type Inverse = fn(&[f64], &[f64]) -> f64;

/// A formula with known masses. The textbook's goes on with the first ones; an oracle is told of their
/// change, and says what it knows.
#[derive(Clone)]
pub(super) struct Formula {
    inverse: Inverse,
    masses: Vec<f64>,
    /// Step of the change and the masses from then on, for an oracle.
    told: Option<(usize, Vec<f64>)>,
    /// Steps so far.
    seen: usize,
}

impl Formula {
    pub fn textbook(inverse: Inverse, masses: &[f64]) -> Self {
        Self {
            inverse,
            masses: masses.to_vec(),
            told: None,
            seen: 0,
        }
    }

    pub fn oracle(inverse: Inverse, masses: &[f64], change: usize, later: Vec<f64>) -> Self {
        Self {
            told: Some((change, later)),
            ..Self::textbook(inverse, masses)
        }
    }

    /// The masses of the coming step, as far as it knows.
    fn known(&self) -> &[f64] {
        match &self.told {
            Some((change, later)) if self.seen >= *change => later,
            _ => &self.masses,
        }
    }
}

impl OnlineModel for Formula {
    /// An oracle is alarmed just before the change, so that its feedback is strong from then on.
    fn observe(&mut self, _features: &[f64], _input: f64) -> bool {
        self.seen += 1;
        let told = self.told.as_ref();
        told.is_some_and(|(change, _)| *change == self.seen)
    }

    fn warm_up(&mut self, _inputs: &Samples, _targets: &[f64]) {}

    fn predict(&mut self, features: &[f64]) -> f64 {
        (self.inverse)(self.known(), features)
    }

    fn identify(&self) -> Option<Estimate> {
        self.told.as_ref()?;
        let values = self.known().to_vec();
        Some(Estimate {
            standard_errors: vec![0.0; values.len()],
            values,
        })
    }
}

/// One of the models that may drive a run, so that a run is compiled once and not for each of them.
#[derive(Clone)]
pub(super) enum Driver {
    Formula(Formula),
    Camel(Box<OnlineLeastSquares<PhysicalModel<LearnedModel>>>),
    Window(Box<WindowAdaptation>),
}

impl Driver {
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
