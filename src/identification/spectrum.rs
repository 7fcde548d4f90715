//! How many directions of the unknowns shots move, and how evenly.

use nalgebra::DMatrix;

/// Singular values below this fraction of the largest count as zero: 2⁻²⁶, the root of what numbers are
/// rounded by, since they are found from a matrix of their squares.
const RANK_TOLERANCE: f64 = 1.0 / 67_108_864.0;

/// What the shots see of the unknowns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spectrum {
    /// Directions of the unknowns that the shots move.
    pub rank: usize,
    /// Largest over smallest singular value; infinite where a direction is not moved at all.
    pub condition: f64,
}

impl Spectrum {
    /// Of features with one row a shot, whose columns are scaled to one length so that units do not matter.
    pub fn of(features: &DMatrix<f64>) -> Self {
        let mut scaled = features.clone();
        for mut column in scaled.column_iter_mut() {
            let length = column.norm();
            if length > 0.0 {
                column /= length;
            }
        }
        // The Gram matrix speaks of all unknowns, also with fewer shots than unknowns.
        let squares = scaled.tr_mul(&scaled).symmetric_eigenvalues();
        let singular = squares.map(|square| square.max(0.0).sqrt());
        let largest = singular.iter().copied().fold(0.0, f64::max);
        let smallest = singular.iter().copied().fold(f64::INFINITY, f64::min);
        let moved = |value: &&f64| **value > RANK_TOLERANCE * largest;
        let rank = singular.iter().filter(moved).count();
        let condition = match rank == features.ncols() {
            true => largest / smallest,
            false => f64::INFINITY,
        };
        Self { rank, condition }
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::random::generator;

    #[test]
    fn a_direction_that_no_shot_moves_is_counted_out() {
        let mut rng = generator(2, 0);
        let mut features = DMatrix::from_fn(10, 3, |_, _| StandardNormal.sample(&mut rng));
        let all = Spectrum::of(&features);
        assert_eq!(all.rank, 3);
        assert!((1.0..100.0).contains(&all.condition), "{all:?}");
        // In other units.
        features.column_mut(0).scale_mut(1e9);
        let scaled = Spectrum::of(&features);
        assert!((scaled.condition / all.condition - 1.0).abs() < 1e-9);
        let twin = features.column(1) * 2.0;
        features.set_column(2, &twin);
        let singular = Spectrum {
            rank: 2,
            condition: f64::INFINITY,
        };
        assert_eq!(Spectrum::of(&features), singular);
        assert_eq!(Spectrum::of(&DMatrix::zeros(0, 3)).rank, 0);
    }
}
