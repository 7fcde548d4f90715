//! The benchmark: how fast this machine trains and adapts every learner, and how that grows with the
//! number of tasks T and of samples N.
//!
//! The page and `./lab bench` run the same [`suite`]; a brief one measures the first problem only.
//! Times are of one machine: compare ratios.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use web_time::Instant;

use super::{
    bench_accuracy::{Accuracy, Course, GOALS},
    bench_memory::Watch,
    bench_steps::Bursts,
    evaluate::Trial,
    run::{Stop, breathe},
};
use crate::{
    engine::{
        pacing::{Host, Pace},
        protocol::{DeviceUsed, Event},
    },
    learners::{METHODS, Settings, Trainer},
    systems::{self, Samples, Split, Task},
};

/// Systems and shots that every learner is measured on.
pub const PROBLEMS: [(&str, usize); 3] = [("cartpole", 100), ("charges-pair", 10), ("arm", 100)];
/// Tasks of the scaling in T.
pub const TASK_COUNTS: [usize; 4] = [4, 8, 16, 32];
/// Samples of a task in the scaling in N.
pub const SAMPLE_COUNTS: [usize; 4] = [50, 100, 200, 400];
/// Tasks of the scaling in N, and samples of the scaling in T.
const FIXED: (usize, usize) = (8, 100);

/// What is measured, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// `cpu` or `webgpu`.
    pub device: String,
    /// Longest measurement of one training [s].
    pub seconds: f64,
    /// Whether the first problem and the growth of CAMEL are enough.
    #[serde(default)]
    pub brief: bool,
}

/// One thing that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// A learner on a system.
    Speed(Speed),
    /// A training step at several sizes.
    Growth(Growth),
    /// The time to an accuracy.
    Accuracy(Accuracy),
}

/// The speed of a learner on a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Training steps in a second.
    pub steps_per_second: f64,
    /// Time of one adaptation [s].
    pub adaptation_seconds: f64,
    /// Most memory that training and adapting took [bytes]; 0 where that is not known.
    pub memory: u64,
}

/// How the time of a training step grows on inputs that all tasks share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Name of the method.
    pub method: String,
    /// What grows: `T` or `N`.
    pub of: String,
    /// Its value and the time of a step [s].
    pub points: Vec<(f64, f64)>,
}

impl Growth {
    /// Slope of a straight line through the logarithms: 1 means twice as much takes twice as long.
    pub fn slope(&self) -> f64 {
        let logs: Vec<(f64, f64)> = self.points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
        let n = logs.len() as f64;
        let mean = |part: fn(&(f64, f64)) -> f64| logs.iter().map(part).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let across: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let along: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
        across / along
    }
}

/// Runs the suite and tells the host of every measurement and of the end.
pub async fn run(plan: &Plan, host: &impl Host) {
    host.emit(match suite(plan, host).await {
        Ok(()) => Event::Done,
        Err(stop) => stop.into(),
    });
}

/// Every learner on every problem, then the growth of every learner in T and N, then the time of every
/// learner to the paper's accuracy.
pub async fn suite(plan: &Plan, host: &impl Host) -> Result<(), Stop> {
    let (device, used) = device(plan).await;
    host.emit(Event::Started { device: used });
    let methods: Vec<&str> = METHODS
        .iter()
        .filter(|method| !method.zero_shot)
        .map(|method| method.name)
        .collect();
    let (problems, growing, goals) = match plan.brief {
        true => (&PROBLEMS[..1], &methods[..1], 0),
        false => (&PROBLEMS[..], &methods[..], GOALS.len()),
    };
    let pace = Pace::new(methods.len() * problems.len() + 2 * growing.len() + goals);
    let mut done = 0;
    let mut tell = |measured: Measured| {
        done += 1;
        host.emit(Event::Measured(measured.into()));
        host.emit(Event::Progress(pace.progress(done)));
    };
    for &(system, shots) in problems {
        let problem = Problem::new(system, shots, host).await?;
        for method in &methods {
            let speed = problem.speed(method, plan, &device, host).await?;
            tell(Measured::Speed(speed));
        }
    }
    for method in growing {
        for of in ["T", "N"] {
            let growth = growth(method, of, plan, &device, host).await?;
            tell(Measured::Growth(growth));
        }
    }
    if goals > 0 {
        let course = Course::new(host).await?;
        for method in &methods {
            course
                .measure(method, plan, &device, host, &mut tell)
                .await?;
        }
    }
    Ok(())
}

async fn device(plan: &Plan) -> (Device, DeviceUsed) {
    let cpu = |reason: String| {
        let (name, adapter) = ("cpu".to_owned(), String::new());
        let used = DeviceUsed {
            name,
            adapter,
            reason,
        };
        (Device::flex(), used)
    };
    if plan.device != "webgpu" {
        return cpu(String::new());
    }
    #[cfg(all(feature = "gpu", target_arch = "wasm32"))]
    return match crate::engine::device::gpu::device().await {
        Ok((device, adapter)) => {
            let (name, reason) = (plan.device.clone(), String::new());
            let used = DeviceUsed {
                name,
                adapter,
                reason,
            };
            (device, used)
        }
        Err(why) => cpu(format!("{why}; the suite ran on the CPU")),
    };
    #[cfg(not(all(feature = "gpu", target_arch = "wasm32")))]
    cpu("this engine has no WebGPU; the suite ran on the CPU".to_owned())
}

/// A system with its data.
struct Problem {
    system: &'static str,
    tasks: Vec<Task>,
    trial: Trial,
}

impl Problem {
    async fn new(name: &'static str, shots: usize, host: &impl Host) -> Result<Self, Stop> {
        let system = systems::by_name(name)?;
        let environments = system.environments(Split::Train, 0);
        let mut tasks = Vec::with_capacity(environments.len());
        for phi in &environments {
            tasks.push(system.task(phi, Split::Train, 0)?);
            breathe(host).await?;
        }
        let trial = Trial::new(system.as_ref(), &environments[0], shots, 0.0, 0)?;
        Ok(Self {
            system: name,
            tasks,
            trial,
        })
    }

    async fn speed(
        &self,
        method: &str,
        plan: &Plan,
        device: &Device,
        host: &impl Host,
    ) -> Result<Speed, Stop> {
        let settings = Settings::new(self.system, method)?.with_adam();
        let watch = Watch::start();
        let mut trainer = Trainer::new(&settings, &self.tasks, 0, device)?;
        let step = seconds_a_step(&mut trainer, plan.seconds, host).await?;
        // A graphics card's memory is not the engine's.
        let on_card = device
            .memory_pool_usage()
            .map_or(0, |usage| usage.bytes_in_use);
        let model = trainer.glance().await?;
        let (begun, mut times) = (Instant::now(), 0_u32);
        while times == 0 || begun.elapsed().as_secs_f64() < plan.seconds / 5.0 {
            model.adapt(&self.trial.inputs, &self.trial.targets)?;
            times += 1;
        }
        let adaptation_seconds = begun.elapsed().as_secs_f64() / f64::from(times);
        breathe(host).await?;
        Ok(Speed {
            system: self.system.to_owned(),
            method: method.to_owned(),
            steps_per_second: 1.0 / step,
            adaptation_seconds,
            memory: watch.most() + on_card,
        })
    }
}

/// Time of one training step, measured for `limit` seconds after two steps to warm up.
async fn seconds_a_step(trainer: &mut Trainer, limit: f64, host: &impl Host) -> Result<f64, Stop> {
    for _ in 0..2 {
        trainer.step().await?;
    }
    trainer.loss().await?;
    breathe(host).await?;
    let mut made = Bursts::default();
    made.make(trainer, usize::MAX, limit, host).await?;
    Ok(made.seconds / made.steps.max(1) as f64)
}

async fn growth(
    method: &str,
    of: &str,
    plan: &Plan,
    device: &Device,
    host: &impl Host,
) -> Result<Growth, Stop> {
    let sizes = if of == "T" {
        TASK_COUNTS
    } else {
        SAMPLE_COUNTS
    };
    let mut points = Vec::with_capacity(sizes.len());
    for size in sizes {
        let (tasks, samples) = if of == "T" {
            (size, FIXED.1)
        } else {
            (FIXED.0, size)
        };
        let settings = Settings {
            batch: samples,
            ..Settings::new("cartpole", method)?.with_adam()
        };
        let mut trainer = Trainer::new(&settings, &artificial(tasks, samples), 0, device)?;
        let seconds = seconds_a_step(&mut trainer, plan.seconds / 4.0, host).await?;
        points.push((size as f64, seconds));
    }
    Ok(Growth {
        method: method.to_owned(),
        of: of.to_owned(),
        points,
    })
}

/// Tasks of any number and size on shared inputs, linear in two parameters.
fn artificial(tasks: usize, samples: usize) -> Vec<Task> {
    let inputs = std::sync::Arc::new(Samples {
        dim: 6,
        values: (0..6 * samples).map(|i| (1.7 * i as f64).sin()).collect(),
    });
    let task = |t: usize| {
        let (a, b) = (1.0 + t as f64 / tasks as f64, (t as f64).cos());
        let target = |row: &[f64]| a * row[0] + b * row[1] * row[2];
        Task {
            parameters: vec![a, b],
            inputs: inputs.clone(),
            targets: inputs.rows().map(target).collect(),
        }
    };
    (0..tasks).map(task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{native::Job, protocol::Work};

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let points = [1.0, 2.0, 4.0, 8.0].map(|x: f64| (x, 3.0 * x.powf(1.5)));
        let growth = Growth {
            method: "camel".to_owned(),
            of: "T".to_owned(),
            points: points.to_vec(),
        };
        assert!((growth.slope() - 1.5).abs() < 1e-12);
    }

    /// What a short suite tells, with the device first.
    fn told(device: &str, brief: bool) -> (DeviceUsed, Vec<Measured>) {
        let plan = Plan {
            device: device.to_owned(),
            seconds: 1e-3,
            brief,
        };
        let job = Job::start(Work::Bench(plan));
        let mut events: Vec<Event> = job.events.iter().collect();
        assert_eq!(events.pop(), Some(Event::Done));
        let Event::Started { device } = events.remove(0) else {
            panic!("the device comes first")
        };
        let measured = |event| match event {
            Event::Measured(measured) => measured.open().ok(),
            _ => None,
        };
        (device, events.into_iter().filter_map(measured).collect())
    }

    #[test]
    fn the_suite_measures_every_learner_and_the_time_to_accuracy() {
        let (_, measured) = told("cpu", false);
        assert_eq!(measured.len(), 6 * (PROBLEMS.len() + 2) + GOALS.len());
        let last = &measured[measured.len() - GOALS.len()..];
        let accuracies = last.iter().map(|measured| match measured {
            Measured::Accuracy(accuracy) => accuracy,
            other => panic!("{other:?}"),
        });
        for (accuracy, (method, goal, _)) in accuracies.zip(GOALS) {
            assert_eq!((&*accuracy.method, accuracy.goal), (method, goal));
            // A thousandth of the time is not enough, but every learner has begun.
            assert!(accuracy.steps > 0, "{accuracy:?}");
            assert_eq!(accuracy.seconds.is_some(), accuracy.error <= goal);
        }
    }

    #[test]
    fn a_brief_suite_is_of_one_problem_and_says_why_it_is_not_on_the_card() {
        let (device, measured) = told("webgpu", true);
        assert_eq!(measured.len(), 6 + 2);
        assert_eq!(device.name, "cpu");
        assert!(device.reason.contains("no WebGPU"), "{}", device.reason);
    }
}
