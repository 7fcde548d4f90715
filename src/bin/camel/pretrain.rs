//! Trains the models that are shipped with the site.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use camel_lab::{
    experiments::training,
    learners::{self, Model, Progress, Settings, weights},
    systems::{self, Split},
};

use crate::{
    names,
    output::{cannot_write, prepare_folder},
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
    /// Seed of data and training: that of the committed table.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for one safetensors file a model.
    #[arg(long, default_value = "public/weights")]
    out: PathBuf,
}

impl Pretrain {
    /// Trains and writes each model.
    pub fn run(self) -> Result<(), String> {
        let systems = names::systems(&self.systems)?;
        let methods = names::trained_methods(&self.methods)?;
        prepare_folder(&self.out)?;
        for system in &systems {
            for method in &methods {
                let model = train(system, method, self.seed)?;
                let file = save(&model, &self.out, system, method)?;
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

/// Trains one model with its recommended settings.
pub fn train(system: &str, method: &str, seed: u64) -> Result<Model, String> {
    let settings = Settings::new(system, method).map_err(|error| error.to_string())?;
    let system = systems::by_name(system).map_err(|error| error.to_string())?;
    let environments = system.environments(Split::Train, seed);
    let mut told = 0;
    let tell = |progress: &Progress| {
        let news = progress.news(&mut told).iter();
        news.for_each(|notice| eprintln!("{} {method}: {notice}", settings.system));
    };
    let trained = training::train(system.as_ref(), &settings, &environments, seed, tell);
    trained
        .map(|(model, _)| model)
        .map_err(|error| error.to_string())
}

/// Writes one model into a folder that is there.
pub fn save(model: &Model, folder: &Path, system: &str, method: &str) -> Result<PathBuf, String> {
    let file = weights_file(folder, system, method);
    let bytes = weights::export(model).map_err(|error| error.to_string())?;
    fs::write(&file, bytes).map_err(|error| cannot_write(&file, &error))?;
    Ok(file)
}

/// Where a model is kept.
pub fn weights_file(folder: &Path, system: &str, method: &str) -> PathBuf {
    folder.join(format!("{system}-{method}.safetensors"))
}

/// The model that the site ships, else one that is trained from the seed. A method that is another
/// one's model used otherwise has that one's.
pub fn shipped_or_trained(system: &str, method: &str, seed: u64) -> Result<Arc<Model>, String> {
    let method = learners::method(method).map_err(|error| error.to_string())?;
    let method = method.trained_as;
    let file = format!("public/weights/{system}-{method}.safetensors");
    let model = if Path::new(&file).exists() {
        eprintln!("the model is {file}");
        let bytes = fs::read(&file).map_err(|error| format!("cannot read {file}: {error}"))?;
        weights::import(&bytes).map_err(|error| format!("{file}: {error}"))?
    } else {
        train(system, method, seed)?
    };
    Ok(Arc::new(model))
}
