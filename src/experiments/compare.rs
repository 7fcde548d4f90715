//! Our figures beside the paper's: tables, charts and remarks from records.

use super::{
    curves,
    figures::Curve,
    record::{LeftOut, Printed, PrintedTime, Record, StepTime, Summary},
};
use crate::{
    charts::{Axis, Chart, Hue, LineChart, Series, Table, number::significant},
    learners::METHODS,
    systems,
};

mod remarks;
mod swing_ups;
mod times;

pub use remarks::Said;
pub use swing_ups::SwingUps;

/// Stands where there is no figure.
const NONE: &str = "–";

/// Everything that a page of tables shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Ours.
    pub records: Vec<Record>,
    /// The paper's.
    pub printed: Vec<Printed>,
    /// What there is to say.
    pub remarks: Vec<Said>,
    /// The curves of the figures.
    pub curves: Vec<Curve>,
    /// Times of a training step.
    pub step_times: Vec<StepTime>,
    /// What the paper says of compute time.
    pub paper_times: Vec<PrintedTime>,
    /// Cells that were not made.
    pub left_out: Vec<LeftOut>,
    /// Swing-ups with the adapted models.
    pub swing_ups: Vec<SwingUps>,
}

/// A table and the cells to set in bold.
pub type Marked = (Table, Vec<(usize, usize)>);

impl Results {
    /// Names of the systems that have records, in their usual order.
    pub fn systems(&self) -> Vec<&'static str> {
        let known = |name: &&str| self.records.iter().any(|record| record.system == **name);
        systems::NAMES.into_iter().filter(known).collect()
    }

    /// The records of a system.
    pub fn of<'a>(&'a self, system: &'a str) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |r| r.system == system)
    }

    /// Normalised errors of all methods on all systems, noise-free, from the most shots.
    pub fn overview(&self) -> Marked {
        let systems = self.systems();
        let titles = systems.iter().map(|name| short_title(name));
        let columns = std::iter::once("Method").chain(titles);
        let title = "Error as a share of the mean squared target, from the most shots";
        let mut table = Table::new(title, columns);
        let mut values = Vec::new();
        for method in METHODS {
            let found: Vec<Option<f64>> = systems
                .iter()
                .map(|system| self.most_shots(system, method.name).map(|r| r.nmse.mean))
                .collect();
            let cells = found.iter().map(|value| optional(*value, 2));
            table.push(std::iter::once(method.title.to_owned()).chain(cells));
            values.push(found);
        }
        let best = (0..systems.len()).filter_map(|column| {
            let all = values.iter().map(|row| row[column]);
            lowest(all).map(|row| (row, column + 1))
        });
        let best = best.collect();
        (table, best)
    }

    fn most_shots(&self, system: &str, method: &str) -> Option<&Record> {
        self.records
            .iter()
            .filter(|r| r.system == system && r.method == method && r.noise == 0.0)
            .max_by_key(|r| r.shots)
    }

    /// Errors of all methods on a system, beside the paper's.
    pub fn errors(&self, system: &str) -> Marked {
        let noisy = self.of(system).any(|r| r.noise > 0.0);
        let mut columns = vec!["Method", "Shots"];
        if noisy {
            columns.extend(["Noise σ", "True potentials, least squares"]);
        }
        columns.extend([
            "Mean squared error",
            "Of mean target²",
            "Rank",
            "Paper",
            "Ours / paper",
        ]);
        let place = columns.len() - 5;
        let mut table = Table::new(format!("{}: errors", title(system)), columns);
        let mut best = Vec::new();
        for (row, record) in self.of(system).enumerate() {
            let rank = self.rank(record);
            if rank == Some(1) {
                best.push((row, place));
            }
            let mut cells = vec![method_title(&record.method), shots_text(record.shots)];
            if noisy {
                cells.push(significant(record.noise, 2));
                cells.push(optional(record.floor.map(|floor| floor.mean), 3));
            }
            cells.extend([
                with_spread(&record.mse),
                with_spread(&record.nmse),
                rank.map_or_else(|| NONE.to_owned(), |rank| rank.to_string()),
                self.printed(record)
                    .map_or_else(|| NONE.to_owned(), printed_text),
                self.ratio_text(record),
            ]);
            table.push(cells);
        }
        (table, best)
    }

    /// The figures of a system; without curves, its error against the shots of the table.
    pub fn charts(&self, system: &str) -> Vec<Chart> {
        let charts = curves::charts(&self.curves, system);
        if charts.is_empty() {
            self.shots_chart(system).into_iter().collect()
        } else {
            charts
        }
    }

    /// Error against the number of shots, if there are several.
    fn shots_chart(&self, system: &str) -> Option<Chart> {
        let mut series = Vec::new();
        for method in METHODS.iter().filter(|method| !method.zero_shot) {
            let mut records: Vec<&Record> = self
                .of(system)
                .filter(|r| r.method == method.name && r.noise == 0.0)
                .collect();
            records.sort_by_key(|r| r.shots);
            if records.len() > 1 {
                let point = |r: &&Record| [r.shots as f64, r.nmse.mean];
                let points = records.iter().map(point).collect();
                let hue = Hue::of_method(method.name);
                series.push(Series::new(method.title, hue, points).with_dots());
            }
        }
        (!series.is_empty()).then(|| {
            Chart::Lines(LineChart {
                title: format!("{}: error against the number of shots", title(system)),
                x: Axis::log("shots", ""),
                y: Axis::log("error of mean target²", ""),
                series,
                ..LineChart::default()
            })
        })
    }

    /// Records of a rerun beside the committed ones.
    pub fn against(&self, rerun: &[Record]) -> Table {
        let columns = [
            "Method",
            "Shots",
            "Noise σ",
            "Committed",
            "Yours",
            "Yours / committed",
            "Training [s]",
        ];
        let mut table = Table::new("Made again in your browser", columns);
        for record in rerun {
            let same = |r: &&Record| {
                (&r.system, &r.method) == (&record.system, &record.method)
                    && (r.shots, r.noise) == (record.shots, record.noise)
            };
            let committed = self.records.iter().find(same);
            let ratio = committed.map(|r| record.mse.mean / r.mse.mean);
            table.push([
                method_title(&record.method),
                shots_text(record.shots),
                significant(record.noise, 2),
                committed.map_or_else(|| NONE.to_owned(), |r| with_spread(&r.mse)),
                with_spread(&record.mse),
                optional(ratio, 3),
                significant(record.training_seconds, 3),
            ]);
        }
        table
    }

    /// Place among the methods that see the same samples; none for a method that is told the
    /// parameters.
    fn rank(&self, record: &Record) -> Option<usize> {
        let better = |r: &&Record| {
            (r.shots, r.noise) == (record.shots, record.noise) && r.mse.mean < record.mse.mean
        };
        (record.shots > 0).then(|| 1 + self.of(&record.system).filter(better).count())
    }

    /// What the paper prints of a noise-free cell; where it prints two figures, the lower one.
    fn printed(&self, record: &Record) -> Option<&Printed> {
        let same = |p: &&Printed| {
            (&p.system, &p.method) == (&record.system, &record.method) && p.shots == record.shots
        };
        let mean = |p: &Printed| p.mean.unwrap_or(f64::INFINITY);
        let all = self.printed.iter().filter(same);
        let lowest = all.min_by(|a, b| mean(a).total_cmp(&mean(b)));
        lowest.filter(|_| record.noise == 0.0)
    }

    fn ratio_text(&self, record: &Record) -> String {
        let has_printed = self.printed(record).is_some_and(|p| p.mean.is_some());
        if has_printed && !is_comparable(&record.system) {
            return "not comparable".to_owned();
        }
        optional(self.ratio(record), 2)
    }

    /// Our error over the paper's: of normalised errors where the paper's scale is known; none where
    /// the scales have nothing to do with each other.
    pub fn ratio(&self, record: &Record) -> Option<f64> {
        let printed = self.printed(record)?;
        let mean = printed.mean.filter(|_| is_comparable(&record.system))?;
        Some(match printed.to_normalised {
            Some(factor) => record.nmse.mean / (factor * mean),
            None => record.mse.mean / mean,
        })
    }
}

/// Whether the paper's targets are ours up to a known scale. Our Upkie is a planar model with torques
/// of its own.
fn is_comparable(system: &str) -> bool {
    system != "upkie"
}

fn lowest(values: impl Iterator<Item = Option<f64>>) -> Option<usize> {
    let found = values
        .enumerate()
        .filter_map(|(place, value)| Some((place, value?)));
    let lowest = found.min_by(|a, b| a.1.total_cmp(&b.1));
    lowest.map(|(place, _)| place)
}

fn optional(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| significant(value, digits))
}

fn with_spread(summary: &Summary) -> String {
    let (mean, std) = (summary.mean, summary.std);
    format!("{} ± {}", significant(mean, 3), significant(std, 2))
}

fn printed_text(printed: &Printed) -> String {
    match (printed.mean, printed.std) {
        (Some(mean), Some(std)) => format!("{} ± {}", significant(mean, 2), significant(std, 2)),
        (mean, _) => optional(mean, 2),
    }
}

fn shots_text(shots: usize) -> String {
    if shots == 0 {
        "0 (φ given)".to_owned()
    } else {
        shots.to_string()
    }
}

/// Name of a method for people.
pub fn method_title(name: &str) -> String {
    let found = METHODS.iter().find(|method| method.name == name);
    found.map_or(name, |method| method.title).to_owned()
}

/// Name of a system for people.
pub fn title(name: &str) -> String {
    systems::portrait(name, &[]).map_or_else(
        |_| name.to_owned(),
        |system| system.about().title.to_owned(),
    )
}

/// Name of a system in one or two words.
pub fn short_title(name: &str) -> &str {
    match name {
        "pendulum" => "Pendulum",
        "charges-dipole" => "Dipole",
        "charges-pair" => "Pair",
        "charges-quadrupole" => "Quadrupole",
        "capacitor" => "Capacitor",
        "capacitor-eps" => "ε-capacitor",
        "cartpole" => "Cartpole",
        "arm" => "Arm",
        "upkie" => "Upkie",
        other => other,
    }
}

#[cfg(test)]
mod tests;
