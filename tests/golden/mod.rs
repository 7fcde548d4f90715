//! Numbers that native and browser tests both compare with.
#![allow(dead_code, reason = "each test file uses its own part")]

/// A run whose loss curve is known from a native machine, in a file of this folder.
pub struct Golden {
    /// The run.
    pub link: &'static str,
    /// The file.
    pub file: &'static str,
    losses: &'static str,
}

/// The cartpole with either optimiser. Every line search of L-BFGS amplifies what rounding the two
/// machines differ by: over 200 steps they part by 1.3e-4 (first seen at step 185), so that 150 are
/// compared.
pub const RUNS: [Golden; 2] = [
    Golden {
        link: "#/experiments?v=1&system=cartpole&method=camel&optimiser=adam&steps=200&seed=3&device=cpu",
        file: "losses.json",
        losses: include_str!("losses.json"),
    },
    Golden {
        link: "#/experiments?v=1&system=cartpole&method=camel&optimiser=lbfgs&steps=150&seed=3&device=cpu",
        file: "losses-lbfgs.json",
        losses: include_str!("losses-lbfgs.json"),
    },
];

impl Golden {
    /// Compares a loss curve with the golden one, to 1e-4.
    pub fn assert_match(&self, found: &[(usize, f64)]) {
        let expected: Vec<(usize, f64)> = serde_json::from_str(self.losses).unwrap();
        assert_eq!(found.len(), expected.len(), "{}", self.link);
        for (&(step, found), &(_, expected)) in found.iter().zip(&expected) {
            let relative = (found - expected).abs() / expected;
            assert!(
                relative < 1e-4,
                "{}, step {step}: {found} instead of {expected}",
                self.link
            );
        }
    }
}
