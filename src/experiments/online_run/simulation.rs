//! Either robot under control, with any model that keeps to a time budget, and beside it the same robot
//! under an oracle.

use std::sync::Arc;

use web_time::Instant;

use super::{
    OnlinePoint, OnlineSpec, cartpole_run::CartpoleRun, driver::Chosen, upkie_run::UpkieRun,
};
use crate::{
    control::{error::ControlError, plant::Change},
    identification::{
        budget::{Punctuality, Stopwatch},
        online::Estimate,
    },
    learners::Model,
    systems::Robot,
};

/// A run, step by step.
pub(super) trait Simulation {
    /// One step, and whether a change was noticed in it; `None` at the end.
    fn step(&mut self) -> Result<Option<(OnlinePoint, bool)>, ControlError>;

    /// How the model has kept its budget.
    fn punctuality(&self) -> &Punctuality;

    /// Time that all steps took so far, of the robot and its controller but not of the oracle [s].
    fn seconds(&self) -> f64;

    /// Time between two steps [s].
    fn time_step(&self) -> f64;

    /// Steps in all.
    fn length(&self) -> usize;
}

/// The time of a step, added to that of the steps before [s].
pub(super) fn timed<T>(seconds: &mut f64, step: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = step();
    *seconds += begun.elapsed().as_secs_f64();
    done
}

/// The run that is asked for. `model` is the trained one, for methods that need it; `stopwatch` says how
/// long its adaptations take. What is prepared for it is kept, so that a run begins anew at once.
pub(super) fn simulation(
    spec: &OnlineSpec,
    model: Option<&Arc<Model>>,
    stopwatch: Stopwatch,
) -> Result<Box<dyn Simulation>, ControlError> {
    let chosen = Chosen {
        method: &spec.method,
        exciting: spec.exciting,
        model,
        stopwatch,
    };
    Ok(match spec.system.as_str() {
        "cartpole" => Box::new(CartpoleRun::new(spec, &chosen)?),
        _ => Box::new(UpkieRun::new(spec, &chosen)?),
    })
}

/// What happens to a mass that is `start` at first [kg].
pub(super) fn change(spec: &OnlineSpec, robot: &dyn Robot, start: f64) -> Change {
    Change {
        step: (spec.time / robot.time_step()).round() as usize,
        parameter: 0,
        value: spec.factor * start,
    }
}

/// What a step gave: the error of the model's run and that of the oracle's, if it still goes on.
pub(super) fn point(
    time: f64,
    truth: f64,
    estimate: Option<Estimate>,
    (error, oracle): (f64, Option<f64>),
) -> OnlinePoint {
    let Estimate {
        values,
        standard_errors,
    } = estimate.unwrap_or_default();
    let first = |list: Vec<f64>| list.first().copied().filter(|value| value.is_finite());
    OnlinePoint {
        time,
        truth,
        estimate: first(values),
        standard_error: first(standard_errors),
        error,
        oracle,
        missed: 0,
    }
}
