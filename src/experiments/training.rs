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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        experiments::table::{Cell, Evaluator},
        learners::Optimiser,
        systems::{self, Task},
    };

    /// Normalised 10-shot error of the model as it is.
    fn error(trainer: &Trainer, system: &str, seed: u64) -> f64 {
        let model = Arc::new(pollster::block_on(trainer.snapshot()).unwrap());
        let physics = systems::by_name(system).unwrap();
        let mut evaluator = Evaluator::new(physics, model, seed).unwrap();
        let cell = Cell {
            system: system.to_owned(),
            method: "camel".to_owned(),
            shots: 10,
            trials: 30,
            seed,
            noise: 0.0,
        };
        let outcomes = (0..cell.trials).map(|trial| evaluator.trial(&cell, trial).unwrap());
        let [mse, power] = outcomes.fold([0.0; 2], |[mse, power], outcome| {
            [mse + outcome.mse, power + outcome.power]
        });
        mse / power
    }

    /// Prints the time of training until the error is reached, and the error at the end.
    fn time_to(goal: f64, name: &str, settings: &Settings, tasks: &[Task], seed: u64) {
        let mut trainer = Trainer::new(settings, tasks, seed, &Device::flex()).unwrap();
        let (mut seconds, mut reached, mut last) = (0.0, None, f64::NAN);
        while !trainer.finished() {
            let begun = Instant::now();
            for _ in 0..INTERVAL {
                pollster::block_on(trainer.step()).unwrap();
            }
            seconds += begun.elapsed().as_secs_f64();
            last = error(&trainer, &settings.system, seed);
            reached = reached.or((last <= goal).then_some(seconds));
        }
        let reached = reached.map_or("never".to_owned(), |at| format!("after {at:.1} s"));
        println!("{name}: error {goal:.0e} reached {reached}; {last:.1e} after {seconds:.1} s");
    }

    #[test]
    #[ignore = "a benchmark: cargo test --release --lib time_of_both_optimisers -- --ignored --nocapture"]
    fn time_of_both_optimisers_to_an_error() {
        // A seed that no setting was chosen with.
        let seed = 1;
        for system in ["charges-pair", "charges-dipole"] {
            let physics = systems::by_name(system).unwrap();
            let environments = physics.environments(Split::Train, seed);
            let task = |phi: &Vec<f64>| physics.task(phi, Split::Train, seed).unwrap();
            let tasks: Vec<Task> = environments.iter().map(task).collect();
            let tuned = Settings::new(system, "camel").unwrap();
            for (optimiser, steps) in [(Optimiser::Adam, 40_000), (Optimiser::Lbfgs, tuned.steps)] {
                let settings = Settings {
                    optimiser,
                    steps,
                    ..tuned.clone()
                };
                let name = format!("{system}, {}", optimiser.name());
                time_to(1e-4, &name, &settings, &tasks, seed);
            }
        }
    }
}
