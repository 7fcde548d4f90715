//! How wrong a trained model is, from trajectories that training did not see.
//!
//! Validation trajectories are driven in the *training* environments, whose parameters are known, by
//! test-like inputs. The residuals `y − F(x; φ)` give a typical size (the median over trajectories
//! of the root mean square, so that one wild trajectory does not decide) and a correlation from step
//! to step (from the autocorrelation at a lag of five).

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use super::{
    error::{IdentificationError, check_length, check_setting},
    model::{AffineModel, dot},
    recursive::Drift,
};
use crate::systems::{Split, System, SystemError, Task};

/// Lag of the autocorrelation.
const LAG: usize = 5;
/// Largest correlation from step to step that is believed.
const LARGEST_CORRELATION: f64 = 0.98;

/// Least relative variance of the residuals' variance from run to run: no two runs are alike.
const LEAST_SCATTER: f64 = 0.01;

/// What is believed of the variance of a run's residuals: a scaled inverse χ² distribution, which is as
/// if it had been found from a few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// That variance over [`ResidualModel::size`]².
    pub ratio: f64,
    /// How many numbers it counts for.
    pub freedom: f64,
}

/// Size and correlation of a model's residuals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResidualModel {
    /// Median over trajectories of the root mean square, in the target's unit.
    pub size: f64,
    /// Root mean square over all trajectories, in the target's unit.
    pub rmse: f64,
    /// Correlation from one sample to the next, 0 to below 1; 0 for samples without an order.
    pub correlation: f64,
}

impl ResidualModel {
    /// White residuals of a known size: a model that is exact up to measurement noise.
    pub fn white(size: f64) -> Result<Self, IdentificationError> {
        check_setting("the noise level", size, "above 0", size > 0.0)?;
        Ok(Self {
            size,
            rmse: size,
            correlation: 0.0,
        })
    }

    /// From the residuals of several trajectories, in order of time.
    pub fn of(trajectories: &[Vec<f64>]) -> Result<Self, IdentificationError> {
        let count = trajectories.iter().map(Vec::len).sum::<usize>();
        let mut sizes: Vec<f64> = trajectories.iter().map(|r| mean_square(r)).collect();
        sizes.sort_by(f64::total_cmp);
        let size = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0).sqrt();
        check_setting("the residuals' size", size, "above 0", size > 0.0)?;
        let all = trajectories.iter().flatten().map(|r| r * r).sum::<f64>();
        Ok(Self {
            size,
            rmse: (all / count.max(1) as f64).sqrt(),
            correlation: correlation(trajectories),
        })
    }

    /// The variance of a run's residuals. Over runs it is about log-normal, with the median size², the mean
    /// rmse² and so the variance s² = 4 ln(rmse/size) of its logarithm. An inverse χ² of ν numbers has nearly
    /// 2/ν + 2/ν² of it, and a mean of the logarithm that is 1/ν above that of its scale.
    pub fn expected(&self) -> Expected {
        let scatter = (4.0 * (self.rmse / self.size).ln()).max(LEAST_SCATTER);
        let freedom = (1.0 + (1.0 + 2.0 * scatter).sqrt()) / scatter;
        Expected {
            ratio: (-1.0 / freedom).exp(),
            freedom,
        }
    }

    /// The slowly varying part of the residuals, for samples that come in order. Their correlation is
    /// measured as if all of their variance varied slowly, so this part has all of it.
    pub fn drift(&self) -> Option<Drift> {
        (self.correlation > 0.0).then_some(Drift {
            size: self.size,
            correlation: self.correlation,
        })
    }

    /// The white part: the measurement's, and half of the residuals' variance for what varies faster
    /// than the drift; all of it where samples have no order.
    pub fn white_noise(&self, measurement: f64) -> f64 {
        let own = match self.drift() {
            Some(_) => self.size * FRAC_1_SQRT_2,
            None => self.size,
        };
        own.hypot(measurement)
    }

    /// Share of the model's own residuals in the variance of what many measurements with this noise
    /// tell: white noise averages out, what varies slowly does so more slowly, by (1 + ρ) / (1 − ρ).
    pub fn share(&self, measurement: f64) -> f64 {
        let slow = match self.drift() {
            Some(drift) => (1.0 + drift.correlation) / (1.0 - drift.correlation),
            None => 0.0,
        };
        let own = self.white_noise(0.0).powi(2) + slow * self.size.powi(2);
        own / (own + measurement.powi(2))
    }
}

fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>() / values.len().max(1) as f64
}

/// The fifth root of the autocorrelation at lag five, trajectories weighted alike.
fn correlation(trajectories: &[Vec<f64>]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for residuals in trajectories.iter().filter(|r| r.len() > 2 * LAG) {
        let power = mean_square(residuals);
        if power > 0.0 {
            let pairs = residuals.iter().zip(&residuals[LAG..]);
            let lagged = pairs.map(|(a, b)| a * b).sum::<f64>();
            sum += lagged / (residuals.len() - LAG) as f64 / power;
            count += 1.0;
        }
    }
    let at_lag = if count > 0.0 { sum / count } else { 0.0 };
    at_lag
        .max(0.0)
        .powf(1.0 / LAG as f64)
        .min(LARGEST_CORRELATION)
}

/// Test-like tasks in the training environments, `each` of them per environment.
pub fn validation_tasks(
    system: &dyn System,
    seed: u64,
    each: usize,
) -> Result<Vec<Task>, SystemError> {
    let plan = validation_plan(system, seed, each);
    let task = |(parameters, seed): (Vec<f64>, u64)| system.task(&parameters, Split::Test, seed);
    plan.into_iter().map(task).collect()
}

/// Parameters φ and seed of each of the validation tasks.
pub fn validation_plan(system: &dyn System, seed: u64, each: usize) -> Vec<(Vec<f64>, u64)> {
    let environments = system.environments(Split::Train, seed).into_iter();
    let repeated = environments.flat_map(|parameters| std::iter::repeat_n(parameters, each));
    // A robot starts alike in all environments; a field is measured at other points in each.
    let different = match system.robot() {
        Some(_) => each as u64,
        None => u64::MAX,
    };
    let numbered = repeated.zip(0_u64..);
    numbered
        .map(|(parameters, number)| (parameters, seed.wrapping_add(number % different)))
        .collect()
}

/// Residuals `y − c(x) − wᵀ v(x)` of a task, in order.
pub fn residuals(
    model: &mut impl AffineModel,
    weights: &[f64],
    task: &Task,
) -> Result<Vec<f64>, IdentificationError> {
    check_length("the weights", model.size(), weights.len())?;
    let mut features = vec![0.0; model.size()];
    let rows = task.inputs.rows().zip(&task.targets);
    Ok(rows
        .map(|(x, y)| {
            let bias = model.features_into(x, &mut features);
            y - bias - dot(&features, weights)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::random::generator;

    fn autoregressive(a: f64, size: f64, seed: u64) -> Vec<f64> {
        let mut rng = generator(seed, 0);
        let mut value = 0.0;
        let step = size * (1.0 - a * a).sqrt();
        let mut next = || {
            let noise: f64 = StandardNormal.sample(&mut rng);
            value = a * value + step * noise;
            value
        };
        (0..2000).map(|_| next()).collect()
    }

    #[test]
    fn size_and_correlation_are_recovered() {
        let runs: Vec<Vec<f64>> = (0..20).map(|s| autoregressive(0.9, 0.3, s)).collect();
        let model = ResidualModel::of(&runs).unwrap();
        assert!((model.size - 0.3).abs() < 0.02, "{model:?}");
        assert!((model.correlation - 0.9).abs() < 0.02, "{model:?}");
    }

    #[test]
    fn one_wild_trajectory_does_not_decide() {
        let mut runs: Vec<Vec<f64>> = (0..9).map(|s| autoregressive(0.9, 0.1, s)).collect();
        runs.push(autoregressive(0.9, 50.0, 99));
        let model = ResidualModel::of(&runs).unwrap();
        assert!(model.size < 0.12 && model.rmse > 10.0);
    }

    #[test]
    fn white_residuals_have_next_to_no_drift() {
        let runs: Vec<Vec<f64>> = (0..20).map(|s| autoregressive(0.0, 0.3, s)).collect();
        assert!(ResidualModel::of(&runs).unwrap().correlation < 0.5);
        assert_eq!(ResidualModel::white(0.1).unwrap().drift(), None);
        assert!(ResidualModel::of(&[]).is_err());
    }

    #[test]
    fn runs_that_differ_count_for_few_numbers_and_runs_that_are_alike_for_many() {
        let expected = |rmse| {
            let model = ResidualModel {
                rmse,
                ..ResidualModel::white(1.0).unwrap()
            };
            model.expected()
        };
        // An inverse χ² of 3 numbers: its logarithm has the variance 0.935, its median is 1.27 scales.
        let differ = expected((0.935_f64 / 4.0).exp());
        assert!((differ.freedom - 3.0).abs() < 0.2, "{differ:?}");
        assert!((differ.ratio * 1.27 - 1.0).abs() < 0.15, "{differ:?}");
        for rmse in [1.0, 0.9] {
            let alike = expected(rmse);
            assert!(alike.freedom > 100.0 && alike.ratio > 0.99, "{alike:?}");
        }
    }
}
