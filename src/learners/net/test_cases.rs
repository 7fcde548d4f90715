//! Random small problems on which every implementation of the network is tested: all ways in
//! which tasks can share weights, inputs and cotangents.

use burn::tensor::{DType, Device, Tensor, TensorData};
use rand::RngExt as _;

use super::Mlp;
use crate::random::generator;

const TASKS: usize = 2;

/// The arguments of the network's gradients.
#[derive(Clone)]
pub struct Arguments {
    pub weights: Tensor<2>,
    pub x: Tensor<3>,
    pub dy: Tensor<3>,
}

/// A problem: leading dimensions of (weights, x, dy), and all values.
#[derive(Clone)]
pub struct Case {
    pub mlp: Mlp,
    pub leading: [usize; 3],
    pub rows: usize,
    pub values: [Vec<f64>; 3],
}

/// The problems.
pub fn cases() -> Vec<Case> {
    let shared = |bit: usize, case: usize| if case >> bit & 1 == 0 { 1 } else { TASKS };
    (0..8)
        .map(|case| Case::new(&[2, 4, 3, 2], [0, 1, 2].map(|bit| shared(bit, case)), 3))
        .chain([Case::new(&[2, 1], [1, TASKS, 1], 3)])
        .collect()
}

/// Problems of several blocks of rows and lanes, too large for central differences.
pub fn large_cases() -> Vec<Case> {
    vec![
        Case::new(&[6, 16, 16, 16, 4], [1, TASKS, TASKS], 70),
        Case::new(&[9, 17, 8, 11], [TASKS, 1, TASKS], 33),
        Case::new(&[2, 16, 16, 3], [1, 1, TASKS], 100),
    ]
}

impl Case {
    pub fn new(sizes: &[usize], leading: [usize; 3], rows: usize) -> Self {
        let mlp = Mlp::new(sizes).unwrap();
        let mut rng = generator(17, leading.iter().sum::<usize>() as u64);
        let mut draw = |count| {
            (0..count)
                .map(|_| rng.random_range(-1.0..1.0))
                .collect::<Vec<f64>>()
        };
        let values = [
            draw(leading[0] * mlp.weight_count()),
            draw(leading[1] * rows * mlp.input_size()),
            draw(leading[2] * rows * mlp.output_size()),
        ];
        Self {
            mlp,
            leading,
            rows,
            values,
        }
    }

    /// What identifies the case in a failed assertion.
    pub fn name(&self) -> String {
        format!("sizes {:?}, W X D = {:?}", self.mlp.sizes(), self.leading)
    }

    /// Number of tasks T of the gradients.
    pub fn tasks(&self) -> usize {
        self.leading.into_iter().max().unwrap()
    }

    /// The values as tensors.
    pub fn arguments(&self, device: &Device, dtype: DType) -> Arguments {
        self.arguments_of(&self.values, device, dtype)
    }

    fn arguments_of(&self, values: &[Vec<f64>; 3], device: &Device, dtype: DType) -> Arguments {
        let [w, x, d] = self.leading;
        let [weights, inputs, dy] = values.clone();
        let (mlp, rows, options) = (&self.mlp, self.rows, (device, dtype));
        Arguments {
            weights: Tensor::from_data(TensorData::new(weights, [w, mlp.weight_count()]), options),
            x: Tensor::from_data(
                TensorData::new(inputs, [x, rows, mlp.input_size()]),
                options,
            ),
            dy: Tensor::from_data(TensorData::new(dy, [d, rows, mlp.output_size()]), options),
        }
    }

    /// Some weights of a sum over a result, to make it one number.
    pub fn cotangent<const D: usize>(&self, like: &Tensor<D>) -> Tensor<D> {
        let shape = like.shape();
        let values = (0..shape.num_elements()).map(|i| (1.7 * i as f64 + 0.3).sin());
        let data = TensorData::new(values.collect::<Vec<_>>(), shape);
        let device = like.device();
        Tensor::from_data(data, (&device.inner(), like.dtype()))
    }

    /// Derivatives of a number by automatic differentiation.
    pub fn derivatives(
        &self,
        dtype: DType,
        number: impl Fn(Arguments) -> Tensor<1>,
    ) -> [Vec<f64>; 3] {
        let Arguments { weights, x, dy } = self.arguments(&Device::flex().autodiff(), dtype);
        let (weights, x, dy) = (weights.require_grad(), x.require_grad(), dy.require_grad());
        let grads = number(Arguments {
            weights: weights.clone(),
            x: x.clone(),
            dy: dy.clone(),
        })
        .backward();
        let zeros = |argument: usize| vec![0.0; self.values[argument].len()];
        [
            weights.grad(&grads).map_or(zeros(0), host),
            x.grad(&grads).map_or(zeros(1), host),
            dy.grad(&grads).map_or(zeros(2), host),
        ]
    }

    /// Derivatives of a number by central differences, error about 1e-10.
    pub fn differences(&self, number: impl Fn(Arguments) -> Tensor<1>) -> [Vec<f64>; 3] {
        let device = Device::flex();
        let step = 1e-5;
        std::array::from_fn(|argument| {
            let at = |index: usize, change: f64| {
                let mut values = self.values.clone();
                values[argument][index] += change;
                host(number(self.arguments_of(&values, &device, DType::F64)))[0]
            };
            (0..self.values[argument].len())
                .map(|index| (at(index, step) - at(index, -step)) / (2.0 * step))
                .collect()
        })
    }

    /// The values of one task alone.
    pub fn task(&self, task: usize) -> Self {
        let values = std::array::from_fn(|argument| {
            let values = &self.values[argument];
            let length = values.len() / self.leading[argument];
            let start = (task % self.leading[argument]) * length;
            values[start..start + length].to_vec()
        });
        Self {
            mlp: self.mlp.clone(),
            leading: [1; 3],
            rows: self.rows,
            values,
        }
    }

    /// The outputs of all tasks, number after number.
    pub fn expected_outputs(&self) -> Vec<f64> {
        let tasks = self.leading[0].max(self.leading[1]);
        (0..tasks)
            .flat_map(|task| {
                let [weights, x, _] = self.task(task).values;
                x.chunks(self.mlp.input_size())
                    .flat_map(|row| evaluated(&self.mlp, &weights, row))
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

/// One row through the network, by its definition.
fn evaluated(mlp: &Mlp, weights: &[f64], row: &[f64]) -> Vec<f64> {
    let last = mlp.layers().len() - 1;
    mlp.layers()
        .enumerate()
        .fold(row.to_vec(), |a, (index, layer)| {
            let (matrix, bias) = (&weights[layer.matrix], &weights[layer.bias]);
            let unit = |o: usize| {
                let sum = |(i, a)| a * matrix[i * layer.output + o];
                let z = bias[o] + a.iter().enumerate().map(sum).sum::<f64>();
                if index == last { z } else { z.tanh() }
            };
            (0..layer.output).map(unit).collect()
        })
}

/// The numbers of a tensor.
pub fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Largest difference, relative to the largest expected number where that is above 1.
pub fn distance(got: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(got.len(), expected.len());
    let scale = expected.iter().fold(1.0, |m: f64, e| m.max(e.abs()));
    let largest = |m: f64, (g, e): (&f64, &f64)| m.max((g - e).abs());
    got.iter().zip(expected).fold(0.0, largest) / scale
}
