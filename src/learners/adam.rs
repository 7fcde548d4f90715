//! `m ← β₁m + (1−β₁)g`, `s ← β₂s + (1−β₂)g²`, `π ← π − η( m̂/(√ŝ + ε) + δπ )`: Adam with decoupled
//! weight decay δ, on one flat vector, along a gradient g whose norm can be limited.

use burn::tensor::Tensor;

use super::{
    host_ops,
    net::{self, Scalar},
};

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Moments of the gradient of a flat parameter vector.
#[derive(Debug)]
pub(super) struct Adam {
    /// Mean and square, from the first step on.
    moments: Option<(Tensor<1>, Tensor<1>)>,
    steps: i32,
    decay: f64,
    clip: f64,
}

/// The numbers of one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// What the parameters are multiplied by.
    keep: f64,
    /// What `m/(√s + floor)` is multiplied by.
    size: f64,
    /// What is added to √s.
    floor: f64,
    /// Largest norm of a gradient; 0 for no limit.
    clip: f64,
}

impl Adam {
    /// The state before the first step. Gradients are scaled down to the norm `clip`, where that is
    /// above zero.
    pub fn new(decay: f64, clip: f64) -> Self {
        Self {
            moments: None,
            steps: 0,
            decay,
            clip,
        }
    }

    /// The parameters after one step along `gradient` with learning rate `rate`. No readback.
    pub fn step(&mut self, parameters: Tensor<1>, gradient: Tensor<1>, rate: f64) -> Tensor<1> {
        self.steps = self.steps.saturating_add(1);
        let mean_correction = 1.0 - BETA_1.powi(self.steps);
        let square_correction = (1.0 - BETA_2.powi(self.steps)).sqrt();
        let rates = Rates {
            keep: 1.0 - rate * self.decay,
            size: rate * square_correction / mean_correction,
            floor: EPSILON * square_correction,
            clip: self.clip,
        };
        let step = if net::is_fused(&parameters) {
            host_ops::adam_step
        } else {
            plain_step
        };
        let (mean, square) = self
            .moments
            .take()
            .unwrap_or_else(|| (parameters.zeros_like(), parameters.zeros_like()));
        let (parameters, mean, square) = step((parameters, mean, square), gradient, rates);
        self.moments = Some((mean, square));
        parameters
    }
}

/// Parameters, mean and square.
pub(super) type State = (Tensor<1>, Tensor<1>, Tensor<1>);

fn plain_step((parameters, mean, square): State, gradient: Tensor<1>, rates: Rates) -> State {
    let gradient = clip(gradient, rates.clip);
    let mean = mean.mul_scalar(BETA_1) + gradient.clone().mul_scalar(1.0 - BETA_1);
    let square = square.mul_scalar(BETA_2) + gradient.square().mul_scalar(1.0 - BETA_2);
    let scaled = mean.clone() / square.clone().sqrt().add_scalar(rates.floor);
    let parameters = parameters.mul_scalar(rates.keep) - scaled.mul_scalar(rates.size);
    (parameters, mean, square)
}

/// Scales a gradient down to the norm `limit`, where that is above zero.
fn clip(gradient: Tensor<1>, limit: f64) -> Tensor<1> {
    if limit <= 0.0 {
        return gradient;
    }
    let norm = gradient.clone().square().sum().sqrt();
    let factor = norm.add_scalar(1e-12).recip().mul_scalar(limit);
    gradient * factor.clamp_max(1.0)
}

/// The same step on the host.
pub(super) fn step_slices<T: Scalar>(
    parameters: &mut [T],
    (mean, square): (&mut [T], &mut [T]),
    gradient: &[T],
    rates: Rates,
) {
    let [keep, size, floor] = [rates.keep, rates.size, rates.floor].map(T::from_f64);
    let [old_mean, old_square] = [BETA_1, BETA_2].map(T::from_f64);
    let [new_mean, new_square] = [1.0 - BETA_1, 1.0 - BETA_2].map(T::from_f64);
    let factor = T::from_f64(clip_factor(gradient, rates.clip));
    let moments = mean.iter_mut().zip(square);
    for ((p, g), (m, s)) in parameters.iter_mut().zip(gradient).zip(moments) {
        let g = *g * factor;
        *m = *m * old_mean + g * new_mean;
        *s = *s * old_square + g * g * new_square;
        *p = *p * keep - *m / (s.sqrt() + floor) * size;
    }
}

fn clip_factor<T: Scalar>(gradient: &[T], limit: f64) -> f64 {
    if limit <= 0.0 {
        return 1.0;
    }
    let squares = gradient.iter().map(|g| g.to_f64() * g.to_f64());
    (limit / (squares.sum::<f64>().sqrt() + 1e-12)).min(1.0)
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device};

    use super::*;

    #[test]
    fn steps_agree_with_the_formula_in_plain_numbers() {
        let device = Device::flex();
        let start = [0.5, -1.0, 2.0];
        let gradient = |p: &[f64]| [2.0 * p[0], p[1].powi(3), -0.1];
        let (rate, decay) = (0.05, 0.1);
        let mut expected = start;
        let mut moments = [(0.0, 0.0); 3];
        let mut tensor = Tensor::<1>::from_data(start, (&device, DType::F64));
        let mut adam = Adam::new(decay, 0.0);
        for k in 1..=20 {
            let g = gradient(&expected);
            for ((value, (m, s)), g) in expected.iter_mut().zip(&mut moments).zip(g) {
                *m = 0.9 * *m + 0.1 * g;
                *s = 0.999 * *s + 0.001 * g * g;
                let m_hat = *m / (1.0 - 0.9f64.powi(k));
                let s_hat: f64 = *s / (1.0 - 0.999f64.powi(k));
                *value -= rate * (m_hat / (s_hat.sqrt() + 1e-8) + decay * *value);
            }
            let g = Tensor::from_data(g, (&device, DType::F64));
            tensor = adam.step(tensor, g, rate);
        }
        let values: Vec<f64> = tensor.try_into_vec_as().unwrap();
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        }
    }

    #[test]
    fn the_step_on_the_host_is_the_step_on_the_device() {
        let tensor =
            |values: [f64; 3]| Tensor::<1>::from_data(values, (&Device::flex(), DType::F64));
        for clip in [0.0, 0.5, 100.0] {
            let rates = Rates {
                keep: 0.99,
                size: 0.1,
                floor: 1e-9,
                clip,
            };
            let state = || {
                (
                    tensor([0.5, -1.0, 2.0]),
                    tensor([0.1, 0.2, -0.3]),
                    tensor([0.5, 0.1, 0.2]),
                )
            };
            let gradient = || tensor([1.0, -2.0, 0.3]);
            let host = host_ops::adam_step(state(), gradient(), rates);
            let plain = plain_step(state(), gradient(), rates);
            for (host, plain) in [(host.0, plain.0), (host.1, plain.1), (host.2, plain.2)] {
                let difference: f64 = (host - plain).abs().max().into_scalar();
                assert!(difference < 1e-14, "clip {clip}: {difference:e}");
            }
        }
    }
}
