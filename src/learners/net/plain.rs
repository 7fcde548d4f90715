//! The network by plain tensor operations, on every device.
//!
//! The gradient is written out, so that automatic differentiation of it gives exact second
//! derivatives: with a₀ = x, z_l = a_{l−1} W_l + b_l, a_l = tanh z_l,
//! `δ_L = dy, ∂W_l = a_{l−1}ᵀ δ_l, ∂b_l = Σ_n δ_l, δ_{l−1} = δ_l W_lᵀ ⊙ (1 − a_{l−1}²)`.

use burn::tensor::Tensor;

use super::{Layer, Mlp};

/// See [`Mlp::forward`].
pub fn forward(mlp: &Mlp, weights: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    let (_, output) = activations(mlp, &weights, x);
    output
}

/// See [`Mlp::gradient`].
pub fn gradient(mlp: &Mlp, weights: Tensor<2>, x: Tensor<3>, dy: Tensor<3>) -> Tensor<2> {
    let tasks = task_count(&weights, &x, &dy);
    let (inputs, _) = activations(mlp, &weights, x);
    let mut parts = Vec::with_capacity(2 * inputs.len());
    let mut delta = dy;
    for (index, layer) in mlp.layers().enumerate().rev() {
        let bias = repeated(delta.clone().sum_dim(1).squeeze_dim(1), tasks);
        let matrix = inputs[index].clone().transpose().matmul(delta.clone());
        let [rows, ..] = matrix.dims();
        let matrix = repeated(matrix.reshape([rows, layer.matrix.len()]), tasks);
        parts.extend([bias, matrix]);
        if index > 0 {
            delta = product(delta, matrix_of(&weights, &layer).transpose())
                * slope(inputs[index].clone());
        }
    }
    parts.reverse();
    Tensor::cat(parts, 1)
}

/// See [`Mlp::input_gradient`].
pub fn input_gradient(mlp: &Mlp, weights: Tensor<2>, x: Tensor<3>, dy: Tensor<3>) -> Tensor<3> {
    let tasks = task_count(&weights, &x, &dy);
    let (inputs, _) = activations(mlp, &weights, x);
    let mut delta = dy;
    for (index, layer) in mlp.layers().enumerate().rev() {
        delta = product(delta, matrix_of(&weights, &layer).transpose());
        if index > 0 {
            delta = delta * slope(inputs[index].clone());
        }
    }
    let [rows, n, d] = delta.dims();
    if rows < tasks {
        delta.expand([tasks, n, d])
    } else {
        delta
    }
}

/// The input of every layer, and the output of the last.
fn activations(mlp: &Mlp, weights: &Tensor<2>, x: Tensor<3>) -> (Vec<Tensor<3>>, Tensor<3>) {
    let mut inputs = Vec::with_capacity(mlp.sizes.len());
    let mut a = x;
    for layer in mlp.layers() {
        let z = product(a.clone(), matrix_of(weights, &layer)) + bias_of(weights, &layer);
        inputs.push(a);
        a = if inputs.len() + 1 < mlp.sizes.len() {
            z.tanh()
        } else {
            z
        };
    }
    (inputs, a)
}

/// `a · m` for every task. A matrix that all tasks share makes one product of all their rows.
fn product(a: Tensor<3>, matrix: Tensor<3>) -> Tensor<3> {
    let [tasks, rows, inner] = a.dims();
    let [matrices, _, outer] = matrix.dims();
    if matrices == 1 && tasks > 1 {
        a.reshape([1, tasks * rows, inner])
            .matmul(matrix)
            .reshape([tasks, rows, outer])
    } else {
        a.matmul(matrix)
    }
}

/// 1 − a², the derivative of tanh where its value is a.
fn slope(a: Tensor<3>) -> Tensor<3> {
    (a.clone() * a).neg().add_scalar(1.0)
}

fn matrix_of(weights: &Tensor<2>, layer: &Layer) -> Tensor<3> {
    let [rows, _] = weights.dims();
    weights
        .clone()
        .slice([0..rows, layer.matrix.clone()])
        .reshape([rows, layer.input, layer.output])
}

fn bias_of(weights: &Tensor<2>, layer: &Layer) -> Tensor<3> {
    let [rows, _] = weights.dims();
    weights
        .clone()
        .slice([0..rows, layer.bias.clone()])
        .reshape([rows, 1, layer.output])
}

/// One row for every task, from one row or as many as tasks.
fn repeated(rows: Tensor<2>, tasks: usize) -> Tensor<2> {
    let [count, columns] = rows.dims();
    if count < tasks {
        rows.expand([tasks, columns])
    } else {
        rows
    }
}

fn task_count(weights: &Tensor<2>, x: &Tensor<3>, dy: &Tensor<3>) -> usize {
    weights.dims()[0].max(x.dims()[0]).max(dy.dims()[0])
}
