//! Upkie balanced: model predictive control at 200 Hz, servos and physics at 1 kHz.
//!
//! Each tick plans with the wheeled inverted pendulum from (y, φ, ẏ, φ̇), takes the first
//! acceleration a and moves the commanded speed, `v ← clip(v + a·dt/2, ±1)`; the wheel servos
//! follow it.
//!
//! The [`UpkiePlant`] owns the torso's mass and its changes. The [`Balancer`] is called with measured
//! states alone, and balances at a pitch that it was given or took from a mass that it believes.

use std::sync::Arc;

use nalgebra::Vector4;

use super::{
    mpc::{Mpc, MpcSettings},
    shuttle::Shuttle,
    upkie_plant::{Tick, UpkiePlant},
};
use crate::systems::{Robot as _, Samples, System as _, SystemError, Task, upkie::Upkie};

/// Largest commanded speed [m/s].
const LARGEST_SPEED: f64 = 1.0;
/// Ticks before the samples of a task, 0.5 s.
const LEAD_IN: usize = 100;

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

/// What balances the robot: it sees states and knows nothing of the mass that they belong to.
#[derive(Clone, Debug)]
pub struct Balancer {
    mpc: Mpc,
    path: Shuttle,
    /// Pitch at which it takes the robot to be balanced [rad].
    balance: f64,
    time_step: f64,
    commanded_speed: f64,
    ticks: usize,
}

impl Balancer {
    /// For a robot that is balanced at `balance` [rad], at the beginning of the default path.
    pub fn new(robot: &Upkie, balance: f64) -> Result<Self, SystemError> {
        let mpc = Mpc::new(MpcSettings {
            gravity: robot.gravity,
            ..MpcSettings::default()
        })?;
        Ok(Self {
            mpc,
            path: Shuttle::default(),
            balance,
            time_step: robot.time_step(),
            commanded_speed: 0.0,
            ticks: 0,
        })
    }

    /// What it wants of the coming tick, from the measured state.
    pub fn plan(&self, state: &[f64]) -> Result<Command, SystemError> {
        let (time, x, dt) = (self.time(), state, self.time_step);
        let lean = x[6] - self.balance;
        let measured = Vector4::new(x[0], lean, x[1], x[7]);
        let plan = self
            .mpc
            .plan(&measured, |ahead| self.path.at(time + ahead))?;
        let acceleration = plan.inputs[0];
        let speed = self.commanded_speed + acceleration * dt / 2.0;
        let speed = speed.clamp(-LARGEST_SPEED, LARGEST_SPEED);
        let gained = (speed - self.commanded_speed) / dt;
        let MpcSettings {
            gravity, length, ..
        } = *self.mpc.settings();
        let (sin, cos) = x[6].sin_cos();
        let falling = (gravity * lean - gained) / length;
        Ok(Command {
            acceleration,
            speed,
            features: vec![x[1], gained, cos, sin, x[7], falling],
            bounded: plan.bounded,
        })
    }

    /// Goes on to the next tick after a command was carried out.
    pub fn proceed(&mut self, command: &Command) {
        self.commanded_speed = command.speed;
        self.ticks += 1;
    }

    fn time(&self) -> f64 {
        self.ticks as f64 * self.time_step
    }

    /// The path's position now [m].
    pub fn target(&self) -> f64 {
        self.path.at(self.time())[0]
    }

    /// Pitch at which it takes the robot to be balanced [rad].
    pub fn balance(&self) -> f64 {
        self.balance
    }

    /// Takes the robot to be balanced at another pitch [rad].
    pub fn rebalance(&mut self, pitch: f64) {
        self.balance = pitch;
    }
}

/// The mass of the torso in the robot's description [kg]: what is believed of a robot of which nothing
/// has been measured.
pub fn nominal_mass(robot: &Upkie) -> f64 {
    robot.description().parameters[0].typical
}

/// The balanced robot, advanced tick by tick.
#[derive(Clone, Debug)]
pub struct UpkieLoop {
    plant: UpkiePlant,
    balancer: Balancer,
}

impl UpkieLoop {
    /// A robot at the beginning of the default path, pushed out of balance by `lean` [rad]. Whatever its
    /// torso, the controller takes it to be balanced as a nominal one is.
    pub fn new(robot: Upkie, torso_mass: f64, lean: f64) -> Result<Self, SystemError> {
        let balance = robot.standing(nominal_mass(&robot))[6];
        Self::balanced_at(robot, torso_mass, lean, balance)
    }

    /// The same with a controller that was told the pitch at which this torso is balanced, as someone who
    /// records the samples of a known robot would.
    pub fn calibrated(robot: Upkie, torso_mass: f64, lean: f64) -> Result<Self, SystemError> {
        robot.check(&[torso_mass])?;
        let balance = robot.standing(torso_mass)[6];
        Self::balanced_at(robot, torso_mass, lean, balance)
    }

    fn balanced_at(
        robot: Upkie,
        torso_mass: f64,
        lean: f64,
        balance: f64,
    ) -> Result<Self, SystemError> {
        let plant = UpkiePlant::new(robot, torso_mass, lean)?;
        let balancer = Balancer::new(plant.robot(), balance)?;
        Ok(Self { plant, balancer })
    }

    /// [`Self::new`] after the half second that a task's samples leave out: no model knows the first sway.
    pub fn settled(robot: Upkie, torso_mass: f64, lean: f64) -> Result<Self, SystemError> {
        Self::new(robot, torso_mass, lean)?.after_lead_in()
    }

    fn after_lead_in(mut self) -> Result<Self, SystemError> {
        for _ in 0..LEAD_IN {
            self.tick()?;
        }
        Ok(self)
    }

    /// Changes the torso's mass [kg] from the next tick on, without telling the controller.
    pub fn set_torso_mass(&mut self, torso_mass: f64) -> Result<(), SystemError> {
        self.plant.set_torso_mass(torso_mass)
    }

    /// The robot.
    pub fn plant(&self) -> &UpkiePlant {
        &self.plant
    }

    /// The path's position now [m].
    pub fn target(&self) -> f64 {
        self.balancer.target()
    }

    /// Plans, commands the servos and runs the physics until the next tick.
    pub fn tick(&mut self) -> Result<Tick, SystemError> {
        let command = self.balancer.plan(self.plant.state())?;
        let tick = self.plant.apply(command.speed, 0.0)?;
        self.balancer.proceed(&command);
        Ok(tick)
    }

    /// The robot and what balances it, each for itself.
    pub fn into_parts(self) -> (UpkiePlant, Balancer) {
        (self.plant, self.balancer)
    }
}

/// The samples of one environment: the robot starts with a lean [rad] and follows the path.
/// Until the legs, which the first plan shakes, are quiet, nothing is recorded.
pub(crate) fn task(robot: &Upkie, parameters: &[f64], lean: f64) -> Result<Task, SystemError> {
    robot.check(parameters)?;
    let mut run = UpkieLoop::calibrated(robot.clone(), parameters[0], lean)?.after_lead_in()?;
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

    const MASSES: [f64; 7] = [0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0];

    #[test]
    fn upkie_stands_through_the_displacement_with_any_torso() {
        for mass in MASSES {
            for lean in [-0.05, 0.0, 0.05] {
                let mut run = UpkieLoop::calibrated(Upkie::default(), mass, lean).unwrap();
                let [torque, pitch, away] = extremes(&mut run, 1500);
                assert!(
                    torque < 0.5 && pitch < 0.2 && away < 0.25,
                    "{mass} kg: {torque} {pitch} {away}"
                );
            }
        }
    }

    #[test]
    fn upkie_stands_with_any_torso_though_a_nominal_one_is_believed() {
        for mass in MASSES {
            for lean in [-0.05, 0.0, 0.05] {
                let mut run = UpkieLoop::new(Upkie::default(), mass, lean).unwrap();
                let [torque, pitch, away] = extremes(&mut run, 1500);
                assert!(
                    torque < 0.6 && pitch < 0.2 && away < 0.35,
                    "{mass} kg: {torque} {pitch} {away}"
                );
            }
        }
    }

    #[test]
    fn the_controller_begins_alike_whatever_the_torso() {
        let plans = MASSES.map(|mass| {
            let run = UpkieLoop::new(Upkie::default(), mass, 0.0).unwrap();
            run.balancer.plan(&[0.0; 8]).unwrap()
        });
        assert!(plans.iter().all(|plan| *plan == plans[0]), "{plans:?}");
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
        let run = UpkieLoop::new(Upkie::default(), 1.0, 0.05).unwrap();
        let (mut plant, mut balancer) = run.into_parts();
        for _ in 0..2000 {
            let command = balancer.plan(plant.state()).unwrap();
            assert!(!command.bounded);
            plant.apply(command.speed, 0.0).unwrap();
            balancer.proceed(&command);
        }
    }

    #[test]
    fn a_balanced_robot_without_a_path_stays_where_it_is() {
        let mut run = UpkieLoop::calibrated(Upkie::default(), 3.0, 0.0).unwrap();
        run.balancer.path = Shuttle {
            distance: 0.0,
            ..Shuttle::default()
        };
        let [torque, _, away] = extremes(&mut run, 400);
        assert!(torque < 1e-6 && away < 1e-6, "{torque} {away}");
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
}
