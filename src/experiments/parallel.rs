//! Work on several threads.
#![cfg(not(target_arch = "wasm32"))]

use std::{
    sync::{Mutex, MutexGuard},
    thread,
};

/// Does all items on up to `jobs` threads at a time, never more threads than items; `done` hears of one after the other.
pub fn spread<I: Send, O>(
    jobs: usize,
    items: Vec<I>,
    work: impl Fn(&I) -> O + Sync,
    done: impl FnMut(I, O) + Send,
) {
    let threads = jobs.min(items.len());
    let queue = Mutex::new(items.into_iter());
    let done = Mutex::new(done);
    // A function of its own: a guard in the head of a loop would be held through its body.
    let next = || lock(&queue).next();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = next() {
                    let outcome = work(&item);
                    lock(&done)(item, outcome);
                }
            });
        }
    });
}

/// A thread that panicked while it held the lock has left whole data.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Each of two items waits for a word from the other: one at a time would wait in vain.
    #[test]
    fn items_are_worked_on_at_the_same_time() {
        let (to_first, from_second) = mpsc::channel();
        let (to_second, from_first) = mpsc::channel();
        let ends = vec![
            Mutex::new((to_second, from_second)),
            Mutex::new((to_first, from_first)),
        ];
        let mut met = Vec::new();
        let meet = |ends: &Mutex<(mpsc::Sender<()>, mpsc::Receiver<()>)>| {
            let ends = lock(ends);
            let told = ends.0.send(()).is_ok();
            told && ends
                .1
                .recv_timeout(std::time::Duration::from_secs(60))
                .is_ok()
        };
        spread(2, ends, meet, |_, together| met.push(together));
        assert_eq!(met, [true, true]);
    }

    #[test]
    fn more_jobs_than_items_start_no_more_threads_than_those() {
        let mut seen = Vec::new();
        spread(
            usize::MAX,
            vec![1, 2],
            |n: &i32| -n,
            |n, m| seen.push((n, m)),
        );
        seen.sort_unstable();
        assert_eq!(seen, [(1, -1), (2, -2)]);
    }

    #[test]
    fn every_item_is_done_once() {
        let mut sum = 0;
        spread(
            3,
            (1..=100).collect(),
            |n: &i32| 2 * n,
            |_, twice| sum += twice,
        );
        assert_eq!(sum, 10_100);
    }
}
