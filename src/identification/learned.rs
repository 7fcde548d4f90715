//! Trained models from [`crate::learners`], ready to identify and to adapt online.

use std::{collections::VecDeque, sync::Arc};

use super::{
    affine_map::{AffineMap, Offset, Rank},
    error::IdentificationError,
    identifier::Identifier,
    model::AffineModel,
    online::{Estimate, OnlineModel},
    residuals::validation_tasks,
};
use crate::{
    learners::{Adapted, LearnerError, Model, Workspace},
    systems::{Samples, System, SystemError},
};

/// Validation tasks, at least one for each training task.
const VALIDATION_TASKS: usize = 32;
/// Stream of the validation tasks in a seed.
const VALIDATION_SEED: u64 = 0x7a11_da7e;

/// Why a trained model cannot identify.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum LearnedError {
    /// The model cannot do what is asked of it.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// Its validation tasks could not be made.
    #[error(transparent)]
    System(#[from] SystemError),
    /// Its map to physical parameters could not be fitted.
    #[error(transparent)]
    Identification(#[from] IdentificationError),
}

/// A trained model that is affine in its context.
#[derive(Clone, Debug)]
pub struct LearnedModel {
    model: Arc<Model>,
    workspace: Workspace,
}

impl LearnedModel {
    /// Refuses a model that is not affine in its context.
    pub fn new(model: Arc<Model>) -> Result<Self, LearnerError> {
        let probe = vec![0.0; model.input_size()];
        model.features(&probe)?;
        Ok(Self {
            model,
            workspace: Workspace::default(),
        })
    }
}

impl AffineModel for LearnedModel {
    fn size(&self) -> usize {
        self.model.context_size()
    }

    /// A row of the wrong length gives a bias that is not a number, which no estimator learns from.
    fn features_into(&mut self, inputs: &[f64], features: &mut [f64]) -> f64 {
        self.model
            .features_into(inputs, features, &mut self.workspace)
            .unwrap_or(f64::NAN)
    }
}

impl Identifier<LearnedModel> {
    /// From a trained model of `system`; the seed fixes its validation trajectories.
    pub fn of_model(
        model: &Arc<Model>,
        system: &dyn System,
        seed: u64,
    ) -> Result<Self, LearnedError> {
        let moves = system.robot().is_some();
        let each = (VALIDATION_TASKS / model.tasks().len().max(1)).max(1);
        let validation = validation_tasks(system, seed ^ VALIDATION_SEED, each)?;
        let (weights, parameters) = tasks_of(model);
        let learned = LearnedModel::new(model.clone())?;
        let identifier = Self::new(learned, &weights, &parameters, &validation)?;
        Ok(if moves {
            identifier
        } else {
            identifier.without_order()
        })
    }
}

/// Contexts and parameters of the training tasks.
fn tasks_of(model: &Model) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let tasks = model.tasks().iter();
    tasks
        .map(|task| (task.context.clone(), task.parameters.clone()))
        .unzip()
}

/// Any trained model, adapted anew to the last few observations in every step: how methods that
/// adapt by gradient descent run online. It is not told of changes and does not notice them, but
/// its window forgets.
#[derive(Clone, Debug)]
pub struct WindowAdaptation {
    model: Arc<Model>,
    to_parameters: Option<AffineMap>,
    window: usize,
    /// Adapts in every step of this number.
    every: usize,
    rows: VecDeque<(Vec<f64>, f64)>,
    adapted: Option<Adapted>,
    workspace: Workspace,
    steps: usize,
}

impl WindowAdaptation {
    /// Adapts to the last `window` observations, every `every` steps, both at least 1.
    pub fn new(
        model: Arc<Model>,
        window: usize,
        every: usize,
    ) -> Result<Self, IdentificationError> {
        for (name, value) in [("the window", window), ("the adaptation interval", every)] {
            if value == 0 {
                return Err(IdentificationError::Setting {
                    name,
                    value: 0.0,
                    allowed: "1 or more",
                });
            }
        }
        let (contexts, parameters) = tasks_of(&model);
        let rank = Rank::AtMost(parameters.first().map_or(0, Vec::len));
        let map = AffineMap::fit(&contexts, &parameters, rank, Offset::Free, None);
        Ok(Self {
            to_parameters: map.ok(),
            window: window.max(model.least_shots()),
            every,
            rows: VecDeque::with_capacity(window),
            adapted: model.trained(0).and_then(Result::ok),
            workspace: Workspace::default(),
            steps: 0,
            model,
        })
    }

    fn adapt(&mut self) {
        let inputs = Samples {
            dim: self.model.input_size(),
            values: self.rows.iter().flat_map(|(x, _)| x.clone()).collect(),
        };
        let targets: Vec<f64> = self.rows.iter().map(|(_, u)| *u).collect();
        // A window that does not determine the model leaves the last one in place.
        if let Ok(adapted) = self.model.adapt(&inputs, &targets) {
            self.adapted = Some(adapted);
        }
    }
}

impl OnlineModel for WindowAdaptation {
    fn observe(&mut self, features: &[f64], input: f64) -> bool {
        if self.rows.len() == self.window {
            self.rows.pop_front();
        }
        self.rows.push_back((features.to_vec(), input));
        self.steps += 1;
        let enough = self.rows.len() >= self.model.least_shots();
        if enough && self.steps.is_multiple_of(self.every) {
            self.adapt();
        }
        false
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        let mut output = [0.0];
        let Some(adapted) = &self.adapted else {
            return 0.0;
        };
        match self
            .model
            .predict_into(adapted, features, &mut output, &mut self.workspace)
        {
            Ok(()) => output[0],
            Err(_) => f64::NAN,
        }
    }

    fn identify(&self) -> Option<Estimate> {
        let map = self.to_parameters.as_ref()?;
        let values = map.apply(self.adapted.as_ref()?.context()).ok()?;
        Some(Estimate {
            values: values.as_slice().to_vec(),
            standard_errors: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::trials::{AdaptiveTrials, adaptive_trials},
        identification::trials::identify_trials,
        learners::weights,
        systems::cartpole::Cartpole,
    };

    /// The trained model that the site ships.
    fn shipped() -> Arc<Model> {
        let bytes = include_bytes!("../../public/weights/cartpole-camel.safetensors");
        Arc::new(weights::import(bytes).unwrap())
    }

    #[test]
    fn a_trained_model_weighs_cart_and_pole_from_few_shots() {
        let system = Cartpole::default();
        let mut identifier = Identifier::of_model(&shipped(), &system, 0).unwrap();
        for (shots, allowed) in [(50, 0.05), (100, 0.02)] {
            let mut identify =
                |x: &Samples, y: &[f64]| Ok(identifier.identify(x, y, 0.0)?.estimate);
            let report = identify_trials(&system, shots, 200, 0, &mut identify).unwrap();
            assert!(report.relative_error.median < allowed, "{report:?}");
            assert!(report.coverage_95.unwrap() > 0.85, "{report:?}");
        }
    }

    #[test]
    fn a_trained_model_notices_and_weighs_a_doubled_cart_in_closed_loop() {
        let system = Cartpole::default();
        let identifier = Identifier::of_model(&shipped(), &system, 0).unwrap();
        let setting = AdaptiveTrials::default();
        let report = adaptive_trials(&setting, 12, 0, || Ok(identifier.online(0.05)?)).unwrap();
        assert!(report.detection_delay.median.unwrap() <= 8.0, "{report:?}");
        assert!(
            report.steps_within_10pct.median.unwrap() <= 40.0,
            "{report:?}"
        );
        assert!(
            report.steps_within_5pct.median.unwrap() <= 200.0,
            "{report:?}"
        );
        assert!(report.false_alarms_per_10k <= 1.0, "{report:?}");
        assert!(
            report.tracking_error <= 1.5 * report.tracking_error_oracle,
            "{report:?}"
        );
    }

    #[test]
    fn a_window_of_observations_adapts_any_model_and_follows_a_change() {
        let system = Cartpole::default();
        let mut online = WindowAdaptation::new(shipped(), 100, 20).unwrap();
        let weigh = |online: &mut WindowAdaptation, mass: f64| {
            let split = crate::systems::Split::Test;
            let task = system.task(&[mass, 0.3], split, 1).unwrap();
            for (x, &u) in task.inputs.rows().zip(&task.targets) {
                assert!(!online.observe(x, u));
            }
            online.identify().unwrap().values[0]
        };
        assert!((weigh(&mut online, 1.5) - 1.5).abs() < 0.15);
        assert!((weigh(&mut online, 2.5) - 2.5).abs() < 0.25);
        assert!(WindowAdaptation::new(shipped(), 0, 1).is_err());
    }
}
