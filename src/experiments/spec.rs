//! What an experiment is: a [`Draft`] as a form or a link gives it, and the [`Spec`] that has been
//! checked and is the only thing the engine accepts.
//!
//! | key | meaning | allowed |
//! |---|---|---|
//! | `system` | what is learned | a name of [`crate::systems::NAMES`] |
//! | `method` | how | a name of [`crate::learners::METHODS`] |
//! | `device` | where | `auto`, `cpu`, `webgpu` |
//! | `optimiser` | what minimises the loss | `adam`; `lbfgs` for CAMEL, ANIL, R2-D2 |
//! | `first_order` | whether second derivatives are left out | `0`; `1` for ANIL, MAML, CAVIA |
//! | `phi` | parameters of the environment to adapt to | inside the system's range |
//! | `points` | where a field is measured, instead of random shots | inside the field's domain |
//! | `places` | one to eight charges, instead of the paper's | outside the domain, apart |
//! | others | see [`NUMBERS`] | see [`NUMBERS`] |

use std::{fmt, ops::Deref, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    learners::{self, LearnerError, Optimiser, Settings},
    systems::{self, Portrait, System, SystemError},
};

mod error;
mod number;

pub use error::SpecError;
pub use number::{NUMBERS, Number};

/// Most points at which a field is measured.
const MOST_POINTS: usize = 2_000;

/// Where a run is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceChoice {
    /// The faster of the two, by a short measurement of the job itself.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The graphics card, through WebGPU.
    Webgpu,
}

impl DeviceChoice {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Cpu, Self::Webgpu];

    /// Name in links.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Webgpu => "webgpu",
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DeviceChoice {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::ALL
            .into_iter()
            .find(|d| d.name() == text)
            .ok_or_else(|| SpecError::Choice {
                key: "device",
                value: text.to_owned(),
                allowed: "auto, cpu, webgpu".to_owned(),
            })
    }
}

/// An experiment as a form or a link gives it, not yet checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Length of the task vector.
    pub rank: usize,
    /// Neurons in a hidden layer.
    pub width: usize,
    /// Hidden layers.
    pub depth: usize,
    /// Training steps.
    pub steps: usize,
    /// First learning rate.
    pub rate: f64,
    /// Points of each task in a step.
    pub batch: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Samples to adapt from.
    pub shots: usize,
    /// Standard deviation of the noise on the adaptation targets.
    pub noise: f64,
    /// Where to compute.
    pub device: DeviceChoice,
    /// Parameters of the environment to adapt to; the system's typical ones if empty.
    pub phi: Vec<f64>,
    /// Where a field is measured [m]; random points, as many as there are shots, if empty.
    #[serde(default)]
    pub points: Vec<[f64; 2]>,
    /// Where the charges are, one to eight of them [m]; those of the paper if empty.
    #[serde(default)]
    pub places: Vec<[f64; 2]>,
    /// What minimises the meta-loss.
    #[serde(default)]
    pub optimiser: Optimiser,
    /// Whether second derivatives are left out of the meta-gradient.
    #[serde(default)]
    pub first_order: bool,
}

impl Draft {
    /// The settings that the tables use for this system and method.
    pub fn recommended(system: &str, method: &str) -> Result<Self, SpecError> {
        check_names(system, method)?;
        let settings = Settings::new(system, method)?;
        Ok(Self {
            system: system.to_owned(),
            method: method.to_owned(),
            rank: settings.rank,
            width: settings.hidden.first().copied().unwrap_or(16),
            depth: settings.hidden.len(),
            steps: settings.steps,
            rate: settings.learning_rate,
            batch: settings.batch,
            seed: 0,
            shots: usual_shots(system),
            noise: 0.0,
            device: DeviceChoice::Auto,
            phi: Vec::new(),
            points: Vec::new(),
            places: Vec::new(),
            optimiser: settings.optimiser,
            first_order: settings.first_order,
        })
    }

    /// The system, with the charges where the visitor put them.
    pub fn physics(&self) -> Result<Box<dyn System>, SystemError> {
        systems::with_places(&self.system, &self.places)
    }

    /// The same without what simulates it.
    pub fn portrait(&self) -> Result<Box<dyn Portrait>, SystemError> {
        systems::portrait(&self.system, &self.places)
    }

    /// Name of the system and number of its parameters: another number of charges is another system.
    pub fn kind(&self) -> (String, usize) {
        let count = |system: Box<dyn Portrait>| system.about().parameters.len();
        (self.system.clone(), self.portrait().map_or(0, count))
    }

    /// Whether a model trained for the other experiment is the one that this needs.
    pub fn trains_like(&self, other: &Self) -> bool {
        let evaluation_of = |draft: &Self| Self {
            shots: 0,
            noise: 0.0,
            device: DeviceChoice::Auto,
            phi: Vec::new(),
            points: Vec::new(),
            method: learners::method(&draft.method)
                .map_or(&*draft.method, |method| method.trained_as)
                .to_owned(),
            ..draft.clone()
        };
        evaluation_of(self) == evaluation_of(other)
    }

    /// The same training in the environment, and with the seed and device, of another experiment on
    /// the same system.
    pub fn in_environment_of(self, other: &Self) -> Self {
        Self {
            seed: other.seed,
            shots: other.shots,
            noise: other.noise,
            device: other.device,
            phi: other.phi.clone(),
            points: other.points.clone(),
            places: other.places.clone(),
            ..self
        }
    }

    /// The learner's settings: the recommended ones with what the draft changes.
    pub fn settings(&self) -> Result<Settings, LearnerError> {
        Ok(Settings {
            rank: self.rank,
            hidden: vec![self.width; self.depth],
            steps: self.steps,
            learning_rate: self.rate,
            batch: self.batch,
            optimiser: self.optimiser,
            first_order: self.first_order,
            ..Settings::new(&self.system, &self.method)?
        })
    }

    /// Every fault of the draft, or the checked experiment.
    pub fn check(self) -> Result<Spec, Vec<SpecError>> {
        let faults = self.faults();
        if faults.is_empty() {
            Ok(Spec(self))
        } else {
            Err(faults)
        }
    }

    /// The nearest valid experiment, with what had to be changed.
    pub fn corrected(mut self) -> (Spec, Vec<SpecError>) {
        let faults = self.faults();
        if check_names(&self.system, DEFAULT_METHOD).is_err() {
            self.system = DEFAULT_SYSTEM.to_owned();
        }
        if check_names(&self.system, &self.method).is_err() {
            self.method = DEFAULT_METHOD.to_owned();
        }
        if self.check_variant().is_err() {
            (self.optimiser, self.first_order) = (Optimiser::Adam, false);
        }
        if self.check_places().is_err() {
            self.places.clear();
        }
        if self.check_phi().is_err() {
            self.phi.clear();
        }
        if self.check_points().is_err() {
            self.points.clear();
        }
        for number in NUMBERS {
            let value = (number.get)(&self);
            let inside = if value.is_nan() {
                number.min
            } else {
                value.clamp(number.min, number.max)
            };
            (number.set)(&mut self, inside);
        }
        self.shots = self.shots.max(self.least_shots());
        (Spec(self), faults)
    }

    fn faults(&self) -> Vec<SpecError> {
        let checks = [
            check_names(&self.system, &self.method),
            self.check_variant(),
            self.check_places(),
            self.check_phi(),
            self.check_points(),
        ];
        let mut faults: Vec<_> = checks.into_iter().filter_map(Result::err).collect();
        faults.extend(
            NUMBERS
                .iter()
                .filter_map(|number| number.check((number.get)(self)).err()),
        );
        if self.shots < self.least_shots() && self.shots >= 1 {
            faults.push(SpecError::Shots {
                given: self.shots,
                needed: self.least_shots(),
                rank: self.rank,
            });
        }
        faults
    }

    /// Fewest samples from which the method adapts; measured points are counted when they are used.
    fn least_shots(&self) -> usize {
        match self.points.is_empty() {
            true => self.least_samples(),
            false => 1,
        }
    }

    /// Fewest samples from which the method adapts, wherever they come from.
    fn least_samples(&self) -> usize {
        let settings = self.settings();
        settings.map_or(1, |settings| settings.least_shots().min(MOST_POINTS))
    }

    /// Whether training tasks and measured points are enough for the rank: asked before a training that would
    /// find out at its end. Points are placed one by one, so this is no part of [`Draft::check`].
    pub fn check_rank(&self) -> Result<(), SpecError> {
        self.check_tasks()?;
        let (given, needed) = (self.points.len(), self.least_samples());
        if (1..needed).contains(&given) {
            return Err(SpecError::FewPoints {
                given,
                needed,
                rank: self.rank,
            });
        }
        Ok(())
    }

    /// Whether the system has enough training tasks for the rank. Own data have other tasks, so this is
    /// no part of [`Draft::check`].
    pub fn check_tasks(&self) -> Result<(), SpecError> {
        let Ok(system) = self.portrait() else {
            return Ok(());
        };
        let tasks = system.training_environments(self.seed);
        if self.rank > tasks {
            return Err(SpecError::Rank {
                rank: self.rank,
                tasks,
                system: self.system.clone(),
            });
        }
        Ok(())
    }

    /// Whether the method can be trained in this way.
    fn check_variant(&self) -> Result<(), SpecError> {
        let Ok(method) = learners::method(&self.method) else {
            return Ok(());
        };
        let refused = |key, value: &str, allowed: &str| SpecError::Variant {
            key,
            value: value.to_owned(),
            method: method.title,
            allowed: allowed.to_owned(),
        };
        if self.optimiser == Optimiser::Lbfgs && !method.lbfgs {
            return Err(refused("optimiser", "lbfgs", "adam"));
        }
        if self.first_order && !method.may_be_first_order(self.optimiser) {
            return Err(refused("first_order", "1", "0"));
        }
        Ok(())
    }

    /// As many charges as there are places.
    fn check_phi(&self) -> Result<(), SpecError> {
        match self.portrait() {
            Ok(system) if !self.phi.is_empty() => Ok(system.check_phi(&self.phi)?),
            _ => Ok(()),
        }
    }

    fn check_places(&self) -> Result<(), SpecError> {
        if self.places.is_empty() || systems::portrait(&self.system, &[]).is_err() {
            return Ok(());
        }
        self.portrait().map(drop).map_err(SpecError::Places)
    }

    fn check_points(&self) -> Result<(), SpecError> {
        let Some(&first) = self.points.first() else {
            return Ok(());
        };
        let system = systems::portrait(&self.system, &[]).ok();
        let domain = system.and_then(|system| system.extent());
        let Some([low, high]) = domain else {
            return Err(SpecError::Point(
                first,
                "only a field is measured at points",
            ));
        };
        if self.points.len() > MOST_POINTS {
            return Err(SpecError::Point(first, "there can be at most 2000 points"));
        }
        let inside = |p: &[f64; 2]| (0..2).all(|k| (low[k]..=high[k]).contains(&p[k]));
        match self.points.iter().find(|point| !inside(point)) {
            Some(&point) => Err(SpecError::Point(point, "it lies outside of the field")),
            None => Ok(()),
        }
    }
}

/// The system of an empty link.
pub const DEFAULT_SYSTEM: &str = "cartpole";
/// The method of an empty link.
pub const DEFAULT_METHOD: &str = "camel";

/// A checked experiment. Only [`Draft::check`] and [`Draft::corrected`] make one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Draft", try_from = "Draft")]
pub struct Spec(Draft);

impl Deref for Spec {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.0
    }
}

impl From<Spec> for Draft {
    fn from(spec: Spec) -> Self {
        spec.0
    }
}

impl TryFrom<Draft> for Spec {
    type Error = SpecError;

    fn try_from(draft: Draft) -> Result<Self, SpecError> {
        draft.check().map_err(|mut faults| faults.swap_remove(0))
    }
}

/// The first characters of a text, so that a hostile one does not fill the page.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain("…".chars()).collect()
}

fn choice(key: &'static str, value: &str, allowed: &[&str]) -> Result<(), SpecError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    Err(SpecError::Choice {
        key,
        value: shortened(value),
        allowed: allowed.join(", "),
    })
}

fn check_names(system: &str, method: &str) -> Result<(), SpecError> {
    let methods: Vec<_> = learners::METHODS.iter().map(|method| method.name).collect();
    choice("system", system, &systems::NAMES)?;
    choice("method", method, &methods)
}

/// The paper's number of shots.
fn usual_shots(system: &str) -> usize {
    match system {
        "cartpole" | "arm" | "upkie" => 100,
        "capacitor" => 40,
        "capacitor-eps" => 30,
        _ => 10,
    }
}

#[cfg(test)]
mod tests;
