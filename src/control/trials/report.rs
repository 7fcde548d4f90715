//! How adaptive trials went, and their summary.

use serde::{Deserialize, Serialize};

use super::watch::{TOLERANCES, Watch};
use crate::identification::{
    budget::Punctuality,
    trials::{Summary, median_of_sorted},
};

/// How one trial went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdaptiveTrial {
    /// Steps with the new mass after which the estimate stays within 5, 10 and 15 % of it.
    pub settled: [Option<usize>; TOLERANCES.len()],
    /// Steps with the new mass up to the first alarm.
    pub detection_delay: Option<usize>,
    /// Alarms without a change.
    pub false_alarms: usize,
    /// Steps without a change, or well after one that was noticed.
    pub quiet_steps: usize,
    /// Whether the last error bar held the truth; none without one.
    pub covered: Option<bool>,
    /// The same 100 steps after the change, noticed or not; none in a run that ends before.
    pub covered_soon: Option<bool>,
    /// Total error of the adaptive model; infinite if a run failed.
    pub error: f64,
    /// Total errors of the models that it is compared with.
    pub compared: Compared,
    /// Upkie's total errors.
    pub wheels: Option<Wheels>,
    /// How the model kept its time budget.
    pub punctuality: Punctuality,
    /// Whether the plant diverged or the robot fell, with the change or without it.
    pub failed: bool,
}

impl AdaptiveTrial {
    /// From the watched run with the change and the one without, and what the first one gave if neither
    /// failed.
    pub(super) fn of(
        watch: &Watch,
        quiet: &Watch,
        punctuality: Option<Punctuality>,
        compared: Compared,
    ) -> Self {
        let failed = punctuality.is_none();
        Self {
            settled: if failed {
                [None; TOLERANCES.len()]
            } else {
                watch.settled()
            },
            detection_delay: watch.delay(),
            false_alarms: watch.false_alarms + quiet.false_alarms,
            quiet_steps: watch.quiet_steps + quiet.quiet_steps,
            covered: watch.covered,
            covered_soon: watch.covered_soon,
            error: if failed {
                f64::INFINITY
            } else {
                watch.total_error
            },
            compared,
            wheels: None,
            punctuality: punctuality.unwrap_or_default(),
            failed,
        }
    }
}

/// Total errors under the same disturbance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    /// A controller that knows the masses and the friction, with the adaptive controller's feedback.
    pub oracle: f64,
    /// The same with the usual feedback alone, also after the change.
    pub oracle_plain: Option<f64>,
    /// Frictionless inverse dynamics with the masses before the change, the same feedback and no alarm.
    pub analytic: Option<f64>,
}

/// Total errors over the ticks of one of Upkie's runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Distances from the path [m].
    pub position: f64,
    /// Differences between commanded and real speed of the wheels [m/s].
    pub speed: f64,
    /// Errors of the predicted wheel torque [N m].
    pub prediction: f64,
}

impl Totals {
    /// Those of a robot that fell.
    pub(super) const FAILED: Self = Self {
        position: f64::INFINITY,
        speed: f64::INFINITY,
        prediction: f64::INFINITY,
    };
}

/// Upkie's total errors in the same run with several models.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wheels {
    /// With the model that is tried.
    pub own: Totals,
    /// With the oracle.
    pub oracle: Totals,
    /// Without any model.
    pub plain: Totals,
    /// With the torque of the tick before for a prediction.
    pub repeated: Totals,
}

/// Median and maximum over trials; `None` where more than half, or one, never got there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// Median.
    pub median: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
}

impl Steps {
    fn of(values: impl Iterator<Item = Option<usize>>) -> Self {
        let mut sorted: Vec<f64> = values
            .map(|v| v.map_or(f64::INFINITY, |v| v as f64))
            .collect();
        sorted.sort_by(f64::total_cmp);
        let finite = |v: f64| v.is_finite().then_some(v);
        Self {
            median: finite(median_of_sorted(&sorted)),
            max: sorted.last().copied().and_then(finite),
        }
    }
}

/// Figures of merit over all trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveReport {
    /// Number of trials.
    pub trials: usize,
    /// Steps until the estimate stays within 5 % of the new mass.
    pub steps_within_5pct: Steps,
    /// Steps until the estimate stays within 10 % of the new mass.
    pub steps_within_10pct: Steps,
    /// Steps until the estimate stays within 15 % of the new mass.
    pub steps_within_15pct: Steps,
    /// Steps until the change is noticed.
    pub detection_delay: Steps,
    /// Alarms in 10,000 steps without a change.
    pub false_alarms_per_10k: f64,
    /// Share of trials whose last 95 % interval held the new mass; none without error bars.
    pub coverage_95: Option<f64>,
    /// The same 100 steps after the change, noticed or not.
    pub coverage_95_soon: Option<f64>,
    /// Total error, median over all trials, one that failed counted as infinite: the tip's distances to
    /// the reference of the cartpole, the wheels' from the path of Upkie [m].
    pub tracking_error: f64,
    /// The same for a model that knows the masses and the friction, with the adaptive controller's
    /// feedback, which becomes strong as soon as the mass changes.
    pub tracking_error_oracle: f64,
    /// The same for the oracle with the usual feedback alone.
    pub tracking_error_oracle_plain: Option<f64>,
    /// The same for frictionless inverse dynamics with the masses before the change, which has that
    /// feedback too but notices nothing.
    pub tracking_error_analytic: Option<f64>,
    /// The same for Upkie's balance and servos alone, without any model.
    pub tracking_error_plain: Option<f64>,
    /// Total difference between commanded and real speed of Upkie's wheels [m/s].
    pub speed_error: Option<f64>,
    /// The same for the oracle.
    pub speed_error_oracle: Option<f64>,
    /// The same without any model.
    pub speed_error_plain: Option<f64>,
    /// The same with the torque of the tick before for a prediction; former files have none.
    #[serde(default)]
    pub speed_error_repeated: Option<f64>,
    /// Total error of Upkie's predicted wheel torque [N m].
    pub prediction_error: Option<f64>,
    /// The same for the oracle, which takes the legs to be locked.
    pub prediction_error_oracle: Option<f64>,
    /// Trials in which the plant diverged or the robot fell; they count as never there.
    pub diverged: usize,
    /// Time that a tick may take [s].
    pub budget_seconds: f64,
    /// Time that an adaptation took [s], measured.
    pub adaptation_seconds: Summary,
    /// Share of ticks whose adaptation was not ready in time.
    pub missed_ticks: f64,
}

impl AdaptiveReport {
    /// Sums up trials.
    pub fn of(trials: &[AdaptiveTrial], budget_seconds: f64) -> Self {
        let settled = |tolerance: usize| Steps::of(trials.iter().map(|t| t.settled[tolerance]));
        let alarms: usize = trials.iter().map(|t| t.false_alarms).sum();
        let quiet: usize = trials.iter().map(|t| t.quiet_steps).sum();
        let ticks: usize = trials.iter().map(|t| t.punctuality.ticks).sum();
        let missed: usize = trials.iter().map(|t| t.punctuality.missed).sum();
        let seconds: Vec<f64> = trials
            .iter()
            .flat_map(|t| t.punctuality.seconds.iter().copied())
            .collect();
        let compared = |value: fn(&Compared) -> Option<f64>| {
            let values: Option<Vec<f64>> = trials.iter().map(|t| value(&t.compared)).collect();
            values.filter(|v| !v.is_empty()).map(median)
        };
        let wheels = |value: fn(&Wheels) -> f64| {
            let values: Option<Vec<f64>> = trials
                .iter()
                .map(|t| t.wheels.as_ref().map(value))
                .collect();
            values.filter(|v| !v.is_empty()).map(median)
        };
        Self {
            trials: trials.len(),
            steps_within_5pct: settled(0),
            steps_within_10pct: settled(1),
            steps_within_15pct: settled(2),
            detection_delay: Steps::of(trials.iter().map(|t| t.detection_delay)),
            false_alarms_per_10k: 1e4 * alarms as f64 / quiet.max(1) as f64,
            coverage_95: share(trials.iter().filter_map(|t| t.covered)),
            coverage_95_soon: share(trials.iter().filter_map(|t| t.covered_soon)),
            tracking_error: median(trials.iter().map(|t| t.error).collect()),
            tracking_error_oracle: median(trials.iter().map(|t| t.compared.oracle).collect()),
            tracking_error_oracle_plain: compared(|c| c.oracle_plain),
            tracking_error_analytic: compared(|c| c.analytic),
            tracking_error_plain: wheels(|w| w.plain.position),
            speed_error: wheels(|w| w.own.speed),
            speed_error_oracle: wheels(|w| w.oracle.speed),
            speed_error_plain: wheels(|w| w.plain.speed),
            speed_error_repeated: wheels(|w| w.repeated.speed),
            prediction_error: wheels(|w| w.own.prediction),
            prediction_error_oracle: wheels(|w| w.oracle.prediction),
            diverged: trials.iter().filter(|t| t.failed).count(),
            budget_seconds,
            adaptation_seconds: Summary::of(&seconds),
            missed_ticks: missed as f64 / ticks.max(1) as f64,
        }
    }
}

/// The share that holds; none of nothing.
fn share(all: impl Iterator<Item = bool>) -> Option<f64> {
    let (held, count) = all.fold((0, 0), |(held, count), holds| {
        (held + usize::from(holds), count + 1)
    });
    (count > 0).then(|| held as f64 / count as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    median_of_sorted(&values)
}
