//! Colour maps for fields: equal steps of the value look like equal steps of the colour.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::colour::{Colour, difference};

/// Number of colours in a map.
const STEPS: usize = 256;

/// Which colour map shows a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Map {
    /// From dark to light, for magnitudes and errors.
    Sequential,
    /// From blue over a neutral middle to red-orange, for potentials of both signs.
    #[default]
    Diverging,
}

impl Map {
    /// The colour at `part` of the range, 0 to 1; `dark` makes the neutral middle of the
    /// diverging map dark. A part that is not a number gives the middle.
    pub fn colour(self, part: f64, dark: bool) -> Colour {
        let part = if part.is_finite() { part } else { 0.5 };
        let index = (part.clamp(0.0, 1.0) * (STEPS - 1) as f64).round() as usize;
        self.table(dark)[index]
    }

    fn table(self, dark: bool) -> &'static [Colour; STEPS] {
        static SEQUENTIAL: OnceLock<[Colour; STEPS]> = OnceLock::new();
        static LIGHT: OnceLock<[Colour; STEPS]> = OnceLock::new();
        static DARK: OnceLock<[Colour; STEPS]> = OnceLock::new();
        match (self, dark) {
            (Self::Sequential, _) => SEQUENTIAL.get_or_init(|| {
                even_steps(&[0x1B1035, 0x3D2A6B, 0x2F5F8A, 0x2A8C86, 0x7DB46C, 0xF3E6A2])
            }),
            (Self::Diverging, false) => LIGHT.get_or_init(|| {
                even_steps(&[
                    0x0B3B7A, 0x3F83C4, 0xA9CBE6, 0xF7F4EE, 0xF0B995, 0xD2693A, 0x7F2A06,
                ])
            }),
            (Self::Diverging, true) => DARK.get_or_init(|| {
                even_steps(&[
                    0x9BD3FF, 0x4B96DD, 0x27486B, 0x1D1B18, 0x6B3A20, 0xDE7A3D, 0xFFC79A,
                ])
            }),
        }
    }
}

/// A table through the given colours, spaced so that neighbours differ by the same amount.
fn even_steps(corners: &[u32]) -> [Colour; STEPS] {
    const FINE: usize = 64;
    let dense: Vec<[f64; 3]> = corners
        .windows(2)
        .flat_map(|pair| {
            let (from, to) = (Colour::hex(pair[0]).oklab(), Colour::hex(pair[1]).oklab());
            (0..FINE).map(move |k| {
                let part = k as f64 / FINE as f64;
                std::array::from_fn(|i| from[i] + part * (to[i] - from[i]))
            })
        })
        .chain(corners.last().map(|&c| Colour::hex(c).oklab()))
        .collect();
    let mut length = vec![0.0];
    for pair in dense.windows(2) {
        let step: f64 = (0..3).map(|i| (pair[1][i] - pair[0][i]).powi(2)).sum();
        length.push(length[length.len() - 1] + step.sqrt());
    }
    let total = length[length.len() - 1];
    std::array::from_fn(|k| {
        let wanted = total * k as f64 / (STEPS - 1) as f64;
        let upper = length
            .partition_point(|&l| l < wanted)
            .clamp(1, dense.len() - 1);
        let span = length[upper] - length[upper - 1];
        let part = if span > 0.0 {
            (wanted - length[upper - 1]) / span
        } else {
            0.0
        };
        Colour::from_oklab(std::array::from_fn(|i| {
            dense[upper - 1][i] + part * (dense[upper][i] - dense[upper - 1][i])
        }))
    })
}

/// How a field's values are placed on a colour map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Value at the start of the map.
    pub low: f64,
    /// Value at the end of the map.
    pub high: f64,
}

impl Span {
    /// The span of finite values; symmetric about zero for the diverging map. The outer
    /// `trim` share of values on each side (such as 0.01) may saturate, so that a pole of the
    /// field does not wash out the rest.
    pub fn of(values: &[f64], map: Map, trim: f64) -> Self {
        let mut finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        if finite.is_empty() {
            return Self {
                low: -1.0,
                high: 1.0,
            };
        }
        finite.sort_by(f64::total_cmp);
        let last = finite.len() - 1;
        let skip = (trim.clamp(0.0, 0.49) * last as f64).round() as usize;
        let (mut low, mut high) = (finite[skip], finite[last - skip]);
        if map == Map::Diverging {
            high = high.abs().max(low.abs());
            low = -high;
        }
        if high - low <= f64::EPSILON * high.abs().max(low.abs()) {
            let pad = high.abs().max(1.0);
            (low, high) = (low - pad, high + pad);
        }
        Self { low, high }
    }

    /// Where `value` lies between low (0) and high (1).
    pub fn part(self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// Largest and mean colour difference between neighbours of a map, a check of its evenness.
pub fn evenness(map: Map, dark: bool) -> (f64, f64) {
    let steps: Vec<f64> = map
        .table(dark)
        .windows(2)
        .map(|pair| difference(pair[0], pair[1]))
        .collect();
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    (steps.iter().copied().fold(0.0, f64::max), mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(Map, bool); 3] = [
        (Map::Sequential, false),
        (Map::Diverging, false),
        (Map::Diverging, true),
    ];

    #[test]
    fn neighbouring_colours_differ_by_nearly_the_same_amount() {
        for (map, dark) in ALL {
            let (largest, mean) = evenness(map, dark);
            // Rounding to whole bytes moves a colour by up to 0.003.
            assert!(
                largest < mean + 0.006,
                "{map:?} {dark}: {largest} against {mean}"
            );
        }
    }

    #[test]
    fn the_sequential_map_only_gets_lighter() {
        let light: Vec<f64> = (0..=20)
            .map(|k| Map::Sequential.colour(k as f64 / 20.0, false).oklab()[0])
            .collect();
        assert!(light.windows(2).all(|pair| pair[1] > pair[0]), "{light:?}");
    }

    #[test]
    fn the_diverging_maps_are_symmetric_in_lightness() {
        for dark in [false, true] {
            for k in 0..=10 {
                let part = k as f64 / 20.0;
                let low = Map::Diverging.colour(part, dark).oklab()[0];
                let high = Map::Diverging.colour(1.0 - part, dark).oklab()[0];
                assert!(
                    (low - high).abs() < 0.07,
                    "{dark} {part}: {low} against {high}"
                );
            }
        }
    }

    #[test]
    fn a_span_ignores_what_is_not_a_number_and_is_never_empty() {
        let span = Span::of(&[f64::NAN, 2.0, f64::INFINITY, 2.0], Map::Sequential, 0.0);
        assert!(span.high > span.low);
        assert_eq!(
            Span::of(&[], Map::Diverging, 0.0),
            Span {
                low: -1.0,
                high: 1.0
            }
        );
        let span = Span::of(&[-1.0, 3.0], Map::Diverging, 0.0);
        assert_eq!((span.low, span.high), (-3.0, 3.0));
    }

    #[test]
    fn a_few_poles_do_not_stretch_the_span() {
        let mut values = vec![1.0; 990];
        values.extend([1e9; 5]);
        values.extend([0.0; 5]);
        assert_eq!(Span::of(&values, Map::Sequential, 0.01).high, 2.0);
    }
}
