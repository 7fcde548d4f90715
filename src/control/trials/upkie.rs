//! Upkie shuttles to and fro at 200 Hz; its torso becomes heavier on the way.

use super::{
    AdaptiveTrial, Compared, Totals, Trials, Wheels, both, change_step, check_change,
    watch::{Seen, Watch},
};
use crate::{
    control::{
        balance::UpkieLoop,
        controllers::{Fixed, WINDOW},
        error::{ControlError, check_length},
        oracle::Oracle,
        plant::Change,
        upkie_adaptive::AdaptiveUpkie,
    },
    identification::{
        budget::Budgeted,
        online::{Estimate, OnlineModel},
    },
    random,
    systems::{System as _, upkie::Upkie},
};
use rand::RngExt as _;

/// Ticks between which the change happens, one way of the shuttle.
const CHANGE_TICKS: (usize, usize) = (400, 900);
/// Last tick at which a change may be asked for, 50 s.
const LATEST_CHANGE: usize = 10_000;
/// Stream of the lean at the start in a trial's seed.
const LEAN_STREAM: u64 = 0x1ea7;
/// Largest lean at the start [rad].
const LARGEST_LEAN: f64 = 0.02;

/// What is done in every trial.
#[derive(Clone, Debug, PartialEq)]
pub struct UpkieTrials {
    /// The robot.
    pub robot: Upkie,
    /// Torso mass before the change [kg] (default 1).
    pub start: f64,
    /// Factor on the torso's mass, above 0 (default 4).
    pub factor: f64,
    /// Tick of the change; `None` draws one for every trial.
    pub change_tick: Option<usize>,
    /// Ticks after the change (default 600, 3 s).
    pub after: usize,
}

impl Default for UpkieTrials {
    fn default() -> Self {
        Self {
            robot: Upkie::default(),
            start: 1.0,
            factor: 4.0,
            change_tick: None,
            after: 600,
        }
    }
}

impl Trials for UpkieTrials {
    fn check(&self) -> Result<(), ControlError> {
        self.robot.check(&[self.start])?;
        self.robot.check(&[self.factor * self.start])?;
        check_change(self.change_tick, (1, LATEST_CHANGE))?;
        let first = self.change_tick.unwrap_or(CHANGE_TICKS.0);
        check_length(first.saturating_add(self.after), WINDOW)
    }

    /// One trial, a run without any change for its false alarms, and what it is compared with.
    fn trial<M: OnlineModel + Clone>(
        &self,
        seed: u64,
        model: &mut dyn FnMut() -> Result<Budgeted<M>, ControlError>,
    ) -> Result<AdaptiveTrial, ControlError> {
        let change = self.change(seed);
        let mut watch = Watch::new(change.step, change.value);
        let run = ControlError::survived(self.run(seed, change, model()?, &mut watch))?;
        let (punctuality, own) = run
            .map(|(model, totals)| (model.punctuality().clone(), totals))
            .unzip();
        let mut quiet = Watch::new(usize::MAX, self.start);
        let calm = seed.wrapping_add(1 << 32);
        let never = Change {
            step: usize::MAX,
            ..change
        };
        let calm = self.run(calm, never, model()?, &mut quiet);
        let punctuality = both(punctuality, ControlError::survived(calm)?);
        let oracle = Oracle::new(self.robot.clone(), &[self.start], change);
        let wheels = Wheels {
            own: own.unwrap_or(Totals::FAILED),
            oracle: self.compare(seed, change, oracle)?,
            plain: self.compare(seed, change, Fixed(|_: &[f64]| 0.0))?,
            repeated: self.compare(seed, change, LastTorque::default())?,
        };
        let compared = Compared {
            oracle: wheels.oracle.position,
            ..Compared::default()
        };
        Ok(AdaptiveTrial {
            wheels: Some(wheels),
            ..AdaptiveTrial::of(&watch, &quiet, punctuality, compared)
        })
    }
}

impl UpkieTrials {
    /// The change of a trial.
    fn change(&self, seed: u64) -> Change {
        Change {
            step: change_step(self.change_tick, CHANGE_TICKS, seed),
            parameter: 0,
            value: self.factor * self.start,
        }
    }

    /// One run, the model after it and the total errors.
    fn run<M: OnlineModel + Clone>(
        &self,
        seed: u64,
        change: Change,
        model: M,
        watch: &mut Watch,
    ) -> Result<(M, Totals), ControlError> {
        let lean = random::generator(seed, LEAN_STREAM).random_range(-LARGEST_LEAN..=LARGEST_LEAN);
        let plant = UpkieLoop::settled(self.robot.clone(), self.start, lean)?;
        let mut run = AdaptiveUpkie::new(plant, model);
        let ticks = change.step.min(self.change_tick.unwrap_or(CHANGE_TICKS.1)) + self.after;
        let mut totals = Totals::default();
        for step in 0..ticks {
            if step == change.step {
                run.change_mass(change.value)?;
            }
            let tick = run.step()?;
            let estimate = tick.estimate.as_ref();
            let error = (tick.state[0] - tick.target).abs();
            watch.see(&Seen {
                step,
                mass: estimate.and_then(|e| e.values.first().copied()),
                standard_error: estimate.and_then(|e| e.standard_errors.first().copied()),
                alarm: tick.detected,
                error,
            });
            totals.position += error;
            totals.speed += tick.lag.abs();
            totals.prediction += (tick.predicted - tick.torque).abs();
        }
        Ok((run.model().clone(), totals))
    }

    /// Total errors of another model in the same run.
    fn compare<M: OnlineModel + Clone>(
        &self,
        seed: u64,
        change: Change,
        model: M,
    ) -> Result<Totals, ControlError> {
        let mut watch = Watch::new(change.step, change.value);
        let run = ControlError::survived(self.run(seed, change, model, &mut watch))?;
        Ok(run.map_or(Totals::FAILED, |(_, totals)| totals))
    }
}

/// What any model must beat: the torque of the coming tick is taken to be that of the last one.
#[derive(Clone, Default)]
struct LastTorque(f64);

impl OnlineModel for LastTorque {
    fn observe(&mut self, _features: &[f64], input: f64) -> bool {
        self.0 = input;
        false
    }

    fn predict(&mut self, _features: &[f64]) -> f64 {
        self.0
    }

    fn identify(&self) -> Option<Estimate> {
        None
    }
}
