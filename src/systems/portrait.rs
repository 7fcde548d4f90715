//! A system without what simulates it.

use std::fmt::Debug;

use super::{Description, Quantity, Shape, Split, System, SystemError};

/// What a system is and how it looks, which is all that links, forms and small pictures need. A page
/// that knows systems only by their portraits does not hold their simulators.
pub trait Portrait: Debug + Send + Sync {
    /// Names, units and ranges.
    fn about(&self) -> &Description;

    /// Checks φ against the allowed ranges.
    fn check_phi(&self, phi: &[f64]) -> Result<(), SystemError>;

    /// How many environments there are to train on.
    fn training_environments(&self, seed: u64) -> usize;

    /// Names and units of the state, if it moves.
    fn moving_state(&self) -> Option<&'static [Quantity]>;

    /// Lower left and upper right corner of its domain [m], if it is a field.
    fn extent(&self) -> Option<[[f64; 2]; 2]>;

    /// The robot in a state, or the sources of the field.
    fn picture(&self, phi: &[f64], state: &[f64]) -> Vec<Shape>;
}

impl<S: System> Portrait for S {
    fn about(&self) -> &Description {
        self.description()
    }

    fn check_phi(&self, phi: &[f64]) -> Result<(), SystemError> {
        self.check(phi)
    }

    fn training_environments(&self, seed: u64) -> usize {
        self.environments(Split::Train, seed).len()
    }

    fn moving_state(&self) -> Option<&'static [Quantity]> {
        self.robot().map(|robot| robot.state())
    }

    fn extent(&self) -> Option<[[f64; 2]; 2]> {
        self.field().map(|field| field.domain())
    }

    fn picture(&self, phi: &[f64], state: &[f64]) -> Vec<Shape> {
        match (self.robot(), self.field()) {
            (Some(robot), _) => robot.sketch(phi, state),
            (_, Some(field)) => field.sketch(phi),
            _ => Vec::new(),
        }
    }
}
