//! The forward and the backward pass.

use super::{
    kernel::{BLOCK, Buffers, Pass, Scratch},
    packed::{Dims, Packed},
    product::{Instructions, Start, add_column_sums, add_transposed_product, multiply},
    scalar::Scalar,
};

/// See [`Scratch::forward`].
pub struct Forward<'a, T> {
    pub scratch: &'a mut Scratch<T>,
    pub x: &'a [T],
    pub y: &'a mut [T],
    pub kept: Option<&'a mut [T]>,
}

impl<T: Scalar> Pass for Forward<'_, T> {
    #[inline(always)]
    fn run<I: Instructions>(mut self) {
        let Scratch {
            layers,
            weights,
            block,
            hidden_width,
            ..
        } = self.scratch;
        let (d, last) = (layers[0].input, &layers[layers.len() - 1]);
        let (o, width) = (last.output, last.output_width);
        let blocks = self.x.chunks(BLOCK * d).zip(self.y.chunks_mut(BLOCK * o));
        for (index, (x, y)) in blocks.enumerate() {
            let rows = y.len() / o;
            let kept = index * BLOCK * *hidden_width;
            let hidden = match &mut self.kept {
                Some(all) => &mut all[kept..kept + rows * *hidden_width],
                None => &mut block.hidden[..],
            };
            let output = &mut block.output[..rows * width];
            forward_block::<T, I>(layers, weights, x, hidden, output, rows);
            copy_columns((output, width), (y, o));
        }
    }
}

/// See [`Scratch::backward`].
pub struct Backward<'a, T> {
    pub scratch: &'a mut Scratch<T>,
    pub x: &'a [T],
    pub dy: &'a [T],
    pub kept: Option<&'a [T]>,
    pub dw: Option<&'a mut [T]>,
    pub dx: Option<&'a mut [T]>,
}

impl<T: Scalar> Pass for Backward<'_, T> {
    #[inline(always)]
    fn run<I: Instructions>(mut self) {
        let Scratch {
            layers,
            weights,
            sums,
            block,
            hidden_width,
            ..
        } = self.scratch;
        let (d, last) = (layers[0].input, &layers[layers.len() - 1]);
        let (o, width) = (last.output, last.output_width);
        let Buffers {
            hidden,
            output,
            delta,
            previous,
        } = block;
        let blocks = self.x.chunks(BLOCK * d).zip(self.dy.chunks(BLOCK * o));
        for (index, (x, dy)) in blocks.enumerate() {
            let rows = dy.len() / o;
            let kept = index * BLOCK * *hidden_width;
            let hidden = match self.kept {
                Some(all) => &all[kept..kept + rows * *hidden_width],
                None => {
                    let output = &mut output[..rows * width];
                    forward_block::<T, I>(layers, weights, x, hidden, output, rows);
                    &hidden[..]
                }
            };
            spread_columns((dy, o), (&mut delta[..rows * width], width));
            for (l, layer) in layers.iter().enumerate().rev() {
                let input = layer_input(layers, l, x, hidden, rows);
                let wide = &delta[..rows * layer.output_width];
                if self.dw.is_some() {
                    let wide = (wide, layer.output_width);
                    add_transposed_product::<T, I>(input, wide, &mut sums.values[layer.matrix()]);
                    add_column_sums(wide, &mut sums.values[layer.bias()]);
                }
                if l == 0 && self.dx.is_none() {
                    break;
                }
                let previous_rows = &mut previous[..rows * layer.input_width];
                let matrix = &weights.transposed[layer.transposed()];
                multiply::<T, I>(
                    (wide, layer.output_width, layer.output),
                    (matrix, layer.input_width),
                    Start::Zero,
                    previous_rows,
                );
                if l > 0 {
                    for (g, a) in previous_rows.iter_mut().zip(input.0) {
                        *g = *g * (T::ONE - *a * *a);
                    }
                } else if let Some(dx) = &mut self.dx {
                    let dx = &mut dx[index * BLOCK * d..][..rows * d];
                    add_columns((previous_rows, layer.input_width), (dx, d));
                }
                std::mem::swap(delta, previous);
            }
        }
        if let Some(dw) = self.dw {
            sums.drain_into(layers, dw);
        }
    }
}

/// One block through all layers.
#[inline(always)]
pub fn forward_block<T: Scalar, I: Instructions>(
    layers: &[Dims],
    weights: &Packed<T>,
    x: &[T],
    hidden: &mut [T],
    output: &mut [T],
    rows: usize,
) {
    let mut start = 0;
    for (l, layer) in layers.iter().enumerate() {
        let (before, after) = hidden.split_at_mut(start);
        let input = layer_input(layers, l, x, before, rows);
        let is_last = l + 1 == layers.len();
        let result = if is_last {
            &mut output[..]
        } else {
            &mut after[..rows * layer.output_width]
        };
        let matrix = (&weights.values[layer.matrix()], layer.output_width);
        let bias = Start::Row(&weights.values[layer.bias()]);
        multiply::<T, I>(input, matrix, bias, result);
        if !is_last {
            for z in result.iter_mut() {
                *z = z.tanh();
            }
            start += rows * layer.output_width;
        }
    }
}

/// What layer `l` reads: the values, the distance of rows, and the number of units.
#[inline(always)]
pub fn layer_input<'a, T>(
    layers: &[Dims],
    l: usize,
    x: &'a [T],
    hidden: &'a [T],
    rows: usize,
) -> (&'a [T], usize, usize) {
    let layer = &layers[l];
    if l == 0 {
        return (x, layer.input, layer.input);
    }
    let start: usize = layers[..l - 1].iter().map(|l| l.output_width).sum();
    let values = &hidden[start * rows..][..rows * layer.input_width];
    (values, layer.input_width, layer.input)
}

/// Copies padded rows to rows without padding. Column by column: the rows are so short that copying
/// each would cost a call.
#[inline(always)]
pub fn copy_columns<T: Copy>((from, width): (&[T], usize), (to, columns): (&mut [T], usize)) {
    for column in 0..columns {
        let from = from[column..].iter().step_by(width);
        let to = to[column..].iter_mut().step_by(columns);
        to.zip(from).for_each(|(to, from)| *to = *from);
    }
}

/// Adds padded rows to rows without padding.
#[inline(always)]
pub fn add_columns<T: Scalar>((from, width): (&[T], usize), (to, columns): (&mut [T], usize)) {
    for (from, to) in from.chunks_exact(width).zip(to.chunks_exact_mut(columns)) {
        for (to, from) in to.iter_mut().zip(from) {
            *to += *from;
        }
    }
}

/// Copies rows to padded rows.
#[inline(always)]
pub fn spread_columns<T: Scalar>((from, columns): (&[T], usize), (to, width): (&mut [T], usize)) {
    to.fill(T::ZERO);
    for column in 0..columns {
        let from = from[column..].iter().step_by(columns);
        let to = to[column..].iter_mut().step_by(width);
        to.zip(from).for_each(|(to, from)| *to = *from);
    }
}
