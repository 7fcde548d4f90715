//! `w = argmin Σ_i (y_i − wᵀv_i)² + (w − w₀)ᵀΛ(w − w₀)`: least squares with a ridge or a prior.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::LearnerError;

/// Smallest pivot of a Gram matrix, relative to the largest, that still counts as regular.
const LEAST_PIVOT: f64 = 1e-14;

/// Largest ridge that only guards against rounding: a larger one is meant to choose among weights that
/// the shots do not tell apart.
pub(super) const GUARD: f64 = 1e-6;

/// What is assumed of the weights before any shot is seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// The weights w₀ without data.
    pub mean: DVector<f64>,
    /// The penalty matrix Λ, symmetric and not negative.
    pub precision: DMatrix<f64>,
}

impl Prior {
    /// The plain ridge λ‖w‖².
    pub fn ridge(rank: usize, lambda: f64) -> Self {
        Self {
            mean: DVector::zeros(rank),
            precision: DMatrix::identity(rank, rank) * lambda,
        }
    }

    /// Weights distributed like those of the training tasks: w₀ is their mean and
    /// Λ = σ²(C + ridge·I)⁻¹, with C their covariance and σ the noise of a target.
    pub fn of_tasks<'a>(
        tasks: impl ExactSizeIterator<Item = &'a [f64]> + Clone,
        rank: usize,
        noise: f64,
        ridge: f64,
    ) -> Self {
        let count = tasks.len().max(1) as f64;
        let mut mean = DVector::zeros(rank);
        for weights in tasks.clone() {
            mean += DVector::from_column_slice(weights) / count;
        }
        let mut covariance = DMatrix::identity(rank, rank) * ridge;
        for weights in tasks {
            let offset = DVector::from_column_slice(weights) - &mean;
            covariance += &offset * offset.transpose() / count;
        }
        let precision = Cholesky::new(covariance).map_or_else(
            || DMatrix::zeros(rank, rank),
            |cholesky| cholesky.inverse() * (noise * noise),
        );
        Self { mean, precision }
    }
}

/// Solves for the weights of features in rows of `prior.mean.len()` numbers.
pub(super) fn solve(
    features: &[f64],
    targets: &[f64],
    prior: &Prior,
) -> Result<Vec<f64>, LearnerError> {
    let mut moment = &prior.precision * &prior.mean;
    for (row, &y) in features.chunks_exact(moment.len()).zip(targets) {
        for (moment, v) in moment.iter_mut().zip(row) {
            *moment += v * y;
        }
    }
    let cholesky = decompose(features, prior.precision.clone())?;
    Ok(cholesky.solve(&moment).as_slice().to_vec())
}

/// Whether the shots alone tell all weights apart, without a ridge that hides it.
pub(super) fn check_determined(features: &[f64], rank: usize) -> Result<(), LearnerError> {
    decompose(features, DMatrix::zeros(rank, rank)).map(drop)
}

/// The Cholesky factor of `Λ + Σ_i v_i v_iᵀ`, if that is regular.
fn decompose(
    features: &[f64],
    precision: DMatrix<f64>,
) -> Result<Cholesky<f64, Dyn>, LearnerError> {
    let (rank, mut gram) = (precision.nrows(), precision);
    for row in features.chunks_exact(rank) {
        for (i, &v) in row.iter().enumerate() {
            for (j, &other) in row[..=i].iter().enumerate() {
                gram[(i, j)] += v * other;
            }
        }
    }
    gram.fill_upper_triangle_with_lower_triangle();
    let largest = gram.diagonal().max();
    let singular = |pivot| LearnerError::SingularGram { rank, pivot };
    let cholesky = Cholesky::new(gram).ok_or_else(|| singular(0.0))?;
    let smallest = cholesky.l_dirty().diagonal().map(|l| l * l).min();
    if smallest.is_nan() || smallest <= LEAST_PIVOT * largest {
        return Err(singular(smallest / largest));
    }
    Ok(cholesky)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: [f64; 8] = [1.0, 0.5, 0.0, 1.0, 2.0, -1.0, 1.0, 1.0];

    #[test]
    fn exact_data_give_the_exact_weights() {
        let targets: Vec<f64> = FEATURES
            .chunks(2)
            .map(|v| 2.0 * v[0] - 3.0 * v[1])
            .collect();
        let weights = solve(&FEATURES, &targets, &Prior::ridge(2, 0.0)).unwrap();
        assert!((weights[0] - 2.0).abs() < 1e-12 && (weights[1] + 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_solution_has_a_vanishing_gradient() {
        let targets = [1.0, -2.0, 0.5, 3.0];
        let prior = Prior {
            mean: DVector::from_vec(vec![0.3, -0.2]),
            precision: DMatrix::from_row_slice(2, 2, &[0.7, 0.1, 0.1, 0.4]),
        };
        let w = DVector::from_vec(solve(&FEATURES, &targets, &prior).unwrap());
        let mut gradient = &prior.precision * (&w - &prior.mean);
        for (v, y) in FEATURES.chunks(2).zip(targets) {
            let residual = v[0] * w[0] + v[1] * w[1] - y;
            gradient += DVector::from_column_slice(v) * residual;
        }
        assert!(gradient.norm() < 1e-12, "{gradient}");
    }

    #[test]
    fn features_that_are_multiples_of_each_other_are_an_error() {
        let features = [1.0, 2.0, 2.0, 4.0, -1.0, -2.0];
        let error = solve(&features, &[1.0; 3], &Prior::ridge(2, 0.0)).unwrap_err();
        assert!(matches!(error, LearnerError::SingularGram { rank: 2, .. }));
        assert!(solve(&features, &[1.0; 3], &Prior::ridge(2, 1e-3)).is_ok());
    }

    #[test]
    fn without_shots_the_weights_are_the_mean_of_the_training_tasks() {
        let tasks = [[1.0, 2.0], [3.0, 5.0], [2.0, -1.0]];
        let prior = Prior::of_tasks(tasks.iter().map(|t| &t[..]), 2, 0.1, 1e-6);
        let weights = solve(&[], &[], &prior).unwrap();
        assert!((weights[0] - 2.0).abs() < 1e-9 && (weights[1] - 2.0).abs() < 1e-9);
    }
}
