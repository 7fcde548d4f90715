//! Reads a file, learns from it, and adapts to the environment that was held out.

use std::sync::Arc;

use super::{
    example::name_and_unit,
    report::{DataReport, DataSpec},
    roles::parameter_name,
    table::{Table, TableReader},
    tasks::{Environments, Held, Order, shots},
};
use crate::{
    engine::{pacing::Host, protocol::Event},
    experiments::{
        evaluate::{EvaluationError, pairs},
        report::{Adaptation, ErrorSize, Identified},
        run::{Stop, breathe, train_on_device},
        spec::{Draft, Spec},
    },
    identification::{
        affine_map::{AffineMap, Offset, Rank},
        by_map::identify_by_map,
        identifier::Identifier,
        learned::LearnedModel,
        online::Estimate,
    },
    learners::{Adapted, LearnerError, Model, Optimiser},
    systems::Task,
};

/// Rows up to which all of them are passed over in every step, if the experiment asks for that.
const MOST_FULL_BATCH_ROWS: usize = 20_000;
/// Rows that are read before others may run.
const SLICE: usize = 5_000;
/// Directions in which the known parameters vary by less than this share do not count.
const LEAST_VARIATION: f64 = 1e-6;

/// Reads the file and tells the host what is in it.
pub async fn outline(host: &impl Host) {
    let last = match table(host).await {
        Ok(table) => Event::Outline(table.outline().into()),
        Err(stop) => stop.into(),
    };
    host.emit(last);
}

/// Learns from the file and tells the host of every event, the last one included.
pub async fn learn(spec: &DataSpec, host: &impl Host) {
    let last = match report(spec, host).await {
        Ok(report) => Event::Learned(report.into()),
        Err(stop) => stop.into(),
    };
    host.emit(last);
}

/// Reads the file in slices of rows.
async fn table(host: &impl Host) -> Result<Table, Stop> {
    let bytes = host.file().await.map_err(Stop::Failed)?;
    let mut reader = TableReader::new(&bytes)?;
    while reader.read(SLICE)? {
        breathe(host).await?;
    }
    Ok(reader.finish()?)
}

async fn report(spec: &DataSpec, host: &impl Host) -> Result<DataReport, Stop> {
    let environments = Environments::new(&table(host).await?, &spec.columns)?;
    let held = environments.hold_out(&spec.held_out, spec.order)?;
    // Refused before the training, not after it.
    let training = &spec.training;
    let (shots, rest) = shots(&held.held, training.shots, spec.order, training.seed)?;
    let mut notes: Vec<String> = held.note.iter().cloned().collect();
    let rows: usize = held.training.iter().map(|task| task.targets.len()).sum();
    let by_adam = by_adam(training, rows)?;
    if by_adam.is_some() {
        notes.push(format!(
            "L-BFGS passes over all rows in every step, which takes long with {rows} of them: the model was trained by Adam"
        ));
    }
    let spec = &DataSpec {
        training: by_adam.unwrap_or_else(|| training.clone()),
        ..spec.clone()
    };
    let settings = spec.settings()?;
    let (trained, used) = train_on_device(&spec.training, &settings, &held.training, host).await?;
    breathe(host).await?;
    let adaptation = adapt(spec, &trained.model, &held, &shots, &rest, &mut notes)?;
    Ok(DataReport {
        spec: spec.clone(),
        device: used,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seconds: trained.seconds,
        steps: trained.steps,
        losses: trained.losses,
        environments: held.training.len(),
        adaptation,
        notes,
    })
}

/// The same training by Adam, where L-BFGS was asked for and would take long with so many rows.
fn by_adam(training: &Spec, rows: usize) -> Result<Option<Spec>, LearnerError> {
    if training.optimiser != Optimiser::Lbfgs || rows <= MOST_FULL_BATCH_ROWS {
        return Ok(None);
    }
    let settings = training.settings()?.with_adam();
    let draft = Draft {
        optimiser: settings.optimiser,
        steps: settings.steps,
        ..training.clone().into()
    };
    Ok(Some(draft.corrected().0))
}

fn adapt(
    spec: &DataSpec,
    model: &Arc<Model>,
    held: &Held,
    shots: &Task,
    rest: &Task,
    notes: &mut Vec<String>,
) -> Result<Adaptation, EvaluationError> {
    let adapted = model.adapt(&shots.inputs, &shots.targets)?;
    let predicted = model.predict(&adapted, &rest.inputs)?;
    let mut zero_shot = None;
    let mut identified = Vec::new();
    if !spec.columns.parameters.is_empty() {
        match undetermined(spec, &held.training) {
            Some(why) => notes.push(why),
            None => match identify(spec, model, held, shots, rest, &adapted) {
                Ok(found) => (identified, zero_shot) = found,
                Err(error) => {
                    notes.push(format!("the parameters could not be identified: {error}"))
                }
            },
        }
    }
    let (name, unit) = name_and_unit(&spec.columns.target);
    Ok(Adaptation {
        shots: shots.targets.len(),
        few_shot: ErrorSize::of(&rest.targets, &predicted),
        zero_shot,
        identified,
        conditioning: None,
        predictions: pairs(&rest.targets, &predicted)?,
        target: (name.to_owned(), unit.to_owned()),
        floor: None,
    })
}

/// Why the training environments do not determine the map between contexts and parameters.
fn undetermined(spec: &DataSpec, training: &[Task]) -> Option<String> {
    let names = &spec.columns.parameters;
    let rows: Vec<Vec<f64>> = training
        .iter()
        .map(|task| task.parameters.clone())
        .collect();
    let constant = (0..names.len()).find(|&j| rows.iter().all(|row| row[j] == rows[0][j]));
    if let Some(j) = constant {
        return Some(format!(
            "the parameters cannot be identified: {} is the same in all training environments",
            parameter_name(&names[j])
        ));
    }
    let needed = names.len() + 1;
    let rank = Rank::Numerical(LEAST_VARIATION);
    let scale = spans(&rows);
    let scaled: Vec<_> = rows.iter().map(|row| divided(row, &scale)).collect();
    let map = AffineMap::fit(&scaled, &rows, rank, Offset::Free).ok()?;
    (map.rank() < names.len()).then(|| {
        format!(
            "the parameters cannot be identified: {} of them need at least {needed} training environments that vary them independently, but there are {}, which vary them in {} directions",
            names.len(),
            rows.len(),
            map.rank()
        )
    })
}

/// How far each parameter varies: divided by that, units do not matter.
fn spans(rows: &[Vec<f64>]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let span = |j: usize| {
        let values = || rows.iter().map(move |row| row[j]);
        let span = values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min);
        if span > 0.0 { span } else { 1.0 }
    };
    (0..width).map(span).collect()
}

fn divided(values: &[f64], scale: &[f64]) -> Vec<f64> {
    values.iter().zip(scale).map(|(v, s)| v / s).collect()
}

type Found = (Vec<Identified>, Option<ErrorSize>);

/// The parameters of the held-out environment, and the error of the model that is given the true ones.
fn identify(
    spec: &DataSpec,
    model: &Arc<Model>,
    held: &Held,
    shots: &Task,
    rest: &Task,
    adapted: &Adapted,
) -> Result<Found, EvaluationError> {
    let Ok(learned) = LearnedModel::new(model.clone()) else {
        let found = identify_by_map(model, adapted)?;
        let Estimate {
            values,
            standard_errors,
        } = found.estimate;
        let values = values
            .into_iter()
            .zip(standard_errors)
            .zip(found.determined);
        let values = values.map(|((value, error), determined)| (value, error, determined));
        return Ok((describe(spec, &held.held, values, true), None));
    };
    let (contexts, parameters): (Vec<_>, Vec<_>) = model
        .tasks()
        .iter()
        .map(|task| (task.context.clone(), task.parameters.clone()))
        .unzip();
    let scale = spans(&parameters);
    let parameters: Vec<_> = parameters.iter().map(|p| divided(p, &scale)).collect();
    let mut validation = held.validation.clone();
    for task in &mut validation {
        task.parameters = divided(&task.parameters, &scale);
    }
    let in_order = spec.order != Order::Random;
    let mut identifier = Identifier::new(learned, &contexts, &parameters, &validation, in_order)?;
    // The residuals of the validation rows have the measurement's noise in them.
    let found = identifier.identify(&shots.inputs, &shots.targets, 0.0)?;
    let values = (0..found.determined.len()).map(|j| {
        let (value, error) = (found.estimate.values[j], found.estimate.standard_errors[j]);
        (scale[j] * value, scale[j] * error, found.determined[j])
    });
    let truth = divided(&held.held.parameters, &scale);
    let known = identifier.model().task_weights(&truth)?;
    let predicted = model.predict(&model.with_context(&known)?, &rest.inputs)?;
    let zero_shot = ErrorSize::of(&rest.targets, &predicted);
    Ok((describe(spec, &held.held, values, false), Some(zero_shot)))
}

fn describe(
    spec: &DataSpec,
    held: &Task,
    values: impl Iterator<Item = (f64, f64, bool)>,
    map_alone: bool,
) -> Vec<Identified> {
    let about = spec.columns.parameters.iter().zip(&held.parameters);
    let identified = |((heading, &truth), (estimate, standard_error, determined)): (
        (&String, &f64),
        (f64, f64, bool),
    )| {
        let (name, unit) = name_and_unit(parameter_name(heading));
        Identified {
            name: name.to_owned(),
            symbol: String::new(),
            unit: unit.to_owned(),
            truth,
            estimate,
            standard_error,
            determined,
            map_alone,
        }
    };
    about.zip(values).map(identified).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{native::Job, protocol::Work},
        experiments::dataset::roles::Roles,
    };

    fn second_order(steps: usize) -> Spec {
        let draft = Draft {
            steps,
            optimiser: Optimiser::Lbfgs,
            ..Draft::recommended("cartpole", "camel").unwrap()
        };
        draft.check().unwrap()
    }

    #[test]
    fn adam_gets_many_rows_and_as_many_steps_as_are_allowed() {
        let few = by_adam(&second_order(3_000), MOST_FULL_BATCH_ROWS);
        assert_eq!(few, Ok(None));
        for (steps, expected) in [(3_000, 30_000), (100_000, 200_000)] {
            let training = second_order(steps);
            let changed = by_adam(&training, MOST_FULL_BATCH_ROWS + 1);
            let expected = Draft {
                steps: expected,
                optimiser: Optimiser::Adam,
                ..training.into()
            };
            assert_eq!(changed, Ok(Some(expected.check().unwrap())));
        }
    }

    /// Four environments y = e x of 8,400 rows, three of which are trained on, without a seventh.
    fn many_rows() -> Vec<u8> {
        let row = |k: usize| {
            let (e, x) = (1 + k % 4, (k as f64).sin());
            format!("{e},{x},{}\n", e as f64 * x)
        };
        let rows: String = (0..33_600).map(row).collect();
        format!("env,x,y\n{rows}").into_bytes()
    }

    #[test]
    fn the_device_is_chosen_for_the_optimiser_that_trains() {
        let file = many_rows();
        let outline = Table::read(&file).unwrap().outline();
        let spec = DataSpec {
            file: "many.csv".to_owned(),
            columns: Roles::guess(&outline).check(&outline).unwrap(),
            held_out: "4".to_owned(),
            order: Order::Random,
            shared_part: false,
            training: second_order(1),
        };
        let job = Job::with_file(Work::Dataset(Box::new(spec)), file);
        let last = job.events.iter().last();
        let Some(Event::Learned(report)) = last else {
            panic!("{last:?}")
        };
        let report = report.open().unwrap();
        assert_eq!(report.device.reason, "");
        let trained = (report.spec.training.optimiser, report.steps);
        assert_eq!(trained, (Optimiser::Adam, 10));
        let told = |note: &String| note.contains("by Adam");
        assert!(report.notes.iter().any(told), "{:?}", report.notes);
    }
}
