//! Trains the models that are shipped with the site.

use std::{fs, path::PathBuf};

use camel_lab::{
    learners::{METHODS, Model, Settings, Trainer, weights},
    systems::{self, Split},
};

/// Arguments of `camel pretrain`.
#[derive(clap::Args)]
pub struct Pretrain {
    /// Systems, with commas between; all if left out.
    #[arg(long, value_delimiter = ',')]
    systems: Vec<String>,
    /// Methods, with commas between; all that are trained if left out.
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Seed of data and training.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder for one safetensors file a model.
    #[arg(long, default_value = "public/weights")]
    out: PathBuf,
}

impl Pretrain {
    /// Trains and writes each model.
    pub fn run(self) -> Result<(), String> {
        let trained: Vec<_> = METHODS
            .iter()
            .filter(|method| !method.zero_shot)
            .map(|method| method.name)
            .collect();
        fs::create_dir_all(&self.out)
            .map_err(|error| format!("cannot make {}: {error}", self.out.display()))?;
        for system in or_all(&self.systems, &systems::NAMES) {
            for method in or_all(&self.methods, &trained) {
                let model = train(&system, &method, self.seed)?;
                let file = self.out.join(format!("{system}-{method}.safetensors"));
                let bytes = weights::export(&model).map_err(|error| error.to_string())?;
                fs::write(&file, bytes)
                    .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
                eprintln!(
                    "{}: validation error {:.3e}",
                    file.display(),
                    model.validation_rmse()
                );
            }
        }
        Ok(())
    }
}

fn or_all(given: &[String], all: &[&str]) -> Vec<String> {
    if given.is_empty() {
        all.iter().map(|&name| name.to_owned()).collect()
    } else {
        given.to_vec()
    }
}

/// Trains one model with its recommended settings.
pub fn train(system: &str, method: &str, seed: u64) -> Result<Model, String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let settings = Settings::new(system, method).map_err(|error| text(&error))?;
    let system = systems::by_name(system).map_err(|error| text(&error))?;
    let environments = system.environments(Split::Train, seed);
    let tasks: Result<Vec<_>, _> = environments
        .iter()
        .map(|phi| system.task(phi, Split::Train, seed))
        .collect();
    let tasks = tasks.map_err(|error| text(&error))?;
    let device = burn::tensor::Device::flex();
    let mut trainer =
        Trainer::new(&settings, &tasks, seed, &device).map_err(|error| text(&error))?;
    pollster::block_on(async {
        trainer.run(500, |_| ()).await?;
        trainer.finish().await
    })
    .map_err(|error| text(&error))
}
