//! Time until CAMEL reaches an error in environments that it has not seen, where the suite in `speed` does
//! not measure it: by Adam on the cartpole, and by both optimisers on charges. `tests/peers/compare.py` puts
//! the time to the error of the authors' code beside that of their steps on the same machine.

use burn::tensor::Device;
use camel_lab::{
    experiments::{
        bench_accuracy::{AUTHORS, error_of},
        evaluate::Trial,
        training,
    },
    learners::{Model, Settings, Trainer},
    systems::{self, Split, System},
};
use wasm_bindgen_test::{console_log, wasm_bindgen_test};
use web_time::Instant;

/// Seed of data, training and trials: one that no setting was chosen with.
const SEED: u64 = 1;
/// New environments whose mean error counts.
const ENVIRONMENTS: usize = 20;
/// Evaluations over a whole training; their time does not count.
const EVALUATIONS: usize = 100;

#[wasm_bindgen_test]
async fn time_to_accuracy() {
    let tuned = |name| Settings::new(name, "camel").unwrap();
    let adam = |name, steps| Settings {
        steps,
        ..tuned(name).with_adam()
    };
    let goals = [(2.3e-2, AUTHORS), (3.1e-3, "printed in the paper")];
    show(&adam("cartpole", 50_000), 100, &goals).await;
    let goals = [(2.6e-2, AUTHORS)];
    show(&tuned("charges-pair"), 10, &goals).await;
    show(&adam("charges-pair", 40_000), 10, &goals).await;
}

async fn show(settings: &Settings, shots: usize, goals: &[(f64, &str)]) {
    let system = systems::by_name(&settings.system).unwrap();
    let name = format!("{}, {}", settings.system, settings.optimiser.name());
    let environments = system.environments(Split::Train, SEED);
    let tasks = training::tasks(system.as_ref(), &environments, SEED).unwrap();
    let trials = trials(system.as_ref(), shots);
    let mut trainer = Trainer::new(settings, &tasks, SEED, &Device::flex()).unwrap();
    let (mut seconds, mut left, mut error) = (0.0, goals, f64::NAN);
    while !trainer.finished() && !left.is_empty() {
        let begun = Instant::now();
        for _ in 0..settings.steps / EVALUATIONS {
            trainer.step().await.unwrap();
        }
        seconds += begun.elapsed().as_secs_f64();
        error = mean_error(&trainer.snapshot().await.unwrap(), &trials);
        while let Some((goal, whose)) = left.first().filter(|(goal, _)| error <= *goal) {
            console_log!(
                "{name}, {shots} shots: error {goal:.1e} ({whose}) after {seconds:.2} s, {} of {} steps",
                trainer.progress().step,
                settings.steps
            );
            left = &left[1..];
        }
    }
    for (goal, whose) in left {
        console_log!(
            "{name}, {shots} shots: error {goal:.1e} ({whose}) not reached: {error:.1e} after {seconds:.2} s"
        );
    }
}

fn trials(system: &dyn System, shots: usize) -> Vec<Trial> {
    let environments = system.environments(Split::Test, SEED);
    let numbered = environments.iter().take(ENVIRONMENTS).zip(SEED..);
    numbered
        .map(|(phi, seed)| Trial::new(system, phi, shots, 0.0, seed).unwrap())
        .collect()
}

fn mean_error(model: &Model, trials: &[Trial]) -> f64 {
    let errors = trials.iter().map(|trial| error_of(model, trial).unwrap());
    errors.sum::<f64>() / trials.len() as f64
}
