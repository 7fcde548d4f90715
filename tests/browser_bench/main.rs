//! Speed in a dedicated worker of a real browser, on one CPU thread and, with the feature `gpu`, on WebGPU. `./lab bench` runs it; it
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
mod control;
mod peers;
mod scaling;
mod speed;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "only the recorder is used here")]
mod support;

/// As in the engine's programs: counts what a learner takes.
#[global_allocator]
static MEMORY: camel_lab::experiments::bench_memory::Counting =
    camel_lab::experiments::bench_memory::Counting;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
