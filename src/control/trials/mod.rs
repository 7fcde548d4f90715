//! Figures of merit of adaptive control: a mass changes, nobody says when.

use std::time::Duration;

use super::error::ControlError;
use crate::{
    identification::{
        budget::{Budget, Budgeted},
        online::OnlineModel,
        trials::check_trials,
    },
    random,
};
use rand::RngExt as _;

mod cartpole;
mod report;
mod upkie;
mod watch;

pub use cartpole::AdaptiveTrials;
pub use report::{AdaptiveReport, AdaptiveTrial, Compared, Steps, Totals, Wheels};
pub use upkie::UpkieTrials;

/// Stream of the change's time in a trial's seed.
const CHANGE_STREAM: u64 = 0xc4a9;
/// Time of a tick of Upkie: 200 Hz.
pub const BUDGET: Duration = Duration::from_millis(5);

/// What can be tried with a model that adapts.
pub trait Trials {
    /// Refuses what no trial could do, before anything is trained or run.
    fn check(&self) -> Result<(), ControlError>;

    /// One trial; `model` gives fresh models. If the run with the change or the one without diverges or
    /// falls, the trial has failed.
    fn trial<M: OnlineModel + Clone>(
        &self,
        seed: u64,
        model: &mut dyn FnMut() -> Result<Budgeted<M>, ControlError>,
    ) -> Result<AdaptiveTrial, ControlError>;
}

/// Runs `trials` trials; `model` gives a fresh model for each, which has `budget` for a tick.
///
/// `model` is called without any argument: what a trial changes and when is no part of what a model is made from.
pub fn adaptive_trials<M: OnlineModel + Clone>(
    setting: &impl Trials,
    trials: usize,
    seed: u64,
    budget: impl Into<Budget>,
    mut model: impl FnMut() -> Result<M, ControlError>,
) -> Result<AdaptiveReport, ControlError> {
    setting.check()?;
    check_trials(trials)?;
    let budget = budget.into();
    let mut fresh = || Ok(Budgeted::new(model()?, budget));
    let mut all = Vec::with_capacity(trials);
    for trial in 0..trials as u64 {
        all.push(setting.trial(seed.wrapping_add(trial), &mut fresh)?);
    }
    Ok(AdaptiveReport::of(&all, budget.tick.as_secs_f64()))
}

/// What the run with the change gave, unless either run failed: one that fails without any change is
/// no better.
fn both<A, B>(changing: Option<A>, quiet: Option<B>) -> Option<A> {
    changing.zip(quiet).map(|(changing, _)| changing)
}

/// Refuses a step of change outside `first..=last`.
fn check_change(given: Option<usize>, (first, last): (usize, usize)) -> Result<(), ControlError> {
    match given.filter(|step| !(first..=last).contains(step)) {
        None => Ok(()),
        Some(step) => Err(ControlError::Setting {
            name: "the step of the change",
            value: step as f64,
            allowed: format!("between {first} and {last}"),
        }),
    }
}

/// The step of a trial's change: the given one, or one drawn from the seed.
fn change_step(given: Option<usize>, (first, end): (usize, usize), seed: u64) -> usize {
    given.unwrap_or_else(|| random::generator(seed, CHANGE_STREAM).random_range(first..end))
}

#[cfg(test)]
mod shipped_tests;
#[cfg(test)]
mod tests;
