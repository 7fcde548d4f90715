//! One cartpole of the demonstration, with the model that drives it.

use std::{f64::consts::PI, fmt};

use serde::{Deserialize, Serialize};

use super::MASSES;
use crate::{
    control::{
        adaptive::{AdaptiveLoop, Controller, Tick},
        controllers::WINDOW,
        error::ControlError,
        feedback::TrajectoryFeedback,
        plant::Plant,
        reference::{DISTURBANCE, wrapped},
        sway::{Show, UPRIGHT_FROM},
        tracking::tip_distance,
    },
    identification::online::OnlineModel,
    systems::cartpole::Cartpole,
};

/// An upright pole that leans further than this has fallen [rad].
const LARGEST_LEAN: f64 = 1.2;
/// A cart further from its reference than this has run away [m].
const FARTHEST: f64 = 3.0;
/// Steps for which a fallen pole is left alone before it is put back, 2 s.
const LYING: usize = 100;

/// One step of a lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaneTick {
    /// What the reference asks for.
    pub reference: Vec<f64>,
    /// State of the cartpole.
    pub state: Vec<f64>,
    /// Distance of the pole's tip to the reference's [m].
    pub off: f64,
    /// Whether the pole lies; its motor is off until it is put back to the start.
    pub fallen: bool,
    /// How often it fell.
    pub falls: usize,
    /// Identified cart mass [kg], if the model identifies.
    pub identified: Option<f64>,
    /// Standard error of the identified mass [kg], if the model has one.
    pub standard_error: Option<f64>,
    /// Whether the model noticed a change in this step.
    pub noticed: bool,
}

/// A cartpole and its controller.
pub(super) struct Lane {
    run: AdaptiveLoop<Cartpole, TrajectoryFeedback, Box<dyn OnlineModel>>,
    /// Steps until it is put back; none while it stands.
    lying: Option<usize>,
    falls: usize,
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lying, falls, .. } = self;
        write!(f, "Lane {{ lying: {lying:?}, falls: {falls} }}")
    }
}

impl Lane {
    /// At the start of the show, under a disturbance of this seed.
    pub fn new(
        show: &Show,
        feedback: TrajectoryFeedback,
        model: Box<dyn OnlineModel>,
        seed: u64,
    ) -> Result<Self, ControlError> {
        let cartpole = Cartpole::default();
        let reference = show.reference.clone();
        let start = &reference.states[0];
        let plant = Plant::new(cartpole.clone(), &MASSES, start, DISTURBANCE, seed)?;
        let controller = Controller::new(&cartpole, reference, feedback, model, WINDOW)?
            .repeating(show.repeats)?;
        Ok(Self {
            run: AdaptiveLoop::new(plant, controller),
            lying: None,
            falls: 0,
        })
    }

    pub fn cart_mass(&self) -> f64 {
        self.run.plant().parameters()[0]
    }

    pub fn set_cart_mass(&mut self, mass: f64) -> Result<(), ControlError> {
        self.run.plant_mut().change(0, mass)
    }

    /// One control step, or one of lying.
    pub fn step(&mut self) -> Result<LaneTick, ControlError> {
        match self.lying {
            Some(0) => {
                self.lying = None;
                self.run.restart()?;
            }
            Some(left) => {
                self.lying = Some(left - 1);
                self.run.plant_mut().apply(0.0)?;
                return Ok(self.seen(None));
            }
            None => {}
        }
        let tick = match self.run.step() {
            Err(ControlError::Diverged { .. }) => None,
            other => other?,
        };
        if tick.is_none() || self.has_fallen() {
            self.falls += 1;
            self.lying = Some(LYING);
        }
        Ok(self.seen(tick))
    }

    fn has_fallen(&self) -> bool {
        let (state, controller) = (self.run.plant().state(), self.run.controller());
        let leans = wrapped(state[2] - PI).abs() > LARGEST_LEAN;
        let away = (state[0] - controller.target()[0]).abs() > FARTHEST;
        away || (leans && controller.step() > UPRIGHT_FROM)
    }

    fn seen(&self, tick: Option<Tick>) -> LaneTick {
        let (plant, controller) = (self.run.plant(), self.run.controller());
        let (state, reference) = (plant.state().to_vec(), controller.target().to_vec());
        let estimate = controller.estimate();
        let first = |list: &Vec<f64>| list.first().copied().filter(|value| value.is_finite());
        LaneTick {
            off: tip_distance(plant.robot(), &state, &reference),
            reference,
            state,
            fallen: self.lying.is_some(),
            falls: self.falls,
            identified: estimate.and_then(|e| first(&e.values)),
            standard_error: estimate.and_then(|e| first(&e.standard_errors)),
            noticed: tick.is_some_and(|tick| tick.detected),
        }
    }
}
