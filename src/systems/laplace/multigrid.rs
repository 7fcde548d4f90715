//! One V-cycle: a symmetric approximate inverse `M⁻¹ ≈ A⁻¹` at the price of a few sweeps.
//!
//! Each level keeps every second node. The value between two kept nodes follows from the operator
//! itself (its stencil collapsed onto the line between them, after Dendy 1982), and the coarse
//! operator is `Pᵀ A P`. So a plate that is thinner than a coarse cell still shields what lies
//! behind it: the interpolation P never reaches across it.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::stencil::Stencil;

/// Grids of at most this many nodes are solved directly.
const COARSEST_NODES: usize = 120;

/// The operators of all grids, finest first, and room to work in.
#[derive(Debug)]
pub(super) struct Multigrid {
    levels: Vec<Level>,
    coarsest: Coarsest,
    /// Corrections on all grids, the coarsest last.
    x: Vec<Vec<f64>>,
    /// Right-hand sides on all grids.
    b: Vec<Vec<f64>>,
}

impl Multigrid {
    /// Builds all grids under an operator; `None` if it is not positive definite.
    pub fn new(mut operator: Stencil) -> Option<Self> {
        let mut levels = Vec::new();
        let mut room = vec![vec![0.0; operator.length()]];
        while operator.size[0] * operator.size[1] > COARSEST_NODES {
            let level = Level::new(operator);
            operator = level.coarse_operator();
            room.push(vec![0.0; operator.length()]);
            levels.push(level);
        }
        let coarsest = Coarsest::new(&operator)?;
        Some(Self {
            levels,
            coarsest,
            x: room.clone(),
            b: room,
        })
    }

    /// `out = M⁻¹ b`, in padded vectors: smooth, correct on the next grid, smooth in reverse.
    pub fn apply(&mut self, b: &[f64], out: &mut [f64]) {
        self.b[0].copy_from_slice(b);
        for (l, level) in self.levels.iter_mut().enumerate() {
            self.x[l].fill(0.0);
            level.operator.sweep_forward(&mut self.x[l], &self.b[l]);
            let (fine, coarse) = self.b.split_at_mut(l + 1);
            level.restrict_residual(&self.x[l], &fine[l], &mut coarse[0]);
        }
        let last = self.levels.len();
        self.coarsest.solve(&self.b[last], &mut self.x[last]);
        for (l, level) in self.levels.iter_mut().enumerate().rev() {
            let (fine, coarse) = self.x.split_at_mut(l + 1);
            level.add_interpolated(&coarse[0], &mut fine[l]);
            level.operator.sweep_backward(&mut fine[l], &self.b[l]);
        }
        out.copy_from_slice(&self.x[0]);
    }
}

/// One grid and its ties to the next coarser one.
#[derive(Debug)]
struct Level {
    operator: Stencil,
    /// P: for each node, row after row, the weights of its parents (0,0), (1,0), (0,1), (1,1);
    /// the first parent of node (i, j) is the coarse node (i/2, j/2).
    parents: Vec<[f64; 4]>,
    residual: Vec<f64>,
}

impl Level {
    fn new(mut operator: Stencil) -> Self {
        operator.prepare();
        let residual = vec![0.0; operator.length()];
        Self {
            parents: parent_weights(&operator),
            operator,
            residual,
        }
    }

    fn coarse_size(&self) -> [usize; 2] {
        self.operator.size.map(|n| n.div_ceil(2))
    }

    /// `coarse = Pᵀ (b − A x)`.
    fn restrict_residual(&mut self, x: &[f64], b: &[f64], coarse: &mut [f64]) {
        self.operator.residual(x, b, &mut self.residual);
        coarse.fill(0.0);
        let [width, height] = self.operator.size;
        let stride = self.coarse_size()[0] + 2;
        for j in 0..height {
            let k = self.operator.index(0, j);
            let residual = &self.residual[k..k + width];
            let parents = &self.parents[j * width..(j + 1) * width];
            let (below, above) = coarse[(j / 2 + 1) * stride..].split_at_mut(stride);
            for (i, (r, p)) in residual.iter().zip(parents).enumerate() {
                let c = i / 2 + 1;
                below[c] += p[0] * r;
                below[c + 1] += p[1] * r;
                above[c] += p[2] * r;
                above[c + 1] += p[3] * r;
            }
        }
    }

    /// `x += P coarse`.
    fn add_interpolated(&self, coarse: &[f64], x: &mut [f64]) {
        let [width, height] = self.operator.size;
        let stride = self.coarse_size()[0] + 2;
        for j in 0..height {
            let k = self.operator.index(0, j);
            let parents = &self.parents[j * width..(j + 1) * width];
            let (below, above) = coarse[(j / 2 + 1) * stride..].split_at(stride);
            for (i, (x, p)) in x[k..k + width].iter_mut().zip(parents).enumerate() {
                let c = i / 2 + 1;
                *x += p[0] * below[c] + p[1] * below[c + 1] + p[2] * above[c] + p[3] * above[c + 1];
            }
        }
    }

    /// `Pᵀ A P`, again a nine-point operator.
    fn coarse_operator(&self) -> Stencil {
        let mut coarse = Stencil::zero(self.coarse_size(), true);
        let [width, height] = self.operator.size;
        for j in 0..height {
            for i in 0..width {
                if self.operator.is_free(self.operator.index(i, j)) {
                    let row = self.row_times_parents(i, j);
                    let parents = &self.parents[j * width + i];
                    add_row(&mut coarse, [i / 2, j / 2], parents, &row);
                }
            }
        }
        coarse
    }

    /// Row (i, j) of A P, on the coarse nodes from (i/2 − 1, j/2 − 1) to (i/2 + 2, j/2 + 2).
    fn row_times_parents(&self, i: usize, j: usize) -> [[f64; 4]; 4] {
        let [width, _] = self.operator.size;
        let k = self.operator.index(i, j);
        let mut entries = self.operator.couplings(k).map(|w| -w);
        entries[4] = self.operator.centre[k];
        let mut row = [[0.0; 4]; 4];
        for (n, entry) in entries
            .into_iter()
            .enumerate()
            .filter(|(_, entry)| *entry != 0.0)
        {
            let (ni, nj) = (i + n % 3 - 1, j + n / 3 - 1);
            let (c, r) = (ni / 2 + 1 - i / 2, nj / 2 + 1 - j / 2);
            let p = &self.parents[nj * width + ni];
            row[r][c] += entry * p[0];
            row[r][c + 1] += entry * p[1];
            row[r + 1][c] += entry * p[2];
            row[r + 1][c + 1] += entry * p[3];
        }
        row
    }
}

/// Adds one fine node's share of `Pᵀ (A P)`; by symmetry the half that a stencil stores is enough.
fn add_row(coarse: &mut Stencil, first: [usize; 2], parents: &[f64; 4], row: &[[f64; 4]; 4]) {
    for (parent, &weight) in parents
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight != 0.0)
    {
        let (di, dj) = (parent % 2, parent / 2);
        let k = coarse.index(first[0] + di, first[1] + dj);
        let (c, r) = (di + 1, dj + 1);
        coarse.centre[k] += weight * row[r][c];
        coarse.east[k] -= weight * row[r][c + 1];
        coarse.north[k] -= weight * row[r + 1][c];
        coarse.north_east[k] -= weight * row[r + 1][c + 1];
        coarse.north_west[k] -= weight * row[r + 1][c - 1];
    }
}

/// The interpolation P of an operator.
fn parent_weights(operator: &Stencil) -> Vec<[f64; 4]> {
    let [width, height] = operator.size;
    let mut parents = vec![[0.0; 4]; width * height];
    for j in 0..height {
        for i in 0..width {
            let k = operator.index(i, j);
            if !operator.is_free(k) {
                continue;
            }
            let w = operator.couplings(k);
            let centre = operator.centre[k];
            parents[j * width + i] = match (i % 2, j % 2) {
                (0, 0) => [1.0, 0.0, 0.0, 0.0],
                (1, 0) => {
                    let (west, east) = (w[0] + w[3] + w[6], w[2] + w[5] + w[8]);
                    let [a, b] =
                        between(operator, [k - 1, k + 1], [west, east], centre - w[1] - w[7]);
                    [a, b, 0.0, 0.0]
                }
                (0, 1) => {
                    let (south, north) = (w[0] + w[1] + w[2], w[6] + w[7] + w[8]);
                    let places = [k - operator.stride(), k + operator.stride()];
                    let [a, b] = between(operator, places, [south, north], centre - w[3] - w[5]);
                    [a, 0.0, b, 0.0]
                }
                _ => [0.0; 4],
            };
        }
    }
    for j in (1..height).step_by(2) {
        for i in (1..width).step_by(2) {
            parents[j * width + i] = cell_weights(operator, &parents, i, j);
        }
    }
    parents
}

/// Weights of the two kept nodes beside a node on a grid line.
fn between(operator: &Stencil, places: [usize; 2], couplings: [f64; 2], centre: f64) -> [f64; 2] {
    let weight = |side: usize| {
        let reachable = operator.is_free(places[side]) && centre > 0.0;
        if reachable {
            couplings[side] / centre
        } else {
            0.0
        }
    };
    [weight(0), weight(1)]
}

/// Weights of a node in the middle of a coarse cell: its own equation, with the nodes on the cell's
/// edges interpolated already.
fn cell_weights(operator: &Stencil, parents: &[[f64; 4]], i: usize, j: usize) -> [f64; 4] {
    let k = operator.index(i, j);
    if !operator.is_free(k) {
        return [0.0; 4];
    }
    let [width, _] = operator.size;
    let of = |i: usize, j: usize| parents.get(j * width + i).copied().unwrap_or([0.0; 4]);
    let w = operator.couplings(k);
    let corner = |n: usize, place: usize| if operator.is_free(place) { w[n] } else { 0.0 };
    let (south, west) = (of(i, j - 1), of(i - 1, j));
    let (east, north) = (of(i + 1, j), of(i, j + 1));
    let s = operator.stride();
    [
        corner(0, k - s - 1) + w[1] * south[0] + w[3] * west[0],
        corner(2, k - s + 1) + w[1] * south[1] + w[5] * east[0],
        corner(6, k + s - 1) + w[3] * west[2] + w[7] * north[0],
        corner(8, k + s + 1) + w[5] * east[2] + w[7] * north[1],
    ]
    .map(|weight| weight / operator.centre[k])
}

/// The last grid, solved by Cholesky factorisation.
#[derive(Debug)]
struct Coarsest {
    /// Places of the nodes that are solved for.
    free: Vec<usize>,
    factor: Cholesky<f64, Dyn>,
    solution: DVector<f64>,
}

impl Coarsest {
    fn new(operator: &Stencil) -> Option<Self> {
        let free: Vec<_> = (0..operator.length())
            .filter(|&k| operator.is_free(k))
            .collect();
        let mut matrix = DMatrix::zeros(free.len(), free.len());
        for (row, &k) in free.iter().enumerate() {
            matrix[(row, row)] = operator.centre[k];
            let couplings = operator.couplings(k);
            for (n, coupling) in couplings.into_iter().enumerate().filter(|(n, _)| *n != 4) {
                let neighbour = k + n % 3 + n / 3 * operator.stride() - 1 - operator.stride();
                if let Ok(column) = free.binary_search(&neighbour) {
                    matrix[(row, column)] = -coupling;
                }
            }
        }
        let solution = DVector::zeros(free.len());
        Some(Self {
            factor: matrix.cholesky()?,
            free,
            solution,
        })
    }

    fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        for (value, &k) in self.solution.iter_mut().zip(&self.free) {
            *value = b[k];
        }
        self.factor.solve_mut(&mut self.solution);
        for (value, &k) in self.solution.iter().zip(&self.free) {
            x[k] = *value;
        }
    }
}
