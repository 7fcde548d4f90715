//! Upkie at 200 Hz, `τ = clip(share · F(x̄; ŵ) + kd (ω* − ω))`, ŵ updated each tick.
//!
//! Model predictive control balances the robot by speeds ω* for the wheel servos. The model acts on it
//! twice: its torque for the planned features x̄ acts ahead of the servos, which then have little left to
//! correct, and once the mass that it identifies refutes the one that was believed, the controller
//! balances at that mass' pitch: a robot that leans otherwise than it thinks stands beside its path.
//! What the model says badly or too late hardly acts, see [`FeedForward`].
//!
//! The mass and its changes stay in the [`UpkiePlant`]. The [`UpkieController`] has the balancer and the
//! model, and is called with what the robot measures alone.

use serde::{Deserialize, Serialize};

use super::{
    balance::{Balancer, Command, UpkieLoop, nominal_mass},
    error::ControlError,
    upkie_plant::UpkiePlant,
};
use crate::{
    identification::{
        online::{Estimate, OnlineModel},
        quantile::NOMINAL_95,
    },
    systems::{System as _, upkie::Upkie},
};

/// A torso that leans further than this has fallen [rad].
const LARGEST_LEAN: f64 = 1.0;
/// Most that the feed-forward torque changes in a tick [N m]: jumps would shake the legs.
const LARGEST_CHANGE: f64 = 0.002;
/// Share of what the model foretold that is kept in each tick: it remembers a quarter of a second.
const MEMORY: f64 = 0.98;
/// Share of the way to the balance of another mass that is made in a tick, for the same reason.
const EASE: f64 = 0.02;

/// What one tick gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpkieTick {
    /// Time at the beginning of the tick [s].
    pub time: f64,
    /// State of the robot.
    pub state: Vec<f64>,
    /// The path's position [m].
    pub target: f64,
    /// The model's features x.
    pub features: Vec<f64>,
    /// Measured torque of a wheel [N m].
    pub torque: f64,
    /// Part of it that acted ahead of the servos [N m].
    pub forward: f64,
    /// Commanded less real speed of the wheels at the end of the tick [m/s].
    pub lag: f64,
    /// Torque that the model predicted before it saw the measured one [N m].
    pub predicted: f64,
    /// Identified torso mass with its error bar [kg], if the model identifies.
    pub estimate: Option<Estimate>,
    /// Whether the model noticed a change.
    pub detected: bool,
    /// The true mass of the torso [kg], which the model does not see.
    pub truth: f64,
}

/// The torque that acts ahead of the servos, `share · τ̂`: τ̂ goes to what the model expects, a little in
/// every tick, and `share = 1 − Σ(τ̂ − τ)²/Στ²`, but not below zero, is how much of the last torques it has
/// foretold. So what a model says all of a sudden hardly acts, and what is wrong not at all.
#[derive(Clone, Copy, Debug, Default)]
struct FeedForward {
    expected: f64,
    missed: f64,
    seen: f64,
}

impl FeedForward {
    /// The torque for the coming tick, of which the model says `expected` [N m].
    fn torque(&mut self, expected: f64) -> f64 {
        if expected.is_finite() {
            let change = expected - self.expected;
            self.expected += change.clamp(-LARGEST_CHANGE, LARGEST_CHANGE);
        }
        self.expected * self.share()
    }

    /// Takes in the torque that the wheels really had [N m].
    fn see(&mut self, torque: f64) {
        self.missed = MEMORY * self.missed + (self.expected - torque).powi(2);
        self.seen = MEMORY * self.seen + torque * torque;
    }

    fn share(&self) -> f64 {
        match self.seen > 0.0 {
            true => (1.0 - self.missed / self.seen).max(0.0),
            false => 0.0,
        }
    }
}

/// What balances the robot with a model that acts. It is called with measured states, features and torques
/// alone, and begins with a nominal torso: it has no way to learn of a mass but to weigh it.
#[derive(Clone, Debug)]
pub struct UpkieController<M> {
    robot: Upkie,
    balancer: Balancer,
    model: M,
    forward: FeedForward,
    /// Mass that the torso is taken to have [kg], and the pitch at which that is balanced [rad].
    believed: (f64, f64),
}

/// What a controller makes of the features and the torque that were measured in a tick.
struct Learned {
    predicted: f64,
    detected: bool,
    estimate: Option<Estimate>,
}

impl<M: OnlineModel> UpkieController<M> {
    fn new(robot: Upkie, mut balancer: Balancer, model: M) -> Self {
        let mass = nominal_mass(&robot);
        let balance = robot.standing(mass)[6];
        balancer.rebalance(balance);
        Self {
            believed: (mass, balance),
            robot,
            balancer,
            model,
            forward: FeedForward::default(),
        }
    }

    /// The command for the coming tick and the torque that acts ahead of the servos [N m].
    fn command(&mut self, state: &[f64]) -> Result<(Command, f64), ControlError> {
        let command = self.balancer.plan(state)?;
        let expected = self.model.predict(&command.features);
        Ok((command, self.forward.torque(expected)))
    }

    /// Learns from what was measured while the command was carried out.
    fn observe(&mut self, command: &Command, features: &[f64], torque: f64) -> Learned {
        self.balancer.proceed(command);
        self.forward.see(torque);
        let predicted = self.model.predict(features);
        let detected = self.model.observe(features, torque);
        let estimate = self.model.identify();
        if let Some(estimate) = estimate.as_ref() {
            self.weigh(estimate);
        }
        self.rebalance();
        Learned {
            predicted,
            detected,
            estimate,
        }
    }

    /// Believes an identified mass once its error bar no longer holds the one that was believed.
    fn weigh(&mut self, estimate: &Estimate) {
        let first = |list: &[f64]| list.first().copied().unwrap_or(f64::NAN);
        let mass = first(&estimate.values);
        let bar = NOMINAL_95 * first(&estimate.standard_errors);
        let refuted = (mass - self.believed.0).abs() > bar;
        if refuted && self.robot.check(&[mass]).is_ok() {
            self.believed = (mass, self.robot.standing(mass)[6]);
        }
    }

    /// Leads the balance towards that of the mass that is believed.
    fn rebalance(&mut self) {
        let present = self.balancer.balance();
        self.balancer
            .rebalance(present + EASE * (self.believed.1 - present));
    }
}

/// A balancing robot and a model that acts on it.
#[derive(Clone, Debug)]
pub struct AdaptiveUpkie<M> {
    plant: UpkiePlant,
    controller: UpkieController<M>,
}

impl<M: OnlineModel> AdaptiveUpkie<M> {
    /// Lets a model act on a robot, which is balanced as its description says whatever balanced it before.
    pub fn new(run: UpkieLoop, model: M) -> Self {
        let (plant, balancer) = run.into_parts();
        let robot = plant.robot().clone();
        Self {
            plant,
            controller: UpkieController::new(robot, balancer, model),
        }
    }

    /// One tick of 5 ms.
    pub fn step(&mut self) -> Result<UpkieTick, ControlError> {
        self.check_upright()?;
        let (truth, target) = (self.plant.torso_mass(), self.target());
        let (command, forward) = self.controller.command(self.plant.state())?;
        let tick = self.plant.apply(command.speed, forward)?;
        let learned = self
            .controller
            .observe(&command, &tick.features, tick.torque);
        Ok(UpkieTick {
            time: tick.time,
            state: tick.state,
            target,
            features: tick.features,
            torque: tick.torque,
            forward,
            lag: tick.lag,
            predicted: learned.predicted,
            estimate: learned.estimate,
            detected: learned.detected,
            truth,
        })
    }

    /// Refuses to go on with a robot that has fallen.
    fn check_upright(&self) -> Result<(), ControlError> {
        let (lean, step) = (self.plant.state()[6], self.plant.ticks());
        if lean.abs() > LARGEST_LEAN {
            return Err(ControlError::Fell { step, lean });
        }
        Ok(())
    }

    /// Changes the torso's mass [kg] from the next tick on.
    pub fn change_mass(&mut self, torso_mass: f64) -> Result<(), ControlError> {
        Ok(self.plant.set_torso_mass(torso_mass)?)
    }

    /// The path's position now [m].
    pub fn target(&self) -> f64 {
        self.controller.balancer.target()
    }

    /// The robot.
    pub fn plant(&self) -> &UpkiePlant {
        &self.plant
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.controller.model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::controllers::Fixed,
        identification::{
            change::CusumSettings,
            model::KnownFeatures,
            online::OnlineLeastSquares,
            recursive::{Drift, RecursiveSettings},
        },
        systems::Robot as _,
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
        let mut run = AdaptiveUpkie::new(plant, model());
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

    /// Mean distance from the path [m] and mean lag of the wheels [m/s] over 1,000 ticks, once a model has had
    /// the time to weigh the torso and to bring the robot to its balance.
    fn followed(torso_mass: f64, model: impl OnlineModel) -> [f64; 2] {
        let plant = UpkieLoop::settled(Upkie::default(), torso_mass, 0.01).unwrap();
        let mut run = AdaptiveUpkie::new(plant, model);
        for _ in 0..300 {
            run.step().unwrap();
        }
        (0..1000).fold([0.0; 2], |[away, lag], _| {
            let tick = run.step().unwrap();
            let distance = (tick.state[0] - tick.target).abs();
            [away + 1e-3 * distance, lag + 1e-3 * tick.lag.abs()]
        })
    }

    #[test]
    fn a_good_model_leaves_the_servos_little_to_correct() {
        for mass in [0.5, 1.0, 4.0, 10.0] {
            let plain = followed(mass, Fixed(|_: &[f64]| 0.0));
            let acting = followed(mass, model());
            assert!(
                acting[1] < 0.5 * plain[1],
                "{mass} kg: {acting:?} {plain:?}"
            );
            assert!(
                acting[0] < 1.05 * plain[0],
                "{mass} kg: {acting:?} {plain:?}"
            );
        }
    }

    #[test]
    fn a_model_that_says_nonsense_hardly_acts() {
        let robot = Upkie::default();
        let plain = followed(1.0, Fixed(|_: &[f64]| 0.0));
        let nonsense = |case: usize, x: &[f64]| match case {
            0 => f64::NAN,
            1 => 5.0,
            2 => -3.0 * robot.inverse(&[10.0], x),
            _ => 1e9 * x[1].signum(),
        };
        for case in 0..4 {
            let [away, lag] = followed(1.0, Fixed(|x: &[f64]| nonsense(case, x)));
            assert!(away < 1.05 * plain[0], "{case}: {away} of {plain:?}");
            assert!(lag < 1.05 * plain[1], "{case}: {lag} of {plain:?}");
        }
    }

    /// The balance after a mass was identified.
    fn balance(mass: f64, error: f64) -> f64 {
        let run = UpkieLoop::new(Upkie::default(), 1.0, 0.0).unwrap();
        let mut controller = AdaptiveUpkie::new(run, Fixed(|_: &[f64]| 0.0)).controller;
        controller.weigh(&Estimate {
            values: vec![mass],
            standard_errors: vec![error],
        });
        for _ in 0..1000 {
            controller.rebalance();
        }
        controller.balancer.balance()
    }

    #[test]
    fn only_a_possible_mass_that_refutes_the_old_one_moves_the_balance() {
        let [light, heavy] = [1.0, 4.0].map(|mass| Upkie::default().standing(mass)[6]);
        assert!((balance(4.0, 0.1) - heavy).abs() < 1e-6);
        for (mass, error) in [(4.0, 2.0), (-3.0, 0.1), (f64::NAN, 0.1), (4.0, f64::NAN)] {
            assert_eq!(balance(mass, error), light, "{mass} ± {error} kg");
        }
    }

    #[test]
    fn a_torso_of_which_nobody_told_the_controller_is_weighed_and_balanced() {
        for mass in [0.5, 4.0, 10.0] {
            let run = UpkieLoop::settled(Upkie::default(), mass, 0.0).unwrap();
            let mut run = AdaptiveUpkie::new(run, model());
            let light = Upkie::default().standing(1.0)[6];
            assert_eq!(run.controller.believed, (1.0, light));
            for _ in 0..600 {
                run.step().unwrap();
            }
            let (believed, _) = run.controller.believed;
            assert!(
                (believed / mass - 1.0).abs() < 0.25,
                "{believed}, {mass} kg"
            );
            let (balance, right) = (
                run.controller.balancer.balance(),
                Upkie::default().standing(mass)[6],
            );
            assert!(
                (balance - right).abs() < 0.2 * (light - right).abs(),
                "{balance} rad for {mass} kg"
            );
        }
    }

    #[test]
    fn a_balance_that_was_calibrated_for_the_torso_does_not_give_its_mass_away() {
        let balance = |mass: f64| {
            let run = UpkieLoop::calibrated(Upkie::default(), mass, 0.0).unwrap();
            let controller = AdaptiveUpkie::new(run, model()).controller;
            (controller.believed, controller.balancer.balance())
        };
        assert_eq!(balance(10.0), balance(1.0));
    }

    #[test]
    fn a_torso_without_mass_is_refused_with_the_value() {
        let plant = UpkieLoop::new(Upkie::default(), 1.0, 0.0).unwrap();
        let mut run = AdaptiveUpkie::new(plant, model());
        for mass in [0.0, -1.0] {
            let error = run.change_mass(mass).unwrap_err().to_string();
            assert!(error.contains(&format!("but is {mass}")), "{error}");
        }
    }
}
