//! Upkie at 200 Hz, `τ = clip(share · F(x̄; ŵ) + kd (ω* − ω))`, ŵ updated each tick.
//!
//! Model predictive control balances the robot by speeds ω* for the wheel servos. The model acts on it
//! twice: its torque for the planned features x̄ acts ahead of the servos, which then have little left to
//! correct, and once the mass that it identifies refutes the one that was believed, the controller
//! balances at that mass' pitch: a robot that leans otherwise than it thinks stands beside its path.
//! The model learns from measured features and torques alone; the mass and its changes stay in the
//! plant. What it says badly or too late hardly acts, see [`FeedForward`].

use serde::{Deserialize, Serialize};

use super::{balance::UpkieLoop, error::ControlError};
use crate::{
    identification::{
        online::{Estimate, OnlineModel},
        quantile::NOMINAL_95,
    },
    systems::System as _,
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

/// A balancing robot and a model that acts on it.
#[derive(Clone, Debug)]
pub struct AdaptiveUpkie<M> {
    plant: UpkieLoop,
    model: M,
    forward: FeedForward,
    /// Mass that the torso is taken to have [kg], and the pitch at which that is balanced [rad].
    believed: (f64, f64),
}

impl<M: OnlineModel> AdaptiveUpkie<M> {
    /// Lets a model act on a robot whose balance is known at the beginning.
    pub fn new(plant: UpkieLoop, model: M) -> Self {
        Self {
            believed: (plant.torso_mass(), plant.balance()),
            plant,
            model,
            forward: FeedForward::default(),
        }
    }

    /// One tick of 5 ms.
    pub fn step(&mut self) -> Result<UpkieTick, ControlError> {
        self.check_upright()?;
        let truth = self.plant.torso_mass();
        let command = self.plant.plan()?;
        let expected = self.model.predict(&command.features);
        let forward = self.forward.torque(expected);
        let tick = self.plant.obey(&command, forward)?;
        self.forward.see(tick.torque);
        let predicted = self.model.predict(&tick.features);
        let detected = self.model.observe(&tick.features, tick.torque);
        let estimate = self.model.identify();
        if let Some(estimate) = estimate.as_ref() {
            self.weigh(estimate);
        }
        self.rebalance();
        Ok(UpkieTick {
            time: tick.time,
            state: tick.state,
            features: tick.features,
            torque: tick.torque,
            forward,
            lag: tick.lag,
            predicted,
            estimate,
            detected,
            truth,
        })
    }

    /// Believes an identified mass once its error bar no longer holds the one that was believed.
    fn weigh(&mut self, estimate: &Estimate) {
        let first = |list: &[f64]| list.first().copied().unwrap_or(f64::NAN);
        let mass = first(&estimate.values);
        let bar = NOMINAL_95 * first(&estimate.standard_errors);
        let refuted = (mass - self.believed.0).abs() > bar;
        let robot = self.plant.robot();
        if refuted && robot.check(&[mass]).is_ok() {
            self.believed = (mass, robot.standing(mass)[6]);
        }
    }

    /// Leads the controller towards the balance of the mass that is believed.
    fn rebalance(&mut self) {
        let present = self.plant.balance();
        self.plant
            .rebalance(present + EASE * (self.believed.1 - present));
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
        control::controllers::Fixed,
        identification::{
            change::CusumSettings,
            model::KnownFeatures,
            online::OnlineLeastSquares,
            recursive::{Drift, RecursiveSettings},
        },
        systems::{Robot as _, upkie::Upkie},
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

    /// Mean distance from the path [m] and mean lag of the wheels [m/s] over 1,000 ticks.
    fn followed(torso_mass: f64, model: impl OnlineModel) -> [f64; 2] {
        let plant = UpkieLoop::settled(Upkie::default(), torso_mass, 0.01).unwrap();
        let mut run = AdaptiveUpkie::new(plant, model);
        (0..1000).fold([0.0; 2], |[away, lag], _| {
            let wanted = run.plant().target();
            let tick = run.step().unwrap();
            let distance = (tick.state[0] - wanted).abs();
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
        let plant = UpkieLoop::new(Upkie::default(), 1.0, 0.0).unwrap();
        let mut run = AdaptiveUpkie::new(plant, Fixed(|_: &[f64]| 0.0));
        run.weigh(&Estimate {
            values: vec![mass],
            standard_errors: vec![error],
        });
        for _ in 0..1000 {
            run.rebalance();
        }
        run.plant().balance()
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
    fn a_torso_without_mass_is_refused_with_the_value() {
        let plant = UpkieLoop::new(Upkie::default(), 1.0, 0.0).unwrap();
        let mut run = AdaptiveUpkie::new(plant, model());
        for mass in [0.0, -1.0] {
            let error = run.change_mass(mass).unwrap_err().to_string();
            assert!(error.contains(&format!("but is {mass}")), "{error}");
        }
    }
}
