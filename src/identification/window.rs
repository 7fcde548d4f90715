//! Any trained model online: adapted anew to the last few observations in every step.

use std::{collections::VecDeque, sync::Arc};

use super::{
    affine_map::AffineMap,
    by_map::{context_map, read},
    error::IdentificationError,
    online::{Estimate, OnlineModel},
};
use crate::{
    learners::{Adapted, Model, Workspace},
    systems::Samples,
};

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
    /// Whether that is adapted to observations, not merely as it was trained.
    ready: bool,
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
        Ok(Self {
            to_parameters: context_map(&model).ok(),
            window: window.max(model.least_shots()),
            every,
            rows: VecDeque::with_capacity(window),
            adapted: model.trained(0).and_then(Result::ok),
            ready: false,
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
            self.ready = true;
        }
    }
}

impl OnlineModel for WindowAdaptation {
    fn observe(&mut self, features: &[f64], input: f64) -> bool {
        self.remember(features, input);
        let enough = self.rows.len() >= self.model.least_shots();
        if enough && self.steps.is_multiple_of(self.every) {
            self.adapt();
        }
        false
    }

    fn remember(&mut self, features: &[f64], input: f64) -> bool {
        if self.rows.len() == self.window {
            self.rows.pop_front();
        }
        self.rows.push_back((features.to_vec(), input));
        self.steps += 1;
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

    /// Nothing before the first adaptation: what it was trained on is not what it observes.
    fn identify(&self) -> Option<Estimate> {
        let adapted = self.adapted.as_ref().filter(|_| self.ready)?;
        read(self.to_parameters.as_ref()?, adapted.context()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learners::weights,
        systems::{System as _, cartpole::Cartpole},
    };

    /// The trained model that the site ships.
    fn shipped() -> Arc<Model> {
        let bytes = include_bytes!("../../public/weights/cartpole-camel.safetensors");
        Arc::new(weights::import(bytes).unwrap())
    }

    #[test]
    fn a_window_of_observations_adapts_any_model_and_follows_a_change() {
        let system = Cartpole::default();
        let mut online = WindowAdaptation::new(shipped(), 100, 20).unwrap();
        assert_eq!(online.identify(), None);
        let weigh = |online: &mut WindowAdaptation, mass: f64| {
            let split = crate::systems::Split::Test;
            let task = system.task(&[mass, 0.3], split, 1).unwrap();
            for (x, &u) in task.inputs.rows().zip(&task.targets) {
                assert!(!online.observe(x, u));
            }
            let estimate = online.identify().unwrap();
            assert!(estimate.standard_errors.iter().all(|bar| *bar > 0.0));
            estimate.values[0]
        };
        assert!((weigh(&mut online, 1.5) - 1.5).abs() < 0.15);
        assert!((weigh(&mut online, 2.5) - 2.5).abs() < 0.25);
        assert!(WindowAdaptation::new(shipped(), 0, 1).is_err());
    }
}
