//! Nothing tells a controller of a change: runs of the page with every method, as far as they must be alike.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use super::{
    tests::{model_of, spec},
    *,
};

/// Steps up to an early and a late change, and of a whole run.
const EARLY: usize = 40;
const LATE: usize = 55;
const STEPS: usize = 100;

/// Adaptations are in time.
fn instant(work: &mut dyn FnMut()) -> Duration {
    work();
    Duration::ZERO
}

/// Adaptations take three ticks of the cartpole and ten of Upkie.
fn slow(work: &mut dyn FnMut()) -> Duration {
    work();
    Duration::from_millis(50)
}

/// What the page shows of a run's steps, all bits of it: that of the controller, and the oracle's error.
fn shown(system: &str, method: &str, factor: f64, change: usize) -> [Vec<String>; 2] {
    let time = change as f64 * tick_ms(system).unwrap() / 1e3;
    let model = model_of(system, method);
    // What is slow in a browser may be late here too.
    let stopwatch = match method {
        "coda" | "maml" => slow,
        _ => instant,
    };
    let spec = spec(system, method, factor, time);
    let mut run = simulation(&spec, model.as_ref(), stopwatch).unwrap();
    let steps = (0..STEPS).map(|_| {
        let (point, noticed) = run.step().unwrap().unwrap();
        let own = OnlinePoint {
            oracle: None,
            ..point
        };
        let own = serde_json::to_string(&(own, noticed)).unwrap();
        (own, format!("{:?}", point.oracle.map(f64::to_bits)))
    });
    let (own, oracle) = steps.unzip();
    [own, oracle]
}

/// Of every robot and method.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let systems = ["cartpole", "upkie"].into_iter();
    systems.flat_map(|system| METHODS.map(|method| (system, method)))
}

#[test]
fn before_a_change_no_method_does_anything_else_than_without_one() {
    for (system, method) in all() {
        let never = shown(system, method, 2.0, usize::MAX);
        for (factor, change) in [(2.0, EARLY), (4.0, LATE)] {
            let run = shown(system, method, factor, change);
            for (changing, calm) in run.iter().zip(&never) {
                assert_eq!(changing[..change], calm[..change], "{system} {method}");
                // The force of a step moves the cart in the next one.
                let felt = change + 1;
                assert_ne!(changing[felt], calm[felt], "{system} {method}");
            }
        }
    }
}

/// A change that changes nothing cannot be felt: whoever acts otherwise was told of it, as the oracle is.
#[test]
fn a_change_by_the_factor_1_is_known_to_the_oracle_alone() {
    for (system, method) in all() {
        let [calm, calm_oracle] = shown(system, method, 1.0, usize::MAX);
        let [run, oracle] = shown(system, method, 1.0, EARLY);
        assert_eq!(run, calm, "{system} {method}");
        assert_eq!(oracle[..EARLY], calm_oracle[..EARLY]);
        // Its alarm makes the cartpole's feedback strong; Upkie has none that an alarm could make strong.
        assert_eq!(oracle != calm_oracle, system == "cartpole", "{system}");
    }
}
