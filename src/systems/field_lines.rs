//! `dx/ds = −∇y / |∇y|`: lines of the field, for pictures.
//!
//! Lines start around the sources, closer together where the field is stronger, and run until they
//! reach another source or leave the window. Then every part of the window that no line has passed
//! gets one of its own, so that distant sources show as well.

use super::{Potential, Role, Shape};

/// A corner to corner path of the window has this many steps.
const STEPS_ACROSS: f64 = 300.0;
/// Longest line, in window diagonals.
const LONGEST: f64 = 3.0;
/// Points around a source at which its flux is measured.
const OUTLINE_POINTS: usize = 192;
/// How far from a plate lines start, as a part of the plate's border.
const OUTWARDS: f64 = 0.004;
/// Parts of the window along x1 and x2, each of which gets a line.
const PARTS: [usize; 2] = [8, 6];
/// Gradients below this have no direction.
const NO_FIELD: f64 = 1e-12;

/// Corners of a rectangle, lower left and upper right [m].
type Window = [[f64; 2]; 2];

/// Field lines inside a window, each from high to low potential. About `count` of them start or
/// end at the sources that lie in the window.
pub fn field_lines(
    potential: &dyn Potential,
    sources: &[Shape],
    window: Window,
    count: usize,
) -> Vec<Vec<[f64; 2]>> {
    let tracer = Tracer::new(potential, sources, window);
    let mut lines = Vec::new();
    for (seed, direction) in tracer.seeds(count) {
        let (line, reached_source) = tracer.trace(seed, direction);
        let drawn_from_the_other_end = direction == Direction::Uphill && reached_source;
        if !drawn_from_the_other_end {
            lines.push(line);
        }
    }
    tracer.fill(&mut lines);
    lines.retain(|line| line.len() > 2);
    lines
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    /// Along the field.
    Downhill,
    /// Against it.
    Uphill,
}

struct Tracer<'a> {
    potential: &'a dyn Potential,
    sources: &'a [Shape],
    window: Window,
    step: f64,
}

impl<'a> Tracer<'a> {
    fn new(potential: &'a dyn Potential, sources: &'a [Shape], window: Window) -> Self {
        let [low, high] = window;
        let diagonal = (high[0] - low[0]).hypot(high[1] - low[1]);
        Self {
            potential,
            sources,
            window,
            step: diagonal / STEPS_ACROSS,
        }
    }

    /// Starting points around the sources, with the same flux between any two neighbours.
    fn seeds(&self, count: usize) -> Vec<([f64; 2], Direction)> {
        let around = |role: Role, sign: f64, direction: Direction| {
            let outlines = self
                .sources
                .iter()
                .filter_map(move |source| outline(source, role));
            let flux = move |(point, normal): ([f64; 2], [f64; 2])| {
                let gradient = self.potential.gradient(point);
                let outward = gradient[0] * normal[0] + gradient[1] * normal[1];
                (point, (-sign * outward).max(0.0), direction)
            };
            let inside = |seed: &([f64; 2], f64, Direction)| self.is_inside(seed.0);
            outlines
                .flatten()
                .map(flux)
                .filter(inside)
                .collect::<Vec<_>>()
        };
        let positive = around(Role::Positive, 1.0, Direction::Downhill);
        let negative = around(Role::Negative, -1.0, Direction::Uphill);
        let total = |points: &[([f64; 2], f64, Direction)]| points.iter().map(|p| p.1).sum::<f64>();
        let share = total(&positive).max(total(&negative)) / count.max(1) as f64;
        if !(share.is_finite() && share > NO_FIELD) {
            return Vec::new();
        }
        let mut passed = 0.0;
        let starts_line = |(point, flux, direction)| {
            passed += flux;
            let full = passed >= share;
            passed %= share;
            full.then_some((point, direction))
        };
        positive
            .into_iter()
            .chain(negative)
            .filter_map(starts_line)
            .collect()
    }

    /// Adds a line through each part of the window that has none.
    fn fill(&self, lines: &mut Vec<Vec<[f64; 2]>>) {
        let mut passed = [false; PARTS[0] * PARTS[1]];
        let mark = |passed: &mut [bool], line: &[[f64; 2]]| {
            line.iter()
                .for_each(|point| passed[self.part(*point)] = true);
        };
        lines.iter().for_each(|line| mark(&mut passed, line));
        for part in 0..passed.len() {
            let centre = self.part_centre(part);
            if passed[part] || self.is_in_source(centre) {
                continue;
            }
            let (mut line, _) = self.trace(centre, Direction::Uphill);
            line.pop();
            line.extend(self.trace(centre, Direction::Downhill).0);
            mark(&mut passed, &line);
            lines.push(line);
        }
    }

    /// The line from a seed, ordered from high to low potential, and whether it ends at a source.
    fn trace(&self, seed: [f64; 2], direction: Direction) -> (Vec<[f64; 2]>, bool) {
        let signed_step = match direction {
            Direction::Downhill => self.step,
            Direction::Uphill => -self.step,
        };
        let mut line = vec![seed];
        let mut point = seed;
        let mut reached_source = false;
        for _ in 0..(LONGEST * STEPS_ACROSS) as usize {
            let Some(next) = self.advance(point, signed_step) else {
                break;
            };
            if !self.is_inside(next) {
                line.push(self.to_edge(point, next));
                break;
            }
            line.push(next);
            reached_source = self.is_in_source(next);
            if reached_source {
                break;
            }
            point = next;
        }
        if direction == Direction::Uphill {
            line.reverse();
        }
        (line, reached_source)
    }

    /// One step of the classical Runge–Kutta method; nothing where there is no field. A trial step
    /// into a plate, where there is none either, keeps the first direction.
    fn advance(&self, x: [f64; 2], step: f64) -> Option<[f64; 2]> {
        let ahead = |slope: [f64; 2], step: f64| [x[0] + step * slope[0], x[1] + step * slope[1]];
        let k1 = self.direction(x)?;
        let k2 = self.direction(ahead(k1, step / 2.0)).unwrap_or(k1);
        let k3 = self.direction(ahead(k2, step / 2.0)).unwrap_or(k1);
        let k4 = self.direction(ahead(k3, step)).unwrap_or(k1);
        let mean = [0, 1].map(|axis| (k1[axis] + 2.0 * (k2[axis] + k3[axis]) + k4[axis]) / 6.0);
        Some(ahead(mean, step))
    }

    /// Unit vector along the field.
    fn direction(&self, x: [f64; 2]) -> Option<[f64; 2]> {
        let gradient = self.potential.gradient(x);
        let size = (gradient[0] * gradient[0] + gradient[1] * gradient[1]).sqrt();
        (size > NO_FIELD && size.is_finite()).then(|| gradient.map(|component| -component / size))
    }

    fn is_inside(&self, x: [f64; 2]) -> bool {
        let [low, high] = self.window;
        (0..2).all(|axis| (low[axis]..=high[axis]).contains(&x[axis]))
    }

    fn is_in_source(&self, x: [f64; 2]) -> bool {
        self.sources.iter().any(|source| contains(source, x))
    }

    /// Where the way from a point inside to one outside crosses the edge of the window.
    fn to_edge(&self, inside: [f64; 2], outside: [f64; 2]) -> [f64; 2] {
        let [low, high] = self.window;
        let fraction = |axis: usize| {
            let edge = outside[axis].clamp(low[axis], high[axis]);
            let way = outside[axis] - inside[axis];
            if way == 0.0 {
                1.0
            } else {
                (edge - inside[axis]) / way
            }
        };
        let fraction = fraction(0).min(fraction(1));
        [0, 1].map(|axis| {
            let x = inside[axis] + fraction * (outside[axis] - inside[axis]);
            x.clamp(low[axis], high[axis])
        })
    }

    fn part(&self, x: [f64; 2]) -> usize {
        let [low, high] = self.window;
        let [i, j] = [0, 1].map(|axis| {
            let fraction = (x[axis] - low[axis]) / (high[axis] - low[axis]);
            ((fraction * PARTS[axis] as f64) as usize).min(PARTS[axis] - 1)
        });
        j * PARTS[0] + i
    }

    fn part_centre(&self, part: usize) -> [f64; 2] {
        let [low, high] = self.window;
        let place = [part % PARTS[0], part / PARTS[0]];
        [0, 1].map(|axis| {
            let fraction = (place[axis] as f64 + 0.5) / PARTS[axis] as f64;
            low[axis] + fraction * (high[axis] - low[axis])
        })
    }
}

/// Points just outside a source of that role, evenly spaced, with the outward normals.
fn outline(source: &Shape, wanted: Role) -> Option<Vec<([f64; 2], [f64; 2])>> {
    match source {
        Shape::Disc {
            centre,
            radius,
            role,
        } if *role == wanted => Some(circle(*centre, 1.02 * radius)),
        Shape::Polygon { points, role } if *role == wanted => Some(border(points)),
        _ => None,
    }
}

fn circle(centre: [f64; 2], radius: f64) -> Vec<([f64; 2], [f64; 2])> {
    let at = |n: usize| {
        let angle = std::f64::consts::TAU * (n as f64 + 0.5) / OUTLINE_POINTS as f64;
        let (sin, cos) = angle.sin_cos();
        (
            [centre[0] + radius * cos, centre[1] + radius * sin],
            [cos, sin],
        )
    };
    (0..OUTLINE_POINTS).map(at).collect()
}

/// The border of a counter-clockwise polygon, moved outwards a little, past the first grid cell.
fn border(corners: &[[f64; 2]]) -> Vec<([f64; 2], [f64; 2])> {
    let next = corners.iter().cycle().skip(1);
    let sides: Vec<_> = corners
        .iter()
        .zip(next)
        .map(|(p, q)| {
            (
                *p,
                [q[0] - p[0], q[1] - p[1]],
                (q[0] - p[0]).hypot(q[1] - p[1]),
            )
        })
        .collect();
    let length: f64 = sides.iter().map(|side| side.2).sum();
    let spacing = length / OUTLINE_POINTS as f64;
    let mut points = Vec::with_capacity(OUTLINE_POINTS);
    let mut along = 0.5 * spacing;
    for (corner, side, size) in sides {
        let normal = [side[1] / size, -side[0] / size];
        while along < size {
            let at = [0, 1].map(|axis| {
                corner[axis] + along / size * side[axis] + OUTWARDS * length * normal[axis]
            });
            points.push((at, normal));
            along += spacing;
        }
        along -= size;
    }
    points
}

/// Whether a point is inside a disc or polygon.
fn contains(shape: &Shape, x: [f64; 2]) -> bool {
    match shape {
        Shape::Disc { centre, radius, .. } => {
            let offset = [x[0] - centre[0], x[1] - centre[1]];
            offset[0] * offset[0] + offset[1] * offset[1] < radius * radius
        }
        Shape::Polygon { points, .. } => {
            let crosses = |(p, q): (&[f64; 2], &[f64; 2])| {
                (p[1] > x[1]) != (q[1] > x[1])
                    && x[0] < p[0] + (q[0] - p[0]) * (x[1] - p[1]) / (q[1] - p[1])
            };
            points
                .iter()
                .zip(points.iter().cycle().skip(1))
                .filter(|side| crosses(*side))
                .count()
                % 2
                == 1
        }
        Shape::Line { .. } => false,
    }
}

#[cfg(test)]
mod tests;
