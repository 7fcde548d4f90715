//! The curves of the paper's figures: errors against training tasks, misalignment and shots.

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
    learners::{LearnerError, Model, Settings},
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
/// Most training steps of one ε: its grids are large, and a curve takes many trainings.
const MOST_STEPS: usize = 2_000;
/// Samples that a model adapts from in the figures of training tasks and of ε.
const TASK_SHOTS: usize = 10;
const EPSILON_SHOTS: usize = 40;

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
/// that the system has, and all of them.
pub fn against_tasks(
    system: &str,
    method: &str,
    counts: &[usize],
    seed: u64,
) -> Result<Curve, EvaluationError> {
    let settings = Settings::new(system, method)?;
    let mut environments = systems::by_name(system)?.environments(Split::Train, seed);
    environments.shuffle(&mut generator(seed, TASK_STREAM));
    let all = environments.len();
    let fewer = counts.iter().copied().filter(|count| *count < all);
    let mut points = Vec::new();
    for count in fewer.chain([all]) {
        let physics = systems::by_name(system)?;
        let some = &environments[..count];
        let (model, made) = train(physics.as_ref(), &settings, some, seed, |_| ())?;
        let cell = cell(&settings, TASK_SHOTS, seed);
        let record = measure(&cell, physics, model, &made)?;
        points.push(Point::new(count as f64, record));
    }
    Ok(curve("tasks", settings, seed, points))
}

/// Error from 40 shots against the size ε of the capacitor's misalignments.
pub fn against_epsilon(
    method: &str,
    epsilons: &[f64],
    seed: u64,
) -> Result<Curve, EvaluationError> {
    let settings = epsilon_settings(method)?;
    let mut points = Vec::new();
    for &epsilon in epsilons {
        let physics = Capacitor::new(epsilon, GRID_SIZE, Edges::Stairs)?;
        let environments = physics.environments(Split::Train, seed);
        let (model, made) = train(&physics, &settings, &environments, seed, |_| ())?;
        let cell = cell(&settings, EPSILON_SHOTS, seed);
        let record = measure(&cell, Box::new(physics), model, &made)?;
        points.push(Point::new(epsilon, record));
    }
    Ok(curve("epsilon", settings, seed, points))
}

/// What the curves of [`against_epsilon`] are trained with.
pub fn epsilon_settings(method: &str) -> Result<Settings, LearnerError> {
    let usual = Settings::new("capacitor-eps", method)?;
    Ok(Settings {
        steps: usual.steps.min(MOST_STEPS),
        ..usual
    })
}

/// Error of a trained model against the number of shots, in the trials of the table; numbers that
/// it cannot adapt from are left out, and those of the table are added.
pub fn against_shots(model: &Model, shots: &[usize], seed: u64) -> Result<Curve, EvaluationError> {
    let settings = model.settings().clone();
    let made = Made {
        settings: settings.clone(),
        device: String::new(),
        training_seconds: 0.0,
    };
    let mut all = [shots, protocol(&settings.system).shots].concat();
    all.retain(|shots| *shots >= model.least_shots());
    all.sort_unstable();
    all.dedup();
    let physics = systems::by_name(&settings.system)?;
    let mut evaluator = Evaluator::new(physics, Arc::new(model.clone()), seed)?;
    let mut points = Vec::new();
    for shots in all {
        let record = evaluator.record(&cell(&settings, shots, seed), &made)?;
        points.push(Point::new(shots as f64, record));
    }
    Ok(curve("shots", settings, seed, points))
}

fn cell(settings: &Settings, shots: usize, seed: u64) -> Cell {
    Cell {
        system: settings.system.clone(),
        method: settings.method.clone(),
        shots,
        trials: protocol(&settings.system).trials,
        seed,
        noise: 0.0,
    }
}

fn curve(figure: &str, settings: Settings, seed: u64, points: Vec<Point>) -> Curve {
    Curve {
        figure: figure.to_owned(),
        system: settings.system.clone(),
        method: settings.method.clone(),
        seed,
        spec: Some(settings),
        points,
    }
}

/// All trials of a cell.
fn measure(
    cell: &Cell,
    system: Box<dyn System>,
    model: Model,
    made: &Made,
) -> Result<Record, EvaluationError> {
    let mut evaluator = Evaluator::new(system, Arc::new(model), cell.seed)?;
    evaluator.record(cell, made)
}

impl Curve {
    /// The largest factor between this curve of shots and the same cells of a table; none where the
    /// table has no such cell. A curve of the same model agrees up to rounding.
    pub fn off_by(&self, table: &[Record]) -> Option<f64> {
        let factor = |point: &Point| {
            let same = |r: &&Record| {
                (&r.system, &r.method, r.seed) == (&self.system, &self.method, self.seed)
                    && (r.shots as f64, r.noise, r.mse.n) == (point.x, 0.0, point.mse.n)
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
        let mut record = measure(&cell(&settings, 50, 1), physics, model, &made).unwrap();
        let factor = curve.off_by(std::slice::from_ref(&record)).unwrap();
        assert!(factor < 1.0 + 1e-9, "{factor}");
        record.mse.mean *= 2.0;
        assert!(curve.off_by(std::slice::from_ref(&record)) > Some(1.9));
        record.seed = 2;
        assert_eq!(curve.off_by(&[record]), None);
    }
}
