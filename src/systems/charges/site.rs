//! `s_j / |x − x_j|`: one place for a charge, and which places are allowed.

use crate::systems::SystemError;

/// Largest number of charges.
pub const MAX_CHARGES: usize = 8;
/// Charges may not be closer than this to each other or to the measured rectangle [m].
const LEAST_DISTANCE: f64 = 0.02;
/// Largest coordinate of a charge or a corner [m].
const LARGEST_COORDINATE: f64 = 10.0;

/// Sign s_j of a charge with φ_j > 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// s = +1.
    Plus,
    /// s = −1.
    Minus,
}

impl Sign {
    /// +1 or −1.
    pub fn factor(self) -> f64 {
        match self {
            Self::Plus => 1.0,
            Self::Minus => -1.0,
        }
    }
}

/// A place for a charge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// Position x_j [m], up to 10 m from the origin along each axis.
    pub position: [f64; 2],
    /// Sign s_j.
    pub sign: Sign,
}

impl Site {
    /// A place for a charge with s = +1.
    pub fn plus(position: [f64; 2]) -> Self {
        Self {
            position,
            sign: Sign::Plus,
        }
    }

    /// A place for a charge with s = −1.
    pub fn minus(position: [f64; 2]) -> Self {
        Self {
            position,
            sign: Sign::Minus,
        }
    }

    /// `s_j / |x − x_j|` [1/m], finite even at the charge itself.
    pub fn unit_potential(&self, x: [f64; 2]) -> f64 {
        self.sign.factor() / self.distance(x)
    }

    /// Distance of a point, never quite zero [m].
    pub(super) fn distance(&self, x: [f64; 2]) -> f64 {
        let offset = [x[0] - self.position[0], x[1] - self.position[1]];
        (offset[0] * offset[0] + offset[1] * offset[1])
            .sqrt()
            .max(1e-9)
    }
}

/// Refuses too few, too many, misplaced and coincident charges.
pub(super) fn check_sites(sites: &[Site], domain: [[f64; 2]; 2]) -> Result<(), SystemError> {
    check_domain(domain)?;
    if !(1..=MAX_CHARGES).contains(&sites.len()) {
        return Err(SystemError::Invalid(format!(
            "there must be 1 to {MAX_CHARGES} charges, but there are {}",
            sites.len()
        )));
    }
    for (j, site) in sites.iter().enumerate() {
        check_site(j, site, &sites[..j], domain)?;
    }
    Ok(())
}

fn check_domain([low, high]: [[f64; 2]; 2]) -> Result<(), SystemError> {
    for axis in 0..2 {
        let bounds = [low[axis], high[axis]];
        let in_range = bounds.iter().all(|x| x.abs() <= LARGEST_COORDINATE);
        if !(in_range && bounds[1] - bounds[0] >= LEAST_DISTANCE) {
            return Err(SystemError::Invalid(format!(
                "the domain must lie within ±{LARGEST_COORDINATE} m and be {LEAST_DISTANCE} m or \
                 more long, but reaches from {} to {} m along x{}",
                bounds[0],
                bounds[1],
                axis + 1
            )));
        }
    }
    Ok(())
}

fn check_site(
    j: usize,
    site: &Site,
    earlier: &[Site],
    [low, high]: [[f64; 2]; 2],
) -> Result<(), SystemError> {
    let [x1, x2] = site.position;
    let charge = format!("charge {} at ({x1}, {x2}) m", j + 1);
    if !site.position.iter().all(|x| x.abs() <= LARGEST_COORDINATE) {
        return Err(SystemError::Invalid(format!(
            "{charge} must lie within ±{LARGEST_COORDINATE} m along both axes"
        )));
    }
    let outside = [0, 1].map(|axis| {
        let x = site.position[axis];
        (low[axis] - x).max(x - high[axis]).max(0.0)
    });
    let distance = outside[0].hypot(outside[1]);
    if distance < LEAST_DISTANCE {
        return Err(SystemError::Invalid(format!(
            "{charge} must be {LEAST_DISTANCE} m or more outside the measured rectangle, \
             [{}, {}] × [{}, {}] m, but its distance is {distance:.4} m",
            low[0], high[0], low[1], high[1]
        )));
    }
    for (other, site) in earlier.iter().enumerate() {
        let distance = (site.position[0] - x1).hypot(site.position[1] - x2);
        if distance < LEAST_DISTANCE {
            return Err(SystemError::Invalid(format!(
                "{charge} must be {LEAST_DISTANCE} m or more away from charge {}, but its \
                 distance is {distance:.4} m",
                other + 1
            )));
        }
    }
    Ok(())
}
