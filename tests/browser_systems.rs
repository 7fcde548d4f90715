//! The simulators in a dedicated worker of a real browser: the same numbers, and quickly.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(target_arch = "wasm32")]

use camel_lab::systems::{self, Split};
use wasm_bindgen_test::{console_log, wasm_bindgen_test, wasm_bindgen_test_configure};
use web_time::Instant;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn robots_reach_the_golden_states() {
    let deviation = systems::golden::largest_deviation().unwrap();
    console_log!("largest deviation from the golden states: {deviation:e}");
    assert!(deviation < 1e-9, "{deviation}");
}

#[wasm_bindgen_test]
fn fields_have_the_golden_potentials() {
    for (field, deviation) in systems::golden::field_deviations().unwrap() {
        console_log!("{field}: {deviation:e} V from the golden potentials");
        assert!(
            deviation < systems::golden::allowed_deviation(&field),
            "{field}"
        );
    }
}

/// Seconds that the tasks of a split take.
fn seconds(system: &dyn systems::System, split: Split) -> f64 {
    let start = Instant::now();
    for phi in system.environments(split, 0) {
        system.task(&phi, split, 0).unwrap();
    }
    start.elapsed().as_secs_f64()
}

/// Machines differ; ten times the aim is a fault on any of them.
#[wasm_bindgen_test]
fn data_sets_are_made_quickly() {
    for name in systems::NAMES {
        let system = systems::by_name(name).unwrap();
        let [train, test] = [Split::Train, Split::Test].map(|split| seconds(&*system, split));
        let aim = if name.starts_with("capacitor") {
            6.0
        } else {
            0.5
        };
        console_log!("{name}: training sets {train:.3} s, test sets {test:.3} s, aim {aim} s");
        assert!(train + test < 10.0 * aim, "{name}: {} s", train + test);
    }
}
