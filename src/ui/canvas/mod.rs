//! Pictures of robots and fields.
//!
//! A [`Scene`] is what to show; [`camera`], [`heat`], [`markers`] and [`tint`] decide where and in which
//! colour without a browser; `paint` puts it on a canvas.

pub mod camera;
pub mod heat;
pub mod markers;
pub mod scene;
pub mod tint;

#[cfg(target_arch = "wasm32")]
pub mod paint;

pub use camera::Camera;
pub use scene::{Actor, Scene, Trail};
