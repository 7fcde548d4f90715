//! Times that other processes of the machine disturb little.

use web_time::Instant;

/// Length of one run [s]: long for the browser's clock, short for the machine's scheduler.
const RUN: f64 = 1.5e-3;

/// Milliseconds of a call, from many short runs, in ascending order.
pub struct Times(Vec<f64>);

impl Times {
    /// Measures a call for about `seconds`.
    pub fn of(seconds: f64, mut call: impl FnMut()) -> Self {
        let mut run = |count: u32| {
            let begun = Instant::now();
            (0..count).for_each(|_| call());
            begun.elapsed().as_secs_f64() / f64::from(count)
        };
        let mut count = 1;
        while run(count) * f64::from(count) < RUN {
            count *= 2;
        }
        let (begun, mut times) = (Instant::now(), Vec::new());
        while times.len() < 10 || begun.elapsed().as_secs_f64() < seconds {
            times.push(1e3 * run(count));
        }
        Self::from(times)
    }

    /// The tenth percentile: what a machine without other work would need.
    pub fn least(&self) -> f64 {
        self.0[self.0.len() / 10]
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }
}

impl From<Vec<f64>> for Times {
    fn from(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }
}
