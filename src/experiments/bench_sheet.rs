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

/// All pairs of a problem and a method, in the order of a link.
fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let methods = || METHODS.iter().filter(|method| !method.zero_shot);
    PROBLEMS
        .into_iter()
        .flat_map(move |(system, _)| methods().map(move |method| (system, method.name)))
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

    /// The speeds in a few characters, for a link: cores, device, then steps a second and
    /// microseconds of an adaptation for each problem and method.
    pub fn write(&self) -> String {
        let speed = |(system, method)| {
            let found = self.speed(system, method);
            found.map_or_else(String::new, |speed| {
                let micros = 1e6 * speed.adaptation_seconds;
                format!("{:.3e},{micros:.3e}", speed.steps_per_second)
            })
        };
        let speeds: Vec<String> = pairs().map(speed).collect();
        let Machine { cores, device, .. } = &self.machine;
        format!("{cores},{device};{}", speeds.join(";"))
    }

    /// Reads what [`Self::write`] has written.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(';');
        let (cores, device) = parts.next()?.split_once(',')?;
        let device = ["cpu", "webgpu"].into_iter().find(|name| *name == device)?;
        let mut measured = Vec::new();
        for ((system, method), part) in pairs().zip(parts) {
            let Some((steps, micros)) = part.split_once(',') else {
                continue;
            };
            let positive = |text: &str| {
                text.parse()
                    .ok()
                    .filter(|x: &f64| x.is_normal() && *x > 0.0)
            };
            measured.push(Measured::Speed(Speed {
                system: system.to_owned(),
                method: method.to_owned(),
                steps_per_second: positive(steps)?,
                adaptation_seconds: 1e-6 * positive(micros)?,
                memory: 0,
            }));
        }
        let machine = Machine {
            cores: cores.parse().ok()?,
            device: device.to_owned(),
            ..Machine::default()
        };
        (!measured.is_empty()).then_some(Self {
            version: String::new(),
            machine,
            measured,
        })
    }

    /// The speeds.
    pub fn speeds(&self) -> impl Iterator<Item = &Speed> {
        self.measured.iter().filter_map(|measured| match measured {
            Measured::Speed(speed) => Some(speed),
            Measured::Growth(_) => None,
        })
    }

    fn growths(&self) -> impl Iterator<Item = &Growth> {
        self.measured.iter().filter_map(|measured| match measured {
            Measured::Growth(growth) => Some(growth),
            Measured::Speed(_) => None,
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
                significant(speed.memory as f64 / 1e6, 3),
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

    /// Slopes in numbers.
    pub fn slopes(&self) -> Table {
        let columns = [
            "Method",
            "In",
            "Slope",
            "Step at the smallest [ms]",
            "At the largest [ms]",
        ];
        let mut table = Table::new("Growth of a training step, log-log slope", columns);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::fuzz;

    fn sheet() -> Sheet {
        let speed = |(place, (system, method)): (usize, (&str, &str))| {
            Measured::Speed(Speed {
                system: system.to_owned(),
                method: method.to_owned(),
                steps_per_second: 100.0 * (place + 1) as f64,
                adaptation_seconds: 1e-4,
                memory: 0,
            })
        };
        Sheet {
            version: String::new(),
            machine: Machine {
                cores: 8,
                device: "cpu".to_owned(),
                ..Machine::default()
            },
            measured: pairs().enumerate().map(speed).collect(),
        }
    }

    #[test]
    fn a_link_holds_the_speeds_and_stays_short() {
        let text = sheet().write();
        assert!(text.len() < 600, "{}", text.len());
        assert_eq!(Sheet::read(&text).map(|sheet| sheet.write()), Some(text));
    }

    #[test]
    fn a_damaged_link_or_file_is_refused() {
        for text in [
            "",
            "8,cpu;",
            "8,tpu;1e2,1e2",
            "x,cpu;1,1",
            "8,cpu;-1,1",
            "8,cpu;nan,1",
        ] {
            assert_eq!(Sheet::read(text), None, "{text}");
        }
        assert!(Sheet::from_json("{}").is_err_and(|e| e.contains("not a saved benchmark")));
        let empty = serde_json::to_string(&Sheet::default()).unwrap();
        assert!(Sheet::from_json(&empty).is_err_and(|e| e.contains("no measurement")));
    }

    #[test]
    fn a_hundred_thousand_damaged_links_and_files_never_panic() {
        let positive = |sheet: &Sheet| sheet.speeds().all(|speed| speed.steps_per_second > 0.0);
        fuzz::damaged(&sheet().write(), |text| {
            assert!(Sheet::read(text).is_none_or(|sheet| positive(&sheet)));
        });
        fuzz::damaged(&serde_json::to_string(&sheet()).unwrap(), |text| {
            if let Ok(sheet) = Sheet::from_json(text) {
                assert!(sheet.speeds().next().is_some());
                sheet.table(Some(&sheet));
                sheet.slopes();
            }
        });
    }

    #[test]
    fn two_machines_are_compared_by_ratios() {
        let table = sheet().table(Some(&sheet()));
        assert_eq!(table.rows[0][6..], ["1", "1"]);
    }
}
