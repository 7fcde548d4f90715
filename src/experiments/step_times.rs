//! How long a training step of each method takes, under equal conditions.

use burn::tensor::Device;
use web_time::Instant;

use super::{evaluate::EvaluationError, record::StepTime, training::tasks};
use crate::{
    learners::{METHODS, Settings, Trainer},
    systems::{self, Split, Task},
};

/// Rounds over the methods, of each of which the fastest counts: what else the machine does passes.
const ROUNDS: usize = 3;
/// Fewest steps of a round.
const LEAST_STEPS: usize = 3;

/// The times of all methods on a system, each measured for about `seconds` in all. Every method
/// trains by Adam, on the rows of the method that takes the fewest.
pub fn step_times(system: &str, seconds: f64) -> Result<Vec<StepTime>, EvaluationError> {
    let physics = systems::by_name(system)?;
    let environments = physics.environments(Split::Train, 0);
    let data = tasks(physics.as_ref(), &environments, 0)?;
    let methods = METHODS.iter().filter(|method| !method.zero_shot);
    let settings: Result<Vec<_>, _> = methods
        .map(|method| Settings::new(system, method.name).map(Settings::with_adam))
        .collect();
    let mut settings = settings?;
    let rows = settings.iter().map(|settings| settings.batch).min();
    let rows = rows.unwrap_or_default();
    let mut times = vec![f64::INFINITY; settings.len()];
    for _ in 0..ROUNDS {
        for (settings, time) in settings.iter_mut().zip(&mut times) {
            settings.batch = rows;
            *time = time.min(median_step(settings, &data, seconds / ROUNDS as f64)?);
        }
    }
    let of_method = |(settings, seconds): (Settings, f64)| StepTime {
        system: settings.system,
        method: settings.method,
        rows,
        seconds,
    };
    Ok(settings.into_iter().zip(times).map(of_method).collect())
}

/// The median time of a step [s].
fn median_step(settings: &Settings, data: &[Task], seconds: f64) -> Result<f64, EvaluationError> {
    let mut trainer = Trainer::new(settings, data, 0, &Device::flex())?;
    pollster::block_on(trainer.step())?;
    let (begun, mut steps) = (Instant::now(), Vec::new());
    // A training at its end makes no more steps, however often it is asked.
    while !trainer.finished()
        && (steps.len() < LEAST_STEPS || begun.elapsed().as_secs_f64() < seconds)
    {
        let step = Instant::now();
        pollster::block_on(trainer.step())?;
        steps.push(step.elapsed().as_secs_f64());
    }
    steps.sort_by(f64::total_cmp);
    Ok(steps.get(steps.len() / 2).copied().unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_measured_on_as_many_rows() {
        let times = step_times("charges-pair", 1e-3).unwrap();
        let methods: Vec<_> = times.iter().map(|time| time.method.as_str()).collect();
        assert_eq!(methods, ["camel", "anil", "maml", "coda", "r2d2", "cavia"]);
        for time in &times {
            assert_eq!(time.rows, 100);
            assert!(time.seconds > 0.0 && time.seconds.is_finite(), "{time:?}");
        }
    }

    #[test]
    fn steps_that_a_finished_training_does_not_make_are_not_measured() {
        let physics = systems::by_name("charges-pair").unwrap();
        let environments = physics.environments(Split::Train, 0);
        let data = tasks(physics.as_ref(), &environments, 0).unwrap();
        let few = Settings {
            steps: 5,
            ..Settings::new("charges-pair", "camel").unwrap().with_adam()
        };
        let time = median_step(&few, &data, 0.05).unwrap();
        assert!(time > 1e-6, "{time} s");
    }
}
