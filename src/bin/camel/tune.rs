//! What settings are chosen from: the same tries, with the same time, for every method.

use camel_lab::experiments::{
    list_file::ListFile,
    parallel::spread,
    tuning::{Candidate, Tried, candidates},
};

use crate::{names, output::write};

/// Arguments of `camel tune`.
#[derive(clap::Args)]
pub struct Tune {
    /// Systems, with commas between; all if left out.
    #[arg(long, value_delimiter = ',')]
    systems: Vec<String>,
    /// Methods, with commas between; all that are trained if left out.
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Seeds of trainings, with commas between. The trials have seeds that no table uses.
    #[arg(long, value_delimiter = ',', default_value = "0")]
    seeds: Vec<u64>,
    /// Longest training [s]; a slower one gets fewer steps.
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Environments to adapt to; those of the tables if left out.
    #[arg(long)]
    trials: Option<usize>,
    /// Trainings at a time. They share the machine: more than it has cores make each shorter.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// File that keeps the results; what is in it is not tried again. `-` is standard output.
    #[arg(long, default_value = "-")]
    json: String,
}

/// A candidate and the seed of its training.
type Try = (Candidate, u64);

impl Tune {
    /// Tries what is missing.
    pub fn run(self) -> Result<(), String> {
        self.check()?;
        let mut tries = self.tries()?;
        let mut file = ListFile::<Tried>::open(&self.json)?;
        tries.retain(|one| !file.items.iter().any(|tried| is_done(one, tried)));
        eprintln!("{} to try", tries.len());
        let failures = self.work(tries, &mut file)?;
        if self.json == "-" {
            write("-", &file.text()?)?;
        }
        match failures {
            0 => Ok(()),
            n => Err(format!("{n} could not be tried; the others are kept")),
        }
    }

    fn check(&self) -> Result<(), String> {
        if !(self.seconds.is_finite() && self.seconds > 0.0) {
            let seconds = self.seconds;
            return Err(format!("the seconds must be above 0, but are {seconds}"));
        }
        for (what, value) in [("trials", self.trials), ("jobs", Some(self.jobs))] {
            if value == Some(0) {
                return Err(format!("the number of {what} must be 1 or more, but is 0"));
            }
        }
        Ok(())
    }

    fn tries(&self) -> Result<Vec<Try>, String> {
        let systems = names::systems(&self.systems)?;
        let methods = names::trained_methods(&self.methods)?;
        let mut tries = Vec::new();
        for &seed in &self.seeds {
            for system in &systems {
                for method in &methods {
                    let all = candidates(system, method).map_err(|error| error.to_string())?;
                    tries.extend(all.into_iter().map(|candidate| (candidate, seed)));
                }
            }
        }
        Ok(tries)
    }

    /// Tries all and returns how many failed.
    fn work(&self, tries: Vec<Try>, file: &mut ListFile<Tried>) -> Result<usize, String> {
        let (mut failures, mut written) = (0, Ok(()));
        let work = |(candidate, seed): &Try| candidate.try_out(*seed, self.seconds, self.trials);
        spread(
            self.jobs,
            tries,
            work,
            |(candidate, _), found| match found {
                Ok(found) => {
                    found.iter().for_each(tell);
                    written = written.clone().and(file.add(found));
                }
                Err(error) => {
                    eprintln!("{} {}: {error}", candidate.knobs(), candidate.tried);
                    failures += 1;
                }
            },
        );
        written.map(|()| failures)
    }
}

/// Whether a result is of this candidate with the settings that are recommended today.
fn is_done((candidate, seed): &Try, tried: &Tried) -> bool {
    let settings = &candidate.settings;
    let knobs = candidate.knobs();
    let key = (&*settings.system, &*settings.method, &*candidate.tried);
    tried.candidate() == (key.0, key.1, key.2, &knobs, *seed)
}

fn tell(tried: &Tried) {
    let error = tried.nmse.map_or_else(
        || "no finite error".to_owned(),
        |nmse| format!("{nmse:.2e} of the mean target²"),
    );
    eprintln!(
        "{} {} {}: {} steps, {} shots, {error}",
        tried.system,
        tried.method,
        tried.tried,
        tried.steps.unwrap_or_default(),
        tried.shots
    );
}
