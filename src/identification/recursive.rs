//! Recursive least squares (paper, Algorithm 2) with forgetting.
//!
//! With innovation `e = u − vᵀω`:
//! `K = Pv/(λ + vᵀPv)`, `ω ← ω + K e`, `P ← (P − K vᵀP)/λ`.
//!
//! P is the covariance of ω in units of the noise variance: `cov ω = σ² P`. It is kept symmetric
//! and its trace is capped, so that forgetting cannot wind it up while nothing excites it.

use nalgebra::{DMatrix, DVector};

use super::error::{IdentificationError, check_finite, check_length, check_setting};

/// Settings of the recursion.
#[derive(Clone, Debug, PartialEq)]
pub struct RecursiveSettings {
    /// Share λ of the past that each step keeps, above 0 and at most 1 (default 0.999).
    pub forgetting: f64,
    /// Noise level σ of the measured inputs, in their unit, above 0.
    pub noise: f64,
    /// Standard deviation of each unknown before any observation (and after a reset), above 0.
    pub spread: Vec<f64>,
}

/// The prediction error of one observation, made before it was used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Innovation {
    /// e = u − vᵀω, in the input's unit.
    pub error: f64,
    /// ν = e / (σ √(1 + vᵀPv)): standard normal while the model is right.
    pub normalised: f64,
}

/// The running estimate. No method allocates after [`RecursiveLeastSquares::new`].
#[derive(Clone, Debug)]
pub struct RecursiveLeastSquares {
    settings: RecursiveSettings,
    weights: DVector<f64>,
    covariance: DMatrix<f64>,
    largest_trace: f64,
    gain: DVector<f64>,
    features: DVector<f64>,
}

impl RecursiveLeastSquares {
    /// Starts from weights ω₀ with the prior spread.
    pub fn new(start: &[f64], settings: RecursiveSettings) -> Result<Self, IdentificationError> {
        let RecursiveSettings {
            forgetting,
            noise,
            ref spread,
        } = settings;
        check_finite("start weight", start)?;
        check_length("the prior spread", start.len(), spread.len())?;
        let allowed = forgetting > 0.0 && forgetting <= 1.0;
        check_setting(
            "the forgetting factor",
            forgetting,
            "above 0 and at most 1",
            allowed,
        )?;
        check_setting("the noise level", noise, "above 0", noise > 0.0)?;
        for &width in spread {
            check_setting("the prior spread", width, "above 0", width > 0.0)?;
        }
        let size = start.len();
        let largest_trace = spread.iter().map(|s| (s / noise).powi(2)).sum();
        let mut this = Self {
            settings,
            weights: DVector::from_column_slice(start),
            covariance: DMatrix::zeros(size, size),
            largest_trace,
            gain: DVector::zeros(size),
            features: DVector::zeros(size),
        };
        this.reset_covariance();
        Ok(this)
    }

    /// Forgets how certain the estimate was, but not the estimate: P ← P₀.
    pub fn reset_covariance(&mut self) {
        self.covariance.fill(0.0);
        for (unknown, width) in self.settings.spread.iter().enumerate() {
            self.covariance[(unknown, unknown)] = (width / self.settings.noise).powi(2);
        }
    }

    /// The innovation of an observation, without learning from it. `features` has one number an
    /// unknown; missing ones count as zero.
    pub fn innovation(&self, features: &[f64], input: f64) -> Innovation {
        let mut error = input;
        let mut uncertainty = 1.0;
        for (i, &vi) in features.iter().enumerate().take(self.weights.len()) {
            error -= vi * self.weights[i];
            for (j, &vj) in features.iter().enumerate().take(self.weights.len()) {
                uncertainty += vi * vj * self.covariance[(i, j)];
            }
        }
        let normalised = error / (self.settings.noise * uncertainty.sqrt());
        Innovation { error, normalised }
    }

    /// Learns from one observation. An observation that is not finite is ignored.
    pub fn update(&mut self, features: &[f64], input: f64) {
        let size = self.weights.len();
        self.features.fill(0.0);
        for (slot, &value) in self.features.iter_mut().zip(features) {
            *slot = value;
        }
        let error = input - self.features.dot(&self.weights);
        if !(error.is_finite() && self.features.iter().all(|v| v.is_finite())) {
            return;
        }
        let forgetting = self.settings.forgetting;
        self.gain.gemv(1.0, &self.covariance, &self.features, 0.0);
        let scale = 1.0 / (forgetting + self.features.dot(&self.gain));
        self.weights.axpy(scale * error, &self.gain, 1.0);
        for i in 0..size {
            for j in 0..=i {
                let entry = self.covariance[(i, j)] - scale * self.gain[i] * self.gain[j];
                self.covariance[(i, j)] = entry / forgetting;
                self.covariance[(j, i)] = entry / forgetting;
            }
        }
        let trace = self.covariance.trace();
        if trace > self.largest_trace {
            self.covariance *= self.largest_trace / trace;
        }
    }

    /// The estimate ω.
    pub fn weights(&self) -> &[f64] {
        self.weights.as_slice()
    }

    /// Covariance σ²P of two unknowns of the estimate.
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        self.settings.noise.powi(2) * self.covariance[(i, j)]
    }

    /// Standard error of an unknown.
    pub fn standard_error(&self, unknown: usize) -> f64 {
        self.covariance(unknown, unknown).max(0.0).sqrt()
    }

    /// The prediction vᵀω.
    pub fn predict(&self, features: &[f64]) -> f64 {
        features
            .iter()
            .zip(self.weights.iter())
            .map(|(v, w)| v * w)
            .sum()
    }

    /// Settings in use.
    pub fn settings(&self) -> &RecursiveSettings {
        &self.settings
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::{identification::least_squares, random::generator};

    fn settings(forgetting: f64) -> RecursiveSettings {
        RecursiveSettings {
            forgetting,
            noise: 0.1,
            spread: vec![10.0; 3],
        }
    }

    #[test]
    fn without_forgetting_it_equals_batch_ridge_least_squares() {
        let mut rng = generator(0, 0);
        let features = DMatrix::from_fn(40, 3, |_, _| StandardNormal.sample(&mut rng));
        let targets: Vec<f64> = (0..40).map(|_| StandardNormal.sample(&mut rng)).collect();
        let mut online = RecursiveLeastSquares::new(&[0.0; 3], settings(1.0)).unwrap();
        for (row, &target) in features.row_iter().zip(&targets) {
            let row: Vec<f64> = row.iter().copied().collect();
            online.update(&row, target);
        }
        let ridge = least_squares::Ridge::uniform(3, (0.1_f64 / 10.0).powi(2));
        let noise = least_squares::Noise::Known(0.1);
        let batch = least_squares::fit(&features, &targets, Some(&ridge), noise).unwrap();
        for unknown in 0..3 {
            assert!((online.weights()[unknown] - batch.weights[unknown]).abs() < 1e-9);
            let error = batch.standard_errors()[unknown];
            assert!((online.standard_error(unknown) - error).abs() < 1e-9);
        }
    }

    #[test]
    fn forgetting_without_excitation_does_not_wind_up() {
        let mut online = RecursiveLeastSquares::new(&[0.0; 3], settings(0.97)).unwrap();
        for _ in 0..10_000 {
            online.update(&[1.0, 0.0, 0.0], 1.0);
        }
        let trace: f64 = (0..3).map(|i| online.covariance(i, i)).sum();
        assert!(trace <= 300.0 + 1e-9, "trace {trace}");
        assert!((online.weights()[0] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn an_observation_that_is_not_a_number_changes_nothing() {
        let mut online = RecursiveLeastSquares::new(&[1.0; 3], settings(1.0)).unwrap();
        online.update(&[f64::NAN, 1.0, 1.0], 2.0);
        online.update(&[1.0, 1.0, 1.0], f64::INFINITY);
        assert_eq!(online.weights(), &[1.0; 3]);
    }

    #[test]
    fn settings_out_of_range_are_refused_with_their_value() {
        for (forgetting, noise, spread, value) in [
            (0.0, 0.1, 1.0, "0"),
            (1.5, 0.1, 1.0, "1.5"),
            (1.0, -0.1, 1.0, "-0.1"),
            (1.0, 0.1, -2.0, "-2"),
        ] {
            let settings = RecursiveSettings {
                forgetting,
                noise,
                spread: vec![spread],
            };
            let error = RecursiveLeastSquares::new(&[0.0], settings).unwrap_err();
            assert!(
                error.to_string().ends_with(&format!("but is {value}")),
                "{error}"
            );
        }
    }
}
