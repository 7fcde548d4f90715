//! `f(x; w) = W_L tanh(… tanh(x W_1 + b_1) …) + b_L`: the tanh multilayer perceptron that every
//! learner uses, with its exact first and second derivatives.
//!
//! [`Mlp::forward`] is differentiable as any burn operation. Learners that take gradient steps
//! inside their training loss need the gradient itself as a differentiable quantity:
//! [`Mlp::gradient`] and [`Mlp::input_gradient`]. One outer `backward()` through any number of such
//! steps is then exact.
//!
//! On the CPU all three run in a kernel of this module, on other devices by plain operations.
//! Control loops call the kernel without tensors: [`Mlp::evaluate`], [`Mlp::backward`].

mod fused;
mod kernel;
mod lanes;
mod packed;
mod passes;
mod plain;
mod product;
mod scalar;
mod second_order;
mod store;
mod tasks;
#[cfg(test)]
mod test_cases;

use std::ops::Range;

use burn::{
    backend::DispatchDevice,
    tensor::{DType, Tensor},
};
use rand::{Rng, RngExt as _};
use thiserror::Error;

pub(super) use fused::Number;
pub use kernel::Scratch;
pub(super) use lanes::Lanes;
pub(super) use product::Common;
pub use scalar::Scalar;
pub(super) use store::{Block, with_scratch};
#[cfg(test)]
pub(super) use store::{ROWS_IN_NETS, TIME_IN_NETS};

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
        self.check(&weights, &x, None);
        if is_fused(&weights) {
            fused::forward(self, weights, x)
        } else {
            plain::forward(self, weights, x)
        }
    }

    /// The gradient ∂/∂w Σ dy ⊙ f(x; w), a row a task, itself differentiable in all arguments.
    ///
    /// # Shapes
    /// - weights `[W, P]`, x `[X, N, d]`, dy `[D, N, o]`, each of W, X and D is 1 or T
    /// - returns `[T, P]`
    pub fn gradient(&self, weights: Tensor<2>, x: Tensor<3>, dy: Tensor<3>) -> Tensor<2> {
        self.check(&weights, &x, Some(&dy));
        if is_fused(&weights) {
            fused::gradient(self, weights, x, dy)
        } else {
            plain::gradient(self, weights, x, dy)
        }
    }

    /// The gradient ∂/∂x Σ dy ⊙ f(x; w), a block a task, itself differentiable in all arguments.
    ///
    /// # Shapes
    /// - weights `[W, P]`, x `[X, N, d]`, dy `[D, N, o]`, each of W, X and D is 1 or T
    /// - returns `[T, N, d]`
    pub fn input_gradient(&self, weights: Tensor<2>, x: Tensor<3>, dy: Tensor<3>) -> Tensor<3> {
        self.check(&weights, &x, Some(&dy));
        if is_fused(&weights) {
            fused::input_gradient(self, weights, x, dy)
        } else {
            plain::input_gradient(self, weights, x, dy)
        }
    }

    /// The outputs of many rows on the host, without tensors and without allocation.
    ///
    /// # Panics
    /// If `weights`, `x` or `y` has another length than P, N·d and N·o.
    pub fn evaluate<T: Scalar>(
        &self,
        weights: &[T],
        x: &[T],
        y: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        self.check_lengths(weights, x, y, scratch);
        scratch.load(weights);
        scratch.forward(x, y, None);
    }

    /// Adds the gradients of Σ dy ⊙ f(x; w) to `dw` `[P]` and `dx` `[N, d]` on the host, without
    /// tensors and without allocation.
    ///
    /// # Panics
    /// If a slice has another length than P, N·d or N·o.
    pub fn backward<T: Scalar>(
        &self,
        (weights, x, dy): (&[T], &[T], &[T]),
        dw: Option<&mut [T]>,
        dx: Option<&mut [T]>,
        scratch: &mut Scratch<T>,
    ) {
        self.check_lengths(weights, x, dy, scratch);
        assert!(dw.as_ref().is_none_or(|dw| dw.len() == weights.len()));
        assert!(dx.as_ref().is_none_or(|dx| dx.len() == x.len()));
        scratch.load_both(weights);
        scratch.backward(x, dy, None, dw, dx);
    }

    fn check_lengths<T: Scalar>(&self, weights: &[T], x: &[T], y: &[T], scratch: &Scratch<T>) {
        assert_eq!(weights.len(), self.weight_count(), "number of weights");
        let rows = x.len() / self.input_size();
        assert_eq!(x.len(), rows * self.input_size(), "length of whole rows");
        assert_eq!(y.len(), rows * self.output_size(), "length of the outputs");
        assert!(scratch.fits(&self.sizes), "scratch of another network");
    }

    fn check(&self, weights: &Tensor<2>, x: &Tensor<3>, dy: Option<&Tensor<3>>) {
        let ([w, p], [blocks, n, d]) = (weights.dims(), x.dims());
        let [cotangents, rows, o] = dy.map_or([w.max(blocks), n, self.output_size()], Tensor::dims);
        assert_eq!(p, self.weight_count(), "weights in a row");
        assert_eq!(d, self.input_size(), "numbers in an input row");
        assert_eq!(o, self.output_size(), "numbers in an output row");
        assert_eq!(n, rows, "rows of inputs and of cotangents");
        let tasks = w.max(blocks).max(cotangents);
        for count in [w, blocks, cotangents] {
            assert!(count == 1 || count == tasks, "{count} of {tasks} tasks");
        }
    }
}

/// Whether the kernel computes with the memory of this tensor.
pub(super) fn is_fused<const D: usize>(tensor: &Tensor<D>) -> bool {
    let device = tensor.device().inner();
    matches!(device.as_dispatch(), DispatchDevice::Flex(_))
        && matches!(tensor.dtype(), DType::F32 | DType::F64)
}

#[cfg(test)]
mod tests;
