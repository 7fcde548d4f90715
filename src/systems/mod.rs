//! What is learned: physical systems that make environments from physical parameters φ.
//!
//! A system makes *environments* from parameters φ; an environment yields a [`Task`]: inputs x and
//! targets y. Static fields (charges, capacitor) sample every task at the same points; robots
//! (pendulum, cartpole, arm, Upkie) yield trajectories.

pub mod arm;
pub mod capacitor;
pub mod cartpole;
pub mod chain;
pub mod charges;
pub mod field_lines;
pub mod golden;
pub mod grid;
pub mod laplace;
pub mod pendulum;
pub mod plate;
mod portrait;
#[cfg(test)]
mod robot_tests;
pub mod simulate;
mod sketch;
pub mod trajectories;
pub mod upkie;
pub mod upkie_mechanics;
mod upkie_sketch;

use std::{fmt::Debug, sync::Arc};

use thiserror::Error;

pub use portrait::Portrait;

/// A measured quantity: how it is written and its unit (`"1"` where it has none).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Symbol, as in the equations.
    pub symbol: &'static str,
    /// SI unit.
    pub unit: &'static str,
}

const fn quantity(symbol: &'static str, unit: &'static str) -> Quantity {
    Quantity { symbol, unit }
}

/// One physical parameter φ_j that varies between environments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name in words, for people.
    pub name: &'static str,
    /// Symbol and unit.
    pub quantity: Quantity,
    /// Smallest and largest value that the simulator accepts.
    pub allowed: (f64, f64),
    /// Range of the test environments.
    pub test: (f64, f64),
    /// A typical value, where a demonstration starts.
    pub typical: f64,
}

/// What a system is, for lists, forms, axes and checks.
#[derive(Debug)]
pub struct Description {
    /// Name in links and on the command line, such as `charges-dipole`.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// The equation that is learned, in plain text.
    pub equation: &'static str,
    /// The parameters φ.
    pub parameters: &'static [Parameter],
    /// The input features x.
    pub inputs: &'static [Quantity],
    /// The target y.
    pub target: Quantity,
    /// Whether all tasks have the same input points.
    pub shares_inputs: bool,
    /// Whether y is affine in φ.
    pub affine: bool,
}

impl Description {
    /// The usual parameters φ.
    pub fn typical(&self) -> Vec<f64> {
        let parameters = self.parameters.iter();
        parameters.map(|parameter| parameter.typical).collect()
    }
}

/// Points in the input space, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Numbers in a row.
    pub dim: usize,
    /// All rows, one after the other.
    pub values: Vec<f64>,
}

impl Samples {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.dim..(i + 1) * self.dim]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.dim)
    }
}

/// The data of one environment. Tasks with shared inputs hold the same `Arc`.
#[derive(Clone, Debug)]
pub struct Task {
    /// The physical parameters φ of the environment.
    pub parameters: Vec<f64>,
    /// The inputs x.
    pub inputs: Arc<Samples>,
    /// The targets y, one an input row.
    pub targets: Vec<f64>,
}

/// Which environments to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// The paper's training environments.
    Train,
    /// Random environments inside the training range.
    Test,
    /// Environments outside of what training has seen.
    OutOfDomain,
}

/// Why a system cannot be made or simulated.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SystemError {
    /// No system has this name.
    #[error("there is no system '{0}'; the systems are {names}", names = NAMES.join(", "))]
    UnknownSystem(String),
    /// φ has the wrong length.
    #[error("{system} has {expected} parameters, but {given} were given")]
    ParameterCount {
        /// System name.
        system: &'static str,
        /// Parameters it has.
        expected: usize,
        /// Parameters given.
        given: usize,
    },
    /// A parameter outside its allowed range, or not a number.
    #[error("{name} must be between {min} and {max} {unit}, but is {value}")]
    ParameterRange {
        /// Parameter name.
        name: String,
        /// Given value.
        value: f64,
        /// Smallest allowed value.
        min: f64,
        /// Largest allowed value.
        max: f64,
        /// Unit.
        unit: &'static str,
    },
    /// A geometry, setting or combination that makes no physical sense.
    #[error("{0}")]
    Invalid(String),
    /// The simulation left the finite numbers.
    #[error("the simulation of {system} diverged at step {step}; use a smaller input or time step")]
    Diverged {
        /// System name.
        system: &'static str,
        /// Step at which it diverged.
        step: usize,
    },
}

/// A physical system with varying parameters.
pub trait System: Portrait {
    /// Names, units and ranges.
    fn description(&self) -> &Description;

    /// The parameters φ of the environments of a split, as many as the paper uses.
    fn environments(&self, split: Split, seed: u64) -> Vec<Vec<f64>>;

    /// The samples of one environment. Training tasks follow the paper's sampling; `seed` fixes
    /// random starts and random points.
    fn task(&self, parameters: &[f64], split: Split, seed: u64) -> Result<Task, SystemError>;

    /// Whether the samples of an environment depend on the seed of [`System::task`].
    fn has_random_samples(&self) -> bool {
        true
    }

    /// The system as a robot, if it moves.
    fn robot(&self) -> Option<&dyn Robot> {
        None
    }

    /// The system as a static field, if it has one.
    fn field(&self) -> Option<&dyn Field> {
        None
    }

    /// Checks φ against the allowed ranges.
    fn check(&self, parameters: &[f64]) -> Result<(), SystemError> {
        check_parameters(self.description(), parameters)
    }
}

/// A system that moves under a scalar input u.
pub trait Robot: System {
    /// Names and units of the state, in order.
    fn state(&self) -> &'static [Quantity];

    /// Time between two samples [s].
    fn time_step(&self) -> f64;

    /// Time derivative of the state under input `u`.
    fn derivative(&self, parameters: &[f64], state: &[f64], input: f64) -> Vec<f64>;

    /// The state one time step later, with the system's own integrator and limits.
    fn step(&self, parameters: &[f64], state: &[f64], input: f64) -> Vec<f64>;

    /// Brings a state back within the limits of the simulation (speeds), after each step.
    fn limit(&self, _state: &mut [f64]) {}

    /// The input features x of the model, from the state and the one that follows it.
    fn features(&self, state: &[f64], next: &[f64]) -> Vec<f64>;

    /// The input u that explains features x: the exact inverse dynamics.
    fn inverse(&self, parameters: &[f64], features: &[f64]) -> f64;

    /// Mechanical energy [J].
    fn energy(&self, parameters: &[f64], state: &[f64]) -> f64;

    /// The robot's picture in metres, for any canvas.
    fn sketch(&self, parameters: &[f64], state: &[f64]) -> Vec<Shape>;
}

/// A static field y(x) over a rectangle of the plane.
pub trait Field: System {
    /// Lower left and upper right corner of the domain [m].
    fn domain(&self) -> [[f64; 2]; 2];

    /// The field of one environment, solved once and then evaluated anywhere.
    fn solve(&self, parameters: &[f64]) -> Result<Box<dyn Potential>, SystemError>;

    /// Sources drawn over the field (charges, plates).
    fn sketch(&self, parameters: &[f64]) -> Vec<Shape>;
}

/// A solved potential.
pub trait Potential: Debug + Send + Sync {
    /// Value at a point of the domain.
    fn value(&self, x: [f64; 2]) -> f64;

    /// Gradient at a point; the drawn field is its negative.
    fn gradient(&self, x: [f64; 2]) -> [f64; 2];
}

/// What a shape stands for; the theme chooses the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Rails, ground, pivots.
    Ground,
    /// Main moving body.
    Body,
    /// Rods, poles and limbs.
    Limb,
    /// Joints, wheels, tips.
    Joint,
    /// Positive charge or plate.
    Positive,
    /// Negative charge or plate.
    Negative,
}

/// A drawing primitive in metres, y upwards.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Open line with a width [m].
    Line {
        /// Corners.
        points: Vec<[f64; 2]>,
        /// Width [m].
        width: f64,
        /// Meaning.
        role: Role,
    },
    /// Filled polygon.
    Polygon {
        /// Corners.
        points: Vec<[f64; 2]>,
        /// Meaning.
        role: Role,
    },
    /// Filled disc.
    Disc {
        /// Centre.
        centre: [f64; 2],
        /// Radius [m].
        radius: f64,
        /// Meaning.
        role: Role,
    },
}

impl Shape {
    /// What it stands for.
    pub fn role(&self) -> Role {
        match self {
            Self::Line { role, .. } | Self::Polygon { role, .. } | Self::Disc { role, .. } => *role,
        }
    }
}

/// Checks the count and the ranges of φ.
pub fn check_parameters(about: &Description, parameters: &[f64]) -> Result<(), SystemError> {
    if parameters.len() != about.parameters.len() {
        return Err(SystemError::ParameterCount {
            system: about.name,
            expected: about.parameters.len(),
            given: parameters.len(),
        });
    }
    for (parameter, &value) in about.parameters.iter().zip(parameters) {
        let (min, max) = parameter.allowed;
        if !(min..=max).contains(&value) {
            return Err(SystemError::ParameterRange {
                name: parameter.name.to_owned(),
                value,
                min,
                max,
                unit: parameter.quantity.unit,
            });
        }
    }
    Ok(())
}

/// All names that [`by_name`] knows.
pub const NAMES: [&str; 9] = [
    "pendulum",
    "charges-dipole",
    "charges-pair",
    "charges-quadrupole",
    "capacitor",
    "capacitor-eps",
    "cartpole",
    "arm",
    "upkie",
];

/// The system of a name with its charges at some places, in a box.
macro_rules! boxed {
    ($name:expr, $places:expr) => {
        Ok(match $name {
            "pendulum" => Box::new(pendulum::Pendulum::default()),
            "capacitor" => Box::new(capacitor::Capacitor::full()),
            "capacitor-eps" => Box::new(capacitor::Capacitor::small()),
            "cartpole" => Box::new(cartpole::Cartpole::default()),
            "arm" => Box::new(arm::Arm::default()),
            "upkie" => Box::new(upkie::Upkie::default()),
            name => Box::new(charges::Charges::by_name_at(name, $places)?),
        })
    };
}

/// The system of that name, with the paper's settings.
pub fn by_name(name: &str) -> Result<Box<dyn System>, SystemError> {
    boxed!(name, &[])
}

/// The system of that name with its charges at other places [m], as many as there are places; with
/// the paper's charges if there are none.
pub fn with_places(name: &str, places: &[[f64; 2]]) -> Result<Box<dyn System>, SystemError> {
    check_places(name, places)?;
    boxed!(name, places)
}

/// The portrait of [`with_places`].
pub fn portrait(name: &str, places: &[[f64; 2]]) -> Result<Box<dyn Portrait>, SystemError> {
    check_places(name, places)?;
    boxed!(name, places)
}

/// Only charges have places.
fn check_places(name: &str, places: &[[f64; 2]]) -> Result<(), SystemError> {
    let fixed = NAMES.contains(&name) && !name.starts_with("charges");
    if fixed && !places.is_empty() {
        return Err(SystemError::Invalid(format!(
            "{name} has no charges that could be moved"
        )));
    }
    Ok(())
}
