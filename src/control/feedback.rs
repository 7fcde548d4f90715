//! Feedback around a predicted input: `u = û + K (q̄ − q) + K′ (q̄̇ − q̇)` (paper, A.3).

use nalgebra::{DMatrix, DVector};

use super::{lqr, reference::Reference, swing_up::STATE_WEIGHTS};
use crate::systems::{Robot, cartpole::Cartpole};

/// What is added to the predicted input.
pub trait Feedback {
    /// The correction at step `step`, for the measured state and the one that the reference has.
    fn input(&self, step: usize, state: &[f64], target: &[f64]) -> f64;

    /// Takes in, before a step, the measured state and the one that the reference has.
    fn see(&mut self, _state: &[f64], _target: &[f64]) {}

    /// Takes in, between two steps, whether the model noticed a change and the parameters that it
    /// identifies, if it does.
    fn observe(&mut self, _changed: bool, _parameters: Option<&[f64]>) {}
}

impl<F: Feedback + ?Sized> Feedback for Box<F> {
    fn input(&self, step: usize, state: &[f64], target: &[f64]) -> f64 {
        (**self).input(step, state, target)
    }

    fn see(&mut self, state: &[f64], target: &[f64]) {
        (**self).see(state, target);
    }

    fn observe(&mut self, changed: bool, parameters: Option<&[f64]>) {
        (**self).observe(changed, parameters);
    }
}

/// A spring between the pole's tip and the reference's, and a damper on the cart.
///
/// The spring's force on the cart is its horizontal part:
/// `K (x̄_tip − x_tip) + K′ (ȳ̇ − ẏ)`.
#[derive(Clone, Debug, PartialEq)]
pub struct TipFeedback {
    /// The robot, for its tip.
    pub cartpole: Cartpole,
    /// Stiffness K of the spring [N/m].
    pub stiffness: f64,
    /// Damping K′ [N s/m].
    pub damping: f64,
}

impl TipFeedback {
    /// The gains of the swing-up: K = K′ = 0.5.
    pub fn swing_up(cartpole: Cartpole) -> Self {
        Self {
            cartpole,
            stiffness: 0.5,
            damping: 0.5,
        }
    }

    /// The gains of the adaptive run: K = 1.1, K′ = 0.7.
    pub fn adaptive(cartpole: Cartpole) -> Self {
        Self {
            cartpole,
            stiffness: 1.1,
            damping: 0.7,
        }
    }
}

impl Feedback for TipFeedback {
    fn input(&self, _step: usize, state: &[f64], target: &[f64]) -> f64 {
        let sideways = self.cartpole.tip(target)[0] - self.cartpole.tip(state)[0];
        self.stiffness * sideways + self.damping * (target[1] - state[1])
    }
}

/// Springs and dampers on all joints: `Σ Kᵢ (x̄ᵢ − xᵢ)` over the state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateFeedback {
    /// Gain of each state variable, in the input's unit over the variable's.
    pub gains: Vec<f64>,
}

impl StateFeedback {
    /// The gains of the arm: K = K′ = 1 on the driven joint.
    pub fn arm() -> Self {
        Self {
            gains: vec![0.0, 0.0, 1.0, 1.0],
        }
    }
}

impl Feedback for StateFeedback {
    fn input(&self, _step: usize, state: &[f64], target: &[f64]) -> f64 {
        let errors = target.iter().zip(state).map(|(t, x)| t - x);
        self.gains.iter().zip(errors).map(|(k, e)| k * e).sum()
    }
}

/// A regulator along the reference: `u = K_k (x̄_k − x)`, the LQR of the robot linearised at every
/// step, with *nominal* parameters.
///
/// The weak gains above cannot hold a pole upright, where errors grow tenfold in 0.7 s whatever the
/// model. This feedback can, and is the same for all models: it does not know the true parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryFeedback {
    gains: Vec<DVector<f64>>,
}

impl TrajectoryFeedback {
    /// State weights `q` and input weight `r` of the regulator.
    pub fn new(
        robot: &dyn Robot,
        nominal: &[f64],
        reference: &Reference,
        q: &[f64],
        r: f64,
    ) -> Self {
        let q = DMatrix::from_diagonal(&DVector::from_column_slice(q));
        let mut cost = q.clone() * 10.0;
        let mut gains = vec![DVector::zeros(q.nrows()); reference.len()];
        for k in (0..reference.len()).rev() {
            let input = robot.inverse(nominal, &reference.features(robot, k));
            let lqr::Linear { a, b } = lqr::linearise(robot, nominal, &reference.states[k], input);
            let push = &cost * &b;
            let gain = (push.transpose() * &a) / (r + b.dot(&push));
            let next = &q + a.transpose() * &cost * (&a - &b * &gain);
            cost = (&next + next.transpose()) / 2.0;
            gains[k] = gain.transpose();
        }
        Self { gains }
    }

    /// The cartpole's, with the state weights of its balance and input weight `r`.
    pub fn cartpole(cartpole: &Cartpole, nominal: &[f64], reference: &Reference, r: f64) -> Self {
        Self::new(cartpole, nominal, reference, &STATE_WEIGHTS, r)
    }
}

impl Feedback for TrajectoryFeedback {
    fn input(&self, step: usize, state: &[f64], target: &[f64]) -> f64 {
        let Some(gain) = self.gains.get(step) else {
            return 0.0;
        };
        let errors = target.iter().zip(state).map(|(t, x)| t - x);
        gain.iter().zip(errors).map(|(k, e)| k * e).sum()
    }
}
