//! `m ← β₁m + (1−β₁)g`, `s ← β₂s + (1−β₂)g²`, `π ← π − η( m̂/(√ŝ + ε) + δπ )`: Adam with decoupled
//! weight decay δ, on one flat vector.

use burn::tensor::Tensor;

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Moments of the gradient of a flat parameter vector.
#[derive(Debug)]
pub(super) struct Adam {
    mean: Tensor<1>,
    square: Tensor<1>,
    steps: i32,
    decay: f64,
}

impl Adam {
    /// Moments of a vector like `parameters` before the first step.
    pub fn new(parameters: &Tensor<1>, decay: f64) -> Self {
        Self {
            mean: parameters.zeros_like(),
            square: parameters.zeros_like(),
            steps: 0,
            decay,
        }
    }

    /// The parameters after one step along `gradient` with learning rate `rate`. No readback.
    pub fn step(&mut self, parameters: Tensor<1>, gradient: Tensor<1>, rate: f64) -> Tensor<1> {
        self.steps = self.steps.saturating_add(1);
        self.mean
            .inplace(|m| m.mul_scalar(BETA_1) + gradient.clone().mul_scalar(1.0 - BETA_1));
        self.square
            .inplace(|s| s.mul_scalar(BETA_2) + gradient.square().mul_scalar(1.0 - BETA_2));
        let mean_correction = 1.0 - BETA_1.powi(self.steps);
        let square_correction = (1.0 - BETA_2.powi(self.steps)).sqrt();
        let root = self.square.clone().sqrt();
        let scaled = self.mean.clone() / root.add_scalar(EPSILON * square_correction);
        let move_by = scaled.mul_scalar(rate * square_correction / mean_correction);
        let kept = if self.decay > 0.0 {
            parameters.mul_scalar(1.0 - rate * self.decay)
        } else {
            parameters
        };
        kept - move_by
    }
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
        let mut adam = Adam::new(&tensor, decay);
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
}
