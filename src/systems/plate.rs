//! `|u| < length/2 and |v| < thickness/2`: a flat electrode, (u, v) along its own axes.

/// A rectangular plate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plate {
    centre: [f64; 2],
    /// Unit vector along the plate.
    axis: [f64; 2],
    size: [f64; 2],
}

impl Plate {
    /// A plate around a centre [m], turned counter-clockwise from x1 by an angle [rad], of a length
    /// and a thickness [m].
    pub fn new(centre: [f64; 2], angle: f64, size: [f64; 2]) -> Self {
        Self {
            centre,
            axis: [angle.cos(), angle.sin()],
            size,
        }
    }

    /// Whether a point is inside.
    pub fn contains(&self, x: [f64; 2]) -> bool {
        let [along, across] = self.own_axes(x);
        along.abs() < self.size[0] / 2.0 && across.abs() < self.size[1] / 2.0
    }

    /// The part of the way from a point outside to one inside at which the plate begins.
    pub fn entry(&self, outside: [f64; 2], inside: [f64; 2]) -> f64 {
        let (from, to) = (self.own_axes(outside), self.own_axes(inside));
        let entry = |axis: usize| {
            let side = from[axis].signum();
            let to_face = side * from[axis] - self.size[axis] / 2.0;
            if to_face > 0.0 {
                to_face / (side * (from[axis] - to[axis]))
            } else {
                0.0
            }
        };
        entry(0).max(entry(1))
    }

    /// Position along and across the plate, from its centre.
    fn own_axes(&self, x: [f64; 2]) -> [f64; 2] {
        let [cos, sin] = self.axis;
        let offset = [x[0] - self.centre[0], x[1] - self.centre[1]];
        [
            offset[0] * cos + offset[1] * sin,
            offset[1] * cos - offset[0] * sin,
        ]
    }

    /// The four corners, counter-clockwise.
    pub fn corners(&self) -> [[f64; 2]; 4] {
        let [cos, sin] = self.axis;
        [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(|[u, v]| {
            let (along, across) = (u * self.size[0], v * self.size[1]);
            [
                self.centre[0] + along * cos - across * sin,
                self.centre[1] + along * sin + across * cos,
            ]
        })
    }

    /// Distance between two plates [m], zero if they touch or overlap.
    pub fn gap(&self, other: &Self) -> f64 {
        let (mine, theirs) = (self.corners(), other.corners());
        if overlap(&mine, &theirs) {
            return 0.0;
        }
        distance_to_edges(&mine, &theirs).min(distance_to_edges(&theirs, &mine))
    }

    /// Distance between the plate and the walls of a box [m], negative if it reaches through one.
    pub fn distance_to_walls(&self, [low, high]: [[f64; 2]; 2]) -> f64 {
        let within =
            |x: [f64; 2]| [0, 1].map(|axis| (x[axis] - low[axis]).min(high[axis] - x[axis]));
        self.corners()
            .into_iter()
            .flat_map(within)
            .fold(f64::INFINITY, f64::min)
    }
}

/// Whether no edge of either convex polygon separates them.
fn overlap(a: &[[f64; 2]; 4], b: &[[f64; 2]; 4]) -> bool {
    let separates = |from: &[[f64; 2]; 4], to: &[[f64; 2]; 4]| {
        edges(from).any(|(p, q)| {
            to.iter()
                .all(|x| (q[0] - p[0]) * (x[1] - p[1]) < (q[1] - p[1]) * (x[0] - p[0]))
        })
    };
    !separates(a, b) && !separates(b, a)
}

/// Least distance from the corners of one polygon to the edges of another.
fn distance_to_edges(corners: &[[f64; 2]; 4], polygon: &[[f64; 2]; 4]) -> f64 {
    let distances = corners
        .iter()
        .flat_map(|x| edges(polygon).map(|(p, q)| distance_to_segment(*x, p, q)));
    distances.fold(f64::INFINITY, f64::min)
}

fn edges(polygon: &[[f64; 2]; 4]) -> impl Iterator<Item = ([f64; 2], [f64; 2])> {
    (0..4).map(|n| (polygon[n], polygon[(n + 1) % 4]))
}

fn distance_to_segment(x: [f64; 2], p: [f64; 2], q: [f64; 2]) -> f64 {
    let (side, offset) = ([q[0] - p[0], q[1] - p[1]], [x[0] - p[0], x[1] - p[1]]);
    let length2 = side[0] * side[0] + side[1] * side[1];
    let along = ((offset[0] * side[0] + offset[1] * side[1]) / length2).clamp(0.0, 1.0);
    (offset[0] - along * side[0]).hypot(offset[1] - along * side[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plate(centre: [f64; 2], angle: f64) -> Plate {
        Plate::new(centre, angle, [4.0, 0.1])
    }

    #[test]
    fn parallel_plates_are_as_far_apart_as_their_faces() {
        let gap = plate([0.0, -0.55], 0.0).gap(&plate([0.3, 0.55], 0.0));
        assert!((gap - 1.0).abs() < 1e-12, "{gap}");
    }

    #[test]
    fn crossing_plates_overlap_although_no_corner_is_inside_the_other() {
        let (a, b) = (plate([0.0, 0.0], 0.0), plate([0.0, 0.0], 1.0));
        assert!(a.corners().iter().all(|corner| !b.contains(*corner)));
        assert_eq!(a.gap(&b), 0.0);
    }

    #[test]
    fn a_tilted_plate_comes_closest_with_its_lower_corner() {
        let gap = plate([0.0, -0.55], 0.0).gap(&plate([0.0, 0.55], 0.5));
        let corner = 0.55 - 2.0 * 0.5_f64.sin() - 0.05 * 0.5_f64.cos();
        assert!((gap - (corner + 0.5)).abs() < 1e-12, "{gap}");
    }

    #[test]
    fn a_rotated_plate_contains_what_it_covers() {
        let upright = plate([1.0, 0.0], std::f64::consts::FRAC_PI_2);
        assert!(upright.contains([1.04, 1.9]) && upright.contains([0.96, -1.9]));
        assert!(!upright.contains([1.06, 0.0]) && !upright.contains([1.0, 2.1]));
    }

    #[test]
    fn a_way_into_a_plate_crosses_its_face() {
        let level = plate([0.0, 0.0], 0.0);
        let entry = level.entry([0.0, 0.15], [0.0, -0.025]);
        assert!((0.15 - entry * 0.175 - 0.05).abs() < 1e-12, "{entry}");
        let tilted = plate([0.5, 0.5], 0.3);
        let (outside, inside) = ([2.0, 0.7], [2.0, 0.97]);
        assert!(!tilted.contains(outside) && tilted.contains(inside));
        let at = |t: f64| [2.0, outside[1] + t * (inside[1] - outside[1])];
        let entry = tilted.entry(outside, inside);
        assert!(!tilted.contains(at(entry - 1e-9)) && tilted.contains(at(entry + 1e-9)));
    }

    #[test]
    fn the_distance_to_the_walls_turns_negative_outside() {
        let walls = [[-4.0, -2.0], [4.0, 2.0]];
        let inside = plate([0.0, 0.55], 0.0).distance_to_walls(walls);
        assert!((inside - 1.4).abs() < 1e-12, "{inside}");
        assert!(plate([2.5, 0.55], 0.0).distance_to_walls(walls) < 0.0);
    }
}
