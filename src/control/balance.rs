//! Upkie balanced: model predictive control at 200 Hz, servos and physics at 1 kHz.
//!
//! Each tick plans with the wheeled inverted pendulum from (y, φ, ẏ, φ̇), takes the first
//! acceleration a and moves the commanded speed, `v ← clip(v + a·dt/2, ±1)`; the wheel servos
//! follow it. The controller never knows the torso's mass, only the pitch at which it is balanced.

use std::sync::Arc;

use nalgebra::Vector4;

use super::{
    mpc::{Mpc, MpcSettings},
    reference::Reference,
};
use crate::systems::{
    Robot as _, Samples, System as _, SystemError, Task, simulate::checked, upkie::Upkie,
};

/// Largest commanded speed [m/s].
const LARGEST_SPEED: f64 = 1.0;
/// Ticks before the samples of a task, 0.5 s.
const LEAD_IN: usize = 100;

/// The path to follow: `distance` forward within `travel` seconds, a rest, back, a rest, again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shuttle {
    /// Distance [m].
    pub distance: f64,
    /// Time of one way [s].
    pub travel: f64,
    /// Time of rest at either end [s].
    pub rest: f64,
}

impl Default for Shuttle {
    fn default() -> Self {
        Self {
            distance: 0.5,
            travel: 2.0,
            rest: 0.5,
        }
    }
}

impl Shuttle {
    /// Position and speed at time `t` [m, m/s]: the smoothest motion, with the least jerk.
    pub fn at(&self, t: f64) -> [f64; 2] {
        let way = self.travel + self.rest;
        let share = (t.rem_euclid(way) / self.travel).min(1.0);
        let there = share.powi(3) * (10.0 - 15.0 * share + 6.0 * share * share);
        let speed = 30.0 * share * share * (1.0 - share).powi(2) * self.distance / self.travel;
        if (t / way).rem_euclid(2.0) < 1.0 {
            [self.distance * there, speed]
        } else {
            [self.distance * (1.0 - there), -speed]
        }
    }
}

/// What the controller wants of the coming tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Planned acceleration [m/s²].
    pub acceleration: f64,
    /// Speed that the wheel servos are asked for [m/s].
    pub speed: f64,
    /// The features x̄ that the tick will have if the pendulum of the plan obeys.
    pub features: Vec<f64>,
    /// Whether the controller reached its bounds.
    pub bounded: bool,
}

/// What one tick of the loop gives.
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

/// The balanced robot, advanced tick by tick.
#[derive(Clone, Debug)]
pub struct UpkieLoop {
    robot: Upkie,
    controller: Mpc,
    path: Shuttle,
    /// Pitch at which the controller takes the robot to be balanced [rad].
    balance: f64,
    torso_mass: f64,
    state: Vec<f64>,
    commanded_speed: f64,
    ticks: usize,
}

impl UpkieLoop {
    /// A balanced robot at the beginning of the default path, pushed out of balance by `lean`
    /// [rad].
    pub fn new(robot: Upkie, torso_mass: f64, lean: f64) -> Result<Self, SystemError> {
        robot.check(&[torso_mass])?;
        let mut state = checked(&robot, robot.standing(torso_mass), 0)?;
        let controller = Mpc::new(MpcSettings {
            gravity: robot.gravity,
            ..MpcSettings::default()
        })?;
        let balance = state[6];
        for i in [2, 4, 6] {
            state[i] += lean;
        }
        Ok(Self {
            robot,
            controller,
            path: Shuttle::default(),
            balance,
            torso_mass,
            state,
            commanded_speed: 0.0,
            ticks: 0,
        })
    }

    /// The same after the half second that a task's samples leave out: no model knows the first sway.
    pub fn settled(robot: Upkie, torso_mass: f64, lean: f64) -> Result<Self, SystemError> {
        let mut run = Self::new(robot, torso_mass, lean)?;
        for _ in 0..LEAD_IN {
            run.tick()?;
        }
        Ok(run)
    }

    /// Changes the path; it is followed from the beginning of the run.
    pub fn follow(&mut self, path: Shuttle) {
        self.path = path;
    }

    /// Changes the torso's mass [kg] from the next tick on, without telling the controller.
    pub fn set_torso_mass(&mut self, torso_mass: f64) -> Result<(), SystemError> {
        self.robot.check(&[torso_mass])?;
        self.torso_mass = torso_mass;
        Ok(())
    }

    /// The torso's mass [kg].
    pub fn torso_mass(&self) -> f64 {
        self.torso_mass
    }

    /// The present state.
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// The robot.
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

    /// The path's position now [m].
    pub fn target(&self) -> f64 {
        self.path.at(self.time())[0]
    }

    /// Pitch at which the controller takes the robot to be balanced [rad].
    pub fn balance(&self) -> f64 {
        self.balance
    }

    /// Makes the controller take the robot to be balanced at another pitch [rad].
    pub fn rebalance(&mut self, pitch: f64) {
        self.balance = pitch;
    }

    /// Plans, commands the servos and runs the physics until the next tick.
    pub fn tick(&mut self) -> Result<Tick, SystemError> {
        let command = self.plan()?;
        self.obey(&command, 0.0)
    }

    /// What the controller wants of the coming tick.
    pub fn plan(&self) -> Result<Command, SystemError> {
        let (time, x, dt) = (self.time(), &self.state, self.robot.time_step());
        let lean = x[6] - self.balance;
        let measured = Vector4::new(x[0], lean, x[1], x[7]);
        let plan = self
            .controller
            .plan(&measured, |ahead| self.path.at(time + ahead))?;
        let acceleration = plan.inputs[0];
        let speed = self.commanded_speed + acceleration * dt / 2.0;
        let speed = speed.clamp(-LARGEST_SPEED, LARGEST_SPEED);
        let gained = (speed - self.commanded_speed) / dt;
        let MpcSettings {
            gravity, length, ..
        } = *self.controller.settings();
        let (sin, cos) = x[6].sin_cos();
        let falling = (gravity * lean - gained) / length;
        Ok(Command {
            acceleration,
            speed,
            features: vec![x[1], gained, cos, sin, x[7], falling],
            bounded: plan.bounded,
        })
    }

    /// Commands the servos, adds `torque` [N m] to what they ask of each wheel, and runs the physics until
    /// the next tick.
    pub fn obey(&mut self, command: &Command, torque: f64) -> Result<Tick, SystemError> {
        self.commanded_speed = command.speed;
        let time = self.time();
        let (next, torque) = self.run_physics(torque);
        let next = checked(&self.robot, next, self.ticks)?;
        let state = std::mem::replace(&mut self.state, next);
        self.ticks += 1;
        Ok(Tick {
            time,
            features: self.robot.features(&state, &self.state),
            state,
            torque,
            lag: self.commanded_speed - self.robot.wheel_speed(&self.state),
        })
    }

    /// The state at the next tick and the mean torque of a wheel on the way.
    fn run_physics(&self, forward: f64) -> (Vec<f64>, f64) {
        let (mut state, mut total) = (self.state.clone(), 0.0);
        for _ in 0..self.robot.substeps {
            let torque = self
                .robot
                .wheel_servo(&state, self.commanded_speed, forward);
            state = self.robot.physics_step(&[self.torso_mass], &state, torque);
            total += torque;
        }
        (state, total / self.robot.substeps as f64)
    }
}

/// The samples of one environment: the robot starts with a lean [rad] and follows the path.
/// Until the legs, which the first plan shakes, are quiet, nothing is recorded.
pub(crate) fn task(robot: &Upkie, parameters: &[f64], lean: f64) -> Result<Task, SystemError> {
    robot.check(parameters)?;
    let mut run = UpkieLoop::new(robot.clone(), parameters[0], lean)?;
    for _ in 0..LEAD_IN {
        run.tick()?;
    }
    let (mut values, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..robot.observations {
        let tick = run.tick()?;
        values.extend(tick.features);
        targets.push(tick.torque);
    }
    let dim = robot.description().inputs.len();
    Ok(Task {
        parameters: parameters.to_vec(),
        inputs: Arc::new(Samples { dim, values }),
        targets,
    })
}

impl Reference {
    /// The balanced robot rolls half a metre forward from standing: 5 s, of which it is asked to
    /// stand for the last 3. Inputs are the mean torques of a wheel; they do not lead there
    /// without the balance.
    pub fn upkie_displacement(robot: &Upkie, torso_mass: f64) -> Result<Self, SystemError> {
        let mut run = UpkieLoop::new(robot.clone(), torso_mass, 0.0)?;
        run.follow(Shuttle {
            rest: 3.0,
            ..Shuttle::default()
        });
        let steps = (5.0 / robot.time_step()).round() as usize;
        let mut reference = Self {
            states: vec![run.state().to_vec()],
            inputs: Vec::with_capacity(steps),
            dt: robot.time_step(),
        };
        for _ in 0..steps {
            reference.inputs.push(run.tick()?.torque);
            reference.states.push(run.state().to_vec());
        }
        Ok(reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::Split;

    /// Largest torque, pitch and distance from the path over `ticks`.
    fn extremes(run: &mut UpkieLoop, ticks: usize) -> [f64; 3] {
        (0..ticks).fold([0.0; 3], |[torque, pitch, away], _| {
            let target = run.target();
            let tick = run.tick().unwrap();
            [
                tick.torque.abs().max(torque),
                tick.state[6].abs().max(pitch),
                (tick.state[0] - target).abs().max(away),
            ]
        })
    }

    #[test]
    fn upkie_stands_through_the_displacement_with_any_torso() {
        for mass in [0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0] {
            for lean in [-0.05, 0.0, 0.05] {
                let mut run = UpkieLoop::new(Upkie::default(), mass, lean).unwrap();
                let [torque, pitch, away] = extremes(&mut run, 1500);
                assert!(
                    torque < 0.5 && pitch < 0.2 && away < 0.25,
                    "{mass} kg: {torque} {pitch} {away}"
                );
            }
        }
    }

    #[test]
    fn upkie_stands_when_its_torso_becomes_four_times_as_heavy() {
        for moment in [500, 700, 1000, 1300] {
            let mut run = UpkieLoop::new(Upkie::default(), 1.0, 0.0).unwrap();
            extremes(&mut run, moment);
            run.set_torso_mass(4.0).unwrap();
            let [torque, pitch, away] = extremes(&mut run, 2000);
            assert!(
                torque < 0.5 && pitch < 0.2 && away < 0.25,
                "{moment}: {torque} {pitch} {away}"
            );
        }
    }

    #[test]
    fn the_bounds_of_the_controller_are_never_reached() {
        let mut run = UpkieLoop::new(Upkie::default(), 1.0, 0.05).unwrap();
        for _ in 0..2000 {
            let command = run.plan().unwrap();
            assert!(!command.bounded);
            run.obey(&command, 0.0).unwrap();
        }
    }

    #[test]
    fn a_balanced_robot_without_a_path_stays_where_it_is() {
        let mut run = UpkieLoop::new(Upkie::default(), 3.0, 0.0).unwrap();
        run.follow(Shuttle {
            distance: 0.0,
            ..Shuttle::default()
        });
        let [torque, _, away] = extremes(&mut run, 400);
        assert!(torque < 1e-6 && away < 1e-6, "{torque} {away}");
    }

    #[test]
    fn the_displacement_is_half_a_metre() {
        let reference = Reference::upkie_displacement(&Upkie::default(), 1.0).unwrap();
        let end = reference.states[reference.len()][0] - reference.states[0][0];
        assert!((end - 0.5).abs() < 0.03, "{end}");
    }

    #[test]
    fn recorded_torques_are_close_to_those_of_locked_legs() {
        let upkie = Upkie::default();
        for mass in [0.5, 4.0, 10.0] {
            let task = upkie.task(&[mass], Split::Train, 0).unwrap();
            assert_eq!(task.targets.len(), 1000);
            let (mut error, mut size) = (0.0, 0.0);
            for (x, u) in task.inputs.rows().zip(&task.targets) {
                error += (upkie.inverse(&[mass], x) - u).powi(2);
                size += u * u;
            }
            assert!(error < 0.01 * size, "{mass} kg: {error} of {size}");
        }
    }

    #[test]
    fn a_path_goes_there_and_back() {
        let path = Shuttle::default();
        assert_eq!(path.at(0.0), [0.0, 0.0]);
        assert_eq!(path.at(1.0)[0], 0.25);
        assert_eq!(path.at(2.2), [0.5, 0.0]);
        assert_eq!(path.at(3.5)[0], 0.25);
        let h = 1e-6;
        let slope = (path.at(3.2 + h)[0] - path.at(3.2 - h)[0]) / (2.0 * h);
        assert!((slope - path.at(3.2)[1]).abs() < 1e-8);
    }
}
