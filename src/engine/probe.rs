//! How long a job would take on a device, by doing a few of its steps.

use burn::tensor::Device;

use super::pacing::{Host, Pace};
use crate::{
    experiments::{
        run::{Stop, breathe},
        spec::Spec,
    },
    learners::Trainer,
    systems::Task,
};

/// Length of a measurement [s]: long for a browser's clock, short for a visitor.
const LENGTH: f64 = 0.05;

/// Steps of the first run that is measured, after one to warm up; at least one longer run follows it.
const FEWEST: usize = 2;

/// A run shorter than this on the CPU ends before WebGPU could begin [s]: its engine is megabytes,
/// and its shaders have to be compiled and checked.
const WORTH_LOADING: f64 = 10.0;

/// What a device was measured to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Time of a step [s].
    pub seconds_a_step: f64,
    /// Time of all steps [s].
    pub whole: f64,
    /// Whether only the first step was measured, which compiles what the others use.
    pub cold: bool,
}

impl Measured {
    /// Why a run this short stays on the CPU, or nothing if WebGPU is worth its download.
    pub fn too_short_for_webgpu(self) -> Option<String> {
        (self.whole < WORTH_LOADING).then(|| {
            format!(
                "measured: {}, {:.1} s in all, too short for WebGPU to be loaded",
                self.step(),
                self.whole
            )
        })
    }

    /// What the visitor is told while WebGPU's engine is loaded.
    pub fn worth_loading(self) -> String {
        format!(
            "measured: {} on the CPU, {:.0} s in all; WebGPU is loaded to see whether it is faster",
            self.step(),
            self.whole
        )
    }

    /// The two figures that decide.
    pub fn beside(self, cpu: Self) -> String {
        format!(
            "measured: {} on WebGPU, {} on the CPU",
            self.step(),
            cpu.step()
        )
    }

    fn step(self) -> String {
        let count = if self.cold { "for the first" } else { "a" };
        format!("{:.2} ms {count} step", 1e3 * self.seconds_a_step)
    }
}

/// Measures ever more steps, until they have taken long enough to be timed or, with what went before,
/// longer than `patience` [s]. The fastest of several runs counts: the machine may have been busy with
/// something else. The first step warms the device up; it counts only where patience ends with it.
pub async fn measure(
    spec: &Spec,
    tasks: &[Task],
    device: &Device,
    patience: f64,
    host: &impl Host,
) -> Result<Measured, Stop> {
    let settings = spec.settings()?;
    let mut trainer = Trainer::new(&settings, tasks, spec.seed, device)?;
    let (first, pace) = (seconds(&mut trainer, 1, host).await?, Pace::new(0));
    let (mut fastest, mut steps) = (f64::INFINITY, FEWEST);
    while first + pace.seconds() < patience && !trainer.finished() {
        if steps > 2 * FEWEST && pace.seconds() >= LENGTH {
            break;
        }
        fastest = fastest.min(seconds(&mut trainer, steps, host).await? / steps as f64);
        steps *= 2;
    }
    let cold = fastest.is_infinite();
    let seconds_a_step = if cold { first } else { fastest };
    Ok(Measured {
        seconds_a_step,
        whole: seconds_a_step * settings.steps as f64,
        cold,
    })
}

/// Time in which the device does so many steps [s].
async fn seconds(trainer: &mut Trainer, steps: usize, host: &impl Host) -> Result<f64, Stop> {
    let mut pace = Pace::new(0);
    for _ in 0..steps {
        trainer.step().await?;
        if pace.slice_is_over() {
            breathe(host).await?;
        }
    }
    trainer.settle().await?;
    breathe(host).await?;
    Ok(pace.seconds())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        engine::listener::Listener,
        experiments::spec::Draft,
        learners::Optimiser,
        systems::{self, Split},
    };

    /// A training of the pendulum, of so many steps.
    pub fn draft(steps: usize) -> Draft {
        Draft {
            steps,
            optimiser: Optimiser::Adam,
            ..Draft::recommended("pendulum", "camel").unwrap()
        }
    }

    /// The same, checked, with its data.
    pub fn job(draft: Draft) -> (Spec, Vec<Task>) {
        let system = systems::by_name("pendulum").unwrap();
        let environments = system.environments(Split::Train, 0);
        let task = |phi: &Vec<f64>| system.task(phi, Split::Train, 0).unwrap();
        let tasks = environments.iter().map(task).collect();
        (draft.check().unwrap(), tasks)
    }

    fn measured(patience: f64) -> Measured {
        let (spec, tasks) = job(draft(20_000));
        let (device, host) = (Device::flex(), Listener::default());
        let found = measure(&spec, &tasks, &device, patience, &host);
        pollster::block_on(found).unwrap()
    }

    #[test]
    fn a_measurement_speaks_for_the_whole_job() {
        let found = measured(f64::INFINITY);
        assert!(found.seconds_a_step > 0.0 && !found.cold, "{found:?}");
        assert_eq!(found.whole, 20_000.0 * found.seconds_a_step);
    }

    /// One step is all that is waited for: a device that takes minutes for its first one is not tried on.
    #[test]
    fn a_measurement_ends_where_patience_does() {
        let found = measured(0.0);
        assert!(found.cold, "{found:?}");
    }

    #[test]
    fn only_a_run_that_takes_longer_than_loading_it_is_worth_webgpu() {
        let of = |whole: f64| Measured {
            seconds_a_step: 1.5e-3,
            whole,
            cold: false,
        };
        let why = of(3.0).too_short_for_webgpu().unwrap();
        let (step, all) = (why.contains("1.50 ms a step"), why.contains("3.0 s in all"));
        assert!(step && all, "{why}");
        assert_eq!(of(30.0).too_short_for_webgpu(), None);
        let cold = Measured {
            cold: true,
            ..of(30.0)
        };
        assert_eq!(
            cold.beside(of(3.0)),
            "measured: 1.50 ms for the first step on WebGPU, 1.50 ms a step on the CPU"
        );
    }
}
