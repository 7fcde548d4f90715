//! Recursive least squares, change detection and error bars.

pub mod active;
pub mod affine_map;
pub mod budget;
pub mod by_map;
pub mod calibration;
pub mod change;
pub mod design;
pub mod error;
pub mod excitation;
pub mod identifier;
mod instrument;
pub mod learned;
pub mod model;
pub mod online;
pub mod quantile;
pub mod recursive;
pub mod residuals;
mod spectrum;
pub mod trials;
mod whitener;
pub mod window;
