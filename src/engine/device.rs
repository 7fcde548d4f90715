//! Which device a job runs on.
//!
//! The CPU is always there. WebGPU is used only after it has found an adapter, has computed the same
//! as the CPU, and, if the choice is `auto`, has been faster in a short measurement of the job itself,
//! whatever kind of adapter it is. The engine that has WebGPU is a large file, so the small one measures
//! the job first: a run that it ends sooner than the other could be loaded stays where it is.

use burn::tensor::Device;

use super::{pacing::Host, probe, protocol::DeviceUsed};
use crate::{
    experiments::{
        run::Stop,
        spec::{DeviceChoice, Spec},
    },
    learners::Optimiser,
    systems::Task,
};

/// Largest difference between two devices, in parts of the largest number.
const TOLERANCE: f64 = 1e-3;

/// The device for a job, and why.
pub async fn choose(
    spec: &Spec,
    tasks: &[Task],
    host: &impl Host,
) -> Result<(Device, DeviceUsed), Stop> {
    if spec.optimiser == Optimiser::Lbfgs {
        return Ok(cpu("L-BFGS computes in double precision, on the processor"));
    }
    #[cfg(all(feature = "gpu", target_arch = "wasm32"))]
    return gpu::choose(spec, tasks, host).await;
    #[cfg(not(all(feature = "gpu", target_arch = "wasm32")))]
    match spec.device {
        // A page leaves a choice to this engine only where it has found an adapter; natively there is none.
        DeviceChoice::Auto if cfg!(target_arch = "wasm32") => stay_or_go(spec, tasks, host).await,
        DeviceChoice::Webgpu if cfg!(target_arch = "wasm32") => Err(Stop::TryWebgpu(
            "WebGPU is loaded, as was asked for".to_owned(),
        )),
        DeviceChoice::Webgpu => Ok(cpu("this engine has no WebGPU")),
        _ => Ok(cpu("")),
    }
}

/// The CPU for a run that is short there; what takes longer is worth the other engine.
#[cfg_attr(
    all(feature = "gpu", target_arch = "wasm32"),
    allow(dead_code, reason = "this is the other engine")
)]
async fn stay_or_go(
    spec: &Spec,
    tasks: &[Task],
    host: &impl Host,
) -> Result<(Device, DeviceUsed), Stop> {
    let measured = probe::measure(spec, tasks, &Device::flex(), f64::INFINITY, host).await?;
    match measured.too_short_for_webgpu() {
        Some(why) => Ok(cpu(why)),
        None => Err(Stop::TryWebgpu(measured.worth_loading())),
    }
}

/// The CPU, for what WebGPU has failed to do. This engine does not try WebGPU again.
pub fn instead_of_webgpu(why: &str) -> (Device, DeviceUsed) {
    let first_line = why.lines().next().unwrap_or(why);
    let reason = format!("WebGPU stopped working ({first_line})");
    #[cfg(all(feature = "gpu", target_arch = "wasm32"))]
    gpu::give_up(&reason);
    cpu(reason)
}

/// In what the numbers of a device differ from those that are expected, if they do.
pub fn mismatch(name: &str, expected: &[f64], found: &[f64]) -> Option<String> {
    if expected.len() != found.len() {
        let (expected, found) = (expected.len(), found.len());
        return Some(format!("{name}: {found} numbers instead of {expected}"));
    }
    let scale = expected
        .iter()
        .fold(0.0, |largest: f64, number| largest.max(number.abs()));
    // Nothing is near to what is not a number.
    let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * scale;
    let mut pairs = expected.iter().zip(found);
    let (expected, found) = pairs.find(|&(&a, &b)| !near(a, b))?;
    Some(format!("{name}: {found:.4e} instead of {expected:.4e}"))
}

fn cpu(reason: impl Into<String>) -> (Device, DeviceUsed) {
    let used = DeviceUsed {
        name: "cpu".to_owned(),
        adapter: String::new(),
        reason: reason.into(),
    };
    (Device::flex(), used)
}

/// WebGPU, where it is compiled in.
#[cfg(all(feature = "gpu", target_arch = "wasm32"))]
pub mod gpu {
    use std::cell::RefCell;

    use burn::tensor::Device;

    use super::{DeviceChoice, DeviceUsed, Spec, Stop, cpu, mismatch};
    use crate::{
        engine::{adapter, pacing::Host, probe},
        experiments::run::breathe,
        learners::{LearnerError, Settings, Trainer},
        systems::{Samples, Task},
    };

    thread_local! {
        // Made once a worker: the runtime cannot be configured twice.
        static READY: RefCell<Option<Result<(Device, String), String>>> = const { RefCell::new(None) };
    }

    pub(super) async fn choose(
        spec: &Spec,
        tasks: &[Task],
        host: &impl Host,
    ) -> Result<(Device, DeviceUsed), Stop> {
        if spec.device == DeviceChoice::Cpu {
            return Ok(cpu(""));
        }
        let (gpu, adapter) = match device().await {
            Ok(ready) => ready,
            Err(why) => return Ok(cpu(why)),
        };
        breathe(host).await?;
        let webgpu = |reason: String| DeviceUsed {
            name: "webgpu".to_owned(),
            adapter,
            reason,
        };
        if spec.device == DeviceChoice::Webgpu {
            return Ok((gpu, webgpu(String::new())));
        }
        let on_cpu = probe::measure(spec, tasks, &Device::flex(), f64::INFINITY, host).await?;
        // By then the CPU would have ended.
        let patience = on_cpu.whole;
        let on_gpu = match probe::measure(spec, tasks, &gpu, patience, host).await {
            Err(Stop::Device(why)) => return Ok(super::instead_of_webgpu(&why)),
            outcome => outcome?,
        };
        let reason = on_gpu.beside(on_cpu);
        Ok(if on_gpu.whole < on_cpu.whole {
            (gpu, webgpu(reason))
        } else {
            cpu(reason)
        })
    }

    pub(super) fn give_up(why: &str) {
        READY.set(Some(Err(why.to_owned())));
    }

    /// The WebGPU device, initialised and checked against the CPU, or why there is none.
    pub async fn device() -> Result<(Device, String), String> {
        if let Some(known) = READY.with_borrow(Clone::clone) {
            return known;
        }
        let outcome = initialise().await;
        READY.set(Some(outcome.clone()));
        outcome
    }

    async fn initialise() -> Result<(Device, String), String> {
        let adapter = adapter::find().await?;
        let options = Device::wgpu_options();
        let device = options
            .init_async()
            .await
            .map_err(|error| format!("WebGPU did not start: {error}"))?;
        check(&device).await?;
        Ok((device, adapter.name))
    }

    /// A forward pass, a gradient and an Adam step, against the CPU.
    async fn check(device: &Device) -> Result<(), String> {
        let wrong = |why: String| format!("WebGPU computes wrongly on this machine ({why})");
        let run = async |device: &Device| {
            let outcome = small_run(device).await;
            outcome.map_err(|error| wrong(error.to_string()))
        };
        let (expected, found) = (run(&Device::flex()).await?, run(device).await?);
        let mut parts = expected.iter().zip(&found);
        match parts.find_map(|((name, a), (_, b))| mismatch(name, a, b)) {
            Some(why) => Err(wrong(why)),
            None => Ok(()),
        }
    }

    /// Two steps of a tiny problem: the first gradient and loss, and what the model then predicts.
    async fn small_run(device: &Device) -> Result<[(&'static str, Vec<f64>); 3], LearnerError> {
        let inputs = std::sync::Arc::new(Samples {
            dim: 6,
            values: (0..48).map(|i| f64::sin(i as f64)).collect(),
        });
        let task = |scale: f64| Task {
            parameters: vec![scale, 1.0],
            inputs: inputs.clone(),
            targets: inputs.rows().map(|row| scale * row[0] + row[1]).collect(),
        };
        let settings = Settings {
            hidden: vec![4],
            rank: 2,
            batch: 8,
            steps: 2,
            ..Settings::new("cartpole", "camel")?.with_adam()
        };
        let mut trainer = Trainer::new(&settings, &[task(1.0), task(2.0), task(3.0)], 0, device)?;
        let gradient = trainer.gradient().await?;
        trainer.step().await?;
        let loss = vec![trainer.loss().await?];
        trainer.step().await?;
        let model = trainer.finish().await?;
        let adapted = model.with_context(&[1.0, -1.0])?;
        let predicted = model.predict(&adapted, &inputs)?;
        Ok([
            ("gradient", gradient),
            ("loss", loss),
            ("prediction after two steps", predicted),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{engine::listener::Listener, experiments::spec::Draft};

    #[test]
    fn what_is_near_agrees_whatever_its_size() {
        assert_eq!(mismatch("loss", &[1e6, 2.0], &[1e6 + 9.0, 2.5]), None);
        assert_eq!(mismatch("loss", &[1e-6], &[1.0009e-6]), None);
        assert_eq!(mismatch("loss", &[0.0], &[0.0]), None);
    }

    #[test]
    fn other_numbers_no_numbers_and_missing_numbers_are_mismatches_and_named() {
        let expected = [1.0, -2.0];
        for (found, why) in [
            (&[1.0, -2.1] as &[f64], "-2.1000e0 instead of -2.0000e0"),
            (&[f64::NAN, -2.0], "NaN instead of 1.0000e0"),
            (&[1.0, f64::INFINITY], "inf instead of -2.0000e0"),
            (&[1.0], "1 numbers instead of 2"),
        ] {
            let said = mismatch("gradient", &expected, found).unwrap();
            assert_eq!(said, format!("gradient: {why}"));
        }
        assert!(mismatch("loss", &[f64::NAN], &[f64::NAN]).is_some());
    }

    /// Where a job goes that a page leaves the choice to.
    fn moves(draft: Draft) -> Result<DeviceUsed, Stop> {
        let (spec, tasks) = probe::tests::job(draft);
        let host = Listener::default();
        let chosen = pollster::block_on(stay_or_go(&spec, &tasks, &host));
        chosen.map(|(_, used)| used)
    }

    #[test]
    fn a_run_leaves_the_cpu_only_if_it_is_measured_to_be_long_there() {
        let short = probe::tests::draft(1);
        let long = Draft {
            width: 128,
            depth: 6,
            ..probe::tests::draft(200_000)
        };
        let stays = moves(short).unwrap();
        assert_eq!(stays.name, "cpu");
        assert!(stays.reason.contains("too short for WebGPU"), "{stays:?}");
        let goes = moves(long);
        let Err(Stop::TryWebgpu(why)) = &goes else {
            panic!("{goes:?}")
        };
        assert!(why.contains("ms a step on the CPU"), "{why}");
    }

    #[test]
    fn a_failure_of_webgpu_becomes_the_reason_for_the_cpu() {
        let (_, used) = instead_of_webgpu("the device was lost\nwith a long story");
        assert_eq!(used.name, "cpu");
        assert_eq!(used.reason, "WebGPU stopped working (the device was lost)");
    }
}
