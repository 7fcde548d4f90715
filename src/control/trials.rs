//! Figures of merit of adaptive control: the cartpole's cart changes its mass, nobody says when.

use serde::{Deserialize, Serialize};

use super::{
    adaptive::{AdaptiveLoop, Controller},
    compensation::Compensation,
    error::ControlError,
    feedback::{Feedback as _, TipFeedback},
    plant::Plant,
    reference::Reference,
    tracking::tip_distance,
};
use crate::{
    identification::{online::OnlineModel, trials::median_of_sorted},
    random,
    systems::{Robot as _, cartpole::Cartpole},
};
use rand::RngExt as _;

/// Cart and pole before the change [kg].
pub const START: [f64; 2] = [1.5, 0.3];
/// Steps after a noticed change in which further alarms belong to it.
const SETTLING: usize = 100;
/// Steps between which the change happens.
const CHANGE_STEPS: (usize, usize) = (250, 700);
/// Stream of the change's time in a trial's seed.
const CHANGE_STREAM: u64 = 0xc4a9;
/// Steps that adaptation takes at least.
const WINDOW: usize = 50;

/// What is done in every trial.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveTrials {
    /// The robot.
    pub cartpole: Cartpole,
    /// Factor on the cart's mass, above 0 (default 2).
    pub factor: f64,
    /// Step of the change; `None` draws one for every trial.
    pub change_step: Option<usize>,
    /// White force on the cart [N], 0 or more (default 0.05).
    pub disturbance: f64,
    /// Compensated share of what the model cannot explain, 0 to 1 (default 1).
    pub compensation: f64,
}

impl Default for AdaptiveTrials {
    fn default() -> Self {
        Self {
            cartpole: Cartpole::default(),
            factor: 2.0,
            change_step: None,
            disturbance: 0.05,
            compensation: 1.0,
        }
    }
}

/// How one trial went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveTrial {
    /// Steps with the new mass after which the estimate stays within 5 % of it.
    pub steps_within_5pct: Option<usize>,
    /// The same for 10 %.
    pub steps_within_10pct: Option<usize>,
    /// Steps with the new mass up to the first alarm.
    pub detection_delay: Option<usize>,
    /// Alarms without a change.
    pub false_alarms: usize,
    /// Steps without a change, or well after one that was noticed.
    pub quiet_steps: usize,
    /// Sum of the tip's distances to the reference [m].
    pub tracking_error: f64,
    /// The same for a controller that knows the masses, under the same disturbance.
    pub tracking_error_oracle: f64,
    /// The same for frictionless inverse dynamics with the masses before the change.
    pub tracking_error_analytic: f64,
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
    /// Steps until the change is noticed.
    pub detection_delay: Steps,
    /// Alarms in 10,000 steps without a change.
    pub false_alarms_per_10k: f64,
    /// Sum of the tip's distances to the reference [m], median.
    pub tracking_error: f64,
    /// The same for a controller that knows the masses.
    pub tracking_error_oracle: f64,
    /// The same for frictionless inverse dynamics with the masses before the change.
    pub tracking_error_analytic: f64,
}

impl AdaptiveReport {
    /// Sums up trials.
    pub fn of(trials: &[AdaptiveTrial]) -> Self {
        let median = |value: fn(&AdaptiveTrial) -> f64| {
            let mut sorted: Vec<f64> = trials.iter().map(value).collect();
            sorted.sort_by(f64::total_cmp);
            median_of_sorted(&sorted)
        };
        let alarms: usize = trials.iter().map(|t| t.false_alarms).sum();
        let quiet: usize = trials.iter().map(|t| t.quiet_steps).sum();
        Self {
            trials: trials.len(),
            steps_within_5pct: Steps::of(trials.iter().map(|t| t.steps_within_5pct)),
            steps_within_10pct: Steps::of(trials.iter().map(|t| t.steps_within_10pct)),
            detection_delay: Steps::of(trials.iter().map(|t| t.detection_delay)),
            false_alarms_per_10k: 1e4 * alarms as f64 / quiet.max(1) as f64,
            tracking_error: median(|t| t.tracking_error),
            tracking_error_oracle: median(|t| t.tracking_error_oracle),
            tracking_error_analytic: median(|t| t.tracking_error_analytic),
        }
    }
}

/// Runs `trials` trials; `model` gives a fresh model for each.
pub fn adaptive_trials<M: OnlineModel>(
    setting: &AdaptiveTrials,
    trials: usize,
    seed: u64,
    mut model: impl FnMut() -> Result<M, ControlError>,
) -> Result<AdaptiveReport, ControlError> {
    let mut all = Vec::with_capacity(trials);
    for trial in 0..trials as u64 {
        all.push(setting.trial(seed.wrapping_add(trial), &mut model)?);
    }
    Ok(AdaptiveReport::of(&all))
}

impl AdaptiveTrials {
    /// One trial, and a run without any change for its false alarms.
    pub fn trial<M: OnlineModel>(
        &self,
        seed: u64,
        mut model: impl FnMut() -> Result<M, ControlError>,
    ) -> Result<AdaptiveTrial, ControlError> {
        let reference = Reference::cartpole_sine(&self.cartpole)?;
        let change = self.change_step.unwrap_or_else(|| {
            random::generator(seed, CHANGE_STREAM).random_range(CHANGE_STEPS.0..CHANGE_STEPS.1)
        });
        if reference.len() <= change {
            return Err(ControlError::ReferenceTooShort {
                steps: reference.len(),
                window: change,
            });
        }
        let mut changing = self.plant(seed)?;
        changing.schedule(change, 0, self.factor * START[0])?;
        let mut watch = Watch::new(change, self.factor * START[0]);
        self.run(changing.clone(), &reference, model()?, |tick| {
            watch.see(tick)
        })?;
        let mut quiet = Watch::new(usize::MAX, START[0]);
        let calm = self.plant(seed.wrapping_add(1 << 32))?;
        self.run(calm, &reference, model()?, |tick| quiet.see(tick))?;
        let still = |masses: &[f64], x: &[f64]| self.cartpole.inverse(masses, x);
        let textbook = |_: &[f64], x: &[f64]| self.cartpole.analytic_inverse(&START, x);
        Ok(AdaptiveTrial {
            steps_within_5pct: watch.settled(watch.outside_5, reference.len()),
            steps_within_10pct: watch.settled(watch.outside_10, reference.len()),
            detection_delay: watch.noticed.map(|step| step - change + 1),
            false_alarms: watch.false_alarms + quiet.false_alarms,
            quiet_steps: watch.quiet_steps + quiet.quiet_steps,
            tracking_error: watch.distance,
            tracking_error_oracle: self.tracking(changing.clone(), &reference, still)?,
            tracking_error_analytic: self.tracking(changing, &reference, textbook)?,
        })
    }

    fn plant(&self, seed: u64) -> Result<Plant<Cartpole>, ControlError> {
        Plant::new(
            self.cartpole.clone(),
            &START,
            &[0.0; 4],
            self.disturbance,
            seed,
        )
    }

    fn run<M: OnlineModel>(
        &self,
        plant: Plant<Cartpole>,
        reference: &Reference,
        model: M,
        mut see: impl FnMut(&Seen),
    ) -> Result<(), ControlError> {
        let feedback = TipFeedback::adaptive(self.cartpole.clone());
        let controller =
            Controller::new(&self.cartpole, reference.clone(), feedback, model, WINDOW)?
                .with_compensation(Compensation::new(self.compensation)?);
        let mut run = AdaptiveLoop::new(plant, controller);
        while let Some(tick) = run.step()? {
            see(&Seen {
                step: tick.step,
                mass: tick.estimate.map(|e| e.values[0]),
                alarm: tick.detected,
                distance: tip_distance(&self.cartpole, &tick.state, &tick.reference),
            });
        }
        Ok(())
    }

    /// Tracking error of a formula that may look at the true masses.
    fn tracking(
        &self,
        mut plant: Plant<Cartpole>,
        reference: &Reference,
        formula: impl Fn(&[f64], &[f64]) -> f64,
    ) -> Result<f64, ControlError> {
        let feedback = TipFeedback::adaptive(self.cartpole.clone());
        let mut distance = 0.0;
        for k in 0..reference.len() {
            let predicted = formula(plant.parameters(), &reference.features(&self.cartpole, k));
            let correction = feedback.input(k, plant.state(), &reference.states[k]);
            let state = plant.apply(predicted + correction)?;
            distance += tip_distance(&self.cartpole, state, &reference.states[k + 1]);
        }
        Ok(distance)
    }
}

/// What a trial looks at in a step.
struct Seen {
    step: usize,
    mass: Option<f64>,
    alarm: bool,
    distance: f64,
}

/// Collects the figures of a run.
struct Watch {
    change: usize,
    mass: f64,
    /// First step from which the estimate has been within 5 % and 10 %.
    outside_5: usize,
    outside_10: usize,
    noticed: Option<usize>,
    false_alarms: usize,
    quiet_steps: usize,
    distance: f64,
}

impl Watch {
    fn new(change: usize, mass: f64) -> Self {
        Self {
            change,
            mass,
            outside_5: change,
            outside_10: change,
            noticed: None,
            false_alarms: 0,
            quiet_steps: 0,
            distance: 0.0,
        }
    }

    fn see(&mut self, seen: &Seen) {
        self.distance += seen.distance;
        let quiet =
            seen.step < self.change || self.noticed.is_some_and(|step| seen.step > step + SETTLING);
        if quiet {
            self.quiet_steps += 1;
            self.false_alarms += usize::from(seen.alarm);
        } else if seen.alarm && self.noticed.is_none() {
            self.noticed = Some(seen.step);
        }
        if seen.step >= self.change {
            let error = seen
                .mass
                .map_or(f64::INFINITY, |m| (m / self.mass - 1.0).abs());
            for (outside, tolerance) in [(&mut self.outside_5, 0.05), (&mut self.outside_10, 0.1)] {
                if error > tolerance || error.is_nan() {
                    *outside = seen.step + 1;
                }
            }
        }
    }

    fn settled(&self, outside: usize, steps: usize) -> Option<usize> {
        (outside < steps).then(|| outside - self.change + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identification::{
        change::CusumSettings,
        model::KnownFeatures,
        online::{Estimate, OnlineLeastSquares, Readout},
        recursive::RecursiveSettings,
    };

    fn known(
        forgetting: f64,
        change: Option<CusumSettings>,
    ) -> Result<OnlineLeastSquares<KnownFeatures<Cartpole>>, ControlError> {
        let settings = RecursiveSettings {
            forgetting,
            noise: 0.05,
            spread: vec![3.0; 2],
            drift: None,
        };
        let model = KnownFeatures::new(Cartpole::default());
        Ok(OnlineLeastSquares::new(
            model,
            &[1.0, 0.2],
            settings,
            change,
            Readout::Direct,
        )?)
    }

    fn report(forgetting: f64, change: Option<CusumSettings>) -> AdaptiveReport {
        let setting = AdaptiveTrials::default();
        adaptive_trials(&setting, 20, 0, || known(forgetting, change)).unwrap()
    }

    #[test]
    fn a_doubled_cart_mass_is_identified_without_being_told_when() {
        let report = report(0.999, Some(CusumSettings::EXACT));
        assert!(report.detection_delay.max.unwrap() <= 5.0, "{report:?}");
        assert!(
            report.steps_within_5pct.median.unwrap() <= 69.0,
            "{report:?}"
        );
        assert!(report.false_alarms_per_10k <= 1.0, "{report:?}");
        assert!(
            report.tracking_error < 1.5 * report.tracking_error_oracle,
            "{report:?}"
        );
    }

    #[test]
    fn algorithm_2_as_printed_never_gets_there_and_forgetting_alone_is_slow() {
        let printed = report(1.0, None);
        assert_eq!(printed.steps_within_5pct.median, None);
        assert_eq!(printed.detection_delay.max, None);
        let forgetting = report(0.99, None);
        assert!(
            forgetting.steps_within_5pct.median.unwrap() > 200.0,
            "{forgetting:?}"
        );
    }

    #[test]
    fn a_factor_that_leaves_no_mass_is_refused_with_the_value() {
        for factor in [0.0, -1.0] {
            let setting = AdaptiveTrials {
                factor,
                ..AdaptiveTrials::default()
            };
            let error = adaptive_trials(&setting, 1, 0, || known(1.0, None)).unwrap_err();
            let value = factor * START[0];
            assert!(
                error.to_string().ends_with(&format!("but is {value}")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_model_that_identifies_nothing_is_never_within_reach() {
        struct Silent;
        impl OnlineModel for Silent {
            fn observe(&mut self, _: &[f64], _: f64) -> bool {
                false
            }
            fn predict(&mut self, _: &[f64]) -> f64 {
                0.0
            }
            fn identify(&self) -> Option<Estimate> {
                None
            }
        }
        let report = adaptive_trials(&AdaptiveTrials::default(), 1, 0, || Ok(Silent)).unwrap();
        assert_eq!(report.steps_within_10pct.max, None);
        let json = serde_json::to_value(&report).unwrap();
        assert!(json["detection_delay"]["median"].is_null());
    }
}
