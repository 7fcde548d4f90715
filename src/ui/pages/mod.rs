//! One file a page.

pub mod differences;
pub mod experiments;
pub mod gallery;
pub mod play;
