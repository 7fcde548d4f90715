//! `x = low + (i, j) · spacing`: a regular grid of points over a rectangle.

use super::{Potential, Samples, SystemError};

/// A regular grid of nodes over a rectangle, its walls included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    size: [usize; 2],
    domain: [[f64; 2]; 2],
}

impl Grid {
    /// A grid of `size` nodes, at least 3 along each side, between the lower left and the upper
    /// right corner of `domain` [m].
    pub fn new(size: [usize; 2], domain: [[f64; 2]; 2]) -> Result<Self, SystemError> {
        if let Some(n) = size.into_iter().find(|&n| n < 3) {
            return Err(SystemError::Invalid(format!(
                "a grid needs at least 3 nodes along each side, but has {n}"
            )));
        }
        let [low, high] = domain;
        for axis in 0..2 {
            let length = high[axis] - low[axis];
            if !(length > 0.0 && length.is_finite()) {
                return Err(SystemError::Invalid(format!(
                    "the domain must have a positive length along x{}, but it is {length} m",
                    axis + 1
                )));
            }
        }
        Ok(Self { size, domain })
    }

    /// The same for sizes and corners that are known to be right.
    pub(super) const fn fixed(size: [usize; 2], domain: [[f64; 2]; 2]) -> Self {
        Self { size, domain }
    }

    /// Nodes along x1 and x2.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Lower left and upper right corner [m].
    pub fn domain(&self) -> [[f64; 2]; 2] {
        self.domain
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.size[0] * self.size[1]
    }

    /// Distance of neighbouring nodes along x1 and x2 [m].
    pub fn spacing(&self) -> [f64; 2] {
        let [low, high] = self.domain;
        [0, 1].map(|axis| (high[axis] - low[axis]) / (self.size[axis] - 1) as f64)
    }

    /// Place of node (i, j) in the list of all nodes: x1 runs fastest.
    pub fn index(&self, i: usize, j: usize) -> usize {
        j * self.size[0] + i
    }

    /// Position of node (i, j) [m].
    pub fn position(&self, i: usize, j: usize) -> [f64; 2] {
        let at = |axis: usize, n: usize| {
            let fraction = n as f64 / (self.size[axis] - 1) as f64;
            let [low, high] = self.domain.map(|corner| corner[axis]);
            low * (1.0 - fraction) + high * fraction
        };
        [at(0, i), at(1, j)]
    }

    /// Positions of all nodes, in order.
    pub fn positions(&self) -> impl Iterator<Item = [f64; 2]> {
        let [width, height] = self.size;
        (0..height).flat_map(move |j| (0..width).map(move |i| self.position(i, j)))
    }

    /// Positions of all nodes as input samples.
    pub fn samples(&self) -> Samples {
        Samples {
            dim: 2,
            values: self.positions().flatten().collect(),
        }
    }

    /// The node nearest to a point.
    pub fn nearest(&self, x: [f64; 2]) -> [usize; 2] {
        let (cell, within) = self.cell(x);
        [0, 1].map(|axis| cell[axis] + usize::from(within[axis] > 0.5))
    }

    /// The cell that holds a point, and where in it: node (i, j) of its lower left corner and the
    /// fractions, from 0 to 1, towards its upper right one. Points outside are moved to the wall.
    pub fn cell(&self, x: [f64; 2]) -> ([usize; 2], [f64; 2]) {
        let (low, spacing) = (self.domain[0], self.spacing());
        let along = [0, 1].map(|axis| {
            let last = (self.size[axis] - 1) as f64;
            ((x[axis] - low[axis]) / spacing[axis]).clamp(0.0, last)
        });
        let cell = [0, 1].map(|axis| (along[axis] as usize).min(self.size[axis] - 2));
        (cell, [0, 1].map(|axis| along[axis] - cell[axis] as f64))
    }
}

/// A potential known at the nodes of a grid, linear along each axis between them.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// The grid.
    pub grid: Grid,
    /// Value at each node, in the grid's order.
    pub values: Vec<f64>,
}

impl Nodes {
    /// Values at the corners of a cell: lower left, lower right, upper left, upper right.
    fn corners(&self, [i, j]: [usize; 2]) -> [f64; 4] {
        [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)]
            .map(|(i, j)| self.values[self.grid.index(i, j)])
    }
}

impl Potential for Nodes {
    fn value(&self, x: [f64; 2]) -> f64 {
        let (cell, [s, t]) = self.grid.cell(x);
        let [a, b, c, d] = self.corners(cell);
        (a * (1.0 - s) + b * s) * (1.0 - t) + (c * (1.0 - s) + d * s) * t
    }

    fn gradient(&self, x: [f64; 2]) -> [f64; 2] {
        let (cell, [s, t]) = self.grid.cell(x);
        let [a, b, c, d] = self.corners(cell);
        let [h1, h2] = self.grid.spacing();
        [
            ((b - a) * (1.0 - t) + (d - c) * t) / h1,
            ((c - a) * (1.0 - s) + (d - b) * s) / h2,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid::fixed([5, 3], [[-1.0, 0.0], [1.0, 1.0]]);

    #[test]
    fn nodes_run_from_corner_to_corner_with_x1_fastest() {
        let nodes: Vec<_> = GRID.positions().collect();
        assert_eq!(nodes.len(), GRID.node_count());
        assert_eq!(nodes[0], [-1.0, 0.0]);
        assert_eq!(nodes[1], [-0.5, 0.0]);
        assert_eq!(nodes[14], [1.0, 1.0]);
        assert_eq!(nodes[GRID.index(3, 2)], GRID.position(3, 2));
    }

    #[test]
    fn a_point_is_found_in_its_cell_and_outside_points_on_the_wall() {
        assert_eq!(GRID.cell([-0.25, 0.75]), ([1, 1], [0.5, 0.5]));
        assert_eq!(GRID.cell([1.0, 1.0]), ([3, 1], [1.0, 1.0]));
        assert_eq!(GRID.cell([7.0, -7.0]), ([3, 0], [1.0, 0.0]));
        assert_eq!(GRID.nearest([0.3, 0.2]), [3, 0]);
    }

    #[test]
    fn a_grid_without_extent_is_refused() {
        let domain = [[0.0, 0.0], [1.0, 0.0]];
        let error = Grid::new([5, 5], domain).unwrap_err().to_string();
        assert!(
            error.contains("along x2") && error.contains("0 m"),
            "{error}"
        );
        assert!(Grid::new([5, 5], [[0.0, 0.0], [f64::NAN, 1.0]]).is_err());
        let error = Grid::new([2, 5], [[0.0, 0.0], [1.0, 1.0]])
            .unwrap_err()
            .to_string();
        assert!(error.contains("but has 2"), "{error}");
    }
}
