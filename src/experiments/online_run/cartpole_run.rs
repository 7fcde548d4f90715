//! The cartpole follows a reference while the mass of its cart changes.

use std::sync::Arc;

use super::{
    OnlinePoint, OnlineSpec,
    driver::{Driver, Formula},
    simulation::{Simulation, budgeted, change_step, point, timed, windowed},
};
use crate::{
    control::{
        adaptive::{AdaptiveLoop, Controller},
        controllers::{Textbook as _, WINDOW, trained},
        error::ControlError,
        plant::Plant,
        recovery::Recovery,
        reference::{DISTURBANCE, Reference, START_MASSES},
        shots::Shots,
        tracking::tip_distance,
    },
    experiments::identifiers,
    identification::{
        budget::{Budgeted, Punctuality},
        excitation::{ExcitationLimits, exciting_input},
        identifier::Identifier,
        learned::LearnedModel,
        online::OnlineModel as _,
    },
    learners::Model,
    systems::{Robot as _, cartpole::Cartpole},
};

/// Inputs among which the most exciting one is chosen.
const CANDIDATES: usize = 16;

type CartpoleLoop = AdaptiveLoop<Cartpole, Recovery, Budgeted<Driver>>;

/// The run, and the same under an oracle.
pub(super) struct CartpoleRun {
    run: CartpoleLoop,
    /// The oracle's, until it fails.
    oracle: Option<CartpoleLoop>,
    length: usize,
    seconds: f64,
}

impl CartpoleRun {
    pub fn new(spec: &OnlineSpec, model: Option<&Arc<Model>>) -> Result<Self, ControlError> {
        let robot = Cartpole::default();
        let sine = Reference::cartpole_sine(&robot)?;
        let (driver, reference) = cartpole_driver(spec, model, &robot, sine)?;
        let later = vec![spec.factor * START_MASSES[0], START_MASSES[1]];
        let inverse = |masses: &[f64], x: &[f64]| Cartpole::default().inverse(masses, x);
        let change = change_step(spec, &robot);
        let oracle = Driver::Formula(Formula::oracle(inverse, &START_MASSES, change, later));
        Ok(Self {
            run: cartpole_loop(spec, &reference, driver)?,
            oracle: Some(cartpole_loop(spec, &reference, oracle)?),
            length: reference.len(),
            seconds: 0.0,
        })
    }

    /// The oracle's distance in its next step [m].
    fn oracle_error(&mut self) -> Result<Option<f64>, ControlError> {
        let Some(oracle) = &mut self.oracle else {
            return Ok(None);
        };
        let tick = ControlError::survived(oracle.step())?.flatten();
        if tick.is_none() {
            self.oracle = None;
        }
        let robot = self.run.plant().robot();
        Ok(tick.map(|tick| tip_distance(robot, &tick.state, &tick.reference)))
    }
}

/// What predicts, and the reference that is followed.
fn cartpole_driver(
    spec: &OnlineSpec,
    model: Option<&Arc<Model>>,
    robot: &Cartpole,
    sine: Reference,
) -> Result<(Driver, Reference), ControlError> {
    match spec.method.as_str() {
        "analytic" => {
            let textbook = |masses: &[f64], x: &[f64]| Cartpole::default().frictionless(masses, x);
            let formula = Formula::textbook(textbook, &START_MASSES);
            Ok((Driver::Formula(formula), sine))
        }
        "camel" => {
            let model = trained(model, "camel", robot)?;
            let identifier = identifiers::of_model(model, robot, 0)?;
            let online = identifier.online(DISTURBANCE)?;
            let reference = match spec.exciting {
                true => exciting(robot, &sine, &identifier)?,
                false => sine,
            };
            Ok((Driver::Camel(Box::new(online)), reference))
        }
        method => Ok((windowed(model, method, robot)?, sine)),
    }
}

fn cartpole_loop(
    spec: &OnlineSpec,
    reference: &Reference,
    model: Driver,
) -> Result<CartpoleLoop, ControlError> {
    let robot = Cartpole::default();
    let start = [0.0; 4];
    let mut plant = Plant::new(robot.clone(), &START_MASSES, &start, DISTURBANCE, spec.seed)?;
    plant.schedule(change_step(spec, &robot), 0, spec.factor * START_MASSES[0])?;
    let shots = Shots::of(&robot, &START_MASSES, WINDOW, DISTURBANCE, spec.seed)?;
    let mut model = budgeted(model, &robot);
    model.warm_up(&shots.inputs, &shots.targets);
    let feedback = Recovery::cartpole(&robot, reference);
    let controller = Controller::new(&robot, reference.clone(), feedback, model, WINDOW)?;
    Ok(AdaptiveLoop::new(plant, controller))
}

/// What a cart of the prior's masses does under the most telling of some inputs that are neither stronger
/// nor longer than the sine and take the cart no farther. How telling they are the learned model says, by what
/// it believes before any shot; where they lead, the robot's equations with the prior's masses, not the true ones.
fn exciting(
    robot: &Cartpole,
    sine: &Reference,
    identifier: &Identifier<LearnedModel>,
) -> Result<Reference, ControlError> {
    let travel = sine.states.iter().map(|state| state[0].abs());
    let limits = ExcitationLimits {
        travel: travel.fold(0.0, f64::max),
        ..ExcitationLimits::cartpole(sine.len())
    };
    let nominal = &identifier.prior().centre;
    let found = exciting_input(
        robot,
        nominal,
        &[0.0; 4],
        &limits,
        &mut identifier.model().clone(),
        &identifier.design(DISTURBANCE)?,
        (CANDIDATES, 0),
    )?;
    let inputs = found.map_or_else(|| sine.inputs.clone(), |found| found.inputs);
    Ok(Reference::open_loop(robot, nominal, &[0.0; 4], inputs)?)
}

impl Simulation for CartpoleRun {
    fn step(&mut self) -> Result<Option<(OnlinePoint, bool)>, ControlError> {
        let Some(tick) = timed(&mut self.seconds, || self.run.step())? else {
            return Ok(None);
        };
        let oracle = self.oracle_error()?;
        let robot = self.run.plant().robot();
        let error = tip_distance(robot, &tick.state, &tick.reference);
        let time = tick.step as f64 * robot.time_step;
        let point = point(time, tick.truth[0], tick.estimate, (error, oracle));
        Ok(Some((point, tick.detected)))
    }

    fn punctuality(&self) -> &Punctuality {
        self.run.controller().model().punctuality()
    }

    fn seconds(&self) -> f64 {
        self.seconds - self.punctuality().repeated
    }

    fn time_step(&self) -> f64 {
        self.run.plant().robot().time_step
    }

    fn length(&self) -> usize {
        self.length
    }
}
