//! Upkie shuttles to and fro at 200 Hz; its torso becomes heavier on the way.

use super::{
    AdaptiveTrial, Compared, Trials, change_step, check_change,
    watch::{Seen, Watch},
};
use crate::{
    control::{balance::UpkieLoop, error::ControlError, upkie_adaptive::UpkieIdentification},
    identification::{
        budget::{Budgeted, Punctuality},
        online::OnlineModel,
    },
    random,
    systems::{Robot as _, System as _, upkie::Upkie},
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
        check_change(self.change_tick, (1, LATEST_CHANGE))
    }

    /// One trial, and a run without any change for its false alarms.
    fn trial<M: OnlineModel + Clone>(
        &self,
        seed: u64,
        model: &mut dyn FnMut() -> Result<Budgeted<M>, ControlError>,
    ) -> Result<AdaptiveTrial, ControlError> {
        let change = change_step(self.change_tick, CHANGE_TICKS, seed);
        let heavy = self.factor * self.start;
        let mut watch = Watch::new(change, heavy);
        let run = ControlError::survived(self.run(seed, change, model()?, &mut watch))?;
        let (punctuality, oracle) = run.unzip();
        let mut quiet = Watch::new(usize::MAX, self.start);
        let calm = seed.wrapping_add(1 << 32);
        ControlError::survived(self.run(calm, usize::MAX, model()?, &mut quiet))?;
        let compared = Compared {
            oracle: oracle.unwrap_or(f64::INFINITY),
            ..Compared::default()
        };
        Ok(AdaptiveTrial::of(&watch, &quiet, punctuality, compared))
    }
}

impl UpkieTrials {
    /// One run; also the total prediction error of the formula with the true mass.
    fn run<M: OnlineModel + Clone>(
        &self,
        seed: u64,
        change: usize,
        model: Budgeted<M>,
        watch: &mut Watch,
    ) -> Result<(Punctuality, f64), ControlError> {
        let lean = random::generator(seed, LEAN_STREAM).random_range(-LARGEST_LEAN..=LARGEST_LEAN);
        let plant = UpkieLoop::settled(self.robot.clone(), self.start, lean)?;
        let mut run = UpkieIdentification::new(plant, model);
        let ticks = change.min(self.change_tick.unwrap_or(CHANGE_TICKS.1)) + self.after;
        let mut oracle = 0.0;
        for step in 0..ticks {
            if step == change {
                run.change_mass(self.factor * self.start)?;
            }
            let tick = run.step()?;
            let estimate = tick.estimate.as_ref();
            watch.see(&Seen {
                step,
                mass: estimate.and_then(|e| e.values.first().copied()),
                standard_error: estimate.and_then(|e| e.standard_errors.first().copied()),
                alarm: tick.detected,
                error: (tick.predicted - tick.torque).abs(),
            });
            oracle += (self.robot.inverse(&[tick.truth], &tick.features) - tick.torque).abs();
        }
        Ok((run.model().punctuality().clone(), oracle))
    }
}
