//! The paper's tables: trains and evaluates every method on every system.
//!
//! Finished cells are kept in a file, so a run that was killed continues, and parts of a table that
//! were made on several machines can be put together with `--from`.

use std::{
    io::{self, Read as _},
    path::PathBuf,
    process::{self, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use camel_lab::{
    experiments::{
        evaluate::Trial,
        list_file::ListFile,
        parallel::spread,
        record::Record,
        table::{Cell, Evaluator, Made, Training, plan},
        training::train,
    },
    identification::trials::test_environment,
    learners::{Model, Progress, Settings},
    systems::{self, Split},
};

use crate::{
    names,
    output::{prepare_folder, write},
    pretrain::{save, weights_file},
};

/// Time between two lines of progress.
const QUIET: Duration = Duration::from_secs(10);

/// Arguments of `camel table`.
#[derive(clap::Args, Clone)]
pub struct Table {
    /// Systems, with commas between; all if left out.
    #[arg(long, value_delimiter = ',')]
    systems: Vec<String>,
    /// Methods, with commas between; all if left out.
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Samples to adapt from, with commas between; the paper's if left out.
    #[arg(long, value_delimiter = ',')]
    shots: Vec<usize>,
    /// Environments to adapt to; the paper's number if left out.
    #[arg(long)]
    trials: Option<usize>,
    /// Standard deviations of the noise on the shots, with commas between; 0, and 0.1 for charges as
    /// in the paper, if left out.
    #[arg(long, value_delimiter = ',')]
    noise: Vec<f64>,
    /// Seed of trainings and trials.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Trainings at a time, each in a process of its own if more than one.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// File that keeps the cells; finished ones are not made again. `-` is standard output.
    #[arg(long, default_value = "-")]
    json: String,
    /// Files whose finished cells are taken over first, with commas between.
    #[arg(long, value_delimiter = ',')]
    from: Vec<PathBuf>,
    /// A setting that is not the recommended one, as `name=value` with a JSON value, such as
    /// `steps=2000`, `hidden=[32,32]` or `optimiser=lbfgs`. May be given several times.
    #[arg(long)]
    set: Vec<String>,
    /// Folder for the trained models, one safetensors file each.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Ends with its standard input: a part of a table that another process makes.
    #[arg(long, hide = true)]
    part: bool,
}

impl Table {
    /// Makes what is missing and writes the table.
    pub fn run(self) -> Result<(), String> {
        if self.part {
            end_with_parent();
        }
        let (systems, methods) = self.check()?;
        let mut file = ListFile::open(&self.json)?;
        for other in &self.from {
            file.take_from(other)?;
        }
        let trials = self.trials;
        let mut trainings = plan(
            &systems,
            &methods,
            &self.shots,
            trials,
            &self.noise,
            self.seed,
        )
        .map_err(|error| error.to_string())?;
        for training in &mut trainings {
            let settings = self.settings(training)?;
            let done = |cell: &Cell| {
                let mut records = file.items.iter();
                records.any(|record| cell.is_done(record, &settings))
            };
            if !self.lacks_weights(training) {
                training.cells.retain(|cell| !done(cell));
            }
        }
        trainings.retain(|training| !training.cells.is_empty());
        eprintln!(
            "{} cells are there, {} trainings to do",
            file.items.len(),
            trainings.len()
        );
        let failures = self.make(trainings, &mut file)?;
        if self.json == "-" {
            write("-", &file.text()?)?;
        }
        match failures {
            0 => Ok(()),
            n => Err(format!("{n} cells could not be made; the others are kept")),
        }
    }

    /// Refuses what cannot be done before anything is trained.
    fn check(&self) -> Result<(Vec<String>, Vec<String>), String> {
        let systems = names::systems(&self.systems)?;
        let methods = names::methods(&self.methods)?;
        for change in &self.set {
            refuse_names(change)?;
        }
        if let Some(shots) = self.shots.iter().max() {
            for system in &systems {
                check_shots(system, *shots)?;
            }
        }
        if self.trials == Some(0) {
            return Err("the number of trials must be 1 or more, but is 0".to_owned());
        }
        if self.shots.contains(&0) {
            return Err("the number of shots must be 1 or more, but is 0".to_owned());
        }
        if self.jobs == 0 {
            return Err("the number of jobs must be 1 or more, but is 0".to_owned());
        }
        if let Some(noise) = self.noise.iter().find(|s| !(s.is_finite() && **s >= 0.0)) {
            return Err(format!("the noise must be 0 or more, but is {noise}"));
        }
        if let Some(folder) = &self.weights {
            prepare_folder(folder)?;
        }
        Ok((systems, methods))
    }

    /// The recommended settings with what `--set` changes.
    fn settings(&self, training: &Training) -> Result<Settings, String> {
        let text = |error: &dyn std::error::Error| error.to_string();
        let settings = Settings::new(&training.system, &training.method);
        let settings = settings.map_err(|error| text(&error))?;
        let mut values = serde_json::to_value(settings).map_err(|error| text(&error))?;
        for change in &self.set {
            let wrong =
                || format!("a setting must be name=value with a JSON value, but is '{change}'");
            let (name, value) = change.split_once('=').ok_or_else(wrong)?;
            // A word that is no JSON is a text.
            values[name] = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        }
        let settings: Settings = serde_json::from_value(values).map_err(|error| text(&error))?;
        settings.check().map_err(|error| text(&error))?;
        Ok(settings)
    }

    fn lacks_weights(&self, training: &Training) -> bool {
        let missing = |folder| !weights_file(folder, &training.system, &training.method).exists();
        self.weights.as_deref().is_some_and(missing)
    }

    /// Makes all cells and returns how many failed.
    fn make(&self, trainings: Vec<Training>, file: &mut ListFile<Record>) -> Result<usize, String> {
        let (mut failures, mut written) = (0, Ok(()));
        let work = |training: &Training| match self.jobs {
            1 => self.cells(training),
            _ => self.cells_in_a_process(training).unwrap_or_else(|error| {
                eprintln!("{} {}: {error}", training.system, training.method);
                Vec::new()
            }),
        };
        spread(self.jobs, trainings, work, |training, records| {
            let is_missing = |cell: &&Cell| !records.iter().any(|record| cell.names(record));
            failures += training.cells.iter().filter(is_missing).count();
            written = written.clone().and(file.add(records));
        });
        written.map(|()| failures)
    }

    /// The cells of one training that did not fail.
    fn cells(&self, training: &Training) -> Vec<Record> {
        let name = format!("{} {}", training.system, training.method);
        let trained = self.model(training, &name);
        let (mut evaluator, made) = match trained.and_then(|t| Ok((evaluator(training, t.0)?, t.1)))
        {
            Ok(made) => made,
            Err(error) => {
                eprintln!("{name}: {error}");
                return Vec::new();
            }
        };
        let mut records = Vec::new();
        for cell in &training.cells {
            match evaluator.record(cell, &made) {
                Ok(record) => {
                    eprintln!(
                        "{} {} {}-shot, noise {}: {:.2e} ± {:.1e}, {:.2e} of the mean target²",
                        cell.system,
                        cell.method,
                        cell.shots,
                        cell.noise,
                        record.mse.mean,
                        record.mse.std,
                        record.nmse.mean
                    );
                    records.push(record);
                }
                Err(error) => eprintln!("{} {}: {error}", cell.system, cell.method),
            }
        }
        records
    }

    fn model(&self, training: &Training, name: &str) -> Result<(Model, Made), String> {
        let text = |error: &dyn std::error::Error| error.to_string();
        let (system, method) = (&training.system, &training.method);
        let settings = self.settings(training)?;
        let physics = systems::by_name(system).map_err(|error| text(&error))?;
        let environments = physics.environments(Split::Train, self.seed);
        let (mut quiet_since, mut told) = (Instant::now(), 0);
        let tell = |progress: &Progress| {
            for notice in progress.news(&mut told) {
                eprintln!("{name}: {notice}");
            }
            if quiet_since.elapsed() > QUIET {
                let (done, error) = (100.0 * progress.done, progress.error.unwrap_or(f64::NAN));
                eprintln!("{name}: {done:.0} % trained, error {error:.2e}");
                quiet_since = Instant::now();
            }
        };
        let trained = train(physics.as_ref(), &settings, &environments, self.seed, tell);
        let (model, made) = trained.map_err(|error| text(&error))?;
        eprintln!("{name}: trained in {:.1} s", made.training_seconds);
        if let Some(folder) = &self.weights {
            save(&model, folder, system, method)?;
        }
        Ok((model, made))
    }

    /// The same in a process of its own, which gives its cells on standard output.
    fn cells_in_a_process(&self, training: &Training) -> Result<Vec<Record>, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut methods: Vec<_> = training.cells.iter().map(|c| c.method.clone()).collect();
        methods.dedup();
        let mut command = Command::new(program);
        command.args(["table", "--part", "--json", "-", "--jobs", "1"]);
        command.args([
            "--systems",
            &training.system,
            "--methods",
            &methods.join(","),
        ]);
        command.args(["--seed", &self.seed.to_string()]);
        if !self.noise.is_empty() {
            command.args(["--noise", &list(&self.noise)]);
        }
        if !self.shots.is_empty() {
            command.args(["--shots", &list(&self.shots)]);
        }
        if let Some(trials) = self.trials {
            command.args(["--trials", &trials.to_string()]);
        }
        for change in &self.set {
            command.args(["--set", change]);
        }
        if let Some(folder) = &self.weights {
            command.arg("--weights").arg(folder);
        }
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| format!("cannot start a process: {error}"))?;
        let mut text = String::new();
        if let Some(output) = &mut child.stdout {
            let read = output.read_to_string(&mut text);
            read.map_err(|error| error.to_string())?;
        }
        child.wait().map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| format!("its process gave no table: {error}"))
    }
}

/// Refuses a setting that would train something else than what the cell is called.
fn refuse_names(change: &str) -> Result<(), String> {
    for (name, instead) in [("system", "--systems"), ("method", "--methods")] {
        if change.split_once('=').is_some_and(|(set, _)| set == name) {
            return Err(format!(
                "'{change}' is no setting: a {name} is chosen with {instead}"
            ));
        }
    }
    Ok(())
}

/// Refuses more shots than an environment of the system has samples for.
fn check_shots(system: &str, shots: usize) -> Result<(), String> {
    let physics = systems::by_name(system).map_err(|error| error.to_string())?;
    let (phi, _) = test_environment(physics.as_ref(), 0, 0);
    let trial = Trial::new(physics.as_ref(), &phi, shots, 0.0, 0);
    trial
        .map(drop)
        .map_err(|error| format!("{system}: {error}"))
}

/// Ends this process when the one that started it has ended and with it the pipe between them.
fn end_with_parent() {
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(1);
    });
}

fn evaluator(training: &Training, model: Model) -> Result<Evaluator, String> {
    let system = systems::by_name(&training.system).map_err(|error| error.to_string())?;
    let seed = training.cells.first().map_or(0, |cell| cell.seed);
    Evaluator::new(system, Arc::new(model), seed).map_err(|error| error.to_string())
}

fn list(values: &[impl ToString]) -> String {
    let texts: Vec<_> = values.iter().map(ToString::to_string).collect();
    texts.join(",")
}
