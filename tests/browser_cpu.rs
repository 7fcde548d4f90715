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

/// A way to train.
struct Way {
    name: &'static str,
    optimiser: Optimiser,
    /// Of a task.
    rows: usize,
    /// Whether all tasks have the same inputs.
    shared: bool,
    hidden: &'static [usize],
}

/// Tiny nets and few rows where these leave a step to make: L-BFGS comes to an end of a tiny problem, and
/// goes over a part of the rows only where they are many.
const WAYS: [Way; 5] = [
    Way {
        name: "adam",
        optimiser: Optimiser::Adam,
        rows: 16,
        shared: false,
        hidden: &[3],
    },
    Way {
        name: "adam on shared rows",
        optimiser: Optimiser::Adam,
        rows: 16,
        shared: true,
        hidden: &[3],
    },
    Way {
        name: "lbfgs on all rows",
        optimiser: Optimiser::Lbfgs,
        rows: 40,
        shared: false,
        hidden: &[8, 8],
    },
    Way {
        name: "lbfgs on shared rows",
        optimiser: Optimiser::Lbfgs,
        rows: 60,
        shared: true,
        hidden: &[8, 8],
    },
    Way {
        name: "lbfgs on some rows",
        optimiser: Optimiser::Lbfgs,
        rows: 1_500,
        shared: false,
        hidden: &[8, 8],
    },
];

fn tasks(rows: usize, shared: bool) -> Vec<Task> {
    let drawn = |factor: f64| {
        let values = (0..2 * rows).map(|i| f64::sin(factor * i as f64)).collect();
        Arc::new(Samples { dim: 2, values })
    };
    let common = drawn(1.7);
    let task = |factor: f64, a: f64, b: f64| {
        let inputs = if shared {
            common.clone()
        } else {
            drawn(factor)
        };
        let value = |x: &[f64]| a * (5.0 * x[0]).sin() + b * x[0] * x[1];
        Task {
            parameters: vec![a, b],
            targets: inputs.rows().map(value).collect(),
            inputs,
        }
    };
    vec![
        task(1.7, 1.0, 0.5),
        task(1.8, 2.0, -1.0),
        task(1.9, 0.5, 1.5),
    ]
}

/// Pages of 64 KiB that the module holds; they are never given back.
fn pages() -> usize {
    std::arch::wasm32::memory_size::<0>()
}

/// By how much the memory grows from a warm-up on, as a learner is trained.
#[derive(Debug)]
struct Growth {
    /// In use.
    bytes: i64,
    /// Held, which gaps between what is in use would let grow, too.
    pages: usize,
}

async fn growth(method: &str, way: &Way) -> Growth {
    let settings = Settings {
        hidden: way.hidden.to_vec(),
        rank: 2,
        batch: 8,
        steps: 100 * STEPS,
        optimiser: way.optimiser,
        learning_rate: 1e-4,
        inner_steps: 2,
        ..Settings::new("charges-pair", method).unwrap()
    };
    let mut trainer =
        Trainer::new(&settings, &tasks(way.rows, way.shared), 1, &Device::flex()).unwrap();
    train(&mut trainer, WARM_UP).await;
    let (watch, held) = (Watch::start(), pages());
    train(&mut trainer, STEPS).await;
    let grown = Growth {
        bytes: watch.grown(),
        pages: pages() - held,
    };
    // A training at its end makes no more steps, however often it is asked, and none takes memory.
    let progress = trainer.progress();
    assert_eq!(progress.step, WARM_UP + STEPS, "{method}: {progress:?}");
    assert_eq!(progress.notices, Vec::<String>::new(), "{method}");
    grown
}

async fn train(trainer: &mut Trainer, steps: usize) {
    for step in 1..=steps {
        trainer.step().await.unwrap();
        if step % 50 == 0 {
            trainer.loss().await.unwrap();
        }
    }
}

#[wasm_bindgen_test]
async fn five_thousand_steps_of_every_learner_leave_the_memory_flat() {
    for method in METHODS.iter().filter(|method| !method.zero_shot) {
        let possible = |way: &&Way| way.optimiser == Optimiser::Adam || method.lbfgs;
        for way in WAYS.iter().filter(possible) {
            let grown = growth(method.name, way).await;
            let name = format!("{}, {}", method.name, way.name);
            console_log!("{name}: {grown:?}");
            // Whatever a step leaves behind is more than a byte. What is given back after the warm-up
            // must not hide it.
            assert!(grown.bytes.abs() < STEPS as i64, "{name}: {grown:?}");
            assert_eq!(grown.pages, 0, "{name}: {grown:?}");
        }
    }
}
