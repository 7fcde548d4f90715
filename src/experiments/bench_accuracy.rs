//! The benchmark's last part: how long every learner trains until its error in new environments is
//! that of the paper.
//!
//! A training is looked at after every hundredth, and less often once it is long: then after every
//! tenth of what is done. The time of a look does not count. Whoever has not reached the error when
//! the schedule or the patience ends is told of with the error that it had then.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::{
    bench::{Measured, Plan},
    bench_steps::Bursts,
    evaluate::Trial,
    report::ErrorSize,
    run::{Stop, breathe},
};
use crate::{
    charts::nullable,
    engine::pacing::{Host, Pace},
    learners::{LearnerError, Model, Settings, Trainer},
    systems::{self, Split, Task},
};

/// The system and the shots.
const PROBLEM: (&str, usize) = ("cartpole", 100);
/// Seed of data, training and trials: one that no method's settings were tried with.
const SEED: u64 = 1;
/// Methods and the errors that they are to reach, the largest first, and whose those are. The paper's
/// are the lowest that `public/results/paper.json` has of the method.
pub const GOALS: [(&str, f64, &str); 7] = [
    ("camel", 2.3e-2, AUTHORS),
    ("camel", 3.1e-3, PRINTED),
    ("anil", 2.5e-2, PRINTED),
    ("maml", 1.8, PRINTED),
    ("coda", 8.1e-1, PRINTED),
    ("r2d2", 8.5e-3, PRINTED),
    (
        "cavia",
        1.8,
        "printed in the paper for MAML; it has no CAVIA",
    ),
];
const PRINTED: &str = "printed in the paper";
/// Whose an error is that the authors' code has after all its steps.
pub const AUTHORS: &str = "the authors' code at its end";
/// New environments whose mean error counts, and how many do for MAML: it takes every weight along 300
/// gradient steps in each of them, and a look must not take longer than the training before it.
const ENVIRONMENTS: [usize; 2] = [20, 5];
/// Parts of a whole training, after which it can be looked at.
const PARTS: usize = 100;
/// Longest training, in units of a measurement.
pub const PATIENCE: f64 = 60.0;

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
    /// Time of these steps [s]; 0 in files of former versions.
    #[serde(default)]
    pub spent: f64,
}

/// The problem with its data.
pub struct Course {
    tasks: Vec<Task>,
    trials: Vec<Trial>,
}

impl Course {
    /// Simulates the training tasks and the new environments.
    pub async fn new(host: &impl Host) -> Result<Self, Stop> {
        let system = systems::by_name(PROBLEM.0)?;
        let (mut tasks, mut trials) = (Vec::new(), Vec::new());
        for phi in system.environments(Split::Train, SEED) {
            tasks.push(system.task(&phi, Split::Train, SEED)?);
            breathe(host).await?;
        }
        let unseen = system
            .environments(Split::Test, SEED)
            .into_iter()
            .zip(SEED..);
        for (phi, seed) in unseen.take(ENVIRONMENTS[0]) {
            trials.push(Trial::new(system.as_ref(), &phi, PROBLEM.1, 0.0, seed)?);
            breathe(host).await?;
        }
        Ok(Self { tasks, trials })
    }

    /// Trains a method until all its goals are reached, or to the end; tells of each.
    pub async fn measure(
        &self,
        method: &str,
        plan: &Plan,
        device: &Device,
        host: &impl Host,
        mut tell: impl FnMut(Measured),
    ) -> Result<(), Stop> {
        let settings = match (Settings::new(PROBLEM.0, method)?, plan.device.as_str()) {
            // The second-order search is for the processor.
            (settings, "webgpu") => settings.with_adam(),
            (settings, _) => settings,
        };
        let environments = ENVIRONMENTS[usize::from(method == "maml")];
        let mut training = Training {
            trainer: Trainer::new(&settings, &self.tasks, SEED, device)?,
            part: settings.steps.div_ceil(PARTS),
            limit: PATIENCE * plan.seconds,
            made: Bursts::default(),
            parts: 0,
            over: false,
        };
        let mut error = f64::INFINITY;
        for (_, goal, whose) in GOALS.into_iter().filter(|goal| goal.0 == method) {
            while error > goal && !training.over {
                training.go_on(host).await?;
                error = training.error(&self.trials[..environments], host).await?;
            }
            tell(Measured::Accuracy(Accuracy {
                system: PROBLEM.0.to_owned(),
                method: method.to_owned(),
                goal,
                whose: whose.to_owned(),
                seconds: (error <= goal).then_some(training.made.seconds),
                steps: training.made.steps,
                error,
                spent: training.made.seconds,
            }));
        }
        Ok(())
    }
}

/// A training that is looked at.
struct Training {
    trainer: Trainer,
    /// Steps of a part.
    part: usize,
    /// Longest time [s].
    limit: f64,
    /// Its steps and their time.
    made: Bursts,
    /// Parts so far.
    parts: usize,
    /// Whether the schedule or the patience is at its end, or training has left the finite numbers.
    over: bool,
}

impl Training {
    /// Trains until the next look.
    async fn go_on(&mut self, host: &impl Host) -> Result<(), Stop> {
        let next = self.parts + (self.parts / 10).max(1);
        while self.parts < next && !self.over {
            let (trainer, part, limit) = (&mut self.trainer, self.part, self.limit);
            match self.made.make(trainer, part, limit, host).await {
                Err(Stop::Diverged(_)) => self.over = true,
                made => made?,
            }
            self.parts += 1;
            self.over |= self.trainer.finished() || self.made.seconds >= self.limit;
        }
        Ok(())
    }

    /// The mean error in new environments; infinite where it is no finite number.
    async fn error(&self, trials: &[Trial], host: &impl Host) -> Result<f64, Stop> {
        let model = match self.trainer.glance().await {
            Err(LearnerError::NotFinite { .. }) => return Ok(f64::INFINITY),
            model => model?,
        };
        let mut pace = Pace::new(trials.len());
        let mut sum = 0.0;
        for trial in trials {
            sum += match error_of(&model, trial) {
                Err(LearnerError::NotFinite { .. }) => return Ok(f64::INFINITY),
                error => error?,
            };
            if pace.slice_is_over() {
                breathe(host).await?;
            }
        }
        let mean = sum / trials.len() as f64;
        Ok(if mean.is_nan() { f64::INFINITY } else { mean })
    }
}

/// Mean-square error on the samples that are no shots, of a model that adapts to the shots.
pub fn error_of(model: &Model, trial: &Trial) -> Result<f64, LearnerError> {
    let adapted = model.adapt(&trial.inputs, &trial.targets)?;
    let predicted = model.predict(&adapted, &trial.rest_inputs())?;
    Ok(ErrorSize::of(&trial.rest_targets(), &predicted).mse)
}

#[cfg(test)]
mod tests;
