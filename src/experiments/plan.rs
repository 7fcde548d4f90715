//! Where to measure a field next: the D-optimal point for the learned features, and what planned
//! points gain over random ones. Nothing is measured for it; it follows from the model and its prior.

use rand::seq::index;
use serde::{Deserialize, Serialize};

use crate::{
    identification::{
        design::Design,
        error::IdentificationError,
        identifier::Identifier,
        model::{AffineModel, regressors},
    },
    random::generator,
    systems::Samples,
};

/// Points of the curve.
const MOST: usize = 12;
/// Sets of random points.
const DRAWS: usize = 20;
/// Stream of the random points in a seed.
const STREAM: u64 = 0x91a2;

/// Planned measurements of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The best next point [m].
    pub next: [f64; 2],
    /// Number of points, and the error bars that so many planned and so many random points leave:
    /// root mean square over the parameters, as a share of the prior's.
    pub curve: Vec<(usize, f64, f64)>,
}

/// Plans measurements with noise of standard deviation `noise`. The next point is the best of the
/// `candidates` after those that are `measured` already.
pub fn plan<M: AffineModel + Clone>(
    known: &Identifier<M>,
    candidates: &Samples,
    measured: &Samples,
    noise: f64,
    seed: u64,
) -> Result<Option<Plan>, IdentificationError> {
    let mut model = known.model().clone();
    let mut rows = |samples: &Samples| -> Vec<Vec<f64>> {
        let (features, _) = regressors(&mut model, samples);
        let rows = features.row_iter();
        rows.map(|row| row.iter().copied().collect()).collect()
    };
    let (features, seen) = (rows(candidates), rows(measured));
    let start = known.design(noise)?;
    let mut now = start.clone();
    for row in &seen {
        now.measured(row)?;
    }
    let Some((best, _)) = now.best(features.iter().map(Vec::as_slice))? else {
        return Ok(None);
    };
    let next = candidates.row(best);
    let spread = &known.prior().spread;
    let chosen = start.clone().greedy(&features, MOST)?;
    let planned = left(start.clone(), &features, &chosen, spread)?;
    let mut random = vec![0.0; planned.len()];
    let mut rng = generator(seed, STREAM);
    for _ in 0..DRAWS {
        let drawn = index::sample(&mut rng, features.len(), planned.len()).into_vec();
        let errors = left(start.clone(), &features, &drawn, spread)?;
        for (sum, error) in random.iter_mut().zip(errors) {
            *sum += error / DRAWS as f64;
        }
    }
    let pairs = planned.into_iter().zip(random).enumerate();
    Ok(Some(Plan {
        next: [next[0], next[1]],
        curve: pairs.map(|(k, (p, r))| (k + 1, p, r)).collect(),
    }))
}

/// Error bars after each of these measurements, root mean square of their shares of the prior's.
fn left(
    mut design: Design,
    features: &[Vec<f64>],
    chosen: &[usize],
    spread: &[f64],
) -> Result<Vec<f64>, IdentificationError> {
    let mut errors = Vec::with_capacity(chosen.len());
    for &row in chosen {
        design.measured(&features[row])?;
        let bars = design.standard_errors();
        let squares = bars
            .iter()
            .zip(spread)
            .map(|(bar, prior)| (bar / prior).powi(2));
        errors.push((squares.sum::<f64>() / spread.len().max(1) as f64).sqrt());
    }
    Ok(errors)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        learners::weights,
        systems::{Field as _, charges::Charges, grid::Grid},
    };

    #[test]
    fn the_best_next_point_tells_more_than_any_other_and_is_not_taken_twice_over() {
        let bytes = include_bytes!("../../public/weights/charges-pair-camel.safetensors");
        let model = Arc::new(weights::import(bytes).unwrap());
        let system = Charges::pair();
        let known = Identifier::of_model(&model, &system, 0).unwrap();
        let grid = Grid::new([24, 12], system.domain()).unwrap().samples();
        let mut measured = Samples {
            dim: 2,
            values: vec![0.9, 0.1],
        };
        let first = plan(&known, &grid, &measured, 0.05, 0).unwrap().unwrap();
        // The right charge has been measured, so the left one is next.
        assert!(first.next[0] < 0.0, "{first:?}");
        for (points, planned, random) in &first.curve[1..] {
            assert!(planned < random, "{points} points: {planned} {random}");
        }
        measured.values.extend(first.next);
        let second = plan(&known, &grid, &measured, 0.05, 0).unwrap().unwrap();
        assert!(second.next[0] > 0.0, "{second:?}");
        assert_eq!(first.curve, second.curve);
    }
}
