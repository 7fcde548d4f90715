//! What a training step does besides its passes, as single burn operations on the CPU: there, a step
//! of small nets takes longer in bookkeeping of many small operations than in arithmetic.
//!
//! Other devices do the same by plain operations.

use std::{ops::Range, sync::Arc};

use burn::{
    backend::{
        Backend, Dispatch, Flex, TensorMetadata, backend_extension, flex::FlexTensor,
        tensor::FloatTensor,
    },
    tensor::{DType, Shape, Tensor},
};

use super::{
    Batch,
    adam::{self, Rates, State},
    direct::{Direct, Rows},
    net::Number,
};

/// The rows `order[range]` of every group of `all` `[groups, rows, …]`.
pub(super) fn gather<const D: usize>(
    all: &Tensor<D>,
    order: &Arc<Vec<usize>>,
    range: Range<usize>,
) -> Tensor<D> {
    let all = all.clone().into_dispatch();
    Tensor::from_dispatch(Dispatch::gather_rows(all, order.clone(), range))
}

/// One step of Adam, in the memory of its state.
pub(super) fn adam_step(state: State, gradient: Tensor<1>, rates: Rates) -> State {
    let (parameters, mean, square) = Dispatch::adam_step(
        state.0.into_dispatch(),
        state.1.into_dispatch(),
        state.2.into_dispatch(),
        gradient.into_dispatch(),
        rates,
    );
    (
        Tensor::from_dispatch(parameters),
        Tensor::from_dispatch(mean),
        Tensor::from_dispatch(square),
    )
}

/// The gradient `[P]` and the error `[1]` of a meta-loss without tensors.
pub(super) fn direct_gradient(
    loss: &Arc<dyn Direct>,
    parameters: Tensor<1>,
    batch: &Batch,
) -> (Tensor<1>, Tensor<1>) {
    let (gradient, error) = Dispatch::direct_gradient(
        parameters.into_dispatch(),
        batch.x.clone().into_dispatch(),
        batch.y.clone().into_dispatch(),
        loss.clone(),
    );
    (
        Tensor::from_dispatch(gradient),
        Tensor::from_dispatch(error),
    )
}

#[backend_extension(Flex)]
trait HostOps: Backend {
    fn gather_rows(
        all: FloatTensor<Self>,
        order: Arc<Vec<usize>>,
        range: Range<usize>,
    ) -> FloatTensor<Self>;
    fn adam_step(
        parameters: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        square: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        rates: Rates,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
    fn direct_gradient(
        parameters: FloatTensor<Self>,
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        loss: Arc<dyn Direct>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

impl HostOps for Flex {
    fn gather_rows(all: FlexTensor, order: Arc<Vec<usize>>, range: Range<usize>) -> FlexTensor {
        match all.dtype() {
            DType::F64 => gathered::<f64>(&all, &order[range]),
            _ => gathered::<f32>(&all, &order[range]),
        }
    }

    fn adam_step(
        parameters: FlexTensor,
        mean: FlexTensor,
        square: FlexTensor,
        gradient: FlexTensor,
        rates: Rates,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        let state = (parameters, mean, square);
        match gradient.dtype() {
            DType::F64 => stepped::<f64>(state, &gradient.to_contiguous(), rates),
            _ => stepped::<f32>(state, &gradient.to_contiguous(), rates),
        }
    }

    fn direct_gradient(
        parameters: FlexTensor,
        x: FlexTensor,
        y: FlexTensor,
        loss: Arc<dyn Direct>,
    ) -> (FlexTensor, FlexTensor) {
        let [parameters, x, y] = [parameters, x, y].map(|tensor| tensor.to_contiguous());
        match parameters.dtype() {
            DType::F64 => differentiated(&parameters, &x, &y, |at, to: &mut [f64]| {
                loss.double(at, to)
            }),
            _ => differentiated(&parameters, &x, &y, |at, to: &mut [f32]| {
                loss.single(at, to)
            }),
        }
    }
}

fn gathered<T: Number>(all: &FlexTensor, rows: &[usize]) -> FlexTensor {
    let mut shape = all.shape();
    let (groups, count) = (shape[0], shape[1]);
    let width = shape.num_elements() / (groups * count);
    let mut values = Vec::with_capacity(groups * rows.len() * width);
    for group in T::slice(all).chunks_exact(count * width) {
        match width {
            1 => values.extend(rows.iter().map(|&row| group[row])),
            2 => extend::<T, 2>(&mut values, group, rows),
            4 => extend::<T, 4>(&mut values, group, rows),
            6 => extend::<T, 6>(&mut values, group, rows),
            8 => extend::<T, 8>(&mut values, group, rows),
            _ => rows
                .iter()
                .for_each(|row| values.extend_from_slice(&group[row * width..][..width])),
        }
    }
    shape[1] = rows.len();
    T::tensor(values, shape)
}

/// Rows of a length that the compiler knows, which are copied without a call.
fn extend<T: Number, const WIDTH: usize>(values: &mut Vec<T>, group: &[T], rows: &[usize]) {
    let (group, _) = group.as_chunks::<WIDTH>();
    values.extend(rows.iter().flat_map(|&row| group[row]));
}

fn stepped<T: Number>(
    (mut parameters, mut mean, mut square): (FlexTensor, FlexTensor, FlexTensor),
    gradient: &FlexTensor,
    rates: Rates,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    adam::step_slices(
        T::slice_mut(&mut parameters),
        (T::slice_mut(&mut mean), T::slice_mut(&mut square)),
        T::slice(gradient),
        rates,
    );
    (parameters, mean, square)
}

fn differentiated<T: Number>(
    parameters: &FlexTensor,
    x: &FlexTensor,
    y: &FlexTensor,
    loss: impl FnOnce(Rows<T>, &mut [T]) -> T,
) -> (FlexTensor, FlexTensor) {
    let mut gradient = vec![T::ZERO; parameters.layout().num_elements()];
    let (groups, tasks, rows) = (x.shape()[0], y.shape()[0], y.shape()[1]);
    let at = Rows {
        parameters: T::slice(parameters),
        x: T::slice(x),
        y: T::slice(y),
        groups,
        tasks,
        rows,
    };
    let error = loss(at, &mut gradient);
    (
        T::tensor(gradient, parameters.shape()),
        T::tensor(vec![error], Shape::new([1])),
    )
}
