//! Training data of earlier runs, kept for the life of the engine up to a size.

use std::{cell::RefCell, collections::VecDeque, sync::Arc};

use crate::systems::Task;

/// Most numbers that are kept: 64 MB.
const MOST_NUMBERS: usize = 8_000_000;

struct Entry {
    system: String,
    seed: u64,
    tasks: Vec<Task>,
}

thread_local! {
    /// Oldest first.
    static KEPT: RefCell<VecDeque<Entry>> = const { RefCell::new(VecDeque::new()) };
}

/// The training tasks of a system and a seed, if they are kept.
pub fn find(system: &str, seed: u64) -> Option<Vec<Task>> {
    KEPT.with_borrow_mut(|kept| {
        let place = kept
            .iter()
            .position(|entry| (&*entry.system, entry.seed) == (system, seed))?;
        // Used last, forgotten last.
        let entry = kept.remove(place)?;
        let tasks = entry.tasks.clone();
        kept.push_back(entry);
        Some(tasks)
    })
}

/// Keeps training tasks, and forgets the oldest ones that leave no room.
pub fn keep(system: &str, seed: u64, tasks: &[Task]) {
    KEPT.with_borrow_mut(|kept| {
        kept.retain(|entry| (&*entry.system, entry.seed) != (system, seed));
        let tasks = tasks.to_vec();
        kept.push_back(Entry {
            system: system.to_owned(),
            seed,
            tasks,
        });
        while kept.iter().map(|entry| size(&entry.tasks)).sum::<usize>() > MOST_NUMBERS {
            kept.pop_front();
        }
    });
}

/// Numbers in memory; inputs that tasks share count once.
fn size(tasks: &[Task]) -> usize {
    let mut total = 0;
    for (t, task) in tasks.iter().enumerate() {
        let shared = t > 0 && Arc::ptr_eq(&task.inputs, &tasks[0].inputs);
        total += task.targets.len() + if shared { 0 } else { task.inputs.values.len() };
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::{NAMES, Samples, Split, by_name};

    fn tasks(numbers: usize) -> Vec<Task> {
        let inputs = Arc::new(Samples {
            dim: 1,
            values: vec![0.0; numbers],
        });
        let task = Task {
            parameters: Vec::new(),
            inputs,
            targets: Vec::new(),
        };
        vec![task.clone(), task]
    }

    #[test]
    fn the_training_sets_of_all_systems_are_kept_together() {
        for name in NAMES {
            let system = by_name(name).unwrap();
            let task = |phi: &Vec<f64>| system.task(phi, Split::Train, 0).unwrap();
            let tasks: Vec<_> = system
                .environments(Split::Train, 0)
                .iter()
                .map(task)
                .collect();
            keep(name, 0, &tasks);
        }
        for name in NAMES {
            assert!(find(name, 0).is_some(), "{name}");
        }
    }

    #[test]
    fn several_sets_are_kept_until_the_room_is_used_up() {
        let third = MOST_NUMBERS / 3;
        for seed in 0..3 {
            keep("arm", seed, &tasks(third));
        }
        assert!(find("arm", 0).is_some());
        keep("arm", 3, &tasks(third));
        assert!(find("arm", 1).is_none(), "the least recently used one goes");
        assert!(find("arm", 0).is_some() && find("arm", 2).is_some());
        assert!(find("cartpole", 0).is_none());
        keep("arm", 9, &tasks(MOST_NUMBERS + 1));
        assert!(find("arm", 9).is_none() && find("arm", 0).is_none());
    }
}
