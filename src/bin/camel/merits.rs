//! Figures of merit over many trials: identification from shots, adaptive control without an oracle.

use std::{fs, path::PathBuf, sync::Arc};

use camel_lab::{
    control::trials::{AdaptiveTrials, adaptive_trials},
    experiments::evaluate::{identify_by_map, known_parameters},
    identification::{online::Estimate, trials::identify_trials},
    learners::{Model, weights},
    systems::{self, System},
};
use serde::Serialize;

use crate::{output::write, pretrain::train};

/// Where a model comes from and where figures go.
#[derive(clap::Args)]
struct Source {
    /// Name of the system.
    #[arg(long, default_value = "cartpole")]
    system: String,
    /// Name of the method.
    #[arg(long, default_value = "camel")]
    method: String,
    /// A safetensors file of a trained model; without one it is trained first.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Number of trials.
    #[arg(long, default_value_t = 50)]
    trials: usize,
    /// Seed of training and trials.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where to write the figures as JSON; `-` is standard output.
    #[arg(long, default_value = "-")]
    json: String,
}

impl Source {
    fn load(&self) -> Result<(Box<dyn System>, Arc<Model>), String> {
        if self.trials == 0 {
            return Err("the number of trials must be 1 or more, but is 0".to_owned());
        }
        let system = systems::by_name(&self.system).map_err(text)?;
        let model = match &self.weights {
            Some(file) => {
                let bytes = fs::read(file)
                    .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
                weights::import(&bytes).map_err(text)?
            }
            None => train(&self.system, &self.method, self.seed)?,
        };
        Ok((system, Arc::new(model)))
    }

    fn write(&self, figures: &impl Serialize) -> Result<(), String> {
        let lines = serde_json::to_string_pretty(figures).map_err(text)?;
        write(&self.json, &(lines + "\n"))
    }
}

/// Arguments of `camel identify`.
#[derive(clap::Args)]
pub struct Identify {
    #[command(flatten)]
    source: Source,
    /// Samples of each environment to identify from.
    #[arg(long, default_value_t = 100)]
    shots: usize,
}

impl Identify {
    /// Identifies many random environments.
    pub fn run(self) -> Result<(), String> {
        let (system, model) = self.source.load()?;
        let (trials, seed) = (self.source.trials, self.source.seed);
        let mut known = known_parameters(system.as_ref(), &model, seed).map_err(text)?;
        let report = identify_trials(
            system.as_ref(),
            self.shots,
            trials,
            seed,
            &mut |inputs, targets| match &mut known {
                Some(known) => Ok(known.identify(inputs, targets, 0.0)?.estimate),
                None => {
                    // What cannot be adapted identifies nothing; the summary then shows no number.
                    let Ok(adapted) = model.adapt(inputs, targets) else {
                        return Ok(nothing(&model));
                    };
                    let values = identify_by_map(&model, &adapted)?
                        .into_iter()
                        .map(|(value, _)| value)
                        .collect();
                    Ok(Estimate {
                        values,
                        standard_errors: Vec::new(),
                    })
                }
            },
        );
        self.source.write(&report.map_err(text)?)
    }
}

/// Arguments of `camel adaptive`.
#[derive(clap::Args)]
pub struct Adaptive {
    #[command(flatten)]
    source: Source,
    /// Factor on the cart's mass.
    #[arg(long, default_value_t = 2.0)]
    factor: f64,
}

impl Adaptive {
    /// Lets the cart's mass change in many runs.
    pub fn run(self) -> Result<(), String> {
        if self.source.system != "cartpole" {
            return Err(format!(
                "adaptive trials are for the cartpole, but the system is '{}'",
                self.source.system
            ));
        }
        let (system, model) = self.source.load()?;
        let known = known_parameters(system.as_ref(), &model, self.source.seed).map_err(text)?;
        let known = known.ok_or_else(|| {
            format!(
                "{} does not identify online: it is not affine in its context",
                self.source.method
            )
        })?;
        let setting = AdaptiveTrials {
            factor: self.factor,
            ..AdaptiveTrials::default()
        };
        let online = || Ok(known.online(setting.disturbance)?);
        let report = adaptive_trials(&setting, self.source.trials, self.source.seed, online)
            .map_err(text)?;
        self.source.write(&report)
    }
}

fn nothing(model: &Model) -> Estimate {
    let size = model
        .tasks()
        .first()
        .map_or(0, |task| task.parameters.len());
    Estimate {
        values: vec![f64::NAN; size],
        standard_errors: Vec::new(),
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
