//! What a machine measured, to be saved, shared and compared with another machine's.

use serde::{Deserialize, Serialize};

use super::{
    bench::{Growth, Measured, PROBLEMS, Speed},
    compare::{method_title, short_title},
};
use crate::{
    charts::{
        Axis, BarChart, BarSeries, Chart, Hue, LineChart, Series, Table, number::significant,
    },
    learners::METHODS,
};

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Cores that the browser tells of.
    pub cores: usize,
    /// The graphics card, as far as the browser tells.
    pub gpu: String,
    /// The browser.
    pub browser: String,
    /// Where the suite ran: `cpu` or `webgpu`.
    pub device: String,
}

/// All measurements of one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// Version of the program.
    pub version: String,
    /// The machine.
    pub machine: Machine,
    /// What was measured.
    pub measured: Vec<Measured>,
}

/// What a link of today's form begins with. In it, every figure has a name, so that new methods and
/// problems do not shift old links.
const FORM: &str = "2";
/// The figures of links without a form, in their order.
const FIRST_SYSTEMS: [&str; 3] = ["cartpole", "charges-pair", "arm"];
const FIRST_METHODS: [&str; 6] = ["camel", "anil", "maml", "coda", "r2d2", "cavia"];

fn machine(cores: &str, device: &str, (gpu, browser): (&str, &str)) -> Option<Machine> {
    let device = ["cpu", "webgpu"].into_iter().find(|name| *name == device)?;
    Some(Machine {
        cores: cores.parse().ok()?,
        gpu: gpu.to_owned(),
        browser: browser.to_owned(),
        device: device.to_owned(),
    })
}

/// A speed of today's form.
fn named(text: &str) -> Option<Measured> {
    let (name, figures) = text.split_once(',')?;
    let (system, method) = name.split_once('.')?;
    speed(system, method, figures)
}

/// The speeds of the first form: empty where nothing was measured.
fn in_order(parts: &[&str]) -> Option<Vec<Measured>> {
    let names = FIRST_SYSTEMS.map(|system| FIRST_METHODS.map(|method| (system, method)));
    let pairs = names.as_flattened().iter().zip(parts);
    let measured = pairs.filter(|(_, text)| !text.is_empty());
    measured
        .map(|(&(system, method), text)| speed(system, method, text))
        .collect()
}

fn speed(system: &str, method: &str, figures: &str) -> Option<Measured> {
    let (steps, micros) = figures.split_once(',')?;
    let positive = |text: &str| {
        let number: f64 = text.parse().ok()?;
        Some(number).filter(|x| x.is_normal() && *x > 0.0)
    };
    Some(Measured::Speed(Speed {
        system: system.to_owned(),
        method: method.to_owned(),
        steps_per_second: positive(steps)?,
        adaptation_seconds: 1e-6 * positive(micros)?,
        memory: 0,
    }))
}

impl Sheet {
    /// Reads a saved sheet; the message says what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let sheet: Self = serde_json::from_str(text)
            .map_err(|error| format!("this is not a saved benchmark: {error}"))?;
        if sheet.speeds().next().is_none() {
            return Err("this benchmark holds no measurement".to_owned());
        }
        Ok(sheet)
    }

    /// The speeds in a few characters, for a link: the form, cores, device, graphics card, browser,
    /// then `system.method,STEPS,MICROSECONDS` of a second and of an adaptation.
    pub fn write(&self) -> String {
        let Machine {
            cores,
            gpu,
            browser,
            device,
        } = &self.machine;
        let name = |text: &str| text.replace(';', " ").chars().take(60).collect::<String>();
        let mut parts = vec![
            FORM.to_owned(),
            cores.to_string(),
            device.clone(),
            name(gpu),
            name(browser),
        ];
        parts.extend(self.speeds().map(|speed| {
            let micros = 1e6 * speed.adaptation_seconds;
            format!(
                "{}.{},{:.2e},{micros:.2e}",
                speed.system, speed.method, speed.steps_per_second
            )
        }));
        parts.join(";")
    }

    /// Reads what [`Self::write`] has written, or what it wrote when figures had no names.
    pub fn read(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split(';').collect();
        let (machine, speeds) = match parts[..] {
            [FORM, cores, device, gpu, browser, ref speeds @ ..] => {
                let machine = machine(cores, device, (gpu, browser))?;
                (machine, speeds.iter().map(|text| named(text)).collect())
            }
            [first, ref speeds @ ..] => {
                let (cores, device) = first.split_once(',')?;
                (machine(cores, device, ("", ""))?, in_order(speeds))
            }
            [] => return None,
        };
        let measured: Option<Vec<Measured>> = speeds;
        let measured = measured.filter(|measured| !measured.is_empty())?;
        Some(Self {
            version: String::new(),
            machine,
            measured,
        })
    }

    /// The speeds.
    pub fn speeds(&self) -> impl Iterator<Item = &Speed> {
        self.measured.iter().filter_map(|measured| match measured {
            Measured::Speed(speed) => Some(speed),
            Measured::Growth(_) | Measured::Accuracy(_) => None,
        })
    }

    fn growths(&self) -> impl Iterator<Item = &Growth> {
        self.measured.iter().filter_map(|measured| match measured {
            Measured::Growth(growth) => Some(growth),
            Measured::Speed(_) | Measured::Accuracy(_) => None,
        })
    }

    fn speed(&self, system: &str, method: &str) -> Option<&Speed> {
        self.speeds()
            .find(|speed| speed.system == system && speed.method == method)
    }

    /// Speeds in numbers, beside another machine's if there is one.
    pub fn table(&self, other: Option<&Self>) -> Table {
        let mut columns = vec![
            "System",
            "Method",
            "Steps/s",
            "Adaptation [ms]",
            "Memory [MB]",
        ];
        if other.is_some() {
            columns.extend([
                "Other steps/s",
                "Training, this / other",
                "Adaptation, this / other",
            ]);
        }
        let mut table = Table::new("Speed of every learner", columns);
        for speed in self.speeds() {
            let mut cells = vec![
                short_title(&speed.system).to_owned(),
                method_title(&speed.method),
                significant(speed.steps_per_second, 3),
                significant(1e3 * speed.adaptation_seconds, 2),
                memory_text(speed.memory),
            ];
            if let Some(other) = other {
                let found = other.speed(&speed.system, &speed.method);
                cells.extend(found.map_or_else(
                    || [(); 3].map(|()| "–".to_owned()),
                    |found| {
                        [
                            significant(found.steps_per_second, 3),
                            significant(speed.steps_per_second / found.steps_per_second, 3),
                            significant(found.adaptation_seconds / speed.adaptation_seconds, 3),
                        ]
                    },
                ));
            }
            table.push(cells);
        }
        table
    }

    /// The time to accuracies in numbers; empty if that was not measured.
    pub fn accuracies(&self) -> Table {
        let columns = ["System", "Method", "Error", "Whose", "Time [s]", "Steps"];
        let mut table = Table::new("Training until an error in new environments", columns);
        for measured in &self.measured {
            let Measured::Accuracy(found) = measured else {
                continue;
            };
            let missed = || {
                let (error, spent) = (significant(found.error, 2), significant(found.spent, 3));
                match found.spent > 0.0 {
                    true => format!("not reached in {spent}: {error}"),
                    false => format!("not reached: {error}"),
                }
            };
            table.push([
                short_title(&found.system).to_owned(),
                method_title(&found.method),
                significant(found.goal, 2),
                found.whose.clone(),
                found
                    .seconds
                    .map_or_else(missed, |time| significant(time, 3)),
                found.steps.to_string(),
            ]);
        }
        table
    }

    /// Slopes in numbers.
    pub fn slopes(&self) -> Table {
        let columns = [
            "Method",
            "In",
            "Slope",
            "Step at the smallest [ms]",
            "At the largest [ms]",
        ];
        let mut table = Table::new(
            "Growth of a training step on shared inputs, log-log slope",
            columns,
        );
        for growth in self.growths() {
            let time = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |p| 1e3 * p.1);
            table.push([
                method_title(&growth.method),
                growth.of.clone(),
                significant(growth.slope(), 2),
                significant(time(growth.points.first()), 3),
                significant(time(growth.points.last()), 3),
            ]);
        }
        table
    }

    /// Training steps in a second as bars.
    pub fn bars(&self) -> Chart {
        let series = METHODS.iter().filter(|method| !method.zero_shot);
        let series = series.map(|method| BarSeries {
            name: method.title.to_owned(),
            hue: Hue::of_method(method.name),
            values: PROBLEMS
                .iter()
                .map(|(system, _)| {
                    let speed = self.speed(system, method.name);
                    speed.map_or(f64::NAN, |speed| speed.steps_per_second)
                })
                .collect(),
            errors: Vec::new(),
        });
        Chart::Bars(BarChart {
            title: "Training steps in a second".to_owned(),
            category: String::new(),
            y: Axis::log("steps", "1/s"),
            categories: PROBLEMS
                .iter()
                .map(|(system, _)| short_title(system).to_owned())
                .collect(),
            series: series.collect(),
            levels: Vec::new(),
        })
    }

    /// Time of a training step against T or N.
    pub fn growth(&self, of: &str) -> Chart {
        let series = self
            .growths()
            .filter(|growth| growth.of == of)
            .map(|growth| {
                let points = growth.points.iter().map(|&(x, y)| [x, 1e3 * y]).collect();
                let name = method_title(&growth.method);
                Series::new(name, Hue::of_method(&growth.method), points).with_dots()
            });
        let what = if of == "T" {
            "tasks T"
        } else {
            "samples a task N"
        };
        Chart::Lines(LineChart {
            title: format!("Time of a training step against {what}"),
            x: Axis::log(what, ""),
            y: Axis::log("step", "ms"),
            series: series.collect(),
            ..LineChart::default()
        })
    }
}

fn memory_text(bytes: u64) -> String {
    match bytes {
        0 => "–".to_owned(),
        bytes => significant(bytes as f64 / 1e6, 3),
    }
}

#[cfg(test)]
mod tests;
