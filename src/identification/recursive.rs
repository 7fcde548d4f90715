//! Recursive least squares (paper, Algorithm 2) with forgetting.
//!
//! With innovation `e = u − vᵀω`:
//! `K = Pv/(λ + vᵀPv)`, `ω ← ω + K e`, `P ← (P − K vᵀP)/λ`.
//!
//! P is the covariance of ω in units of the noise variance: `cov ω = σ² P`. It is kept symmetric
//! and its trace is capped, so that forgetting cannot wind it up while nothing excites it.
//!
//! A learned model's residuals are not white: they come in runs, because neighbouring states have
//! similar errors. An optional [`Drift`] says so: `u = vᵀω + d + noise`, `d ← a d + step`. The same
//! recursion then estimates d along with ω, and the error bars of ω stay honest.

use nalgebra::{DMatrix, DVector};

use super::{
    error::{IdentificationError, check_finite, check_length, check_setting},
    model::dot,
};

/// Largest drift in multiples of its size: a larger error is not the model's but a change.
const LARGEST_DRIFT: f64 = 2.5;

/// Settings of the recursion.
#[derive(Clone, Debug, PartialEq)]
pub struct RecursiveSettings {
    /// Share λ of the past that each step keeps, above 0 and at most 1 (default 0.999).
    pub forgetting: f64,
    /// Noise level σ of the measured inputs, in their unit, above 0.
    pub noise: f64,
    /// Standard deviation of each unknown before any observation (and after a reset), above 0.
    pub spread: Vec<f64>,
    /// A slowly varying part of the residuals, if there is one.
    pub drift: Option<Drift>,
}

/// A residual that varies slowly: d with standard deviation s and correlation `a` from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Standard deviation s of d, in the input's unit, above 0.
    pub size: f64,
    /// Correlation a of d with its next value, 0 to below 1.
    pub correlation: f64,
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
    /// Number of unknowns without the drift.
    size: usize,
    /// The unknowns, then the drift if there is one.
    weights: DVector<f64>,
    covariance: DMatrix<f64>,
    largest_trace: f64,
    gain: DVector<f64>,
    features: DVector<f64>,
}

impl RecursiveLeastSquares {
    /// Starts from weights ω₀ with the prior spread.
    pub fn new(start: &[f64], settings: RecursiveSettings) -> Result<Self, IdentificationError> {
        check(start, &settings)?;
        let size = start.len();
        let total = size + usize::from(settings.drift.is_some());
        let prior = settings.spread.iter().map(|s| (s / settings.noise).powi(2));
        let mut this = Self {
            size,
            weights: DVector::from_column_slice(start).resize_vertically(total, 0.0),
            covariance: DMatrix::zeros(total, total),
            largest_trace: prior.sum(),
            gain: DVector::zeros(total),
            features: DVector::zeros(total),
            settings,
        };
        this.reset_covariance();
        Ok(this)
    }

    /// Standard deviation of an unknown before any observation.
    pub fn prior_spread(&self, unknown: usize) -> f64 {
        self.settings
            .spread
            .get(unknown)
            .copied()
            .unwrap_or(f64::INFINITY)
    }

    /// Forgets how certain the estimate was, but not the estimate: P ← P₀. The drift starts anew.
    pub fn reset_covariance(&mut self) {
        self.covariance.fill(0.0);
        let noise = self.settings.noise;
        for (unknown, width) in self.settings.spread.iter().enumerate() {
            self.covariance[(unknown, unknown)] = (width / noise).powi(2);
        }
        self.restart_drift();
    }

    /// Another stretch of observations begins, whose drift has nothing to do with the last one's.
    pub fn restart_drift(&mut self) {
        if let Some(drift) = self.settings.drift {
            self.covariance.row_mut(self.size).fill(0.0);
            self.covariance.column_mut(self.size).fill(0.0);
            self.weights[self.size] = 0.0;
            let variance = (drift.size / self.settings.noise).powi(2);
            self.covariance[(self.size, self.size)] = variance;
        }
    }

    /// Learns from one observation; returns its innovation, made before. An observation that is
    /// not finite changes nothing. `features` has one number an unknown, missing ones count as 0.
    pub fn update(&mut self, features: &[f64], input: f64) -> Innovation {
        self.forget();
        let innovation = self.innovation(features, input);
        if innovation.normalised.is_finite() {
            self.learn(innovation.error);
        }
        innovation
    }

    /// Undoes nothing and learns nothing: the innovation that [`Self::update`] would return.
    /// Takes `&mut self` for its memory alone.
    pub fn innovation(&mut self, features: &[f64], input: f64) -> Innovation {
        self.features.fill(0.0);
        for (slot, &value) in self.features.iter_mut().zip(features).take(self.size) {
            *slot = value;
        }
        if self.settings.drift.is_some() {
            self.features[self.size] = 1.0;
        }
        let error = input - self.features.dot(&self.weights);
        self.gain.gemv(1.0, &self.covariance, &self.features, 0.0);
        let variance = 1.0 + self.features.dot(&self.gain);
        let normalised = error / (self.settings.noise * variance.sqrt());
        Innovation { error, normalised }
    }

    /// Before an observation: P ← P/λ for the unknowns, and the drift takes a step.
    fn forget(&mut self) {
        let grow = 1.0 / self.settings.forgetting;
        for i in 0..self.size {
            for j in 0..self.size {
                self.covariance[(i, j)] *= grow;
            }
        }
        let trace: f64 = (0..self.size).map(|i| self.covariance[(i, i)]).sum();
        let shrink = (self.largest_trace / trace).min(1.0);
        for i in 0..self.size {
            for j in 0..self.size {
                self.covariance[(i, j)] *= shrink;
            }
        }
        if let Some(Drift { size, correlation }) = self.settings.drift {
            let across = correlation * (grow * shrink).sqrt();
            for i in 0..self.size {
                self.covariance[(i, self.size)] *= across;
                self.covariance[(self.size, i)] *= across;
            }
            let variance = (size / self.settings.noise).powi(2);
            let kept = correlation * correlation;
            let last = &mut self.covariance[(self.size, self.size)];
            *last = kept * *last + (1.0 - kept) * variance;
            self.weights[self.size] *= correlation;
        }
    }

    /// With Pv in `gain`: K = Pv/(1 + vᵀPv), ω ← ω + K e, P ← P − K vᵀP.
    fn learn(&mut self, error: f64) {
        let scale = 1.0 / (1.0 + self.features.dot(&self.gain));
        self.weights.axpy(scale * error, &self.gain, 1.0);
        if let Some(Drift { size, .. }) = self.settings.drift {
            let most = LARGEST_DRIFT * size;
            self.weights[self.size] = self.weights[self.size].clamp(-most, most);
        }
        for i in 0..self.weights.len() {
            for j in 0..=i {
                let entry = self.covariance[(i, j)] - scale * self.gain[i] * self.gain[j];
                self.covariance[(i, j)] = entry;
                self.covariance[(j, i)] = entry;
            }
        }
    }

    /// The estimate ω.
    pub fn weights(&self) -> &[f64] {
        &self.weights.as_slice()[..self.size]
    }

    /// The drift expected in the next step, `a d`; 0 without one.
    pub fn drift(&self) -> f64 {
        let expected = |drift: &Drift| drift.correlation * self.weights[self.size];
        self.settings.drift.as_ref().map_or(0.0, expected)
    }

    /// Covariance σ²P of two unknowns of the estimate.
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        self.settings.noise.powi(2) * self.covariance[(i, j)]
    }

    /// Standard error of an unknown.
    pub fn standard_error(&self, unknown: usize) -> f64 {
        self.covariance(unknown, unknown).max(0.0).sqrt()
    }

    /// The prediction vᵀω, without the drift.
    pub fn predict(&self, features: &[f64]) -> f64 {
        dot(features, self.weights())
    }

    /// Settings in use.
    pub fn settings(&self) -> &RecursiveSettings {
        &self.settings
    }
}

fn check(start: &[f64], settings: &RecursiveSettings) -> Result<(), IdentificationError> {
    let RecursiveSettings {
        forgetting,
        noise,
        ref spread,
        drift,
    } = *settings;
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
    if let Some(Drift { size, correlation }) = drift {
        check_setting("the drift's size", size, "above 0", size > 0.0)?;
        let allowed = (0.0..1.0).contains(&correlation);
        check_setting(
            "the drift's correlation",
            correlation,
            "0 to below 1",
            allowed,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::random::generator;

    fn settings(forgetting: f64) -> RecursiveSettings {
        RecursiveSettings {
            forgetting,
            noise: 0.1,
            spread: vec![10.0; 3],
            drift: None,
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
        // w = (VᵀV + λ)⁻¹ Vᵀy with covariance σ² (VᵀV + λ)⁻¹, λ = (σ/s)².
        let ridge = DMatrix::identity(3, 3) * (0.1_f64 / 10.0).powi(2);
        let inverse = (features.tr_mul(&features) + ridge).try_inverse().unwrap();
        let batch = &inverse * features.tr_mul(&DVector::from_vec(targets));
        for unknown in 0..3 {
            assert!((online.weights()[unknown] - batch[unknown]).abs() < 1e-9);
            let error = 0.1 * inverse[(unknown, unknown)].sqrt();
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
                drift: None,
            };
            let error = RecursiveLeastSquares::new(&[0.0], settings).unwrap_err();
            assert!(
                error.to_string().ends_with(&format!("but is {value}")),
                "{error}"
            );
        }
    }
}
