//! `y(x) = Σ_j φ_j s_j / |x − x_j|`: the potential of n point charges, linear in the charges φ.
//!
//! The charges sit at fixed places x_j with fixed signs s_j = ±1, outside the rectangle where the
//! potential is measured (paper, sections 5.1 and A.5). Coulomb's constant is part of the charge,
//! so φ is in V m. Every training task is sampled on the same grid of 20 × 20 points.

mod site;

use std::sync::Arc;

use nalgebra::DMatrix;
use rand::RngExt as _;

use self::site::check_sites;
pub use self::site::{MAX_CHARGES, Sign, Site};
use super::{
    Description, Field, Parameter, Potential, Quantity, Role, Samples, Shape, Split, System,
    SystemError, Task, check_parameters, grid::Grid,
};
use crate::random::generator;

/// Training points along x1 and x2.
const TRAINING_GRID: [usize; 2] = [20, 20];
/// Points of a test task.
const TEST_POINTS: usize = 400;
/// Test environments, and as many out of domain.
const TEST: usize = 30;
/// Random streams of the test and out-of-domain charges and of their points.
const STREAMS: [u64; 3] = [301, 302, 303];
/// Radius of a charge in pictures [m].
const DISC_RADIUS: f64 = 0.05;

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

/// Charges that are trained on 1, 2, … 5.
static FEW: [Parameter; MAX_CHARGES] = parameters(5);
/// Charges that are trained on 1 and 2: four or more of them already make 2ⁿ tasks.
static MANY: [Parameter; MAX_CHARGES] = parameters(2);

const fn parameters(largest: usize) -> [Parameter; MAX_CHARGES] {
    const NAMES: [[&str; 2]; MAX_CHARGES] = [
        ["charge 1", "φ1"],
        ["charge 2", "φ2"],
        ["charge 3", "φ3"],
        ["charge 4", "φ4"],
        ["charge 5", "φ5"],
        ["charge 6", "φ6"],
        ["charge 7", "φ7"],
        ["charge 8", "φ8"],
    ];
    let mut all = [charge(NAMES[0], largest); MAX_CHARGES];
    let mut j = 1;
    while j < MAX_CHARGES {
        all[j] = charge(NAMES[j], largest);
        j += 1;
    }
    all
}

const fn charge([name, symbol]: [&'static str; 2], largest: usize) -> Parameter {
    Parameter {
        name,
        quantity: Quantity {
            symbol,
            unit: "V m",
        },
        allowed: (-10.0, 10.0),
        test: (1.0, largest as f64),
        typical: 0.5 * (1 + largest) as f64,
    }
}

/// Point charges around a rectangle in which their potential is measured.
#[derive(Debug)]
pub struct Charges {
    about: Description,
    sites: Vec<Site>,
    domain: [[f64; 2]; 2],
    grid: Arc<Samples>,
}

impl Charges {
    /// A far charge and two near ones of opposite sign (n = 3, 125 training tasks).
    pub fn dipole() -> Self {
        let sites = [
            Site::plus([-3.0, 0.0]),
            Site::plus([0.2, -0.1]),
            Site::minus([-0.2, -0.1]),
        ];
        let titles = ["charges-dipole", "Point charges, dipole"];
        Self::build(titles, &sites, [[-1.0, 0.0], [1.0, 1.0]])
    }

    /// Two charges of the same sign (n = 2, 25 training tasks).
    pub fn pair() -> Self {
        let sites = [Site::plus([-1.1, 0.0]), Site::plus([1.1, 0.0])];
        let titles = ["charges-pair", "Point charges, pair"];
        Self::build(titles, &sites, [[-1.0, 0.0], [1.0, 1.0]])
    }

    /// Four charges around a square (n = 4, 16 training tasks).
    pub fn quadrupole() -> Self {
        let sites = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]].map(Site::plus);
        let titles = ["charges-quadrupole", "Point charges, quadrupole"];
        Self::build(titles, &sites, [[-0.5, -0.5], [0.5, 0.5]])
    }

    /// One to eight charges at the given places, measured between the lower left and the upper
    /// right corner of `domain` [m].
    pub fn new(sites: &[Site], domain: [[f64; 2]; 2]) -> Result<Self, SystemError> {
        check_sites(sites, domain)?;
        Ok(Self::build(["charges", "Point charges"], sites, domain))
    }

    /// The charges of the paper of that name, if they are charges.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "charges-dipole" => Some(Self::dipole()),
            "charges-pair" => Some(Self::pair()),
            "charges-quadrupole" => Some(Self::quadrupole()),
            _ => None,
        }
    }

    /// The charges of the paper of that name, at other places unless there are none.
    pub(super) fn by_name_at(name: &str, places: &[[f64; 2]]) -> Result<Self, SystemError> {
        let unknown = || SystemError::UnknownSystem(name.to_owned());
        let usual = Self::by_name(name).ok_or_else(unknown)?;
        if places.is_empty() {
            return Ok(usual);
        }
        usual.moved(places)
    }

    /// One to eight charges at other places [m]. The first ones keep their signs s; those that are
    /// added have s = +1, so that the sign of φ is that of the charge.
    pub fn moved(&self, places: &[[f64; 2]]) -> Result<Self, SystemError> {
        let Description { name, title, .. } = self.about;
        let signs = self.sites.iter().map(|site| site.sign);
        let signs = signs.chain(std::iter::repeat(Sign::Plus));
        let at = |(&position, sign)| Site { position, sign };
        let sites: Vec<_> = places.iter().zip(signs).map(at).collect();
        check_sites(&sites, self.domain)?;
        Ok(Self::build([name, title], &sites, self.domain))
    }

    fn build([name, title]: [&'static str; 2], sites: &[Site], domain: [[f64; 2]; 2]) -> Self {
        let parameters = if sites.len() <= 3 { &FEW } else { &MANY };
        let about = Description {
            name,
            title,
            equation: "y(x) = Σ φ_j s_j / |x − x_j|",
            parameters: &parameters[..sites.len()],
            inputs: &INPUTS,
            target: Quantity {
                symbol: "y",
                unit: "V",
            },
            shares_inputs: true,
            affine: true,
        };
        let grid = Arc::new(Grid::fixed(TRAINING_GRID, domain).samples());
        Self {
            about,
            sites: sites.to_vec(),
            domain,
            grid,
        }
    }

    /// The places of the charges, in the order of φ.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The ideal features V: one row a point, one column a charge, so that y = V φ.
    pub fn features(&self, points: &Samples) -> DMatrix<f64> {
        DMatrix::from_fn(points.len(), self.sites.len(), |row, column| {
            let point = points.row(row);
            self.sites[column].unit_potential([point[0], point[1]])
        })
    }

    /// The error that is left in the charges when they are fitted with ideal features to these
    /// points under noise σ [V]: `√(σ² trace (VᵀV)⁻¹ / n)` [V m].
    pub fn noise_floor(&self, points: &Samples, sigma: f64) -> Result<f64, SystemError> {
        if !(sigma >= 0.0 && sigma.is_finite()) {
            return Err(SystemError::Invalid(format!(
                "the noise σ must be zero or a positive number, but is {sigma}"
            )));
        }
        let (n, shots) = (self.sites.len(), points.len());
        let features = self.features(points);
        let covariance = (features.tr_mul(&features))
            .cholesky()
            .filter(|_| shots >= n);
        let covariance = covariance.ok_or_else(|| {
            SystemError::Invalid(format!(
                "{n} charges cannot be told apart from {shots} points"
            ))
        })?;
        Ok(sigma * (covariance.inverse().trace() / n as f64).sqrt())
    }

    /// Uniform random points of the measured rectangle.
    pub fn random_points(&self, count: usize, seed: u64) -> Samples {
        let mut random = generator(seed, STREAMS[2]);
        let [low, high] = self.domain;
        let mut values = Vec::with_capacity(2 * count);
        for _ in 0..count {
            for axis in 0..2 {
                values.push(low[axis] + random.random::<f64>() * (high[axis] - low[axis]));
            }
        }
        Samples { dim: 2, values }
    }

    fn random_charges(&self, seed: u64) -> Vec<Vec<f64>> {
        let mut random = generator(seed, STREAMS[0]);
        let mut draw = |parameter: &Parameter| {
            let (low, high) = parameter.test;
            low + random.random::<f64>() * (high - low)
        };
        (0..TEST)
            .map(|_| self.about.parameters.iter().map(&mut draw).collect())
            .collect()
    }

    /// Unit charges of alternating sign, then random ones of which at least one is negative.
    fn negative_charges(&self, seed: u64) -> Vec<Vec<f64>> {
        let n = self.sites.len();
        let alternating = (0..n)
            .map(|j| if j % 2 == 1 || n == 1 { -1.0 } else { 1.0 })
            .collect();
        let mut random = generator(seed, STREAMS[1]);
        let mut negate = |mut charges: Vec<f64>| {
            let flips = random.random_range(1..1_u32 << n);
            for (j, charge) in charges.iter_mut().enumerate() {
                if flips >> j & 1 == 1 {
                    *charge = -*charge;
                }
            }
            charges
        };
        let others = self
            .random_charges(seed)
            .into_iter()
            .skip(1)
            .map(&mut negate);
        std::iter::once(alternating).chain(others).collect()
    }
}

impl System for Charges {
    fn description(&self) -> &Description {
        &self.about
    }

    /// The first out-of-domain environment has unit charges of alternating sign, as in the paper's
    /// quadrupole figure.
    fn environments(&self, split: Split, seed: u64) -> Vec<Vec<f64>> {
        match split {
            Split::Train => all_combinations(self.about.parameters),
            Split::Test => self.random_charges(seed),
            Split::OutOfDomain => self.negative_charges(seed),
        }
    }

    /// The shared grid in training, otherwise 400 random points, the same for the same seed.
    fn task(&self, parameters: &[f64], split: Split, seed: u64) -> Result<Task, SystemError> {
        let potential = self.potential(parameters)?;
        let inputs = match split {
            Split::Train => self.grid.clone(),
            _ => Arc::new(self.random_points(TEST_POINTS, seed)),
        };
        let targets = inputs
            .rows()
            .map(|x| potential.value([x[0], x[1]]))
            .collect();
        Ok(Task {
            parameters: parameters.to_vec(),
            inputs,
            targets,
        })
    }

    fn field(&self) -> Option<&dyn Field> {
        Some(self)
    }
}

/// All charges 1, 2, … up to the largest test charge, for each parameter.
fn all_combinations(parameters: &[Parameter]) -> Vec<Vec<f64>> {
    parameters
        .iter()
        .fold(vec![Vec::new()], |combinations, parameter| {
            let levels = 1..=parameter.test.1 as usize;
            let extend = |charges: Vec<f64>| {
                levels
                    .clone()
                    .map(move |level| [charges.as_slice(), &[level as f64]].concat())
            };
            combinations.into_iter().flat_map(extend).collect()
        })
}

impl Charges {
    /// The potential of one environment.
    pub fn potential(&self, parameters: &[f64]) -> Result<ChargesField, SystemError> {
        check_parameters(&self.about, parameters)?;
        let sources = self
            .sites
            .iter()
            .copied()
            .zip(parameters.iter().copied())
            .collect();
        Ok(ChargesField { sources })
    }
}

impl Field for Charges {
    fn domain(&self) -> [[f64; 2]; 2] {
        self.domain
    }

    fn solve(&self, parameters: &[f64]) -> Result<Box<dyn Potential>, SystemError> {
        Ok(Box::new(self.potential(parameters)?))
    }

    fn sketch(&self, parameters: &[f64]) -> Vec<Shape> {
        let disc = |(site, charge): (&Site, &f64)| Shape::Disc {
            centre: site.position,
            radius: DISC_RADIUS,
            role: match site.sign.factor() * charge {
                value if value > 0.0 => Role::Positive,
                value if value < 0.0 => Role::Negative,
                _ => Role::Ground,
            },
        };
        self.sites.iter().zip(parameters).map(disc).collect()
    }
}

/// The potential of charges of known size.
#[derive(Clone, Debug)]
pub struct ChargesField {
    sources: Vec<(Site, f64)>,
}

impl Potential for ChargesField {
    fn value(&self, x: [f64; 2]) -> f64 {
        self.sources
            .iter()
            .map(|(site, charge)| charge * site.unit_potential(x))
            .sum()
    }

    fn gradient(&self, x: [f64; 2]) -> [f64; 2] {
        let mut gradient = [0.0; 2];
        for (site, charge) in &self.sources {
            let factor = -charge * site.sign.factor() / site.distance(x).powi(3);
            for axis in 0..2 {
                gradient[axis] += factor * (x[axis] - site.position[axis]);
            }
        }
        gradient
    }
}

#[cfg(test)]
mod tests;
