//! References, tracking, the adaptive loop and model predictive control.

pub mod adaptive;
pub mod arm_swing_up;
pub mod balance;
pub mod box_qp;
pub mod cartpole_adaptive;
pub mod controllers;
pub mod error;
pub mod feedback;
pub mod ilqr;
pub mod lqr;
pub mod mpc;
pub mod oracle;
pub mod plant;
pub mod recovery;
pub mod reference;
pub mod shots;
pub mod shuttle;
pub mod sway;
pub mod swing_up;
pub mod tracking;
pub mod tracking_trials;
pub mod trials;
pub mod upkie_adaptive;
pub mod upkie_plant;
