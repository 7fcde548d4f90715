//! Makes the cells of one training again, in small slices, as a page does.

use std::sync::Arc;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::{
    record::Record,
    run::{Stop, breathe, training_tasks},
    table::{Cell, Evaluator, Made, plan},
    training::INTERVAL,
};
use crate::{
    engine::{
        pacing::{Host, Pace},
        protocol::{DeviceUsed, Event},
    },
    learners::{METHODS, Model, Settings, Trainer},
    systems,
};

/// The cells of all methods that share one training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rerun {
    /// Name of the system.
    pub system: String,
    /// Name of the method that is trained.
    pub method: String,
    /// Standard deviations of the noise on the shots; those of the table if there are none.
    pub noises: Vec<f64>,
    /// Environments to adapt to; as in the paper if left out.
    pub trials: Option<usize>,
    /// The one cell that is wanted, as its method, shots and noise; all cells if left out.
    #[serde(default)]
    pub only: Option<(String, usize, f64)>,
    /// Training steps; the tuned number if left out.
    pub steps: Option<usize>,
    /// Seed of the training and of the trials.
    pub seed: u64,
}

impl Rerun {
    fn wants(&self, cell: &Cell) -> bool {
        self.only.as_ref().is_none_or(|(method, shots, noise)| {
            (method, shots, noise) == (&cell.method, &cell.shots, &cell.noise)
        })
    }
}

/// Trains, evaluates, and tells the host of every record and of the end.
pub async fn run(rerun: &Rerun, host: &impl Host) {
    host.emit(match cells(rerun, host).await {
        Ok(()) => Event::Done,
        Err(stop) => stop.into(),
    });
}

async fn cells(rerun: &Rerun, host: &impl Host) -> Result<(), Stop> {
    let device = DeviceUsed {
        name: "cpu".to_owned(),
        ..DeviceUsed::default()
    };
    host.emit(Event::Started { device });
    let methods: Vec<String> = METHODS
        .iter()
        .filter(|method| method.trained_as == rerun.method)
        .map(|method| method.name.to_owned())
        .collect();
    let systems = [rerun.system.clone()];
    let (noises, seed) = (&rerun.noises, rerun.seed);
    let trainings = plan(&systems, &methods, &[], rerun.trials, noises, seed)?;
    let cells = trainings.iter().flat_map(|training| &training.cells);
    let cells: Vec<&Cell> = cells.filter(|cell| rerun.wants(cell)).collect();
    let (model, made) = train(rerun, host).await?;
    let mut evaluator = Evaluator::new(systems::by_name(&rerun.system)?, model, rerun.seed)?;
    for cell in cells {
        let record = evaluate(cell, &mut evaluator, &made, host).await?;
        host.emit(Event::Record(record.into()));
    }
    Ok(())
}

async fn train(rerun: &Rerun, host: &impl Host) -> Result<(Arc<Model>, Made), Stop> {
    let system = systems::by_name(&rerun.system)?;
    let mut settings = Settings::new(&rerun.system, &rerun.method)?;
    settings.steps = rerun.steps.unwrap_or(settings.steps);
    let tasks = training_tasks(rerun.system.clone(), system.as_ref(), rerun.seed, host).await?;
    let mut trainer = Trainer::new(&settings, &tasks, rerun.seed, &Device::flex())?;
    let mut pace = Pace::new(0);
    let (mut loss, mut told) = (f64::NAN, 0);
    while !trainer.finished() {
        for _ in 0..INTERVAL {
            trainer.step().await?;
            if pace.slice_is_over() {
                breathe(host).await?;
            }
            if pace.report_is_due() {
                host.emit(Event::Progress(pace.training(&trainer.progress(), loss)));
            }
        }
        loss = trainer.loss().await?;
        for notice in trainer.progress().news(&mut told) {
            host.emit(Event::Note(notice.clone()));
        }
    }
    let made = Made {
        settings,
        device: device_name(),
        training_seconds: pace.seconds(),
    };
    let model = trainer.snapshot_with(async || breathe(host).await).await?;
    Ok((Arc::new(model), made))
}

async fn evaluate(
    cell: &Cell,
    evaluator: &mut Evaluator,
    made: &Made,
    host: &impl Host,
) -> Result<Record, Stop> {
    let mut pace = Pace::new(cell.trials);
    let mut outcomes = Vec::with_capacity(cell.trials);
    for trial in 0..cell.trials {
        outcomes.push(evaluator.trial(cell, trial)?);
        if pace.slice_is_over() {
            breathe(host).await?;
        }
    }
    Ok(cell.record(&outcomes, made)?)
}

fn device_name() -> String {
    let place = if cfg!(target_arch = "wasm32") {
        "browser"
    } else {
        "native"
    };
    format!("CPU, {place}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{native::Job, protocol::Work};

    /// Method, shots and trials of the records of a short rerun.
    fn found(only: Option<(String, usize, f64)>) -> Vec<(String, usize, usize)> {
        let job = Job::start(Work::Rerun(Rerun {
            system: "pendulum".to_owned(),
            method: "camel".to_owned(),
            noises: Vec::new(),
            trials: Some(2),
            only,
            steps: Some(20),
            seed: 3,
        }));
        let events: Vec<Event> = job.events.iter().collect();
        assert_eq!(events.last(), Some(&Event::Done));
        let record = |event| match event {
            Event::Record(record) => record.open().ok().map(|r| (r.method, r.shots, r.mse.n)),
            _ => None,
        };
        events.into_iter().filter_map(record).collect()
    }

    #[test]
    fn a_rerun_gives_a_record_for_every_method_and_number_of_shots() {
        let expected = [("camel", 10, 2), ("camel", 50, 2), ("phi-camel", 0, 2)];
        assert_eq!(
            found(None),
            expected.map(|(method, shots, n)| (method.to_owned(), shots, n))
        );
    }

    #[test]
    fn one_cell_can_be_made_alone() {
        let cell = ("phi-camel".to_owned(), 0, 0.0);
        assert_eq!(found(Some(cell)), [("phi-camel".to_owned(), 0, 2)]);
    }

    #[test]
    fn an_unknown_system_is_named() {
        let job = Job::start(Work::Rerun(Rerun {
            system: "moon".to_owned(),
            method: "camel".to_owned(),
            noises: vec![0.0],
            trials: None,
            only: None,
            steps: None,
            seed: 0,
        }));
        let last = job.events.iter().last();
        assert!(
            matches!(&last, Some(Event::Failed(why)) if why.contains("moon")),
            "{last:?}"
        );
    }
}
