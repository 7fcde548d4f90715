//! The engine in a dedicated worker of a real browser, on the CPU.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(target_arch = "wasm32")]

use std::sync::Arc;

use burn::tensor::Device;
use camel_lab::{
    engine::{jobs, protocol::Work},
    experiments::{
        bench_memory::{Counting, Watch},
        link::Link,
    },
    learners::{METHODS, Optimiser, Settings, Trainer},
    systems::{Samples, Task},
};
use wasm_bindgen_test::{console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

mod golden;
#[path = "support/order.rs"]
mod order;
mod support;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// As in the engine's programs: counts what is in use.
#[global_allocator]
static MEMORY: Counting = Counting;

#[wasm_bindgen_test]
async fn the_same_link_gives_the_same_bits_twice() {
    for golden in golden::RUNS {
        let first = support::report_of(golden.link).await;
        let second = support::report_of(golden.link).await;
        assert_eq!(first.losses, second.losses);
        assert_eq!(first.adaptation, second.adaptation);
    }
}

#[wasm_bindgen_test]
async fn a_browser_trains_as_a_native_machine_does() {
    for golden in golden::RUNS {
        golden.assert_match(&support::report_of(golden.link).await.losses);
    }
}

#[wasm_bindgen_test]
async fn events_come_in_their_order() {
    // Long enough to be told of on a fast machine, too.
    for settings in ["optimiser=adam&steps=5000", "optimiser=lbfgs&steps=100"] {
        let link = format!("#/experiments?v=1&system=cartpole&method=camel&device=cpu&{settings}");
        let recorder = support::Recorder::default();
        let work = Work::Experiment(Link::read(&link).0.spec);
        jobs::run(&work, &recorder).await;
        order::assert_whole_course(&recorder.events.into_inner());
    }
}

/// Steps over which the memory must not grow, after a warm-up.
const STEPS: usize = 5_000;
const WARM_UP: usize = 500;

fn tiny_tasks() -> Vec<Task> {
    let inputs = Arc::new(Samples {
        dim: 2,
        values: (0..32).map(|i| f64::sin(1.7 * i as f64)).collect(),
    });
    let task = |a: f64, b: f64| Task {
        parameters: vec![a, b],
        inputs: inputs.clone(),
        targets: inputs.rows().map(|x| a * x[0] + b * x[0] * x[1]).collect(),
    };
    vec![task(1.0, 0.5), task(2.0, -1.0), task(0.5, 1.5)]
}

/// Bytes by which the memory in use grows from a warm-up on, as a learner is trained.
async fn growth(method: &str, optimiser: Optimiser) -> u64 {
    let settings = Settings {
        hidden: vec![3],
        rank: 2,
        batch: 8,
        steps: 100 * STEPS,
        optimiser,
        learning_rate: 1e-4,
        inner_steps: 2,
        ..Settings::new("charges-pair", method).unwrap()
    };
    let mut trainer = Trainer::new(&settings, &tiny_tasks(), 1, &Device::flex()).unwrap();
    train(&mut trainer, WARM_UP).await;
    let watch = Watch::start();
    train(&mut trainer, STEPS).await;
    watch.grown()
}

async fn train(trainer: &mut Trainer, steps: usize) {
    for step in 1..=steps {
        trainer.step().unwrap();
        if step % 50 == 0 {
            trainer.loss().await.unwrap();
        }
    }
}

#[wasm_bindgen_test]
async fn five_thousand_steps_of_every_learner_leave_the_memory_flat() {
    for method in METHODS.iter().filter(|method| !method.zero_shot) {
        let second_order = method.lbfgs.then_some(Optimiser::Lbfgs);
        for optimiser in [Optimiser::Adam].into_iter().chain(second_order) {
            let grown = growth(method.name, optimiser).await;
            let name = format!("{}, {}", method.name, optimiser.name());
            console_log!("{name}: {grown} bytes");
            // Whatever a step leaves behind is more than a byte.
            assert!(grown < STEPS as u64, "{name}: {grown} bytes");
        }
    }
}
