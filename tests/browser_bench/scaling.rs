//! How a CAMEL step grows with the tasks T and the rows N.

use wasm_bindgen_test::{console_log, wasm_bindgen_test};

use crate::peers::{PROBLEMS, Problem};

/// Slope of a straight line through the logarithms.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logs = || points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let (x, y) = logs().fold((0.0, 0.0), |sum, log| {
        (sum.0 + log.0 / count, sum.1 + log.1 / count)
    });
    let across: f64 = logs().map(|log| (log.0 - x) * (log.1 - y)).sum();
    across / logs().map(|log| (log.0 - x).powi(2)).sum::<f64>()
}

fn show(what: &str, sizes: [usize; 4], problem: impl Fn(usize) -> Problem) {
    let time = |&size: &usize| (size as f64, problem(size).step("camel").least());
    let points: Vec<_> = sizes.iter().map(time).collect();
    let listed: Vec<_> = points
        .iter()
        .map(|p| format!("{}: {:.3} ms", p.0, p.1))
        .collect();
    console_log!("{what}: {}; slope {:.2}", listed.join(", "), slope(&points));
}

#[wasm_bindgen_test]
fn growth_of_a_step() {
    let [own, shared] = PROBLEMS;
    show("shared inputs, tasks T", [5, 10, 20, 40], |tasks| Problem {
        tasks,
        ..shared
    });
    show("own inputs, tasks T", [4, 8, 16, 32], |tasks| Problem {
        tasks,
        ..own
    });
    show("shared inputs, rows N", [100, 200, 400, 800], |batch| {
        Problem {
            batch,
            rows: 2 * batch,
            ..shared
        }
    });
    show("own inputs, rows N", [100, 200, 400, 800], |batch| {
        Problem {
            batch,
            rows: 2 * batch,
            ..own
        }
    });
}
