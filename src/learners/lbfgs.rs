//! `x ← x − t H∇f(x)`: limited-memory BFGS on the host, for the few numbers of a context and for all
//! weights of a small net.

use std::collections::VecDeque;

/// Pairs of steps and gradient changes that a short search remembers.
const MEMORY: usize = 8;
/// Decrease that a step must reach, as a part of what the slope promises.
const DECREASE: f64 = 1e-4;
/// Halvings of a step before giving up.
const HALVINGS: usize = 40;

/// A step, the change of the gradient along it, and their product.
type Pair = (Vec<f64>, Vec<f64>, f64);

/// A search for the least f, step by step.
#[derive(Debug)]
pub(super) struct Lbfgs {
    x: Vec<f64>,
    gradient: Vec<f64>,
    value: f64,
    pairs: VecDeque<Pair>,
    memory: usize,
}

impl Lbfgs {
    /// A search from `start` that remembers so many pairs; `f` returns the value and writes the
    /// gradient.
    pub fn new(
        start: Vec<f64>,
        memory: usize,
        f: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Self {
        let mut gradient = vec![0.0; start.len()];
        Self {
            value: f(&start, &mut gradient),
            x: start,
            gradient,
            pairs: VecDeque::with_capacity(memory),
            memory,
        }
    }

    /// Where it is.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The value there.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Goes on from where it is with another f that is nearly the same; what is remembered stays.
    pub fn evaluate_anew(&mut self, f: &mut impl FnMut(&[f64], &mut [f64]) -> f64) {
        self.value = f(&self.x, &mut self.gradient);
    }

    /// One step; false where none makes f smaller. What is remembered is forgotten before it gives
    /// up.
    pub fn step(&mut self, f: &mut impl FnMut(&[f64], &mut [f64]) -> f64) -> bool {
        loop {
            let found = self.search(f);
            if let Some((x, gradient, value)) = found {
                self.remember(&x, &gradient);
                (self.x, self.gradient, self.value) = (x, gradient, value);
                return true;
            }
            if self.pairs.is_empty() {
                return false;
            }
            self.pairs.clear();
        }
    }

    fn remember(&mut self, x: &[f64], gradient: &[f64]) {
        let step = difference(x, &self.x);
        let change = difference(gradient, &self.gradient);
        let product = dot(&step, &change);
        if product > 1e-14 * norm(&step) * norm(&change) {
            if self.pairs.len() == self.memory {
                self.pairs.pop_front();
            }
            self.pairs.push_back((step, change, product));
        }
    }

    /// A step along −H∇f that makes f smaller, halved until it does.
    fn search(
        &self,
        f: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Option<(Vec<f64>, Vec<f64>, f64)> {
        let direction = direction(&self.gradient, &self.pairs);
        let slope = dot(&direction, &self.gradient);
        if slope.is_nan() || slope >= 0.0 {
            return None;
        }
        let mut length = if self.pairs.is_empty() {
            norm(&self.gradient).max(1.0).recip()
        } else {
            1.0
        };
        let mut gradient = vec![0.0; self.x.len()];
        for _ in 0..HALVINGS {
            let mut next = self.x.clone();
            add(&mut next, length, &direction);
            let value = f(&next, &mut gradient);
            if value <= self.value + DECREASE * length * slope {
                return (next != self.x).then_some((next, gradient, value));
            }
            length *= 0.5;
        }
        None
    }
}

/// Minimises f from `start`. Ends after `steps` steps, when the gradient's norm is below `tolerance`,
/// or when no step makes f smaller.
pub(super) fn minimise(
    start: Vec<f64>,
    steps: usize,
    tolerance: f64,
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Vec<f64> {
    let mut search = Lbfgs::new(start, MEMORY, &mut f);
    for _ in 0..steps {
        let size = norm(&search.gradient);
        if size.is_nan() || size <= tolerance || !search.step(&mut f) {
            break;
        }
    }
    search.x
}

/// −H∇f by the two-loop recursion.
fn direction(gradient: &[f64], pairs: &VecDeque<Pair>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut factors = Vec::with_capacity(pairs.len());
    for (step, change, product) in pairs.iter().rev() {
        let factor = dot(step, &q) / product;
        add(&mut q, -factor, change);
        factors.push(factor);
    }
    if let Some((_, change, product)) = pairs.back() {
        let scale = product / dot(change, change);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((step, change, product), factor) in pairs.iter().zip(factors.into_iter().rev()) {
        let correction = dot(change, &q) / product;
        add(&mut q, factor - correction, step);
    }
    q
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
