//! The network as one burn operation on the CPU, with hand-written derivatives.
//!
//! Three operations, forward, gradient and input gradient, run the kernel on burn's own memory.
//! The derivative of the first is the kernel's backward pass, that of the other two its
//! second-order pass.

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
    scalar::Scalar,
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
        evaluate(&mlp, &Arguments::new(weights, x, None), false).0
    }

    fn mlp_gradient(
        weights: FlexTensor,
        x: FlexTensor,
        dy: FlexTensor,
        mlp: Mlp,
        by_inputs: bool,
    ) -> FlexTensor {
        differentiate(&mlp, &Arguments::new(weights, x, Some(dy)), by_inputs)
    }
}

impl<C: CheckpointStrategy> FusedMlp for Autodiff<Flex, C> {
    fn mlp_forward(
        weights: FloatTensor<Self>,
        x: FloatTensor<Self>,
        mlp: Mlp,
    ) -> FloatTensor<Self> {
        let ((weights, w_node), (x, x_node)) = (weights.into_parts(), x.into_parts());
        let arguments = Arguments::new(weights, x, None);
        let step = ForwardStep { mlp: mlp.clone() };
        match step
            .prepare::<C>([w_node, x_node])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let (y, kept) = evaluate(&mlp, &arguments, true);
                prep.finish((arguments, kept), y)
            }
            OpsKind::UnTracked(prep) => prep.finish(evaluate(&mlp, &arguments, false).0),
        }
    }

    fn mlp_gradient(
        weights: FloatTensor<Self>,
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        mlp: Mlp,
        by_inputs: bool,
    ) -> FloatTensor<Self> {
        let ((weights, w_node), (x, x_node), (dy, dy_node)) =
            (weights.into_parts(), x.into_parts(), dy.into_parts());
        let arguments = Arguments::new(weights, x, Some(dy));
        let gradient = differentiate(&mlp, &arguments, by_inputs);
        let step = GradientStep { mlp, by_inputs };
        let nodes = [w_node, x_node, dy_node];
        match step.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(arguments, gradient),
            OpsKind::UnTracked(prep) => prep.finish(gradient),
        }
    }
}

/// The way back through the forward operation.
#[derive(Debug)]
struct ForwardStep {
    mlp: Mlp,
}

impl Backward<Flex, 2> for ForwardStep {
    type State = (Arguments, FlexTensor);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let dy = grads.consume::<Flex>(&ops.node);
        let (arguments, kept) = ops.state;
        let arguments = Arguments::new(arguments.weights, arguments.x, Some(dy));
        let wanted = (ops.parents[0].is_some(), ops.parents[1].is_some());
        let (dw, dx) = match arguments.weights.dtype() {
            DType::F64 => propagate::<f64>(&self.mlp, &arguments, &kept, wanted),
            _ => propagate::<f32>(&self.mlp, &arguments, &kept, wanted),
        };
        for (parent, value) in ops.parents.into_iter().zip([dw, dx]) {
            if let (Some(parent), Some(value)) = (parent, value) {
                grads.register::<Flex>(parent.id, value);
            }
        }
    }
}

/// The way back through the gradient operations.
#[derive(Debug)]
struct GradientStep {
    mlp: Mlp,
    by_inputs: bool,
}

impl Backward<Flex, 3> for GradientStep {
    type State = Arguments;

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let cotangent = grads.consume::<Flex>(&ops.node).to_contiguous();
        let want_inputs = ops.parents[1].is_some();
        let derivatives = match ops.state.weights.dtype() {
            DType::F64 => differentiate_twice::<f64>(&self, &ops.state, &cotangent, want_inputs),
            _ => differentiate_twice::<f32>(&self, &ops.state, &cotangent, want_inputs),
        };
        for (parent, value) in ops.parents.into_iter().zip(derivatives) {
            if let Some(parent) = parent {
                grads.register::<Flex>(parent.id, value);
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
trait Number: Scalar {
    /// The numbers of a contiguous tensor.
    fn slice(tensor: &FlexTensor) -> &[Self];
    /// A tensor of these numbers.
    fn tensor(values: Vec<Self>, shape: Shape) -> FlexTensor;
}

macro_rules! number {
    ($type:ty) => {
        impl Number for $type {
            fn slice(tensor: &FlexTensor) -> &[Self] {
                &tensor.storage::<Self>()[..tensor.layout().num_elements()]
            }

            fn tensor(values: Vec<Self>, shape: Shape) -> FlexTensor {
                FlexTensor::from_data(TensorData::new(values, shape))
            }
        }
    };
}

number!(f32);
number!(f64);

fn evaluate(mlp: &Mlp, arguments: &Arguments, keep: bool) -> (FlexTensor, FlexTensor) {
    match arguments.weights.dtype() {
        DType::F64 => evaluate_as::<f64>(mlp, arguments, keep),
        _ => evaluate_as::<f32>(mlp, arguments, keep),
    }
}

fn evaluate_as<T: Number>(
    mlp: &Mlp,
    arguments: &Arguments,
    keep: bool,
) -> (FlexTensor, FlexTensor) {
    let batch = arguments.batch();
    let (weights, x, _) = arguments.slices::<T>();
    let (y, kept) = tasks::forward(mlp, batch, weights, x, keep);
    let kept_shape = Shape::new([kept.len()]);
    let shape = Shape::new([batch.tasks(), batch.rows, mlp.output_size()]);
    (T::tensor(y, shape), T::tensor(kept, kept_shape))
}

fn propagate<T: Number>(
    mlp: &Mlp,
    arguments: &Arguments,
    kept: &FlexTensor,
    wanted: (bool, bool),
) -> (Option<FlexTensor>, Option<FlexTensor>) {
    let slices = arguments.slices::<T>();
    let (dw, dx) = tasks::backward(mlp, arguments.batch(), slices, T::slice(kept), wanted);
    (
        dw.map(|dw| T::tensor(dw, arguments.weights.shape())),
        dx.map(|dx| T::tensor(dx, arguments.x.shape())),
    )
}

fn differentiate(mlp: &Mlp, arguments: &Arguments, by_inputs: bool) -> FlexTensor {
    match arguments.weights.dtype() {
        DType::F64 => differentiate_as::<f64>(mlp, arguments, by_inputs),
        _ => differentiate_as::<f32>(mlp, arguments, by_inputs),
    }
}

fn differentiate_as<T: Number>(mlp: &Mlp, arguments: &Arguments, by_inputs: bool) -> FlexTensor {
    let batch = arguments.batch();
    let gradient = tasks::gradient(mlp, batch, arguments.slices::<T>(), by_inputs);
    let shape = if by_inputs {
        Shape::new([batch.tasks(), batch.rows, mlp.input_size()])
    } else {
        Shape::new([batch.tasks(), mlp.weight_count()])
    };
    T::tensor(gradient, shape)
}

fn differentiate_twice<T: Number>(
    step: &GradientStep,
    arguments: &Arguments,
    cotangent: &FlexTensor,
    want_inputs: bool,
) -> [FlexTensor; 3] {
    let slices = arguments.slices::<T>();
    let cotangent = T::slice(cotangent);
    let [dw, dx, ddy] = tasks::second_order(
        &step.mlp,
        arguments.batch(),
        slices,
        cotangent,
        (step.by_inputs, want_inputs),
    );
    let dy_shape = arguments
        .dy
        .as_ref()
        .map_or(Shape::new([0]), |dy| dy.shape());
    [
        T::tensor(dw, arguments.weights.shape()),
        T::tensor(dx, arguments.x.shape()),
        T::tensor(ddy, dy_shape),
    ]
}
