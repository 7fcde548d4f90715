//! Runs an experiment: data, training, adaptation, identification, tracking.

use std::{cell::RefCell, sync::Arc};

use burn::tensor::Device;

use super::{
    evaluate::{adapt, follow},
    report::{Partial, Report},
    spec::Spec,
};
use crate::{
    engine::{
        device,
        pacing::{Host, Pace},
        protocol::Event,
    },
    learners::{Model, Trainer},
    systems::{self, Split, System, Task},
};

/// Number of points of a loss curve.
const CURVE: usize = 200;

/// Why a run ended without a report.
enum Stop {
    Cancelled,
    Failed(String),
}

impl<E: std::error::Error> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Runs an experiment and tells its host of every event, the last one included.
pub async fn run(spec: &Spec, host: &impl Host) {
    let last = match experiment(spec, host).await {
        Ok(report) => Event::Finished(Box::new(report)),
        Err(Stop::Cancelled) => Event::Cancelled,
        Err(Stop::Failed(message)) => Event::Failed(message),
    };
    host.emit(last);
}

async fn experiment(spec: &Spec, host: &impl Host) -> Result<Report, Stop> {
    let system = systems::by_name(&spec.system)?;
    let tasks = training_tasks(system.as_ref(), spec.seed, host).await?;
    let (device, used) = device::choose(spec, &tasks).await;
    host.emit(Event::Started {
        device: used.clone(),
    });
    let trained = train(spec, &tasks, &device, host).await?;
    let adaptation = adapt(spec, system.as_ref(), &trained.model)?;
    host.emit(Event::Partial(Partial::Adapted(adaptation.clone())));
    breathe(host).await?;
    let motion = follow(spec, system.as_ref(), &trained.model)?;
    Ok(Report {
        spec: spec.clone(),
        device: used,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seconds: trained.seconds,
        steps: trained.steps,
        losses: trained.losses,
        adaptation,
        motion,
    })
}

thread_local! {
    /// The last training data of this worker or thread: a second run need not wait for them.
    static LAST: RefCell<Option<(&'static str, u64, Vec<Task>)>> = const { RefCell::new(None) };
}

/// The training tasks, one environment after the other, or as they were made for the last run.
async fn training_tasks(
    system: &dyn System,
    seed: u64,
    host: &impl Host,
) -> Result<Vec<Task>, Stop> {
    let name = system.description().name;
    let known = LAST.with_borrow(|last| match last {
        Some((of, with, tasks)) if (*of, *with) == (name, seed) => Some(tasks.clone()),
        _ => None,
    });
    let tasks = match known {
        Some(tasks) => tasks,
        None => make_tasks(system, seed, host).await?,
    };
    LAST.set(Some((name, seed, tasks.clone())));
    let samples = tasks.first().map_or(0, |task| task.targets.len());
    host.emit(Event::Partial(Partial::Data {
        tasks: tasks.len(),
        samples,
    }));
    Ok(tasks)
}

async fn make_tasks(system: &dyn System, seed: u64, host: &impl Host) -> Result<Vec<Task>, Stop> {
    let mut tasks = Vec::new();
    let mut pace = Pace::new(0);
    for parameters in system.environments(Split::Train, seed) {
        tasks.push(system.task(&parameters, Split::Train, seed)?);
        if pace.slice_is_over() {
            breathe(host).await?;
        }
    }
    Ok(tasks)
}

struct Trained {
    model: Arc<Model>,
    losses: Vec<(usize, f64)>,
    steps: usize,
    seconds: f64,
}

async fn train(
    spec: &Spec,
    tasks: &[Task],
    device: &Device,
    host: &impl Host,
) -> Result<Trained, Stop> {
    let mut trainer = Trainer::new(&spec.settings()?, tasks, spec.seed, device)?;
    let mut pace = Pace::new(spec.steps);
    let mut losses = Vec::with_capacity(CURVE + 1);
    let every = spec.steps.div_ceil(CURVE);
    let mut step = 0;
    while !trainer.finished() {
        trainer.step()?;
        step += 1;
        if step % every == 0 || trainer.finished() {
            losses.push((step, trainer.loss().await?));
        }
        if pace.slice_is_over() {
            breathe(host).await?;
        }
        if let (true, Some(&(_, loss))) = (pace.report_is_due(), losses.last()) {
            host.emit(Event::Progress(pace.progress(step, loss)));
        }
    }
    let seconds = pace.seconds();
    let model = Arc::new(trainer.finish().await?);
    Ok(Trained {
        model,
        losses,
        steps: step,
        seconds,
    })
}

async fn breathe(host: &impl Host) -> Result<(), Stop> {
    host.breathe().await;
    if host.cancelled() {
        Err(Stop::Cancelled)
    } else {
        Ok(())
    }
}
