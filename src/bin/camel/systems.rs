//! Physics for people who want the data elsewhere: list, simulate, evaluate, write data sets.

use std::{
    fs,
    io::{self, Read as _},
    path::PathBuf,
};

use camel_lab::{
    control::reference::Reference,
    systems::{
        self, Field, Robot, Split, System, Task,
        simulate::{Integrator, simulate},
        trajectories::Sine,
    },
};

use crate::output::{cannot_write, write};

/// Prints every system with its parameters, units and ranges.
pub fn list() -> Result<(), String> {
    for name in systems::NAMES {
        let system = systems::by_name(name).map_err(|error| error.to_string())?;
        let about = system.description();
        println!("{name}: {}\n  {}", about.title, about.equation);
        for parameter in about.parameters {
            let (min, max) = parameter.allowed;
            let (low, high) = parameter.test;
            println!(
                "  {} ({}) [{}], {min} to {max}, tested on {low} to {high}",
                parameter.quantity.symbol, parameter.name, parameter.quantity.unit
            );
        }
    }
    Ok(())
}

/// Arguments of `camel simulate`.
#[derive(clap::Args)]
pub struct Simulate {
    /// Name of a robot.
    system: String,
    /// Physical parameters, with commas between.
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    phi: Vec<f64>,
    /// First state, with commas between; at rest if left out.
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    x0: Vec<f64>,
    /// `zero`, `sin:AMPLITUDE:PERIOD_S:PHASE` or `csv:FILE` (one number a line).
    #[arg(long, default_value = "zero")]
    input: String,
    /// Number of steps.
    #[arg(long, default_value_t = 200)]
    steps: usize,
    /// `own`, `euler`, `semi-implicit-euler` or `rk4`.
    #[arg(long, default_value = "own")]
    integrator: String,
    /// Where to write; `-` is standard output.
    #[arg(long, default_value = "-")]
    csv: String,
}

impl Simulate {
    /// Simulates and writes one line a state.
    pub fn run(self) -> Result<(), String> {
        let system = by_name(&self.system)?;
        let robot = system
            .robot()
            .ok_or_else(|| format!("{} does not move; use `camel field`", self.system))?;
        let phi = if self.phi.is_empty() {
            typical(system.as_ref())
        } else {
            self.phi
        };
        let start = if self.x0.is_empty() {
            vec![0.0; robot.state().len()]
        } else {
            self.x0
        };
        let inputs = read_inputs(&self.input, self.steps, robot.time_step())?;
        let integrator: Integrator = self.integrator.parse().map_err(text)?;
        let states = simulate(robot, &phi, &start, &inputs, integrator).map_err(text)?;
        write(&self.csv, &trajectory_csv(robot, &states, &inputs))
    }
}

/// Arguments of `camel field`.
#[derive(clap::Args)]
pub struct FieldAt {
    /// Name of a static field.
    system: String,
    /// Physical parameters, with commas between.
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    phi: Vec<f64>,
    /// One to eight charges at other places in metres, such as "-1.5,0 1.5,0 0,2".
    #[arg(long, value_delimiter = ' ', allow_hyphen_values = true, value_parser = read_place)]
    places: Vec<[f64; 2]>,
    /// CSV with lines x1,x2; `-` is standard input.
    #[arg(long)]
    points: String,
}

impl FieldAt {
    /// Writes x1,x2,y for every point.
    pub fn run(self) -> Result<(), String> {
        let system = systems::with_places(&self.system, &self.places).map_err(text)?;
        let field = system
            .field()
            .ok_or_else(|| format!("{} is no static field; use `camel simulate`", self.system))?;
        let phi = if self.phi.is_empty() {
            typical(system.as_ref())
        } else {
            self.phi
        };
        let potential = field.solve(&phi).map_err(text)?;
        let mut lines = String::from("x1,x2,y\n");
        for [x1, x2] in read_points(&self.points, field)? {
            let y = potential.value([x1, x2]);
            lines += &format!("{x1:.16e},{x2:.16e},{y:.16e}\n");
        }
        write("-", &lines)
    }
}

/// Arguments of `camel data`.
#[derive(clap::Args)]
pub struct Data {
    /// Name of a system.
    system: String,
    /// `train`, `test` or `out-of-domain`.
    #[arg(long, default_value = "train")]
    split: String,
    /// Seed of random starts and points.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder for one CSV file an environment; it is made if missing.
    #[arg(long)]
    csv: PathBuf,
}

impl Data {
    /// Writes one file an environment.
    pub fn run(self) -> Result<(), String> {
        let system = by_name(&self.system)?;
        let split = match self.split.as_str() {
            "train" => Split::Train,
            "test" => Split::Test,
            "out-of-domain" => Split::OutOfDomain,
            other => {
                return Err(format!(
                    "the split must be train, test or out-of-domain, but is '{other}'"
                ));
            }
        };
        fs::create_dir_all(&self.csv).map_err(|error| cannot_write(&self.csv, &error))?;
        for (number, phi) in system.environments(split, self.seed).iter().enumerate() {
            let task = system.task(phi, split, self.seed).map_err(text)?;
            let file = self
                .csv
                .join(format!("{}-{}-{number:03}.csv", self.system, self.split));
            fs::write(&file, task_csv(system.as_ref(), &task))
                .map_err(|error| cannot_write(&file, &error))?;
        }
        Ok(())
    }
}

/// Computes the arm's swing-up anew and writes it where it is shipped.
pub fn write_reference() -> Result<(), String> {
    let reference = Reference::arm_swing_up_by_ilqr().map_err(text)?;
    let lines = serde_json::to_string(&reference).map_err(text)?;
    write("public/references/arm-swing-up.json", &lines)
}

fn by_name(name: &str) -> Result<Box<dyn System>, String> {
    systems::by_name(name).map_err(text)
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn typical(system: &dyn System) -> Vec<f64> {
    system.description().typical()
}

fn read_inputs(spec: &str, steps: usize, dt: f64) -> Result<Vec<f64>, String> {
    let wrong = || {
        format!("the input must be zero, sin:AMPLITUDE:PERIOD_S:PHASE or csv:FILE, but is '{spec}'")
    };
    match spec.split(':').collect::<Vec<_>>()[..] {
        ["zero"] => Ok(vec![0.0; steps]),
        ["sin", amplitude, period, phase] => {
            let number = |text: &str| {
                text.parse::<f64>()
                    .ok()
                    .filter(|n| n.is_finite())
                    .ok_or_else(wrong)
            };
            let sine = Sine {
                amplitude: number(amplitude)?,
                period: number(period)?,
                phase: number(phase)?,
            };
            if sine.period <= 0.0 {
                return Err(format!(
                    "the input's period must be above 0 s, but is {}",
                    sine.period
                ));
            }
            Ok(sine.samples(steps, dt))
        }
        ["csv", file] => {
            let lines =
                fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?;
            let numbers = lines
                .lines()
                .enumerate()
                .filter(|(_, line)| !line.trim().is_empty());
            let parse = |(row, line): (usize, &str)| {
                line.trim()
                    .parse()
                    .map_err(|_| format!("{file}, row {}: '{line}' is not a number", row + 1))
            };
            let inputs: Vec<f64> = numbers.map(parse).take(steps).collect::<Result<_, _>>()?;
            if inputs.len() < steps {
                return Err(format!(
                    "{file} has {} inputs, but {steps} steps need {steps}",
                    inputs.len()
                ));
            }
            Ok(inputs)
        }
        _ => Err(wrong()),
    }
}

fn read_place(pair: &str) -> Result<[f64; 2], String> {
    let wrong = || format!("'{pair}' is no place x1,x2");
    let (x1, x2) = pair.split_once(',').ok_or_else(wrong)?;
    let number = |part: &str| part.trim().parse::<f64>().map_err(|_| wrong());
    Ok([number(x1)?, number(x2)?])
}

fn read_points(place: &str, field: &dyn Field) -> Result<Vec<[f64; 2]>, String> {
    let mut lines = String::new();
    if place == "-" {
        io::stdin().read_to_string(&mut lines).map_err(text)?;
    } else {
        lines =
            fs::read_to_string(place).map_err(|error| format!("cannot read {place}: {error}"))?;
    }
    let [low, high] = field.domain();
    let mut points = Vec::new();
    for (row, line) in lines.lines().enumerate() {
        if line.trim().is_empty() || (row == 0 && line.starts_with("x1")) {
            continue;
        }
        let wrong = || format!("row {}: '{line}' is not x1,x2", row + 1);
        let (x1, x2) = line.split_once(',').ok_or_else(wrong)?;
        let point = [x1, x2].map(|part| part.trim().parse::<f64>().ok().filter(|x| x.is_finite()));
        let [Some(x1), Some(x2)] = point else {
            return Err(wrong());
        };
        if !(low[0]..=high[0]).contains(&x1) || !(low[1]..=high[1]).contains(&x2) {
            return Err(format!(
                "row {}: ({x1}, {x2}) is outside of {low:?} to {high:?}",
                row + 1
            ));
        }
        points.push([x1, x2]);
    }
    Ok(points)
}

fn trajectory_csv(robot: &dyn Robot, states: &[Vec<f64>], inputs: &[f64]) -> String {
    let names: Vec<_> = robot
        .state()
        .iter()
        .map(|quantity| quantity.symbol)
        .collect();
    let mut lines = format!("t,{},u\n", names.join(","));
    for (step, state) in states.iter().enumerate() {
        lines += &format!("{:.9}", step as f64 * robot.time_step());
        for value in state {
            lines += &format!(",{value:.16e}");
        }
        let input = inputs
            .get(step)
            .map_or(String::new(), |input| format!("{input:.16e}"));
        lines += &format!(",{input}\n");
    }
    lines
}

fn task_csv(system: &dyn System, task: &Task) -> String {
    let about = system.description();
    let mut names: Vec<_> = about.parameters.iter().map(|p| p.quantity.symbol).collect();
    names.extend(about.inputs.iter().map(|quantity| quantity.symbol));
    let mut lines = format!("{},{}\n", names.join(","), about.target.symbol);
    for (row, y) in task.inputs.rows().zip(&task.targets) {
        let numbers = task.parameters.iter().chain(row).chain([y]);
        lines += &numbers
            .map(|x| format!("{x:.16e}"))
            .collect::<Vec<_>>()
            .join(",");
        lines.push('\n');
    }
    lines
}
