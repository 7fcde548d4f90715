//! Learns from a CSV file, as the page "Your data" does.

use std::{fs, path::PathBuf};

use camel_lab::{
    engine::{
        native::Job,
        protocol::{Event, Work},
    },
    experiments::{
        dataset::{
            example,
            report::{DataReport, DataSpec},
            roles::Roles,
            table::Table,
            tasks::Order,
        },
        saved,
        spec::Draft,
    },
};

use crate::output::{cannot_write, write};

/// Arguments of `camel data-train`.
#[derive(clap::Args)]
pub struct DataTrain {
    /// The CSV file: one column `environment`, known parameters `param:NAME`, inputs, target last.
    #[arg(required_unless_present = "example")]
    file: Option<PathBuf>,
    /// Print the example file instead.
    #[arg(long)]
    example: bool,
    /// The environment to adapt to; the last one if left out.
    #[arg(long)]
    held_out: Option<String>,
    /// Samples to adapt from.
    #[arg(long, default_value_t = 50)]
    shots: usize,
    /// Take the first rows as shots instead of random ones: the file is a recording.
    #[arg(long)]
    recording: bool,
    /// Name of the method.
    #[arg(long, default_value = "camel")]
    method: String,
    /// Length of the task vector.
    #[arg(long, default_value_t = 2)]
    rank: usize,
    /// Training steps.
    #[arg(long, default_value_t = 5_000)]
    steps: usize,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Leave out the part c(x) that all environments share.
    #[arg(long)]
    no_shared_part: bool,
    /// Write the trained model to this safetensors file.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Print the whole result as JSON.
    #[arg(long)]
    json: bool,
}

impl DataTrain {
    /// Trains and prints what the page shows.
    pub fn run(self) -> Result<(), String> {
        let Some(file) = &self.file else {
            return write("-", &example::csv().map_err(text)?);
        };
        let bytes =
            fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let spec = self.spec(&bytes)?;
        let (report, weights) = follow(&Job::with_file(Work::Dataset(Box::new(spec)), bytes))?;
        if let Some(place) = &self.weights {
            fs::write(place, weights).map_err(|error| cannot_write(place, &error))?;
        }
        if self.json {
            println!("{}", saved::write(&report, &[], "").map_err(text)?);
        } else {
            print!("{}", report.adaptation);
            report.notes.iter().for_each(|note| println!("{note}"));
        }
        Ok(())
    }

    fn spec(&self, bytes: &[u8]) -> Result<DataSpec, String> {
        let outline = Table::read(bytes).map_err(text)?.outline();
        let columns = Roles::guess(&outline).check(&outline).map_err(text)?;
        let last = outline
            .columns
            .iter()
            .find(|column| column.name == columns.environment)
            .and_then(|column| column.groups.as_ref()?.last());
        let held_out = self.held_out.clone().or(last.map(|(name, _)| name.clone()));
        let draft = Draft {
            rank: self.rank,
            steps: self.steps,
            shots: self.shots,
            seed: self.seed,
            ..Draft::recommended("cartpole", &self.method).map_err(text)?
        };
        let faults = |faults: Vec<_>| faults.iter().map(text).collect::<Vec<_>>().join("; ");
        Ok(DataSpec {
            file: self
                .file
                .as_ref()
                .map_or(String::new(), |file| file.display().to_string()),
            columns,
            held_out: held_out.unwrap_or_default(),
            order: if self.recording {
                Order::First
            } else {
                Order::Random
            },
            shared_part: !self.no_shared_part,
            training: draft.check().map_err(faults)?,
        })
    }
}

fn follow(job: &Job) -> Result<(DataReport, Vec<u8>), String> {
    let mut bytes = Vec::new();
    for event in &job.events {
        match event {
            Event::Weights(weights) => bytes = weights.0,
            Event::Note(note) => eprintln!("{note}"),
            Event::Progress(p) => eprint!("\rstep {}/{}  loss {:.3e}   ", p.step, p.steps, p.loss),
            Event::Learned(report) => {
                eprintln!();
                return Ok((report.open()?, bytes));
            }
            Event::Failed(message) => return Err(message),
            _ => {}
        }
    }
    Err("the run ended without a result".to_owned())
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
