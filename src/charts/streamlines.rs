//! Field lines: curves that follow a vector field, spread evenly over its domain.

/// Lower left and upper right corner.
type Domain = [[f64; 2]; 2];

/// Length of one step, as a share of the distance between lines.
const STEP: f64 = 0.2;

/// Lines along `field`, about `across` of them side by side over the width of the domain. Lines
/// end at the border, where the field vanishes or is not finite, and next to another line.
pub fn field_lines(
    field: impl Fn([f64; 2]) -> [f64; 2],
    domain: Domain,
    across: usize,
) -> Vec<Vec<[f64; 2]>> {
    let Some(mut cells) = Cells::new(domain, across) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for seed in cells.seeds() {
        if cells.owner(seed).is_some_and(|owner| owner == 0) {
            let id = lines.len() + 1;
            let line = trace(&field, seed, &mut cells, id);
            if line.len() as f64 * STEP > 2.0 {
                lines.push(line);
            } else {
                cells.release(id);
            }
        }
    }
    lines
}

/// Which line passes through each cell of a grid over the domain: 0 for none.
struct Cells {
    domain: Domain,
    size: f64,
    columns: usize,
    rows: usize,
    owners: Vec<usize>,
}

impl Cells {
    fn new(domain: Domain, across: usize) -> Option<Self> {
        let [low, high] = domain;
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        let ok = width > 0.0 && height > 0.0 && width.is_finite() && height.is_finite();
        let size = width / across.clamp(2, 100) as f64;
        let rows = (height / size).ceil();
        (ok && rows < 1000.0).then(|| {
            let (columns, rows) = ((width / size).ceil() as usize, (rows as usize).max(1));
            Self {
                domain,
                size,
                columns,
                rows,
                owners: vec![0; columns * rows],
            }
        })
    }

    /// Cell centres, in an order that jumps across the domain so that lines spread evenly.
    fn seeds(&self) -> Vec<[f64; 2]> {
        let count = self.owners.len();
        let stride = (1..count)
            .rev()
            .find(|&s| s * 1000 <= count * 618 && gcd(s, count) == 1);
        let stride = stride.unwrap_or(1);
        (0..count)
            .map(|k| k * stride % count)
            .map(|cell| {
                let (row, column) = (cell / self.columns, cell % self.columns);
                let [x, y] = self.domain[0];
                [
                    x + (column as f64 + 0.5) * self.size,
                    y + (row as f64 + 0.5) * self.size,
                ]
            })
            .collect()
    }

    fn index(&self, [x, y]: [f64; 2]) -> Option<usize> {
        let [low, high] = self.domain;
        let inside = (low[0]..=high[0]).contains(&x) && (low[1]..=high[1]).contains(&y);
        inside.then(|| {
            let column = (((x - low[0]) / self.size) as usize).min(self.columns - 1);
            let row = (((y - low[1]) / self.size) as usize).min(self.rows - 1);
            row * self.columns + column
        })
    }

    fn owner(&self, point: [f64; 2]) -> Option<usize> {
        self.index(point).map(|cell| self.owners[cell])
    }

    fn release(&mut self, id: usize) {
        self.owners
            .iter_mut()
            .filter(|owner| **owner == id)
            .for_each(|owner| *owner = 0);
    }
}

/// One line through `seed`, forwards and backwards.
fn trace(
    field: &impl Fn([f64; 2]) -> [f64; 2],
    seed: [f64; 2],
    cells: &mut Cells,
    id: usize,
) -> Vec<[f64; 2]> {
    let mut line = follow(field, seed, -1.0, cells, id);
    line.reverse();
    line.push(seed);
    line.extend(follow(field, seed, 1.0, cells, id));
    line
}

fn follow(
    field: &impl Fn([f64; 2]) -> [f64; 2],
    seed: [f64; 2],
    sign: f64,
    cells: &mut Cells,
    id: usize,
) -> Vec<[f64; 2]> {
    let step = sign * STEP * cells.size;
    let mut line = Vec::new();
    let mut at = seed;
    // Longer than any line that does not go in circles.
    for _ in 0..8 * (cells.columns + cells.rows) {
        let Some(next) = midpoint_step(field, at, step) else {
            break;
        };
        match cells.index(next) {
            Some(cell) if cells.owners[cell] == 0 || cells.owners[cell] == id => {
                cells.owners[cell] = id;
            }
            _ => break,
        }
        at = next;
        line.push(at);
    }
    line
}

/// One step of fixed length along the field's direction (second order).
fn midpoint_step(
    field: &impl Fn([f64; 2]) -> [f64; 2],
    [x, y]: [f64; 2],
    step: f64,
) -> Option<[f64; 2]> {
    let [u, v] = direction(field([x, y]))?;
    let [u, v] = direction(field([x + 0.5 * step * u, y + 0.5 * step * v]))?;
    Some([x + step * u, y + step * v])
}

fn direction([u, v]: [f64; 2]) -> Option<[f64; 2]> {
    let length = u.hypot(v);
    (length.is_finite() && length > 1e-12).then(|| [u / length, v / length])
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Domain = [[-1.0, -1.0], [1.0, 1.0]];

    #[test]
    fn lines_of_a_uniform_field_are_straight_and_cross_the_domain() {
        let lines = field_lines(|_| [3.0, 0.0], UNIT, 10);
        assert_eq!(lines.len(), 10);
        for line in &lines {
            assert!(line.iter().all(|p| (p[1] - line[0][1]).abs() < 1e-12));
            assert!(line[line.len() - 1][0] - line[0][0] > 1.8);
        }
    }

    #[test]
    fn lines_of_a_charge_run_along_the_radius() {
        let lines = field_lines(|[x, y]| [x, y], UNIT, 12);
        assert!(lines.len() > 8);
        for line in &lines {
            let ([a, b], [c, d]) = (line[line.len() / 2], line[line.len() - 1]);
            let sine = (a * d - b * c) / (a.hypot(b) * c.hypot(d));
            assert!(sine.abs() < 1e-6, "{line:?}");
        }
    }

    #[test]
    fn a_field_that_is_not_finite_or_an_empty_domain_gives_no_line() {
        assert!(field_lines(|_| [f64::NAN, 0.0], UNIT, 10).is_empty());
        assert!(field_lines(|_| [0.0, 0.0], UNIT, 10).is_empty());
        assert!(field_lines(|_| [1.0, 0.0], [[0.0, 0.0], [0.0, 1.0]], 10).is_empty());
    }

    #[test]
    fn a_vortex_ends() {
        assert!(!field_lines(|[x, y]| [-y, x], UNIT, 10).is_empty());
    }
}
