//! Trains a model outside of the engine: on the command line and in tests.

use burn::tensor::Device;
use web_time::Instant;

use crate::{
    learners::{Model, Progress, Settings, Trainer},
    systems::{Split, System, SystemError, Task},
};

use super::{evaluate::EvaluationError, table::Made};

/// Steps between two looks at the loss.
pub const INTERVAL: usize = 500;

/// Trains on the processor in environments φ and says how long it took; `report` hears how far it is.
pub fn train(
    system: &dyn System,
    settings: &Settings,
    environments: &[Vec<f64>],
    seed: u64,
    report: impl FnMut(&Progress),
) -> Result<(Model, Made), EvaluationError> {
    let tasks = tasks(system, environments, seed)?;
    train_on(&tasks, settings, seed, report)
}

/// The training data of environments φ.
pub fn tasks(
    system: &dyn System,
    environments: &[Vec<f64>],
    seed: u64,
) -> Result<Vec<Task>, SystemError> {
    let environments = environments.iter();
    environments
        .map(|phi| system.task(phi, Split::Train, seed))
        .collect()
}

/// As [`train`], on data that are at hand.
pub fn train_on(
    tasks: &[Task],
    settings: &Settings,
    seed: u64,
    report: impl FnMut(&Progress),
) -> Result<(Model, Made), EvaluationError> {
    let begun = Instant::now();
    let mut trainer = Trainer::new(settings, tasks, seed, &Device::flex())?;
    let model = pollster::block_on(async {
        trainer.run(INTERVAL, report).await?;
        trainer.finish().await
    })?;
    let made = Made {
        settings: settings.clone(),
        device: "CPU, native".to_owned(),
        training_seconds: begun.elapsed().as_secs_f64(),
    };
    Ok((model, made))
}
