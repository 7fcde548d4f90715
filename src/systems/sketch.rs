//! Shapes that robots are drawn with.

use super::{Role, Shape};

/// A line through points.
pub(super) fn line(points: &[[f64; 2]], width: f64, role: Role) -> Shape {
    Shape::Line {
        points: points.to_vec(),
        width,
        role,
    }
}

/// A filled disc.
pub(super) fn disc(centre: [f64; 2], radius: f64, role: Role) -> Shape {
    Shape::Disc {
        centre,
        radius,
        role,
    }
}

/// A rectangle whose corners are cut off.
pub(super) fn chamfered(low: [f64; 2], high: [f64; 2], cut: f64, role: Role) -> Shape {
    let ([left, bottom], [right, top]) = (low, high);
    let points = vec![
        [left + cut, bottom],
        [right - cut, bottom],
        [right, bottom + cut],
        [right, top - cut],
        [right - cut, top],
        [left + cut, top],
        [left, top - cut],
        [left, bottom + cut],
    ];
    Shape::Polygon { points, role }
}
