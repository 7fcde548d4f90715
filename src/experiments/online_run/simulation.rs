//! Either robot under control, with any model that keeps to a time budget, and beside it the same robot
//! under an oracle.

use std::{sync::Arc, time::Duration};

use web_time::Instant;

use super::{
    OnlinePoint, OnlineSpec, cartpole_run::CartpoleRun, driver::Driver, upkie_run::UpkieRun,
};
use crate::{
    control::{
        controllers::{WINDOW, trained},
        error::ControlError,
    },
    identification::{
        budget::{Budgeted, Punctuality},
        online::Estimate,
        window::WindowAdaptation,
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

/// The run that is asked for. `model` is the trained one, for methods that need it. What is prepared for
/// it is kept, so that a run begins anew at once.
pub(super) fn simulation(
    spec: &OnlineSpec,
    model: Option<&Arc<Model>>,
) -> Result<Box<dyn Simulation>, ControlError> {
    Ok(match spec.system.as_str() {
        "cartpole" => Box::new(CartpoleRun::new(spec, model)?),
        _ => Box::new(UpkieRun::new(spec, model)?),
    })
}

/// Step of the change.
pub(super) fn change_step(spec: &OnlineSpec, robot: &dyn Robot) -> usize {
    (spec.time / robot.time_step()).round() as usize
}

/// A model that has a robot's tick for each adaptation.
pub(super) fn budgeted(model: Driver, robot: &dyn Robot) -> Budgeted<Driver> {
    Budgeted::new(model, Duration::from_secs_f64(robot.time_step()))
}

/// A method that adapts to the last observations.
pub(super) fn windowed(
    model: Option<&Arc<Model>>,
    method: &str,
    robot: &dyn Robot,
) -> Result<Driver, ControlError> {
    let model = trained(model, method, robot)?;
    let windowed = WindowAdaptation::new(model.clone(), WINDOW, 1)?;
    Ok(Driver::Window(Box::new(windowed)))
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
