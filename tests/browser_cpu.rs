//! The engine in a dedicated worker of a real browser, on the CPU.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(target_arch = "wasm32")]

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

mod golden;
mod support;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
async fn the_same_link_gives_the_same_bits_twice() {
    let first = support::report_of(golden::LINK).await;
    let second = support::report_of(golden::LINK).await;
    assert_eq!(first.losses, second.losses);
    assert_eq!(first.adaptation, second.adaptation);
}

#[wasm_bindgen_test]
async fn a_browser_trains_as_a_native_machine_does() {
    golden::assert_losses_match(&support::report_of(golden::LINK).await.losses);
}
