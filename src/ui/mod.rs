//! The page: pictures of robots and fields, charts, and the components that pages are made of.
//!
//! What needs no browser (camera, pixels, checks of typed text) is compiled and tested natively.

pub mod canvas;
pub mod entry;

#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(target_arch = "wasm32")]
pub mod components;
