//! Factors on error bars, counted on tasks whose parameters are known.
//!
//! The recursion's error bars follow from a model of the residuals, which is a model. How far the
//! truth really lies from the estimate, in standard errors, is counted on validation tasks: after n
//! shots, 95 % of them must lie within `1.96 f(n)` standard errors. f may be below or above 1.

use super::quantile::NOMINAL_95;

/// Share of the validation tasks that the error bars shall cover.
const COVERAGE: f64 = 0.95;
/// Observations up to which error bars may need widening: half of what a recursion with forgetting
/// remembers, since the other half fades.
const MEMORY: f64 = 500.0;

/// Numbers of shots after which scores are taken.
pub(super) const SHOTS: [usize; 7] = [10, 20, 50, 100, 200, 400, 800];

/// Distances |estimate − truth| in standard errors: for each of [`SHOTS`] and each parameter, one
/// score a task.
pub(super) type Scores = [Vec<Vec<f64>>; SHOTS.len()];

/// Factors on error bars against the number of shots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// Number of shots and factor of each parameter.
    points: Vec<(usize, Vec<f64>)>,
    /// Share of a measurement's variance that is the model's own and needs a factor.
    share: f64,
}

impl Calibration {
    /// The factors that bring the error bars of these scores to 95 %.
    pub(super) fn of(scores: &Scores) -> Self {
        let points = SHOTS.iter().zip(scores).filter_map(|(&shots, scores)| {
            let factors: Option<Vec<f64>> = scores.iter().map(|s| factor(s)).collect();
            factors
                .filter(|factors| !factors.is_empty())
                .map(|factors| (shots, factors))
        });
        let points: Vec<_> = points.collect();
        Self {
            // Without scores there is no factor.
            share: f64::from(!points.is_empty()),
            points,
        }
    }

    /// Where only this share of a measurement's variance is the model's and the rest is white noise
    /// of known size, only that share needs a factor.
    #[must_use]
    pub fn of_share(&self, share: f64) -> Self {
        Self {
            points: self.points.clone(),
            share,
        }
    }

    /// The calibrated error bar of a parameter after so many shots, from its standard error and the
    /// prior's. What the shots leave as unknown as the prior has it is no matter of the model's residuals
    /// and keeps its width. `reach` is how much larger the model's errors are than in training.
    pub fn error(
        &self,
        parameter: usize,
        shots: usize,
        (standard_error, prior): (f64, f64),
        reach: f64,
    ) -> f64 {
        let unknown = (standard_error / prior).powi(2).clamp(0.0, 1.0);
        let own = reach * self.factor(parameter, shots);
        let factor = (self.share * own * own + 1.0 - self.share).sqrt();
        standard_error * (unknown + (1.0 - unknown) * factor * factor).sqrt()
    }

    /// The factor on the model's own part of a parameter's error bar after so many shots. Beyond the validation tasks' length
    /// it grows as error bars shrink: nobody has seen that more shots help.
    pub fn factor(&self, parameter: usize, shots: usize) -> f64 {
        let at = |(_, factors): &(usize, Vec<f64>)| factors.get(parameter).copied().unwrap_or(1.0);
        let after = self.points.partition_point(|(n, _)| *n < shots);
        match (
            after.checked_sub(1).map(|k| &self.points[k]),
            self.points.get(after),
        ) {
            (None, None) => 1.0,
            (None, Some(first)) => at(first),
            (Some(last), None) => {
                let more = (shots as f64).min(MEMORY.max(last.0 as f64)) / last.0 as f64;
                at(last) * more.sqrt()
            }
            (Some(low), Some(high)) => {
                let [from, to, here] = [low.0, high.0, shots].map(|n| (n as f64).ln());
                let share = (here - from) / (to - from);
                at(low) + share * (at(high) - at(low))
            }
        }
    }
}

/// The factor that covers 95 % of the scores; none without scores.
fn factor(scores: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = scores.iter().copied().filter(|s| s.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let rank = (COVERAGE * sorted.len() as f64).ceil() as usize;
    let score = sorted.get(rank.checked_sub(1)?)?;
    Some((score / NOMINAL_95).max(f64::EPSILON))
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::random::generator;

    /// Normal scores of one parameter whose error bars are too narrow by `width`.
    fn scores(width: f64) -> Vec<f64> {
        let normal = StandardNormal.sample_iter(generator(1, 0)).take(2_000);
        normal.map(|z: f64| width * z.abs()).collect()
    }

    fn calibration(early: f64, late: f64) -> Calibration {
        let widths = [early, early, early, late, late, late, late];
        Calibration::of(&widths.map(|width| vec![scores(width)]))
    }

    /// Good error bars, known up to so many shots.
    fn scores_until(most: usize) -> Calibration {
        let known = |shots| if shots <= most { scores(1.0) } else { vec![] };
        Calibration::of(&SHOTS.map(|shots| vec![known(shots)]))
    }

    #[test]
    fn bars_that_are_too_wide_become_narrower_and_the_other_way_round() {
        let calibration = calibration(0.5, 2.0);
        assert!((calibration.factor(0, 5) - 0.5).abs() < 0.05);
        assert!((calibration.factor(0, 50) - 0.5).abs() < 0.05);
        assert!((calibration.factor(0, 70) - 1.2).abs() < 0.3);
        assert!((calibration.factor(0, 100) - 2.0).abs() < 0.2);
    }

    #[test]
    fn beyond_the_validation_tasks_bars_shrink_no_further() {
        let shorter = scores_until(200);
        let last = shorter.factor(0, 200);
        assert!((shorter.factor(0, 300) / last - 1.5_f64.sqrt()).abs() < 1e-9);
        assert_eq!(shorter.factor(0, 500), shorter.factor(0, 5_000));
        let calibration = calibration(1.0, 1.0);
        assert_eq!(calibration.factor(0, 5_000), calibration.factor(0, 50_000));
    }

    #[test]
    fn what_shots_leave_unknown_stays_unknown() {
        let calibration = calibration(0.1, 0.1);
        assert!((calibration.error(0, 100, (2.0, 2.0), 1.0) - 2.0).abs() < 1e-9);
        assert!((calibration.error(0, 100, (0.002, 2.0), 1.0) - 0.0002).abs() < 2e-5);
    }

    #[test]
    fn known_noise_needs_no_factor_and_nothing_known_gives_one() {
        let noisy = calibration(3.0, 3.0).of_share(0.0);
        assert!((noisy.error(0, 60, (0.1, 1e9), 2.0) - 0.1).abs() < 1e-12);
        assert_eq!(Calibration::default().factor(0, 60), 1.0);
        let nothing: Scores = Default::default();
        assert_eq!(Calibration::of(&nothing), Calibration::default());
    }
}
