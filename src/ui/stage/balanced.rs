//! Upkie, balanced by its controller while it rolls half a metre to and fro.

use super::{Figure, Performer};
use crate::{
    charts::Hue,
    control::balance::UpkieLoop,
    systems::{Robot as _, SystemError, upkie::Upkie},
    ui::canvas::{Actor, Scene},
};

/// A pitch beyond this is a fall [rad].
const FALLEN: f64 = 1.2;

/// Upkie on a stage. The controller knows the pitch at which it is balanced at first, and hears of no change.
pub struct Balanced {
    run: UpkieLoop,
    torque: f64,
    /// Time that has passed but is not simulated yet [s].
    owed: f64,
}

impl Balanced {
    /// Upkie standing, with a torso of φ = (mass).
    pub fn new(parameters: &[f64]) -> Result<Self, SystemError> {
        let mass = parameters.first().copied().unwrap_or(f64::NAN);
        Ok(Self {
            run: UpkieLoop::calibrated(Upkie::default(), mass, 0.0)?,
            torque: 0.0,
            owed: 0.0,
        })
    }
}

impl Performer for Balanced {
    fn advance(&mut self, seconds: f64) -> Result<(), SystemError> {
        let step = self.run.plant().robot().time_step();
        self.owed += seconds;
        while self.owed >= step {
            self.owed -= step;
            self.torque = self.run.tick()?.torque;
            if self.run.plant().state()[6].abs() > FALLEN {
                let mass = self.run.plant().torso_mass();
                return Err(SystemError::Invalid(format!(
                    "Upkie fell over with a torso of {mass} kg"
                )));
            }
        }
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), SystemError> {
        self.run
            .set_torso_mass(parameters.first().copied().unwrap_or(f64::NAN))
    }

    fn scene(&self) -> Scene {
        let (robot, mass) = (self.run.plant().robot(), [self.run.plant().torso_mass()]);
        let mut target = vec![0.0; self.run.plant().state().len()];
        target[0] = self.run.target();
        Scene {
            world: [[-0.45, -0.04], [0.95, 0.72]],
            actors: vec![
                Actor::ghost(robot.sketch(&mass, &target), Hue::Oracle),
                Actor::solid(robot.sketch(&mass, self.run.plant().state()), Hue::Camel),
            ],
            ..Scene::default()
        }
    }

    fn figures(&self) -> Vec<Figure> {
        let state = self.run.plant().state();
        let mass = [self.run.plant().torso_mass()];
        let figure = |label, value, decimals, unit| Figure {
            label,
            value,
            decimals,
            unit,
        };
        vec![
            figure("time", self.run.plant().time(), 2, "s"),
            figure("wheel torque u", self.torque, 3, "N m"),
            figure(
                "energy",
                self.run.plant().robot().energy(&mass, state),
                2,
                "J",
            ),
            figure("position y", state[0], 3, "m"),
            figure("wanted position", self.run.target(), 3, "m"),
            figure("pitch φ", state[6], 3, "rad"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upkie_stands_when_a_visitor_makes_its_torso_four_times_as_heavy() {
        let mut upkie = Balanced::new(&[1.0]).unwrap();
        upkie.advance(2.0).unwrap();
        upkie.set_parameters(&[4.0]).unwrap();
        upkie.advance(5.0).unwrap();
        assert!(upkie.figures()[5].value.abs() < 0.2);
        assert_eq!(upkie.scene().actors.len(), 2);
    }

    #[test]
    fn a_torso_without_mass_is_refused() {
        assert!(Balanced::new(&[0.0]).is_err());
        assert!(
            Balanced::new(&[1.0])
                .unwrap()
                .set_parameters(&[-1.0])
                .is_err()
        );
    }
}
