//! A robot that is pushed by an input of time alone, next to the same robot with usual parameters.

use std::{f64::consts::PI, sync::Arc};

use super::{Figure, Performer};
use crate::{
    charts::Hue,
    systems::{Robot, Shape, System, SystemError, simulate::checked, trajectories::Sine},
    ui::canvas::{Actor, Scene, Trail},
};

/// Rest at the end of given inputs before they start again [s].
const PAUSE: f64 = 1.0;
/// Places in the trail of the tip.
const TRAIL: usize = 90;

/// What pushes a robot.
#[derive(Clone, Debug, PartialEq)]
pub enum Drive {
    /// Nothing: it is let go.
    Free,
    /// A sine.
    Sine(Sine),
    /// One input a step, such as those of a swing-up, over and over.
    Given(Arc<Vec<f64>>),
}

impl Drive {
    /// The input at a step.
    fn at(&self, step: usize, time: f64) -> f64 {
        match self {
            Self::Free => 0.0,
            Self::Sine(sine) => sine.at(time),
            Self::Given(inputs) => inputs.get(step).copied().unwrap_or(0.0),
        }
    }
}

/// Where a robot starts: swing-ups start hanging, sines a little off it, and a robot that nothing
/// pushes is let go from near upright.
fn start(name: &str, drive: &Drive) -> Vec<f64> {
    match (name, drive) {
        ("pendulum", Drive::Free) => vec![2.6, 0.0],
        ("pendulum", _) => vec![0.5, 0.0],
        ("cartpole", Drive::Free) => vec![0.0, 0.0, PI - 0.15, 0.0],
        // The swing-up starts with this angle, or there is nothing to pump.
        ("cartpole", Drive::Given(_)) => vec![0.0, 0.0, 0.1, 0.0],
        ("cartpole", Drive::Sine(_)) => vec![0.0, 0.0, 0.4, 0.0],
        (_, Drive::Free) => vec![PI - 0.3, 0.0, 0.2, 0.0],
        _ => vec![0.0; 4],
    }
}

/// What must be seen of a robot [m].
fn world(name: &str) -> [[f64; 2]; 2] {
    match name {
        "pendulum" => [[-1.9, -1.25], [1.9, 1.25]],
        "cartpole" => [[-2.3, -1.25], [2.3, 1.25]],
        _ => [[-2.6, -2.15], [2.6, 2.15]],
    }
}

/// A pendulum, cartpole or arm.
pub struct Driven {
    system: Arc<dyn System>,
    usual: Vec<f64>,
    parameters: Vec<f64>,
    drive: Drive,
    state: Vec<f64>,
    ghost: Vec<f64>,
    input: f64,
    step: usize,
    /// Time that has passed but is not simulated yet [s].
    owed: f64,
    trail: Trail,
}

impl Driven {
    /// A robot at its start.
    pub fn new(
        system: Arc<dyn System>,
        parameters: &[f64],
        drive: Drive,
    ) -> Result<Self, SystemError> {
        system.check(parameters)?;
        let about = system.description();
        if system.robot().is_none() {
            return Err(SystemError::Invalid(format!("{} is no robot", about.name)));
        }
        let state = start(about.name, &drive);
        Ok(Self {
            usual: about.parameters.iter().map(|p| p.typical).collect(),
            parameters: parameters.to_vec(),
            drive,
            ghost: state.clone(),
            state,
            input: 0.0,
            step: 0,
            owed: 0.0,
            trail: Trail::new(TRAIL, Hue::Camel),
            system,
        })
    }

    fn robot(&self) -> Result<&dyn Robot, SystemError> {
        let name = self.system.description().name;
        let none = || SystemError::Invalid(format!("{name} is no robot"));
        self.system.robot().ok_or_else(none)
    }

    fn time(&self) -> f64 {
        let steps = match &self.drive {
            Drive::Given(inputs) => self.step.min(inputs.len()),
            _ => self.step,
        };
        steps as f64 * self.system.robot().map_or(0.0, Robot::time_step)
    }

    fn restart(&mut self) {
        self.state = start(self.system.description().name, &self.drive);
        self.ghost = self.state.clone();
        self.step = 0;
        self.trail.clear();
    }

    fn advance_a_step(&mut self) -> Result<(), SystemError> {
        let robot = self.robot()?;
        if let Drive::Given(inputs) = &self.drive
            && self.step >= inputs.len()
        {
            let pause = (PAUSE / robot.time_step()) as usize;
            if self.step < inputs.len() + pause {
                self.step += 1;
            } else {
                self.restart();
            }
            return Ok(());
        }
        let input = self.drive.at(self.step, self.time());
        let state = robot.step(&self.parameters, &self.state, input);
        let ghost = robot.step(&self.usual, &self.ghost, input);
        let (state, ghost) = (
            checked(robot, state, self.step)?,
            checked(robot, ghost, self.step)?,
        );
        if let Some(tip) = tip(&robot.sketch(&self.parameters, &state)) {
            self.trail.push(tip);
        }
        (self.state, self.ghost, self.input) = (state, ghost, input);
        self.step += 1;
        Ok(())
    }
}

/// The end of a pole or arm: what is drawn last is the outermost disc.
fn tip(shapes: &[Shape]) -> Option<[f64; 2]> {
    shapes.iter().rev().find_map(|shape| match shape {
        Shape::Disc { centre, .. } => Some(*centre),
        _ => None,
    })
}

impl Performer for Driven {
    fn advance(&mut self, seconds: f64) -> Result<(), SystemError> {
        let step = self.robot()?.time_step();
        self.owed += seconds;
        while self.owed >= step {
            self.owed -= step;
            self.advance_a_step()?;
        }
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), SystemError> {
        self.system.check(parameters)?;
        self.parameters = parameters.to_vec();
        Ok(())
    }

    fn set_drive(&mut self, drive: Drive) {
        self.drive = drive;
    }

    fn scene(&self) -> Scene {
        let (Ok(robot), name) = (self.robot(), self.system.description().name) else {
            return Scene::default();
        };
        let mut actors = vec![Actor::solid(
            robot.sketch(&self.parameters, &self.state),
            Hue::Camel,
        )];
        if self.parameters != self.usual {
            let ghost = Actor::ghost(robot.sketch(&self.usual, &self.ghost), Hue::Oracle);
            actors.insert(0, ghost);
        }
        // The camera stays until the cart is about to leave the picture.
        let follow = (name == "cartpole").then(|| self.state[0] - self.state[0].clamp(-1.4, 1.4));
        Scene {
            world: world(name),
            follow,
            ground: None,
            actors,
            trails: vec![self.trail.clone()],
        }
    }

    fn figures(&self) -> Vec<Figure> {
        let Ok(robot) = self.robot() else {
            return Vec::new();
        };
        let figure = |label, value, unit| Figure {
            label,
            value,
            decimals: 2,
            unit,
        };
        let target = self.system.description().target;
        let energy = robot.energy(&self.parameters, &self.state);
        let mut figures = vec![
            figure("time", self.time(), "s"),
            figure("input u", self.input, target.unit),
            figure("energy", energy, "J"),
        ];
        let states = robot.state().iter().zip(&self.state);
        figures.extend(states.map(|(q, &value)| figure(q.symbol, value, q.unit)));
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::reference::Reference, systems::by_name};

    fn robot(name: &str) -> Arc<dyn System> {
        Arc::from(by_name(name).unwrap())
    }

    #[test]
    fn the_swing_up_of_the_usual_cartpole_ends_upright_and_starts_again() {
        let reference = Reference::cartpole_swing_up(&Default::default(), &[2.0, 0.3]).unwrap();
        let drive = Drive::Given(Arc::new(reference.inputs.clone()));
        let mut driven = Driven::new(robot("cartpole"), &[2.0, 0.3], drive).unwrap();
        driven.advance(10.001).unwrap();
        assert_eq!(driven.state, reference.states[reference.len()]);
        driven.advance(1.1).unwrap();
        assert!(driven.step < 10 && driven.state[2].abs() < 1.0);
    }

    #[test]
    fn there_is_a_ghost_only_when_the_parameters_differ_from_the_usual_ones() {
        let mut driven = Driven::new(robot("pendulum"), &[1.0, 1.0], Drive::Free).unwrap();
        assert_eq!(driven.scene().actors.len(), 1);
        driven.set_parameters(&[1.0, 1.5]).unwrap();
        driven.advance(0.5).unwrap();
        assert_eq!(driven.scene().actors.len(), 2);
        assert_ne!(driven.state, driven.ghost);
    }

    #[test]
    fn refused_parameters_change_nothing() {
        let mut driven = Driven::new(robot("arm"), &[0.35, 1.0], Drive::Free).unwrap();
        assert!(driven.set_parameters(&[0.1, 1.0]).is_err());
        assert_eq!(driven.parameters, [0.35, 1.0]);
    }

    #[test]
    fn a_robot_that_diverges_stops_with_an_error_and_a_finite_picture() {
        let drive = Drive::Given(Arc::new(vec![1e300; 5]));
        let mut driven = Driven::new(robot("pendulum"), &[1.0, 1.0], drive).unwrap();
        let error = driven.advance(1.0).unwrap_err();
        assert!(error.to_string().contains("diverged"), "{error}");
        assert!(driven.state.iter().all(|x| x.is_finite()));
    }
}
