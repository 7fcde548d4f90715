//! The cartpole follows a reference while the mass of its cart changes.

use super::{
    OnlinePoint, OnlineSpec,
    driver::{Chosen, Driver},
    simulation::{Simulation, change, point, timed},
};
use crate::{
    control::{
        adaptive::AdaptiveLoop,
        cartpole_adaptive::CartpoleStart,
        controllers::Textbook as _,
        error::ControlError,
        oracle::Oracle,
        recovery::Recovery,
        reference::{DISTURBANCE, Reference, START_MASSES},
        tracking::tip_distance,
    },
    identification::{
        budget::Punctuality,
        excitation::{ExcitationLimits, exciting_input},
        identifier::Identifier,
        learned::LearnedModel,
        online::OnlineModel,
    },
    systems::cartpole::Cartpole,
};

/// Inputs among which the most exciting one is chosen.
const CANDIDATES: usize = 16;

/// With any model, so that it is compiled once.
type CartpoleLoop = AdaptiveLoop<Cartpole, Recovery, Box<dyn OnlineModel>>;

/// The run, and the same under an oracle.
pub(super) struct CartpoleRun {
    run: CartpoleLoop,
    /// The oracle's, until it fails.
    oracle: Option<CartpoleLoop>,
    length: usize,
    seconds: f64,
}

impl CartpoleRun {
    pub fn new(spec: &OnlineSpec, chosen: &Chosen) -> Result<Self, ControlError> {
        let robot = Cartpole::default();
        let (driver, reference) = driver(chosen, &robot)?;
        let length = reference.len();
        let start = CartpoleStart::new(&robot, reference, DISTURBANCE, spec.seed)?;
        let model: Box<dyn OnlineModel> = Box::new(chosen.budgeted(driver, &robot));
        let controller = start.controller(model)?;
        let change = change(spec, &robot, START_MASSES[0]);
        let mut plant = start.plant(spec.seed)?;
        plant.schedule(change)?;
        let oracle: Box<dyn OnlineModel> = Box::new(Oracle::new(robot, &START_MASSES, change));
        let oracle = start.controller(oracle)?;
        Ok(Self {
            run: AdaptiveLoop::new(plant.clone(), controller),
            oracle: Some(AdaptiveLoop::new(plant, oracle)),
            length,
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
fn driver(chosen: &Chosen, robot: &Cartpole) -> Result<(Driver, Reference), ControlError> {
    let sine = Reference::cartpole_sine(robot)?;
    Ok(match chosen.method {
        "analytic" => (
            Driver::formula(|x| Cartpole::default().frictionless(&START_MASSES, x)),
            sine,
        ),
        "camel" => {
            let identifier = chosen.identifier(robot)?;
            let online = identifier.online(DISTURBANCE)?;
            let reference = match chosen.exciting {
                true => exciting(robot, &sine, &identifier)?,
                false => sine,
            };
            (Driver::Camel(Box::new(online)), reference)
        }
        _ => (chosen.windowed(robot)?, sine),
    })
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
