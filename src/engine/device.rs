//! Which device a job runs on.
//!
//! The CPU is always there. WebGPU is used only after it has found an adapter, has computed the same
//! as the CPU, and, if the choice is `auto`, has been faster in a short measurement of the job itself.

use burn::tensor::Device;

use super::protocol::DeviceUsed;
use crate::{experiments::spec::Spec, learners::Optimiser, systems::Task};

/// The device for a job, and why.
pub async fn choose(spec: &Spec, tasks: &[Task]) -> (Device, DeviceUsed) {
    if spec.optimiser == Optimiser::Lbfgs {
        return cpu("L-BFGS computes in double precision, on the processor");
    }
    #[cfg(all(feature = "gpu", target_arch = "wasm32"))]
    return gpu::choose(spec, tasks).await;
    #[cfg(not(all(feature = "gpu", target_arch = "wasm32")))]
    {
        use crate::experiments::spec::DeviceChoice;
        let _ = tasks;
        let reason = match spec.device {
            DeviceChoice::Webgpu => "this engine has no WebGPU",
            _ => "",
        };
        cpu(reason)
    }
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
    use web_time::Instant;

    use super::{DeviceUsed, cpu};
    use crate::{
        engine::adapter,
        experiments::spec::{DeviceChoice, Spec},
        learners::{LearnerError, Settings, Trainer},
        systems::{Samples, Task},
    };

    /// Steps of a measurement; as many again warm the device up.
    const PROBE_STEPS: usize = 10;
    /// Largest difference of a parameter between the devices after the check's steps.
    const TOLERANCE: f64 = 1e-3;

    thread_local! {
        // Made once a worker: the runtime cannot be configured twice.
        static READY: RefCell<Option<Result<(Device, String), String>>> = const { RefCell::new(None) };
    }

    pub(super) async fn choose(spec: &Spec, tasks: &[Task]) -> (Device, DeviceUsed) {
        if spec.device == DeviceChoice::Cpu {
            return cpu("");
        }
        let (gpu, adapter) = match device().await {
            Ok(ready) => ready,
            Err(why) => return cpu(why),
        };
        let webgpu = |reason: String| DeviceUsed {
            name: "webgpu".to_owned(),
            adapter,
            reason,
        };
        if spec.device == DeviceChoice::Webgpu {
            return (gpu, webgpu(String::new()));
        }
        match (
            seconds_a_step(spec, tasks, &gpu).await,
            seconds_a_step(spec, tasks, &Device::flex()).await,
        ) {
            (Ok(on_gpu), Ok(on_cpu)) if on_gpu < on_cpu => (gpu, webgpu(compare(on_gpu, on_cpu))),
            (Ok(on_gpu), Ok(on_cpu)) => cpu(compare(on_gpu, on_cpu)),
            (Err(why), _) | (_, Err(why)) => {
                cpu(format!("the measurement of WebGPU failed: {why}"))
            }
        }
    }

    fn compare(on_gpu: f64, on_cpu: f64) -> String {
        format!(
            "measured: {:.2} ms a step on WebGPU, {:.2} ms on the CPU",
            1e3 * on_gpu,
            1e3 * on_cpu
        )
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
        let mismatch = |why: String| format!("WebGPU computes wrongly on this machine ({why})");
        let expected = small_run(&Device::flex())
            .await
            .map_err(|error| mismatch(error.to_string()))?;
        let found = small_run(device)
            .await
            .map_err(|error| mismatch(error.to_string()))?;
        let difference = expected
            .iter()
            .zip(&found)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, |a: f64, b| if b <= a { a } else { b });
        if difference <= TOLERANCE {
            return Ok(());
        }
        Err(mismatch(format!(
            "a prediction differs by {difference:.1e} from the CPU's"
        )))
    }

    /// Two steps of a tiny problem; gives its predictions.
    async fn small_run(device: &Device) -> Result<Vec<f64>, LearnerError> {
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
            ..Settings::new("cartpole", "camel")?
        };
        let mut trainer = Trainer::new(&settings, &[task(1.0), task(2.0), task(3.0)], 0, device)?;
        trainer.step()?;
        trainer.step()?;
        let model = trainer.finish().await?;
        let adapted = model.with_context(&[1.0, -1.0])?;
        model.predict(&adapted, &inputs)
    }

    async fn seconds_a_step(
        spec: &Spec,
        tasks: &[Task],
        device: &Device,
    ) -> Result<f64, LearnerError> {
        let mut trainer = Trainer::new(&spec.settings()?, tasks, spec.seed, device)?;
        let mut begun = Instant::now();
        for _ in 0..2 {
            begun = Instant::now();
            for _ in 0..PROBE_STEPS {
                trainer.step()?;
            }
            trainer.loss().await?;
        }
        Ok(begun.elapsed().as_secs_f64() / PROBE_STEPS as f64)
    }
}
