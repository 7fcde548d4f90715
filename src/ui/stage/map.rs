//! The potential of charges and plates as a picture.

use std::sync::Arc;

use crate::{
    charts::{Axis, FieldChart},
    systems::{
        Field, Shape, System, SystemError,
        capacitor::{Capacitor, Edges},
        charges::{Charges, MAX_CHARGES},
        field_lines::field_lines,
    },
};

/// Lower left and upper right corner of a rectangle [m].
type Window = [[f64; 2]; 2];

/// Values of the heat map along x1.
const COLUMNS: usize = 160;
/// Field lines that start at the sources.
const LINES: usize = 30;
/// Distance of a new charge from the measured rectangle [m].
const NEAR: f64 = 0.25;
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
    /// Charges that the visitor places.
    Charges {
        /// Those of the paper.
        usual: Arc<Charges>,
        /// What is seen.
        window: Window,
    },
    /// Plates.
    Plates(Arc<Capacitor>),
}

impl Source {
    /// The static field of that name. Charges at `places` are in the picture, and so are those of
    /// the paper.
    pub fn new(name: &str, places: &[[f64; 2]]) -> Result<Self, SystemError> {
        match name {
            "capacitor" => return Self::plates(1.0),
            "capacitor-eps" => return Self::plates(0.1),
            _ => {}
        }
        let unknown = || SystemError::UnknownSystem(name.to_owned());
        let usual = Charges::by_name(name).ok_or_else(unknown)?;
        let window = window(&usual, places);
        Ok(Self::Charges {
            usual: Arc::new(usual),
            window,
        })
    }

    fn plates(epsilon: f64) -> Result<Self, SystemError> {
        let capacitor = Capacitor::new(epsilon, NODES, Edges::Straight)?;
        Ok(Self::Plates(Arc::new(capacitor)))
    }

    /// Where the charges of the paper are; empty for plates.
    pub fn usual_places(&self) -> Vec<[f64; 2]> {
        match self {
            Self::Charges { usual, .. } => positions(usual),
            Self::Plates(_) => Vec::new(),
        }
    }

    /// The picture for parameters φ, with the charges at `places`.
    pub fn map(&self, phi: &[f64], places: &[[f64; 2]]) -> Result<FieldChart, SystemError> {
        match self {
            Self::Charges { usual, window } => {
                let charges = usual.moved(places)?;
                let mut chart = map(&charges, phi, *window)?;
                chart.lines.push(border(charges.domain()));
                Ok(chart)
            }
            Self::Plates(capacitor) => {
                capacitor.check(phi)?;
                map(&**capacitor, phi, self.window())
            }
        }
    }

    /// What is seen: all charges with room around, or the box.
    pub fn window(&self) -> Window {
        match self {
            Self::Charges { window, .. } => *window,
            Self::Plates(capacitor) => capacitor.domain(),
        }
    }

    /// Where one more charge has room: near the measured rectangle, far from the others [m]. None
    /// if there are as many as can be, or plates.
    pub fn vacancy(&self, places: &[[f64; 2]]) -> Option<[f64; 2]> {
        let Self::Charges { usual, .. } = self else {
            return None;
        };
        let distance = |x: &[f64; 2]| {
            let to = |place: &[f64; 2]| (x[0] - place[0]).hypot(x[1] - place[1]);
            places.iter().map(to).fold(f64::INFINITY, f64::min)
        };
        let [low, high] = usual.domain();
        let at = |share: f64, axis: usize| low[axis] + share * (high[axis] - low[axis]);
        let around = [0.0, 0.25, 0.5, 0.75, 1.0].into_iter().flat_map(|share| {
            [
                [at(share, 0), low[1] - NEAR],
                [at(share, 0), high[1] + NEAR],
                [low[0] - NEAR, at(share, 1)],
                [high[0] + NEAR, at(share, 1)],
            ]
        });
        around
            .filter(|_| places.len() < MAX_CHARGES)
            .max_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

fn positions(charges: &Charges) -> Vec<[f64; 2]> {
    charges.sites().iter().map(|site| site.position).collect()
}

/// The measured rectangle and all charges, with room around.
fn window(usual: &Charges, places: &[[f64; 2]]) -> Window {
    let [mut low, mut high] = usual.domain();
    for place in positions(usual).iter().chain(places) {
        for axis in 0..2 {
            low[axis] = low[axis].min(place[axis]);
            high[axis] = high[axis].max(place[axis]);
        }
    }
    widened([low.map(|x| x - MARGIN), high.map(|x| x + MARGIN)])
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
            let source = Source::new(name, &[]).unwrap();
            let map = source.map(&usual(name), &source.usual_places()).unwrap();
            assert!(map.values.iter().all(|y| y.is_finite()), "{name}");
            assert!(map.lines.len() > 10 && map.outlines.len() > 1, "{name}");
        }
    }

    #[test]
    fn all_charges_are_in_the_picture() {
        for name in &FIELDS[..3] {
            let source = Source::new(name, &[]).unwrap();
            let [low, high] = source.window();
            for place in source.usual_places() {
                assert!(
                    (0..2).all(|k| low[k] < place[k] && place[k] < high[k]),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn coincident_charges_and_touching_plates_are_refused_with_a_reason() {
        let pair = Source::new("charges-pair", &[]).unwrap();
        let error = pair.map(&[1.0, 1.0], &[[1.1, 0.0]; 2]).unwrap_err();
        assert!(error.to_string().contains("away from charge 1"), "{error}");
        let inside = pair
            .map(&[1.0, 1.0], &[[0.0, 0.5], [1.1, 0.0]])
            .unwrap_err();
        assert!(
            inside.to_string().contains("measured rectangle"),
            "{inside}"
        );
        let plates = Source::new("capacitor", &[]).unwrap();
        assert!(plates.map(&[0.7, 0.0], &[]).is_err());
    }

    #[test]
    fn a_visitor_adds_charges_until_there_are_eight_and_all_are_seen() {
        let far = [[-6.0, 2.0]];
        for name in &FIELDS[..3] {
            let source = Source::new(name, &far).unwrap();
            let [low, high] = source.window();
            assert!(low[0] < -6.0 && high[1] > 2.0);
            let mut places = far.to_vec();
            while let Some(place) = source.vacancy(&places) {
                assert!((0..2).all(|k| low[k] < place[k] && place[k] < high[k]));
                places.push(place);
                source.map(&vec![1.0; places.len()], &places).unwrap();
            }
            assert_eq!(places.len(), MAX_CHARGES, "{name}");
        }
        let plates = Source::new("capacitor", &[]).unwrap();
        assert_eq!(plates.vacancy(&[]), None);
    }

    #[test]
    fn a_moved_charge_moves_the_potential() {
        let source = Source::new("charges-pair", &[]).unwrap();
        let mut places = source.usual_places();
        let before = source.map(&[2.0, 2.0], &places).unwrap();
        places[0] = [-1.4, 0.5];
        assert_ne!(
            before.values,
            source.map(&[2.0, 2.0], &places).unwrap().values
        );
    }
}
