//! Axes: what is measured, in which unit, on which scale, with which ticks.

use serde::{Deserialize, Serialize};

use super::number;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; values that are not positive are left out.
    Log,
}

/// One axis of a chart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Axis {
    /// What is measured.
    pub label: String,
    /// Its unit; empty or `"1"` for none.
    pub unit: String,
    /// Linear or logarithmic.
    pub spacing: Spacing,
    /// Fixed range; without one, the range of the data.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis over the range of the data.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            unit: unit.into(),
            ..Self::default()
        }
    }

    /// A logarithmic axis over the range of the positive data.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            spacing: Spacing::Log,
            ..Self::linear(label, unit)
        }
    }

    /// The same axis with a fixed range.
    pub fn with_range(self, low: f64, high: f64) -> Self {
        Self {
            range: Some((low, high)),
            ..self
        }
    }

    /// Label and unit, such as `cart mass M [kg]`.
    pub fn title(&self) -> String {
        if self.unit.is_empty() || self.unit == "1" {
            self.label.clone()
        } else {
            format!("{} [{}]", self.label, self.unit)
        }
    }

    /// The scale of this axis over `values`; those that the axis cannot show are ignored.
    pub fn scale(&self, values: impl IntoIterator<Item = f64>) -> Scale {
        let log = self.spacing == Spacing::Log;
        if let Some((low, high)) = self.range
            && low.is_finite()
            && high.is_finite()
            && low < high
            && (!log || low > 0.0)
        {
            return Scale { low, high, log };
        }
        let shown = values
            .into_iter()
            .filter(|v| v.is_finite() && (!log || *v > 0.0));
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        if log {
            Scale::log_over(low, high)
        } else {
            Scale::linear_over(low, high)
        }
    }
}

/// A mapping of values to 0 (start of the axis) to 1 (its end).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Value at the start.
    pub low: f64,
    /// Value at the end.
    pub high: f64,
    log: bool,
}

impl Scale {
    fn linear_over(low: f64, high: f64) -> Self {
        // Halves keep the width finite for values near the largest number.
        let limit = f64::MAX / 4.0;
        let (low, high) = (low.max(-limit), high.min(limit));
        let (low, high) = if low > high {
            (0.0, 1.0)
        } else if high - low <= 1e-12 * high.abs().max(low.abs()) {
            let pad = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
            (low - pad, high + pad)
        } else {
            (low, high)
        };
        Self {
            low,
            high,
            log: false,
        }
    }

    fn log_over(low: f64, high: f64) -> Self {
        let (low, high) = if low > high {
            (1e-3, 1.0)
        } else if high / low < 1.5 {
            (
                (low / 3.0).max(f64::MIN_POSITIVE),
                (high * 3.0).min(f64::MAX),
            )
        } else {
            (low, high)
        };
        Self {
            low,
            high,
            log: true,
        }
    }

    /// Whether the scale is logarithmic.
    pub fn is_log(&self) -> bool {
        self.log
    }

    /// The scale with a share `pad` of its length added on both sides.
    pub fn padded(self, pad: f64) -> Self {
        let (low, high) = (self.value(-pad), self.value(1.0 + pad));
        let valid = low.is_finite() && high.is_finite() && !(self.log && low <= 0.0);
        if valid {
            Self { low, high, ..self }
        } else {
            self
        }
    }

    /// Where `value` lies, from 0 at `low` to 1 at `high`; none for what the scale cannot show.
    pub fn part(&self, value: f64) -> Option<f64> {
        let part = if self.log {
            if value <= 0.0 {
                return None;
            }
            (value.ln() - self.low.ln()) / self.log_length()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        part.is_finite().then_some(part)
    }

    /// The value at `part` of the axis: the inverse of [`Self::part`].
    pub fn value(&self, part: f64) -> f64 {
        if self.log {
            (self.low.ln() + part * self.log_length()).exp()
        } else {
            self.low + part * (self.high - self.low)
        }
    }

    fn log_length(&self) -> f64 {
        self.high.ln() - self.low.ln()
    }

    /// At most about `wanted` round values on the axis, with their labels.
    pub fn ticks(&self, wanted: usize) -> Vec<Tick> {
        let wanted = wanted.clamp(3, 20);
        if self.log {
            let decades = self.log_ticks(wanted);
            if decades.len() >= 2 {
                return decades;
            }
        }
        self.linear_ticks(wanted)
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<Tick> {
        let step = round_step((self.high - self.low) / wanted as f64);
        if !step.is_finite() || step <= 0.0 {
            return Vec::new();
        }
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let count = (last - first).clamp(0.0, 40.0) as usize;
        (0..=count)
            .map(|k| (first + k as f64) * step)
            .filter(|value| (self.low..=self.high).contains(value))
            .map(|value| Tick {
                value,
                label: label_with_step(value, step),
            })
            .collect()
    }

    fn log_ticks(&self, wanted: usize) -> Vec<Tick> {
        let slack = 1e-9;
        let first = (self.low.log10() - slack).ceil() as i32;
        let last = (self.high.log10() + slack).floor() as i32;
        let decades = (last - first + 1).max(0) as usize;
        let mantissas: &[f64] = match decades {
            0..=1 if wanted >= 4 => &[1.0, 2.0, 5.0],
            2 if wanted >= 6 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let every = decades.div_ceil(wanted).max(1) as i32;
        let plain = self.low >= 9e-3 && self.high <= 2e4;
        (first - 1..=last)
            .filter(|exponent| exponent.rem_euclid(every) == 0)
            .flat_map(|exponent| mantissas.iter().map(move |m| (m, exponent)))
            .filter_map(|(&mantissa, exponent)| {
                let value = mantissa * 10f64.powi(exponent);
                let part = self.part(value)?;
                let label = if plain {
                    number::short(value)
                } else {
                    format!("{mantissa}e{exponent}")
                };
                (-1e-9..=1.0 + 1e-9)
                    .contains(&part)
                    .then_some(Tick { value, label })
            })
            .collect()
    }
}

/// A labelled value on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it is.
    pub value: f64,
    /// How it is written.
    pub label: String,
}

/// The smallest of 1, 2, 2.5, 5 × 10ⁿ that is not below `raw`.
fn round_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let mantissa = raw / power;
    let round = [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .find(|&m| mantissa <= m * 1.0001);
    round.unwrap_or(10.0) * power
}

/// A tick label with the decimals that its step needs.
fn label_with_step(value: f64, step: f64) -> String {
    if value.abs() < 1e-9 * step {
        return "0".to_owned();
    }
    let size = value.abs().max(step);
    if size >= 1e6 || step < 1e-5 {
        return number::short(value);
    }
    let mut decimals = (-step.log10().floor()).max(0.0) as usize;
    let tenth = 10f64.powi(decimals as i32) * step;
    if (tenth - tenth.round()).abs() > 1e-6 {
        decimals += 1;
    }
    format!("{value:.decimals$}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, wanted: usize) -> Vec<String> {
        scale.ticks(wanted).into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let axis = Axis::linear("x", "m");
        assert_eq!(
            labels(axis.scale([0.0, 1.0]), 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(|s| if s == "0.0" {
                "0".to_owned()
            } else {
                s.to_owned()
            })
        );
        assert_eq!(labels(axis.scale([-7.0, 13.0]), 4), ["−5", "0", "5", "10"]);
        assert_eq!(
            labels(axis.scale([0.0, 1000.0]), 4),
            ["0", "250", "500", "750", "1000"]
        );
    }

    #[test]
    fn log_ticks_are_powers_of_ten() {
        let axis = Axis::log("loss", "1");
        assert_eq!(
            labels(axis.scale([2e-5, 3.0]), 6),
            ["1e-4", "1e-3", "1e-2", "1e-1", "1e0"]
        );
        assert_eq!(
            labels(axis.scale([1.0, 1000.0]), 5),
            ["1", "10", "100", "1000"]
        );
        assert!(labels(axis.scale([1e-30, 1e30]), 6).len() <= 7);
        assert!(labels(axis.scale([0.8, 8.0]), 6).len() >= 3);
        assert!(labels(axis.scale([0.51, 0.52]), 6).len() >= 2);
    }

    #[test]
    fn nothing_to_show_still_gives_a_scale() {
        for axis in [Axis::linear("x", ""), Axis::log("x", "")] {
            for values in [vec![], vec![f64::NAN], vec![f64::INFINITY, -1.0], vec![0.0]] {
                let scale = axis.scale(values);
                assert!(scale.low < scale.high, "{scale:?}");
                assert!(!scale.ticks(5).is_empty(), "{scale:?}");
            }
        }
    }

    #[test]
    fn extreme_values_do_not_break_the_ticks() {
        let sets = [
            vec![-f64::MAX, f64::MAX],
            vec![f64::MIN_POSITIVE, f64::MAX],
            vec![1e308, 1.1e308],
            vec![1.0, 1.0 + f64::EPSILON],
        ];
        for axis in [Axis::linear("x", ""), Axis::log("x", "")] {
            for values in &sets {
                let scale = axis.scale(values.iter().copied()).padded(0.05);
                let ticks = scale.ticks(6);
                assert!(ticks.len() < 45, "{scale:?}: {ticks:?}");
                assert!(ticks.iter().all(|t| t.value.is_finite()));
            }
        }
    }

    #[test]
    fn a_fixed_range_that_makes_no_sense_is_replaced_by_the_data() {
        let axis = Axis::log("x", "").with_range(-1.0, 10.0);
        assert!(axis.scale([1.0, 5.0]).low > 0.0);
        let axis = Axis::linear("x", "").with_range(f64::NAN, 10.0);
        assert_eq!(axis.scale([1.0, 5.0]).high, 5.0);
    }

    #[test]
    fn part_and_value_are_inverse() {
        for scale in [
            Axis::linear("", "").scale([-2.0, 5.0]),
            Axis::log("", "").scale([0.1, 90.0]),
        ] {
            for part in [0.0, 0.3, 1.0] {
                assert!((scale.part(scale.value(part)).unwrap() - part).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn units_are_shown_in_brackets() {
        assert_eq!(Axis::linear("mass", "kg").title(), "mass [kg]");
        assert_eq!(Axis::linear("step", "1").title(), "step");
    }
}
