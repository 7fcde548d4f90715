//! Nets on the host, in double precision and without tensors.

use super::net::{self, Mlp};

/// Memory that evaluations reuse, for every net that was evaluated with it.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    nets: Vec<(Vec<usize>, net::Scratch<f64>)>,
}

impl Scratch {
    fn of(&mut self, net: &Mlp) -> &mut net::Scratch<f64> {
        let known = self.nets.iter().position(|(sizes, _)| sizes == net.sizes());
        let index = known.unwrap_or_else(|| {
            let sizes = net.sizes().to_vec();
            let scratch = net::Scratch::new(&sizes);
            self.nets.push((sizes, scratch));
            self.nets.len() - 1
        });
        &mut self.nets[index].1
    }

    /// Outputs of input rows.
    pub(super) fn outputs(&mut self, net: &Mlp, weights: &[f64], x: &[f64], y: &mut [f64]) {
        net.evaluate(weights, x, y, self.of(net));
    }

    /// Writes ∂/∂w Σ dy ⊙ f(x; w).
    pub(super) fn weight_gradient(
        &mut self,
        net: &Mlp,
        at: (&[f64], &[f64], &[f64]),
        dw: &mut [f64],
    ) {
        dw.fill(0.0);
        net.backward(at, Some(dw), None, self.of(net));
    }

    /// Writes ∂/∂x Σ dy ⊙ f(x; w).
    pub(super) fn input_gradient(
        &mut self,
        net: &Mlp,
        at: (&[f64], &[f64], &[f64]),
        dx: &mut [f64],
    ) {
        dx.fill(0.0);
        net.backward(at, None, Some(dx), self.of(net));
    }
}
