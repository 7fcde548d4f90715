//! Adaptation: one recursive update, and closed form from 100 shots.

use burn::tensor::Device;
use camel_lab::{
    identification::recursive::{RecursiveLeastSquares, RecursiveSettings},
    learners::{Trainer, Workspace},
    systems::Samples,
};
use wasm_bindgen_test::{console_log, wasm_bindgen_test};

use crate::{clock::Times, peers::PROBLEMS};

const SHOTS: usize = 100;
/// Length of one measurement [s].
const SECONDS: f64 = 0.3;

#[wasm_bindgen_test]
async fn time_of_an_adaptation() {
    let problem = PROBLEMS[0];
    let tasks = problem.data();
    let settings = problem.settings("camel");
    let mut trainer = Trainer::new(&settings, &tasks, 0, &Device::flex()).unwrap();
    trainer.step().await.unwrap();
    let model = trainer.finish().await.unwrap();
    let shots = Samples {
        dim: problem.inputs,
        values: tasks[0].inputs.values[..SHOTS * problem.inputs].to_vec(),
    };
    let targets = &tasks[0].targets[..SHOTS];
    let closed = Times::of(SECONDS, || {
        model.adapt(&shots, targets).unwrap();
    });
    console_log!(
        "{SHOTS}-shot closed-form adaptation: {:.4} ms (at most 1)",
        closed.least()
    );

    let settings = RecursiveSettings {
        spread: vec![1.0; problem.rank],
        noise: 0.1,
        forgetting: 0.99,
        drift: None,
    };
    let mut recursive = RecursiveLeastSquares::new(&[0.0; 4], settings).unwrap();
    let features = [0.3, -0.2, 0.9, 0.1];
    let mut phase = 0.0_f64;
    let update = Times::of(SECONDS, || {
        phase += 0.1;
        recursive.update(&features.map(|v| v + phase.sin()), phase.cos());
    });
    console_log!(
        "recursive update of {} weights: {:.3} µs (at most 10)",
        problem.rank,
        1e3 * update.least()
    );

    let (mut features, mut workspace) = (vec![0.0; problem.rank], Workspace::default());
    let row = &shots.values[..problem.inputs];
    let learned = Times::of(SECONDS, || {
        let bias = model.features_into(row, &mut features, &mut workspace);
        recursive.update(&features, targets[0] - bias.unwrap());
    });
    console_log!(
        "the same with the features of a measurement: {:.3} µs",
        1e3 * learned.least()
    );
}
