//! The filter that takes a drift out: of `ε = d + e`, d slowly varying and e white, it leaves
//! `ε̃ = ε − d̂`, d̂ what the ε before let expect of d (a Kalman filter of one number).

use nalgebra::{DMatrix, DVector};

use super::recursive::{Drift, RecursiveSettings};

/// The filter that takes out the drift: the same for features, instruments and inputs.
#[derive(Clone, Debug)]
pub(super) struct Whitener {
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
    pub fn new(size: usize, settings: &RecursiveSettings) -> Self {
        Self {
            drift: settings.drift,
            noise: settings.noise.powi(2),
            variance: settings.drift.map_or(0.0, |drift| drift.size.powi(2)),
            instruments: DVector::zeros(size),
            features: DVector::zeros(size),
            input: 0.0,
        }
    }

    /// Share g of an observation that is taken for drift, and the drift's correlation c.
    pub fn gain(&self) -> (f64, f64) {
        let gain = self.variance / (self.variance + self.noise);
        (gain, self.drift.map_or(0.0, |drift| drift.correlation))
    }

    /// Correlation ρ of filtered white noise with itself one step later: `Σ hᵢhᵢ₊₁ / Σ hᵢ²` of the
    /// filter's response 1, −cg, −cga, −cga², … with the gain g and a = c(1 − g).
    pub fn echo(&self) -> f64 {
        let (gain, correlation) = self.gain();
        let (first, fading) = (correlation * gain, correlation * (1.0 - gain));
        let tail = first * first / (1.0 - fading * fading);
        (tail * fading - first) / (1.0 + tail)
    }

    /// Variance of the observation, then what is left of instruments, features and input.
    pub fn filter(
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

/// Share of a lasting ε that the filter takes for drift in the end: `cg/(1 − c(1 − g))`, with the gain g that
/// it has by then; σ is that of e.
pub(super) fn lasting_gain(Drift { size, correlation }: Drift, sigma: f64) -> f64 {
    let lost = 1.0 - correlation * correlation;
    let (fresh, noise) = (lost * size.powi(2), sigma.powi(2));
    let half = (lost * noise - fresh) / 2.0;
    let variance = (half * half + fresh * noise).sqrt() - half;
    let gain = variance / (variance + noise);
    correlation * gain / (1.0 - correlation * (1.0 - gain))
}

/// A part of the noise: e or d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    White,
    Slow,
}

/// Covariance of s = Σ z ε̃ for an ε that is one of the parts, of variance 1. What the filter makes of it has
/// one number p of the past and one fresh number f: `ε̃ = αp + βf`, `p ← ap + bf`.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    part: Part,
    /// cov s, cov(s, p) and var p.
    pub scores: DMatrix<f64>,
    across: DVector<f64>,
    past: f64,
}

impl Scatter {
    /// Nothing seen of so many scores s.
    pub fn new(size: usize, part: Part) -> Self {
        let mut this = Self {
            part,
            scores: DMatrix::zeros(size, size),
            across: DVector::zeros(size),
            past: 0.0,
        };
        this.restart();
        this
    }

    /// The filter starts anew: it expects no drift, whatever there is.
    pub fn restart(&mut self) {
        self.across.fill(0.0);
        self.past = f64::from(self.part == Part::Slow);
    }

    /// `s ← keep s + z ε̃`, by a filter with the gain g and the correlation c.
    pub fn add(&mut self, z: &DVector<f64>, keep: f64, (gain, correlation): (f64, f64)) {
        let a = correlation * (1.0 - gain);
        // Of e the filter takes off what it takes for drift, p; of d it leaves p itself.
        let (alpha, beta, b) = match self.part {
            Part::White => (-1.0, 1.0, correlation * gain),
            Part::Slow => (1.0, 0.0, (1.0 - correlation * correlation).sqrt()),
        };
        self.scores *= keep * keep;
        self.scores.ger(keep * alpha, &self.across, z, 1.0);
        self.scores.ger(keep * alpha, z, &self.across, 1.0);
        let variance = alpha * alpha * self.past + beta * beta;
        self.scores.ger(variance, z, z, 1.0);
        let shared = a * alpha * self.past + b * beta;
        self.across.axpy(shared, z, a * keep);
        self.past = a * a * self.past + b * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> (Drift, RecursiveSettings) {
        let drift = Drift {
            size: 0.1,
            correlation: 0.95,
        };
        let settings = RecursiveSettings {
            forgetting: 1.0,
            noise: 0.25,
            spread: vec![3.0],
            drift: Some(drift),
        };
        (drift, settings)
    }

    #[test]
    fn a_lasting_error_is_taken_for_drift_up_to_the_share_that_is_told() {
        let (drift, settings) = settings();
        let mut filter = Whitener::new(1, &settings);
        for _ in 0..500 {
            filter.filter(DVector::zeros(1), DVector::zeros(1), 2.0);
        }
        let share = lasting_gain(drift, settings.noise);
        assert!((filter.input / 2.0 - share).abs() < 1e-9, "{share}");
        assert!((0.3..0.7).contains(&share), "{share}");
    }

    /// Of noise as it is taken to be the filter leaves white numbers, of known variance.
    #[test]
    fn the_white_and_the_slow_part_of_the_variance_add_up() {
        let (drift, settings) = settings();
        let mut filter = Whitener::new(1, &settings);
        let (mut white, mut slow) = (Scatter::new(1, Part::White), Scatter::new(1, Part::Slow));
        let mut square = 0.0;
        for k in 0..200 {
            let now = DVector::from_element(1, (f64::from(k) / 20.0).sin());
            let gain = filter.gain();
            let (variance, _, v, _) = filter.filter(now.clone(), now, 0.0);
            square += v[0].powi(2) * variance;
            white.add(&v, 1.0, gain);
            slow.add(&v, 1.0, gain);
        }
        let white = settings.noise.powi(2) * white.scores[(0, 0)];
        let slow = drift.size.powi(2) * slow.scores[(0, 0)];
        assert!(((white + slow) / square - 1.0).abs() < 1e-9);
        assert!(white > 0.2 * square && slow > 0.2 * square);
    }
}
