//! Runs an experiment: data, training, adaptation, identification, tracking.

use std::sync::Arc;

use burn::tensor::Device;

use super::{
    data_cache,
    evaluate::{adapt, follow},
    explore,
    report::{Partial, Report},
    spec::Spec,
};
use crate::{
    engine::{
        device,
        pacing::{Host, Pace},
        protocol::{Event, Weights},
    },
    learners::{Model, Settings, Trainer, weights},
    systems::{Split, System, Task},
};

/// Number of points of a loss curve.
const CURVE: usize = 200;

/// Why a run ended without a report.
pub enum Stop {
    /// The host asked for it.
    Cancelled,
    /// An error, in words.
    Failed(String),
}

impl From<Stop> for Event {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Self::Cancelled,
            Stop::Failed(message) => Self::Failed(message),
        }
    }
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
        Err(stop) => stop.into(),
    };
    host.emit(last);
}

async fn experiment(spec: &Spec, host: &impl Host) -> Result<Report, Stop> {
    spec.check_rank()?;
    let system = spec.physics()?;
    // Moved charges make other data.
    let name = match spec.places.is_empty() {
        true => spec.system.clone(),
        false => format!("{} {:?}", spec.system, spec.places),
    };
    let tasks = training_tasks(name, system.as_ref(), spec.seed, host).await?;
    let (device, used) = device::choose(spec, &tasks).await;
    host.emit(Event::Started {
        device: used.clone(),
    });
    let trained = train(&spec.settings()?, spec.seed, &tasks, &device, host).await?;
    explore::keep(spec, trained.model.clone());
    let (adaptation, _) = adapt(spec, system.as_ref(), &trained.model)?;
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
    host.emit(Event::Partial(Partial::Data {
        tasks: tasks.len(),
        samples,
    }));
    Ok(tasks)
}

async fn make_tasks(system: &dyn System, seed: u64, host: &impl Host) -> Result<Vec<Task>, Stop> {
    let environments = system.environments(Split::Train, seed);
    let mut tasks = Vec::with_capacity(environments.len());
    let mut pace = Pace::new(0);
    for parameters in &environments {
        tasks.push(system.task(parameters, Split::Train, seed)?);
        if pace.report_is_due() {
            host.emit(Event::Partial(Partial::Making {
                done: tasks.len(),
                of: environments.len(),
            }));
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

/// Trains a model in slices, and gives the page its weights.
pub(super) async fn train(
    settings: &Settings,
    seed: u64,
    tasks: &[Task],
    device: &Device,
    host: &impl Host,
) -> Result<Trained, Stop> {
    let mut trainer = Trainer::new(settings, tasks, seed, device)?;
    let mut pace = Pace::new(settings.steps);
    let mut losses = Vec::with_capacity(CURVE + 1);
    let every = settings.steps.div_ceil(CURVE);
    let (mut step, mut told) = (0, 0);
    while !trainer.finished() {
        trainer.step()?;
        step += 1;
        if step % every == 0 || trainer.finished() {
            let loss = trainer.loss().await?;
            let progress = trainer.progress();
            for notice in progress.news(&mut told) {
                host.emit(Event::Note(notice.clone()));
            }
            // Training that left the finite numbers begins again, and its curve with it.
            step = progress.step;
            match loss.is_finite() {
                true => losses.push((step, loss)),
                false => losses.clear(),
            }
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
    host.emit(Event::Weights(Weights(weights::export(&model)?)));
    Ok(Trained {
        model,
        losses,
        steps: step,
        seconds,
    })
}

/// Lets others run, and stops if that is what they ask for.
pub(super) async fn breathe(host: &impl Host) -> Result<(), Stop> {
    host.breathe().await;
    if host.cancelled() {
        Err(Stop::Cancelled)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, time::Duration};

    use super::*;
    use crate::{experiments::live::Command, systems};

    /// Keeps what it is told.
    #[derive(Default)]
    struct Ear(RefCell<Vec<Event>>);

    impl Host for Ear {
        fn emit(&self, event: Event) {
            self.0.borrow_mut().push(event);
        }

        fn cancelled(&self) -> bool {
            false
        }

        async fn breathe(&self) {}

        async fn sleep(&self, _: Duration) {}

        async fn read(&self, file: &str) -> Result<Vec<u8>, String> {
            Err(file.to_owned())
        }

        fn commands(&self) -> Vec<Command> {
            Vec::new()
        }
    }

    /// What the host heard of a short training, and how that went.
    fn trained(settings: &Settings) -> (Vec<String>, Trained) {
        let (system, ear) = (systems::by_name("pendulum").unwrap(), Ear::default());
        let tasks = pollster::block_on(make_tasks(system.as_ref(), 0, &ear));
        let Ok(tasks) = tasks else {
            panic!("no tasks");
        };
        let trained = pollster::block_on(train(settings, 0, &tasks, &Device::flex(), &ear));
        let Ok(trained) = trained else {
            panic!("no model");
        };
        let notes = ear
            .0
            .into_inner()
            .into_iter()
            .filter_map(|event| match event {
                Event::Note(note) => Some(note),
                _ => None,
            });
        (notes.collect(), trained)
    }

    fn settings() -> Settings {
        Settings {
            steps: 600,
            batch: 20,
            ..Settings::new("pendulum", "camel").unwrap()
        }
    }

    #[test]
    fn the_host_hears_of_a_schedule_that_was_shortened() {
        let (notes, trained) = trained(&Settings {
            learning_rate: 1e-7,
            weight_decay: 0.0,
            ..settings()
        });
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("shortened"), "{notes:?}");
        assert!(trained.steps < 600, "{}", trained.steps);
    }

    /// With a decay of 3, weights double in every step at the rate 1 and shrink at the rate 0.3.
    #[test]
    fn the_host_hears_of_a_restart_and_steps_are_counted_from_it() {
        let (notes, trained) = trained(&Settings {
            learning_rate: 1.0,
            weight_decay: 3.0,
            ..settings()
        });
        assert!(notes[0].contains("restarted"), "{notes:?}");
        assert!(trained.steps <= 600, "{}", trained.steps);
        let steps: Vec<_> = trained.losses.iter().map(|(step, _)| *step).collect();
        assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
        assert_eq!(steps.last(), Some(&trained.steps));
    }
}
