//! Upkie at 200 Hz: wheel torques predicted and the torso's mass identified while it balances.
//!
//! The robot balances by model predictive control, which needs no mass. A model runs along in open
//! loop: it predicts each tick's wheel torque from the features, then learns from the measured one.
//! It sees features and torques alone; the mass and its changes stay in the plant.

use serde::{Deserialize, Serialize};

use super::{
    balance::{Tick, UpkieLoop},
    error::ControlError,
};
use crate::identification::online::{Estimate, OnlineModel};

/// A torso that leans further than this has fallen [rad].
const LARGEST_LEAN: f64 = 1.0;

/// What one tick gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpkieTick {
    /// Time at the beginning of the tick [s].
    pub time: f64,
    /// State of the robot.
    pub state: Vec<f64>,
    /// The model's features x.
    pub features: Vec<f64>,
    /// Measured torque of a wheel [N m].
    pub torque: f64,
    /// Torque that the model predicted before it saw the measured one [N m].
    pub predicted: f64,
    /// Identified torso mass with its error bar [kg], if the model identifies.
    pub estimate: Option<Estimate>,
    /// Whether the model noticed a change.
    pub detected: bool,
    /// The true mass of the torso [kg], which the model does not see.
    pub truth: f64,
}

/// A balancing robot and a model that runs along.
#[derive(Clone, Debug)]
pub struct UpkieIdentification<M> {
    plant: UpkieLoop,
    model: M,
}

impl<M: OnlineModel> UpkieIdentification<M> {
    /// Lets a model run along.
    pub fn new(plant: UpkieLoop, model: M) -> Self {
        Self { plant, model }
    }

    /// One tick of 5 ms.
    pub fn step(&mut self) -> Result<UpkieTick, ControlError> {
        let truth = self.plant.torso_mass();
        let tick = self.balanced_tick()?;
        let predicted = self.model.predict(&tick.features);
        let detected = self.model.observe(&tick.features, tick.torque);
        Ok(UpkieTick {
            time: tick.time,
            state: tick.state,
            features: tick.features,
            torque: tick.torque,
            predicted,
            estimate: self.model.identify(),
            detected,
            truth,
        })
    }

    /// A tick of a robot that has not fallen.
    fn balanced_tick(&mut self) -> Result<Tick, ControlError> {
        let (lean, step) = (self.plant.state()[6], self.plant.ticks());
        if lean.abs() > LARGEST_LEAN {
            return Err(ControlError::Fell { step, lean });
        }
        Ok(self.plant.tick()?)
    }

    /// Changes the torso's mass [kg] from the next tick on.
    pub fn change_mass(&mut self, torso_mass: f64) -> Result<(), ControlError> {
        Ok(self.plant.set_torso_mass(torso_mass)?)
    }

    /// The balancing robot.
    pub fn plant(&self) -> &UpkieLoop {
        &self.plant
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        identification::{
            change::CusumSettings,
            model::KnownFeatures,
            online::OnlineLeastSquares,
            recursive::{Drift, RecursiveSettings},
        },
        systems::upkie::Upkie,
    };

    /// The torques of locked legs: right to 0.01 N m, with residuals that come in runs.
    fn model() -> OnlineLeastSquares<KnownFeatures<Upkie>> {
        let settings = RecursiveSettings {
            forgetting: 0.999,
            noise: 0.003,
            spread: vec![10.0],
            drift: Some(Drift {
                size: 0.003,
                correlation: 0.95,
            }),
        };
        let known = KnownFeatures::new(Upkie::default());
        let change = Some(CusumSettings::LEARNED);
        OnlineLeastSquares::new(known, &[5.0], settings, change).unwrap()
    }

    #[test]
    fn a_torso_that_becomes_four_times_as_heavy_is_noticed_and_weighed() {
        let plant = UpkieLoop::new(Upkie::default(), 1.0, 0.0).unwrap();
        let mut run = UpkieIdentification::new(plant, model());
        let mut quiet_alarms = 0;
        for tick in 0..600 {
            let seen = run.step().unwrap();
            quiet_alarms += usize::from(tick > 100 && seen.detected);
        }
        assert_eq!(quiet_alarms, 0);
        run.change_mass(4.0).unwrap();
        let ticks: Vec<UpkieTick> = (0..400).map(|_| run.step().unwrap()).collect();
        assert!(ticks.iter().any(|tick| tick.detected));
        let last = ticks.last().unwrap();
        let mass = last.estimate.as_ref().unwrap().values[0];
        assert!((mass / 4.0 - 1.0).abs() < 0.15, "{mass} kg");
        assert!((last.predicted - last.torque).abs() < 0.05);
    }

    #[test]
    fn a_torso_without_mass_is_refused_with_the_value() {
        let plant = UpkieLoop::new(Upkie::default(), 1.0, 0.0).unwrap();
        let mut run = UpkieIdentification::new(plant, model());
        for mass in [0.0, -1.0] {
            let error = run.change_mass(mass).unwrap_err().to_string();
            assert!(error.contains(&format!("but is {mass}")), "{error}");
        }
    }
}
