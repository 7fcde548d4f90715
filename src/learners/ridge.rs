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

/// The factor of `Λ + VᵀV`, which all targets on the same features share.
#[derive(Debug)]
pub(super) struct Regression<'a> {
    /// Rows of r numbers.
    features: &'a [f64],
    /// `Λ w₀`.
    start: DVector<f64>,
    factor: Cholesky<f64, Dyn>,
}

impl<'a> Regression<'a> {
    /// On features in rows of as many numbers as the prior has.
    pub fn new(features: &'a [f64], prior: &Prior) -> Result<Self, LearnerError> {
        Self::of_normal(normal_matrix(features, prior), features, prior)
    }

    /// The same where the features alone tell all weights apart, without a prior that hides it.
    pub fn of_determined(features: &'a [f64], prior: &Prior) -> Result<Self, LearnerError> {
        let normal = normal_matrix(features, prior);
        decompose(&normal - &prior.precision)?;
        Self::of_normal(normal, features, prior)
    }

    fn of_normal(
        normal: DMatrix<f64>,
        features: &'a [f64],
        prior: &Prior,
    ) -> Result<Self, LearnerError> {
        Ok(Self {
            features,
            start: &prior.precision * &prior.mean,
            factor: decompose(normal)?,
        })
    }

    /// The weights that these targets ask for, one target a row.
    pub fn solve(&self, targets: &[f64]) -> Vec<f64> {
        let mut moment = self.start.clone();
        for (row, &y) in self.features.chunks_exact(moment.len()).zip(targets) {
            for (moment, v) in moment.iter_mut().zip(row) {
                *moment += v * y;
            }
        }
        self.factor.solve_mut(&mut moment);
        moment.as_slice().to_vec()
    }
}

/// `Λ + Σ_i v_i v_iᵀ`.
fn normal_matrix(features: &[f64], prior: &Prior) -> DMatrix<f64> {
    let mut normal = prior.precision.clone();
    for row in features.chunks_exact(normal.nrows()) {
        for (i, &v) in row.iter().enumerate() {
            for (j, &other) in row[..=i].iter().enumerate() {
                normal[(i, j)] += v * other;
            }
        }
    }
    normal.fill_upper_triangle_with_lower_triangle();
    normal
}

/// The Cholesky factor of a matrix that is regular.
fn decompose(matrix: DMatrix<f64>) -> Result<Cholesky<f64, Dyn>, LearnerError> {
    let (rank, largest) = (matrix.nrows(), matrix.diagonal().max());
    let singular = |pivot: f64| LearnerError::SingularGram {
        rank,
        pivot: if largest == 0.0 { 0.0 } else { pivot / largest },
        least: LEAST_PIVOT,
    };
    let cholesky = Cholesky::new(matrix.clone()).ok_or_else(|| singular(smallest_pivot(matrix)))?;
    let smallest = cholesky.l_dirty().diagonal().map(|l| l * l).min();
    if smallest.is_nan() || smallest <= LEAST_PIVOT * largest {
        return Err(singular(smallest));
    }
    Ok(cholesky)
}

/// The smallest pivot of an elimination without exchange of rows, which ends at one that is not positive.
fn smallest_pivot(mut matrix: DMatrix<f64>) -> f64 {
    let mut smallest = f64::INFINITY;
    for k in 0..matrix.nrows() {
        let pivot = matrix[(k, k)];
        smallest = smallest.min(pivot);
        if pivot.is_nan() || pivot <= 0.0 {
            return pivot;
        }
        for i in k + 1..matrix.nrows() {
            let factor = matrix[(i, k)] / pivot;
            for j in k + 1..=i {
                let change = factor * matrix[(j, k)];
                matrix[(i, j)] -= change;
            }
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: [f64; 8] = [1.0, 0.5, 0.0, 1.0, 2.0, -1.0, 1.0, 1.0];

    fn solve(features: &[f64], targets: &[f64], prior: &Prior) -> Result<Vec<f64>, LearnerError> {
        Ok(Regression::new(features, prior)?.solve(targets))
    }

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
        let ridge = Prior::ridge(2, 1e-3);
        assert!(solve(&features, &[1.0; 3], &ridge).is_ok());
        assert!(Regression::of_determined(&features, &ridge).is_err());
        assert!(Regression::of_determined(&FEATURES, &ridge).is_ok());
    }

    #[test]
    fn a_singular_gram_matrix_is_named_with_its_pivot_and_the_least_that_is_allowed() {
        let said = |second: f64| {
            let features = [1.0, 0.0, 0.0, second];
            let error = solve(&features, &[1.0; 2], &Prior::ridge(2, 0.0)).unwrap_err();
            error.to_string()
        };
        let expected = |pivot: f64| {
            format!(
                "the Gram matrix of the 2 features is singular: its smallest pivot is {pivot:e} times its \
                 largest number, but must be above 1e-14 times; give other or more shots, or a larger ridge"
            )
        };
        assert_eq!(said(0.0), expected(0.0));
        assert_eq!(said(2f64.powi(-26)), expected(2f64.powi(-52)));
        // Rounding makes the last pivot negative.
        let side = 1.0 + 1e-15;
        let error = decompose(DMatrix::from_row_slice(2, 2, &[1.0, side, side, 1.0])).unwrap_err();
        let LearnerError::SingularGram { pivot, least, .. } = error else {
            panic!("{error}")
        };
        assert!(-least < pivot && pivot < 0.0, "{pivot:e}");
    }

    #[test]
    fn without_shots_the_weights_are_the_mean_of_the_training_tasks() {
        let tasks = [[1.0, 2.0], [3.0, 5.0], [2.0, -1.0]];
        let prior = Prior::of_tasks(tasks.iter().map(|t| &t[..]), 2, 0.1, 1e-6);
        let weights = solve(&[], &[], &prior).unwrap();
        assert!((weights[0] - 2.0).abs() < 1e-9 && (weights[1] - 2.0).abs() < 1e-9);
    }
}
