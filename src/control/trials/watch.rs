//! What is measured in a run whose plant changes.

use crate::identification::quantile::NOMINAL_95;

/// Steps after a noticed change in which further alarms belong to it, and after a change until error bars are
/// first looked at.
const SETTLING: usize = 100;
/// Relative errors within which an estimate counts as there.
pub const TOLERANCES: [f64; 3] = [0.05, 0.1, 0.15];

/// What is looked at in a step.
pub struct Seen {
    /// Number of the step.
    pub step: usize,
    /// Identified mass and its standard error, if there are.
    pub mass: Option<f64>,
    pub standard_error: Option<f64>,
    /// Whether the model noticed a change.
    pub alarm: bool,
    /// Distance to what was asked for.
    pub error: f64,
}

/// Collects the figures of a run.
pub struct Watch {
    change: usize,
    mass: f64,
    /// First step from which the estimate has been within each tolerance.
    outside: [usize; TOLERANCES.len()],
    noticed: Option<usize>,
    steps: usize,
    pub false_alarms: usize,
    pub quiet_steps: usize,
    pub total_error: f64,
    /// Whether the last error bar held the truth; none without one.
    pub covered: Option<bool>,
    /// The same [`SETTLING`] steps after the change, noticed or not; none in a run that ends before.
    pub covered_soon: Option<bool>,
}

impl Watch {
    /// Watches a run in which the mass becomes `mass` at step `change`.
    pub fn new(change: usize, mass: f64) -> Self {
        Self {
            change,
            mass,
            outside: [change; TOLERANCES.len()],
            noticed: None,
            steps: 0,
            false_alarms: 0,
            quiet_steps: 0,
            total_error: 0.0,
            covered: None,
            covered_soon: None,
        }
    }

    /// Takes in one step.
    pub fn see(&mut self, seen: &Seen) {
        self.steps = seen.step + 1;
        self.total_error += seen.error;
        let quiet =
            seen.step < self.change || self.noticed.is_some_and(|step| seen.step > step + SETTLING);
        if quiet {
            self.quiet_steps += 1;
            self.false_alarms += usize::from(seen.alarm);
        } else if seen.alarm && self.noticed.is_none() {
            self.noticed = Some(seen.step);
        }
        if seen.step >= self.change {
            let off = seen.mass.map_or(f64::INFINITY, |m| (m - self.mass).abs());
            for (outside, tolerance) in self.outside.iter_mut().zip(TOLERANCES) {
                if off > tolerance * self.mass || off.is_nan() {
                    *outside = seen.step + 1;
                }
            }
            self.covered = seen.standard_error.map(|bar| off <= NOMINAL_95 * bar);
            if seen.step == self.change + SETTLING {
                self.covered_soon = self.covered;
            }
        }
    }

    /// Steps with the new mass up to the first alarm.
    pub fn delay(&self) -> Option<usize> {
        self.noticed.map(|step| step - self.change + 1)
    }

    /// Steps with the new mass after which the estimate stays within each tolerance.
    pub fn settled(&self) -> [Option<usize>; TOLERANCES.len()] {
        self.outside
            .map(|outside| (outside < self.steps).then(|| outside - self.change + 1))
    }
}
