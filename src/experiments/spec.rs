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
use thiserror::Error;

use crate::{
    learners::{self, LearnerError, Optimiser, Settings},
    systems::{self, Portrait, System, SystemError},
};

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

/// Why a draft is not an experiment.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SpecError {
    /// A name that is not on the list.
    #[error("{key} must be one of {allowed}, but is '{value}'")]
    Choice {
        /// Key in the link.
        key: &'static str,
        /// Given text.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A way of training that the method does not have.
    #[error("{key} must be {allowed} for {method}, but is '{value}'")]
    Variant {
        /// Key in the link.
        key: &'static str,
        /// Given value.
        value: String,
        /// The method.
        method: &'static str,
        /// What is allowed.
        allowed: String,
    },
    /// A number outside its range.
    #[error("{key} must be between {min} and {max}, but is {value}")]
    Range {
        /// Key in the link.
        key: &'static str,
        /// Given number.
        value: f64,
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
    },
    /// Fewer samples than the method can adapt from.
    #[error("shots must be at least {needed} for CAMEL with rank {rank}, but is {given}")]
    Shots {
        /// Given number.
        given: usize,
        /// Fewest allowed.
        needed: usize,
        /// The rank.
        rank: usize,
    },
    /// A longer task vector than training tasks can tell apart.
    #[error(
        "rank must be at most {tasks}, the number of training tasks of {system}, but is {rank}"
    )]
    Rank {
        /// Given rank.
        rank: usize,
        /// Training tasks.
        tasks: usize,
        /// Name of the system.
        system: String,
    },
    /// Not a number, or not a whole one where one is needed.
    #[error("{key} must be {kind}, but is '{value}'")]
    NotANumber {
        /// Key in the link.
        key: &'static str,
        /// Given text.
        value: String,
        /// What is needed.
        kind: &'static str,
    },
    /// Parameters that the system refuses.
    #[error("phi: {0}")]
    Parameters(#[from] SystemError),
    /// Charges that cannot be where they are put.
    #[error("places: {0}")]
    Places(SystemError),
    /// A place at which nothing can be measured.
    #[error("points: ({x}, {y}) cannot be used: {why}", x = .0[0], y = .0[1], why = .1)]
    Point([f64; 2], &'static str),
    /// Settings that no learner has.
    #[error("{0}")]
    Settings(String),
}

impl From<LearnerError> for SpecError {
    fn from(error: LearnerError) -> Self {
        Self::Settings(error.to_string())
    }
}

/// One numeric setting: its key, meaning and range, and where it lives in a draft.
pub struct Number {
    /// Key in links and on the command line.
    pub key: &'static str,
    /// Meaning, for people.
    pub label: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// Smallest allowed value.
    pub min: f64,
    /// Largest allowed value.
    pub max: f64,
    /// Whether only whole numbers are allowed.
    pub whole: bool,
    /// Reads it.
    pub get: fn(&Draft) -> f64,
    /// Writes it.
    pub set: fn(&mut Draft, f64),
}

macro_rules! number {
    ($key:ident: $type:ty, $label:literal, $help:literal, $min:literal ..= $max:literal) => {
        Number {
            key: stringify!($key),
            label: $label,
            help: $help,
            min: $min,
            max: $max,
            whole: <$type as IsWhole>::WHOLE,
            get: |draft| draft.$key as f64,
            set: |draft, value| draft.$key = value as $type,
        }
    };
}

trait IsWhole {
    const WHOLE: bool;
}
impl IsWhole for f64 {
    const WHOLE: bool = false;
}
impl IsWhole for usize {
    const WHOLE: bool = true;
}
impl IsWhole for u64 {
    const WHOLE: bool = true;
}

/// Every numeric setting, in the order of the form.
pub const NUMBERS: &[Number] = &[
    number!(rank: usize, "Rank r", "Length of the task vector w", 1.0..=16.0),
    number!(width: usize, "Width", "Neurons in a hidden layer", 2.0..=128.0),
    number!(depth: usize, "Depth", "Hidden layers", 1.0..=6.0),
    number!(steps: usize, "Steps", "Training steps", 1.0..=200000.0),
    number!(rate: f64, "Learning rate", "Where the schedule starts", 1e-6..=1.0),
    number!(batch: usize, "Batch", "Points of each task in a step", 2.0..=4000.0),
    number!(seed: u64, "Seed", "One seed gives one result", 0.0..=9007199254740991.0),
    number!(shots: usize, "Shots", "Samples to adapt from", 1.0..=2000.0),
    number!(noise: f64, "Noise", "Standard deviation of the adaptation targets", 0.0..=100.0),
];

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
        match self.settings() {
            Ok(settings) if self.points.is_empty() => settings.least_shots().min(MOST_POINTS),
            _ => 1,
        }
    }

    /// Whether the system has enough training tasks for the rank. Own data have other tasks, so this is
    /// no part of [`Draft::check`].
    pub fn check_rank(&self) -> Result<(), SpecError> {
        let camel = learners::method(&self.method).is_ok_and(|m| m.trained_as == "camel");
        let Ok(system) = self.portrait() else {
            return Ok(());
        };
        let tasks = system.training_environments(self.seed);
        if camel && self.rank > tasks {
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
        if self.first_order && !method.first_order {
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

impl Number {
    /// Checks the range.
    pub fn check(&self, value: f64) -> Result<(), SpecError> {
        if (self.min..=self.max).contains(&value) {
            return Ok(());
        }
        Err(SpecError::Range {
            key: self.key,
            value,
            min: self.min,
            max: self.max,
        })
    }

    /// Reads a number of the right kind, in range or not.
    pub fn parse(&self, text: &str) -> Result<f64, SpecError> {
        let kind = if self.whole {
            "a whole number"
        } else {
            "a number"
        };
        let fault = || SpecError::NotANumber {
            key: self.key,
            value: shortened(text),
            kind,
        };
        let value: f64 = text.trim().parse().map_err(|_| fault())?;
        let fits = value.is_finite() && (!self.whole || value.fract() == 0.0);
        if fits { Ok(value) } else { Err(fault()) }
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
mod tests {
    use super::*;

    fn draft() -> Draft {
        Draft::recommended("cartpole", "camel").unwrap()
    }

    #[test]
    fn every_recommended_setting_is_valid() {
        for system in systems::NAMES {
            for method in learners::METHODS {
                let draft = Draft::recommended(system, method.name).unwrap();
                assert_eq!(
                    draft.clone().check().map(Draft::from),
                    Ok(draft),
                    "{system} {}",
                    method.name
                );
            }
        }
    }

    #[test]
    fn a_value_out_of_range_is_named() {
        let faults = Draft {
            shots: 0,
            ..draft()
        }
        .check()
        .unwrap_err();
        assert_eq!(
            faults[0].to_string(),
            "shots must be between 1 and 2000, but is 0"
        );
    }

    #[test]
    fn too_few_shots_and_too_small_a_batch_are_named_before_anything_is_trained() {
        let few = Draft {
            rank: 4,
            shots: 3,
            batch: 1,
            ..draft()
        };
        let said: Vec<_> = few.clone().check().unwrap_err();
        let said: Vec<_> = said.iter().map(SpecError::to_string).collect();
        assert_eq!(
            said,
            [
                "batch must be between 2 and 4000, but is 1",
                "shots must be at least 4 for CAMEL with rank 4, but is 3"
            ]
        );
        let (spec, _) = few.corrected();
        assert_eq!((spec.shots, spec.batch), (4, 2));
        // Points are placed one by one, and other methods adapt from a single shot.
        let placed = Draft {
            shots: 1,
            points: vec![[0.5, 0.5]],
            ..Draft::recommended("charges-pair", "camel").unwrap()
        };
        assert!(placed.check().is_ok());
        let other = Draft {
            shots: 1,
            ..Draft::recommended("cartpole", "anil").unwrap()
        };
        assert!(other.check().is_ok());
    }

    #[test]
    fn a_rank_above_the_number_of_training_tasks_is_named() {
        for method in ["camel", "phi-camel"] {
            let tasks = systems::by_name("cartpole")
                .unwrap()
                .environments(systems::Split::Train, 0)
                .len();
            let with_rank = |rank| Draft {
                rank,
                ..Draft::recommended("cartpole", method).unwrap()
            };
            assert_eq!(with_rank(tasks).check_rank(), Ok(()));
            let said = with_rank(tasks + 1).check_rank().unwrap_err().to_string();
            let expected = format!("rank must be at most {tasks}, the number");
            assert!(said.starts_with(&expected), "{said}");
        }
        let anil = Draft::recommended("cartpole", "anil").unwrap();
        assert_eq!(Draft { rank: 16, ..anil }.check_rank(), Ok(()));
    }

    #[test]
    fn a_correction_is_valid_and_says_what_it_changed() {
        let (spec, faults) = Draft {
            rate: f64::NAN,
            method: "magic".into(),
            phi: vec![-1.0, 1.0],
            ..draft()
        }
        .corrected();
        assert_eq!(faults.len(), 3);
        assert!(Draft::from(spec).check().is_ok());
    }

    #[test]
    fn an_unchecked_spec_cannot_be_read_from_json() {
        let text = serde_json::to_string(&Draft {
            depth: 99,
            ..draft()
        })
        .unwrap();
        let error = serde_json::from_str::<Spec>(&text).unwrap_err().to_string();
        assert!(
            error.contains("depth must be between 1 and 6, but is 99"),
            "{error}"
        );
    }
}
