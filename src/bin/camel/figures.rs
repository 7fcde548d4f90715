//! The data of the paper's figures, made from seeds.

use std::{fs, path::PathBuf};

use camel_lab::{
    experiments::figures::{Curve, against_epsilon, against_shots, against_tasks},
    learners::{self, METHODS, weights},
    systems,
};

use crate::{
    output::write,
    pretrain::{or_all, weights_file},
};

/// Numbers of training tasks.
const TASKS: [usize; 6] = [3, 5, 10, 20, 50, 125];
/// Sizes of the misalignment.
const EPSILONS: [f64; 5] = [0.05, 0.1, 0.2, 0.5, 1.0];
/// Numbers of shots of fields and of trajectories.
const FIELD_SHOTS: [usize; 6] = [2, 3, 5, 10, 30, 100];
const TRAJECTORY_SHOTS: [usize; 5] = [10, 20, 50, 100, 150];

/// Arguments of `camel figures`.
#[derive(clap::Args)]
pub struct Figures {
    /// Figures, with commas between: tasks, epsilon, shots; all if left out.
    #[arg(long, value_delimiter = ',')]
    figures: Vec<String>,
    /// Methods, with commas between.
    #[arg(long, value_delimiter = ',', default_value = "camel,anil,r2d2,coda")]
    methods: Vec<String>,
    /// Seed of trainings and trials.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder of trained models, whose error against shots is shown.
    #[arg(long, default_value = "public/weights")]
    weights: PathBuf,
    /// Where to write the curves as JSON; `-` is standard output.
    #[arg(long, default_value = "-")]
    json: String,
}

impl Figures {
    /// Computes all curves.
    pub fn run(self) -> Result<(), String> {
        let all = ["tasks", "epsilon", "shots"];
        let figures = or_all(&self.figures, &all);
        if let Some(figure) = figures
            .iter()
            .find(|figure| !all.contains(&figure.as_str()))
        {
            let all = all.join(", ");
            return Err(format!("a figure must be one of {all}, but is '{figure}'"));
        }
        for method in &self.methods {
            learners::method(method).map_err(|error| error.to_string())?;
        }
        let mut curves: Vec<Curve> = Vec::new();
        for figure in &figures {
            for method in &self.methods {
                eprintln!("{figure} {method}");
                curves.extend(self.curves(figure, method)?);
            }
        }
        let lines: Result<Vec<_>, _> = curves.iter().map(serde_json::to_string).collect();
        let lines = lines.map_err(|error| error.to_string())?;
        write(&self.json, &format!("[\n{}\n]\n", lines.join(",\n")))
    }

    fn curves(&self, figure: &str, method: &str) -> Result<Vec<Curve>, String> {
        let seed = self.seed;
        let one = match figure {
            "tasks" => against_tasks("charges-dipole", method, &TASKS, seed),
            "epsilon" => against_epsilon(method, &EPSILONS, seed),
            _ => return self.shots_curves(method),
        };
        one.map(|curve| vec![curve])
            .map_err(|error| error.to_string())
    }

    /// One curve for each system that has a trained model.
    fn shots_curves(&self, method: &str) -> Result<Vec<Curve>, String> {
        let trained_as = METHODS.iter().find(|known| known.name == method);
        let trained_as = trained_as.map_or(method, |known| known.trained_as);
        let mut curves = Vec::new();
        for name in systems::NAMES {
            let file = weights_file(&self.weights, name, trained_as);
            let Ok(bytes) = fs::read(&file) else {
                eprintln!("there is no {}", file.display());
                continue;
            };
            let text = |error: &dyn std::error::Error| format!("{}: {error}", file.display());
            let model = weights::import(&bytes).map_err(|error| text(&error))?;
            let system = systems::by_name(name).map_err(|error| text(&error))?;
            let shots: &[usize] = match system.field() {
                Some(_) => &FIELD_SHOTS,
                None => &TRAJECTORY_SHOTS,
            };
            let curve = against_shots(&model, shots, self.seed);
            curves.push(curve.map_err(|error| text(&error))?);
        }
        Ok(curves)
    }
}
