//! How a CAMEL step grows with the tasks T and the rows N.

use camel_lab::experiments::bench::Growth;
use wasm_bindgen_test::{console_log, wasm_bindgen_test};

use crate::peers::{PROBLEMS, Problem};

fn show(what: &str, sizes: [usize; 4], problem: impl Fn(usize) -> Problem) {
    let time = |&size: &usize| (size as f64, problem(size).step("camel").least());
    let growth = Growth {
        method: "camel".to_owned(),
        of: what.to_owned(),
        points: sizes.iter().map(time).collect(),
    };
    let listed: Vec<_> = growth
        .points
        .iter()
        .map(|p| format!("{}: {:.3} ms", p.0, p.1))
        .collect();
    console_log!("{what}: {}; slope {:.2}", listed.join(", "), growth.slope());
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
