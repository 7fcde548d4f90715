//! Upkie as a plant: servos and physics at 1 kHz around the true mass of its torso.
//!
//! It alone knows the mass and when it changes. What leaves it is what a robot measures: the state,
//! and after a tick the features and the mean torque of its wheels. The
//! [`Balancer`](super::balance::Balancer) that moves it is given nothing else.

use crate::systems::{Robot as _, System as _, SystemError, simulate::checked, upkie::Upkie};

/// What one tick of the plant gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Time at the beginning of the tick [s].
    pub time: f64,
    /// State at its beginning.
    pub state: Vec<f64>,
    /// The model's features x.
    pub features: Vec<f64>,
    /// Mean torque of a wheel [N m], the model's target.
    pub torque: f64,
    /// Commanded less real speed of the wheels at its end [m/s]: what the servos have not followed.
    pub lag: f64,
}

/// The robot with its servos, moved tick by tick.
#[derive(Clone, Debug)]
pub struct UpkiePlant {
    robot: Upkie,
    torso_mass: f64,
    state: Vec<f64>,
    ticks: usize,
}

impl UpkiePlant {
    /// A robot that stands, pushed out of balance by `lean` [rad].
    pub fn new(robot: Upkie, torso_mass: f64, lean: f64) -> Result<Self, SystemError> {
        robot.check(&[torso_mass])?;
        let mut state = checked(&robot, robot.standing(torso_mass), 0)?;
        for i in [2, 4, 6] {
            state[i] += lean;
        }
        Ok(Self {
            robot,
            torso_mass,
            state,
            ticks: 0,
        })
    }

    /// Changes the torso's mass [kg] from the next tick on.
    pub fn set_torso_mass(&mut self, torso_mass: f64) -> Result<(), SystemError> {
        self.robot.check(&[torso_mass])?;
        self.torso_mass = torso_mass;
        Ok(())
    }

    /// The torso's mass [kg]: for displays and figures of merit, never for a controller.
    pub fn torso_mass(&self) -> f64 {
        self.torso_mass
    }

    /// The present state, which the robot measures.
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// The robot without its mass.
    pub fn robot(&self) -> &Upkie {
        &self.robot
    }

    /// Ticks since the beginning.
    pub fn ticks(&self) -> usize {
        self.ticks
    }

    /// Time since the beginning [s].
    pub fn time(&self) -> f64 {
        self.ticks as f64 * self.robot.time_step()
    }

    /// Lets the wheel servos follow `speed` [m/s] until the next tick, `forward` [N m] added to what
    /// they ask of each wheel.
    pub fn apply(&mut self, speed: f64, forward: f64) -> Result<Tick, SystemError> {
        let time = self.time();
        let (next, torque) = self.run_physics(speed, forward);
        let next = checked(&self.robot, next, self.ticks)?;
        let state = std::mem::replace(&mut self.state, next);
        self.ticks += 1;
        Ok(Tick {
            time,
            features: self.robot.features(&state, &self.state),
            state,
            torque,
            lag: speed - self.robot.wheel_speed(&self.state),
        })
    }

    /// The state at the next tick and the mean torque of a wheel on the way.
    fn run_physics(&self, speed: f64, forward: f64) -> (Vec<f64>, f64) {
        let (mut state, mut total) = (self.state.clone(), 0.0);
        for _ in 0..self.robot.substeps {
            let torque = self.robot.wheel_servo(&state, speed, forward);
            state = self.robot.physics_step(&[self.torso_mass], &state, torque);
            total += torque;
        }
        (state, total / self.robot.substeps as f64)
    }
}
