//! References, tracking, the adaptive loop and model predictive control.

pub mod lqr;
pub mod reference;
pub mod swing_up;
