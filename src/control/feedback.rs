//! Feedback around a predicted input: `u = û + K (q̄ − q) + K′ (q̄̇ − q̇)` (paper, A.3).

use crate::systems::cartpole::Cartpole;

/// What is added to the predicted input.
pub trait Feedback {
    /// The correction at step `step`, for the measured state and the one that the reference has.
    fn input(&self, step: usize, state: &[f64], target: &[f64]) -> f64;
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

/// No feedback: the predicted input alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenLoop;

impl Feedback for OpenLoop {
    fn input(&self, _step: usize, _state: &[f64], _target: &[f64]) -> f64 {
        0.0
    }
}
