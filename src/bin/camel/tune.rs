//! What settings are chosen from: as many tries for every method.

use camel_lab::{
    experiments::{
        list_file::ListFile,
        parallel::spread,
        tuning::{Candidate, Tried, candidates, is_gain},
    },
    learners::Settings,
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
    /// Seeds of trainings, with commas between. The first tries all, the others what was better with it by a
    /// tenth. The trials have seeds that no table uses.
    #[arg(long, value_delimiter = ',', default_value = "0")]
    seeds: Vec<u64>,
    /// Environments to adapt to; those of the tables if left out.
    #[arg(long)]
    trials: Option<usize>,
    /// Trainings at a time.
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
        let mut file = ListFile::<Tried>::open(&self.json)?;
        let mut failures = 0;
        for (place, &seed) in self.seeds.iter().enumerate() {
            let mut tries = self.tries(seed)?;
            if place > 0 {
                let first = self.seeds[0];
                tries.retain(|(candidate, _)| is_promising(candidate, first, &file.items));
            }
            tries.retain(|one| !file.items.iter().any(|tried| is_done(one, tried)));
            eprintln!("{} to try with seed {seed}", tries.len());
            failures += self.work(tries, &mut file)?;
        }
        if self.json == "-" {
            write("-", &file.text()?)?;
        }
        match failures {
            0 => Ok(()),
            n => Err(format!("{n} could not be tried; the others are kept")),
        }
    }

    fn check(&self) -> Result<(), String> {
        for (what, value) in [("trials", self.trials), ("jobs", Some(self.jobs))] {
            if value == Some(0) {
                return Err(format!("the number of {what} must be 1 or more, but is 0"));
            }
        }
        Ok(())
    }

    fn tries(&self, seed: u64) -> Result<Vec<Try>, String> {
        let systems = names::systems(&self.systems)?;
        let methods = names::trained_methods(&self.methods)?;
        let mut tries = Vec::new();
        for system in &systems {
            for method in &methods {
                let all = candidates(system, method).map_err(|error| error.to_string())?;
                tries.extend(all.into_iter().map(|candidate| (candidate, seed)));
            }
        }
        Ok(tries)
    }

    /// Tries all and returns how many failed.
    fn work(&self, tries: Vec<Try>, file: &mut ListFile<Tried>) -> Result<usize, String> {
        let (mut failures, mut written) = (0, Ok(()));
        let work = |(candidate, seed): &Try| candidate.try_out(*seed, self.trials);
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

/// Whether this candidate, or in its place any that it is compared with, was a gain with the first seed.
fn is_promising(candidate: &Candidate, first: u64, tried: &[Tried]) -> bool {
    let Settings { system, method, .. } = &candidate.settings;
    let of_first = |t: &&Tried| (&t.system, &t.method, t.seed) == (system, method, first);
    let tried: Vec<&Tried> = tried.iter().filter(of_first).collect();
    let Ok(all) = candidates(system, method) else {
        return false;
    };
    let usual = all[0].knobs();
    let gains = |c: &Candidate| is_gain(&tried, &c.knobs(), &usual);
    if candidate.knobs() == usual {
        all.iter().any(gains)
    } else {
        gains(candidate)
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
