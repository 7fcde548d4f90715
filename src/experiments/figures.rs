//! The curves of the paper's figures: errors against training tasks, misalignment and shots.
//!
//! Each goes through the table: where a point is what a cell of the table is, its model is the table's.

use std::sync::Arc;

use rand::seq::SliceRandom as _;
use serde::{Deserialize, Serialize};

use super::{
    evaluate::EvaluationError,
    record::{Record, Summary},
    table::{Cell, Evaluator, Made, protocol},
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

/// The figures: what their abscissa is.
pub const FIGURES: [&str; 3] = ["tasks", "epsilon", "shots"];
/// Stream of the choice of training tasks.
const TASK_STREAM: u64 = 75;
/// Samples that a model adapts from in the figures of training tasks and of ε: numbers of the table.
const TASK_SHOTS: usize = 10;
const EPSILON_SHOTS: usize = 30;
/// The system of the figure of ε, and the ε of the table.
pub const EPSILON_SYSTEM: &str = "capacitor-eps";
const TABLE_EPSILON: f64 = 0.1;

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
    /// What the learner was trained with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Settings>,
    /// From left to right.
    pub points: Vec<Point>,
}

/// One point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Training tasks, size of the misalignment, or shots.
    pub x: f64,
    /// Mean squared error over the mean squared target of all trials.
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

/// Error from 10 shots against the number of training tasks, chosen at random: those of `counts`
/// that the system has, and all of them, which the table's model was trained on.
pub fn against_tasks(whole: &Model, counts: &[usize], seed: u64) -> Result<Curve, EvaluationError> {
    let settings = whole.settings();
    let physics = systems::by_name(&settings.system)?;
    let mut environments = physics.environments(Split::Train, seed);
    environments.shuffle(&mut generator(seed, TASK_STREAM));
    let mut points = Vec::new();
    for &count in counts.iter().filter(|count| **count < environments.len()) {
        let physics = systems::by_name(&settings.system)?;
        let some = &environments[..count];
        let (model, _) = train(physics.as_ref(), settings, some, seed, |_| ())?;
        points.push(point(count as f64, TASK_SHOTS, physics, model, seed)?);
    }
    let all = environments.len() as f64;
    points.push(point(all, TASK_SHOTS, physics, whole.clone(), seed)?);
    Ok(curve("tasks", settings, seed, points))
}

/// Error from 30 shots against the size ε of the capacitor's misalignments; the table's model is of
/// one of them.
pub fn against_epsilon(
    known: &Model,
    epsilons: &[f64],
    seed: u64,
) -> Result<Curve, EvaluationError> {
    let settings = known.settings();
    let mut points = Vec::new();
    for &epsilon in epsilons {
        let physics = Box::new(Capacitor::new(epsilon, GRID_SIZE, Edges::Stairs)?);
        let model = if epsilon == TABLE_EPSILON {
            known.clone()
        } else {
            let environments = physics.environments(Split::Train, seed);
            train(physics.as_ref(), settings, &environments, seed, |_| ())?.0
        };
        points.push(point(epsilon, EPSILON_SHOTS, physics, model, seed)?);
    }
    Ok(curve("epsilon", settings, seed, points))
}

/// Error of a trained model against the number of shots, in the trials of the table; numbers that
/// it cannot adapt from are left out, and those of the table are added.
pub fn against_shots(model: &Model, shots: &[usize], seed: u64) -> Result<Curve, EvaluationError> {
    let settings = model.settings();
    let mut all = [shots, protocol(&settings.system).shots].concat();
    all.retain(|shots| *shots >= model.least_shots());
    all.sort_unstable();
    all.dedup();
    let physics = systems::by_name(&settings.system)?;
    let mut evaluator = Evaluator::new(physics, Arc::new(model.clone()), seed)?;
    let mut points = Vec::new();
    for shots in all {
        points.push(measured(
            shots as f64,
            shots,
            &mut evaluator,
            settings,
            seed,
        )?);
    }
    Ok(curve("shots", settings, seed, points))
}

fn curve(figure: &str, settings: &Settings, seed: u64, points: Vec<Point>) -> Curve {
    Curve {
        figure: figure.to_owned(),
        system: settings.system.clone(),
        method: settings.method.clone(),
        seed,
        spec: Some(settings.clone()),
        points,
    }
}

/// The point of a model at `x`, from so many shots.
fn point(
    x: f64,
    shots: usize,
    system: Box<dyn System>,
    model: Model,
    seed: u64,
) -> Result<Point, EvaluationError> {
    let settings = model.settings().clone();
    let mut evaluator = Evaluator::new(system, Arc::new(model), seed)?;
    measured(x, shots, &mut evaluator, &settings, seed)
}

/// The point of all trials of a noise-free cell.
fn measured(
    x: f64,
    shots: usize,
    evaluator: &mut Evaluator,
    settings: &Settings,
    seed: u64,
) -> Result<Point, EvaluationError> {
    let cell = Cell {
        system: settings.system.clone(),
        method: settings.method.clone(),
        shots,
        trials: protocol(&settings.system).trials,
        seed,
        noise: 0.0,
    };
    let made = Made {
        settings: settings.clone(),
        device: String::new(),
        training_seconds: 0.0,
    };
    Ok(Point::new(x, evaluator.record(&cell, &made)?))
}

impl Curve {
    /// The largest factor between this curve and the same cells of a table; none where the table has
    /// no such cell. A curve of the same models agrees up to rounding.
    pub fn off_by(&self, table: &[Record]) -> Option<f64> {
        let last = self.points.last().map(|point| point.x);
        let factor = |point: &Point| {
            let shots = match self.figure.as_str() {
                "shots" => point.x as usize,
                "tasks" => Some(TASK_SHOTS).filter(|_| last == Some(point.x))?,
                _ => Some(EPSILON_SHOTS).filter(|_| point.x == TABLE_EPSILON)?,
            };
            let same = |r: &&Record| {
                (&r.system, &r.method, r.seed) == (&self.system, &self.method, self.seed)
                    && (r.shots, r.noise, r.mse.n) == (shots, 0.0, point.mse.n)
            };
            let record = table.iter().find(same)?;
            let ratio = point.mse.mean / record.mse.mean;
            Some(ratio.max(ratio.recip()))
        };
        let factors = self.points.iter().filter_map(factor);
        factors.max_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A short training: the point is what is compared, not how good it is.
    #[test]
    fn a_curve_of_shots_goes_through_the_cells_of_the_table() {
        let mut settings = Settings::new("pendulum", "camel").unwrap();
        settings.steps = 20;
        let physics = systems::by_name("pendulum").unwrap();
        let environments = physics.environments(Split::Train, 1);
        let trained = train(physics.as_ref(), &settings, &environments, 1, |_| ());
        let (model, made) = trained.unwrap();
        let curve = against_shots(&model, &[20], 1).unwrap();
        let shots: Vec<_> = curve.points.iter().map(|point| point.x).collect();
        assert_eq!(shots, [10.0, 20.0, 50.0]);
        let mut record = record(physics, &model, 50, &made);
        let factor = curve.off_by(std::slice::from_ref(&record)).unwrap();
        assert!(factor < 1.0 + 1e-9, "{factor}");
        record.mse.mean *= 2.0;
        assert!(curve.off_by(std::slice::from_ref(&record)) > Some(1.9));
        record.seed = 2;
        assert_eq!(curve.off_by(&[record]), None);
    }

    fn record(system: Box<dyn System>, model: &Model, shots: usize, made: &Made) -> Record {
        let cell = Cell {
            system: made.settings.system.clone(),
            method: made.settings.method.clone(),
            shots,
            trials: protocol(&made.settings.system).trials,
            seed: 1,
            noise: 0.0,
        };
        let mut evaluator = Evaluator::new(system, Arc::new(model.clone()), 1).unwrap();
        evaluator.record(&cell, made).unwrap()
    }

    #[test]
    fn the_last_point_of_training_tasks_is_the_cell_of_the_table() {
        let mut settings = Settings::new("charges-pair", "camel").unwrap();
        settings.steps = 5;
        let physics = systems::by_name("charges-pair").unwrap();
        let environments = physics.environments(Split::Train, 1);
        let trained = train(physics.as_ref(), &settings, &environments, 1, |_| ());
        let (model, made) = trained.unwrap();
        let curve = against_tasks(&model, &[3, 1_000], 1).unwrap();
        let counts: Vec<_> = curve.points.iter().map(|point| point.x).collect();
        assert_eq!(counts, [3.0, environments.len() as f64]);
        let factor = curve.off_by(&[record(physics, &model, TASK_SHOTS, &made)]);
        assert!(
            factor.is_some_and(|factor| factor < 1.0 + 1e-9),
            "{factor:?}"
        );
    }
}
