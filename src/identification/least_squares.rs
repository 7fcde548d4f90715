//! Ridge least squares with error bars.
//!
//! `ŵ = argmin Σᵢ (yᵢ − wᵀvᵢ)² + Σⱼ λⱼ (wⱼ − w⁰ⱼ)²`, with covariance `σ² (VᵀV + Λ)⁻¹`.
//!
//! The ridge is a prior: `λⱼ = (σ/sⱼ)²` says that unknown j lies within about `sⱼ` of `w⁰ⱼ`. Without
//! one, shots that leave a direction of the unknowns free are an error, never a huge number.

use nalgebra::{DMatrix, DVector};

use super::error::{IdentificationError, check_finite, check_length, check_setting};

/// Singular values below this fraction of the largest count as zero: 2⁻²⁶, the root of what numbers are
/// rounded by, since they are found from a matrix of their squares.
const RANK_TOLERANCE: f64 = 1.0 / 67_108_864.0;

/// A prior that pulls each unknown to a value. The recursion that identifies begins with the same prior and
/// comes to the same weights, shot by shot; here is what that is tested against.
#[derive(Clone, Debug, PartialEq)]
pub struct Ridge {
    /// Where the unknowns are pulled to, w⁰.
    pub centre: Vec<f64>,
    /// How strongly, λ ≥ 0, one number an unknown.
    pub strength: Vec<f64>,
}

impl Ridge {
    /// The same pull `strength` ≥ 0 of `unknowns` unknowns to zero.
    pub fn uniform(unknowns: usize, strength: f64) -> Self {
        Self {
            centre: vec![0.0; unknowns],
            strength: vec![strength; unknowns],
        }
    }
}

/// Where the noise level σ of the shots comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Known beforehand, in the target's unit: a sensor's data sheet, or a model's validation error.
    Known(f64),
    /// Estimated from the shots' own residuals; needs more shots than unknowns.
    Residuals,
}

/// The least-squares estimate and how well it is determined.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The estimate ŵ.
    pub weights: DVector<f64>,
    /// Covariance σ² (VᵀV + Λ)⁻¹ of the estimate.
    pub covariance: DMatrix<f64>,
    /// Noise level σ used for the covariance, in the target's unit.
    pub noise: f64,
    /// Root mean square of the residuals, in the target's unit.
    pub residual: f64,
    /// How many unknowns the shots determine without the ridge.
    pub rank: usize,
    /// Condition number of the features, columns scaled to one length; infinite if singular.
    pub condition: f64,
    /// How much of each unknown the shots see: 1 is all of it, 0 none of it.
    pub determination: Vec<f64>,
}

impl Fit {
    /// Standard error of each unknown.
    pub fn standard_errors(&self) -> Vec<f64> {
        self.covariance
            .diagonal()
            .iter()
            .map(|variance| variance.max(0.0).sqrt())
            .collect()
    }
}

/// Fits `targets ≈ features · w`, one row of features a shot.
pub fn fit(
    features: &DMatrix<f64>,
    targets: &[f64],
    ridge: Option<&Ridge>,
    noise: Noise,
) -> Result<Fit, IdentificationError> {
    let (shots, unknowns) = features.shape();
    check(features, targets, ridge, noise)?;
    if ridge.is_none() && shots < unknowns {
        return Err(IdentificationError::TooFewShots { shots, unknowns });
    }
    let seen = spectrum(features);
    if ridge.is_none() && seen.rank < unknowns {
        return Err(IdentificationError::Singular {
            rank: seen.rank,
            unknowns,
            condition: seen.condition,
        });
    }
    let (design, values) = with_prior(features, targets, ridge);
    let (weights, unit_covariance) =
        solve(&design, &values).ok_or(IdentificationError::Singular {
            rank: seen.rank,
            unknowns,
            condition: seen.condition,
        })?;
    let errors = DVector::from_column_slice(targets) - features * &weights;
    let residual = (errors.norm_squared() / shots.max(1) as f64).sqrt();
    let sigma = noise_level(noise, errors.norm_squared(), shots, seen.rank)?;
    Ok(Fit {
        weights,
        covariance: unit_covariance * sigma.powi(2),
        noise: sigma,
        residual,
        rank: seen.rank,
        condition: seen.condition,
        determination: seen.determination,
    })
}

fn check(
    features: &DMatrix<f64>,
    targets: &[f64],
    ridge: Option<&Ridge>,
    noise: Noise,
) -> Result<(), IdentificationError> {
    let (shots, unknowns) = features.shape();
    check_length("the targets", shots, targets.len())?;
    check_finite("feature", features.as_slice())?;
    check_finite("target", targets)?;
    if let Some(ridge) = ridge {
        check_length("the ridge's centre", unknowns, ridge.centre.len())?;
        check_length("the ridge's strength", unknowns, ridge.strength.len())?;
        check_finite("ridge centre", &ridge.centre)?;
        for &strength in &ridge.strength {
            check_setting("the ridge", strength, "0 or more", strength >= 0.0)?;
        }
    }
    match noise {
        Noise::Known(sigma) => check_setting("the noise level", sigma, "0 or more", sigma >= 0.0),
        Noise::Residuals => Ok(()),
    }
}

/// What the shots see of the unknowns.
pub(crate) struct Spectrum {
    pub(crate) rank: usize,
    pub(crate) condition: f64,
    determination: Vec<f64>,
}

/// Singular values of the features with columns of one length, so that units do not matter.
pub(crate) fn spectrum(features: &DMatrix<f64>) -> Spectrum {
    let unknowns = features.ncols();
    let mut scaled = features.clone();
    for mut column in scaled.column_iter_mut() {
        let length = column.norm();
        if length > 0.0 {
            column /= length;
        }
    }
    // The eigenvectors of the Gram matrix span all unknowns, also with fewer shots than unknowns.
    let gram = scaled.tr_mul(&scaled).symmetric_eigen();
    let singular: Vec<f64> = gram.eigenvalues.iter().map(|e| e.max(0.0).sqrt()).collect();
    let largest = singular.iter().copied().fold(0.0, f64::max);
    let smallest = singular.iter().copied().fold(f64::INFINITY, f64::min);
    let kept: Vec<usize> = (0..unknowns)
        .filter(|&k| singular[k] > RANK_TOLERANCE * largest)
        .collect();
    let determination = (0..unknowns)
        .map(|unknown| {
            let seen = kept
                .iter()
                .map(|&k| gram.eigenvectors[(unknown, k)].powi(2));
            seen.sum::<f64>().min(1.0)
        })
        .collect();
    Spectrum {
        rank: kept.len(),
        condition: if kept.len() < unknowns {
            f64::INFINITY
        } else {
            largest / smallest
        },
        determination,
    }
}

/// Appends one row `√λⱼ (wⱼ − w⁰ⱼ)` an unknown.
fn with_prior(
    features: &DMatrix<f64>,
    targets: &[f64],
    ridge: Option<&Ridge>,
) -> (DMatrix<f64>, DVector<f64>) {
    let values = DVector::from_column_slice(targets);
    let Some(ridge) = ridge else {
        return (features.clone(), values);
    };
    let (shots, unknowns) = features.shape();
    let mut design = features.clone().resize_vertically(shots + unknowns, 0.0);
    let mut values = values.resize_vertically(shots + unknowns, 0.0);
    for unknown in 0..unknowns {
        let root = ridge.strength[unknown].sqrt();
        design[(shots + unknown, unknown)] = root;
        values[shots + unknown] = root * ridge.centre[unknown];
    }
    (design, values)
}

/// The solution and (DᵀD)⁻¹, by a QR factorisation with columns of one length.
fn solve(design: &DMatrix<f64>, values: &DVector<f64>) -> Option<(DVector<f64>, DMatrix<f64>)> {
    let unknowns = design.ncols();
    let lengths: Vec<f64> = design.column_iter().map(|column| column.norm()).collect();
    if lengths.contains(&0.0) {
        return None;
    }
    let mut scaled = design.clone();
    for (mut column, length) in scaled.column_iter_mut().zip(&lengths) {
        column /= *length;
    }
    let qr = scaled.qr();
    let triangle = qr.r();
    let mut rotated = values.clone();
    qr.q_tr_mul(&mut rotated);
    let mut weights = triangle.solve_upper_triangular(&rotated.rows(0, unknowns).into_owned())?;
    let mut root = triangle.solve_upper_triangular(&DMatrix::identity(unknowns, unknowns))?;
    for (unknown, length) in lengths.iter().enumerate() {
        weights[unknown] /= length;
        root.row_mut(unknown).scale_mut(1.0 / length);
    }
    let covariance = &root * root.transpose();
    let finite = weights
        .iter()
        .chain(covariance.iter())
        .all(|x| x.is_finite());
    finite.then_some((weights, covariance))
}

fn noise_level(
    noise: Noise,
    squares: f64,
    shots: usize,
    rank: usize,
) -> Result<f64, IdentificationError> {
    let estimated = (squares / shots.saturating_sub(rank).max(1) as f64).sqrt();
    match noise {
        Noise::Known(sigma) => Ok(sigma),
        Noise::Residuals if shots > rank => Ok(estimated),
        Noise::Residuals => Err(IdentificationError::TooFewShots {
            shots,
            unknowns: rank + 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::random::generator;

    fn random(rows: usize, columns: usize, seed: u64) -> DMatrix<f64> {
        let mut rng = generator(seed, 0);
        DMatrix::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
    }

    #[test]
    fn exact_shots_give_exact_weights() {
        let features = random(6, 3, 1);
        let truth = DVector::from_vec(vec![1.5, -0.3, 20.0]);
        let targets = &features * &truth;
        let fit = fit(&features, targets.as_slice(), None, Noise::Residuals).unwrap();
        assert!((fit.weights - truth).norm() < 1e-12);
        assert!(fit.noise < 1e-12);
        assert_eq!(fit.rank, 3);
    }

    #[test]
    fn standard_errors_cover_the_truth_as_often_as_they_say() {
        let truth = DVector::from_vec(vec![2.0, -1.0]);
        let mut covered = 0;
        for seed in 0..500 {
            let features = random(30, 2, seed);
            let noise = random(30, 1, seed + 10_000) * 0.1;
            let targets = &features * &truth + noise.column(0);
            let fit = fit(&features, targets.as_slice(), None, Noise::Known(0.1)).unwrap();
            let error = (fit.weights[0] - truth[0]).abs();
            covered += usize::from(error < 1.96 * fit.standard_errors()[0]);
        }
        assert!((460..=490).contains(&covered), "{covered} of 500");
    }

    #[test]
    fn a_direction_that_no_shot_moves_is_named() {
        let mut features = random(10, 3, 2);
        let twin = features.column(1) * 2.0;
        features.set_column(2, &twin);
        let targets = vec![1.0; 10];
        let error = fit(&features, &targets, None, Noise::Known(1.0)).unwrap_err();
        assert!(matches!(
            error,
            IdentificationError::Singular {
                rank: 2,
                unknowns: 3,
                ..
            }
        ));
        let ridge = Ridge::uniform(3, 1e-6);
        let fit = fit(&features, &targets, Some(&ridge), Noise::Known(1.0)).unwrap();
        assert!(fit.determination[1..].iter().all(|share| *share < 0.99));
        assert!(fit.determination[0] > 0.99);
    }

    #[test]
    fn fewer_shots_than_unknowns_are_refused_with_both_numbers() {
        let error = fit(&random(2, 4, 3), &[0.0, 0.0], None, Noise::Known(1.0)).unwrap_err();
        assert_eq!(
            error,
            IdentificationError::TooFewShots {
                shots: 2,
                unknowns: 4
            }
        );
        assert!(error.to_string().contains("4 unknowns"));
    }

    #[test]
    fn a_shot_that_is_not_a_number_is_refused() {
        let mut targets = vec![0.0; 5];
        targets[3] = f64::NAN;
        let error = fit(&random(5, 2, 4), &targets, None, Noise::Residuals).unwrap_err();
        assert!(matches!(
            error,
            IdentificationError::NotFinite { index: 3, .. }
        ));
    }

    #[test]
    fn without_shots_the_prior_is_the_answer() {
        let ridge = Ridge {
            centre: vec![1.0, 2.0],
            strength: vec![4.0, 1.0],
        };
        let fit = fit(&DMatrix::zeros(0, 2), &[], Some(&ridge), Noise::Known(1.0)).unwrap();
        assert!((fit.weights[1] - 2.0).abs() < 1e-12);
        assert!((fit.standard_errors()[0] - 0.5).abs() < 1e-12);
        assert_eq!(fit.determination, vec![0.0, 0.0]);
    }
}
