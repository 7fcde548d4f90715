//! How long methods take, beside the paper's compute times.

use super::{Results, method_title, optional, shots_text, title};
use crate::{
    charts::{Table, number::significant},
    experiments::record::{PrintedTime, Record, StepTime},
    learners::{METHODS, method},
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
            "Adam step [ms]",
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
                optional(self.step_seconds(record).map(|time| 1e3 * time), 2),
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
            let step = self.relative(method.name, |record| self.step_seconds(record));
            let adaptation = self.relative(method.name, |record| Some(record.adaptation_seconds));
            if step.is_some() || adaptation.is_some() {
                table.push([
                    method.title.to_owned(),
                    optional(step, 2),
                    optional(of_paper(|p| p.training), 2),
                    optional(adaptation, 2),
                    optional(of_paper(|p| p.adaptation), 2),
                ]);
            }
        }
        table
    }

    /// Geometric mean, over the systems that have both, of a method's time over CAMEL's.
    fn relative(&self, method: &str, time: impl Fn(&Record) -> Option<f64>) -> Option<f64> {
        let systems = self.systems();
        let logs: Vec<f64> = systems
            .iter()
            .filter_map(|system| {
                let own = time(self.most_shots(system, method)?)?;
                let unit = time(self.most_shots(system, UNIT)?)?;
                let log = (own / unit).ln();
                log.is_finite().then_some(log)
            })
            .collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }

    /// Time of a step of Adam on as many rows for every method [s].
    fn step_seconds(&self, record: &Record) -> Option<f64> {
        let trained_as = method(&record.method).ok()?.trained_as;
        let same = |t: &&StepTime| (&*t.system, &*t.method) == (&*record.system, trained_as);
        self.step_times.iter().find(same).map(|time| time.seconds)
    }
}
