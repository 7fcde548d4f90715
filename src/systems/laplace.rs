//! `∇²y = 0` on a rectangle, y given on some nodes, `∂y/∂n = 0` on the outer walls.
//!
//! Second-order finite differences on a regular grid of nodes. A wall node balances the flux
//! through its half cell, which is the ghost-node Neumann condition made symmetric. The nodes with
//! a given potential are eliminated, and the rest is solved by conjugate gradients with a multigrid
//! V-cycle as preconditioner.

mod multigrid;
mod stencil;

use self::{multigrid::Multigrid, stencil::Stencil};
use super::{SystemError, grid::Grid};

/// Relative residual ‖b − A y‖ / ‖b‖ at which the solver stops.
pub const TOLERANCE: f64 = 1e-8;
/// Iterations after which the solver gives up.
const MAX_ITERATIONS: usize = 100;
/// Edges closer to a free node than this part of the spacing are taken to be this far away.
const LEAST_FRACTION: f64 = 0.01;

#[cfg(test)]
thread_local! {
    /// Equations that this thread has solved.
    pub(crate) static SOLVED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A solved potential and how it was reached.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The potential on all nodes, x1 fastest.
    pub values: Vec<f64>,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Relative residual ‖b − A y‖ / ‖b‖ that was reached.
    pub residual: f64,
}

/// The given potential begins at the node that has it: bodies with edges in stairs.
pub fn at_node(_free: [f64; 2], _fixed: [f64; 2]) -> f64 {
    1.0
}

/// Solves Laplace's equation; `given` has the potential of the nodes that are held fixed.
///
/// `entry` says where, on the way from a free node to a fixed one, the given potential begins: a
/// fraction of the way, [`at_node`] for bodies that are made of nodes. A body whose edge runs
/// between nodes is resolved to second order (Gibou, Fedkiw, Cheng and Kang 2002).
pub fn solve(
    grid: &Grid,
    given: &[Option<f64>],
    entry: impl Fn([f64; 2], [f64; 2]) -> f64,
) -> Result<Solution, SystemError> {
    #[cfg(test)]
    SOLVED.set(SOLVED.get() + 1);
    check(grid, given)?;
    let (operator, b) = assemble(grid, given, entry);
    let mut preconditioner = Multigrid::new(operator.clone()).ok_or_else(|| {
        SystemError::Invalid("Laplace's equation has no unique solution on this grid".to_owned())
    })?;
    let (x, iterations, residual) = conjugate_gradients(&operator, &mut preconditioner, &b)?;
    let [width, height] = grid.size();
    let mut values = Vec::with_capacity(grid.node_count());
    for j in 0..height {
        let k = operator.index(0, j);
        values.extend_from_slice(&x[k..k + width]);
    }
    for (value, given) in values.iter_mut().zip(given) {
        *value = given.unwrap_or(*value);
    }
    Ok(Solution {
        values,
        iterations,
        residual,
    })
}

fn check(grid: &Grid, given: &[Option<f64>]) -> Result<(), SystemError> {
    if given.len() != grid.node_count() {
        return Err(SystemError::Invalid(format!(
            "the grid has {} nodes, but {} were given",
            grid.node_count(),
            given.len()
        )));
    }
    if let Some(value) = given.iter().flatten().find(|value| !value.is_finite()) {
        return Err(SystemError::Invalid(format!(
            "a given potential must be a finite number, but is {value}"
        )));
    }
    if given.iter().all(Option::is_none) {
        return Err(SystemError::Invalid(
            "at least one node needs a given potential, but none has one".to_owned(),
        ));
    }
    Ok(())
}

/// `A y = b` on the free nodes while it is put together.
struct Assembly<'a, F> {
    grid: &'a Grid,
    given: &'a [Option<f64>],
    entry: F,
    operator: Stencil,
    b: Vec<f64>,
}

/// The operator on the free nodes and the pull of the fixed ones, `A y = b`.
fn assemble(
    grid: &Grid,
    given: &[Option<f64>],
    entry: impl Fn([f64; 2], [f64; 2]) -> f64,
) -> (Stencil, Vec<f64>) {
    let [width, height] = grid.size();
    let operator = Stencil::zero(grid.size(), false);
    let b = vec![0.0; operator.length()];
    let mut assembly = Assembly {
        grid,
        given,
        entry,
        operator,
        b,
    };
    let [h1, h2] = grid.spacing();
    let on_wall = |n: usize, count: usize| if n == 0 || n + 1 == count { 0.5 } else { 1.0 };
    for j in 0..height {
        for i in 0..width {
            let k = assembly.operator.index(i, j);
            if i + 1 < width {
                let flux = on_wall(j, height) * h2 / h1;
                assembly.operator.east[k] = assembly.join([i, j], [i + 1, j], flux);
            }
            if j + 1 < height {
                let flux = on_wall(i, width) * h1 / h2;
                assembly.operator.north[k] = assembly.join([i, j], [i, j + 1], flux);
            }
        }
    }
    (assembly.operator, assembly.b)
}

impl<F: Fn([f64; 2], [f64; 2]) -> f64> Assembly<'_, F> {
    /// Joins two nodes by a flux; returns the coupling between them if both are unknown.
    fn join(&mut self, here: [usize; 2], there: [usize; 2], flux: f64) -> f64 {
        let given = [here, there].map(|[i, j]| self.given[self.grid.index(i, j)]);
        match given {
            [None, None] => {
                for [i, j] in [here, there] {
                    let k = self.operator.index(i, j);
                    self.operator.centre[k] += flux;
                }
                return flux;
            }
            [None, Some(value)] => self.hold(here, there, value, flux),
            [Some(value), None] => self.hold(there, here, value, flux),
            [Some(_), Some(_)] => {}
        }
        0.0
    }

    /// Joins a free node to a fixed one.
    fn hold(&mut self, free: [usize; 2], fixed: [usize; 2], value: f64, flux: f64) {
        let [from, to] = [free, fixed].map(|[i, j]| self.grid.position(i, j));
        let flux = flux / (self.entry)(from, to).clamp(LEAST_FRACTION, 1.0);
        let k = self.operator.index(free[0], free[1]);
        self.operator.centre[k] += flux;
        self.b[k] += flux * value;
    }
}

/// Solves `A x = b`; returns x, the iterations and the relative residual.
fn conjugate_gradients(
    operator: &Stencil,
    preconditioner: &mut Multigrid,
    b: &[f64],
) -> Result<(Vec<f64>, usize, f64), SystemError> {
    let scale = dot(b, b).sqrt();
    let mut x = vec![0.0; b.len()];
    if scale == 0.0 {
        return Ok((x, 0, 0.0));
    }
    let mut residual = b.to_vec();
    let mut preconditioned = x.clone();
    let mut direction = x.clone();
    let mut image = x.clone();
    let mut energy = f64::INFINITY;
    for iteration in 1..=MAX_ITERATIONS {
        preconditioner.apply(&residual, &mut preconditioned);
        let next_energy = dot(&residual, &preconditioned);
        add_scaled_into(&mut direction, &preconditioned, next_energy / energy);
        energy = next_energy;
        operator.apply(&direction, &mut image);
        let step = energy / dot(&direction, &image);
        add_scaled(&mut x, &direction, step);
        add_scaled(&mut residual, &image, -step);
        let relative = dot(&residual, &residual).sqrt() / scale;
        if relative <= TOLERANCE {
            return Ok((x, iteration, relative));
        }
    }
    let reached = dot(&residual, &residual).sqrt() / scale;
    Err(SystemError::Invalid(format!(
        "Laplace's equation was not solved to a residual of {TOLERANCE:e} in {MAX_ITERATIONS} \
         iterations, but only to {reached:e}"
    )))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks(4).zip(b.chunks(4)) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

/// `target += factor · vector`.
fn add_scaled(target: &mut [f64], vector: &[f64], factor: f64) {
    for (target, value) in target.iter_mut().zip(vector) {
        *target += factor * value;
    }
}

/// `target = vector + factor · target`.
fn add_scaled_into(target: &mut [f64], vector: &[f64], factor: f64) {
    for (target, value) in target.iter_mut().zip(vector) {
        *target = value + factor * *target;
    }
}

#[cfg(test)]
mod tests;
