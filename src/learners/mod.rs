//! How it is learned: meta-learners on burn.

pub mod net;
