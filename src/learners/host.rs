//! The net on the host, in double precision and without tensors.

use super::net::Mlp;

/// Memory that evaluations reuse.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    units: Vec<f64>,
    pulls: Vec<f64>,
    next: Vec<f64>,
}

/// Evaluation and derivatives of a net for rows of inputs.
pub(super) trait HostNet {
    /// Outputs of input rows.
    fn evaluate(&self, weights: &[f64], x: &[f64], out: &mut [f64], scratch: &mut Scratch);

    /// Writes ∂/∂w Σ dy ⊙ f(x; w).
    fn pull_back(
        &self,
        weights: &[f64],
        x: &[f64],
        dy: &[f64],
        dw: &mut [f64],
        scratch: &mut Scratch,
    );

    /// Writes ∂/∂x Σ dy ⊙ f(x; w).
    fn pull_back_inputs(
        &self,
        weights: &[f64],
        x: &[f64],
        dy: &[f64],
        dx: &mut [f64],
        scratch: &mut Scratch,
    );
}

/// All units of one row, inputs first.
fn fill_units(net: &Mlp, weights: &[f64], row: &[f64], units: &mut Vec<f64>) {
    units.clear();
    units.extend_from_slice(row);
    let count = net.sizes().len() - 1;
    let mut start = 0;
    for (k, layer) in net.layers().enumerate() {
        let end = units.len();
        units.extend_from_slice(&weights[layer.bias.clone()]);
        let (before, after) = units.split_at_mut(end);
        let inputs = &before[start..];
        for (x, weights) in inputs
            .iter()
            .zip(weights[layer.matrix].chunks_exact(layer.output))
        {
            for (unit, w) in after.iter_mut().zip(weights) {
                *unit += x * w;
            }
        }
        if k + 1 < count {
            for unit in after {
                *unit = unit.tanh();
            }
        }
        start = end;
    }
}

/// Pulls `scratch.pulls` of the outputs back through one row; adds to `dw`, leaves ∂/∂x in pulls.
fn pull_row(net: &Mlp, weights: &[f64], mut dw: Option<&mut [f64]>, scratch: &mut Scratch) {
    let mut end = scratch.units.len();
    for (k, layer) in net.layers().enumerate().rev() {
        if k + 2 < net.sizes().len() {
            let units = &scratch.units[end - layer.output..end];
            for (pull, unit) in scratch.pulls.iter_mut().zip(units) {
                *pull *= 1.0 - unit * unit;
            }
        }
        end -= layer.output;
        let inputs = &scratch.units[end - layer.input..end];
        if let Some(dw) = dw.as_deref_mut() {
            for (b, pull) in dw[layer.bias].iter_mut().zip(&scratch.pulls) {
                *b += pull;
            }
            let rows = dw[layer.matrix.clone()].chunks_exact_mut(layer.output);
            for (row, x) in rows.zip(inputs) {
                for (w, pull) in row.iter_mut().zip(&scratch.pulls) {
                    *w += x * pull;
                }
            }
        }
        scratch.next.clear();
        let rows = weights[layer.matrix].chunks_exact(layer.output);
        let pulls = &scratch.pulls;
        scratch
            .next
            .extend(rows.map(|row| row.iter().zip(pulls).map(|(w, p)| w * p).sum::<f64>()));
        std::mem::swap(&mut scratch.next, &mut scratch.pulls);
    }
}

impl HostNet for Mlp {
    fn evaluate(&self, weights: &[f64], x: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let rows = x.chunks_exact(self.input_size());
        for (row, out) in rows.zip(out.chunks_exact_mut(self.output_size())) {
            fill_units(self, weights, row, &mut scratch.units);
            let start = scratch.units.len() - out.len();
            out.copy_from_slice(&scratch.units[start..]);
        }
    }

    fn pull_back(
        &self,
        weights: &[f64],
        x: &[f64],
        dy: &[f64],
        dw: &mut [f64],
        scratch: &mut Scratch,
    ) {
        dw.fill(0.0);
        let rows = x.chunks_exact(self.input_size());
        for (row, dy) in rows.zip(dy.chunks_exact(self.output_size())) {
            fill_units(self, weights, row, &mut scratch.units);
            scratch.pulls.clear();
            scratch.pulls.extend_from_slice(dy);
            pull_row(self, weights, Some(dw), scratch);
        }
    }

    fn pull_back_inputs(
        &self,
        weights: &[f64],
        x: &[f64],
        dy: &[f64],
        dx: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let rows = x.chunks_exact(self.input_size());
        let pulls = dy.chunks_exact(self.output_size());
        for ((row, dy), dx) in rows.zip(pulls).zip(dx.chunks_exact_mut(self.input_size())) {
            fill_units(self, weights, row, &mut scratch.units);
            scratch.pulls.clear();
            scratch.pulls.extend_from_slice(dy);
            pull_row(self, weights, None, scratch);
            dx.copy_from_slice(&scratch.pulls);
        }
    }
}
