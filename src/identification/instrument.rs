//! Weights from observations whose disturbances also move the features.
//!
//! A white force e on the plant changes its accelerations, which are features: `u = vᵀω + d − e` with a
//! v that depends on e. Least squares then takes a part of the disturbance for excitation and finds
//! masses that are too small, the more so the less else excites. The features of the step before, z, know nothing of
//! e: `Σ z̃ (ũ − ṽᵀω) = 0` has no such bias (instrumental variables). A tilde is what remains after the
//! slowly varying d has been filtered out, by the filter that suits its size and correlation. That filter
//! brings a known part ρ of the e of the step before back into the residual, so that z̃ − ρṽ takes its place.
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
        let echo = self.whitener.echo();
        let (variance, mut z, v, u) = self.whitener.filter(before, now, input);
        z.axpy(-echo, &v, 1.0);
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
    /// with 95 % certainty. White noise of n pairs has a covariance of 0 ± σ²/√n; a drift with the
    /// correlation c has only n(1 − c²)/(1 + c²) values of its own, of which the weights have taken one
    /// each, so that its variance is known as from so many.
    fn drift(&self, weights: &DVector<f64>) -> (f64, f64) {
        let nothing = (0.0, f64::INFINITY);
        let Some(Drift { size, correlation }) = self.settings.drift else {
            return nothing;
        };
        let kept = correlation.powi(2);
        let freedom = self.pairs * (1.0 - kept) / (1.0 + kept) - weights.len() as f64;
        if freedom < 1.0 {
            return nothing;
        }
        let residual = (-weights).push(1.0);
        let found = residual.dot(&(&self.lagged * &residual)) / self.pairs;
        let usual = size.powi(2) * correlation.powi(LAG as i32);
        let error = NOMINAL_95 * (self.settings.noise.powi(2) + size.powi(2)) / self.pairs.sqrt();
        let bound = |covariance: f64, side: f64| {
            covariance.max(0.0) / usual / spread_of_variance(freedom, side)
        };
        (
            bound(found - error, NOMINAL_95),
            bound(found + error, -NOMINAL_95),
        )
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

/// A variance of so many normal numbers over the true one, this many standard deviations to a side
/// (Wilson and Hilferty's approximation of χ²/ν).
fn spread_of_variance(freedom: f64, deviations: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    (1.0 - part + deviations * part.sqrt()).powi(3).max(1e-3)
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

    /// Correlation ρ of filtered white noise with itself one step later: `Σ hᵢhᵢ₊₁ / Σ hᵢ²` of the
    /// filter's response 1, −cg, −cga, −cga², … with the gain g and a = c(1 − g).
    fn echo(&self) -> f64 {
        let Some(Drift { correlation, .. }) = self.drift else {
            return 0.0;
        };
        let gain = self.variance / (self.variance + self.noise);
        let (first, fading) = (correlation * gain, correlation * (1.0 - gain));
        let tail = first * first / (1.0 - fading * fading);
        (tail * fading - first) / (1.0 + tail)
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
    /// a third of its own root mean square, by a model that is wrong by a drift: by least squares, and
    /// what is found beside it.
    fn weighed(drift: Option<Drift>, seed: u64) -> (f64, Weighed) {
        let settings = RecursiveSettings {
            forgetting: 1.0,
            noise: 0.25,
            spread: vec![3.0],
            drift,
        };
        let mut plain = RecursiveLeastSquares::new(&[1.0], settings.clone()).unwrap();
        let mut free = Instrumented::new(&[1.0], &settings);
        let mut rng = generator(seed, 0);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut wrong = drift.map_or(0.0, |drift| drift.size * normal());
        for k in 0..3_000 {
            let push = (f64::from(k) / 20.0).sin();
            let acceleration = [(push + 0.25 * normal()) / 0.5];
            plain.update(&acceleration, push + wrong);
            free.update(&acceleration, push + wrong);
            if let Some(Drift { size, correlation }) = drift {
                let fresh = size * (1.0 - correlation.powi(2)).sqrt() * normal();
                wrong = correlation * wrong + fresh;
            }
        }
        let covariance = DMatrix::from_element(1, 1, plain.covariance(0, 0));
        let found = free.estimate(plain.weights(), &covariance).unwrap();
        (plain.weights()[0], found)
    }

    #[test]
    fn a_disturbance_that_moves_the_features_does_not_bias_the_mass() {
        const SEEDS: u32 = 100;
        let drift = Drift {
            size: 0.1,
            correlation: 0.95,
        };
        for drift in [None, Some(drift)] {
            // Errors in units of their own bars.
            let (mut scores, mut least_squares, mut as_usual) = (Vec::new(), 0.0, 0);
            for seed in 0..SEEDS {
                let (plain, found) = weighed(drift, seed.into());
                least_squares += plain / f64::from(SEEDS);
                scores.push((found.values[0] - 0.5) / found.errors[0]);
                as_usual += usize::from(found.drift.0 <= 1.0 && found.drift.1 >= 1.0);
            }
            assert!(least_squares < 0.46, "{least_squares} kg by least squares");
            let mean = scores.iter().sum::<f64>() / f64::from(SEEDS);
            let square = scores.iter().map(|s| s * s).sum::<f64>() / f64::from(SEEDS);
            // Of a difference of x standard errors, x/(1 + x²) is left: half of one at most.
            assert!(mean.abs() < 0.5, "{mean}");
            // Three standard errors of the mean square of so many normal numbers.
            let error = f64::from(SEEDS).sqrt().recip();
            assert!(
                (square - 1.0).abs() < 3.0 * 2.0_f64.sqrt() * error,
                "{square}"
            );
            assert!(as_usual >= 88, "{as_usual} of {SEEDS}");
        }
    }

    #[test]
    fn variances_of_few_numbers_spread_as_tables_of_chi_square_say() {
        // χ² of 5 and of 30 degrees at 2.5 and 97.5 %, over the degrees.
        for (freedom, low, high) in [
            (5.0, 0.831 / 5.0, 12.83 / 5.0),
            (30.0, 16.79 / 30.0, 46.98 / 30.0),
        ] {
            assert!((spread_of_variance(freedom, -NOMINAL_95) - low).abs() < 0.01);
            assert!((spread_of_variance(freedom, NOMINAL_95) - high).abs() < 0.02);
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
