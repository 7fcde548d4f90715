//! Upkie shuttles to and fro while the mass of its torso changes.

use super::{
    OnlinePoint, OnlineSpec,
    driver::{Chosen, Driver},
    simulation::{Simulation, change, point, timed},
};
use crate::{
    control::{
        balance::{UpkieLoop, nominal_mass},
        error::ControlError,
        oracle::Oracle,
        plant::Change,
        upkie_adaptive::AdaptiveUpkie,
    },
    identification::{budget::Punctuality, online::OnlineModel},
    systems::{Robot as _, System as _, upkie::Upkie},
};

/// Ticks of the run, 10 s.
const TICKS: usize = 2_000;

/// The run, and the same under an oracle.
pub(super) struct UpkieRun {
    run: AdaptiveUpkie<Box<dyn OnlineModel>>,
    /// The oracle's, until it falls.
    oracle: Option<AdaptiveUpkie<Box<dyn OnlineModel>>>,
    /// Ticks of the plant before the run.
    begun: usize,
    change: Change,
    seconds: f64,
}

impl UpkieRun {
    pub fn new(spec: &OnlineSpec, chosen: &Chosen) -> Result<Self, ControlError> {
        let robot = Upkie::default();
        let start = nominal_mass(&robot);
        let change = change(spec, &robot, start);
        robot.check(&[change.value])?;
        let driver = chosen.budgeted(driver(chosen, &robot)?, &robot);
        let oracle = Oracle::new(robot.clone(), &[start], change);
        let settled = UpkieLoop::settled(robot, start, 0.0)?;
        Ok(Self {
            begun: settled.plant().ticks(),
            run: AdaptiveUpkie::new(settled.clone(), Box::new(driver)),
            oracle: Some(AdaptiveUpkie::new(settled, Box::new(oracle))),
            change,
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

/// What predicts.
fn driver(chosen: &Chosen, robot: &Upkie) -> Result<Driver, ControlError> {
    Ok(match chosen.method {
        "analytic" => Driver::formula(|x| {
            let robot = Upkie::default();
            robot.inverse(&[nominal_mass(&robot)], x)
        }),
        "camel" => Driver::Camel(Box::new(chosen.identifier(robot)?.online(0.0)?)),
        _ => chosen.windowed(robot)?,
    })
}

impl Simulation for UpkieRun {
    fn step(&mut self) -> Result<Option<(OnlinePoint, bool)>, ControlError> {
        let step = self.run.plant().ticks() - self.begun;
        if step == TICKS {
            return Ok(None);
        }
        if step == self.change.step {
            self.run.change_mass(self.change.value)?;
            if let Some(oracle) = &mut self.oracle {
                oracle.change_mass(self.change.value)?;
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
