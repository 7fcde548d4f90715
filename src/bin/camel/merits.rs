//! Figures of merit over many trials: identification from shots, adaptive control without an oracle.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use camel_lab::{
    control::{
        controllers::WINDOW,
        trials::{AdaptiveReport, AdaptiveTrials, Trials, UpkieTrials, adaptive_trials},
    },
    experiments::evaluate::known_parameters,
    identification::{
        by_map::identify_by_map,
        identifier::{Identified, Identifier},
        online::Estimate,
        trials::{check_shots, check_trials, identify_trials, test_environment},
        window::WindowAdaptation,
    },
    learners::{Model, method, weights},
    systems::{self, Robot as _, Split, System},
};
use serde::Serialize;

use crate::{
    output::write,
    pretrain::{shipped_or_trained, train},
};

/// Where a model comes from and where figures go.
#[derive(clap::Args)]
struct Source {
    /// Name of the system.
    #[arg(long, default_value = "cartpole")]
    system: String,
    /// Name of the method.
    #[arg(long, default_value = "camel")]
    method: String,
    /// A safetensors file of a trained model; the shipped one if left out.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Train a model first, from the seed, instead of taking the shipped one.
    #[arg(long, conflicts_with = "weights")]
    train: bool,
    /// Number of trials.
    #[arg(long, default_value_t = 50)]
    trials: usize,
    /// Seed of the trials, and of a training.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where to write the figures as JSON; `-` is standard output.
    #[arg(long, default_value = "-")]
    json: String,
}

impl Source {
    fn system(&self) -> Result<Box<dyn System>, String> {
        check_trials(self.trials).map_err(text)?;
        systems::by_name(&self.system).map_err(text)
    }

    fn model(&self) -> Result<Arc<Model>, String> {
        match &self.weights {
            Some(file) => self.read(file).map(Arc::new),
            None if self.train => train(&self.system, &self.method, self.seed).map(Arc::new),
            None => shipped_or_trained(&self.system, &self.method, self.seed),
        }
    }

    /// The model of a file, which must be one of the named system and method.
    fn read(&self, file: &Path) -> Result<Model, String> {
        let bytes =
            fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let model = weights::import(&bytes).map_err(text)?;
        let settings = model.settings();
        let found = (settings.system.as_str(), settings.method.as_str());
        let asked = (
            self.system.as_str(),
            method(&self.method).map_err(text)?.trained_as,
        );
        if found == asked {
            return Ok(model);
        }
        Err(format!(
            "{} holds {} for {}, but {} for {} is asked for",
            file.display(),
            found.1,
            found.0,
            asked.1,
            asked.0
        ))
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
        let system = self.source.system()?;
        let (trials, seed) = (self.source.trials, self.source.seed);
        let (parameters, round) = test_environment(system.as_ref(), 0, seed);
        let first = system.task(&parameters, Split::Test, round).map_err(text)?;
        check_shots(&first, self.shots).map_err(text)?;
        let model = self.source.model()?;
        let mut known = known_parameters(system.as_ref(), &model, seed).map_err(text)?;
        let report = identify_trials(
            system.as_ref(),
            self.shots,
            trials,
            seed,
            &mut |inputs, targets| match &mut known {
                Some(known) => known.identify(inputs, targets, 0.0),
                // What cannot be adapted identifies nothing; the summary then shows no number.
                None => match model.adapt(inputs, targets) {
                    Ok(adapted) => identify_by_map(&model, &adapted),
                    Err(_) => Ok(nothing(&model)),
                },
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
    /// Step at which the mass changes; drawn anew for every trial if left out.
    #[arg(long, value_name = "STEP")]
    change_at: Option<usize>,
    /// Time that an adaptation may take [ms]; the robot's own tick if left out.
    #[arg(long)]
    budget_ms: Option<f64>,
}

impl Adaptive {
    /// Lets a mass change in many runs.
    pub fn run(self) -> Result<(), String> {
        let report = match self.source.system.as_str() {
            "cartpole" => {
                let mut setting = AdaptiveTrials::default();
                setting.factor = self.factor.unwrap_or(setting.factor);
                setting.change_step = self.change_at;
                let budget = self.budget(setting.cartpole.time_step())?;
                self.report(&setting, setting.disturbance, budget)
            }
            "upkie" => {
                let mut setting = UpkieTrials::default();
                setting.factor = self.factor.unwrap_or(setting.factor);
                setting.change_tick = self.change_at;
                let budget = self.budget(setting.robot.time_step())?;
                self.report(&setting, 0.0, budget)
            }
            other => Err(format!(
                "adaptive trials are for cartpole and upkie, but the system is '{other}'"
            )),
        }?;
        self.source.write(&report)
    }

    /// Time that an adaptation may take on a robot with ticks of so many seconds.
    fn budget(&self, tick: f64) -> Result<Duration, String> {
        let milliseconds = self.budget_ms.unwrap_or(1e3 * tick);
        Duration::try_from_secs_f64(1e-3 * milliseconds)
            .ok()
            .filter(|budget| !budget.is_zero())
            .ok_or_else(|| format!("the budget must be above 0 ms, but is {milliseconds}"))
    }

    /// CAMEL by recursive least squares, every other method by its own rule on a window.
    fn report(
        &self,
        setting: &impl Trials,
        noise: f64,
        budget: Duration,
    ) -> Result<AdaptiveReport, String> {
        let (trials, seed) = (self.source.trials, self.source.seed);
        setting.check().map_err(text)?;
        let (system, model) = (self.source.system()?, self.source.model()?);
        if model.settings().method != "camel" {
            let fresh = || Ok(WindowAdaptation::new(model.clone(), WINDOW, 1)?);
            return adaptive_trials(setting, trials, seed, budget, fresh).map_err(text);
        }
        let known = Identifier::of_model(&model, system.as_ref(), seed).map_err(text)?;
        let fresh = || Ok(known.online(noise)?);
        adaptive_trials(setting, trials, seed, budget, fresh).map_err(text)
    }
}

fn nothing(model: &Model) -> Identified {
    let size = model
        .tasks()
        .first()
        .map_or(0, |task| task.parameters.len());
    Identified {
        estimate: Estimate {
            values: vec![f64::NAN; size],
            standard_errors: vec![f64::INFINITY; size],
        },
        determined: vec![false; size],
        rank: 0,
        condition: f64::INFINITY,
        map_alone: true,
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
