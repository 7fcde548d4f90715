//! The potential of charges and plates as a picture.

use std::sync::Arc;

use crate::{
    charts::{Axis, FieldChart},
    systems::{
        Field, Shape, System, SystemError,
        capacitor::{Capacitor, Edges},
        charges::{Charges, Site},
        field_lines::field_lines,
    },
};

/// Lower left and upper right corner of a rectangle [m].
type Window = [[f64; 2]; 2];

/// Values of the heat map along x1.
const COLUMNS: usize = 160;
/// Field lines that start at the sources.
const LINES: usize = 30;
/// Room around charges in the picture [m].
const MARGIN: f64 = 0.5;
/// Width of the picture of charges over its height.
const RATIO: f64 = 1.75;
/// Radius of a charge in the picture, as a part of its width.
const CHARGE: f64 = 0.017;
/// Nodes of the capacitor's grid: half of the paper's along each axis, so that a solution takes
/// less than the time of a frame or two.
const NODES: [usize; 2] = [150, 100];

/// A static field whose charges can be moved.
#[derive(Clone)]
pub enum Source {
    /// Charges at the places given by the visitor.
    Charges {
        /// The places of the paper, with their signs.
        sites: Vec<Site>,
        /// Where the potential is measured.
        domain: Window,
    },
    /// Plates.
    Plates(Arc<Capacitor>),
}

impl Source {
    /// The static field of that name.
    pub fn by_name(name: &str) -> Result<Self, SystemError> {
        let charges = match name {
            "charges-dipole" => Charges::dipole(),
            "charges-pair" => Charges::pair(),
            "charges-quadrupole" => Charges::quadrupole(),
            "capacitor" => return Self::plates(1.0),
            "capacitor-eps" => return Self::plates(0.1),
            _ => return Err(SystemError::UnknownSystem(name.to_owned())),
        };
        Ok(Self::Charges {
            sites: charges.sites().to_vec(),
            domain: charges.domain(),
        })
    }

    fn plates(epsilon: f64) -> Result<Self, SystemError> {
        let capacitor = Capacitor::new(epsilon, NODES, Edges::Straight)?;
        Ok(Self::Plates(Arc::new(capacitor)))
    }

    /// Where the charges are at first; empty for plates.
    pub fn places(&self) -> Vec<[f64; 2]> {
        match self {
            Self::Charges { sites, .. } => sites.iter().map(|site| site.position).collect(),
            Self::Plates(_) => Vec::new(),
        }
    }

    /// The picture for parameters φ, with the charges at `places`.
    pub fn map(&self, phi: &[f64], places: &[[f64; 2]]) -> Result<FieldChart, SystemError> {
        match self {
            Self::Charges { sites, domain } => {
                let moved: Vec<_> = sites
                    .iter()
                    .zip(places)
                    .map(|(site, &position)| Site { position, ..*site })
                    .collect();
                let charges = Charges::new(&moved, *domain)?;
                let mut chart = map(&charges, phi, self.window())?;
                chart.lines.push(border(*domain));
                Ok(chart)
            }
            Self::Plates(capacitor) => {
                capacitor.check(phi)?;
                map(&**capacitor, phi, self.window())
            }
        }
    }

    /// What is seen: all charges at their first places with room around, or the box.
    pub fn window(&self) -> Window {
        match self {
            Self::Charges { sites, domain } => {
                let [mut low, mut high] = *domain;
                for (site, axis) in sites.iter().flat_map(|site| [(site, 0), (site, 1)]) {
                    low[axis] = low[axis].min(site.position[axis]);
                    high[axis] = high[axis].max(site.position[axis]);
                }
                widened([low.map(|x| x - MARGIN), high.map(|x| x + MARGIN)])
            }
            Self::Plates(capacitor) => capacitor.domain(),
        }
    }
}

/// The same rectangle, made wider or higher to the ratio of the picture.
fn widened([mut low, mut high]: Window) -> Window {
    let (width, height) = (high[0] - low[0], high[1] - low[1]);
    let (axis, missing) = if width < RATIO * height {
        (0, RATIO * height - width)
    } else {
        (1, width / RATIO - height)
    };
    low[axis] -= missing / 2.0;
    high[axis] += missing / 2.0;
    [low, high]
}

fn map(field: &dyn Field, phi: &[f64], window: Window) -> Result<FieldChart, SystemError> {
    let potential = field.solve(phi)?;
    let mut sources = field.sketch(phi);
    for source in &mut sources {
        if let Shape::Disc { radius, .. } = source {
            *radius = CHARGE * (window[1][0] - window[0][0]);
        }
    }
    let about = field.description();
    Ok(FieldChart {
        title: about.title.to_owned(),
        quantity: Axis::linear("potential y", about.target.unit),
        lines: field_lines(&*potential, &sources, window, LINES),
        outlines: FieldChart::outlines_of(&sources),
        ..FieldChart::sample(window, COLUMNS, |x| potential.value(x))
    })
}

fn border([low, high]: Window) -> Vec<[f64; 2]> {
    vec![low, [high[0], low[1]], high, [low[0], high[1]], low]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::by_name;

    const FIELDS: [&str; 5] = [
        "charges-dipole",
        "charges-pair",
        "charges-quadrupole",
        "capacitor",
        "capacitor-eps",
    ];

    fn usual(name: &str) -> Vec<f64> {
        let system = by_name(name).unwrap();
        system
            .description()
            .parameters
            .iter()
            .map(|p| p.typical)
            .collect()
    }

    #[test]
    fn every_field_has_a_finite_map_with_lines_and_sources() {
        for name in FIELDS {
            let source = Source::by_name(name).unwrap();
            let map = source.map(&usual(name), &source.places()).unwrap();
            assert!(map.values.iter().all(|y| y.is_finite()), "{name}");
            assert!(map.lines.len() > 10 && map.outlines.len() > 1, "{name}");
        }
    }

    #[test]
    fn all_charges_are_in_the_picture() {
        for name in &FIELDS[..3] {
            let source = Source::by_name(name).unwrap();
            let [low, high] = source.window();
            for place in source.places() {
                assert!(
                    (0..2).all(|k| low[k] < place[k] && place[k] < high[k]),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn coincident_charges_and_touching_plates_are_refused_with_a_reason() {
        let pair = Source::by_name("charges-pair").unwrap();
        let error = pair.map(&[1.0, 1.0], &[[1.1, 0.0]; 2]).unwrap_err();
        assert!(error.to_string().contains("away from charge 1"), "{error}");
        let inside = pair
            .map(&[1.0, 1.0], &[[0.0, 0.5], [1.1, 0.0]])
            .unwrap_err();
        assert!(
            inside.to_string().contains("measured rectangle"),
            "{inside}"
        );
        let plates = Source::by_name("capacitor").unwrap();
        assert!(plates.map(&[0.7, 0.0], &[]).is_err());
    }

    #[test]
    fn a_moved_charge_moves_the_potential() {
        let source = Source::by_name("charges-pair").unwrap();
        let mut places = source.places();
        let before = source.map(&[2.0, 2.0], &places).unwrap();
        places[0] = [-1.4, 0.5];
        assert_ne!(
            before.values,
            source.map(&[2.0, 2.0], &places).unwrap().values
        );
    }
}
