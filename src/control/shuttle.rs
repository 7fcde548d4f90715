//! The path of Upkie's runs: to and fro with rests, the smoothest motion there is.

/// The path to follow: `distance` forward within `travel` seconds, a rest, back, a rest, again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shuttle {
    /// Distance [m].
    pub distance: f64,
    /// Time of one way [s].
    pub travel: f64,
    /// Time of rest at either end [s].
    pub rest: f64,
}

impl Default for Shuttle {
    fn default() -> Self {
        Self {
            distance: 0.5,
            travel: 2.0,
            rest: 0.5,
        }
    }
}

impl Shuttle {
    /// Position and speed at time `t` [m, m/s]: the smoothest motion, with the least jerk.
    pub fn at(&self, t: f64) -> [f64; 2] {
        let way = self.travel + self.rest;
        let share = (t.rem_euclid(way) / self.travel).min(1.0);
        let there = share.powi(3) * (10.0 - 15.0 * share + 6.0 * share * share);
        let speed = 30.0 * share * share * (1.0 - share).powi(2) * self.distance / self.travel;
        if (t / way).rem_euclid(2.0) < 1.0 {
            [self.distance * there, speed]
        } else {
            [self.distance * (1.0 - there), -speed]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_there_and_back() {
        let path = Shuttle::default();
        assert_eq!(path.at(0.0), [0.0, 0.0]);
        assert_eq!(path.at(1.0)[0], 0.25);
        assert_eq!(path.at(2.2), [0.5, 0.0]);
        assert_eq!(path.at(3.5)[0], 0.25);
        let h = 1e-6;
        let slope = (path.at(3.2 + h)[0] - path.at(3.2 - h)[0]) / (2.0 * h);
        assert!((slope - path.at(3.2)[1]).abs() < 1e-8);
    }
}
