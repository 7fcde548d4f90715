//! `f(x; w) = W_L tanh(… tanh(x W_1 + b_1) …) + b_L`: the tanh multilayer perceptron that every
//! learner uses, with its exact first and second derivatives.
//!
//! [`Mlp::forward`] is differentiable as any burn operation. Learners that take gradient steps
//! inside their training loss need the gradient itself as a differentiable quantity:
//! [`Mlp::gradient`] and [`Mlp::input_gradient`]. One outer `backward()` through any number of such
//! steps is then exact.

mod plain;
#[cfg(test)]
mod test_cases;

use std::ops::Range;

use burn::tensor::Tensor;
use rand::{Rng, RngExt as _};
use thiserror::Error;

/// A multilayer perceptron d → h₁ → … → o, tanh between the layers, the last layer linear.
///
/// Its weights are one flat vector of P numbers: layer after layer the matrix `[in, out]`, row
/// after row, and then the bias `[out]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mlp {
    sizes: Vec<usize>,
}

/// Sizes that are no network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MlpError {
    /// Fewer than an input and an output layer.
    #[error("a network has at least an input and an output size, but got {0:?}")]
    TooFewSizes(Vec<usize>),
    /// A layer without units.
    #[error("every layer of a network has at least 1 unit, but got {0:?}")]
    EmptyLayer(Vec<usize>),
}

/// Where one layer's weights are in the flat vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Units that it reads.
    pub input: usize,
    /// Units that it writes.
    pub output: usize,
    /// The matrix `[input, output]`, row after row.
    pub matrix: Range<usize>,
    /// The bias `[output]`.
    pub bias: Range<usize>,
}

impl Mlp {
    /// A network of layers of these sizes, inputs first.
    pub fn new(sizes: impl Into<Vec<usize>>) -> Result<Self, MlpError> {
        let sizes = sizes.into();
        if sizes.len() < 2 {
            return Err(MlpError::TooFewSizes(sizes));
        }
        if sizes.contains(&0) {
            return Err(MlpError::EmptyLayer(sizes));
        }
        Ok(Self { sizes })
    }

    /// Sizes of the layers, from the inputs d to the outputs o.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Numbers in an input row, d.
    pub fn input_size(&self) -> usize {
        self.sizes[0]
    }

    /// Numbers in an output row, o.
    pub fn output_size(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// Number of weights P.
    pub fn weight_count(&self) -> usize {
        self.sizes.windows(2).map(|s| (s[0] + 1) * s[1]).sum()
    }

    /// The layers, from the inputs on.
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = Layer> + ExactSizeIterator + '_ {
        let mut start = 0;
        let layers: Vec<_> = self
            .sizes
            .windows(2)
            .map(|s| {
                let (input, output) = (s[0], s[1]);
                let middle = start + input * output;
                let matrix = start..middle;
                start = middle + output;
                Layer {
                    input,
                    output,
                    matrix,
                    bias: middle..start,
                }
            })
            .collect();
        layers.into_iter()
    }

    /// Seeded first weights: every matrix uniform in ±√(6 / (in + out)) (Glorot, the usual choice
    /// for tanh), every bias uniform in ±1/√in, so that the units of a first layer with one or
    /// two inputs differ in their centres and not only in their slopes.
    pub fn initial_weights(&self, rng: &mut impl Rng) -> Vec<f64> {
        let mut weights = vec![0.0; self.weight_count()];
        for layer in self.layers() {
            let bound = (6.0 / (layer.input + layer.output) as f64).sqrt();
            weights[layer.matrix].fill_with(|| rng.random_range(-bound..=bound));
            let bound = 1.0 / (layer.input as f64).sqrt();
            weights[layer.bias].fill_with(|| rng.random_range(-bound..=bound));
        }
        weights
    }

    /// The outputs f(x; w), differentiable in both arguments.
    ///
    /// # Shapes
    /// - weights `[W, P]`, W = 1 (shared by all tasks) or T (a row a task)
    /// - x `[X, N, d]`, X = 1 (the same inputs in all tasks) or T
    /// - returns `[max(W, X), N, o]`
    pub fn forward(&self, weights: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
        plain::forward(self, weights, x)
    }

    /// The gradient ∂/∂w Σ dy ⊙ f(x; w), a row a task, itself differentiable in all arguments.
    ///
    /// # Shapes
    /// - weights `[W, P]`, x `[X, N, d]`, dy `[D, N, o]`, each of W, X and D is 1 or T
    /// - returns `[T, P]`
    pub fn gradient(&self, weights: Tensor<2>, x: Tensor<3>, dy: Tensor<3>) -> Tensor<2> {
        plain::gradient(self, weights, x, dy)
    }

    /// The gradient ∂/∂x Σ dy ⊙ f(x; w), a block a task, itself differentiable in all arguments.
    ///
    /// # Shapes
    /// - weights `[W, P]`, x `[X, N, d]`, dy `[D, N, o]`, each of W, X and D is 1 or T
    /// - returns `[T, N, d]`
    pub fn input_gradient(&self, weights: Tensor<2>, x: Tensor<3>, dy: Tensor<3>) -> Tensor<3> {
        plain::input_gradient(self, weights, x, dy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generator;

    #[test]
    fn layers_tile_the_weight_vector() {
        let mlp = Mlp::new([3, 5, 2]).unwrap();
        let layers: Vec<_> = mlp.layers().collect();
        assert_eq!(layers[0].matrix, 0..15);
        assert_eq!(layers[0].bias, 15..20);
        assert_eq!(layers[1].matrix, 20..30);
        assert_eq!(layers[1].bias, 30..32);
        assert_eq!(mlp.weight_count(), 32);
    }

    #[test]
    fn sizes_that_are_no_network_are_named() {
        let error = Mlp::new([3]).unwrap_err().to_string();
        assert!(error.contains("[3]"), "{error}");
        let error = Mlp::new([3, 0, 1]).unwrap_err().to_string();
        assert!(error.contains("[3, 0, 1]"), "{error}");
    }

    #[test]
    fn first_weights_follow_the_seed_and_the_bound() {
        let mlp = Mlp::new([2, 16, 3]).unwrap();
        let draw = |seed| mlp.initial_weights(&mut generator(seed, 0));
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let bound = (6.0f64 / 18.0).sqrt();
        let largest = draw(1)[..32].iter().fold(0.0f64, |m, w| m.max(w.abs()));
        assert!(largest <= bound && largest > 0.5 * bound);
    }
}
