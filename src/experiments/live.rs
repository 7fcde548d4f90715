//! The live demonstration: cartpoles swing up and sway, and a visitor changes their carts' mass.
//!
//! Three lanes follow the same reference with the same regulator, under the same disturbance and the
//! same changes. They differ in the model that predicts the input: CAMEL, which adapts by recursive
//! least squares and identifies; ANIL, which adapts by gradient steps to the last second; and the textbook's formula without friction, which goes on believing the first
//! masses. The two that learn begin with fifty shots,
//! and what either has not learned by the end of a tick comes late.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use web_time::Instant;

use self::lane::Lane;
use super::evaluate::{EvaluationError, known_parameters};
use crate::{
    control::{
        controllers::{Fixed, Textbook as _, WINDOW},
        error::ControlError,
        feedback::TrajectoryFeedback,
        reference::DISTURBANCE,
        shots::Shots,
        sway::Show,
    },
    identification::{
        budget::Budgeted, identifier::Identifier, learned::LearnedModel, online::OnlineModel,
        window::WindowAdaptation,
    },
    learners::{LearnerError, Model, weights},
    systems::cartpole::Cartpole,
};

mod lane;

pub use lane::LaneTick;

/// Weights of the models that drive the demonstration; `camel pretrain` makes them.
const CAMEL: &[u8] = include_bytes!("../../public/weights/cartpole-camel.safetensors");
const ANIL: &[u8] = include_bytes!("../../public/weights/cartpole-anil.safetensors");
/// The models of the lanes, in order.
pub const LANES: [&str; 3] = ["camel", "anil", "analytic"];
/// Cart and pole at the start [kg].
pub use crate::control::reference::START_MASSES as MASSES;
/// Weight of the input in the regulator along the reference.
const INPUT_WEIGHT: f64 = 0.5;

/// What a visitor does to the demonstration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Gives the carts another mass [kg].
    CartMass(f64),
    /// Stops the clock, or lets it run.
    Paused(bool),
    /// Makes so many steps while the clock stands.
    Step(usize),
    /// Runs so many times as fast as real time.
    Speed(f64),
    /// Starts anew.
    Reset,
}

/// One step of the demonstration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    /// Time since the start [s].
    pub time: f64,
    /// True cart mass [kg].
    pub mass: f64,
    /// The lanes, in the order of [`LANES`].
    pub lanes: Vec<LaneTick>,
}

/// Why the demonstration cannot go on.
#[derive(Debug, Error)]
pub enum LiveError {
    /// The shipped weights.
    #[error(transparent)]
    Weights(#[from] LearnerError),
    /// The model.
    #[error(transparent)]
    Model(#[from] EvaluationError),
    /// The controller.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A file of the site that could not be read.
    #[error("the model could not be loaded: {0}")]
    File(String),
}

/// The demonstration, step by step.
#[derive(Debug)]
pub struct Live {
    identifier: Identifier<LearnedModel>,
    anil: Arc<Model>,
    show: Show,
    feedback: TrajectoryFeedback,
    lanes: Vec<Lane>,
    steps: usize,
    /// Seed of the first shots and of the disturbance.
    seed: u64,
}

impl Live {
    /// The demonstration with the shipped models.
    pub fn new() -> Result<Self, LiveError> {
        let models = [CAMEL, ANIL].map(weights::import);
        let [camel, anil] = models;
        Self::with_models(&Arc::new(camel?), Arc::new(anil?))
    }

    /// The demonstration with any two models of the cartpole, the first affine in its context.
    pub fn with_models(camel: &Arc<Model>, anil: Arc<Model>) -> Result<Self, LiveError> {
        let cartpole = Cartpole::default();
        let identifier = known_parameters(&cartpole, camel, 0)?.ok_or_else(|| {
            ControlError::from(crate::systems::SystemError::Invalid(format!(
                "{} cannot drive the demonstration: it is not affine in its context",
                camel.settings().method
            )))
        })?;
        let show = Show::new(&cartpole, &MASSES).map_err(ControlError::from)?;
        let feedback =
            TrajectoryFeedback::cartpole(&cartpole, &MASSES, &show.reference, INPUT_WEIGHT);
        let mut live = Self {
            identifier,
            anil,
            show,
            feedback,
            lanes: Vec::new(),
            steps: 0,
            seed: 0,
        };
        live.reset()?;
        Ok(live)
    }

    /// Makes so many control steps. Also returns the time that each lane took for all of them [s].
    pub fn advance(&mut self, steps: usize) -> Result<(Vec<Tick>, Vec<f64>), LiveError> {
        let (time_step, mass) = (self.time_step(), self.cart_mass());
        let mut ticks: Vec<Tick> = (1..=steps)
            .map(|step| Tick {
                time: (self.steps + step) as f64 * time_step,
                mass,
                lanes: Vec::with_capacity(LANES.len()),
            })
            .collect();
        let mut seconds = Vec::with_capacity(LANES.len());
        for lane in &mut self.lanes {
            let begun = Instant::now();
            for tick in &mut ticks {
                tick.lanes.push(lane.step()?);
            }
            seconds.push(begun.elapsed().as_secs_f64());
        }
        self.steps += steps;
        Ok((ticks, seconds))
    }

    /// The true mass of the carts [kg].
    pub fn cart_mass(&self) -> f64 {
        self.lanes.first().map_or(MASSES[0], Lane::cart_mass)
    }

    /// Gives the carts of all lanes another mass [kg]. Nobody tells the controllers.
    pub fn set_cart_mass(&mut self, mass: f64) -> Result<(), LiveError> {
        for lane in &mut self.lanes {
            lane.set_cart_mass(mass)?;
        }
        Ok(())
    }

    /// Starts anew with the first masses.
    pub fn reset(&mut self) -> Result<(), LiveError> {
        let mut lanes = Vec::with_capacity(LANES.len());
        for method in LANES {
            let model = self.model(method)?;
            lanes.push(Lane::new(
                &self.show,
                self.feedback.clone(),
                model,
                self.seed,
            )?);
        }
        self.lanes = lanes;
        self.steps = 0;
        Ok(())
    }

    fn model(&self, method: &str) -> Result<Box<dyn OnlineModel>, ControlError> {
        let robot = Cartpole::default();
        let shots = Shots::of(&robot, &MASSES, WINDOW, DISTURBANCE, self.seed)?;
        let tick = Duration::from_secs_f64(self.time_step());
        let mut model: Box<dyn OnlineModel> = match method {
            "camel" => {
                let (first, end) = self.show.repeats;
                let online = self.identifier.online(DISTURBANCE)?;
                Box::new(Budgeted::new(online.repeating(end - first), tick))
            }
            "anil" => {
                let model = WindowAdaptation::new(self.anil.clone(), WINDOW, 1)?;
                Box::new(Budgeted::new(model, tick))
            }
            _ => Box::new(Fixed(move |x: &[f64]| robot.frictionless(&MASSES, x))),
        };
        model.warm_up(&shots.inputs, &shots.targets);
        Ok(model)
    }

    /// Time between two steps [s].
    pub fn time_step(&self) -> f64 {
        self.show.reference.dt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{control::sway::PERIOD, identification::quantile::NOMINAL_95};

    /// The demonstration after so many steps, and its last step.
    fn after(live: &mut Live, steps: usize) -> Tick {
        live.advance(steps).unwrap().0.pop().unwrap()
    }

    #[test]
    fn the_learned_models_swing_up_and_sway_for_ever() {
        let mut live = Live::new().unwrap();
        let (ticks, seconds) = live.advance(6_000).unwrap();
        assert_eq!(seconds.len(), LANES.len());
        for lane in 0..2 {
            assert!(ticks.iter().all(|tick| tick.lanes[lane].falls == 0));
            assert!(ticks.iter().all(|tick| tick.lanes[lane].off < 0.2));
        }
        assert!(ticks.iter().all(|tick| !tick.lanes[0].noticed));
        assert!(ticks[240].lanes[0].state[2].cos() < -0.9);
    }

    #[test]
    fn a_doubled_mass_is_noticed_and_identified_whenever_it_comes() {
        for moment in [450, 701, 777, 850] {
            let mut live = Live::new().unwrap();
            after(&mut live, moment);
            live.set_cart_mass(2.0 * MASSES[0]).unwrap();
            let (ticks, _) = live.advance(400).unwrap();
            assert!(ticks.iter().take(30).any(|tick| tick.lanes[0].noticed));
            let soon = ticks[49].lanes[0].identified.unwrap();
            assert!(
                (soon - 3.0).abs() < 0.3,
                "{soon} kg a second after {moment}"
            );
            let camel = &ticks[399].lanes[0];
            assert_eq!(camel.falls, 0, "at {moment}");
            let mass = camel.identified.unwrap();
            assert!((mass - 3.0).abs() < 0.2, "{mass} kg at {moment}");
        }
    }

    #[test]
    fn the_textbook_falls_under_the_doubled_mass_and_is_put_back() {
        let mut live = Live::new().unwrap();
        after(&mut live, 600);
        live.set_cart_mass(2.0 * MASSES[0]).unwrap();
        let textbook = after(&mut live, 1_500).lanes[2].clone();
        assert!(textbook.falls > 0);
        live.set_cart_mass(MASSES[0]).unwrap();
        let upright = after(&mut live, 800).lanes[2].clone();
        assert!(!upright.fallen && upright.state[2].cos() < -0.9);
    }

    #[test]
    fn a_mass_of_nothing_is_refused_with_its_value() {
        let mut live = Live::new().unwrap();
        let error = live.set_cart_mass(0.0).unwrap_err().to_string();
        assert!(error.contains("but is 0"), "{error}");
        assert_eq!(live.cart_mass(), MASSES[0]);
    }

    /// First seed of trials with which nothing was chosen.
    const FRESH: u64 = 80_000;

    /// Any mass of the slider, set at any time, some of them long ago: the show repeats itself, and the
    /// model's errors with it.
    #[test]
    fn error_bars_cover_the_mass_as_often_as_they_say_however_long_the_show_goes_on() {
        const TRIALS: u32 = 1_000;
        let mut live = Live::new().unwrap();
        let mut covered = [0, 0];
        for trial in 0..TRIALS {
            let mass = 0.75 + 2.75 * f64::from(trial) / f64::from(TRIALS - 1);
            live.seed = FRESH + u64::from(trial);
            live.reset().unwrap();
            live.lanes.truncate(1);
            after(&mut live, 300 + (77 * trial as usize) % PERIOD);
            live.set_cart_mass(mass).unwrap();
            for (steps, covered) in [100, 900].into_iter().zip(&mut covered) {
                let lane = after(&mut live, steps).lanes.remove(0);
                let off = (lane.identified.unwrap() - mass).abs();
                *covered += u32::from(off <= NOMINAL_95 * lane.standard_error.unwrap());
            }
        }
        let shares = covered.map(|covered| f64::from(covered) / f64::from(TRIALS));
        println!("covered two and twenty seconds after the change: {shares:?}");
        let honest = |share: &f64| (0.85..=0.99).contains(share);
        assert!(shares.iter().all(honest), "{shares:?}");
    }
}
