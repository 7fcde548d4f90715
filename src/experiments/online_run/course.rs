//! A run under way: the steps that were made, and what they add up to.

use std::time::Duration;

use web_time::Instant;

use super::{MOST_POINTS, OnlineRun, simulation::Simulation};
use crate::{control::error::ControlError, engine::jobs::Clock};

/// A run and its sums so far.
pub(super) struct Course {
    plant: Box<dyn Simulation>,
    /// Errors of all steps [m], the model's and the oracle's.
    total: f64,
    total_oracle: Option<f64>,
    /// Ticks that were missed up to the last point.
    missed: usize,
}

impl Course {
    /// A run that begins.
    pub fn new(plant: Box<dyn Simulation>) -> Self {
        Self {
            plant,
            total: 0.0,
            total_oracle: Some(0.0),
            missed: 0,
        }
    }

    /// Makes the steps that the clock gives after so much time [s], or as many as are begun within `most`:
    /// what is too slow for the clock runs slower, but steps that were asked for are made later.
    /// Tells what happened, how many steps the clock gave and whether the run is over.
    pub fn advance(
        &mut self,
        clock: &mut Clock,
        passed: f64,
        most: Duration,
    ) -> Result<(OnlineRun, usize, bool), ControlError> {
        let steps = clock.steps(passed, self.plant.time_step());
        let mut news = OnlineRun::default();
        let begun = Instant::now();
        let (mut made, mut over) = (0, false);
        while made < steps && (made == 0 || begun.elapsed() <= most) {
            if !self.step(&mut news)? {
                over = true;
                break;
            }
            made += 1;
        }
        clock.give_back(steps - made);
        news.keep(self.plant.punctuality(), self.plant.seconds());
        (news.total, news.total_oracle) = (Some(self.total), self.total_oracle);
        Ok((news, steps, over))
    }

    /// One step; false at the end.
    fn step(&mut self, news: &mut OnlineRun) -> Result<bool, ControlError> {
        let Some((mut point, noticed)) = self.plant.step()? else {
            return Ok(false);
        };
        self.total += point.error;
        self.total_oracle = self
            .total_oracle
            .zip(point.oracle)
            .map(|(sum, error)| sum + error);
        if noticed {
            news.noticed.push(point.time);
        }
        let stride = self.plant.length().div_ceil(MOST_POINTS).max(1);
        let punctuality = self.plant.punctuality();
        if punctuality.ticks % stride == 1 % stride {
            point.missed = punctuality.missed - self.missed;
            self.missed = punctuality.missed;
            news.points.push(point);
        }
        Ok(true)
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::{
        experiments::{live::Command, online_run::OnlinePoint},
        identification::budget::Punctuality,
    };

    /// Time for the steps between two messages.
    const MOST: Duration = Duration::from_millis(50);

    /// A run whose steps take longer than a message may wait; every other tick is missed.
    struct Slow(Punctuality);

    impl Simulation for Slow {
        fn step(&mut self) -> Result<Option<(OnlinePoint, bool)>, ControlError> {
            std::thread::sleep(MOST + Duration::from_millis(5));
            self.0.ticks += 1;
            self.0.missed += self.0.ticks % 2;
            let point = OnlinePoint {
                time: 0.0,
                truth: 1.0,
                estimate: None,
                standard_error: None,
                error: 0.5,
                oracle: Some(0.25),
                missed: 0,
            };
            Ok(Some((point, false)))
        }

        fn punctuality(&self) -> &Punctuality {
            &self.0
        }

        fn seconds(&self) -> f64 {
            0.1 * self.0.ticks as f64
        }

        fn time_step(&self) -> f64 {
            0.02
        }

        fn length(&self) -> usize {
            100
        }
    }

    #[test]
    fn a_slow_method_makes_every_step_that_it_is_asked_for() {
        let mut course = Course::new(Box::new(Slow(Punctuality::default())));
        let mut clock = Clock::default();
        clock.obey(Command::Paused(true));
        clock.obey(Command::Step(5));
        let mut run = OnlineRun::default();
        for _ in 0..8 {
            run.extend(course.advance(&mut clock, 0.1, MOST).unwrap().0);
        }
        assert_eq!((run.ticks, run.points.len()), (5, 5));
        assert_eq!((run.total, run.total_oracle), (Some(2.5), Some(1.25)));
        assert!((run.seconds_a_step - 0.1).abs() < 1e-12);
        let missed: Vec<usize> = run.points.iter().map(|point| point.missed).collect();
        assert_eq!(missed, [1, 0, 1, 0, 1]);
    }

    #[test]
    fn time_that_a_slow_method_has_lost_is_not_caught_up_with() {
        let mut course = Course::new(Box::new(Slow(Punctuality::default())));
        let mut clock = Clock::default();
        let (news, steps, _) = course.advance(&mut clock, 1.0, MOST).unwrap();
        assert_eq!((news.ticks, steps), (1, 50));
        assert_eq!(course.advance(&mut clock, 0.0, MOST).unwrap().1, 0);
    }
}
