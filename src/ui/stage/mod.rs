//! What moves on a stage of the gallery, and what is painted there. None of it needs a browser.

pub mod balanced;
pub mod driven;
pub mod map;
pub mod push;
pub mod span;

use super::canvas::Scene;
use crate::systems::SystemError;

pub use balanced::Balanced;
pub use driven::{Drive, Driven};
pub use push::Push;

/// A number next to the stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is.
    pub label: &'static str,
    /// Its value.
    pub value: f64,
    /// Digits after the point, always as many so that nothing jumps.
    pub decimals: usize,
    /// Its unit.
    pub unit: &'static str,
}

impl Figure {
    /// The value as text.
    pub fn text(&self) -> String {
        // Plus zero, so that no −0.00 is shown.
        let scale = 10_f64.powi(self.decimals as i32);
        let rounded = (self.value * scale).round() / scale + 0.0;
        format!("{rounded:.*}", self.decimals).replace('-', "−")
    }
}

/// A robot on a stage.
pub trait Performer {
    /// Lets time pass [s].
    fn advance(&mut self, seconds: f64) -> Result<(), SystemError>;

    /// Changes the physical parameters φ from now on; refused ones change nothing.
    fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), SystemError>;

    /// Changes what pushes the robot from now on, where that can be chosen.
    fn set_drive(&mut self, _drive: Drive) {}

    /// The picture.
    fn scene(&self) -> Scene;

    /// Time, input, energy and state.
    fn figures(&self) -> Vec<Figure>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_their_length_and_have_no_negative_zero() {
        let figure = |value| Figure {
            label: "u",
            value,
            decimals: 2,
            unit: "N",
        };
        assert_eq!(figure(-0.001).text(), "0.00");
        assert_eq!(figure(-1.5).text(), "−1.50");
    }
}
