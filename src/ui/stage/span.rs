//! How far a slider of a physical parameter goes.

use crate::{systems::Parameter, ui::entry::Range};

/// Steps that a slider has at least.
const STEPS: f64 = 150.0;

/// Ends and step of a slider: some way beyond the test range to either side, all of a symmetric
/// range, and always the present `value`.
pub fn slider(parameter: &Parameter, value: f64) -> (Range, f64) {
    let ((least, most), (low, high)) = (parameter.allowed, parameter.test);
    let (min, max) = if least == -most {
        (least, most)
    } else {
        let width = high - low;
        ((low - width).max(least), (high + 2.0 * width).min(most))
    };
    let (min, max) = (min.min(value).max(least), max.max(value).min(most));
    let step = round_step((max - min) / STEPS);
    // The handle rests on whole steps, so that usual values are among them.
    let min = ((min / step).floor() * step).max(least);
    let range = Range {
        min,
        max,
        whole: false,
    };
    (range, step)
}

/// 1, 2 or 5 times a power of ten, not above `step`.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let digit = step / power;
    power
        * if digit >= 5.0 {
            5.0
        } else if digit >= 2.0 {
            2.0
        } else {
            1.0
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::{NAMES, by_name};

    #[test]
    fn every_slider_holds_the_test_range_and_stays_within_what_is_allowed() {
        for name in NAMES {
            for parameter in by_name(name).unwrap().description().parameters {
                let (range, step) = slider(parameter, parameter.typical);
                assert!(range.min >= parameter.allowed.0 && range.max <= parameter.allowed.1);
                assert!(range.min <= parameter.test.0 && range.max >= parameter.test.1);
                assert!(step > 0.0 && (range.max - range.min) / step >= STEPS);
            }
        }
    }

    #[test]
    fn a_slider_reaches_the_value_of_a_link() {
        let cartpole = by_name("cartpole").unwrap();
        let (range, _) = slider(&cartpole.description().parameters[0], 20.0);
        assert_eq!(range.max, 20.0);
    }
}
