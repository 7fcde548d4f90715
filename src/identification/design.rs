//! Active sensing: which measurement tells most about the parameters.
//!
//! A D-optimal design maximises the determinant of the information matrix `Λ = Λ₀ + Σ v vᵀ/σ²`,
//! that is, minimises the volume of the parameters' error ellipsoid. One more measurement with
//! features v multiplies the determinant by `1 + vᵀPv/σ²`, P = Λ⁻¹, so the best next point of a list
//! is the one where the prediction is most uncertain.

use nalgebra::{DMatrix, DVector};

use super::error::{IdentificationError, check_finite, check_length, check_setting};

/// What is known about the parameters while measurements are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    covariance: DMatrix<f64>,
    noise: f64,
}

impl Design {
    /// Before any measurement: the prior's standard deviation of each parameter, all above 0, and
    /// the noise of a measurement, above 0, in the target's unit.
    pub fn new(spread: &[f64], noise: f64) -> Result<Self, IdentificationError> {
        check_setting("the noise level", noise, "above 0", noise > 0.0)?;
        for &width in spread {
            check_setting("the prior spread", width, "above 0", width > 0.0)?;
        }
        let variances = spread.iter().map(|s| s * s);
        let diagonal = DVector::from_iterator(spread.len(), variances);
        Ok(Self {
            covariance: DMatrix::from_diagonal(&diagonal),
            noise,
        })
    }

    /// Gain in the logarithm of the determinant by a measurement with these features.
    pub fn gain(&self, features: &[f64]) -> Result<f64, IdentificationError> {
        check_length("the features", self.covariance.nrows(), features.len())?;
        check_finite("feature", features)?;
        let v = DVector::from_column_slice(features);
        Ok((1.0 + v.dot(&(&self.covariance * &v)) / self.noise.powi(2)).ln())
    }

    /// Number of the best candidate and its gain; `None` if there is no candidate.
    pub fn best<'a>(
        &self,
        candidates: impl IntoIterator<Item = &'a [f64]>,
    ) -> Result<Option<(usize, f64)>, IdentificationError> {
        let mut best: Option<(usize, f64)> = None;
        for (number, features) in candidates.into_iter().enumerate() {
            let gain = self.gain(features)?;
            if best.is_none_or(|(_, most)| gain > most) {
                best = Some((number, gain));
            }
        }
        Ok(best)
    }

    /// Takes note of a measurement that was made.
    pub fn measured(&mut self, features: &[f64]) -> Result<(), IdentificationError> {
        check_length("the features", self.covariance.nrows(), features.len())?;
        check_finite("feature", features)?;
        let v = DVector::from_column_slice(features);
        let pv = &self.covariance * &v;
        let scale = 1.0 / (self.noise.powi(2) + v.dot(&pv));
        self.covariance.ger(-scale, &pv, &pv, 1.0);
        Ok(())
    }

    /// Chooses `count` candidates one after the other, each at most once: where a model is wrong, it would be
    /// wrong in the same way again.
    pub fn greedy(
        &mut self,
        candidates: &[Vec<f64>],
        count: usize,
    ) -> Result<Vec<usize>, IdentificationError> {
        let mut left: Vec<usize> = (0..candidates.len()).collect();
        let mut chosen = Vec::with_capacity(count);
        while chosen.len() < count {
            let features = left.iter().map(|&number| candidates[number].as_slice());
            let Some((place, _)) = self.best(features)? else {
                break;
            };
            let number = left.swap_remove(place);
            self.measured(&candidates[number])?;
            chosen.push(number);
        }
        Ok(chosen)
    }

    /// Logarithm of the determinant of the parameters' covariance; smaller is better.
    pub fn log_volume(&self) -> f64 {
        let eigenvalues = self.covariance.symmetric_eigenvalues();
        eigenvalues
            .iter()
            .map(|value| value.max(f64::MIN_POSITIVE).ln())
            .sum()
    }

    /// Standard error of each parameter after the measurements so far.
    pub fn standard_errors(&self) -> Vec<f64> {
        let variances = self.covariance.diagonal();
        variances.iter().map(|v| v.max(0.0).sqrt()).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::{
        identification::{
            model::dot,
            recursive::{RecursiveLeastSquares, RecursiveSettings},
        },
        random::generator,
    };

    /// Potentials of three unit charges on a grid of the unit square's upper half.
    fn candidates() -> Vec<Vec<f64>> {
        let charges = [[-3.0, 0.0], [0.2, -0.1], [-0.2, -0.1]];
        let grid = (0..20).flat_map(|i| (0..20).map(move |j| (i, j)));
        grid.map(|(i, j)| {
            let x = [-1.0 + f64::from(i) / 9.5, f64::from(j) / 19.0];
            charges
                .map(|c| 1.0 / (x[0] - c[0]).hypot(x[1] - c[1]))
                .to_vec()
        })
        .collect()
    }

    /// Root-mean-square error of the charges identified from noisy potentials at these points.
    fn error(candidates: &[Vec<f64>], chosen: &[usize], seed: u64) -> f64 {
        let truth = [2.0, 3.5, 1.5];
        let mut rng = generator(seed, 1);
        let settings = RecursiveSettings {
            forgetting: 1.0,
            noise: 0.1,
            spread: vec![5.0; 3],
            drift: None,
        };
        let mut found = RecursiveLeastSquares::new(&[0.0; 3], settings).unwrap();
        for &point in chosen {
            let noise: f64 = StandardNormal.sample(&mut rng);
            let potential = dot(&candidates[point], &truth) + 0.1 * noise;
            found.update(&candidates[point], potential);
        }
        let squares = found
            .weights()
            .iter()
            .zip(truth)
            .map(|(a, b)| (a - b).powi(2));
        (squares.sum::<f64>() / 3.0).sqrt()
    }

    #[test]
    fn chosen_points_identify_charges_far_better_than_random_ones() {
        let candidates = candidates();
        let mut design = Design::new(&[5.0; 3], 0.1).unwrap();
        let chosen = design.greedy(&candidates, 10).unwrap();
        let mut rng = generator(3, 0);
        let (mut planned, mut random) = (0.0, 0.0);
        for seed in 0..100 {
            let points: Vec<usize> = (0..10).map(|_| rng.random_range(0..400)).collect();
            planned += error(&candidates, &chosen, seed);
            random += error(&candidates, &points, seed);
        }
        assert!(planned < 0.6 * random, "planned {planned}, random {random}");
    }

    #[test]
    fn the_gain_is_the_change_of_the_log_volume() {
        let mut design = Design::new(&[1.0, 2.0], 0.3).unwrap();
        let (before, gain) = (design.log_volume(), design.gain(&[0.7, -1.0]).unwrap());
        design.measured(&[0.7, -1.0]).unwrap();
        assert!((before - design.log_volume() - gain).abs() < 1e-9);
    }

    #[test]
    fn no_candidate_is_no_error_and_bad_ones_are_refused() {
        let mut design = Design::new(&[1.0], 0.1).unwrap();
        assert_eq!(design.greedy(&[], 3).unwrap(), Vec::<usize>::new());
        assert!(design.gain(&[1.0, 2.0]).is_err());
        assert!(design.gain(&[f64::NAN]).is_err());
        assert!(Design::new(&[0.0], 0.1).is_err());
    }
}
