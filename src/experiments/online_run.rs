//! One run of online control: a mass changes by a factor and at a time that the visitor chooses, and
//! the model is never told.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use web_time::Instant;

use super::live::{CAMEL, LiveError};
use crate::{
    control::{
        adaptive::{AdaptiveLoop, Controller},
        balance::UpkieLoop,
        compensation::Compensation,
        error::ControlError,
        feedback::TipFeedback,
        plant::Plant,
        reference::Reference,
        tracking::tip_distance,
        upkie_adaptive::UpkieIdentification,
    },
    engine::{pacing::Host, protocol::Event},
    identification::{
        identifier::Identifier,
        learned::LearnedModel,
        model::PhysicalModel,
        online::{Estimate, OnlineLeastSquares},
    },
    learners::weights,
    systems::{Robot as _, System, SystemError, cartpole::Cartpole, upkie::Upkie},
};

/// Weights of Upkie's model; `camel pretrain` makes them.
const UPKIE: &[u8] = include_bytes!("../../public/weights/upkie-camel.safetensors");
/// Cart and pole before the change [kg].
const MASSES: [f64; 2] = [1.5, 0.3];
/// Torso before the change [kg].
const TORSO: f64 = 1.0;
/// Random force on the cart [N].
const DISTURBANCE: f64 = 0.05;
/// Steps that adaptation takes at least.
const WINDOW: usize = 50;
/// Ticks of Upkie's run, 10 s.
const UPKIE_TICKS: usize = 2_000;
/// Points that a run keeps.
const POINTS: usize = 500;
/// Steps between two looks at the page.
const SLICE: usize = 50;

/// What to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnlineSpec {
    /// `cartpole` or `upkie`.
    pub system: String,
    /// Factor on the mass, above 0.
    pub factor: f64,
    /// Time of the change [s], within the run.
    pub time: f64,
    /// Seed of the disturbance.
    pub seed: u64,
}

/// One step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnlinePoint {
    /// Time [s].
    pub time: f64,
    /// True mass [kg].
    pub truth: f64,
    /// Identified mass [kg].
    pub estimate: f64,
    /// Its standard error [kg].
    pub standard_error: f64,
    /// Distance of the cartpole's tip to its reference [m], or error of Upkie's predicted torque
    /// [N m].
    pub error: f64,
}

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OnlineRun {
    /// Its steps, or every so many of them.
    pub points: Vec<OnlinePoint>,
    /// Times at which the model noticed a change [s].
    pub noticed: Vec<f64>,
    /// Time of a control step, simulation included [s].
    pub seconds_a_tick: f64,
}

/// Length of a system's run [s], if it has one.
pub fn duration(system: &str) -> Option<f64> {
    match system {
        "cartpole" => Some(24.0),
        "upkie" => Some(10.0),
        _ => None,
    }
}

/// Runs and tells the host of every event, the last one included.
pub async fn run(spec: &OnlineSpec, host: &impl Host) {
    let last = match online(spec, host).await {
        Ok(Some(run)) => Event::Online(Box::new(run)),
        Ok(None) => Event::Cancelled,
        Err(error) => Event::Failed(error.to_string()),
    };
    host.emit(last);
}

/// `None` if it was cancelled.
async fn online(spec: &OnlineSpec, host: &impl Host) -> Result<Option<OnlineRun>, LiveError> {
    let mut plant = Simulation::new(spec)?;
    let mut all = Vec::new();
    let mut run = OnlineRun::default();
    let begun = Instant::now();
    while let Some((point, noticed)) = plant.step()? {
        if noticed {
            run.noticed.push(point.time);
        }
        all.push(point);
        if all.len() % SLICE == 0 {
            host.breathe().await;
            if host.cancelled() {
                return Ok(None);
            }
        }
    }
    run.seconds_a_tick = begun.elapsed().as_secs_f64() / all.len().max(1) as f64;
    let stride = all.len().div_ceil(POINTS).max(1);
    run.points = all.into_iter().step_by(stride).collect();
    Ok(Some(run))
}

type Camel = OnlineLeastSquares<PhysicalModel<LearnedModel>>;

/// Either robot under control.
enum Simulation {
    Cartpole(Box<AdaptiveLoop<Cartpole, TipFeedback, Camel>>),
    Upkie {
        run: Box<UpkieIdentification<Camel>>,
        change: usize,
        mass: f64,
        ticks: usize,
    },
}

impl Simulation {
    fn new(spec: &OnlineSpec) -> Result<Self, LiveError> {
        let length = duration(&spec.system).ok_or_else(|| {
            ControlError::from(SystemError::Invalid(format!(
                "online control is for cartpole and upkie, but the system is '{}'",
                spec.system
            )))
        })?;
        if !(0.0..length).contains(&spec.time) {
            return Err(LiveError::Control(ControlError::Setting {
                name: "the time of the change",
                value: spec.time,
                allowed: format!("between 0 and {length} s"),
            }));
        }
        if spec.system == "cartpole" {
            return Ok(Self::cartpole(spec)?);
        }
        let robot = Upkie::default();
        robot
            .check(&[spec.factor * TORSO])
            .map_err(ControlError::from)?;
        let plant = UpkieLoop::new(robot.clone(), TORSO, 0.0).map_err(ControlError::from)?;
        let model = online_model(UPKIE, &robot, 0.0)?;
        Ok(Self::Upkie {
            run: Box::new(UpkieIdentification::new(plant, model)),
            change: (spec.time / robot.time_step()).round() as usize,
            mass: spec.factor * TORSO,
            ticks: 0,
        })
    }

    fn cartpole(spec: &OnlineSpec) -> Result<Self, ControlError> {
        let robot = Cartpole::default();
        let reference = Reference::cartpole_sine(&robot)?;
        let change = (spec.time / robot.time_step).round() as usize;
        let mut plant = Plant::new(robot.clone(), &MASSES, &[0.0; 4], DISTURBANCE, spec.seed)?;
        plant.schedule(change, 0, spec.factor * MASSES[0])?;
        let model = online_model(CAMEL, &robot, DISTURBANCE)?;
        let feedback = TipFeedback::adaptive(robot.clone());
        let controller = Controller::new(&robot, reference, feedback, model, WINDOW)?
            .with_compensation(Compensation::new(1.0)?);
        Ok(Self::Cartpole(Box::new(AdaptiveLoop::new(
            plant, controller,
        ))))
    }

    /// One step, and whether a change was noticed in it; `None` at the end.
    fn step(&mut self) -> Result<Option<(OnlinePoint, bool)>, ControlError> {
        match self {
            Self::Cartpole(run) => {
                let Some(tick) = run.step()? else {
                    return Ok(None);
                };
                let robot = run.plant().robot();
                let error = tip_distance(robot, &tick.state, &tick.reference);
                let time = tick.step as f64 * robot.time_step;
                let point = point(time, tick.truth[0], tick.estimate, error);
                Ok(Some((point, tick.detected)))
            }
            Self::Upkie { ticks, .. } if *ticks == UPKIE_TICKS => Ok(None),
            Self::Upkie {
                run,
                change,
                mass,
                ticks,
            } => {
                if ticks == change {
                    run.change_mass(*mass)?;
                }
                *ticks += 1;
                let tick = run.step()?;
                let error = (tick.predicted - tick.torque).abs();
                let point = point(tick.time, tick.truth, tick.estimate, error);
                Ok(Some((point, tick.detected)))
            }
        }
    }
}

fn point(time: f64, truth: f64, estimate: Option<Estimate>, error: f64) -> OnlinePoint {
    let Estimate {
        values,
        standard_errors,
    } = estimate.unwrap_or_default();
    let first = |list: Vec<f64>| list.first().copied().unwrap_or(0.0);
    OnlinePoint {
        time,
        truth,
        estimate: first(values),
        standard_error: first(standard_errors),
        error,
    }
}

fn online_model(bytes: &[u8], system: &dyn System, noise: f64) -> Result<Camel, ControlError> {
    let model = Arc::new(weights::import(bytes)?);
    let identifier = Identifier::of_model(&model, system, 0)?;
    Ok(identifier.online(noise)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(system: &str, factor: f64, time: f64) -> OnlineSpec {
        OnlineSpec {
            system: system.to_owned(),
            factor,
            time,
            seed: 0,
        }
    }

    #[test]
    fn the_new_mass_is_noticed_and_identified() {
        for (system, factor, mass) in [("cartpole", 2.0, 3.0), ("upkie", 4.0, 4.0)] {
            let mut run = Simulation::new(&spec(system, factor, 4.0)).unwrap();
            let (mut noticed, mut last) = (false, None);
            while let Some((point, alarm)) = run.step().unwrap() {
                noticed |= alarm && point.time >= 4.0;
                last = Some(point);
            }
            let last = last.unwrap();
            assert!(noticed, "{system}");
            assert_eq!(last.truth, mass);
            assert!((last.estimate / mass - 1.0).abs() < 0.15, "{last:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_value() {
        let message = |spec: &OnlineSpec| Simulation::new(spec).err().unwrap().to_string();
        assert!(message(&spec("cartpole", 0.0, 4.0)).contains("but is 0"));
        assert!(message(&spec("upkie", -1.0, 4.0)).contains("but is -1"));
        assert!(message(&spec("upkie", 4.0, 11.0)).contains("but is 11"));
        assert!(message(&spec("arm", 4.0, 1.0)).contains("'arm'"));
    }
}
