//! What a trained model answers to a visitor who changes the environment, the shots or the places
//! of measurement: no training, so an answer takes milliseconds.

use std::{cell::RefCell, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    evaluate::{EvaluationError, Trial, adapt, known_parameters, parameters},
    follow::follow,
    plan::{Plan, Truth, plan},
    report::{Adaptation, Motion, Report},
    spec::{DeviceChoice, Draft, Spec},
};
use crate::{
    engine::protocol::DeviceUsed,
    identification::{identifier::Identifier, learned::LearnedModel},
    learners::{Adapted, LearnerError, Model, Settings, method, weights},
    systems::{
        Field, Samples, Shape, Split, System, SystemError,
        field_lines::field_lines,
        grid::{Grid, Nodes},
    },
};

/// Values of a map along x1.
const COLUMNS: usize = 72;
/// Points along x1 among which the best next one is chosen.
const CANDIDATES: usize = 36;
/// Field lines that start at plates inside a map.
const LINES: usize = 24;
/// Most models that are kept.
const MOST_KEPT: usize = 16;
/// Most samples of a curve.
const CURVE: usize = 300;
/// Files in `public/weights`.
const SHIPPED: &[&str] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// Where the model comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// It came with the site.
    Shipped,
    /// The visitor trained it.
    Trained,
    /// It was in a file that the visitor opened.
    File,
}

/// What a model knows of one environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What was asked.
    pub spec: Spec,
    /// Whose model answers.
    pub origin: Origin,
    /// Errors and identified parameters.
    pub adaptation: Adaptation,
    /// The robot following a reference.
    pub motion: Option<Motion>,
    /// Predictions to look at.
    pub picture: Option<Picture>,
    /// Where to measure a field next.
    #[serde(default)]
    pub plan: Option<Plan>,
}

impl From<&Report> for Answer {
    fn from(report: &Report) -> Self {
        Self {
            spec: report.spec.clone(),
            origin: Origin::Trained,
            adaptation: report.adaptation.clone(),
            motion: report.motion.clone(),
            picture: None,
            plan: None,
        }
    }
}

impl Answer {
    /// The answer as a report that can be saved, with the course of the training where it is known.
    pub fn report(&self, trained: Option<&Report>) -> Report {
        let unknown = || Report {
            spec: self.spec.clone(),
            device: DeviceUsed {
                name: "cpu".to_owned(),
                reason: "the model was not trained here, it only adapted".to_owned(),
                ..DeviceUsed::default()
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seconds: 0.0,
            steps: self.spec.steps,
            losses: Vec::new(),
            adaptation: Adaptation::default(),
            motion: None,
        };
        Report {
            spec: self.spec.clone(),
            adaptation: self.adaptation.clone(),
            motion: self.motion.clone(),
            ..trained.cloned().unwrap_or_else(unknown)
        }
    }
}

/// Truth and predictions side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Picture {
    /// Maps of a field over its domain.
    Maps {
        /// Lower left and upper right corner [m].
        domain: [[f64; 2]; 2],
        /// Values in a row of each map.
        columns: usize,
        /// Where the field was measured [m].
        points: Vec<[f64; 2]>,
        /// The true field.
        truth: Map,
        /// Predicted from the measurements.
        few_shot: Map,
        /// Predicted from the true parameters.
        zero_shot: Option<Map>,
    },
    /// Inputs along a movement of a robot.
    Curves {
        /// Time between two samples [s].
        dt: f64,
        /// The true inputs.
        truth: Vec<f64>,
        /// Predicted from the samples.
        few_shot: Vec<f64>,
        /// Predicted from the true parameters.
        zero_shot: Option<Vec<f64>>,
    },
}

/// A field on a grid, row after row from the lower left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// The potential.
    pub values: Vec<f32>,
    /// Lines of the field.
    pub lines: Vec<Vec<[f32; 2]>>,
}

/// A model and the experiment that it was trained in.
struct Kept {
    spec: Spec,
    origin: Origin,
    model: Arc<Model>,
}

thread_local! {
    /// Models that this worker or thread has trained or loaded, the newest last.
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a trained model for the questions that follow.
pub fn keep(spec: &Spec, model: Arc<Model>) {
    keep_from(spec, Origin::Trained, model);
}

fn keep_from(spec: &Spec, origin: Origin, model: Arc<Model>) {
    KEPT.with_borrow_mut(|kept| {
        kept.retain(|other| !spec.trains_like(&other.spec));
        if kept.len() == MOST_KEPT {
            kept.remove(0);
        }
        kept.push(Kept {
            spec: spec.clone(),
            origin,
            model,
        });
    });
}

/// Reads the shipped model of an experiment and keeps it.
pub fn keep_shipped(spec: &Spec, bytes: &[u8]) -> Result<(), EvaluationError> {
    keep_file(spec, Origin::Shipped, bytes)
}

/// Keeps the model of a file, if it is what these settings would give.
pub fn keep_file(spec: &Spec, origin: Origin, bytes: &[u8]) -> Result<(), EvaluationError> {
    let model = weights::import(bytes)?;
    if let Some(difference) = difference(&model, spec)? {
        return Err(EvaluationError::OtherModel(difference));
    }
    keep_from(spec, origin, Arc::new(model));
    Ok(())
}

/// What tells a model from one that these settings would give, in words.
fn difference(model: &Model, spec: &Spec) -> Result<Option<String>, EvaluationError> {
    let named = |settings: &Settings| -> Result<_, EvaluationError> {
        let method = method(&settings.method)?.trained_as.to_owned();
        let settings = Settings {
            method,
            ..settings.clone()
        };
        Ok(serde_json::to_value(settings).unwrap_or_default())
    };
    let (given, wanted) = (named(model.settings())?, named(&spec.settings()?)?);
    // A model of another system differs in much, but this is what to say.
    let rest = wanted.as_object().into_iter().flat_map(|all| all.keys());
    let mut keys = ["system", "method"]
        .into_iter()
        .chain(rest.map(String::as_str));
    if let Some(key) = keys.find(|key| given[key] != wanted[key]) {
        let (name, given, wanted) = (key.replace('_', " "), &given[key], &wanted[key]);
        return Ok(Some(format!(
            "its {name} is {given}, but must be {wanted} as in the settings here"
        )));
    }
    let system = spec.physics()?;
    let about = system.description();
    let parameters = model.tasks().iter().map(|task| task.parameters.len());
    let sizes = [
        ("inputs", model.input_size(), about.inputs.len()),
        (
            "parameters",
            parameters.max().unwrap_or(0),
            about.parameters.len(),
        ),
    ];
    let wrong = sizes.into_iter().find(|(_, given, wanted)| given != wanted);
    Ok(wrong.map(|(name, given, wanted)| {
        format!("it has {given} {name}, but {} has {wanted}", about.name)
    }))
}

/// Whether two experiments ask one model the same.
pub fn same_question(one: &Spec, other: &Spec) -> bool {
    let question = |spec: &Spec| {
        let system = spec.portrait().ok()?;
        Some(Draft {
            device: DeviceChoice::Auto,
            phi: parameters(spec, system.about()),
            ..spec.clone().into()
        })
    };
    question(one) == question(other)
}

/// Whether a model for these settings is at hand.
pub fn is_ready(spec: &Spec) -> bool {
    kept(spec).is_some()
}

fn kept(spec: &Spec) -> Option<(Origin, Arc<Model>)> {
    KEPT.with_borrow(|kept| {
        let fits = kept.iter().find(|kept| spec.trains_like(&kept.spec))?;
        Some((fits.origin, fits.model.clone()))
    })
}

/// File of the shipped model, relative to the site, if there is one for these settings; it was trained
/// from a seed of its own.
pub fn shipped_file(spec: &Spec) -> Option<String> {
    let method = method(&spec.method).ok()?.trained_as;
    let usual = Draft {
        seed: spec.seed,
        ..Draft::recommended(&spec.system, &spec.method).ok()?
    };
    let file = format!("{}-{method}.safetensors", spec.system);
    (spec.trains_like(&usual) && SHIPPED.contains(&file.as_str()))
        .then(|| format!("weights/{file}"))
}

/// Answers with the model at hand.
pub fn answer(spec: &Spec) -> Result<Answer, EvaluationError> {
    let (origin, model) = kept(spec).ok_or(EvaluationError::NotTrained)?;
    let system = spec.physics()?;
    let (adaptation, from_shots) = adapt(spec, system.as_ref(), &model)?;
    let motion = follow(spec, system.as_ref(), &model)?;
    let known = known_parameters(system.as_ref(), &model, spec.seed)?;
    let picture = picture(spec, system.as_ref(), &model, &from_shots, known.as_ref())?;
    let plan = match (known, system.field()) {
        (Some(mut known), Some(field)) => {
            let phi = parameters(spec, field.description());
            let trial = Trial::of_spec(spec, field, &phi)?;
            let (grid, potential) = (grid(field, CANDIDATES)?, field.solve(&phi)?);
            let values: Vec<f64> = grid.positions().map(|x| potential.value(x)).collect();
            let truth = Truth {
                phi: &phi,
                values: &values,
            };
            let (candidates, noise) = (grid.samples(), spec.noise);
            plan(
                &mut known,
                &candidates,
                &trial.inputs,
                truth,
                noise,
                spec.seed,
            )?
        }
        _ => None,
    };
    Ok(Answer {
        spec: spec.clone(),
        origin,
        adaptation,
        motion,
        picture: Some(picture),
        plan,
    })
}

fn picture(
    spec: &Spec,
    system: &dyn System,
    model: &Arc<Model>,
    few_shot: &Adapted,
    known: Option<&Identifier<LearnedModel>>,
) -> Result<Picture, EvaluationError> {
    let phi = parameters(spec, system.description());
    let zero_shot = match known {
        Some(known) => Some(model.with_context(&known.model().task_weights(&phi)?)?),
        None => None,
    };
    match system.field() {
        Some(field) => maps(spec, field, &phi, model, few_shot, zero_shot.as_ref()),
        None => curves(spec, system, &phi, model, few_shot, zero_shot.as_ref()),
    }
}

fn maps(
    spec: &Spec,
    field: &dyn Field,
    phi: &[f64],
    model: &Model,
    few_shot: &Adapted,
    zero_shot: Option<&Adapted>,
) -> Result<Picture, EvaluationError> {
    let grid = grid(field, COLUMNS)?;
    let potential = field.solve(phi)?;
    let (inputs, sources) = (grid.samples(), field.sketch(phi));
    let predicted = |adapted: &Adapted| -> Result<Map, LearnerError> {
        Ok(map(grid, model.predict(adapted, &inputs)?, &sources))
    };
    let truth = grid.positions().map(|x| potential.value(x)).collect();
    let trial = Trial::of_spec(spec, field, phi)?;
    Ok(Picture::Maps {
        domain: field.domain(),
        columns: COLUMNS,
        points: trial.inputs.rows().map(|x| [x[0], x[1]]).collect(),
        truth: map(grid, truth, &sources),
        few_shot: predicted(few_shot)?,
        zero_shot: zero_shot.map(predicted).transpose()?,
    })
}

/// A grid of square cells over a field's domain.
fn grid(field: &dyn Field, columns: usize) -> Result<Grid, SystemError> {
    let [low, high] = field.domain();
    let rows = columns as f64 * (high[1] - low[1]) / (high[0] - low[0]);
    Grid::new([columns, (rows.round() as usize).max(3)], [low, high])
}

fn map(grid: Grid, values: Vec<f64>, sources: &[Shape]) -> Map {
    let nodes = Nodes { grid, values };
    let lines = field_lines(&nodes, sources, grid.domain(), LINES);
    let rounded = |line: Vec<[f64; 2]>| line.iter().map(|x| x.map(|x| x as f32)).collect();
    Map {
        lines: lines.into_iter().map(rounded).collect(),
        values: nodes.values.iter().map(|&y| y as f32).collect(),
    }
}

fn curves(
    spec: &Spec,
    system: &dyn System,
    phi: &[f64],
    model: &Model,
    few_shot: &Adapted,
    zero_shot: Option<&Adapted>,
) -> Result<Picture, EvaluationError> {
    let task = system.task(phi, Split::Test, spec.seed)?;
    let count = task.targets.len().min(CURVE);
    let inputs = Samples {
        dim: task.inputs.dim,
        values: task.inputs.values[..count * task.inputs.dim].to_vec(),
    };
    Ok(Picture::Curves {
        dt: system.robot().map_or(1.0, |robot| robot.time_step()),
        truth: task.targets[..count].to_vec(),
        few_shot: model.predict(few_shot, &inputs)?,
        zero_shot: zero_shot
            .map(|adapted| model.predict(adapted, &inputs))
            .transpose()?,
    })
}

#[cfg(test)]
mod tests;
