//! The components in a real page: mounted, clicked, typed into, and asked by role and label.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(target_arch = "wasm32")]

mod charts;
mod controls;
mod entry;
mod pictures;
mod visitor;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
