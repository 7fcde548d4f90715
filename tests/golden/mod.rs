//! Numbers that native and browser tests both compare with.
#![allow(dead_code, reason = "each test file uses its own part")]

/// A short run of the cartpole.
pub const LINK: &str =
    "#/experiments?v=1&system=cartpole&method=camel&optimiser=adam&steps=200&seed=3&device=cpu";

/// The loss curve of [`LINK`], from a native machine.
pub fn losses() -> Vec<(usize, f64)> {
    serde_json::from_str(include_str!("losses.json")).unwrap()
}

/// Compares a loss curve with the golden one, to 1e-4.
pub fn assert_losses_match(found: &[(usize, f64)]) {
    let expected = losses();
    assert_eq!(found.len(), expected.len());
    for (&(step, found), &(_, expected)) in found.iter().zip(&expected) {
        let relative = (found - expected).abs() / expected;
        assert!(
            relative < 1e-4,
            "step {step}: {found} instead of {expected}"
        );
    }
}
