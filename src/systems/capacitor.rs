//! `∇²y = 0`, `y = ±2 V` on two plates, `∂y/∂n = 0` on the walls; φ = (α, η) moves the upper plate.
//!
//! A box of 8 m × 4 m holds two plates of 4 m × 0.1 m (paper, sections 5.3 and A.5). The lower one
//! is centred at (0, −0.55) m at −2 V; the upper one at (η, 0.55) m at +2 V, turned by α about its
//! own centre. Training and test environments are uniform in α ∈ ε [0, 0.5], η ∈ ε [−0.5, 0.5]: for
//! small ε the potential is nearly affine in φ, for ε = 1 it is not.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rand::RngExt as _;

use super::{
    Description, Field, Parameter, Potential, Quantity, Role, Samples, Shape, Split, System,
    SystemError, Task, check_parameters,
    grid::{Grid, Nodes},
    laplace,
    plate::Plate,
};
use crate::random::generator;

/// Lower left and upper right corner of the box [m].
pub const DOMAIN: [[f64; 2]; 2] = [[-4.0, -2.0], [4.0, 2.0]];
/// The paper's grid: nodes along x1 and x2.
pub const GRID_SIZE: [usize; 2] = [300, 200];
/// Potential of the upper plate; the lower one has the opposite [V].
pub const VOLTAGE: f64 = 2.0;
/// Training environments.
const TRAINING: usize = 10;
/// Test environments, and as many out of domain.
const TEST: usize = 5;
/// Random streams of the environments of the three splits.
const STREAMS: [u64; 3] = [310, 311, 312];
/// Plates and walls may not be closer than this [m].
const LEAST_GAP: f64 = 0.01;
/// Smallest and largest number of nodes along x1 and x2; rows are closer than a plate is thick.
const SIZES: [(usize, usize); 2] = [(60, 1200), (44, 800)];
/// Smallest ε, in hundredths.
const LEAST_HUNDREDTHS: usize = 5;
/// Length and thickness of a plate [m].
const PLATE_SIZE: [f64; 2] = [4.0, 0.1];
/// Height of the plates' centres above and below the middle of the box [m].
const PLATE_HEIGHT: f64 = 0.55;
/// Position of the first adaptation point, of its neighbours and how many there are, along x1 and
/// x2, in nodes of the paper's grid.
const LATTICE: [(usize, usize, usize); 2] = [(20, 50, 6), (0, 30, 7)];

const INPUTS: [Quantity; 2] = [
    Quantity {
        symbol: "x1",
        unit: "m",
    },
    Quantity {
        symbol: "x2",
        unit: "m",
    },
];

/// Parameters (α, η) for each ε in hundredths.
static PARAMETERS: [[Parameter; 2]; 101] = {
    let mut table = [scaled_parameters(0); 101];
    let mut hundredths = 0;
    while hundredths <= 100 {
        table[hundredths] = scaled_parameters(hundredths);
        hundredths += 1;
    }
    table
};

const fn scaled_parameters(hundredths: usize) -> [Parameter; 2] {
    let half = 0.5 * hundredths as f64 / 100.0;
    [
        Parameter {
            name: "angle of the upper plate",
            quantity: Quantity {
                symbol: "α",
                unit: "rad",
            },
            allowed: (-0.75, 0.75),
            test: (0.0, half),
            typical: half / 2.0,
        },
        Parameter {
            name: "shift of the upper plate",
            quantity: Quantity {
                symbol: "η",
                unit: "m",
            },
            allowed: (-2.0, 2.0),
            test: (-half, half),
            typical: 0.0,
        },
    ]
}

/// Where a plate begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// At the outermost node inside it, as in the paper: a tilted plate has stairs, and the
    /// potential jumps a little whenever a node changes sides.
    Stairs,
    /// Where it really begins, between two nodes: the potential follows φ smoothly.
    Straight,
}

/// Two plates in a box, the upper one misaligned.
#[derive(Debug)]
pub struct Capacitor {
    about: Description,
    hundredths: usize,
    edges: Edges,
    grid: Grid,
    /// All nodes as inputs, listed when they are first needed.
    nodes: OnceLock<Arc<Samples>>,
    /// The last solution and its φ: samples, shots and picture of an environment share it.
    last: Mutex<Option<(Vec<f64>, CapacitorField)>>,
}

impl Capacitor {
    /// The paper's capacitor: misalignments of full size, ε = 1.
    pub fn full() -> Self {
        Self::build(100, Grid::fixed(GRID_SIZE, DOMAIN), Edges::Stairs)
    }

    /// The paper's ε-capacitor with ε = 0.1.
    pub fn small() -> Self {
        Self::build(10, Grid::fixed(GRID_SIZE, DOMAIN), Edges::Stairs)
    }

    /// A capacitor with misalignments of size ε, from 0.05 to 1 in steps of 0.01, on a grid of
    /// `size` nodes.
    pub fn new(epsilon: f64, size: [usize; 2], edges: Edges) -> Result<Self, SystemError> {
        for ((n, (least, most)), axis) in size.into_iter().zip(SIZES).zip(1..) {
            if !(least..=most).contains(&n) {
                return Err(SystemError::Invalid(format!(
                    "the grid must have {least} to {most} nodes along x{axis}, but has {n}"
                )));
            }
        }
        Ok(Self::build(
            hundredths(epsilon)?,
            Grid::new(size, DOMAIN)?,
            edges,
        ))
    }

    fn build(hundredths: usize, grid: Grid, edges: Edges) -> Self {
        let (name, title) = match hundredths {
            100 => ("capacitor", "Capacitor"),
            _ => ("capacitor-eps", "Capacitor, small misalignment"),
        };
        let about = Description {
            name,
            title,
            equation: "∇²y = 0, y = ±2 V on the plates, ∂y/∂n = 0 on the walls",
            parameters: &PARAMETERS[hundredths],
            inputs: &INPUTS,
            target: Quantity {
                symbol: "y",
                unit: "V",
            },
            shares_inputs: true,
            affine: false,
        };
        Self {
            about,
            hundredths,
            edges,
            grid,
            nodes: OnceLock::new(),
            last: Mutex::new(None),
        }
    }

    fn nodes(&self) -> &Arc<Samples> {
        self.nodes.get_or_init(|| Arc::new(self.grid.samples()))
    }

    /// Size of the misalignments.
    pub fn epsilon(&self) -> f64 {
        self.hundredths as f64 / 100.0
    }

    /// The grid of nodes; a task has one sample a node, in the grid's order.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The lower and the upper plate.
    pub fn plates(&self, parameters: &[f64]) -> Result<[Plate; 2], SystemError> {
        check_parameters(&self.about, parameters)?;
        let plates = plates(parameters[0], parameters[1]);
        let [lower, upper] = plates;
        let misalignment = format!(
            "an angle of {} rad and a shift of {} m",
            parameters[0], parameters[1]
        );
        let gap = lower.gap(&upper);
        if gap < LEAST_GAP {
            return Err(SystemError::Invalid(format!(
                "with {misalignment} the plates are {gap:.4} m apart, but must be {LEAST_GAP} m \
                 or more"
            )));
        }
        let room = upper.distance_to_walls(DOMAIN);
        if room < LEAST_GAP {
            return Err(SystemError::Invalid(format!(
                "with {misalignment} the upper plate leaves the box: its distance to the walls \
                 must be {LEAST_GAP} m or more, but is {room:.4} m"
            )));
        }
        Ok(plates)
    }

    /// The potential of one environment on the grid. The last one is kept.
    pub fn solve_grid(&self, parameters: &[f64]) -> Result<CapacitorField, SystemError> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((phi, field)) = &*last()
            && phi == parameters
        {
            return Ok(field.clone());
        }
        let field = self.solve_anew(parameters)?;
        *last() = Some((parameters.to_vec(), field.clone()));
        Ok(field)
    }

    fn solve_anew(&self, parameters: &[f64]) -> Result<CapacitorField, SystemError> {
        let [lower, upper] = self.plates(parameters)?;
        let given = |x: [f64; 2]| match (upper.contains(x), lower.contains(x)) {
            (true, _) => Some(VOLTAGE),
            (_, true) => Some(-VOLTAGE),
            _ => None,
        };
        let given: Vec<_> = self.grid.positions().map(given).collect();
        let entry = |free, fixed| match self.edges {
            Edges::Stairs => laplace::at_node(free, fixed),
            Edges::Straight if upper.contains(fixed) => upper.entry(free, fixed),
            Edges::Straight => lower.entry(free, fixed),
        };
        let solution = laplace::solve(&self.grid, &given, entry)?;
        Ok(CapacitorField {
            nodes: Nodes {
                grid: self.grid,
                values: solution.values,
            },
            iterations: solution.iterations,
            residual: solution.residual,
        })
    }

    /// Samples of a task that are the paper's 42 adaptation points: a lattice of 6 × 7 nodes, x2
    /// fastest. Every tenth of them makes the 5-shot adaptation.
    pub fn adaptation_rows(&self) -> Vec<usize> {
        let paper = Grid::fixed(GRID_SIZE, DOMAIN);
        let [along, up] =
            LATTICE.map(|(first, step, count)| (0..count).map(move |n| first + n * step));
        let points = along.flat_map(|i| up.clone().map(move |j| paper.position(i, j)));
        points
            .map(|point| {
                let [i, j] = self.grid.nearest(point);
                self.grid.index(i, j)
            })
            .collect()
    }

    /// The paper's 42 adaptation points [m].
    pub fn adaptation_points(&self) -> Samples {
        let rows = self.adaptation_rows().into_iter();
        Samples {
            dim: 2,
            values: rows
                .flat_map(|row| self.nodes().row(row))
                .copied()
                .collect(),
        }
    }
}

fn hundredths(epsilon: f64) -> Result<usize, SystemError> {
    let nearest = (100.0 * epsilon).round();
    let is_step = (100.0 * epsilon - nearest).abs() < 1e-9;
    if is_step && (LEAST_HUNDREDTHS as f64..=100.0).contains(&nearest) {
        Ok(nearest as usize)
    } else {
        Err(SystemError::Invalid(format!(
            "ε must be between 0.05 and 1 in steps of 0.01, but is {epsilon}"
        )))
    }
}

fn plates(angle: f64, shift: f64) -> [Plate; 2] {
    [
        Plate::new([0.0, -PLATE_HEIGHT], 0.0, PLATE_SIZE),
        Plate::new([shift, PLATE_HEIGHT], angle, PLATE_SIZE),
    ]
}

impl System for Capacitor {
    fn description(&self) -> &Description {
        &self.about
    }

    /// Out of domain, the upper plate is tilted the other way.
    fn environments(&self, split: Split, seed: u64) -> Vec<Vec<f64>> {
        let (count, stream, direction) = match split {
            Split::Train => (TRAINING, STREAMS[0], 1.0),
            Split::Test => (TEST, STREAMS[1], 1.0),
            Split::OutOfDomain => (TEST, STREAMS[2], -1.0),
        };
        let mut random = generator(seed, stream);
        let half = 0.5 * self.epsilon();
        let mut draw = || {
            let angle = direction * half * (1.0 - random.random::<f64>());
            vec![angle, half * (2.0 * random.random::<f64>() - 1.0)]
        };
        (0..count).map(|_| draw()).collect()
    }

    /// All nodes of the grid, the same in every environment and split.
    fn task(&self, parameters: &[f64], _: Split, _: u64) -> Result<Task, SystemError> {
        let targets = self.solve_grid(parameters)?.nodes.values;
        Ok(Task {
            parameters: parameters.to_vec(),
            inputs: self.nodes().clone(),
            targets,
        })
    }

    fn has_random_samples(&self) -> bool {
        false
    }

    fn field(&self) -> Option<&dyn Field> {
        Some(self)
    }

    fn check(&self, parameters: &[f64]) -> Result<(), SystemError> {
        self.plates(parameters).map(|_| ())
    }
}

impl Field for Capacitor {
    fn domain(&self) -> [[f64; 2]; 2] {
        DOMAIN
    }

    fn solve(&self, parameters: &[f64]) -> Result<Box<dyn Potential>, SystemError> {
        Ok(Box::new(self.solve_grid(parameters)?))
    }

    fn sketch(&self, parameters: &[f64]) -> Vec<Shape> {
        let Ok(plates) = self.plates(parameters) else {
            return Vec::new();
        };
        let roles = [Role::Negative, Role::Positive];
        let shape = |(plate, role): (Plate, Role)| Shape::Polygon {
            points: plate.corners().to_vec(),
            role,
        };
        plates.into_iter().zip(roles).map(shape).collect()
    }
}

/// A solved capacitor: the potential on the nodes, bilinear between them.
#[derive(Clone, Debug)]
pub struct CapacitorField {
    nodes: Nodes,
    iterations: usize,
    residual: f64,
}

impl CapacitorField {
    /// The grid of nodes.
    pub fn grid(&self) -> &Grid {
        &self.nodes.grid
    }

    /// The potential on all nodes, x1 fastest [V].
    pub fn values(&self) -> &[f64] {
        &self.nodes.values
    }

    /// Iterations of the solver.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Relative residual that the solver reached.
    pub fn residual(&self) -> f64 {
        self.residual
    }
}

impl Potential for CapacitorField {
    fn value(&self, x: [f64; 2]) -> f64 {
        self.nodes.value(x)
    }

    fn gradient(&self, x: [f64; 2]) -> [f64; 2] {
        self.nodes.gradient(x)
    }
}

#[cfg(test)]
mod tests;
