//! The engine in a dedicated worker of a real browser, on WebGPU's software adapter.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(all(target_arch = "wasm32", feature = "gpu"))]

use std::sync::Arc;

use burn::tensor::Device;
use camel_lab::{
    engine::{
        device::{self, gpu},
        protocol::DeviceUsed,
    },
    experiments::{link::Link, run::Stop, spec::Spec},
    learners::{METHODS, Settings, Trainer},
    systems::{Samples, Task},
};
use support::Recorder;
use wasm_bindgen_test::{console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

#[allow(dead_code, reason = "only the recorder is used here")]
mod support;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Three small tasks that are affine in their parameters, on the same inputs.
fn tasks() -> Vec<Task> {
    tasks_on([1.7; 3])
}

/// The same tasks on inputs that a factor each makes.
fn tasks_on(factors: [f64; 3]) -> Vec<Task> {
    let inputs = factors.map(|factor| {
        Arc::new(Samples {
            dim: 2,
            values: (0..16).map(|i| f64::sin(factor * i as f64)).collect(),
        })
    });
    let parameters = [[1.0, 0.5], [2.0, -1.0], [0.5, 1.5]];
    let task = |(inputs, [a, b]): (Arc<Samples>, [f64; 2])| Task {
        parameters: vec![a, b],
        targets: inputs.rows().map(|x| a * x[0] + b * x[0] * x[1]).collect(),
        inputs,
    };
    inputs.into_iter().zip(parameters).map(task).collect()
}

/// Largest difference between the devices: of a meta-parameter, and of a part of a gradient relative to
/// its largest part.
const TOLERANCE: f64 = 1e-4;

/// What three training steps make of a learner.
struct Trained {
    /// The gradient before them.
    gradient: Vec<f64>,
    /// All meta-parameters after them.
    parameters: Vec<f64>,
    /// How far they have moved the furthest.
    moved: f64,
}

async fn trained(settings: &Settings, tasks: &[Task], device: &Device) -> Trained {
    let mut trainer = Trainer::new(settings, tasks, 1, device).unwrap();
    let before = trainer.snapshot().await.unwrap();
    let gradient = trainer.gradient().await.unwrap();
    for _ in 0..3 {
        trainer.step().await.unwrap();
    }
    let parameters = trainer.finish().await.unwrap().parameters().to_vec();
    let moves = parameters.iter().zip(before.parameters());
    let moved = largest(moves.map(|(a, b)| a - b));
    Trained {
        gradient,
        parameters,
        moved,
    }
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |most: f64, value| most.max(value.abs()))
}

async fn assert_agreement(settings: &Settings, tasks: &[Task], webgpu: &Device) {
    let on_cpu = trained(settings, tasks, &Device::flex()).await;
    let on_gpu = trained(settings, tasks, webgpu).await;
    // Far more than the tolerance, so that agreement says something.
    assert!(on_cpu.moved > 3e-3, "{}: {}", settings.method, on_cpu.moved);
    let size = largest(on_cpu.gradient.iter().copied());
    for (what, cpu, gpu, scale) in [
        ("gradient", &on_cpu.gradient, &on_gpu.gradient, size),
        ("parameters", &on_cpu.parameters, &on_gpu.parameters, 1.0),
    ] {
        assert_eq!(cpu.len(), gpu.len());
        for (place, (cpu, gpu)) in cpu.iter().zip(gpu).enumerate() {
            assert!(
                (cpu - gpu).abs() < TOLERANCE * scale,
                "{}, {what}, number {place}: {gpu} instead of {cpu}",
                settings.method
            );
        }
    }
    console_log!("{}: agrees", settings.method);
}

#[wasm_bindgen_test]
async fn every_learner_computes_on_webgpu_what_it_computes_on_the_cpu() {
    let (webgpu, adapter) = gpu::device().await.unwrap();
    console_log!("adapter: {adapter}");
    let small = |method| Settings {
        hidden: vec![3],
        rank: 2,
        batch: 8,
        steps: 3,
        learning_rate: 0.01,
        inner_steps: 2,
        ..Settings::new("charges-pair", method).unwrap().with_adam()
    };
    let own = tasks_on([1.7, 1.1, 0.6]);
    for method in METHODS.iter().filter(|method| !method.zero_shot) {
        let shared_part = if method.shared_part { vec![3] } else { vec![] };
        let settings = small(method.name);
        assert_agreement(&settings, &tasks(), &webgpu).await;
        let settings = Settings {
            bias: shared_part,
            ..settings
        };
        assert_agreement(&settings, &own, &webgpu).await;
    }
    let first_order = Settings {
        first_order: true,
        ..small("maml")
    };
    assert_agreement(&first_order, &own, &webgpu).await;
}

async fn used(device: &str) -> DeviceUsed {
    let text = format!(
        "#/experiments?v=1&system=charges-pair&optimiser=adam&width=3&depth=1&batch=8&device={device}"
    );
    let spec: Spec = Link::read(&text).0.spec;
    let chosen = device::choose(&spec, &tasks(), &Recorder::default()).await;
    chosen.unwrap().1
}

#[wasm_bindgen_test]
async fn a_wish_is_granted_and_auto_measures() {
    assert_eq!(used("webgpu").await.name, "webgpu");
    assert_eq!(used("cpu").await.name, "cpu");
    let auto = used("auto").await;
    assert!(auto.reason.contains("ms a step"), "{}", auto.reason);
}

#[wasm_bindgen_test]
async fn a_measurement_can_be_cancelled() {
    let spec = Link::read(
        "#/experiments?v=1&system=charges-pair&optimiser=adam&width=3&depth=1&device=auto",
    );
    let recorder = Recorder::default();
    recorder.cancel.set(true);
    let outcome = device::choose(&spec.0.spec, &tasks(), &recorder).await;
    assert_eq!(outcome.err(), Some(Stop::Cancelled));
}

#[wasm_bindgen_test]
async fn thirty_steps_of_every_learner_leave_the_allocations_of_the_device_flat() {
    let (webgpu, _) = gpu::device().await.unwrap();
    for method in METHODS.iter().filter(|method| !method.zero_shot) {
        let settings = Settings {
            hidden: vec![3],
            rank: 2,
            batch: 8,
            steps: 1_000,
            inner_steps: 1,
            ..Settings::new("charges-pair", method.name)
                .unwrap()
                .with_adam()
        };
        let mut trainer = Trainer::new(&settings, &tasks(), 1, &webgpu).unwrap();
        let mut usages = Vec::new();
        for _ in 0..4 {
            for _ in 0..10 {
                trainer.step().await.unwrap();
            }
            trainer.loss().await.unwrap();
            // The device keeps the arguments of the last 512 kernels; they are not ours.
            webgpu.memory_cleanup();
            usages.push(webgpu.memory_pool_usage().unwrap());
        }
        let (warm, last) = (usages[0], usages[3]);
        console_log!("{}: {warm:?}, then {last:?}", method.name);
        assert!(
            last.number_allocs <= warm.number_allocs && last.bytes_in_use <= warm.bytes_in_use,
            "{}: {warm:?} has become {last:?}",
            method.name
        );
    }
}
