//! The second-order pass: derivatives of a directional derivative of Φ.

use super::{
    kernel::{BLOCK, Buffers, Pass, Scratch},
    packed::{Dims, Packed},
    passes::{add_columns, forward_block, layer_input, spread_columns},
    product::{Instructions, Start, add_column_sums, add_transposed_product, multiply},
    scalar::Scalar,
};

/// See [`Scratch::second_order`].
pub struct SecondOrder<'a, T> {
    pub scratch: &'a mut Scratch<T>,
    pub x: &'a [T],
    pub dy: &'a [T],
    pub x_direction: Option<&'a [T]>,
    pub dw: &'a mut [T],
    pub dx: Option<&'a mut [T]>,
    pub ddy: &'a mut [T],
}

impl<T: Scalar> Pass for SecondOrder<'_, T> {
    #[inline(always)]
    fn run<I: Instructions>(mut self) {
        let Scratch {
            layers,
            weights,
            direction,
            sums,
            block,
            tangent,
            ..
        } = self.scratch;
        let (d, last) = (layers[0].input, &layers[layers.len() - 1]);
        let (o, width) = (last.output, last.output_width);
        let blocks = self.x.chunks(BLOCK * d).zip(self.dy.chunks(BLOCK * o));
        for (index, (x, dy)) in blocks.enumerate() {
            let rows = dy.len() / o;
            let of_rows =
                |columns: usize| index * BLOCK * columns..(index * BLOCK + rows) * columns;
            let x_direction = self.x_direction.map(|all| &all[of_rows(d)]);

            let output = &mut block.output[..rows * width];
            forward_block::<T, I>(layers, weights, x, &mut block.hidden, output, rows);
            tangent_block::<T, I>(
                layers,
                (weights, direction),
                (x, x_direction),
                block,
                tangent,
                rows,
            );
            let ddy = &mut self.ddy[of_rows(o)];
            add_columns((&tangent.output[..rows * width], width), (ddy, o));

            spread_columns((dy, o), (&mut block.delta[..rows * width], width));
            tangent.delta[..rows * width].fill(T::ZERO);
            let dx = self.dx.as_deref_mut().map(|all| &mut all[of_rows(d)]);
            back_block::<T, I>(
                layers,
                (weights, direction),
                (x, x_direction),
                (block, tangent),
                sums,
                (dx, rows),
            );
        }
        sums.drain_into(layers, self.dw);
    }
}

/// ȧ_l and ẏ of one block.
#[inline(always)]
fn tangent_block<T: Scalar, I: Instructions>(
    layers: &[Dims],
    (weights, direction): (&Packed<T>, &Packed<T>),
    (x, x_direction): (&[T], Option<&[T]>),
    block: &Buffers<T>,
    tangent: &mut Buffers<T>,
    rows: usize,
) {
    let mut start = 0;
    for (l, layer) in layers.iter().enumerate() {
        let input = layer_input(layers, l, x, &block.hidden, rows);
        let width = layer.output_width;
        let (before, after) = tangent.hidden.split_at_mut(start);
        let is_last = l + 1 == layers.len();
        let result = if is_last {
            &mut tangent.output[..rows * width]
        } else {
            &mut after[..rows * width]
        };
        let bias = Start::Row(&direction.values[layer.bias()]);
        multiply::<T, I>(
            input,
            (&direction.values[layer.matrix()], width),
            bias,
            result,
        );
        if let Some(input) = input_tangent(layers, l, x_direction, before, rows) {
            let matrix = (&weights.values[layer.matrix()], width);
            multiply::<T, I>(input, matrix, Start::Current, result);
        }
        if !is_last {
            let a = &block.hidden[start..start + rows * width];
            for (z, a) in result.iter_mut().zip(a) {
                *z = *z * (T::ONE - *a * *a);
            }
            start += rows * width;
        }
    }
}

/// The way back of one block: δ, δ̇, and the sums of ∂Ẇ.
#[inline(always)]
fn back_block<T: Scalar, I: Instructions>(
    layers: &[Dims],
    (weights, direction): (&Packed<T>, &Packed<T>),
    (x, x_direction): (&[T], Option<&[T]>),
    (block, tangent): (&mut Buffers<T>, &mut Buffers<T>),
    sums: &mut Packed<T>,
    (mut dx, rows): (Option<&mut [T]>, usize),
) {
    for (l, layer) in layers.iter().enumerate().rev() {
        let (width, input_width) = (layer.output_width, layer.input_width);
        let input = layer_input(layers, l, x, &block.hidden, rows);
        let input_tangent = input_tangent(layers, l, x_direction, &tangent.hidden, rows);
        let delta = &block.delta[..rows * width];
        let delta_tangent = &tangent.delta[..rows * width];

        let sum = &mut sums.values[layer.matrix()];
        add_transposed_product::<T, I>(input, (delta_tangent, width), sum);
        if let Some(input) = input_tangent {
            add_transposed_product::<T, I>(input, (delta, width), sum);
        }
        add_column_sums((delta_tangent, width), &mut sums.values[layer.bias()]);

        if l == 0 && dx.is_none() {
            break;
        }
        let g = &mut block.previous[..rows * input_width];
        let g_tangent = &mut tangent.previous[..rows * input_width];
        let matrix = (&weights.transposed[layer.transposed()], input_width);
        let moved = (&direction.transposed[layer.transposed()], input_width);
        let (delta, delta_tangent) = (
            (delta, width, layer.output),
            (delta_tangent, width, layer.output),
        );
        multiply::<T, I>(delta_tangent, matrix, Start::Zero, g_tangent);
        multiply::<T, I>(delta, moved, Start::Current, g_tangent);
        let (false, Some((a_tangent, ..))) = (l == 0, input_tangent) else {
            if let Some(dx) = &mut dx {
                add_columns((g_tangent, input_width), (dx, layer.input));
            }
            break;
        };
        multiply::<T, I>(delta, matrix, Start::Zero, g);
        for ((g, g_tangent), (a, a_tangent)) in g
            .iter_mut()
            .zip(g_tangent)
            .zip(input.0.iter().zip(a_tangent))
        {
            let slope = T::ONE - *a * *a;
            let bend = *a * *a_tangent;
            *g_tangent = *g_tangent * slope - *g * (bend + bend);
            *g = *g * slope;
        }
        std::mem::swap(&mut block.delta, &mut block.previous);
        std::mem::swap(&mut tangent.delta, &mut tangent.previous);
    }
}

/// Derivative of what layer `l` reads; none where the inputs x do not move.
#[inline(always)]
fn input_tangent<'a, T>(
    layers: &[Dims],
    l: usize,
    x_direction: Option<&'a [T]>,
    hidden: &'a [T],
    rows: usize,
) -> Option<(&'a [T], usize, usize)> {
    match (l, x_direction) {
        (0, None) => None,
        (0, Some(x)) => Some(layer_input(layers, 0, x, hidden, rows)),
        _ => Some(layer_input(layers, l, &[], hidden, rows)),
    }
}
