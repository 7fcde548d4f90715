//! Memory that each thread reuses from step to step.
//!
//! Large blocks that are allocated and freed in every training step cost more in page faults than
//! the arithmetic that fills them.

use std::{
    cell::RefCell,
    fmt,
    ops::{Deref, DerefMut},
    thread::LocalKey,
};

use super::{kernel::Scratch, scalar::Scalar};

/// Blocks and scratches that wait for reuse, at most this many of each.
const LARGEST: usize = 16;

/// What a thread keeps for reuse.
#[derive(Debug)]
pub struct Store<T> {
    blocks: Vec<Vec<T>>,
    scratches: Vec<Scratch<T>>,
}

impl<T> Store<T> {
    const EMPTY: Self = Self {
        blocks: Vec::new(),
        scratches: Vec::new(),
    };
}

/// Numbers for which threads have a store.
pub trait Stored: Scalar {
    /// This thread's store.
    fn store() -> &'static LocalKey<RefCell<Store<Self>>>;
}

macro_rules! stored {
    ($type:ty) => {
        impl Stored for $type {
            fn store() -> &'static LocalKey<RefCell<Store<Self>>> {
                thread_local! {
                    static STORE: RefCell<Store<$type>> = const { RefCell::new(Store::EMPTY) };
                }
                &STORE
            }
        }
    };
}

stored!(f32);
stored!(f64);

#[cfg(test)]
thread_local! {
    /// Rows that this thread has sent through nets, forward or back.
    pub static ROWS_IN_NETS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Time that this thread has spent in passes of nets: their products and tanh.
    pub static TIME_IN_NETS: std::cell::Cell<std::time::Duration> = const { std::cell::Cell::new(std::time::Duration::ZERO) };
}

/// Runs with a scratch for a network of these sizes.
pub fn with_scratch<T: Stored, R>(sizes: &[usize], run: impl FnOnce(&mut Scratch<T>) -> R) -> R {
    let found = T::store().with_borrow_mut(|store| {
        let index = store.scratches.iter().position(|s| s.fits(sizes))?;
        Some(store.scratches.swap_remove(index))
    });
    let mut scratch = found.unwrap_or_else(|| Scratch::new(sizes));
    #[cfg(test)]
    let begun = web_time::Instant::now();
    let result = run(&mut scratch);
    #[cfg(test)]
    TIME_IN_NETS.set(TIME_IN_NETS.get() + begun.elapsed());
    T::store().with_borrow_mut(|store| put(&mut store.scratches, scratch));
    result
}

/// A block of numbers that goes back to the store of the thread that drops it.
pub struct Block<T: Stored> {
    values: Vec<T>,
    length: usize,
}

impl<T: Stored> Block<T> {
    /// A block of this length, of any content.
    pub fn of_any_content(length: usize) -> Self {
        let found = T::store().with_borrow_mut(|store| {
            let blocks = &store.blocks;
            let large_enough = |i: &usize| blocks[*i].len() >= length;
            let index = (0..blocks.len())
                .filter(large_enough)
                .min_by_key(|i| blocks[*i].len())
                .or_else(|| (0..blocks.len()).max_by_key(|i| blocks[*i].len()))?;
            Some(store.blocks.swap_remove(index))
        });
        let values = match found {
            Some(values) if values.len() >= length => values,
            _ => vec![T::ZERO; length],
        };
        Self { values, length }
    }

    /// A block of zeros.
    pub fn zeros(length: usize) -> Self {
        let mut block = Self::of_any_content(length);
        block.fill(T::ZERO);
        block
    }
}

impl<T: Stored> Drop for Block<T> {
    fn drop(&mut self) {
        let block = std::mem::take(&mut self.values);
        // A thread that ends has no store any more.
        let _ = T::store().try_with(|store| put(&mut store.borrow_mut().blocks, block));
    }
}

impl<T: Stored> Deref for Block<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[..self.length]
    }
}

impl<T: Stored> DerefMut for Block<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[..self.length]
    }
}

impl<T: Stored> fmt::Debug for Block<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({})", self.length)
    }
}

/// Keeps the newest.
fn put<E>(kept: &mut Vec<E>, new: E) {
    if kept.len() == LARGEST {
        kept.remove(0);
    }
    kept.push(new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_block_is_used_again() {
        let block = Block::<f64>::of_any_content(1000);
        let place = block.as_ptr();
        drop(block);
        let smaller = Block::<f64>::of_any_content(900);
        assert_eq!(smaller.as_ptr(), place);
        assert_eq!(smaller.len(), 900);
        let other = Block::<f64>::of_any_content(900);
        assert_ne!(other.as_ptr(), place);
    }

    #[test]
    fn the_store_keeps_few_blocks() {
        let blocks: Vec<_> = (0..3 * LARGEST).map(Block::<f32>::of_any_content).collect();
        drop(blocks);
        f32::store().with_borrow(|store| assert_eq!(store.blocks.len(), LARGEST));
    }
}
