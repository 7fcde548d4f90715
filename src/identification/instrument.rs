//! Weights from observations whose disturbances also move the features.
//!
//! A white force e on the plant changes its accelerations, which are features: `u = vᵀω + d − e` with a
//! v that depends on e. Least squares then takes a part of the disturbance for excitation and finds
//! masses that are too small, the more so the less else excites. The features of the step before, z, know nothing of
//! e: `Σ z̃ (ũ − ṽᵀω) = 0` has no such bias (instrumental variables). A tilde is what remains after the
//! slowly varying d has been filtered out, by the filter that suits its size and correlation. That filter
//! brings a known part ρ of the e of the step before back into the residual, so that z̃ − ρṽ takes its place.
//!
//! The filter leaves more of e than of d, so what either does to the weights is followed apart ([`Scatter`]). How
//! large d is here, on this motion and with these weights, shows in the residuals themselves: white
//! disturbances do not agree with themselves a step later, d does. After a change the motion is still the same,
//! so that what was seen of d before is what is believed of it then.

use nalgebra::{DMatrix, DVector};

use super::{
    quantile::widening,
    recursive::{Drift, RecursiveSettings},
    residuals::{Expected, ResidualModel},
    whitener::{Part, Scatter, Whitener, lasting_gain},
};

/// Standard errors, over those of the prior, from which on the instruments tell nothing.
const LEAST_TELLING: f64 = 2.0;

/// Sums over the observations since the start or the last change, faded by the forgetting.
#[derive(Clone, Debug)]
pub(super) struct Instrumented {
    settings: RecursiveSettings,
    /// Standard deviation of e, and what is believed of the variance of d before a run.
    measurement: f64,
    expected: Expected,
    /// What will be believed of it after a change.
    learned: Expected,
    /// Weights before any observation.
    start: DVector<f64>,
    /// Σ z̃ ṽᵀ and Σ z̃ ũ over the variance of an observation.
    across: DMatrix<f64>,
    moment: DVector<f64>,
    /// Covariance of Σ z̃ ε̃ for an ε that is white and for one that is d, both of variance 1.
    white: Scatter,
    slow: Scatter,
    whitener: Whitener,
    /// The last observation, features and then the input, and Σ of each with the one after it.
    last: Option<DVector<f64>>,
    pairs: f64,
    lagged: DMatrix<f64>,
}

impl Instrumented {
    /// For a recursion with these settings that starts from these weights, of a model with these residuals
    /// on a plant that is disturbed by e.
    pub fn new(
        start: &[f64],
        settings: &RecursiveSettings,
        measurement: f64,
        residuals: ResidualModel,
    ) -> Self {
        let mut settings = settings.clone();
        // Without a correlation there is nothing slow to follow.
        settings.drift = settings.drift.filter(|drift| drift.correlation > 0.0);
        Self::with(start, settings, measurement, residuals.expected())
    }

    fn with(
        start: &[f64],
        settings: RecursiveSettings,
        measurement: f64,
        expected: Expected,
    ) -> Self {
        let size = start.len();
        Self {
            measurement,
            expected,
            learned: expected,
            start: DVector::from_column_slice(start),
            across: DMatrix::zeros(size, size),
            moment: DVector::zeros(size),
            white: Scatter::new(size, Part::White),
            slow: Scatter::new(size, Part::Slow),
            whitener: Whitener::new(size, &settings),
            last: None,
            pairs: 0.0,
            lagged: DMatrix::zeros(size + 1, size + 1),
            settings,
        }
    }

    /// The motion comes again after so many steps, and there the model is wrong in the same way: however long
    /// it lasts, no more is learned than in one period. A memory of λ is worth 2/(1 − λ) observations.
    pub fn repeat(&mut self, period: usize) {
        let memory = 1.0 - 2.0 / period.max(3) as f64;
        self.settings.forgetting = self.settings.forgetting.min(memory);
    }

    /// Forgets all observations but the last one; `start` is believed as before the first.
    pub fn reset(&mut self, start: &[f64]) {
        let last = self.last.take();
        *self = Self::with(start, self.settings.clone(), self.measurement, self.learned);
        self.last = last;
    }

    /// Nothing speaks for a change so far: what the residuals show of d until now will count after one, over
    /// what its `reach` lets expect. How far a stretch may be from it is unknown as before a run, and so the
    /// numbers that it counts for stay as few.
    pub fn trust(&mut self, reach: f64) {
        if let Some((_, free)) = self.free() {
            self.learned.ratio = self.variance(&free, reach).0 / reach;
        }
    }

    /// Another stretch of observations begins, with another drift.
    pub fn restart_drift(&mut self) {
        self.last = None;
        self.white.restart();
        self.slow.restart();
        self.whitener = Whitener::new(self.start.len(), &self.settings);
    }

    /// Takes in an observation; one that is not finite changes nothing.
    pub fn update(&mut self, features: &[f64], input: f64) {
        if !(input.is_finite() && features.iter().all(|v| v.is_finite())) {
            return;
        }
        let now = DVector::from_column_slice(features).push(input);
        if let Some(before) = self.last.replace(now.clone()) {
            self.lagged.ger(1.0, &now, &before, 1.0);
            self.pairs += 1.0;
            let size = features.len();
            self.learn(before.remove_row(size), now.remove_row(size), input);
        }
    }

    fn learn(&mut self, before: DVector<f64>, now: DVector<f64>, input: f64) {
        let gain = self.whitener.gain();
        let echo = self.whitener.echo();
        let (variance, mut z, v, u) = self.whitener.filter(before, now, input);
        z.axpy(-echo, &v, 1.0);
        z /= variance;
        let keep = self.settings.forgetting;
        self.across.ger(1.0, &z, &v, keep);
        self.moment.axpy(u, &z, keep);
        self.white.add(&z, keep, gain);
        self.slow.add(&z, keep, gain);
    }

    /// How many times as much of an error is to be taken for drift as if the drift had its usual size, since
    /// the run shows that it is larger; 1 or more.
    pub fn emphasis(&self, weights: &[f64], reach: f64) -> f64 {
        let Some(drift) = self.settings.drift else {
            return 1.0;
        };
        let (ratio, _) = self.variance(&DVector::from_column_slice(weights), reach);
        let larger = Drift {
            size: drift.size * ratio.max(1.0).sqrt(),
            ..drift
        };
        let noise = self.settings.noise;
        lasting_gain(larger, noise) / lasting_gain(drift, noise)
    }

    /// Variance of the drift over its usual one, and how many values it was found from: as these weights let
    /// expect (`reach`, 1 for those of training), and as their residuals show. A drift with the correlation c
    /// has only n(1 − c²)/(1 + c²) values of its own in n steps, of which the weights have taken one each.
    fn variance(&self, weights: &DVector<f64>, reach: f64) -> (f64, f64) {
        let Some(Drift { size, correlation }) = self.settings.drift else {
            return (0.0, f64::INFINITY);
        };
        let kept = correlation.powi(2);
        let values = self.pairs * (1.0 - kept) / (1.0 + kept) - weights.len() as f64;
        let values = values.max(0.0);
        let residual = (-weights).push(1.0);
        let lagged = residual.dot(&(&self.lagged * &residual)) / self.pairs.max(1.0);
        let seen = (lagged / (correlation * size.powi(2))).max(0.0);
        let Expected { ratio, freedom } = self.expected;
        let total = freedom + values;
        ((freedom * ratio * reach + values * seen) / total, total)
    }

    /// Covariance of Σ z̃ ε̃ if the model's own errors, slow ones and fast, have so many times their usual variance.
    fn scores(&self, drift: f64) -> DMatrix<f64> {
        let known = self.measurement.powi(2);
        let white = known + drift * (self.settings.noise.powi(2) - known);
        let size = self.settings.drift.map_or(0.0, |drift| drift.size);
        &self.white.scores * white + &self.slow.scores * (drift * size.powi(2))
    }

    /// (Σ z̃ ṽᵀ + P₀⁻¹)⁻¹ and the weights; none while instruments go against the features that they stand
    /// for, as they may in a short stretch of noise: where they take more than half of P₀⁻¹ away, what little
    /// is left would be divided by.
    fn free(&self) -> Option<(DMatrix<f64>, DVector<f64>)> {
        let prior = self.prior();
        (&self.across + self.across.transpose() + &prior).cholesky()?;
        let inverse = (&self.across + &prior).try_inverse()?;
        let weights = &inverse * (&self.moment + prior * &self.start);
        Some((inverse, weights))
    }

    /// P₀⁻¹, what is known before any observation.
    fn prior(&self) -> DMatrix<f64> {
        let spread = self.settings.spread.iter();
        DMatrix::from_diagonal(&DVector::from_iterator(
            self.start.len(),
            spread.map(|s| s.powi(-2)),
        ))
    }

    /// Weights and their standard errors. Where the instruments tell far less than the prior, it is the prior
    /// that is still believed: least squares would say more, but what it says is biased.
    pub fn estimate(&self, reach: f64) -> (Vec<f64>, Vec<f64>) {
        let prior = || (self.start.as_slice().to_vec(), self.settings.spread.clone());
        self.told(reach).unwrap_or_else(prior)
    }

    /// What the instruments tell; none where that is far less than the prior.
    fn told(&self, reach: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let (inverse, weights) = self.free()?;
        let (drift, values) = self.variance(&weights, reach);
        let scores = self.scores(drift * widening(values).powi(2)) + self.prior();
        let covariance = &inverse * scores * inverse.transpose();
        let spread = &self.settings.spread;
        let errors: Vec<f64> = (0..spread.len())
            .map(|i| covariance[(i, i)].sqrt())
            .collect();
        let is_sound = |(error, spread): (&f64, &f64)| *error <= LEAST_TELLING * spread;
        let sound =
            errors.iter().zip(spread).all(is_sound) && weights.iter().all(|w| w.is_finite());
        // No less is known than before the first observation.
        let known = errors
            .iter()
            .zip(spread)
            .map(|(error, spread)| error.min(*spread));
        sound.then(|| (weights.as_slice().to_vec(), known.collect()))
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::{identification::recursive::RecursiveLeastSquares, random::generator};

    const DRIFT: Drift = Drift {
        size: 0.1,
        correlation: 0.95,
    };

    fn settings(drift: Option<Drift>) -> RecursiveSettings {
        RecursiveSettings {
            forgetting: 1.0,
            noise: 0.25,
            spread: vec![3.0],
            drift,
        }
    }

    fn instrumented(start: &[f64], settings: &RecursiveSettings) -> Instrumented {
        let residuals = ResidualModel {
            size: DRIFT.size,
            rmse: 1.2 * DRIFT.size,
            correlation: DRIFT.correlation,
        };
        Instrumented::new(start, settings, settings.noise, residuals)
    }

    /// A mass of 0.5 kg pushed slowly to and fro by a force that has a white disturbance as large as
    /// a third of its own root mean square, by a model that is wrong by a drift, which is `wrong` times as
    /// large as it is taken to be: by least squares, and what is found beside it.
    fn weighed(drift: Option<Drift>, wrong: f64, seed: u64) -> (f64, Instrumented) {
        let settings = settings(drift);
        let mut plain = RecursiveLeastSquares::new(&[1.0], settings.clone()).unwrap();
        let mut free = instrumented(&[1.0], &settings);
        let mut rng = generator(seed, 0);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut error = drift.map_or(0.0, |drift| wrong * drift.size * normal());
        for k in 0..3_000 {
            let push = (f64::from(k) / 20.0).sin();
            let acceleration = [(push + 0.25 * normal()) / 0.5];
            plain.update(&acceleration, push + error);
            free.update(&acceleration, push + error);
            if let Some(Drift { size, correlation }) = drift {
                let fresh = wrong * size * (1.0 - correlation.powi(2)).sqrt() * normal();
                error = correlation * error + fresh;
            }
        }
        (plain.weights()[0], free)
    }

    #[test]
    fn a_disturbance_that_moves_the_features_does_not_bias_the_mass() {
        const SEEDS: u32 = 400;
        for (drift, wrong) in [(None, 1.0), (Some(DRIFT), 1.0), (Some(DRIFT), 3.0)] {
            // Errors in units of their own bars.
            let (mut scores, mut least_squares) = (Vec::new(), 0.0);
            for seed in 0..SEEDS {
                let (plain, free) = weighed(drift, wrong, seed.into());
                let (values, errors) = free.estimate(1.0);
                least_squares += plain / f64::from(SEEDS);
                scores.push((values[0] - 0.5) / errors[0]);
            }
            assert!(least_squares < 0.46, "{least_squares} kg by least squares");
            let mean = scores.iter().sum::<f64>() / f64::from(SEEDS);
            let square = scores.iter().map(|s| s * s).sum::<f64>() / f64::from(SEEDS);
            // Four standard errors of the mean of so many normal numbers.
            assert!(mean.abs() < 4.0 / f64::from(SEEDS).sqrt(), "{mean}");
            // Bars allow for a drift that is somewhat larger or smaller than it is taken to be.
            assert!((0.6..1.4).contains(&square), "{square}");
        }
    }

    #[test]
    fn a_run_shows_how_large_the_drift_is_and_a_short_one_is_believed_less() {
        let mass = DVector::from_element(1, 0.5);
        for (wrong, least, most) in [(0.0, 0.0, 0.2), (1.0, 0.6, 1.6), (3.0, 6.0, 14.0)] {
            let run = |seed| weighed(Some(DRIFT), wrong, seed).1;
            let mean = (0..10)
                .map(|seed| run(seed).variance(&mass, 1.0).0)
                .sum::<f64>()
                / 10.0;
            let emphasis = run(0).emphasis(mass.as_slice(), 1.0);
            assert_eq!(emphasis > 1.1, wrong > 1.0, "{emphasis} for {wrong}");
            assert!((least..most).contains(&mean), "{mean} for {wrong}");
        }
        let none = instrumented(&[1.0], &settings(Some(DRIFT)));
        let (believed, values) = none.variance(&mass, 4.0);
        assert!((3.0..4.0).contains(&believed) && values < 5.0, "{believed}");
    }

    #[test]
    fn what_a_run_showed_of_the_drift_is_believed_after_a_change_and_what_came_with_it_is_not() {
        let mass = DVector::from_element(1, 0.5);
        for wrong in [0.5, 3.0] {
            let (_, mut free) = weighed(Some(DRIFT), wrong, 1);
            let (seen, _) = free.variance(&mass, 2.0);
            free.trust(2.0);
            // The plant has changed, and nobody has noticed yet.
            (0..5).for_each(|_| free.update(&[2.0], 50.0));
            free.reset(&[1.0]);
            let (believed, values) = free.variance(&mass, 4.0);
            assert!((believed / (2.0 * seen) - 1.0).abs() < 0.1, "{believed}");
            assert_eq!(values, free.expected.freedom);
        }
    }

    #[test]
    fn instruments_that_go_against_their_features_tell_nothing_and_the_prior_stays() {
        let mut free = instrumented(&[1.0], &settings(None));
        (0..200).for_each(|k| free.update(&[if k % 2 == 0 { 1.0 } else { -1.0 }], 0.5));
        assert_eq!(free.told(1.0), None);
        assert_eq!(free.estimate(1.0), (vec![1.0], vec![3.0]));
    }

    #[test]
    fn without_observations_nothing_is_known() {
        let settings = RecursiveSettings {
            spread: vec![2.0, 0.6],
            ..settings(None)
        };
        let free = instrumented(&[1.5, 0.3], &settings);
        let (values, errors) = free.estimate(1.0);
        assert!((values[0] - 1.5).abs() + (values[1] - 0.3).abs() < 1e-9);
        assert!((errors[0] - 2.0).abs() + (errors[1] - 0.6).abs() < 1e-9);
    }
}
