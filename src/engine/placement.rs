//! Which of the two engines gets some work: the small one, or the one that has WebGPU.

use super::{adapter, protocol::Work};
use crate::{
    experiments::{
        bench::Plan,
        spec::{DeviceChoice, Draft, Spec},
    },
    learners::Optimiser,
};

/// Which of the two worker files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Computes on the CPU only.
    Cpu,
    /// Has WebGPU too; several times as large.
    Gpu,
}

/// Chooses the worker file, and says so when a wish cannot be met. `present` is the one that is loaded.
pub async fn place(work: Work, present: Flavour) -> (Work, Flavour, Option<String>) {
    let device = match &work {
        // The model is where it was trained.
        Work::Explore(_) | Work::Adopt { .. } => return (work, present, None),
        Work::Experiment(spec) => wish(spec),
        Work::Dataset(spec) => spec.training.device,
        Work::Bench(plan) if plan.device == "webgpu" => DeviceChoice::Webgpu,
        _ => DeviceChoice::Cpu,
    };
    if device == DeviceChoice::Cpu {
        return (work, Flavour::Cpu, None);
    }
    let undecided = is_undecided(&work);
    match adapter::find().await {
        Ok(_) if device == DeviceChoice::Webgpu && !undecided => (work, Flavour::Gpu, None),
        // The engine at hand measures the job.
        Ok(_) => (work, present, None),
        Err(why) => {
            let note = (!undecided).then(|| format!("{why}; the run uses the CPU"));
            (on_cpu(work), Flavour::Cpu, note)
        }
    }
}

/// Whether only the engine can tell if WebGPU is of use: L-BFGS has none for it, but leaves files of many
/// rows to Adam.
fn is_undecided(work: &Work) -> bool {
    matches!(work, Work::Dataset(spec) if spec.training.optimiser == Optimiser::Lbfgs)
}

/// Where a training would run. L-BFGS has no use for WebGPU's engine, which is a large file.
fn wish(spec: &Spec) -> DeviceChoice {
    match spec.optimiser {
        Optimiser::Lbfgs => DeviceChoice::Cpu,
        Optimiser::Adam => spec.device,
    }
}

/// The same work without WebGPU.
pub fn on_cpu(work: Work) -> Work {
    match work {
        Work::Experiment(spec) => Work::Experiment(spec_on_cpu(spec)),
        Work::Dataset(mut spec) => {
            spec.training = spec_on_cpu(spec.training);
            Work::Dataset(spec)
        }
        Work::Bench(plan) => Work::Bench(Plan {
            device: "cpu".to_owned(),
            ..plan
        }),
        other => other,
    }
}

fn spec_on_cpu(spec: Spec) -> Spec {
    let draft = Draft {
        device: DeviceChoice::Cpu,
        ..spec.into()
    };
    draft.corrected().0
}
