//! The passes of the kernel over all tasks of a batch.

use super::{Mlp, kernel::Scratch, scalar::Scalar};

/// How a batch is shared: leading dimensions 1 or T of weights, inputs and cotangents.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Rows of weights W.
    pub weights: usize,
    /// Blocks of inputs X.
    pub inputs: usize,
    /// Blocks of cotangents D; that of a forward pass is max(W, X).
    pub cotangents: usize,
    /// Input rows of a task N.
    pub rows: usize,
}

impl Batch {
    /// Number of tasks T.
    pub fn tasks(&self) -> usize {
        self.weights.max(self.inputs).max(self.cotangents)
    }

    /// The same rows as one task where all tasks share the weights and nothing tells them apart.
    fn merged(self) -> Self {
        if self.weights == 1 && self.inputs == self.cotangents {
            Self {
                weights: 1,
                inputs: 1,
                cotangents: 1,
                rows: self.inputs * self.rows,
            }
        } else {
            self
        }
    }
}

/// The numbers of task `task`, of `all` that hold `count` blocks.
fn part<T>(all: &[T], count: usize, task: usize) -> &[T] {
    let length = all.len() / count;
    &all[(task % count) * length..][..length]
}

fn part_mut<T>(all: &mut [T], count: usize, task: usize) -> &mut [T] {
    let length = all.len() / count;
    &mut all[(task % count) * length..][..length]
}

/// Outputs; `kept` takes the hidden activations, [`Scratch::kept_width`] numbers a row of outputs.
pub fn forward<T: Scalar>(
    mlp: &Mlp,
    batch: Batch,
    (weights, x): (&[T], &[T]),
    mut kept: Option<&mut [T]>,
    scratch: &mut Scratch<T>,
) -> Vec<T> {
    let batch = batch.merged();
    let tasks = batch.tasks();
    let mut y = vec![T::ZERO; tasks * batch.rows * mlp.output_size()];
    for task in 0..tasks {
        if task < batch.weights {
            scratch.load(part(weights, batch.weights, task));
        }
        let x = part(x, batch.inputs, task);
        let kept = kept.as_deref_mut().map(|kept| part_mut(kept, tasks, task));
        scratch.forward(x, part_mut(&mut y, tasks, task), kept);
    }
    y
}

/// Derivatives of Σ dy ⊙ f with respect to weights and inputs, summed over tasks that share them.
pub fn backward<T: Scalar>(
    batch: Batch,
    (weights, x, dy): (&[T], &[T], &[T]),
    kept: &[T],
    (want_weights, want_inputs): (bool, bool),
    scratch: &mut Scratch<T>,
) -> (Option<Vec<T>>, Option<Vec<T>>) {
    let batch = batch.merged();
    let tasks = batch.tasks();
    let mut dw = want_weights.then(|| vec![T::ZERO; weights.len()]);
    let mut dx = want_inputs.then(|| vec![T::ZERO; x.len()]);
    for task in 0..tasks {
        if task < batch.weights {
            scratch.load_both(part(weights, batch.weights, task));
        }
        scratch.backward(
            part(x, batch.inputs, task),
            part(dy, batch.cotangents, task),
            Some(part(kept, tasks, task)),
            dw.as_deref_mut()
                .map(|dw| part_mut(dw, batch.weights, task)),
            dx.as_deref_mut().map(|dx| part_mut(dx, batch.inputs, task)),
        );
    }
    (dw, dx)
}

/// The derivative of Σ dy ⊙ f with respect to the weights, or to the inputs, a block a task.
pub fn gradient<T: Scalar>(
    mlp: &Mlp,
    batch: Batch,
    (weights, x, dy): (&[T], &[T], &[T]),
    by_inputs: bool,
    scratch: &mut Scratch<T>,
) -> Vec<T> {
    let tasks = batch.tasks();
    let size = if by_inputs {
        batch.rows * mlp.input_size()
    } else {
        mlp.weight_count()
    };
    let kept = evaluated_once(mlp, batch, (weights, x), scratch);
    let mut gradient = vec![T::ZERO; tasks * size];
    for task in 0..tasks {
        if task < batch.weights {
            scratch.load_both(part(weights, batch.weights, task));
        }
        let result = Some(part_mut(&mut gradient, tasks, task));
        let (dw, dx) = if by_inputs {
            (None, result)
        } else {
            (result, None)
        };
        let x = part(x, batch.inputs, task);
        scratch.backward(x, part(dy, batch.cotangents, task), kept.as_deref(), dw, dx);
    }
    gradient
}

/// The hidden activations, where all of several tasks share weights and inputs.
fn evaluated_once<T: Scalar>(
    mlp: &Mlp,
    batch: Batch,
    (weights, x): (&[T], &[T]),
    scratch: &mut Scratch<T>,
) -> Option<Vec<T>> {
    (batch.weights == 1 && batch.inputs == 1 && batch.cotangents > 1).then(|| {
        let mut y = vec![T::ZERO; batch.rows * mlp.output_size()];
        let mut kept = vec![T::ZERO; batch.rows * scratch.kept_width()];
        scratch.load(weights);
        scratch.forward(x, &mut y, Some(&mut kept));
        kept
    })
}

/// Derivatives of ⟨cotangent, [`gradient`]⟩ with respect to weights, inputs and dy.
pub fn second_order<T: Scalar>(
    batch: Batch,
    (weights, x, dy): (&[T], &[T], &[T]),
    cotangent: &[T],
    (by_inputs, want_inputs): (bool, bool),
    scratch: &mut Scratch<T>,
) -> [Vec<T>; 3] {
    let tasks = batch.tasks();
    let [mut dw, mut dx, mut ddy] = [weights, x, dy].map(|values| vec![T::ZERO; values.len()]);
    for task in 0..tasks {
        if task < batch.weights {
            scratch.load_both(part(weights, batch.weights, task));
        }
        let cotangent = Some(part(cotangent, tasks, task));
        scratch.second_order(
            part(x, batch.inputs, task),
            part(dy, batch.cotangents, task),
            if by_inputs {
                (None, cotangent)
            } else {
                (cotangent, None)
            },
            part_mut(&mut dw, batch.weights, task),
            want_inputs.then(|| part_mut(&mut dx, batch.inputs, task)),
            part_mut(&mut ddy, batch.cotangents, task),
        );
    }
    [dw, dx, ddy]
}
