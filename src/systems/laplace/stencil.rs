//! `(A x)_k = a_k x_k − Σ_n w_kn x_n` over the eight neighbours n of a grid node k, with A symmetric.
//!
//! Node values live in *padded* vectors: one border of zeros around the grid, so that every node
//! has eight neighbours. A node that is held fixed has a zero row and a zero column, so it keeps
//! the value zero through every operation.

/// A symmetric nine-point operator on a grid of nodes.
#[derive(Clone, Debug)]
pub(super) struct Stencil {
    /// Nodes along x1 and x2.
    pub size: [usize; 2],
    /// Diagonal a, zero where a node is held fixed.
    pub centre: Vec<f64>,
    /// Coupling w to the neighbour at (+1, 0).
    pub east: Vec<f64>,
    /// Coupling to (0, +1).
    pub north: Vec<f64>,
    /// Coupling to (+1, +1); empty if the operator has five points.
    pub north_east: Vec<f64>,
    /// Coupling to (−1, +1); empty if the operator has five points.
    pub north_west: Vec<f64>,
    inverse: Vec<f64>,
    west_over_centre: Vec<f64>,
    east_over_centre: Vec<f64>,
    row: Vec<f64>,
}

impl Stencil {
    /// The zero operator, with diagonal neighbours or without.
    pub fn zero(size: [usize; 2], diagonals: bool) -> Self {
        let length = (size[0] + 2) * (size[1] + 2);
        let corner = if diagonals { length } else { 0 };
        Self {
            size,
            centre: vec![0.0; length],
            east: vec![0.0; length],
            north: vec![0.0; length],
            north_east: vec![0.0; corner],
            north_west: vec![0.0; corner],
            inverse: vec![0.0; length],
            west_over_centre: vec![0.0; length],
            east_over_centre: vec![0.0; length],
            row: vec![0.0; size[0]],
        }
    }

    /// Distance between a node and its northern neighbour in a padded vector.
    pub fn stride(&self) -> usize {
        self.size[0] + 2
    }

    /// Place of node (i, j) in a padded vector.
    pub fn index(&self, i: usize, j: usize) -> usize {
        (j + 1) * self.stride() + i + 1
    }

    /// Number of values of a padded vector.
    pub fn length(&self) -> usize {
        self.centre.len()
    }

    /// Whether the node at that place is solved for.
    pub fn is_free(&self, k: usize) -> bool {
        self.centre[k] > 0.0
    }

    /// Couplings to the neighbours (−1,−1), (0,−1), (1,−1), (−1,0), (0,0), … (1,1); the middle one
    /// is zero.
    pub fn couplings(&self, k: usize) -> [f64; 9] {
        let s = self.stride();
        let corner = |couplings: &[f64], k: usize| couplings.get(k).copied().unwrap_or(0.0);
        [
            corner(&self.north_east, k - s - 1),
            self.north[k - s],
            corner(&self.north_west, k - s + 1),
            self.east[k - 1],
            0.0,
            self.east[k],
            corner(&self.north_west, k),
            self.north[k],
            corner(&self.north_east, k),
        ]
    }

    /// Prepares the smoother; to be called once the couplings are set.
    pub fn prepare(&mut self) {
        for k in 1..self.length() {
            if self.is_free(k) {
                self.inverse[k] = 1.0 / self.centre[k];
                self.west_over_centre[k] = self.east[k - 1] * self.inverse[k];
                self.east_over_centre[k] = self.east[k] * self.inverse[k];
            }
        }
    }

    /// `out = b − A x`.
    pub fn residual(&self, x: &[f64], b: &[f64], out: &mut [f64]) {
        let width = self.size[0];
        for j in 0..self.size[1] {
            let k = self.index(0, j);
            let out = &mut out[k..k + width];
            out.copy_from_slice(&b[k..k + width]);
            self.add_from_rows_beside(x, k, out);
            let (centre, here) = (&self.centre[k..k + width], &x[k - 1..k + width + 1]);
            let (west, east) = (&self.east[k - 1..k - 1 + width], &self.east[k..k + width]);
            for i in 0..width {
                out[i] += west[i] * here[i] + east[i] * here[i + 2] - centre[i] * here[i + 1];
            }
        }
    }

    /// `out = A x`.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        let width = self.size[0];
        for j in 0..self.size[1] {
            let k = self.index(0, j);
            let out = &mut out[k..k + width];
            out.fill(0.0);
            self.add_from_rows_beside(x, k, out);
            let (centre, here) = (&self.centre[k..k + width], &x[k - 1..k + width + 1]);
            let (west, east) = (&self.east[k - 1..k - 1 + width], &self.east[k..k + width]);
            for i in 0..width {
                let beside = out[i] + west[i] * here[i] + east[i] * here[i + 2];
                out[i] = centre[i] * here[i + 1] - beside;
            }
        }
    }

    /// One Gauss–Seidel sweep of `A x = b` in the order of the nodes.
    pub fn sweep_forward(&mut self, x: &mut [f64], b: &[f64]) {
        for j in 0..self.size[1] {
            self.relax_row(x, b, self.index(0, j), false);
        }
    }

    /// The same sweep in reverse order: the adjoint of the forward one.
    pub fn sweep_backward(&mut self, x: &mut [f64], b: &[f64]) {
        for j in (0..self.size[1]).rev() {
            self.relax_row(x, b, self.index(0, j), true);
        }
    }

    /// Relaxes the row that starts at k. What does not depend on the nodes just relaxed is added up
    /// first, so that only one multiplication and one addition a node have to wait for each other.
    fn relax_row(&mut self, x: &mut [f64], b: &[f64], k: usize, reverse: bool) {
        let width = self.size[0];
        let mut row = std::mem::take(&mut self.row);
        row.copy_from_slice(&b[k..k + width]);
        self.add_from_rows_beside(x, k, &mut row);
        let inverse = &self.inverse[k..k + width];
        let west = &self.west_over_centre[k..k + width];
        let east = &self.east_over_centre[k..k + width];
        let here = &mut x[k - 1..k + width + 1];
        if reverse {
            for i in 0..width {
                row[i] = row[i] * inverse[i] + west[i] * here[i];
            }
            for i in (0..width).rev() {
                here[i + 1] = row[i] + east[i] * here[i + 2];
            }
        } else {
            for i in 0..width {
                row[i] = row[i] * inverse[i] + east[i] * here[i + 2];
            }
            for i in 0..width {
                here[i + 1] = row[i] + west[i] * here[i];
            }
        }
        self.row = row;
    }

    /// Adds the couplings of the row that starts at k to the rows north and south of it.
    fn add_from_rows_beside(&self, x: &[f64], k: usize, out: &mut [f64]) {
        let (width, s) = (out.len(), self.stride());
        let above = &x[k + s - 1..k + s + width + 1];
        let below = &x[k - s - 1..k - s + width + 1];
        let (north, south) = (&self.north[k..k + width], &self.north[k - s..k - s + width]);
        for i in 0..width {
            out[i] += north[i] * above[i + 1] + south[i] * below[i + 1];
        }
        if self.north_east.is_empty() {
            return;
        }
        let (ne, nw) = (
            &self.north_east[k..k + width],
            &self.north_west[k..k + width],
        );
        let sw = &self.north_east[k - s - 1..k - s - 1 + width];
        let se = &self.north_west[k - s + 1..k - s + 1 + width];
        for i in 0..width {
            out[i] += ne[i] * above[i + 2] + nw[i] * above[i];
            out[i] += sw[i] * below[i] + se[i] * below[i + 2];
        }
    }
}
