//! The benchmark's last part: how long CAMEL trains until its error in new environments is that of
//! the paper.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use web_time::Instant;

use super::{
    bench::{Measured, Plan},
    evaluate::Trial,
    report::ErrorSize,
    run::{Stop, breathe},
};
use crate::{
    charts::nullable,
    engine::pacing::{Host, Pace},
    learners::{Model, Settings, Trainer},
    systems::{self, Split},
};

/// The system and the shots.
const PROBLEM: (&str, usize) = ("cartpole", 100);
/// Errors to reach, largest first, and whose they are.
pub const GOALS: [(f64, &str); 2] = [
    (2.3e-2, "the authors' code at its end"),
    (3.1e-3, "printed in the paper"),
];
/// New environments whose mean error counts.
const ENVIRONMENTS: usize = 20;
/// Looks at the error in a whole training; their time does not count.
const LOOKS: usize = 100;
/// Longest training, in units of a measurement.
const PATIENCE: f64 = 120.0;

/// When an error was reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// The mean squared error to reach.
    pub goal: f64,
    /// Whose error that is.
    pub whose: String,
    /// Training time until then [s]; none if it was not reached.
    pub seconds: Option<f64>,
    /// Training steps until then, or all that were made.
    pub steps: usize,
    /// The error there.
    #[serde(with = "nullable::number")]
    pub error: f64,
}

/// Trains CAMEL until all goals are reached, or to the end; tells of each.
pub async fn measure(
    plan: &Plan,
    device: &Device,
    host: &impl Host,
    mut tell: impl FnMut(Measured),
) -> Result<(), Stop> {
    let (name, shots) = PROBLEM;
    let system = systems::by_name(name)?;
    let environments = system.environments(Split::Train, 0);
    let tasks: Result<Vec<_>, _> = environments
        .iter()
        .map(|phi| system.task(phi, Split::Train, 0))
        .collect();
    let unseen = system.environments(Split::Test, 0).into_iter().zip(0..);
    let trials: Result<Vec<_>, _> = unseen
        .take(ENVIRONMENTS)
        .map(|(phi, seed)| Trial::new(system.as_ref(), &phi, shots, 0.0, seed))
        .collect();
    let trials = trials?;
    let settings = match (Settings::new(name, "camel")?, plan.device.as_str()) {
        // The second-order search is for the processor.
        (settings, "webgpu") => settings.with_adam(),
        (settings, _) => settings,
    };
    let mut trainer = Trainer::new(&settings, &tasks?, 0, device)?;
    let (mut spent, mut left) = (0.0, GOALS.as_slice());
    while let Some(&(goal, whose)) = left.first() {
        spent += train(&mut trainer, settings.steps.div_ceil(LOOKS), host).await?;
        let error = mean_error(&trainer.snapshot().await?, &trials)?;
        let over = trainer.finished() || spent > PATIENCE * plan.seconds;
        let reached = error <= goal;
        if !reached && !over {
            continue;
        }
        left = &left[1..];
        tell(Measured::Accuracy(Accuracy {
            system: name.to_owned(),
            method: settings.method.clone(),
            goal,
            whose: whose.to_owned(),
            seconds: reached.then_some(spent),
            steps: trainer.progress().step,
            error,
        }));
    }
    Ok(())
}

/// Makes some steps and gives their time [s].
async fn train(trainer: &mut Trainer, steps: usize, host: &impl Host) -> Result<f64, Stop> {
    let mut pace = Pace::new(steps);
    let (mut spent, mut begun) = (0.0, Instant::now());
    for _ in 0..steps {
        trainer.step()?;
        if pace.slice_is_over() {
            spent += begun.elapsed().as_secs_f64();
            breathe(host).await?;
            begun = Instant::now();
        }
    }
    // Waits for the device.
    trainer.loss().await?;
    Ok(spent + begun.elapsed().as_secs_f64())
}

fn mean_error(model: &Model, trials: &[Trial]) -> Result<f64, Stop> {
    let mut sum = 0.0;
    for trial in trials {
        let adapted = model.adapt(&trial.inputs, &trial.targets)?;
        let predicted = model.predict(&adapted, &trial.rest_inputs())?;
        sum += ErrorSize::of(&trial.rest_targets(), &predicted).mse;
    }
    Ok(sum / trials.len() as f64)
}
