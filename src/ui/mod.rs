//! The page: pictures of robots and fields, charts, and the components that pages are made of.
//!
//! What needs no browser (camera, pixels, checks of typed text, figures) is compiled and tested
//! natively.

pub mod canvas;
pub mod entry;
pub mod figures;
pub mod online_figures;
pub mod stage;
pub mod views;

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(target_arch = "wasm32")]
pub mod components;
#[cfg(target_arch = "wasm32")]
pub mod data_session;
#[cfg(target_arch = "wasm32")]
pub mod keeper;
#[cfg(target_arch = "wasm32")]
pub mod measuring;
#[cfg(target_arch = "wasm32")]
pub mod more;
#[cfg(target_arch = "wasm32")]
pub mod offline;
#[cfg(target_arch = "wasm32")]
pub mod online;
#[cfg(target_arch = "wasm32")]
pub mod outside;
#[cfg(target_arch = "wasm32")]
pub mod pages;
#[cfg(target_arch = "wasm32")]
pub mod reruns;
#[cfg(target_arch = "wasm32")]
pub mod route;
#[cfg(target_arch = "wasm32")]
pub mod run;
#[cfg(target_arch = "wasm32")]
pub mod session;
#[cfg(target_arch = "wasm32")]
pub mod storage;
#[cfg(target_arch = "wasm32")]
pub mod text_file;

/// Puts the site into the page.
#[cfg(target_arch = "wasm32")]
pub fn start() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(app::App);
    // Until the site is there, this is where the page says why it is not.
    if let Some(boot) = leptos::prelude::document().get_element_by_id("boot") {
        boot.remove();
    }
}
