//! Weights in the layout of the kernel: rows padded to whole lanes.

use std::ops::Range;

use super::{product::padded, scalar::Scalar};

/// One layer: its sizes, and where its numbers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims {
    /// Units that it reads.
    pub input: usize,
    /// Units that it writes.
    pub output: usize,
    /// The padded number of units that it reads.
    pub input_width: usize,
    /// The padded number of units that it writes.
    pub output_width: usize,
    /// Start in the flat weights.
    flat: usize,
    /// Start in the padded weights.
    start: usize,
    /// Start in the transposed padded matrices.
    transposed_start: usize,
}

impl Dims {
    /// The layers of a network.
    pub fn of(sizes: &[usize]) -> Vec<Self> {
        let (mut flat, mut start, mut transposed_start) = (0, 0, 0);
        sizes
            .windows(2)
            .map(|s| {
                let (input, output) = (s[0], s[1]);
                let (input_width, output_width) = (padded(input), padded(output));
                let layer = Self {
                    input,
                    output,
                    input_width,
                    output_width,
                    flat,
                    start,
                    transposed_start,
                };
                flat += (input + 1) * output;
                start += (input + 1) * output_width;
                transposed_start += output * input_width;
                layer
            })
            .collect()
    }

    /// The padded matrix `[input, output_width]`.
    pub fn matrix(&self) -> Range<usize> {
        self.start..self.start + self.input * self.output_width
    }

    /// The padded bias `[output_width]`.
    pub fn bias(&self) -> Range<usize> {
        let start = self.start + self.input * self.output_width;
        start..start + self.output_width
    }

    /// The padded transposed matrix `[output, input_width]`.
    pub fn transposed(&self) -> Range<usize> {
        self.transposed_start..self.transposed_start + self.output * self.input_width
    }

    /// Matrix and bias in the flat weights: `input + 1` rows of `output` numbers.
    fn flat(&self) -> Range<usize> {
        self.flat..self.flat + (self.input + 1) * self.output
    }

    /// Matrix and bias in the padded weights: `input + 1` rows of `output_width` numbers.
    fn rows(&self) -> Range<usize> {
        self.start..self.bias().end
    }
}

/// Flat weights, copied to rows of whole lanes, and their matrices transposed.
#[derive(Clone, Debug)]
pub struct Packed<T> {
    /// Matrices and biases.
    pub values: Vec<T>,
    /// Transposed matrices, for the way back.
    pub transposed: Vec<T>,
}

impl<T: Scalar> Packed<T> {
    /// Room for the weights of a network.
    pub fn new(layers: &[Dims]) -> Self {
        let end = |range: fn(&Dims) -> Range<usize>| layers.last().map_or(0, |l| range(l).end);
        Self {
            values: vec![T::ZERO; end(Dims::bias)],
            transposed: vec![T::ZERO; end(Dims::transposed)],
        }
    }

    /// Takes flat weights.
    pub fn pack(&mut self, layers: &[Dims], weights: &[T]) {
        for layer in layers {
            let rows = weights[layer.flat()].chunks_exact(layer.output);
            let padded = self.values[layer.rows()].chunks_exact_mut(layer.output_width);
            for (row, padded) in rows.zip(padded) {
                padded[..layer.output].copy_from_slice(row);
            }
        }
    }

    /// Takes flat weights for the way back too.
    pub fn pack_both(&mut self, layers: &[Dims], weights: &[T]) {
        self.pack(layers, weights);
        for layer in layers {
            let rows = weights[layer.flat()].chunks_exact(layer.output);
            let transposed = &mut self.transposed[layer.transposed()];
            for (i, row) in rows.take(layer.input).enumerate() {
                for (column, value) in transposed[i..]
                    .iter_mut()
                    .step_by(layer.input_width)
                    .zip(row)
                {
                    *column = *value;
                }
            }
        }
    }

    /// Adds the padded numbers to flat ones, and forgets them.
    pub fn drain_into(&mut self, layers: &[Dims], flat: &mut [T]) {
        for layer in layers {
            let rows = flat[layer.flat()].chunks_exact_mut(layer.output);
            let padded = self.values[layer.rows()].chunks_exact(layer.output_width);
            for (row, padded) in rows.zip(padded) {
                for (sum, value) in row.iter_mut().zip(padded) {
                    *sum += *value;
                }
            }
        }
        self.values.fill(T::ZERO);
    }
}
