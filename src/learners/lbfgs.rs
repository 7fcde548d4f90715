//! `x ← x − t H∇f(x)`: limited-memory BFGS on the host, for the few numbers of a context and for all
//! weights of a small net.

use std::{
    collections::VecDeque,
    mem::{swap, take},
};

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
    /// What a step is tried with, and what it forgets: memory that the next one uses again.
    next: Vec<f64>,
    next_gradient: Vec<f64>,
    direction: Vec<f64>,
    factors: Vec<f64>,
    forgotten: Pair,
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
            next: start.clone(),
            next_gradient: gradient.clone(),
            direction: gradient.clone(),
            factors: Vec::with_capacity(memory),
            forgotten: Pair::default(),
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
            if let Some(value) = self.search(f) {
                self.remember();
                swap(&mut self.x, &mut self.next);
                swap(&mut self.gradient, &mut self.next_gradient);
                self.value = value;
                return true;
            }
            if self.pairs.is_empty() {
                return false;
            }
            self.pairs.clear();
        }
    }

    /// Keeps the step from here to `next`, in the memory of the one that is forgotten.
    fn remember(&mut self) {
        let (mut step, mut change, _) = take(&mut self.forgotten);
        write_difference(&self.next, &self.x, &mut step);
        write_difference(&self.next_gradient, &self.gradient, &mut change);
        let product = dot(&step, &change);
        let pair = (step, change, product);
        if product > 1e-14 * norm(&pair.0) * norm(&pair.1) {
            if self.pairs.len() == self.memory {
                self.forgotten = self.pairs.pop_front().unwrap_or_default();
            }
            self.pairs.push_back(pair);
        } else {
            self.forgotten = pair;
        }
    }

    /// Looks for a step along −H∇f that makes f smaller, halved until it does: writes where it leads, and
    /// gives the value there.
    fn search(&mut self, f: &mut impl FnMut(&[f64], &mut [f64]) -> f64) -> Option<f64> {
        self.turn();
        let slope = dot(&self.direction, &self.gradient);
        if slope.is_nan() || slope >= 0.0 {
            return None;
        }
        let mut length = if self.pairs.is_empty() {
            norm(&self.gradient).max(1.0).recip()
        } else {
            1.0
        };
        for _ in 0..HALVINGS {
            self.next.copy_from_slice(&self.x);
            add(&mut self.next, length, &self.direction);
            let value = f(&self.next, &mut self.next_gradient);
            if value <= self.value + DECREASE * length * slope {
                return (self.next != self.x).then_some(value);
            }
            length *= 0.5;
        }
        None
    }

    /// Writes the direction −H∇f, by the two-loop recursion.
    fn turn(&mut self) {
        let (q, pairs, factors) = (&mut self.direction, &self.pairs, &mut self.factors);
        for (q, g) in q.iter_mut().zip(&self.gradient) {
            *q = -g;
        }
        factors.clear();
        for (step, change, product) in pairs.iter().rev() {
            let factor = dot(step, q) / product;
            add(q, -factor, change);
            factors.push(factor);
        }
        if let Some((_, change, product)) = pairs.back() {
            let scale = product / dot(change, change);
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for ((step, change, product), factor) in pairs.iter().zip(factors.iter().rev()) {
            let correction = dot(change, q) / product;
            add(q, factor - correction, step);
        }
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

fn write_difference(a: &[f64], b: &[f64], to: &mut Vec<f64>) {
    to.clear();
    to.extend(a.iter().zip(b).map(|(a, b)| a - b));
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
