//! `x ← x − t H∇f(x)`: limited-memory BFGS for the few numbers of a context, on the host.

use std::collections::VecDeque;

/// Pairs of steps and gradient changes that are remembered.
const MEMORY: usize = 8;
/// Decrease that a step must reach, as a part of what the slope promises.
const DECREASE: f64 = 1e-4;
/// Halvings of a step before giving up.
const HALVINGS: usize = 40;

/// Minimises f from `start`; `f` returns the value and writes the gradient. Ends after `steps`
/// steps, when the gradient's norm is below `tolerance`, or when no step makes f smaller.
pub(super) fn minimise(
    start: Vec<f64>,
    steps: usize,
    tolerance: f64,
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Vec<f64> {
    let mut x = start;
    let mut gradient = vec![0.0; x.len()];
    let mut value = f(&x, &mut gradient);
    let mut pairs: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
    for _ in 0..steps {
        let size = norm(&gradient);
        if size.is_nan() || size <= tolerance {
            break;
        }
        let direction = direction(&gradient, &pairs);
        let slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            pairs.clear();
            continue;
        }
        let first = if pairs.is_empty() {
            norm(&gradient).max(1.0).recip()
        } else {
            1.0
        };
        let Some((next, next_gradient, next_value)) =
            search(&x, value, &direction, slope, first, &mut f)
        else {
            if pairs.is_empty() {
                break;
            }
            pairs.clear();
            continue;
        };
        let step = difference(&next, &x);
        let change = difference(&next_gradient, &gradient);
        if dot(&step, &change) > 1e-14 * norm(&step) * norm(&change) {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back((step, change));
        }
        (x, gradient, value) = (next, next_gradient, next_value);
    }
    x
}

/// −H∇f by the two-loop recursion.
fn direction(gradient: &[f64], pairs: &VecDeque<(Vec<f64>, Vec<f64>)>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut factors = Vec::with_capacity(pairs.len());
    for (step, change) in pairs.iter().rev() {
        let factor = dot(step, &q) / dot(step, change);
        add(&mut q, -factor, change);
        factors.push(factor);
    }
    if let Some((step, change)) = pairs.back() {
        let scale = dot(step, change) / dot(change, change);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((step, change), factor) in pairs.iter().zip(factors.into_iter().rev()) {
        let correction = dot(change, &q) / dot(step, change);
        add(&mut q, factor - correction, step);
    }
    q
}

/// A step along `direction` that makes f smaller, halved until it does.
fn search(
    x: &[f64],
    value: f64,
    direction: &[f64],
    slope: f64,
    first: f64,
    f: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Option<(Vec<f64>, Vec<f64>, f64)> {
    let mut length = first;
    let mut gradient = vec![0.0; x.len()];
    for _ in 0..HALVINGS {
        let mut next = x.to_vec();
        add(&mut next, length, direction);
        let next_value = f(&next, &mut gradient);
        if next_value <= value + DECREASE * length * slope {
            return (next != x).then_some((next, gradient, next_value));
        }
        length *= 0.5;
    }
    None
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banana_valley_is_descended_to_its_end() {
        let x = minimise(vec![-1.2, 1.0], 200, 1e-10, |x, g| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            g[0] = -2.0 * a - 400.0 * x[0] * b;
            g[1] = 200.0 * b;
            a * a + 100.0 * b * b
        });
        assert!(
            (x[0] - 1.0).abs() < 1e-7 && (x[1] - 1.0).abs() < 1e-7,
            "{x:?}"
        );
    }

    #[test]
    fn a_function_that_is_not_a_number_leaves_the_start() {
        let x = minimise(vec![2.0], 10, 1e-10, |_, g| {
            g[0] = f64::NAN;
            f64::NAN
        });
        assert_eq!(x, [2.0]);
    }
}
