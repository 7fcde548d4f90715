//! The network as one burn operation on the CPU, with hand-written derivatives.
//!
//! Three operations, forward, gradient and input gradient, run the kernel on burn's own memory.
//! The derivative of the first is the kernel's backward pass, that of the other two its
//! second-order pass.

use std::{marker::PhantomData, sync::Arc};

use burn::{
    backend::{
        Autodiff, Backend, Dispatch, Flex, TensorMetadata,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        backend_extension,
        flex::FlexTensor,
        tensor::FloatTensor,
    },
    tensor::{DType, Shape, Tensor, TensorData},
};

use super::{
    Mlp,
    store::{Block, Stored, with_scratch},
    tasks::{self, Batch},
};

/// See [`Mlp::forward`].
pub fn forward(mlp: &Mlp, weights: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    let (weights, x) = (weights.into_dispatch(), x.into_dispatch());
    Tensor::from_dispatch(Dispatch::mlp_forward(weights, x, mlp.clone()))
}

/// See [`Mlp::gradient`].
pub fn gradient(mlp: &Mlp, weights: Tensor<2>, x: Tensor<3>, dy: Tensor<3>) -> Tensor<2> {
    let (weights, x, dy) = (
        weights.into_dispatch(),
        x.into_dispatch(),
        dy.into_dispatch(),
    );
    Tensor::from_dispatch(Dispatch::mlp_gradient(weights, x, dy, mlp.clone(), false))
}

/// See [`Mlp::input_gradient`].
pub fn input_gradient(mlp: &Mlp, weights: Tensor<2>, x: Tensor<3>, dy: Tensor<3>) -> Tensor<3> {
    let (weights, x, dy) = (
        weights.into_dispatch(),
        x.into_dispatch(),
        dy.into_dispatch(),
    );
    Tensor::from_dispatch(Dispatch::mlp_gradient(weights, x, dy, mlp.clone(), true))
}

/// The operations that burn dispatches to the CPU, with and without automatic differentiation.
#[backend_extension(Autodiff, Flex)]
trait FusedMlp: Backend {
    fn mlp_forward(weights: FloatTensor<Self>, x: FloatTensor<Self>, mlp: Mlp)
    -> FloatTensor<Self>;
    fn mlp_gradient(
        weights: FloatTensor<Self>,
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        mlp: Mlp,
        by_inputs: bool,
    ) -> FloatTensor<Self>;
}

impl FusedMlp for Flex {
    fn mlp_forward(weights: FlexTensor, x: FlexTensor, mlp: Mlp) -> FlexTensor {
        let arguments = Arguments::new(weights, x, None);
        match arguments.weights.dtype() {
            DType::F64 => outputs::<f64>(&mlp, &arguments, None),
            _ => outputs::<f32>(&mlp, &arguments, None),
        }
    }

    fn mlp_gradient(
        weights: FlexTensor,
        x: FlexTensor,
        dy: FlexTensor,
        mlp: Mlp,
        by_inputs: bool,
    ) -> FlexTensor {
        let arguments = Arguments::new(weights, x, Some(dy));
        match arguments.weights.dtype() {
            DType::F64 => gradients::<f64>(&mlp, &arguments, by_inputs),
            _ => gradients::<f32>(&mlp, &arguments, by_inputs),
        }
    }
}

impl<C: CheckpointStrategy> FusedMlp for Autodiff<Flex, C> {
    fn mlp_forward(
        weights: FloatTensor<Self>,
        x: FloatTensor<Self>,
        mlp: Mlp,
    ) -> FloatTensor<Self> {
        match weights.dtype() {
            DType::F64 => tracked_forward::<f64, C>(weights, x, mlp),
            _ => tracked_forward::<f32, C>(weights, x, mlp),
        }
    }

    fn mlp_gradient(
        weights: FloatTensor<Self>,
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        mlp: Mlp,
        by_inputs: bool,
    ) -> FloatTensor<Self> {
        match weights.dtype() {
            DType::F64 => tracked_gradient::<f64, C>(weights, x, dy, mlp, by_inputs),
            _ => tracked_gradient::<f32, C>(weights, x, dy, mlp, by_inputs),
        }
    }
}

type Tracked<C> = FloatTensor<Autodiff<Flex, C>>;

fn tracked_forward<T: Number, C: CheckpointStrategy>(
    weights: Tracked<C>,
    x: Tracked<C>,
    mlp: Mlp,
) -> Tracked<C> {
    let ((weights, weights_node), (x, x_node)) = (weights.into_parts(), x.into_parts());
    let arguments = Arguments::new(weights, x, None);
    let step = ForwardStep::<T> {
        mlp: mlp.clone(),
        number: PhantomData,
    };
    let nodes = [weights_node, x_node];
    match step.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let batch = arguments.batch();
            let width = with_scratch::<T, _>(mlp.sizes(), |scratch| scratch.kept_width());
            let mut kept = Block::of_any_content(batch.tasks() * batch.rows * width);
            let y = outputs::<T>(&mlp, &arguments, Some(&mut kept));
            prep.finish((arguments, Arc::new(kept)), y)
        }
        OpsKind::UnTracked(prep) => prep.finish(outputs::<T>(&mlp, &arguments, None)),
    }
}

fn tracked_gradient<T: Number, C: CheckpointStrategy>(
    weights: Tracked<C>,
    x: Tracked<C>,
    dy: Tracked<C>,
    mlp: Mlp,
    by_inputs: bool,
) -> Tracked<C> {
    let (weights, weights_node) = weights.into_parts();
    let ((x, x_node), (dy, dy_node)) = (x.into_parts(), dy.into_parts());
    let arguments = Arguments::new(weights, x, Some(dy));
    let gradient = gradients::<T>(&mlp, &arguments, by_inputs);
    let step = GradientStep::<T> {
        mlp,
        by_inputs,
        number: PhantomData,
    };
    let nodes = [weights_node, x_node, dy_node];
    match step.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) => prep.finish(arguments, gradient),
        OpsKind::UnTracked(prep) => prep.finish(gradient),
    }
}

/// The way back through the forward operation.
#[derive(Debug)]
struct ForwardStep<T> {
    mlp: Mlp,
    number: PhantomData<T>,
}

impl<T: Number> Backward<Flex, 2> for ForwardStep<T> {
    type State = (Arguments, Arc<Block<T>>);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let dy = grads.consume::<Flex>(&ops.node);
        let (Arguments { weights, x, .. }, kept) = ops.state;
        let arguments = Arguments::new(weights, x, Some(dy));
        let wanted = (ops.parents[0].is_some(), ops.parents[1].is_some());
        let (dw, dx) = with_scratch(self.mlp.sizes(), |scratch| {
            let (batch, slices) = (arguments.batch(), arguments.slices::<T>());
            tasks::backward(batch, slices, &kept, wanted, scratch)
        });
        let shapes = [arguments.weights.shape(), arguments.x.shape()];
        let values = [dw, dx].into_iter().zip(shapes);
        for (parent, (value, shape)) in ops.parents.into_iter().zip(values) {
            if let (Some(parent), Some(value)) = (parent, value) {
                grads.register::<Flex>(parent.id, T::tensor(value, shape));
            }
        }
    }
}

/// The way back through the gradient operations.
#[derive(Debug)]
struct GradientStep<T> {
    mlp: Mlp,
    by_inputs: bool,
    number: PhantomData<T>,
}

impl<T: Number> Backward<Flex, 3> for GradientStep<T> {
    type State = Arguments;

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let cotangent = grads.consume::<Flex>(&ops.node).to_contiguous();
        let arguments = ops.state;
        let kinds = (self.by_inputs, ops.parents[1].is_some());
        let derivatives = with_scratch(self.mlp.sizes(), |scratch| {
            let (batch, slices) = (arguments.batch(), arguments.slices::<T>());
            tasks::second_order(batch, slices, T::slice(&cotangent), kinds, scratch)
        });
        let shapes = [
            arguments.weights.shape(),
            arguments.x.shape(),
            arguments.dy.map_or(Shape::new([0]), |dy| dy.shape()),
        ];
        let values = derivatives.into_iter().zip(shapes);
        for (parent, (value, shape)) in ops.parents.into_iter().zip(values) {
            if let Some(parent) = parent {
                grads.register::<Flex>(parent.id, T::tensor(value, shape));
            }
        }
    }
}

/// What a pass reads, number after number in memory.
#[derive(Clone, Debug)]
struct Arguments {
    weights: FlexTensor,
    x: FlexTensor,
    dy: Option<FlexTensor>,
}

impl Arguments {
    fn new(weights: FlexTensor, x: FlexTensor, dy: Option<FlexTensor>) -> Self {
        Self {
            weights: weights.to_contiguous(),
            x: x.to_contiguous(),
            dy: dy.map(|dy| dy.to_contiguous()),
        }
    }

    fn batch(&self) -> Batch {
        let leading = |tensor: &FlexTensor| tensor.layout().shape()[0];
        let (weights, inputs) = (leading(&self.weights), leading(&self.x));
        let cotangents = self.dy.as_ref().map_or(weights.max(inputs), leading);
        Batch {
            weights,
            inputs,
            cotangents,
            rows: self.x.layout().shape()[1],
        }
    }

    fn slices<T: Number>(&self) -> (&[T], &[T], &[T]) {
        let dy = self.dy.as_ref().map_or(&[][..], T::slice);
        (T::slice(&self.weights), T::slice(&self.x), dy)
    }
}

/// Numbers that a tensor can hold.
pub trait Number: Stored {
    /// The numbers of a contiguous tensor.
    fn slice(tensor: &FlexTensor) -> &[Self];
    /// The numbers of a tensor that was not sliced, to be changed; copied first if others hold them.
    fn slice_mut(tensor: &mut FlexTensor) -> &mut [Self];
    /// A tensor of these numbers.
    fn tensor(values: Vec<Self>, shape: Shape) -> FlexTensor;
}

macro_rules! number {
    ($type:ty) => {
        impl Number for $type {
            fn slice(tensor: &FlexTensor) -> &[Self] {
                &tensor.storage::<Self>()[..tensor.layout().num_elements()]
            }

            fn slice_mut(tensor: &mut FlexTensor) -> &mut [Self] {
                tensor.storage_mut::<Self>()
            }

            fn tensor(values: Vec<Self>, shape: Shape) -> FlexTensor {
                FlexTensor::from_data(TensorData::new(values, shape))
            }
        }
    };
}

number!(f32);
number!(f64);

/// The outputs; `kept` takes the hidden activations.
fn outputs<T: Number>(mlp: &Mlp, arguments: &Arguments, kept: Option<&mut [T]>) -> FlexTensor {
    let batch = arguments.batch();
    let (weights, x, _) = arguments.slices::<T>();
    let y = with_scratch(mlp.sizes(), |scratch| {
        tasks::forward(mlp, batch, (weights, x), kept, scratch)
    });
    T::tensor(
        y,
        Shape::new([batch.tasks(), batch.rows, mlp.output_size()]),
    )
}

/// The gradients of all tasks.
fn gradients<T: Number>(mlp: &Mlp, arguments: &Arguments, by_inputs: bool) -> FlexTensor {
    let batch = arguments.batch();
    let gradient = with_scratch(mlp.sizes(), |scratch| {
        tasks::gradient(mlp, batch, arguments.slices::<T>(), by_inputs, scratch)
    });
    let shape = if by_inputs {
        Shape::new([batch.tasks(), batch.rows, mlp.input_size()])
    } else {
        Shape::new([batch.tasks(), mlp.weight_count()])
    };
    T::tensor(gradient, shape)
}
