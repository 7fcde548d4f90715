//! Where to measure a field next: the D-optimal point for the learned features, and what planned
//! points gain over random ones: in error bars, which follow from the model and its prior alone, and in
//! errors, for which the field is measured.

use rand::seq::index;
use rand_distr::{Distribution as _, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::{
    identification::{
        design::Design,
        error::IdentificationError,
        identifier::Identifier,
        model::{AffineModel, feature_rows},
    },
    random::generator,
    systems::Samples,
};

/// Points of the curve.
const MOST: usize = 12;
/// Sets of random points, and of noise.
const DRAWS: usize = 20;
/// Streams of the random points and of the noise in a seed.
const STREAM: u64 = 0x91a2;
const NOISE_STREAM: u64 = 0x91a3;

/// Planned measurements of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The best next point [m].
    pub next: [f64; 2],
    /// Error bars that 1, 2, … planned and as many random points should leave: root mean squares over
    /// parameters and draws, as shares of the prior's spread.
    pub expected: Vec<[f64; 2]>,
    /// The errors that they left here.
    pub errors: Vec<[f64; 2]>,
}

/// The environment that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Truth<'a> {
    /// Its parameters φ.
    pub phi: &'a [f64],
    /// Its field at each of the candidates, without noise.
    pub values: &'a [f64],
}

/// Plans measurements with noise of standard deviation `noise`. The next point is the best of the
/// `candidates` after those that are `measured` already.
pub fn plan<M: AffineModel + Clone>(
    known: &mut Identifier<M>,
    candidates: &Samples,
    measured: &Samples,
    truth: Truth,
    noise: f64,
    seed: u64,
) -> Result<Option<Plan>, IdentificationError> {
    let mut model = known.model().clone();
    let mut rows = |samples| feature_rows(&mut model, samples);
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
    let spread = &known.prior().spread.clone();
    let chosen = start.clone().greedy(&features, MOST)?;
    let planned = left(start.clone(), &features, &chosen, spread)?;
    let count = planned.len();
    let [mut random, mut made, mut made_at_random] = [(); 3].map(|()| vec![0.0; count]);
    let mut rng = generator(seed, STREAM);
    let mut noises = generator(seed, NOISE_STREAM);
    let add = |sums: &mut [f64], errors: Vec<f64>| {
        for (sum, error) in sums.iter_mut().zip(errors) {
            *sum += error.powi(2) / DRAWS as f64;
        }
    };
    for _ in 0..DRAWS {
        let drawn = index::sample(&mut rng, features.len(), count).into_vec();
        add(&mut random, left(start.clone(), &features, &drawn, spread)?);
        let errors: Vec<f64> = StandardNormal
            .sample_iter(&mut noises)
            .take(count)
            .map(|error: f64| noise * error)
            .collect();
        for (rows, sums) in [(&chosen, &mut made), (&drawn, &mut made_at_random)] {
            let targets = rows
                .iter()
                .zip(&errors)
                .map(|(&row, e)| truth.values[row] + e);
            let targets: Vec<f64> = targets.collect();
            add(
                sums,
                errors_made(known, candidates, rows, &targets, truth.phi, noise)?,
            );
        }
    }
    let pairs = |planned: &[f64], random: &[f64]| {
        let both = planned.iter().zip(random);
        both.map(|(p, r)| [p.sqrt(), r.sqrt()]).collect()
    };
    let planned: Vec<f64> = planned.iter().map(|bar| bar.powi(2)).collect();
    Ok(Some(Plan {
        next: [next[0], next[1]],
        expected: pairs(&planned, &random),
        errors: pairs(&made, &made_at_random),
    }))
}

/// Errors after each of these measurements, root mean square of their shares of the prior's spread.
fn errors_made<M: AffineModel>(
    known: &mut Identifier<M>,
    candidates: &Samples,
    rows: &[usize],
    targets: &[f64],
    phi: &[f64],
    noise: f64,
) -> Result<Vec<f64>, IdentificationError> {
    let mut inputs = Samples {
        dim: candidates.dim,
        values: Vec::new(),
    };
    let mut errors = Vec::with_capacity(rows.len());
    for (k, &row) in rows.iter().enumerate() {
        inputs.values.extend(candidates.row(row));
        let found = known.identify(&inputs, &targets[..=k], noise)?.estimate;
        let off = found.values.iter().zip(phi).zip(&known.prior().spread);
        let squares = off.map(|((value, truth), spread)| ((value - truth) / spread).powi(2));
        errors.push((squares.sum::<f64>() / phi.len().max(1) as f64).sqrt());
    }
    Ok(errors)
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
        systems::{Field as _, System as _, charges::Charges, grid::Grid},
    };

    #[test]
    fn the_best_next_point_tells_more_than_any_other_and_is_not_taken_twice_over() {
        let bytes = include_bytes!("../../public/weights/charges-pair-camel.safetensors");
        let model = Arc::new(weights::import(bytes).unwrap());
        let system = Charges::pair();
        let mut known = Identifier::of_model(&model, &system, 0).unwrap();
        let grid = Grid::new([24, 12], system.domain()).unwrap().samples();
        let mut measured = Samples {
            dim: 2,
            values: vec![0.9, 0.1],
        };
        let phi = system.description().typical();
        let field = system.solve(&phi).unwrap();
        let values: Vec<f64> = grid.rows().map(|x| field.value([x[0], x[1]])).collect();
        let truth = Truth {
            phi: &phi,
            values: &values,
        };
        let mut plan = |measured: &Samples| {
            let found = plan(&mut known, &grid, measured, truth, 0.05, 0);
            found.unwrap().unwrap()
        };
        let first = plan(&measured);
        // The right charge has been measured, so the left one is next.
        assert!(first.next[0] < 0.0, "{first:?}");
        let after_one = first.expected[1..].iter().chain(&first.errors[1..]);
        for [planned, random] in after_one {
            assert!(planned < random, "{first:?}");
        }
        measured.values.extend(first.next);
        let second = plan(&measured);
        assert!(second.next[0] > 0.0, "{second:?}");
        assert_eq!(first.expected, second.expected);
        assert_eq!(first.errors, second.errors);
    }
}
