//! The training data on the device, and minibatches drawn by a seeded generator on the host.
//!
//! Every epoch shuffles the row numbers once, and uploads them; a step takes the next slice. All
//! tasks use the same row numbers, so that inputs shared by all tasks are evaluated once.

use std::{ops::Range, sync::Arc};

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use super::{LearnerError, Scaling, host_ops, net::is_fused};
use crate::systems::Task;

/// Rows of all tasks.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Inputs `[X, N, d]`; X = 1 if all tasks share them, else T.
    pub x: Tensor<3>,
    /// Targets `[T, N]`.
    pub y: Tensor<2>,
}

impl Batch {
    /// Number of tasks T.
    pub fn tasks(&self) -> usize {
        self.y.dims()[0]
    }

    /// Number of rows a task, N.
    pub fn rows(&self) -> usize {
        self.y.dims()[1]
    }

    /// The first half of the rows, to adapt to, and the second half, to be judged by.
    pub fn halves(&self) -> (Self, Self) {
        let part = |rows: Range<usize>| Self {
            x: self.x.clone().narrow(1, rows.start, rows.len()),
            y: self.y.clone().narrow(1, rows.start, rows.len()),
        };
        let (support, query) = halves(self.rows());
        (part(support), part(query))
    }
}

/// The first half of so many rows, to adapt to, and the second half, to be judged by; a single row is
/// both.
pub(super) fn halves(rows: usize) -> (Range<usize>, Range<usize>) {
    let support = (rows / 2).max(1);
    (0..support, support.min(rows - 1)..rows)
}

/// The standardised training rows on a device.
#[derive(Debug)]
pub(super) struct Batches {
    all: Batch,
    rows: Arc<Vec<usize>>,
    /// The same row numbers on the device; none where the host gathers rows itself.
    order: Option<Tensor<1, Int>>,
    next: usize,
    size: usize,
    device: Device,
    rng: ChaCha8Rng,
}

impl Batches {
    /// Uploads the training rows of tasks that passed [`check_tasks`].
    pub fn new(
        tasks: &[Task],
        scaling: &Scaling,
        rows: Vec<usize>,
        size: usize,
        place: (&Device, DType),
        rng: ChaCha8Rng,
    ) -> Self {
        let all = upload(tasks, scaling, place);
        let device = place.0.clone();
        let size = size.min(rows.len());
        Self {
            all,
            next: rows.len(),
            rows: Arc::new(rows),
            order: None,
            size,
            device,
            rng,
        }
    }

    /// The next minibatch; the whole training set where it is no larger than a batch.
    pub fn draw(&mut self) -> Batch {
        if self.next + self.size > self.rows.len() {
            self.shuffle();
        }
        let (start, all) = (self.next, &self.all);
        self.next += self.size;
        match &self.order {
            None => Batch {
                x: host_ops::gather(&all.x, &self.rows, start..self.next),
                y: host_ops::gather(&all.y, &self.rows, start..self.next),
            },
            Some(order) => {
                let rows = order.clone().narrow(0, start, self.size);
                Batch {
                    x: all.x.clone().select(1, rows.clone()),
                    y: all.y.clone().select(1, rows),
                }
            }
        }
    }

    fn shuffle(&mut self) {
        Arc::make_mut(&mut self.rows).shuffle(&mut self.rng);
        self.next = 0;
        if !is_fused(&self.all.x) {
            let rows: Vec<i32> = self.rows.iter().map(|&row| row as i32).collect();
            let data = TensorData::new(rows, [self.rows.len()]);
            self.order = Some(Tensor::from_data(data, (&self.device, DType::I32)));
        }
    }
}

/// Whether all tasks hold the same inputs.
pub(super) fn shares_inputs(tasks: &[Task]) -> bool {
    tasks
        .iter()
        .all(|task| Arc::ptr_eq(&task.inputs, &tasks[0].inputs) || task.inputs == tasks[0].inputs)
}

/// Standardised rows of all tasks on the host.
#[derive(Debug)]
pub(super) struct HostRows {
    /// Inputs `[X, N, d]`.
    pub x: Vec<f64>,
    /// Targets `[T, N]`.
    pub y: Vec<f64>,
    /// Blocks of inputs X, 1 if all tasks share them, else T.
    pub groups: usize,
    /// Rows of a task N.
    pub rows: usize,
}

impl HostRows {
    /// The rows of these numbers, of tasks that passed [`check_tasks`].
    pub fn of(tasks: &[Task], scaling: &Scaling, rows: &[usize]) -> Self {
        let groups = if shares_inputs(tasks) { 1 } else { tasks.len() };
        let (mut x, mut block) = (Vec::new(), Vec::new());
        for task in &tasks[..groups] {
            let inputs: Vec<f64> = rows
                .iter()
                .flat_map(|&row| task.inputs.row(row))
                .copied()
                .collect();
            scaling.inputs_into(&inputs, &mut block);
            x.extend_from_slice(&block);
        }
        let targets = |task: &Task| {
            rows.iter()
                .map(|&row| scaling.target(task.targets[row]))
                .collect::<Vec<_>>()
        };
        Self {
            x,
            y: tasks.iter().flat_map(targets).collect(),
            groups,
            rows: rows.len(),
        }
    }

    /// The first `count` rows of each task.
    pub fn first(&self, count: usize) -> Self {
        let first = |values: &[f64], blocks: usize| {
            let length = values.len() / blocks;
            let kept = length / self.rows * count;
            let blocks = values.chunks_exact(length);
            blocks.flat_map(|block| &block[..kept]).copied().collect()
        };
        Self {
            x: first(&self.x, self.groups),
            y: first(&self.y, self.y.len() / self.rows),
            groups: self.groups,
            rows: count,
        }
    }

    /// The same rows, the second half of each task before the first.
    pub fn turned(&self) -> Self {
        let turn = |values: &[f64], blocks: usize| {
            let (length, mut turned) = (values.len() / blocks, values.to_vec());
            let half = length / self.rows * (self.rows / 2);
            for block in turned.chunks_exact_mut(length) {
                block.rotate_left(half);
            }
            turned
        };
        Self {
            x: turn(&self.x, self.groups),
            y: turn(&self.y, self.y.len() / self.rows),
            ..*self
        }
    }
}

/// Standardised rows of all tasks as tensors.
fn upload(tasks: &[Task], scaling: &Scaling, place: (&Device, DType)) -> Batch {
    let (count, dim) = (tasks[0].targets.len(), tasks[0].inputs.dim);
    let all: Vec<usize> = (0..count).collect();
    let HostRows { x, y, groups, .. } = HostRows::of(tasks, scaling, &all);
    Batch {
        x: Tensor::from_data(TensorData::new(x, [groups, count, dim]), place),
        y: Tensor::from_data(TensorData::new(y, [tasks.len(), count]), place),
    }
}

/// Checks that the tasks can be trained on together.
pub(super) fn check_tasks(tasks: &[Task]) -> Result<(), LearnerError> {
    let first = tasks
        .first()
        .ok_or_else(|| LearnerError::Tasks("training needs at least 1 task, but got 0".into()))?;
    let (rows, dim) = (first.targets.len(), first.inputs.dim);
    for (t, task) in tasks.iter().enumerate() {
        let complaint = if task.inputs.dim != dim || dim == 0 {
            format!("has {} inputs", task.inputs.dim)
        } else if task.inputs.values.len() != dim * task.targets.len() {
            format!(
                "has {} targets for {} rows",
                task.targets.len(),
                task.inputs.len()
            )
        } else if task.targets.len() != rows || rows < 2 {
            format!("has {} rows", task.targets.len())
        } else if task.parameters.len() != first.parameters.len() {
            format!("has {} physical parameters", task.parameters.len())
        } else {
            super::error::finite("training inputs", &task.inputs.values)?;
            super::error::finite("training targets", &task.targets)?;
            continue;
        };
        return Err(LearnerError::Tasks(format!(
            "training tasks must all have {dim} inputs, {rows} rows (at least 2) and {} physical \
             parameters, but task {t} {complaint}",
            first.parameters.len()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{random::generator, systems::Samples};

    fn tasks(shared: bool) -> Vec<Task> {
        let samples = |t: usize| {
            Arc::new(Samples {
                dim: 2,
                values: (0..20).map(|i| (i + t) as f64).collect(),
            })
        };
        let common = samples(0);
        (0..3)
            .map(|t| Task {
                parameters: vec![t as f64],
                inputs: if shared { common.clone() } else { samples(t) },
                targets: (0..10).map(|i| (100 * t + i) as f64).collect(),
            })
            .collect()
    }

    #[test]
    fn an_epoch_visits_every_row_of_every_task_once() {
        let tasks = tasks(true);
        let scaling = Scaling::of(&tasks, false);
        let place = (&Device::flex(), DType::F64);
        let rng = generator(1, 0);
        let mut batches = Batches::new(&tasks, &scaling, (0..10).collect(), 5, place, rng);
        let (first, second) = (batches.draw(), batches.draw());
        assert_eq!(first.x.dims(), [1, 5, 2]);
        let seen = Tensor::cat(vec![first.y, second.y], 1);
        let seen: Vec<f64> = seen.try_into_vec_as().unwrap();
        for (t, row) in seen.chunks(10).enumerate() {
            let mut row: Vec<_> = row
                .iter()
                .map(|&y| scaling.restore(y).round() as usize)
                .collect();
            row.sort_unstable();
            assert_eq!(row, (100 * t..100 * t + 10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn tasks_with_their_own_inputs_keep_them() {
        let tasks = tasks(false);
        let scaling = Scaling::of(&tasks, false);
        let place = (&Device::flex(), DType::F64);
        let mut batches = Batches::new(&tasks, &scaling, vec![7], 5, place, generator(1, 0));
        let batch = batches.draw();
        assert_eq!(batch.x.dims(), [3, 1, 2]);
        let x: Vec<f64> = batch.x.try_into_vec_as().unwrap();
        let mut expected = vec![];
        scaling.inputs_into(&[14.0, 15.0, 15.0, 16.0, 16.0, 17.0], &mut expected);
        assert!(x.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn halves_have_all_rows_and_a_single_row_is_both() {
        let of = |rows| halves(rows);
        assert_eq!((of(1), of(2)), ((0..1, 0..1), (0..1, 1..2)));
        assert_eq!((of(5), of(6)), ((0..2, 2..5), (0..3, 3..6)));
    }

    #[test]
    fn tasks_of_different_length_are_named() {
        let mut tasks = tasks(false);
        tasks[2].targets.pop();
        let error = check_tasks(&tasks).unwrap_err().to_string();
        assert!(error.contains("task 2") && error.contains('9'), "{error}");
        assert!(check_tasks(&[]).is_err());
    }
}
