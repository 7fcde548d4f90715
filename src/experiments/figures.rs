//! The curves of the paper's figures: errors against training tasks, misalignment and shots.

use std::sync::Arc;

use rand::seq::SliceRandom as _;
use serde::{Deserialize, Serialize};

use super::{
    evaluate::EvaluationError,
    record::{Record, Summary},
    table::{Cell, Evaluator, Made},
    training::train,
};
use crate::{
    learners::{Model, Settings},
    random::generator,
    systems::{
        self, Split, System,
        capacitor::{Capacitor, Edges, GRID_SIZE},
    },
};

/// Stream of the choice of training tasks.
const TASK_STREAM: u64 = 75;
/// Training steps of one point of a curve: a curve takes many trainings.
const STEPS: usize = 5_000;
/// Environments that a point is averaged over, where a trial is cheap and where it is not.
const TRIALS: usize = 30;
const FEW_TRIALS: usize = 5;

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What the abscissa is: `tasks`, `epsilon` or `shots`.
    pub figure: String,
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Seed of trainings and trials.
    pub seed: u64,
    /// From left to right.
    pub points: Vec<Point>,
}

/// One point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Training tasks, size of the misalignment, or shots.
    pub x: f64,
    /// Mean squared error over the mean squared target.
    pub nmse: Summary,
    /// Mean squared error.
    pub mse: Summary,
    /// Relative error of the identified parameters.
    pub identification_error: Option<Summary>,
    /// Mean squared error of the model that is given the true parameters.
    pub zero_shot_error: Option<Summary>,
}

impl Point {
    fn new(x: f64, record: Record) -> Self {
        Self {
            x,
            nmse: record.nmse,
            mse: record.mse,
            identification_error: record.identification_error,
            zero_shot_error: record.zero_shot_error,
        }
    }
}

/// Error from 10 shots against the number of training tasks, chosen at random.
pub fn against_tasks(
    system: &str,
    method: &str,
    counts: &[usize],
    seed: u64,
) -> Result<Curve, EvaluationError> {
    let mut points = Vec::new();
    for &count in counts {
        let physics = systems::by_name(system)?;
        let mut environments = physics.environments(Split::Train, seed);
        environments.shuffle(&mut generator(seed, TASK_STREAM));
        environments.truncate(count);
        let mut settings = Settings::new(system, method)?;
        settings.steps = settings.steps.min(STEPS);
        let cell = cell(system, method, 10, TRIALS, seed);
        let (model, made) = train(physics.as_ref(), &settings, &environments, seed, |_| ())?;
        points.push(Point::new(
            environments.len() as f64,
            measure(&cell, physics, model, &made)?,
        ));
    }
    Ok(curve("tasks", system, method, seed, points))
}

/// Error from 40 shots against the size ε of the capacitor's misalignments.
pub fn against_epsilon(
    method: &str,
    epsilons: &[f64],
    seed: u64,
) -> Result<Curve, EvaluationError> {
    let mut points = Vec::new();
    for &epsilon in epsilons {
        let physics = Capacitor::new(epsilon, GRID_SIZE, Edges::Stairs)?;
        let environments = physics.environments(Split::Train, seed);
        let mut settings = Settings::new("capacitor-eps", method)?;
        settings.steps = settings.steps.min(STEPS);
        let cell = cell("capacitor-eps", method, 40, FEW_TRIALS, seed);
        let (model, made) = train(&physics, &settings, &environments, seed, |_| ())?;
        points.push(Point::new(
            epsilon,
            measure(&cell, Box::new(physics), model, &made)?,
        ));
    }
    Ok(curve("epsilon", "capacitor-eps", method, seed, points))
}

/// Error of a trained model against the number of shots; numbers that it cannot adapt from are
/// left out.
pub fn against_shots(model: &Model, shots: &[usize], seed: u64) -> Result<Curve, EvaluationError> {
    let settings = model.settings();
    let (system, method) = (settings.system.as_str(), settings.method.as_str());
    let made = Made {
        settings: settings.clone(),
        device: String::new(),
        training_seconds: 0.0,
    };
    let trials = if system.starts_with("capacitor") {
        FEW_TRIALS
    } else {
        TRIALS
    };
    let usable = shots.iter().filter(|&&shots| shots >= model.least_shots());
    let mut points = Vec::new();
    for &shots in usable {
        let cell = cell(system, method, shots, trials, seed);
        let physics = systems::by_name(system)?;
        points.push(Point::new(
            shots as f64,
            measure(&cell, physics, model.clone(), &made)?,
        ));
    }
    Ok(curve("shots", system, method, seed, points))
}

fn cell(system: &str, method: &str, shots: usize, trials: usize, seed: u64) -> Cell {
    Cell {
        system: system.to_owned(),
        method: method.to_owned(),
        shots,
        trials,
        seed,
        noise: 0.0,
    }
}

fn curve(figure: &str, system: &str, method: &str, seed: u64, points: Vec<Point>) -> Curve {
    Curve {
        figure: figure.to_owned(),
        system: system.to_owned(),
        method: method.to_owned(),
        seed,
        points,
    }
}

/// All trials of a cell.
pub fn measure(
    cell: &Cell,
    system: Box<dyn System>,
    model: Model,
    made: &Made,
) -> Result<Record, EvaluationError> {
    let mut evaluator = Evaluator::new(system, Arc::new(model), cell.seed)?;
    evaluator.record(cell, made)
}
