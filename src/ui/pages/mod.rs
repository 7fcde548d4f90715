//! One file a page.

pub mod bench;
mod chooser;
pub mod data;
pub mod differences;
pub mod experiments;
pub mod gallery;
pub mod how;
pub mod play;
pub mod tables;
