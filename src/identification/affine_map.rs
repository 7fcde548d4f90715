//! The affine map between task weights and physical parameters (paper, equation 4.3).
//!
//! `z ≈ B x + b`, fitted to pairs (xₜ, zₜ), one a training task: ω ↦ φ identifies, φ ↦ ω adapts
//! without a shot. With as many weights as tasks the fit has more unknowns than equations, so the
//! inputs are truncated to the leading directions in which the training tasks really differ. There is no
//! ridge beside that: it would pull every parameter to the mean of the training tasks, and a map of φ, which
//! has fewer directions than there are tasks, needs none.

use nalgebra::{DMatrix, DVector, RowDVector};

use super::error::{IdentificationError, check_finite, check_length};

/// How many directions of the inputs the map may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rank {
    /// All directions whose singular value is above this fraction of the largest.
    Numerical(f64),
    /// At most this many, those in which the tasks differ most.
    AtMost(usize),
}

/// Singular values below this fraction of the largest are never used.
const SMALLEST_SINGULAR_VALUE: f64 = 1e-9;

/// Whether a map has an offset b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// `z ≈ B x + b`.
    Free,
    /// `z ≈ B x`: for targets that vanish with φ, and models without a bias.
    Zero,
}

/// Means of the training tasks' inputs and outputs.
type Means = (RowDVector<f64>, RowDVector<f64>);

/// A fitted map and how far it can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct AffineMap {
    matrix: DMatrix<f64>,
    offset: DVector<f64>,
    /// Mean of the training tasks' inputs; none of a map through zero.
    centre: Option<DVector<f64>>,
    /// (XᵀX)⁺ of the centred, truncated inputs.
    precision_inverse: DMatrix<f64>,
    /// Covariance of the training tasks' residuals; zero when the map passes through all of them.
    residual: DMatrix<f64>,
    /// Tasks beyond those that determine the map.
    freedom: usize,
    singular_values: Vec<f64>,
    rank: usize,
    tasks: usize,
    /// Mean leverage of the training tasks.
    usual_leverage: f64,
}

impl AffineMap {
    /// Fits the map on the training tasks, one row of `inputs` and `outputs` a task.
    pub fn fit(
        inputs: &[Vec<f64>],
        outputs: &[Vec<f64>],
        rank: Rank,
        offset: Offset,
    ) -> Result<Self, IdentificationError> {
        let (x, z) = (rows("task input", inputs)?, rows("task output", outputs)?);
        check_length("the task outputs", x.nrows(), z.nrows())?;
        let (tasks, size) = x.shape();
        if tasks < 2 {
            return Err(IdentificationError::TooFewTasks {
                tasks,
                inputs: size,
            });
        }
        let means = match offset {
            Offset::Free => Some((x.row_mean(), z.row_mean())),
            Offset::Zero => None,
        };
        let (x, z) = match &means {
            Some((of_x, of_z)) => (centred(x, of_x), centred(z, of_z)),
            None => (x, z),
        };
        let Truncated {
            solver,
            precision_inverse,
            singular_values,
            rank,
        } = truncate(&x, rank);
        let matrix = z.tr_mul(&solver);
        let errors = &z - &x * matrix.transpose();
        let unknowns = rank + usize::from(means.is_some());
        let freedom = tasks.saturating_sub(unknowns);
        let through = |(of_x, of_z): &Means| of_z.transpose() - &matrix * of_x.transpose();
        Ok(Self {
            offset: means.as_ref().map_or(DVector::zeros(z.ncols()), through),
            residual: errors.tr_mul(&errors) / freedom.max(1) as f64,
            freedom,
            usual_leverage: unknowns as f64 / tasks as f64,
            matrix,
            centre: means.map(|(of_x, _)| of_x.transpose()),
            precision_inverse,
            singular_values,
            rank,
            tasks,
        })
    }

    /// The map's value `B x + b`.
    pub fn apply(&self, input: &[f64]) -> Result<DVector<f64>, IdentificationError> {
        check_length("the map's input", self.matrix.ncols(), input.len())?;
        Ok(&self.matrix * DVector::from_column_slice(input) + &self.offset)
    }

    /// Covariance of the map's value at an input with covariance `spread`: `B Σ Bᵀ`, plus the map's
    /// own error, which grows away from the training tasks.
    pub fn covariance(
        &self,
        input: &[f64],
        spread: &DMatrix<f64>,
    ) -> Result<DMatrix<f64>, IdentificationError> {
        check_length("the map's input", self.matrix.ncols(), input.len())?;
        check_length(
            "the input's covariance",
            self.matrix.ncols(),
            spread.nrows(),
        )?;
        check_length(
            "the input's covariance",
            self.matrix.ncols(),
            spread.ncols(),
        )?;
        let shots = &self.matrix * spread * self.matrix.transpose();
        Ok(shots + &self.residual * (1.0 + self.leverage(input)))
    }

    /// How much the map's own error grows away from the training tasks, which have less than 1.
    fn leverage(&self, input: &[f64]) -> f64 {
        let input = DVector::from_column_slice(input);
        let (away, offset) = match &self.centre {
            Some(centre) => (input - centre, 1.0 / self.tasks as f64),
            None => (input, 0.0),
        };
        offset + away.dot(&(&self.precision_inverse * &away))
    }

    /// How much larger the map's error is to be expected at an input than at the training tasks, 1 or
    /// more: `√((1 + h) / (1 + h̄))` with leverages h. 1 for an input of the wrong length.
    pub fn reach(&self, input: &[f64]) -> f64 {
        if input.len() != self.matrix.ncols() {
            return 1.0;
        }
        let growth = (1.0 + self.leverage(input)) / (1.0 + self.usual_leverage);
        growth.sqrt().max(1.0)
    }

    /// The matrix B.
    pub fn matrix(&self) -> &DMatrix<f64> {
        &self.matrix
    }

    /// The offset b.
    pub fn offset(&self) -> &DVector<f64> {
        &self.offset
    }

    /// Number of tasks that the map's own error was found from, 0 when it passes through all of them.
    pub fn freedom(&self) -> usize {
        self.freedom
    }

    /// Directions in use.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Largest over smallest singular value of the directions in use.
    pub fn condition(&self) -> f64 {
        match self.singular_values[..self.rank] {
            [first, .., last] => first / last,
            [_] => 1.0,
            [] => f64::INFINITY,
        }
    }
}

fn rows(what: &'static str, rows: &[Vec<f64>]) -> Result<DMatrix<f64>, IdentificationError> {
    let width = rows.first().map_or(0, Vec::len);
    for row in rows {
        check_length(what, width, row.len())?;
        check_finite(what, row)?;
    }
    Ok(DMatrix::from_fn(rows.len(), width, |i, j| rows[i][j]))
}

fn centred(mut matrix: DMatrix<f64>, mean: &RowDVector<f64>) -> DMatrix<f64> {
    for mut row in matrix.row_iter_mut() {
        row -= mean;
    }
    matrix
}

/// The truncated pseudo-inverse of the inputs.
struct Truncated {
    /// S with `B = Zᵀ S`.
    solver: DMatrix<f64>,
    precision_inverse: DMatrix<f64>,
    singular_values: Vec<f64>,
    rank: usize,
}

/// With `X = U Σ Wᵀ` cut to k directions: `S = U Σ⁻¹ Wᵀ`.
fn truncate(x: &DMatrix<f64>, rank: Rank) -> Truncated {
    // The Gram matrix of the tasks: small, and its eigenvectors are the left singular vectors.
    let eigen = (x * x.transpose()).symmetric_eigen();
    let mut order: Vec<usize> = (0..x.nrows()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let count = x.nrows().min(x.ncols());
    let singular_values: Vec<f64> = order[..count]
        .iter()
        .map(|&k| eigen.eigenvalues[k].max(0.0).sqrt())
        .collect();
    let largest = singular_values.first().copied().unwrap_or(0.0);
    let (most, fraction) = match rank {
        Rank::Numerical(fraction) => (count, fraction.max(SMALLEST_SINGULAR_VALUE)),
        Rank::AtMost(most) => (most.min(count), SMALLEST_SINGULAR_VALUE),
    };
    let rank = singular_values[..most]
        .iter()
        .filter(|&&value| value > fraction * largest)
        .count();
    let mut solver = DMatrix::zeros(x.nrows(), x.ncols());
    let mut precision_inverse = DMatrix::zeros(x.ncols(), x.ncols());
    for (&k, &value) in order.iter().zip(&singular_values[..rank]) {
        let left = eigen.eigenvectors.column(k);
        // Row Σ⁻² Uᵀ X = Σ⁻¹ Wᵀ.
        let right = x.tr_mul(&left) / value.powi(2);
        solver += left * right.transpose();
        precision_inverse += &right * right.transpose();
    }
    Truncated {
        solver,
        precision_inverse,
        singular_values,
        rank,
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::random::generator;

    const PARAMETERS: [[f64; 2]; 4] = [[1.0, 0.2], [1.0, 0.5], [2.0, 0.2], [2.0, 0.5]];

    fn parameters() -> Vec<Vec<f64>> {
        PARAMETERS.map(|p| p.to_vec()).to_vec()
    }

    /// Four weights that depend on two parameters, plus errors of size `noise`.
    fn weights(noise: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = generator(seed, 0);
        let mut jitter = || -> f64 { StandardNormal.sample(&mut rng) };
        PARAMETERS
            .map(|p| {
                exact_weights(&p)
                    .into_iter()
                    .map(|w| w + noise * jitter())
                    .collect()
            })
            .to_vec()
    }

    fn exact_weights(p: &[f64]) -> Vec<f64> {
        vec![
            p[0] + p[1],
            2.0 * p[0] - p[1] + 1.0,
            3.0 * p[1],
            0.5 - p[0] + 2.0 * p[1],
        ]
    }

    #[test]
    fn an_exact_affine_relation_is_recovered_in_both_directions() {
        let (phi, omega) = (parameters(), weights(0.0, 0));
        let forward = AffineMap::fit(&omega, &phi, Rank::AtMost(2), Offset::Free).unwrap();
        let inverse = AffineMap::fit(&phi, &omega, Rank::AtMost(2), Offset::Free).unwrap();
        let new = [1.7, 0.33];
        let adapted = inverse.apply(&new).unwrap();
        assert!((adapted.as_slice()[0] - exact_weights(&new)[0]).abs() < 1e-9);
        let identified = forward.apply(adapted.as_slice()).unwrap();
        assert!((identified - DVector::from_column_slice(&new)).norm() < 1e-9);
        assert_eq!(forward.rank(), 2);
    }

    #[test]
    fn truncation_beats_the_full_map_when_tasks_are_as_few_as_weights() {
        let (mut full, mut cut) = (0.0, 0.0);
        let new = [1.7, 0.33];
        for seed in 0..50 {
            let omega = weights(0.01, seed);
            // Weights from shots scatter in all four directions.
            let shot = &weights(0.05, seed + 1000)[0];
            let error: Vec<f64> = shot
                .iter()
                .zip(exact_weights(&PARAMETERS[0]))
                .map(|(a, b)| a - b)
                .collect();
            let query: Vec<f64> = exact_weights(&new)
                .iter()
                .zip(&error)
                .map(|(a, b)| a + b)
                .collect();
            for (rank, total) in [
                (Rank::Numerical(0.0), &mut full),
                (Rank::AtMost(2), &mut cut),
            ] {
                let map = AffineMap::fit(&omega, &parameters(), rank, Offset::Free).unwrap();
                let identified = map.apply(&query).unwrap();
                *total += (identified - DVector::from_column_slice(&new)).norm();
            }
        }
        assert!(cut < 0.8 * full, "truncated {cut}, full {full}");
    }

    #[test]
    fn the_covariance_of_the_inputs_is_carried_through() {
        let map = AffineMap::fit(
            &weights(0.0, 0),
            &parameters(),
            Rank::AtMost(2),
            Offset::Free,
        )
        .unwrap();
        let spread = DMatrix::identity(4, 4) * 0.04;
        let covariance = map
            .covariance(&exact_weights(&[1.5, 0.3]), &spread)
            .unwrap();
        let expected = map.matrix() * &spread * map.matrix().transpose();
        assert!((covariance - expected).norm() < 1e-9);
    }

    #[test]
    fn error_bars_of_a_map_of_noisy_weights_cover_the_truth() {
        let grid = [1.0, 1.5, 2.0].map(|cart| [0.2, 0.35, 0.5].map(|pole| vec![cart, pole]));
        let (phi, new) = (grid.concat(), [1.7, 0.33]);
        let mut rng = generator(3, 0);
        let mut noisy = |p: &[f64]| -> Vec<f64> {
            let jitter = StandardNormal.sample_iter(&mut rng);
            let exact = exact_weights(p).into_iter().zip(jitter);
            exact.map(|(w, e): (f64, f64)| w + 0.02 * e).collect()
        };
        let mut covered = [0; 2];
        for _ in 0..500 {
            let omega: Vec<Vec<f64>> = phi.iter().map(|p| noisy(p)).collect();
            let map = AffineMap::fit(&omega, &phi, Rank::AtMost(2), Offset::Free).unwrap();
            let query = noisy(&new);
            let error = map.apply(&query).unwrap() - DVector::from_column_slice(&new);
            let bars = map.covariance(&query, &DMatrix::zeros(4, 4)).unwrap();
            for (j, covered) in covered.iter_mut().enumerate() {
                *covered += usize::from(error[j].abs() < 1.96 * bars[(j, j)].sqrt());
            }
        }
        for covered in covered {
            assert!((425..=495).contains(&covered), "{covered} of 500");
        }
    }

    #[test]
    fn one_task_or_uneven_rows_are_refused() {
        let one = vec![vec![1.0, 2.0]];
        let fit = |x: &[Vec<f64>], z: &[Vec<f64>]| {
            AffineMap::fit(x, z, Rank::AtMost(2), Offset::Free).unwrap_err()
        };
        assert_eq!(
            fit(&one, &one),
            IdentificationError::TooFewTasks {
                tasks: 1,
                inputs: 2
            }
        );
        let uneven = vec![vec![1.0, 2.0], vec![1.0]];
        assert!(matches!(
            fit(&uneven, &uneven),
            IdentificationError::Length { .. }
        ));
    }
}
