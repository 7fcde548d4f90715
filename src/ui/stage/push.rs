//! What the visitor lets push a robot, and how a link says it.

use crate::ui::entry::Range;

/// Shortest and longest period of a sine [s].
pub const PERIODS: Range = Range {
    min: 0.5,
    max: 8.0,
    whole: false,
};

/// The chosen input: `swing-up`, `none`, or `sine` with an amplitude and a period.
#[derive(Clone, Debug, PartialEq)]
pub struct Push {
    /// Name of the kind.
    pub kind: String,
    /// Amplitude of a sine, in the unit of the input.
    pub amplitude: f64,
    /// Period of a sine [s].
    pub period: f64,
}

impl Push {
    /// What pushes a robot at first.
    pub fn usual(robot: &str) -> Self {
        let (kind, amplitude, period) = match robot {
            "pendulum" => ("sine", 1.0, 3.0),
            _ => ("swing-up", 5.0, 2.0),
        };
        Self {
            kind: kind.to_owned(),
            amplitude,
            period,
        }
    }

    /// Smallest and largest amplitude.
    pub fn amplitudes(robot: &str) -> Range {
        let max = match robot {
            "pendulum" => 3.0,
            "cartpole" => 20.0,
            _ => 12.0,
        };
        Range {
            min: 0.0,
            max,
            whole: false,
        }
    }

    /// Reads a link's view, such as `sine 5 2`; the usual input if it says something else.
    pub fn read(robot: &str, view: &str) -> Self {
        let usual = Self::usual(robot);
        let within = |text: &str, range: &Range| {
            let number = text.parse::<f64>().ok().filter(|n| !n.is_nan())?;
            Some(number.clamp(range.min, range.max))
        };
        match view.split(' ').collect::<Vec<_>>()[..] {
            ["none"] => Self {
                kind: "none".to_owned(),
                ..usual
            },
            ["sine", amplitude, period] => {
                let amplitude = within(amplitude, &Self::amplitudes(robot));
                match (amplitude, within(period, &PERIODS)) {
                    (Some(amplitude), Some(period)) => Self {
                        kind: "sine".to_owned(),
                        amplitude,
                        period,
                    },
                    _ => usual,
                }
            }
            _ => usual,
        }
    }

    /// The view of a link; empty for the usual input.
    pub fn write(&self, robot: &str) -> String {
        match self.kind.as_str() {
            "sine" if *self != Self::usual(robot) => {
                format!("sine {} {}", self.amplitude, self.period)
            }
            "none" => "none".to_owned(),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_survives_the_link() {
        for robot in ["pendulum", "cartpole", "arm"] {
            let usual = Push::usual(robot);
            let sine = Push {
                kind: "sine".to_owned(),
                amplitude: 2.5,
                period: 0.7,
            };
            let none = Push {
                kind: "none".to_owned(),
                ..usual.clone()
            };
            assert_eq!(usual.write(robot), "");
            for push in [usual, sine, none] {
                assert_eq!(Push::read(robot, &push.write(robot)), push);
            }
        }
    }

    #[test]
    fn what_is_no_input_is_the_usual_one_and_sizes_stay_in_range() {
        for view in [
            "",
            "sine",
            "sine 1",
            "sine x 2",
            "sine NaN 2",
            "up",
            "\u{e9} 1 2",
        ] {
            assert_eq!(Push::read("arm", view), Push::usual("arm"), "{view}");
        }
        let wild = Push::read("cartpole", "sine inf -3");
        assert_eq!((wild.amplitude, wild.period), (20.0, PERIODS.min));
    }
}
