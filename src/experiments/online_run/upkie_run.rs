//! Upkie shuttles to and fro while the mass of its torso changes.

use std::sync::Arc;

use super::{
    OnlinePoint, OnlineSpec,
    driver::{Driver, Formula},
    simulation::{Simulation, budgeted, change_step, point, timed, windowed},
};
use crate::{
    control::{
        balance::{UpkieLoop, nominal_mass},
        controllers::trained,
        error::ControlError,
        upkie_adaptive::AdaptiveUpkie,
    },
    experiments::identifiers,
    identification::budget::{Budgeted, Punctuality},
    learners::Model,
    systems::{Robot as _, System as _, upkie::Upkie},
};

/// Ticks of the run, 10 s.
const TICKS: usize = 2_000;

type UpkieUnderControl = AdaptiveUpkie<Budgeted<Driver>>;

/// The run, and the same under an oracle.
pub(super) struct UpkieRun {
    run: UpkieUnderControl,
    /// The oracle's, until it falls.
    oracle: Option<UpkieUnderControl>,
    /// Ticks of the plant before the run.
    begun: usize,
    change: usize,
    mass: f64,
    seconds: f64,
}

impl UpkieRun {
    pub fn new(spec: &OnlineSpec, model: Option<&Arc<Model>>) -> Result<Self, ControlError> {
        let robot = Upkie::default();
        let start = nominal_mass(&robot);
        let mass = spec.factor * start;
        robot.check(&[mass])?;
        let driver = upkie_driver(spec, model, &robot)?;
        let change = change_step(spec, &robot);
        let oracle = Formula::oracle(upkie_inverse, &[start], change, vec![mass]);
        let settled = UpkieLoop::settled(robot.clone(), start, 0.0)?;
        let under = |driver| AdaptiveUpkie::new(settled.clone(), budgeted(driver, &robot));
        Ok(Self {
            begun: settled.plant().ticks(),
            run: under(driver),
            oracle: Some(under(Driver::Formula(oracle))),
            change,
            mass,
            seconds: 0.0,
        })
    }

    /// The oracle's distance in its next tick [m].
    fn oracle_error(&mut self) -> Result<Option<f64>, ControlError> {
        let Some(oracle) = &mut self.oracle else {
            return Ok(None);
        };
        let tick = ControlError::survived(oracle.step())?;
        if tick.is_none() {
            self.oracle = None;
        }
        Ok(tick.map(|tick| (tick.state[0] - tick.target).abs()))
    }
}

/// The torque of locked legs.
fn upkie_inverse(masses: &[f64], features: &[f64]) -> f64 {
    Upkie::default().inverse(masses, features)
}

fn upkie_driver(
    spec: &OnlineSpec,
    model: Option<&Arc<Model>>,
    robot: &Upkie,
) -> Result<Driver, ControlError> {
    Ok(match spec.method.as_str() {
        "analytic" => Driver::Formula(Formula::textbook(upkie_inverse, &[nominal_mass(robot)])),
        "camel" => {
            let identifier = identifiers::of_model(trained(model, "camel", robot)?, robot, 0)?;
            Driver::Camel(Box::new(identifier.online(0.0)?))
        }
        method => windowed(model, method, robot)?,
    })
}

impl Simulation for UpkieRun {
    fn step(&mut self) -> Result<Option<(OnlinePoint, bool)>, ControlError> {
        let step = self.run.plant().ticks() - self.begun;
        if step == TICKS {
            return Ok(None);
        }
        if step == self.change {
            self.run.change_mass(self.mass)?;
            if let Some(oracle) = &mut self.oracle {
                oracle.change_mass(self.mass)?;
            }
        }
        let tick = timed(&mut self.seconds, || self.run.step())?;
        let error = (tick.state[0] - tick.target).abs();
        let oracle = self.oracle_error()?;
        let time = step as f64 * self.time_step();
        let point = point(time, tick.truth, tick.estimate, (error, oracle));
        Ok(Some((point, tick.detected)))
    }

    fn punctuality(&self) -> &Punctuality {
        self.run.model().punctuality()
    }

    fn seconds(&self) -> f64 {
        self.seconds - self.punctuality().repeated
    }

    fn time_step(&self) -> f64 {
        self.run.plant().robot().time_step()
    }

    fn length(&self) -> usize {
        TICKS
    }
}
