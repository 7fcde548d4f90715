//! The data of the paper's figures, made from seeds.
//!
//! Finished curves are kept in a file, so a run that was killed continues.

use std::{
    fs,
    path::{Path, PathBuf},
};

use camel_lab::{
    experiments::{
        figures::{Curve, EPSILON_SYSTEM, FIGURES, against_epsilon, against_shots, against_tasks},
        list_file::ListFile,
        parallel::spread,
        record::Record,
    },
    learners::{Model, weights},
    systems,
};

use crate::{names, output::write, pretrain::weights_file};

/// Numbers of training tasks; all of a system's are added.
const TASKS: [usize; 5] = [3, 5, 10, 20, 50];
/// Sizes of the misalignment.
const EPSILONS: [f64; 5] = [0.05, 0.1, 0.2, 0.5, 1.0];
/// Numbers of shots of fields and of trajectories; those of the table are added.
const FIELD_SHOTS: [usize; 6] = [2, 3, 5, 10, 30, 100];
const TRAJECTORY_SHOTS: [usize; 5] = [10, 20, 50, 100, 150];
/// Systems whose training tasks are thinned out.
const TASK_SYSTEMS: [&str; 2] = ["charges-dipole", "charges-pair"];
/// Largest factor between a curve and the table that rounding explains.
const AGREEMENT: f64 = 1.05;

/// Arguments of `camel figures`.
#[derive(clap::Args)]
pub struct Figures {
    /// Figures, with commas between: tasks, epsilon, shots; all if left out.
    #[arg(long, value_delimiter = ',')]
    figures: Vec<String>,
    /// Systems, with commas between; all that a figure has if left out.
    #[arg(long, value_delimiter = ',')]
    systems: Vec<String>,
    /// Methods, with commas between.
    #[arg(long, value_delimiter = ',', default_value = "camel,anil,r2d2,coda")]
    methods: Vec<String>,
    /// Seed of trainings and trials.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder of models that `camel table` has trained with the same seed.
    #[arg(long, default_value = "public/weights")]
    weights: PathBuf,
    /// The table of these models: a model whose errors are others is refused.
    #[arg(long)]
    table: Option<PathBuf>,
    /// Curves at a time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// File that keeps the curves; finished ones are not made again. `-` is standard output.
    #[arg(long, default_value = "-")]
    json: String,
}

/// A curve to make.
struct Wanted {
    figure: String,
    system: String,
    method: String,
}

impl Figures {
    /// Computes what is missing.
    pub fn run(self) -> Result<(), String> {
        let mut wanted = self.check()?;
        let table = self.table.as_deref().map(read_table).transpose()?;
        let table = table.unwrap_or_default();
        let mut file = ListFile::<Curve>::open(&self.json)?;
        wanted.retain(|one| {
            !file
                .items
                .iter()
                .any(|curve| self.is_done(one, curve, &table))
        });
        eprintln!("{} curves to make", wanted.len());
        let (mut failures, mut written) = (0, Ok(()));
        let work = |one: &Wanted| self.curve(one, &table);
        spread(self.jobs, wanted, work, |one, curve| {
            let name = format!("{} {} {}", one.figure, one.system, one.method);
            match curve {
                Ok(curve) => {
                    eprintln!("{name}: {} points", curve.points.len());
                    written = written.clone().and(file.add(vec![curve]));
                }
                Err(error) => {
                    eprintln!("{name}: {error}");
                    failures += 1;
                }
            }
        });
        written?;
        if self.json == "-" {
            write("-", &file.text()?)?;
        }
        match failures {
            0 => Ok(()),
            n => Err(format!("{n} curves could not be made; the others are kept")),
        }
    }

    /// The curves that are asked for; refuses what cannot be done before anything is trained.
    fn check(&self) -> Result<Vec<Wanted>, String> {
        let known = |figure: &str| match FIGURES.contains(&figure) {
            true => Ok(()),
            false => Err(format!(
                "a figure must be one of {}, but is '{figure}'",
                FIGURES.join(", ")
            )),
        };
        let figures = names::checked(&self.figures, FIGURES, known)?;
        let systems = names::systems(&self.systems)?;
        let methods = names::trained_methods(&self.methods)?;
        if self.jobs == 0 {
            return Err("the number of jobs must be 1 or more, but is 0".to_owned());
        }
        if !self.weights.is_dir() {
            return Err(format!(
                "there is no folder {}; --weights is the one of the models of the table",
                self.weights.display()
            ));
        }
        let wanted = wanted(&figures, &systems, &methods);
        if wanted.is_empty() {
            let (figures, systems) = (figures.join(", "), systems.join(", "));
            return Err(format!("the figures {figures} have no curves of {systems}"));
        }
        Ok(wanted)
    }

    fn model_file(&self, system: &str, method: &str) -> PathBuf {
        weights_file(&self.weights, system, method)
    }

    /// Whether a curve is of this seed and of the model of today, and fits the table.
    fn is_done(&self, wanted: &Wanted, curve: &Curve, table: &[Record]) -> bool {
        let Wanted {
            figure,
            system,
            method,
        } = wanted;
        let is_of_today = || {
            let model = self.model(system, method);
            model.is_ok_and(|model| curve.spec.as_ref() == Some(model.settings()))
        };
        (&curve.figure, &curve.system, &curve.method) == (figure, system, method)
            && curve.seed == self.seed
            && is_of_today()
            && fits(curve, table)
    }

    fn model(&self, system: &str, method: &str) -> Result<Model, String> {
        let file = self.model_file(system, method);
        let bytes =
            fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        weights::import(&bytes).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// The curve of a trained model, which must be the one of the table.
    fn curve(&self, wanted: &Wanted, table: &[Record]) -> Result<Curve, String> {
        let text = |error: &dyn std::error::Error| error.to_string();
        let (system, method) = (&wanted.system, &wanted.method);
        let model = self.model(system, method)?;
        let physics = systems::by_name(system).map_err(|error| text(&error))?;
        let shots: &[usize] = match physics.field() {
            Some(_) => &FIELD_SHOTS,
            None => &TRAJECTORY_SHOTS,
        };
        let made = match wanted.figure.as_str() {
            "tasks" => against_tasks(&model, &TASKS, self.seed),
            "epsilon" => against_epsilon(&model, &EPSILONS, self.seed),
            _ => against_shots(&model, shots, self.seed),
        };
        let curve = made.map_err(|error| text(&error))?;
        if fits(&curve, table) {
            return Ok(curve);
        }
        Err(format!(
            "{} is not the model of the table: an error is {:.2} times the other's",
            self.model_file(system, method).display(),
            curve.off_by(table).unwrap_or(f64::NAN)
        ))
    }
}

/// The curves of the systems that a figure is of.
fn wanted(figures: &[String], systems: &[String], methods: &[String]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for figure in figures {
        let is_in_figure = |system: &&String| match figure.as_str() {
            "tasks" => TASK_SYSTEMS.contains(&system.as_str()),
            "epsilon" => *system == EPSILON_SYSTEM,
            _ => true,
        };
        for system in systems.iter().filter(is_in_figure) {
            wanted.extend(methods.iter().map(|method| Wanted {
                figure: figure.clone(),
                system: system.clone(),
                method: method.clone(),
            }));
        }
    }
    wanted
}

fn fits(curve: &Curve, table: &[Record]) -> bool {
    curve.off_by(table).is_none_or(|factor| factor < AGREEMENT)
}

fn read_table(path: &Path) -> Result<Vec<Record>, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    serde_json::from_str(&text)
        .map_err(|error| format!("{} is not a table of records: {error}", path.display()))
}
