//! How much memory a learner takes: an allocator that counts.
//!
//! The engine's programs use it. Where it is not used, nothing is counted and figures are 0.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counted.
#[derive(Clone, Copy, Debug)]
pub struct Counting;

#[allow(
    unsafe_code,
    reason = "an allocator cannot be written otherwise; every call is passed on as it is"
)]
// SAFETY: the system's allocator does the work; counting does not touch what it gives.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        grow(size);
        unsafe { System.realloc(place, layout, size) }
    }
}

fn grow(size: usize) {
    let now = IN_USE.fetch_add(size, Relaxed) + size;
    MOST.fetch_max(now, Relaxed);
}

/// Watches the memory from a moment on.
#[derive(Debug)]
pub struct Watch {
    before: usize,
}

impl Watch {
    /// Begins; there can be one watch at a time.
    pub fn start() -> Self {
        let before = IN_USE.load(Relaxed);
        MOST.store(before, Relaxed);
        Self { before }
    }

    /// Memory that is in use now, beyond what was in use already [bytes]; negative if it is less.
    pub fn grown(&self) -> i64 {
        IN_USE.load(Relaxed) as i64 - self.before as i64
    }

    /// Most memory that was in use since then, beyond what was in use already [bytes].
    pub fn most(&self) -> u64 {
        MOST.load(Relaxed).saturating_sub(self.before) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code, reason = "calls an allocator")]
    fn the_most_that_was_in_use_is_remembered() {
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        // SAFETY: both places are given back as they were taken.
        unsafe {
            let kept = Counting.alloc(layout(500));
            let watch = Watch::start();
            let taken = Counting.alloc(layout(1_000));
            let taken = Counting.realloc(taken, layout(1_000), 3_000);
            Counting.dealloc(taken, layout(3_000));
            let taken = Counting.alloc_zeroed(layout(200));
            assert_eq!((watch.most(), watch.grown()), (3_000, 200));
            Counting.dealloc(taken, layout(200));
            assert_eq!(watch.grown(), 0);
            Counting.dealloc(kept, layout(500));
            assert_eq!(watch.grown(), -500);
        }
    }
}
