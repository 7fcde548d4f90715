//! Checks of what a visitor types into a field.

use crate::charts::number::short;

/// What a number field accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Whether only whole numbers are accepted.
    pub whole: bool,
}

impl Range {
    /// Reads a number; the message says what is allowed and what was given.
    pub fn read(&self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err(format!("enter a number {}", self.words()));
        }
        let plain = text.replace('−', "-").replace(' ', "");
        let value: f64 = plain
            .parse()
            .map_err(|_| format!("must be a number, but is “{}”", shortened(text)))?;
        self.check(value)
    }

    /// Checks a number.
    pub fn check(&self, value: f64) -> Result<f64, String> {
        if !(self.min..=self.max).contains(&value) {
            return Err(format!("must be {}, but is {}", self.words(), short(value)));
        }
        if self.whole && value.fract() != 0.0 {
            return Err(format!("must be a whole number, but is {}", short(value)));
        }
        Ok(value)
    }

    fn words(&self) -> String {
        format!("between {} and {}", written(self.min), written(self.max))
    }
}

/// A number as it stands in a field: the shortest text that gives the same number.
pub fn written(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

fn shortened(text: &str) -> String {
    let mut start: String = text.chars().take(24).collect();
    if text.chars().nth(24).is_some() {
        start.push('…');
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOTS: Range = Range {
        min: 1.0,
        max: 2000.0,
        whole: true,
    };

    #[test]
    fn good_numbers_are_read() {
        assert_eq!(SHOTS.read(" 50 "), Ok(50.0));
        assert_eq!(SHOTS.read("1e3"), Ok(1000.0));
        let rate = Range {
            min: -1.0,
            max: 1.0,
            whole: false,
        };
        assert_eq!(rate.read("−0.5"), Ok(-0.5));
    }

    #[test]
    fn a_complaint_names_the_value_and_what_is_allowed() {
        assert_eq!(
            SHOTS.read("0").unwrap_err(),
            "must be between 1 and 2000, but is 0"
        );
        assert_eq!(
            SHOTS.read("2.5").unwrap_err(),
            "must be a whole number, but is 2.5"
        );
        assert_eq!(
            SHOTS.read("many").unwrap_err(),
            "must be a number, but is “many”"
        );
        assert_eq!(
            SHOTS.read("").unwrap_err(),
            "enter a number between 1 and 2000"
        );
        assert!(SHOTS.read("NaN").is_err());
        assert!(SHOTS.read("inf").is_err());
        assert!(SHOTS.read(&"9".repeat(10_000)).is_err());
    }

    #[test]
    fn written_numbers_are_read_back() {
        for value in [0.0, 1e-9, 0.003, -2.5, 1e20, 123456789.0] {
            assert_eq!(written(value).parse(), Ok(value));
        }
    }
}
