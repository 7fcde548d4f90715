//! Speed in a dedicated worker of a real browser, on one CPU thread. `./lab bench` runs it; it
//! measures and checks nothing. Figures are of this machine, so compare ratios within one run.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(target_arch = "wasm32")]

mod accuracy;
mod adaptation;
mod clock;
mod peers;
mod scaling;
mod speed;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "only the recorder is used here")]
mod support;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
