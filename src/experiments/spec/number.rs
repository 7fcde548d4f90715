//! The numeric settings of an experiment, for forms, links and checks alike.

use super::{Draft, SpecError, shortened};

/// One numeric setting: its key, meaning and range, and where it lives in a draft.
pub struct Number {
    /// Key in links and on the command line.
    pub key: &'static str,
    /// Meaning, for people.
    pub label: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// Smallest allowed value.
    pub min: f64,
    /// Largest allowed value.
    pub max: f64,
    /// Whether only whole numbers are allowed.
    pub whole: bool,
    /// Reads it.
    pub get: fn(&Draft) -> f64,
    /// Writes it.
    pub set: fn(&mut Draft, f64),
}

macro_rules! number {
    ($key:ident: $type:ty, $label:literal, $help:literal, $min:literal ..= $max:literal) => {
        Number {
            key: stringify!($key),
            label: $label,
            help: $help,
            min: $min,
            max: $max,
            whole: <$type as IsWhole>::WHOLE,
            get: |draft| draft.$key as f64,
            set: |draft, value| draft.$key = value as $type,
        }
    };
}

trait IsWhole {
    const WHOLE: bool;
}
impl IsWhole for f64 {
    const WHOLE: bool = false;
}
impl IsWhole for usize {
    const WHOLE: bool = true;
}
impl IsWhole for u64 {
    const WHOLE: bool = true;
}

/// Every numeric setting, in the order of the form.
pub const NUMBERS: &[Number] = &[
    number!(rank: usize, "Rank r", "Length of the task vector w", 1.0..=16.0),
    number!(width: usize, "Width", "Neurons in a hidden layer", 2.0..=128.0),
    number!(depth: usize, "Depth", "Hidden layers", 1.0..=6.0),
    number!(steps: usize, "Steps", "Training steps", 1.0..=200000.0),
    number!(rate: f64, "Learning rate", "Where the schedule starts", 1e-6..=1.0),
    number!(batch: usize, "Batch", "Points of each task in a step", 2.0..=4000.0),
    number!(seed: u64, "Seed", "One seed gives one result", 0.0..=9007199254740991.0),
    number!(shots: usize, "Shots", "Samples to adapt from", 1.0..=2000.0),
    number!(noise: f64, "Noise", "Standard deviation of the adaptation targets", 0.0..=100.0),
];

impl Number {
    /// Checks the range.
    pub fn check(&self, value: f64) -> Result<(), SpecError> {
        if (self.min..=self.max).contains(&value) {
            return Ok(());
        }
        Err(SpecError::Range {
            key: self.key,
            value,
            min: self.min,
            max: self.max,
        })
    }

    /// Reads a number of the right kind, in range or not.
    pub fn parse(&self, text: &str) -> Result<f64, SpecError> {
        let kind = if self.whole {
            "a whole number"
        } else {
            "a number"
        };
        let fault = || SpecError::NotANumber {
            key: self.key,
            value: shortened(text),
            kind,
        };
        let value: f64 = text.trim().parse().map_err(|_| fault())?;
        let fits = value.is_finite() && (!self.whole || value.fract() == 0.0);
        if fits { Ok(value) } else { Err(fault()) }
    }
}
