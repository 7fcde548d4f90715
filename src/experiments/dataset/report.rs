//! What to learn from a file, and what was found.

use serde::{Deserialize, Serialize};

use super::{roles::Columns, tasks::Order};
use crate::{
    engine::protocol::DeviceUsed,
    experiments::{report::Adaptation, spec::Spec},
    learners::{LearnerError, Settings, method},
};

/// Name of the system in the weights of a model that was trained on a file.
const SYSTEM: &str = "data";

/// What to learn from a file, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataSpec {
    /// Name of the file.
    pub file: String,
    /// What its columns stand for.
    pub columns: Columns,
    /// The environment that is adapted to.
    pub held_out: String,
    /// Which of its rows are the shots.
    pub order: Order,
    /// Whether the model has a part c(x) that all environments share, where the method allows one.
    pub shared_part: bool,
    /// How it is trained and adapted: everything of an experiment except its system.
    pub training: Spec,
}

impl DataSpec {
    /// The learner's settings.
    pub fn settings(&self) -> Result<Settings, LearnerError> {
        let settings = self.training.settings()?;
        let bias = if self.shared_part && method(&settings.method)?.shared_part {
            settings.hidden.clone()
        } else {
            Vec::new()
        };
        Ok(Settings {
            system: SYSTEM.to_owned(),
            bias,
            ..settings
        })
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataReport {
    /// What was learned.
    pub spec: DataSpec,
    /// Where it ran.
    pub device: DeviceUsed,
    /// Version of the program.
    pub version: String,
    /// Training time [s].
    pub seconds: f64,
    /// Steps taken.
    pub steps: usize,
    /// Training loss in the target's unit squared: step and value.
    pub losses: Vec<(usize, f64)>,
    /// Environments trained on.
    pub environments: usize,
    /// How well the model does in the held-out environment.
    pub adaptation: Adaptation,
    /// What the visitor should know.
    pub notes: Vec<String>,
}
