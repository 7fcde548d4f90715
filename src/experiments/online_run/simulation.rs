//! Either robot under control, with any model that keeps to a time budget.

use std::{sync::Arc, time::Duration};

use super::{OnlinePoint, OnlineSpec};
use crate::{
    control::{
        adaptive::{AdaptiveLoop, Controller},
        balance::UpkieLoop,
        controllers::{Fixed, Textbook as _, WINDOW},
        error::ControlError,
        plant::Plant,
        recovery::Recovery,
        reference::Reference,
        shots::Shots,
        tracking::tip_distance,
        upkie_adaptive::AdaptiveUpkie,
    },
    experiments::identifiers,
    identification::{
        budget::{Budgeted, Punctuality},
        design::Design,
        excitation::{ExcitationLimits, exciting_input},
        model::KnownFeatures,
        online::{Estimate, OnlineModel},
        window::WindowAdaptation,
    },
    learners::Model,
    systems::{Robot, System as _, cartpole::Cartpole, upkie::Upkie},
};

/// Cart and pole before the change [kg].
const MASSES: [f64; 2] = [1.5, 0.3];
/// Torso before the change [kg].
const TORSO: f64 = 1.0;
/// Random force on the cart [N].
const DISTURBANCE: f64 = 0.05;
/// Inputs among which the most exciting one is chosen.
const CANDIDATES: usize = 16;
/// Ticks of Upkie's run, 10 s.
const UPKIE_TICKS: usize = 2_000;

/// A run, step by step.
pub(super) trait Simulation {
    /// One step, and whether a change was noticed in it; `None` at the end.
    fn step(&mut self) -> Result<Option<(OnlinePoint, bool)>, ControlError>;

    /// How the model has kept its budget.
    fn punctuality(&self) -> &Punctuality;

    /// Time between two steps [s].
    fn time_step(&self) -> f64;

    /// Steps in all.
    fn length(&self) -> usize;
}

/// The run that is asked for. `model` is the trained one, for methods that need it. What is prepared for
/// it is kept, so that a run begins anew at once.
pub(super) fn simulation(
    spec: &OnlineSpec,
    model: Option<&Arc<Model>>,
) -> Result<Box<dyn Simulation>, ControlError> {
    match (model, spec.system.as_str()) {
        (None, "cartpole") => {
            let robot = Cartpole::default();
            let formula = move |x: &[f64]| robot.frictionless(&MASSES, x);
            cartpole(spec, Fixed(formula))
        }
        (None, _) => {
            let robot = Upkie::default();
            upkie(spec, Fixed(move |x: &[f64]| robot.inverse(&[TORSO], x)))
        }
        (Some(model), "cartpole") if spec.method == "camel" => {
            let identifier = identifiers::of_model(model, &Cartpole::default(), 0)?;
            cartpole(spec, identifier.online(DISTURBANCE)?)
        }
        (Some(model), _) if spec.method == "camel" => {
            let identifier = identifiers::of_model(model, &Upkie::default(), 0)?;
            upkie(spec, identifier.online(0.0)?)
        }
        (Some(model), "cartpole") => {
            cartpole(spec, WindowAdaptation::new(model.clone(), WINDOW, 1)?)
        }
        (Some(model), _) => upkie(spec, WindowAdaptation::new(model.clone(), WINDOW, 1)?),
    }
}

fn cartpole<M: OnlineModel + Clone + 'static>(
    spec: &OnlineSpec,
    model: M,
) -> Result<Box<dyn Simulation>, ControlError> {
    let robot = Cartpole::default();
    let sine = Reference::cartpole_sine(&robot)?;
    let reference = match spec.exciting {
        true => exciting(&robot, &sine)?,
        false => sine,
    };
    let change = (spec.time / robot.time_step).round() as usize;
    let mut plant = Plant::new(robot.clone(), &MASSES, &[0.0; 4], DISTURBANCE, spec.seed)?;
    plant.schedule(change, 0, spec.factor * MASSES[0])?;
    let shots = Shots::of(&robot, &MASSES, WINDOW, DISTURBANCE, spec.seed)?;
    let mut model = budgeted(model, &robot);
    model.warm_up(&shots.inputs, &shots.targets);
    let feedback = Recovery::cartpole(&robot, &reference);
    let length = reference.len();
    let controller = Controller::new(&robot, reference, feedback, model, WINDOW)?;
    let run = AdaptiveLoop::new(plant, controller);
    Ok(Box::new(CartpoleRun { run, length }))
}

/// What the cart does under the most telling of some inputs that are neither stronger nor longer than
/// the sine and take the cart no farther. It is chosen for the formula, so that every method follows the same.
fn exciting(robot: &Cartpole, sine: &Reference) -> Result<Reference, ControlError> {
    let travel = sine.states.iter().map(|state| state[0].abs());
    let limits = ExcitationLimits {
        travel: travel.fold(0.0, f64::max),
        ..ExcitationLimits::cartpole(sine.len())
    };
    let found = exciting_input(
        robot,
        &MASSES,
        &[0.0; 4],
        &limits,
        &mut KnownFeatures::new(robot.clone()),
        &Design::new(&MASSES, DISTURBANCE)?,
        (CANDIDATES, 0),
    )?;
    let inputs = found.map_or_else(|| sine.inputs.clone(), |found| found.inputs);
    Ok(Reference::open_loop(robot, &MASSES, &[0.0; 4], inputs)?)
}

fn upkie<M: OnlineModel + Clone + 'static>(
    spec: &OnlineSpec,
    model: M,
) -> Result<Box<dyn Simulation>, ControlError> {
    let robot = Upkie::default();
    let mass = spec.factor * TORSO;
    robot.check(&[mass])?;
    let plant = UpkieLoop::settled(robot.clone(), TORSO, 0.0)?;
    Ok(Box::new(UpkieRun {
        begun: plant.ticks(),
        run: AdaptiveUpkie::new(plant, budgeted(model, &robot)),
        change: (spec.time / robot.time_step()).round() as usize,
        mass,
    }))
}

/// A model that has a robot's tick for each adaptation.
fn budgeted<M: OnlineModel + Clone>(model: M, robot: &dyn Robot) -> Budgeted<M> {
    Budgeted::new(model, Duration::from_secs_f64(robot.time_step()))
}

struct CartpoleRun<M> {
    run: AdaptiveLoop<Cartpole, Recovery, Budgeted<M>>,
    length: usize,
}

impl<M: OnlineModel + Clone> Simulation for CartpoleRun<M> {
    fn step(&mut self) -> Result<Option<(OnlinePoint, bool)>, ControlError> {
        let Some(tick) = self.run.step()? else {
            return Ok(None);
        };
        let robot = self.run.plant().robot();
        let error = tip_distance(robot, &tick.state, &tick.reference);
        let time = tick.step as f64 * robot.time_step;
        let point = point(time, tick.truth[0], tick.estimate, error);
        Ok(Some((point, tick.detected)))
    }

    fn punctuality(&self) -> &Punctuality {
        self.run.controller().model().punctuality()
    }

    fn time_step(&self) -> f64 {
        self.run.plant().robot().time_step
    }

    fn length(&self) -> usize {
        self.length
    }
}

struct UpkieRun<M> {
    run: AdaptiveUpkie<Budgeted<M>>,
    /// Ticks of the plant before the run.
    begun: usize,
    change: usize,
    mass: f64,
}

impl<M: OnlineModel + Clone> Simulation for UpkieRun<M> {
    fn step(&mut self) -> Result<Option<(OnlinePoint, bool)>, ControlError> {
        let step = self.run.plant().ticks() - self.begun;
        if step == UPKIE_TICKS {
            return Ok(None);
        }
        if step == self.change {
            self.run.change_mass(self.mass)?;
        }
        let tick = self.run.step()?;
        let error = (tick.predicted - tick.torque).abs();
        let point = point(
            step as f64 * self.time_step(),
            tick.truth,
            tick.estimate,
            error,
        );
        Ok(Some((point, tick.detected)))
    }

    fn punctuality(&self) -> &Punctuality {
        self.run.model().punctuality()
    }

    fn time_step(&self) -> f64 {
        self.run.plant().robot().time_step()
    }

    fn length(&self) -> usize {
        UPKIE_TICKS
    }
}

fn point(time: f64, truth: f64, estimate: Option<Estimate>, error: f64) -> OnlinePoint {
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
    }
}
