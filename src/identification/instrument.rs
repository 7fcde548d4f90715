//! Weights from observations whose disturbances also move the features.
//!
//! A white force e on the plant changes its accelerations, which are features: `u = vᵀω + d − e` with a
//! v that depends on e. Least squares then takes a part of the disturbance for excitation and finds
//! masses that are too small, the more so the less else excites. The features of the step before, z, know nothing of
//! e: `Σ z̃ (ũ − ṽᵀω) = 0` has no such bias (instrumental variables). A tilde is what remains after the
//! slowly varying d has been filtered out, by the filter that suits its size and correlation.
//!
//! How large d is here, on this motion and with these weights, shows in the residuals themselves: white
//! disturbances do not agree with themselves a few steps later, d does.

use std::collections::VecDeque;

use nalgebra::{DMatrix, DVector};

use super::recursive::{Drift, RecursiveSettings};

/// Steps after which a residual is compared with itself.
const LAG: usize = 5;
/// Standard errors to either side within which 95 % of normal errors lie.
const NOMINAL_95: f64 = 1.96;

/// Sums over the observations since the start or the last change, faded by the forgetting.
#[derive(Clone, Debug)]
pub(super) struct Instrumented {
    settings: RecursiveSettings,
    /// Weights before any observation.
    start: DVector<f64>,
    /// Σ z̃ ṽᵀ, Σ z̃ z̃ᵀ and Σ z̃ ũ over the variance of an observation.
    across: DMatrix<f64>,
    square: DMatrix<f64>,
    moment: DVector<f64>,
    /// Features of the step before; none at the start.
    last: Option<DVector<f64>>,
    whitener: Whitener,
    /// The last observations, features and then the input, and Σ of each with the one [`LAG`] later.
    recent: VecDeque<DVector<f64>>,
    lagged: DMatrix<f64>,
    pairs: f64,
}

/// What is known of the weights.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weighed {
    /// The weights.
    pub values: Vec<f64>,
    /// Their standard errors, if the drift has its usual size.
    pub errors: Vec<f64>,
    /// Variance of the drift in this run over its usual one: least and most with 95 % certainty.
    pub drift: (f64, f64),
}

impl Instrumented {
    /// For a recursion with these settings that starts from these weights.
    pub fn new(start: &[f64], settings: &RecursiveSettings) -> Self {
        let size = start.len();
        Self {
            start: DVector::from_column_slice(start),
            across: DMatrix::zeros(size, size),
            square: DMatrix::zeros(size, size),
            moment: DVector::zeros(size),
            last: None,
            whitener: Whitener::new(size, settings),
            recent: VecDeque::with_capacity(LAG + 1),
            lagged: DMatrix::zeros(size + 1, size + 1),
            pairs: 0.0,
            settings: settings.clone(),
        }
    }

    /// Forgets all observations but the last one's features; `start` is believed as before the first.
    pub fn reset(&mut self, start: &[f64]) {
        self.start.copy_from_slice(start);
        self.across.fill(0.0);
        self.square.fill(0.0);
        self.moment.fill(0.0);
        self.lagged.fill(0.0);
        self.pairs = 0.0;
        self.recent.clear();
        self.whitener = Whitener::new(start.len(), &self.settings);
    }

    /// Another stretch of observations begins, with another drift.
    pub fn restart_drift(&mut self) {
        self.last = None;
        self.recent.clear();
        self.whitener = Whitener::new(self.start.len(), &self.settings);
    }

    /// Takes in an observation; one that is not finite changes nothing.
    pub fn update(&mut self, features: &[f64], input: f64) {
        if !(input.is_finite() && features.iter().all(|v| v.is_finite())) {
            return;
        }
        self.compare(features, input);
        let now = DVector::from_column_slice(features);
        let Some(before) = self.last.replace(now.clone()) else {
            return;
        };
        let (variance, z, v, u) = self.whitener.filter(before, now, input);
        let keep = self.settings.forgetting;
        self.across.ger(1.0 / variance, &z, &v, keep);
        self.square.ger(1.0 / variance, &z, &z, keep);
        self.moment.axpy(u / variance, &z, keep);
    }

    /// Pairs an observation with the one [`LAG`] steps before.
    fn compare(&mut self, features: &[f64], input: f64) {
        let both = features.iter().copied().chain([input]);
        self.recent
            .push_back(DVector::from_iterator(features.len() + 1, both));
        if self.recent.len() <= LAG {
            return;
        }
        if let (Some(before), Some(now)) = (self.recent.pop_front(), self.recent.back()) {
            self.lagged.ger(1.0, now, &before, 1.0);
            self.pairs += 1.0;
        }
    }

    /// Variance of the drift over its usual one, from the residuals of these weights: least and most
    /// with 95 % certainty. White noise of n pairs has a covariance of 0 ± σ²/√n.
    fn drift(&self, weights: &DVector<f64>) -> (f64, f64) {
        let Some(Drift { size, correlation }) = self.settings.drift else {
            return (0.0, f64::INFINITY);
        };
        if self.pairs == 0.0 {
            return (0.0, f64::INFINITY);
        }
        let residual = (-weights).push(1.0);
        let found = residual.dot(&(&self.lagged * &residual)) / self.pairs;
        let usual = size.powi(2) * correlation.powi(LAG as i32);
        let error = NOMINAL_95 * (self.settings.noise.powi(2) + size.powi(2)) / self.pairs.sqrt();
        let bounds = [found - error, found + error].map(|variance| (variance / usual).max(0.0));
        bounds.into()
    }

    /// Weights beside the `plain` ones of least squares and their covariance. Those vary less but have a
    /// bias, about which nothing is known but the difference Δ of the two: with a bias of that size before,
    /// a share t = Δ²/(Δ² + V) of it is taken off, V the variance of Δ, and t V is left of the variance.
    pub fn estimate(&self, plain: &[f64], covariance: &DMatrix<f64>) -> Option<Weighed> {
        let spread = &self.settings.spread;
        let prior = DMatrix::from_diagonal(&DVector::from_iterator(
            spread.len(),
            spread.iter().map(|s| s.powi(-2)),
        ));
        let inverse = (&self.across + &prior).try_inverse()?;
        let free = &inverse * (&self.moment + &prior * &self.start);
        let apart = &inverse * (&self.square + &prior) * inverse.transpose();
        let plain = DVector::from_column_slice(plain);
        let bias = &free - &plain;
        let weighed = apart.clone().cholesky()?.solve(&bias);
        let squares = bias.dot(&weighed) / plain.len() as f64;
        let share = squares / (1.0 + squares);
        let values = plain + bias * share;
        let error = |i: usize| {
            let (low, high) = (covariance[(i, i)], apart[(i, i)]);
            let error = (low + share * (high - low).max(0.0)).sqrt();
            // No less is known than before the first observation.
            error.min(spread[i])
        };
        values.iter().all(|w| w.is_finite()).then(|| Weighed {
            errors: (0..spread.len()).map(error).collect(),
            drift: self.drift(&free),
            values: values.as_slice().to_vec(),
        })
    }
}

/// The filter that takes out the drift: the same for features, instruments and inputs.
#[derive(Clone, Debug)]
struct Whitener {
    drift: Option<Drift>,
    noise: f64,
    /// Variance of the drift before the next observation.
    variance: f64,
    /// What the drift of each is expected to be.
    instruments: DVector<f64>,
    features: DVector<f64>,
    input: f64,
}

impl Whitener {
    fn new(size: usize, settings: &RecursiveSettings) -> Self {
        Self {
            drift: settings.drift,
            noise: settings.noise.powi(2),
            variance: settings.drift.map_or(0.0, |drift| drift.size.powi(2)),
            instruments: DVector::zeros(size),
            features: DVector::zeros(size),
            input: 0.0,
        }
    }

    /// Variance of the observation, then what is left of instruments, features and input.
    fn filter(
        &mut self,
        instruments: DVector<f64>,
        features: DVector<f64>,
        input: f64,
    ) -> (f64, DVector<f64>, DVector<f64>, f64) {
        let variance = self.variance + self.noise;
        let left = (
            variance,
            instruments - &self.instruments,
            features - &self.features,
            input - self.input,
        );
        let Some(Drift { size, correlation }) = self.drift else {
            return left;
        };
        let gain = self.variance / variance;
        for (expected, left) in [
            (&mut self.instruments, &left.1),
            (&mut self.features, &left.2),
        ] {
            expected.axpy(correlation * gain, left, correlation);
        }
        self.input = correlation * (self.input + gain * left.3);
        let kept = correlation * correlation;
        self.variance = kept * (1.0 - gain) * self.variance + (1.0 - kept) * size * size;
        left
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::{identification::recursive::RecursiveLeastSquares, random::generator};

    /// A mass of 0.5 kg pushed slowly to and fro by a force that has a white disturbance as large as
    /// a third of its own root mean square.
    fn weighed(drift: Option<Drift>) -> (f64, f64, f64) {
        let settings = RecursiveSettings {
            forgetting: 1.0,
            noise: 0.25,
            spread: vec![3.0],
            drift,
        };
        let mut plain = RecursiveLeastSquares::new(&[1.0], settings.clone()).unwrap();
        let mut free = Instrumented::new(&[1.0], &settings);
        let mut rng = generator(4, 0);
        for k in 0..3_000 {
            let push = (f64::from(k) / 20.0).sin();
            let noise: f64 = StandardNormal.sample(&mut rng);
            let acceleration = [(push + 0.25 * noise) / 0.5];
            plain.update(&acceleration, push);
            free.update(&acceleration, push);
        }
        let covariance = DMatrix::from_element(1, 1, plain.covariance(0, 0));
        let found = free.estimate(plain.weights(), &covariance).unwrap();
        if drift.is_some() {
            // There is none.
            assert!(found.drift.0 == 0.0 && found.drift.1 < 0.5, "{found:?}");
        }
        (plain.weights()[0], found.values[0], found.errors[0])
    }

    #[test]
    fn a_disturbance_that_moves_the_features_does_not_bias_the_mass() {
        let drift = Drift {
            size: 0.1,
            correlation: 0.95,
        };
        for drift in [None, Some(drift)] {
            let (plain, free, error) = weighed(drift);
            assert!(plain < 0.46, "{plain} kg by least squares");
            assert!((free - 0.5).abs() < 0.01, "{free} kg");
            assert!((0.0005..0.01).contains(&error), "± {error} kg");
        }
    }

    #[test]
    fn without_observations_nothing_is_known() {
        let settings = RecursiveSettings {
            forgetting: 1.0,
            noise: 0.1,
            spread: vec![2.0, 0.6],
            drift: None,
        };
        let free = Instrumented::new(&[1.5, 0.3], &settings);
        let prior = DMatrix::from_diagonal(&DVector::from_vec(vec![4.0, 0.36]));
        let found = free.estimate(&[1.5, 0.3], &prior).unwrap();
        assert!((found.values[0] - 1.5).abs() + (found.values[1] - 0.3).abs() < 1e-9);
        assert!((found.errors[0] - 2.0).abs() + (found.errors[1] - 0.6).abs() < 1e-9);
        assert_eq!(found.drift, (0.0, f64::INFINITY));
    }
}
