//! Trains a model outside of the engine: on the command line and in tests.

use burn::tensor::Device;
use web_time::Instant;

use crate::{
    learners::{Model, Settings, Trainer},
    systems::{Split, System},
};

use super::{evaluate::EvaluationError, table::Made};

/// Steps between two looks at the loss. They decide when a plateau is noticed, so they are part of
/// the result.
pub const INTERVAL: usize = 500;

/// Trains on the processor in environments φ and says how long it took; `report` hears the part
/// that is done and the mean squared error.
pub fn train(
    system: &dyn System,
    settings: &Settings,
    environments: &[Vec<f64>],
    seed: u64,
    mut report: impl FnMut(f64, f64),
) -> Result<(Model, Made), EvaluationError> {
    let tasks: Result<Vec<_>, _> = environments
        .iter()
        .map(|phi| system.task(phi, Split::Train, seed))
        .collect();
    let begun = Instant::now();
    let mut trainer = Trainer::new(settings, &tasks?, seed, &Device::flex())?;
    let model = pollster::block_on(async {
        let tell = |p: &crate::learners::Progress| report(p.done, p.error.unwrap_or(f64::NAN));
        trainer.run(INTERVAL, tell).await?;
        trainer.finish().await
    })?;
    let made = Made {
        settings: settings.clone(),
        device: "CPU, native".to_owned(),
        training_seconds: begun.elapsed().as_secs_f64(),
    };
    Ok((model, made))
}
