//! Linear-quadratic regulator: `u = −K x` minimises `Σ xᵀQx + R u²` along `x' = A x + B u`.
//!
//! K comes from the discrete Riccati recursion, run until it stands still:
//! `K = (R + BᵀPB)⁻¹ BᵀPA`, `P ← Q + Aᵀ P (A − B K)`.

use nalgebra::{DMatrix, DVector};

use crate::systems::{Robot, SystemError};

/// Recursions tried before the problem is refused as one that cannot be stabilised.
const RECURSIONS: usize = 100_000;
/// Relative change of P at which the recursion stands still.
const STANDSTILL: f64 = 1e-13;
/// Step of the central differences, relative to one unit of each variable.
const DIFFERENCE: f64 = 1e-6;

/// A linear time-invariant model `x' = A x + B u` of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// State transition A.
    pub a: DMatrix<f64>,
    /// Input effect B.
    pub b: DVector<f64>,
}

/// The robot's own step, linearised around a state and an input by central differences.
pub fn linearise(robot: &dyn Robot, parameters: &[f64], state: &[f64], input: f64) -> Linear {
    let n = state.len();
    let column = |plus: Vec<f64>, minus: Vec<f64>| {
        DVector::from_iterator(n, (0..n).map(|i| (plus[i] - minus[i]) / (2.0 * DIFFERENCE)))
    };
    let mut a = DMatrix::zeros(n, n);
    for j in 0..n {
        let shifted = |shift: f64| {
            let mut state = state.to_vec();
            state[j] += shift;
            robot.step(parameters, &state, input)
        };
        a.set_column(j, &column(shifted(DIFFERENCE), shifted(-DIFFERENCE)));
    }
    let pushed = |shift: f64| robot.step(parameters, state, input + shift);
    let b = column(pushed(DIFFERENCE), pushed(-DIFFERENCE));
    Linear { a, b }
}

/// The gain K of `u = −K x` for state weights `q` (a diagonal) and input weight `r`.
pub fn gain(model: &Linear, q: &[f64], r: f64) -> Result<DVector<f64>, SystemError> {
    let q = DMatrix::from_diagonal(&DVector::from_column_slice(q));
    let mut p = q.clone();
    for _ in 0..RECURSIONS {
        let pb = &p * &model.b;
        let k = (pb.transpose() * &model.a) / (r + model.b.dot(&pb));
        let next = &q + model.a.transpose() * &p * (&model.a - &model.b * &k);
        let change = (&next - &p).amax();
        p = (&next + next.transpose()) / 2.0;
        if !change.is_finite() {
            break;
        }
        if change <= STANDSTILL * p.amax() {
            return Ok(k.transpose());
        }
    }
    Err(SystemError::Invalid(
        "no linear feedback stabilises the system around this state".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scalar_gain_solves_the_quadratic_equation() {
        // x' = x + u, Q = R = 1: P² − P − 1 = 0, K = P / (1 + P), the golden ratio's inverse.
        let model = Linear {
            a: DMatrix::from_element(1, 1, 1.0),
            b: DVector::from_element(1, 1.0),
        };
        let k = gain(&model, &[1.0], 1.0).unwrap()[0];
        assert!((k - (5f64.sqrt() - 1.0) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn an_unstable_system_without_input_is_refused() {
        let model = Linear {
            a: DMatrix::from_element(1, 1, 2.0),
            b: DVector::from_element(1, 0.0),
        };
        assert!(gain(&model, &[1.0], 1.0).is_err());
    }
}
