//! Online identification: a model that learns from each control step.
//!
//! [`OnlineLeastSquares`] is the paper's Algorithm 2 without its oracle: recursive least squares on
//! the model's features, and a cumulative sum of the innovations that notices when the plant is no
//! longer what it was. It sees inputs and features alone; nothing tells it that or when something
//! changes.

use serde::{Deserialize, Serialize};

use super::{
    budget::{Punctuality, UNMEASURED},
    calibration::Calibration,
    change::{Cusum, CusumSettings},
    error::{IdentificationError, check_length},
    instrument::Instrumented,
    model::AffineModel,
    recursive::{RecursiveLeastSquares, RecursiveSettings},
    residuals::ResidualModel,
};
use crate::systems::Samples;

/// Identified parameters with error bars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The parameters φ, in their units.
    pub values: Vec<f64>,
    /// Standard error of each.
    pub standard_errors: Vec<f64>,
}

/// A model that adapts while it is used.
pub trait OnlineModel {
    /// Learns that features x were seen under input u; true when it noticed a change.
    fn observe(&mut self, features: &[f64], input: f64) -> bool;

    /// Takes in an observation without adapting to it yet, where that makes a difference; true when
    /// it noticed a change.
    fn remember(&mut self, features: &[f64], input: f64) -> bool {
        self.observe(features, input)
    }

    /// Adapts to shots from before the first step, the rows of `inputs` seen under `targets`.
    fn warm_up(&mut self, inputs: &Samples, targets: &[f64]) {
        let mut shots = inputs.rows().zip(targets).peekable();
        while let Some((x, &u)) = shots.next() {
            match shots.peek() {
                Some(_) => self.remember(x, u),
                None => self.observe(x, u),
            };
        }
    }

    /// The input u that the model expects to explain features x.
    fn predict(&mut self, features: &[f64]) -> f64;

    /// What it expects [`Self::predict`] to leave unexplained in the next step.
    fn disturbance(&self) -> f64 {
        0.0
    }

    /// The physical parameters, if the model identifies them.
    fn identify(&self) -> Option<Estimate>;

    /// How it kept its budget, if it has one.
    fn punctuality(&self) -> &Punctuality {
        &UNMEASURED
    }
}

impl<M: OnlineModel + ?Sized> OnlineModel for Box<M> {
    fn punctuality(&self) -> &Punctuality {
        (**self).punctuality()
    }

    fn observe(&mut self, features: &[f64], input: f64) -> bool {
        (**self).observe(features, input)
    }

    fn remember(&mut self, features: &[f64], input: f64) -> bool {
        (**self).remember(features, input)
    }

    fn warm_up(&mut self, inputs: &Samples, targets: &[f64]) {
        (**self).warm_up(inputs, targets);
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        (**self).predict(features)
    }

    fn disturbance(&self) -> f64 {
        (**self).disturbance()
    }

    fn identify(&self) -> Option<Estimate> {
        (**self).identify()
    }
}

/// Recursive least squares with change detection on any affine model.
#[derive(Clone, Debug)]
pub struct OnlineLeastSquares<M> {
    model: M,
    estimate: RecursiveLeastSquares,
    change: Option<Cusum>,
    calibration: Calibration,
    /// The estimate that disturbances do not bias, where there are any.
    instrumented: Option<Instrumented>,
    /// Observations since the start or the last change.
    seen: usize,
    features: Vec<f64>,
}

impl<M: AffineModel> OnlineLeastSquares<M> {
    /// Starts from weights `start`. Without `change` it never resets (the paper's Algorithm 2).
    pub fn new(
        model: M,
        start: &[f64],
        settings: RecursiveSettings,
        change: Option<CusumSettings>,
    ) -> Result<Self, IdentificationError> {
        check_length("the start", model.size(), start.len())?;
        Ok(Self {
            features: vec![0.0; model.size()],
            estimate: RecursiveLeastSquares::new(start, settings)?,
            change: change.map(Cusum::new).transpose()?,
            model,
            calibration: Calibration::default(),
            instrumented: None,
            seen: 0,
        })
    }

    /// Brings the error bars to the width that they need.
    #[must_use]
    pub fn with_calibration(mut self, calibration: Calibration) -> Self {
        self.calibration = calibration;
        self
    }

    /// Expects disturbances that move the features too, as a force on the plant does: they no longer
    /// bias what is identified. `measurement` is their standard deviation, `residuals` are the model's own.
    /// The predictions stay those of least squares.
    #[must_use]
    pub fn with_disturbances(mut self, measurement: f64, residuals: ResidualModel) -> Self {
        let (start, settings) = (self.estimate.weights(), self.estimate.settings());
        let instrumented = Instrumented::new(start, settings, measurement, residuals);
        self.instrumented = Some(instrumented);
        self
    }

    /// Expects a motion that comes again after so many steps: where disturbances are expected, what is
    /// identified is no surer than one period makes it.
    #[must_use]
    pub fn repeating(mut self, period: usize) -> Self {
        if let Some(instrumented) = &mut self.instrumented {
            instrumented.repeat(period);
        }
        self
    }

    /// Weights of least squares with calibrated error bars.
    fn calibrated(&self) -> (Vec<f64>, Vec<f64>) {
        let weights = self.estimate.weights();
        let reach = self.model.reach(weights);
        let errors = (0..weights.len()).map(|i| {
            let raw = self.estimate.standard_error(i);
            let prior = self.estimate.prior_spread(i);
            self.calibration.error(i, self.seen, (raw, prior), reach)
        });
        (weights.to_vec(), errors.collect())
    }
}

impl<M: AffineModel> OnlineModel for OnlineLeastSquares<M> {
    fn observe(&mut self, features: &[f64], input: f64) -> bool {
        let rest = input - self.model.features_into(features, &mut self.features);
        let innovation = self.estimate.update(&self.features, rest);
        let changed = match &mut self.change {
            Some(change) => change.update(innovation.normalised),
            None => false,
        };
        self.seen += 1;
        if changed {
            self.seen = 1;
            self.estimate.reset_covariance();
            if let Some(instrumented) = &mut self.instrumented {
                instrumented.reset(self.estimate.weights());
            }
            self.estimate.update(&self.features, rest);
        }
        let calm = self.change.as_ref().is_some_and(Cusum::is_calm);
        if let Some(instrumented) = &mut self.instrumented {
            instrumented.update(&self.features, rest);
            if calm && !changed {
                let reach = self.model.reach(self.estimate.weights());
                instrumented.trust(reach.powi(2));
            }
        }
        changed
    }

    /// What follows has another drift, and no change lies between.
    fn warm_up(&mut self, inputs: &Samples, targets: &[f64]) {
        for (x, &u) in inputs.rows().zip(targets) {
            self.observe(x, u);
        }
        self.estimate.restart_drift();
        if let Some(instrumented) = &mut self.instrumented {
            instrumented.restart_drift();
        }
        if let Some(change) = &mut self.change {
            change.reset();
        }
    }

    fn predict(&mut self, features: &[f64]) -> f64 {
        let bias = self.model.features_into(features, &mut self.features);
        bias + self.estimate.predict(&self.features)
    }

    fn disturbance(&self) -> f64 {
        let weights = self.estimate.weights();
        let reach = self.model.reach(weights).powi(2);
        let emphasis = |free: &Instrumented| free.emphasis(weights, reach);
        self.instrumented.as_ref().map_or(1.0, emphasis) * self.estimate.drift()
    }

    fn identify(&self) -> Option<Estimate> {
        let (values, standard_errors) = match &self.instrumented {
            Some(undisturbed) => {
                let reach = self.model.reach(self.estimate.weights());
                undisturbed.estimate(reach.powi(2))
            }
            None => self.calibrated(),
        };
        Some(Estimate {
            values,
            standard_errors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        identification::{model::KnownFeatures, recursive::Drift},
        systems::{Split, System as _, cartpole::Cartpole},
    };

    fn settings(drift: Option<Drift>) -> RecursiveSettings {
        RecursiveSettings {
            forgetting: 0.999,
            noise: 0.05,
            spread: vec![3.0; 2],
            drift,
        }
    }

    fn online(drift: Option<Drift>) -> OnlineLeastSquares<KnownFeatures<Cartpole>> {
        let model = KnownFeatures::new(Cartpole::default());
        let change = Some(CusumSettings::EXACT);
        OnlineLeastSquares::new(model, &[1.5, 0.3], settings(drift), change).unwrap()
    }

    /// Runs a model through two environments, one after the other; when it noticed.
    fn noticed(model: &mut impl OnlineModel, first: [f64; 2], second: [f64; 2]) -> Vec<usize> {
        let robot = Cartpole::default();
        let tasks = [first, second].map(|phi| robot.task(&phi, Split::Test, 4).unwrap());
        let samples = tasks
            .iter()
            .flat_map(|task| task.inputs.rows().zip(&task.targets));
        let alarms = samples.map(|(x, &u)| model.observe(x, u));
        let alarms: Vec<bool> = alarms.collect();
        (0..alarms.len()).filter(|&k| alarms[k]).collect()
    }

    #[test]
    fn a_new_environment_is_noticed_and_the_same_one_is_not() {
        let drift = Drift {
            size: 0.05,
            correlation: 0.95,
        };
        for drift in [None, Some(drift)] {
            let alarms = noticed(&mut online(drift), [1.5, 0.3], [1.5, 0.3]);
            assert_eq!(alarms, Vec::<usize>::new());
            let mut model = online(drift);
            let alarms = noticed(&mut model, [1.5, 0.3], [3.0, 0.3]);
            assert!(alarms[0] >= 400 && alarms[0] < 410, "{alarms:?}");
            let estimate = model.identify().unwrap();
            assert!((estimate.values[0] - 3.0).abs() < 0.03, "{estimate:?}");
        }
    }

    /// A cart that is pushed to and fro in every step: the step before says the opposite of the present one.
    #[test]
    fn under_disturbances_nothing_biased_is_shown_where_the_instruments_tell_nothing() {
        let residuals = ResidualModel::white(0.05).unwrap();
        let known = KnownFeatures::new(Cartpole::default());
        let start = OnlineLeastSquares::new(known, &[1.5, 0.3], settings(None), None);
        let mut plain = start.unwrap();
        let mut model = plain.clone().with_disturbances(0.05, residuals);
        for step in 0..100 {
            let push = if step % 2 == 0 { 1.0 } else { -1.0 };
            let row = [0.0, push, 1.0, 0.0, 0.0, -push];
            plain.observe(&row, 0.5);
            model.observe(&row, 0.5);
        }
        let Estimate {
            values,
            standard_errors,
        } = model.identify().unwrap();
        assert_eq!((values, standard_errors), (vec![1.5, 0.3], vec![3.0; 2]));
        let biased = plain.identify().unwrap().values[0];
        assert!((biased - 1.5).abs() > 0.1, "{biased} kg by least squares");
    }

    #[test]
    fn an_observation_that_is_not_a_number_is_survived() {
        let mut model = online(None);
        assert!(!model.observe(&[f64::NAN; 6], 1.0));
        assert!(!model.observe(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], f64::NAN));
        assert_eq!(model.identify().unwrap().values, vec![1.5, 0.3]);
    }
}
