//! Training steps against the clock, on devices that only take them down as on those that make them.

use std::time::Duration;

use web_time::Instant;

use super::run::{Stop, breathe};
use crate::{
    engine::pacing::{Host, REPORT, SLICE},
    learners::Trainer,
};

/// Steps made in bursts: as many at once as one slice or, on a device that only takes them down, one
/// report lasts, so that a slow device is not asked for more than it makes in time.
#[derive(Debug)]
pub struct Bursts {
    size: usize,
    /// Steps so far.
    pub steps: usize,
    /// Their time [s].
    pub seconds: f64,
}

impl Default for Bursts {
    fn default() -> Self {
        Self {
            size: 1,
            steps: 0,
            seconds: 0.0,
        }
    }
}

impl Bursts {
    /// Makes so many steps, fewer if training or the time in all ends.
    pub async fn make(
        &mut self,
        trainer: &mut Trainer,
        steps: usize,
        limit: f64,
        host: &impl Host,
    ) -> Result<(), Stop> {
        let end = self.steps.saturating_add(steps);
        while self.steps < end && self.seconds < limit && !trainer.finished() {
            let begun = Instant::now();
            for _ in 0..self.size.min(end - self.steps) {
                if !trainer.finished() {
                    trainer.step().await?;
                    self.steps += 1;
                }
            }
            let asked = begun.elapsed();
            // Waits for the device.
            trainer.settle().await?;
            let done = begun.elapsed();
            self.seconds += done.as_secs_f64();
            self.size = next_size(self.size, asked, done);
            breathe(host).await?;
        }
        Ok(())
    }
}

/// Steps of the next burst after one that was asked for and done in such times.
fn next_size(size: usize, asked: Duration, done: Duration) -> usize {
    if 2 * asked < SLICE && 2 * done < REPORT {
        2 * size
    } else if asked > SLICE || done > REPORT {
        (size / 2).max(1)
    } else {
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_fit_into_a_slice_and_into_a_report() {
        let [short, long] = [SLICE / 10, 2 * REPORT];
        assert_eq!(next_size(4, short, short), 8);
        assert_eq!(next_size(4, SLICE, SLICE), 4);
        assert_eq!(next_size(4, 2 * SLICE, 2 * SLICE), 2);
        // A device that takes steps down quickly and makes them slowly.
        assert_eq!(next_size(4, short, long), 2);
        assert_eq!(next_size(1, short, long), 1);
    }
}
