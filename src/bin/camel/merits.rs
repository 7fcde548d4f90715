//! Figures of merit over many trials: identification from shots, adaptive control without an oracle.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use camel_lab::{
    control::trials::{
        AdaptiveReport, AdaptiveTrials, BUDGET, Trials, UpkieTrials, adaptive_trials,
    },
    experiments::evaluate::{identify_by_map, known_parameters},
    identification::{
        identifier::Identifier, online::Estimate, trials::identify_trials, window::WindowAdaptation,
    },
    learners::{Model, weights},
    systems::{self, System},
};
use serde::Serialize;

use crate::{output::write, pretrain::train};

/// Observations to which methods without a recursion adapt in every step.
const ADAPTATION_WINDOW: usize = 50;

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
    /// Factor on the mass; 2 for the cartpole's cart and 4 for Upkie's torso if left out.
    #[arg(long)]
    factor: Option<f64>,
    /// Time that a tick may take [ms].
    #[arg(long, default_value_t = 1e3 * BUDGET.as_secs_f64())]
    budget_ms: f64,
}

impl Adaptive {
    /// Lets a mass change in many runs.
    pub fn run(self) -> Result<(), String> {
        let budget = Duration::try_from_secs_f64(1e-3 * self.budget_ms)
            .ok()
            .filter(|budget| !budget.is_zero())
            .ok_or_else(|| format!("the budget must be above 0 ms, but is {}", self.budget_ms))?;
        let report = match self.source.system.as_str() {
            "cartpole" => {
                let mut setting = AdaptiveTrials::default();
                setting.factor = self.factor.unwrap_or(setting.factor);
                let noise = setting.disturbance;
                self.report(&setting, noise, budget)
            }
            "upkie" => {
                let mut setting = UpkieTrials::default();
                setting.factor = self.factor.unwrap_or(setting.factor);
                self.report(&setting, 0.0, budget)
            }
            other => Err(format!(
                "adaptive trials are for cartpole and upkie, but the system is '{other}'"
            )),
        }?;
        self.source.write(&report)
    }

    /// CAMEL by recursive least squares, every other method by its own rule on a window.
    fn report(
        &self,
        setting: &impl Trials,
        noise: f64,
        budget: Duration,
    ) -> Result<AdaptiveReport, String> {
        let (trials, seed) = (self.source.trials, self.source.seed);
        let (system, model) = self.source.load()?;
        if model.settings().method != "camel" {
            let fresh = || Ok(WindowAdaptation::new(model.clone(), ADAPTATION_WINDOW, 1)?);
            return adaptive_trials(setting, trials, seed, budget, fresh).map_err(text);
        }
        let known = Identifier::of_model(&model, system.as_ref(), seed).map_err(text)?;
        let fresh = || Ok(known.online(noise)?);
        adaptive_trials(setting, trials, seed, budget, fresh).map_err(text)
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
