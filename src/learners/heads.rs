//! Heads w of one task on the features of its rows, on the CPU.
//!
//! Features lie column after column, so that sums over rows run through memory.

use std::{fmt::Debug, ops::Range};

use super::{
    batches::halves,
    net::{Common, Lanes as _, Scalar},
};

/// Sums that run side by side, [`Scalar::Eight`].
const LANES: usize = 8;

#[cfg(test)]
thread_local! {
    /// Rows that this thread has gone over for products of two features, or for pulls at them.
    pub static ROWS_IN_GRAMS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Features of the rows of a task, or of all tasks on the same inputs.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a, T> {
    /// `[r, N]`.
    pub values: &'a [T],
    /// Rows N.
    pub rows: usize,
}

/// What a rule sees of one task.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a, T> {
    /// Number of the task.
    pub task: usize,
    /// Number of all tasks.
    pub tasks: usize,
    /// The meta-parameters after those of the nets.
    pub own: &'a [T],
    /// Features of its rows.
    pub features: Features<'a, T>,
    /// Targets without the bias `[N]`.
    pub targets: &'a [T],
}

/// Where the derivatives of one task go.
#[derive(Debug)]
pub struct Pulls<'a, T> {
    /// Like [`Problem::own`]; added to.
    pub own: &'a mut [T],
    /// Like [`Features::values`]; added to.
    pub features: &'a mut [T],
    /// Derivative by the outputs `[N]`; written.
    pub outputs: &'a mut [T],
}

/// Where the head of a task comes from.
pub trait HeadRule: Debug + Send + Sync + 'static {
    /// What tasks on the same features share, and memory that they use one after the other.
    type Shared: Default;

    /// Computes what tasks on these features share.
    fn share<T: Scalar>(&self, features: Features<T>, own: &[T], shared: &mut Self::Shared);

    /// The task's part of the mean-square error over all tasks, and its derivatives, but for those that
    /// [`HeadRule::pull_shared`] adds.
    fn error<T: Scalar>(
        &self,
        problem: Problem<T>,
        pulls: Pulls<T>,
        shared: &mut Self::Shared,
    ) -> T;

    /// Adds the pulls at the features that what the tasks share causes.
    fn pull_shared<T: Scalar>(
        &self,
        _features: Features<T>,
        _pulled: &mut [T],
        _shared: &Self::Shared,
    ) {
    }
}

/// A head, and the pull at it.
#[derive(Debug, Default)]
pub struct Head {
    /// w.
    pub weights: Vec<f64>,
    /// The derivative by w.
    pub pull: Vec<f64>,
}

impl Head {
    /// Makes room for so many weights.
    pub fn resize(&mut self, rank: usize) {
        self.weights.resize(rank, 0.0);
        self.pull.resize(rank, 0.0);
    }
}

impl<'a, T: Scalar> Features<'a, T> {
    /// Features of a row, r.
    pub fn rank(&self) -> usize {
        self.values.len() / self.rows
    }

    /// The first half of the rows, to adapt to, and the second half, to be judged by.
    pub fn halves(&self) -> (Range<usize>, Range<usize>) {
        halves(self.rows)
    }

    fn columns(&self, range: Range<usize>) -> impl Iterator<Item = &'a [T]> + use<'a, T> {
        let columns = self.values.chunks_exact(self.rows);
        columns.map(move |column| &column[range.clone()])
    }

    /// Writes `G = VᵀV/n` of the rows `range`, in double precision.
    pub fn gram_into(&self, range: Range<usize>, gram: &mut [f64]) {
        let (rank, scale) = (self.rank(), 1.0 / range.len() as f64);
        for (k, column) in self.columns(range.clone()).enumerate() {
            for (l, other) in self.columns(range.clone()).take(k + 1).enumerate() {
                #[cfg(test)]
                count(range.len());
                let product = scale * dot(column, other).to_f64();
                gram[k * rank + l] = product;
                gram[l * rank + k] = product;
            }
        }
    }

    /// Adds the pulls at the features of the rows `range` that pulls at their Gram matrix cause.
    pub fn pull_gram(&self, by: &[f64], range: Range<usize>, pulled: &mut [T]) {
        let (rank, scale) = (self.rank(), 1.0 / range.len() as f64);
        for (k, pull) in pulled.chunks_exact_mut(self.rows).enumerate() {
            let pull = &mut pull[range.clone()];
            for (l, other) in self.columns(range.clone()).enumerate() {
                #[cfg(test)]
                count(range.len());
                let both = by[k * rank + l] + by[l * rank + k];
                add_scaled(pull, T::from_f64(scale * both), other);
            }
        }
    }
}

#[cfg(test)]
fn count(rows: usize) {
    ROWS_IN_GRAMS.set(ROWS_IN_GRAMS.get() + rows);
}

impl<T: Scalar> Problem<'_, T> {
    /// Rows N.
    pub fn rows(&self) -> usize {
        self.targets.len()
    }

    /// The error of a head on the rows `range`, its pulls at features and outputs there, and that at the
    /// head itself.
    pub fn judge(&self, head: &mut Head, range: Range<usize>, pulls: &mut Pulls<T>) -> T {
        let weight = 1.0 / (self.tasks * range.len()) as f64;
        let twice = T::from_f64(2.0 * weight);
        let squares = match head.weights.len() {
            1 => self.judge_small::<1>(head, range, twice, pulls),
            2 => self.judge_small::<2>(head, range, twice, pulls),
            3 => self.judge_small::<3>(head, range, twice, pulls),
            4 => self.judge_small::<4>(head, range, twice, pulls),
            _ => self.judge_any(head, range, twice, pulls),
        };
        squares * T::from_f64(weight)
    }

    /// Column by column.
    fn judge_any(&self, head: &mut Head, range: Range<usize>, twice: T, pulls: &mut Pulls<T>) -> T {
        let residuals = &mut pulls.outputs[range.clone()];
        for (e, y) in residuals.iter_mut().zip(&self.targets[range.clone()]) {
            *e = -*y;
        }
        for (w, column) in head
            .weights
            .iter()
            .zip(self.features.columns(range.clone()))
        {
            add_scaled(residuals, T::from_f64(*w), column);
        }
        let squares = dot(residuals, residuals);
        residuals.iter_mut().for_each(|e| *e = *e * twice);
        let columns = self.features.columns(range.clone());
        let pulled = pulls.features.chunks_exact_mut(self.rows());
        let head = head.weights.iter().zip(&mut head.pull);
        for ((w, head_pull), (column, pull)) in head.zip(columns.zip(pulled)) {
            *head_pull = dot(residuals, column).to_f64();
            add_scaled(&mut pull[range.clone()], T::from_f64(*w), residuals);
        }
        squares
    }

    /// The same for few weights, block of rows by block of rows, so that each number is read once.
    fn judge_small<const R: usize>(
        &self,
        head: &mut Head,
        range: Range<usize>,
        twice: T,
        pulls: &mut Pulls<T>,
    ) -> T {
        let rows = self.rows();
        let mut pulled = pulls.features.chunks_exact_mut(rows);
        let mut block = Blocks::<T, R> {
            head: std::array::from_fn(|k| T::from_f64(head.weights[k])),
            twice,
            targets: self.targets,
            columns: std::array::from_fn(|k| &self.features.values[k * rows..][..rows]),
            pulled: std::array::from_fn(|_| pulled.next().unwrap_or_default()),
            outputs: pulls.outputs,
            squares: T::Eight::of(T::ZERO),
            sums: [T::Eight::of(T::ZERO); R],
        };
        let rest = range.len() % LANES;
        let whole = range.end - rest;
        for at in (range.start..whole).step_by(LANES) {
            block.judge(at, LANES);
        }
        if rest > 0 {
            block.judge(whole, rest);
        }
        for (pull, sum) in head.pull.iter_mut().zip(block.sums) {
            *pull = total::<T>(sum).to_f64();
        }
        total::<T>(block.squares)
    }

    /// Writes `b = Vᵀy/n` of the rows `range`, in double precision.
    pub fn vector_into(&self, range: Range<usize>, vector: &mut [f64]) {
        let scale = 1.0 / range.len() as f64;
        let targets = &self.targets[range.clone()];
        for (product, column) in vector.iter_mut().zip(self.features.columns(range)) {
            *product = scale * dot(column, targets).to_f64();
        }
    }

    /// Adds the pulls at the rows `range` that pulls at their b cause, and writes those at their outputs.
    pub fn pull_vector(&self, by: &[f64], range: Range<usize>, pulls: &mut Pulls<T>) {
        let scale = 1.0 / range.len() as f64;
        let outputs = &mut pulls.outputs[range.clone()];
        outputs.fill(T::ZERO);
        let targets = &self.targets[range.clone()];
        let columns = self.features.columns(range.clone());
        let pulled = pulls.features.chunks_exact_mut(self.rows());
        for (by, (column, pull)) in by.iter().zip(columns.zip(pulled)) {
            add_scaled(&mut pull[range.clone()], T::from_f64(scale * by), targets);
            add_scaled(outputs, T::from_f64(-(scale * by)), column);
        }
    }
}

/// What [`Problem::judge`] reads, writes and adds up, for heads of R weights.
struct Blocks<'a, T: Scalar, const R: usize> {
    head: [T; R],
    twice: T,
    targets: &'a [T],
    columns: [&'a [T]; R],
    pulled: [&'a mut [T]; R],
    outputs: &'a mut [T],
    squares: T::Eight,
    sums: [T::Eight; R],
}

impl<T: Scalar, const R: usize> Blocks<'_, T, R> {
    /// The `count` rows from `at` on, at most [`LANES`].
    #[inline(always)]
    fn judge(&mut self, at: usize, count: usize) {
        // A loop, since `map` of an array may be left a call.
        let mut features = [T::Eight::of(T::ZERO); R];
        for (features, column) in features.iter_mut().zip(self.columns) {
            *features = lanes(column, at, count);
        }
        let mut residuals = lanes(self.targets, at, count).times(-T::ONE);
        for (w, features) in self.head.iter().zip(&features) {
            residuals.add_scaled::<Common>(*w, features);
        }
        self.squares.add_products(&residuals, &residuals);
        let residuals = residuals.times(self.twice);
        for (k, features) in features.iter().enumerate() {
            self.sums[k].add_products(&residuals, features);
            let mut moved = lanes(self.pulled[k], at, count);
            moved.add_scaled::<Common>(self.head[k], &residuals);
            store::<T>(self.pulled[k], moved, at, count);
        }
        store::<T>(self.outputs, residuals, at, count);
    }
}

/// `to += scale · from`.
pub(super) fn add_scaled<T: Scalar>(to: &mut [T], scale: T, from: &[T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += scale * *from;
    }
}

/// Σ a b, in lanes.
pub(super) fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = T::Eight::of(T::ZERO);
    for (a, b) in a.iter().zip(b) {
        sums.add_products(&T::Eight::load(a, 0), &T::Eight::load(b, 0));
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| *a * *b);
    rest.fold(total::<T>(sums), |sum, next| sum + next)
}

fn total<T: Scalar>(lanes: T::Eight) -> T {
    let mut values = [T::ZERO; LANES];
    lanes.store(&mut values, 0);
    values.into_iter().fold(T::ZERO, |sum, next| sum + next)
}

/// The `count` numbers from `at` on, filled up with zeros. Fewer than [`LANES`] are moved one by one:
/// a copy of any length is a call, which takes longer.
#[inline(always)]
fn lanes<T: Scalar>(values: &[T], at: usize, count: usize) -> T::Eight {
    if count == LANES {
        return T::Eight::load(values, at);
    }
    let values = &values[at..at + count];
    let mut few = [T::ZERO; LANES];
    (0..LANES).zip(&mut few).for_each(|(i, few)| {
        if let Some(value) = values.get(i) {
            *few = *value;
        }
    });
    T::Eight::load(&few, 0)
}

/// Writes the first `count` numbers from `at` on.
#[inline(always)]
fn store<T: Scalar>(to: &mut [T], values: T::Eight, at: usize, count: usize) {
    if count == LANES {
        return values.store(to, at);
    }
    let mut few = [T::ZERO; LANES];
    values.store(&mut few, 0);
    let to = &mut to[at..at + count];
    (0..LANES).zip(few).for_each(|(i, value)| {
        if let Some(to) = to.get_mut(i) {
            *to = value;
        }
    });
}
