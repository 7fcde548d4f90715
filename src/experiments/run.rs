//! Runs an experiment: data, training, adaptation, identification, tracking.

use std::sync::Arc;

use burn::tensor::Device;

use super::{
    data_cache, evaluate::adapt, explore, follow, identifiers, report::Report, spec::Spec,
};
use crate::{
    engine::{
        device,
        pacing::{Host, Pace},
        protocol::{DeviceUsed, Event, Weights},
    },
    learners::{LearnerError, Model, Settings, Trainer, weights},
    systems::{Split, System, Task},
};

/// Number of points of a loss curve.
const CURVE: usize = 200;

/// Most steps that are enqueued before the device has done them: a graphics card that falls behind
/// would otherwise be sent work without end.
const ENQUEUED: usize = 20;

/// Why a run ended without a report.
#[derive(Debug, PartialEq)]
pub enum Stop {
    /// The host asked for it.
    Cancelled,
    /// The device failed; another one may do.
    Device(String),
    /// Training left the finite numbers, also with a smaller rate.
    Diverged(String),
    /// Another engine may be faster, and why it is worth its download.
    TryWebgpu(String),
    /// Any other error, in words.
    Failed(String),
}

impl From<Stop> for Event {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Self::Cancelled,
            Stop::TryWebgpu(why) => Self::TryWebgpu(why),
            Stop::Device(message) | Stop::Diverged(message) | Stop::Failed(message) => {
                Self::Failed(message)
            }
        }
    }
}

impl<E: std::error::Error + 'static> From<E> for Stop {
    fn from(error: E) -> Self {
        let message = error.to_string();
        let any: &dyn std::error::Error = &error;
        match any.downcast_ref() {
            Some(LearnerError::Device(_)) => Self::Device(message),
            Some(LearnerError::Diverged { .. }) => Self::Diverged(message),
            _ => Self::Failed(message),
        }
    }
}

/// Runs an experiment and tells its host of every event, the last one included.
pub async fn run(spec: &Spec, host: &impl Host) {
    let last = match experiment(spec, host).await {
        Ok(report) => Event::Finished(report.into()),
        Err(stop) => stop.into(),
    };
    host.emit(last);
}

async fn experiment(spec: &Spec, host: &impl Host) -> Result<Report, Stop> {
    spec.check_rank()?;
    follow::check(spec)?;
    let system = spec.physics()?;
    // Moved charges make other data.
    let name = match spec.places.is_empty() {
        true => spec.system.clone(),
        false => format!("{} {:?}", spec.system, spec.places),
    };
    let tasks = training_tasks(name, system.as_ref(), spec.seed, host).await?;
    let (trained, used) = train_on_device(spec, &spec.settings()?, &tasks, host).await?;
    explore::keep(spec, trained.model.clone());
    breathe(host).await?;
    identifiers::prepare(&trained.model, system.as_ref(), spec.seed, host).await?;
    let (adaptation, _) = adapt(spec, system.as_ref(), &trained.model)?;
    host.emit(Event::Adapted(adaptation.clone().into()));
    breathe(host).await?;
    let motion = follow::follow(spec, system.as_ref(), &trained.model)?;
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

/// The training tasks, one environment after the other, or as they were made for an earlier run.
pub(super) async fn training_tasks(
    name: String,
    system: &dyn System,
    seed: u64,
    host: &impl Host,
) -> Result<Vec<Task>, Stop> {
    let tasks = match data_cache::find(&name, seed) {
        Some(tasks) => tasks,
        None => {
            let tasks = make_tasks(system, seed, host).await?;
            data_cache::keep(&name, seed, &tasks);
            tasks
        }
    };
    let samples = tasks.first().map_or(0, |task| task.targets.len());
    host.emit(Event::Data {
        tasks: tasks.len(),
        samples,
    });
    Ok(tasks)
}

async fn make_tasks(system: &dyn System, seed: u64, host: &impl Host) -> Result<Vec<Task>, Stop> {
    let environments = system.environments(Split::Train, seed);
    let mut tasks = Vec::with_capacity(environments.len());
    let tell = |done: usize| {
        let of = environments.len();
        host.emit(Event::Making { done, of });
    };
    tell(0);
    let mut pace = Pace::new(0);
    for parameters in &environments {
        tasks.push(system.task(parameters, Split::Train, seed)?);
        if pace.report_is_due() {
            tell(tasks.len());
        }
        if pace.slice_is_over() {
            breathe(host).await?;
        }
    }
    Ok(tasks)
}

/// A trained model and how training went.
pub(super) struct Trained {
    /// The model.
    pub model: Arc<Model>,
    /// Loss curve: step and value.
    pub losses: Vec<(usize, f64)>,
    /// Steps taken.
    pub steps: usize,
    /// Time it took [s].
    pub seconds: f64,
}

/// Trains on the device that the experiment asks for, and says which that was.
pub(super) async fn train_on_device(
    spec: &Spec,
    settings: &Settings,
    tasks: &[Task],
    host: &impl Host,
) -> Result<(Trained, DeviceUsed), Stop> {
    let chosen = device::choose(spec, tasks, host).await?;
    let attempt = async |device: &Device| train(settings, spec.seed, tasks, device, host).await;
    with_fallback(chosen, host, attempt).await
}

/// Does something on a device; what the device fails to do starts again on the CPU.
async fn with_fallback<T>(
    (device, used): (Device, DeviceUsed),
    host: &impl Host,
    attempt: impl AsyncFn(&Device) -> Result<T, Stop>,
) -> Result<(T, DeviceUsed), Stop> {
    let started = |used: &DeviceUsed| Event::Started {
        device: used.clone(),
    };
    host.emit(started(&used));
    match attempt(&device).await {
        Err(Stop::Device(why)) if used.name != "cpu" => {
            let (device, used) = device::instead_of_webgpu(&why);
            let note = format!("{}; the run starts again on the CPU", used.reason);
            host.emit(Event::Note(note));
            host.emit(started(&used));
            Ok((attempt(&device).await?, used))
        }
        outcome => Ok((outcome?, used)),
    }
}

/// Trains a model in slices, and gives the page its weights.
async fn train(
    settings: &Settings,
    seed: u64,
    tasks: &[Task],
    device: &Device,
    host: &impl Host,
) -> Result<Trained, Stop> {
    let mut trainer = Trainer::new(settings, tasks, seed, device)?;
    let mut pace = Pace::new(0);
    let mut losses = Vec::with_capacity(CURVE + 1);
    let every = settings.steps.div_ceil(CURVE);
    let (mut step, mut told) = (0, 0);
    while !trainer.finished() {
        trainer.step().await?;
        step += 1;
        if step % every == 0 || trainer.finished() {
            let loss = trainer.loss().await?;
            let progress = trainer.progress();
            for notice in progress.news(&mut told) {
                host.emit(Event::Note(notice.clone()));
            }
            let begun_again = progress.step < step;
            if begun_again {
                pace.count_again();
            }
            step = progress.step;
            if loss.is_finite() {
                losses.push((step, loss));
            } else {
                // Training that left the finite numbers begins again, and its curve with it.
                losses.clear();
            }
        }
        if step % ENQUEUED == 0 {
            trainer.settle().await?;
        }
        if pace.slice_is_over() {
            breathe(host).await?;
        }
        // The last step is told of too, however short the training was.
        if pace.report_is_due() || trainer.finished() {
            let loss = losses.last().map_or(f64::NAN, |&(_, loss)| loss);
            host.emit(Event::Progress(pace.training(&trainer.progress(), loss)));
        }
    }
    let seconds = pace.seconds();
    let model = trainer.snapshot_with(async || breathe(host).await).await?;
    let model = Arc::new(model);
    host.emit(Event::Weights(Weights(weights::export(&model)?)));
    Ok(Trained {
        model,
        losses,
        steps: step,
        seconds,
    })
}

/// Lets others run, and stops if that is what they ask for.
pub(crate) async fn breathe(host: &impl Host) -> Result<(), Stop> {
    host.breathe().await;
    if host.cancelled() {
        Err(Stop::Cancelled)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
