//! References, tracking, the adaptive loop and model predictive control.
