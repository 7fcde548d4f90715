//! Change detection: a two-sided cumulative sum of normalised innovations.
//!
//! With ν clipped to ±clip: `g⁺ ← max(0, g⁺ + ν − κ)`, `g⁻ ← max(0, g⁻ − ν − κ)`; alarm when either
//! exceeds h, and both start again from zero. The clip keeps a single outlier from raising an alarm.

use super::error::{IdentificationError, check_setting};

/// Settings of the cumulative sum, all in standard deviations of the innovation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CusumSettings {
    /// Drift κ that each step takes off, above 0: half the smallest shift worth noticing.
    pub drift: f64,
    /// Alarm level h, above 0.
    pub threshold: f64,
    /// Largest |ν| that counts, above κ.
    pub clip: f64,
}

impl CusumSettings {
    /// For features that are exactly right and white measurement noise.
    pub const EXACT: Self = Self {
        drift: 0.5,
        threshold: 10.0,
        clip: 5.0,
    };

    /// For a learned model, whose residuals come in runs of one sign.
    pub const LEARNED: Self = Self {
        drift: 1.5,
        threshold: 15.0,
        clip: 5.0,
    };
}

/// The two running sums.
#[derive(Clone, Debug, PartialEq)]
pub struct Cusum {
    settings: CusumSettings,
    above: f64,
    below: f64,
}

impl Cusum {
    /// Starts from zero.
    pub fn new(settings: CusumSettings) -> Result<Self, IdentificationError> {
        let CusumSettings {
            drift,
            threshold,
            clip,
        } = settings;
        check_setting("the drift", drift, "above 0", drift > 0.0)?;
        check_setting("the alarm level", threshold, "above 0", threshold > 0.0)?;
        check_setting("the clip", clip, "above the drift", clip > drift)?;
        Ok(Self {
            settings,
            above: 0.0,
            below: 0.0,
        })
    }

    /// Takes in one normalised innovation; true on alarm, after which both sums are zero again.
    pub fn update(&mut self, normalised: f64) -> bool {
        if normalised.is_nan() {
            return false;
        }
        let CusumSettings {
            drift,
            threshold,
            clip,
        } = self.settings;
        let shift = normalised.clamp(-clip, clip);
        self.above = (self.above + shift - drift).max(0.0);
        self.below = (self.below - shift - drift).max(0.0);
        let alarm = self.above > threshold || self.below > threshold;
        if alarm {
            self.reset();
        }
        alarm
    }

    /// Whether nothing speaks for a change: both sums are zero.
    pub fn is_calm(&self) -> bool {
        self.above == 0.0 && self.below == 0.0
    }

    /// Starts again from zero.
    pub fn reset(&mut self) {
        self.above = 0.0;
        self.below = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::random::generator;

    #[test]
    fn white_noise_raises_no_alarm_in_50_000_steps() {
        let mut cusum = Cusum::new(CusumSettings::EXACT).unwrap();
        let mut rng = generator(1, 0);
        let alarms = (0..50_000).filter(|_| cusum.update(StandardNormal.sample(&mut rng)));
        assert!(alarms.count() <= 1);
    }

    #[test]
    fn a_shift_of_either_sign_is_noticed() {
        for shift in [-3.0, 3.0] {
            let mut cusum = Cusum::new(CusumSettings::EXACT).unwrap();
            let mut rng = generator(2, 0);
            let noticed = (0..100).position(|_| {
                let noise: f64 = StandardNormal.sample(&mut rng);
                cusum.update(noise + shift)
            });
            assert!(noticed.unwrap() < 10);
        }
    }

    #[test]
    fn one_outlier_alone_is_not_a_change() {
        let mut cusum = Cusum::new(CusumSettings::LEARNED).unwrap();
        assert!(!cusum.update(1e9));
        assert!(!cusum.update(f64::NAN));
        assert!(cusum.above.max(cusum.below) < 0.3 * CusumSettings::LEARNED.threshold);
    }

    #[test]
    fn a_clip_below_the_drift_could_never_alarm_and_is_refused() {
        let settings = CusumSettings {
            drift: 2.0,
            threshold: 1.0,
            clip: 1.0,
        };
        let error = Cusum::new(settings).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the clip must be above the drift, but is 1"
        );
    }
}
