//! How long methods take, beside the paper's compute times.

use super::{NONE, Results, method_title, optional, shots_text, title};
use crate::{
    charts::{Table, number::significant},
    experiments::record::{PrintedTime, Record},
    learners::METHODS,
};

/// The method whose times are the unit, as in the paper, where they are the shortest.
const UNIT: &str = "camel";

impl Results {
    /// Time and identification of all methods on a system.
    pub fn times(&self, system: &str) -> Table {
        let columns = [
            "Method",
            "Shots",
            "Trials",
            "Training [s]",
            "Step [ms]",
            "Adaptation [ms]",
            "Identification error [%]",
            "Zero-shot error",
        ];
        let title = format!("{}: time and identification", title(system));
        let mut table = Table::new(title, columns);
        for record in self.of(system).filter(|r| r.noise == 0.0) {
            let identified = record.identification_error;
            table.push([
                method_title(&record.method),
                shots_text(record.shots),
                record.mse.n.to_string(),
                significant(record.training_seconds, 3),
                significant(1e3 * step_seconds(record), 2),
                significant(1e3 * record.adaptation_seconds, 2),
                optional(identified.map(|summary| 100.0 * summary.mean), 2),
                optional(record.zero_shot_error.map(|summary| summary.mean), 3),
            ]);
        }
        table
    }

    /// Time of a training step and of an adaptation in units of CAMEL's, beside the paper's.
    pub fn compute_times(&self) -> Table {
        let columns = [
            "Method",
            "Training step",
            "Paper",
            "Adaptation",
            "Paper's adaptation",
        ];
        let mut table = Table::new("Compute time, CAMEL's = 1", columns);
        for method in METHODS.iter().filter(|method| !method.zero_shot) {
            let of_paper = |time: fn(&PrintedTime) -> f64| {
                let mut all = self.paper_times.iter();
                all.find(|p| p.method == method.name).map(time)
            };
            let Some(step) = self.relative(method.name, step_seconds) else {
                continue;
            };
            let adaptation = self.relative(method.name, |record| record.adaptation_seconds);
            table.push([
                method.title.to_owned(),
                significant(step, 2),
                optional(of_paper(|p| p.training), 2),
                adaptation.map_or_else(|| NONE.to_owned(), |time| significant(time, 2)),
                optional(of_paper(|p| p.adaptation), 2),
            ]);
        }
        table
    }

    /// Geometric mean, over the systems that have both, of a method's time over CAMEL's.
    fn relative(&self, method: &str, time: fn(&Record) -> f64) -> Option<f64> {
        let systems = self.systems();
        let logs: Vec<f64> = systems
            .iter()
            .filter_map(|system| {
                let own = time(self.most_shots(system, method)?);
                let unit = time(self.most_shots(system, UNIT)?);
                let log = (own / unit).ln();
                log.is_finite().then_some(log)
            })
            .collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }
}

fn step_seconds(record: &Record) -> f64 {
    record.training_seconds / record.spec.steps as f64
}
