//! Speed of training and adaptation in a dedicated worker of a real browser, on one CPU thread.
//! `./lab bench` runs it; it measures and checks nothing.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(target_arch = "wasm32")]

use burn::tensor::Device;
use camel_lab::{
    experiments::evaluate::Trial,
    learners::{METHODS, Settings, Trainer},
    systems::{self, Split},
};
use wasm_bindgen_test::{console_log, wasm_bindgen_test, wasm_bindgen_test_configure};
use web_time::Instant;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Longest measurement of one learner [s].
const SECONDS: f64 = 1.5;

#[wasm_bindgen_test]
async fn steps_a_second_of_every_learner() {
    for (name, shots) in [("cartpole", 100), ("charges-pair", 10), ("arm", 100)] {
        let system = systems::by_name(name).unwrap();
        let environments = system.environments(Split::Train, 0);
        let tasks: Vec<_> = environments
            .iter()
            .map(|phi| system.task(phi, Split::Train, 0).unwrap())
            .collect();
        let trial = Trial::new(system.as_ref(), &environments[0], shots, 0.0, 0).unwrap();
        for method in METHODS.iter().filter(|method| !method.zero_shot) {
            let settings = Settings::new(name, method.name).unwrap();
            let mut trainer = Trainer::new(&settings, &tasks, 0, &Device::flex()).unwrap();
            trainer.step().unwrap();
            let (begun, mut steps) = (Instant::now(), 0);
            while begun.elapsed().as_secs_f64() < SECONDS {
                trainer.step().unwrap();
                steps += 1;
            }
            trainer.loss().await.unwrap();
            let training = begun.elapsed().as_secs_f64() / f64::from(steps);
            let model = trainer.finish().await.unwrap();
            let (begun, mut times) = (Instant::now(), 0);
            while begun.elapsed().as_secs_f64() < SECONDS / 5.0 {
                model.adapt(&trial.inputs, &trial.targets).unwrap();
                times += 1;
            }
            let adaptation = begun.elapsed().as_secs_f64() / f64::from(times);
            console_log!(
                "{name} {}: {:.3} ms a training step, {:.3} ms an adaptation from {shots} shots",
                method.name,
                1e3 * training,
                1e3 * adaptation
            );
        }
    }
}
