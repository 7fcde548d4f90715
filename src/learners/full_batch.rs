//! `θ ← θ − t H∇f(θ)`, `f(θ) = min_ω L(θ, ω)`: L-BFGS on all training rows at once, on the host and in
//! double precision, with the contexts ω solved for in every evaluation (variable projection).
//!
//! For small problems, where a pass over all rows is cheap: it gets further than Adam in a tenth of
//! the passes.
//!
//! A learner that adapts to one half of the rows and is judged by the other does so both ways: no
//! later batch would ever judge the features of the first half.
//!
//! Neighbours on a trajectory are nearly alike, so that a part of the rows tells the way for long: the
//! first iterations go over a [`Draft`] of them.

use std::sync::Arc;

use super::{Direct, Learner, LearnerError, Rows, Shots, batches::HostRows, lbfgs::Lbfgs};

/// Pairs of steps and gradient changes that are remembered.
const MEMORY: usize = 40;
/// The draft has one row in so many, and at least so many of all tasks' own rows.
const DRAFT: usize = 4;
const DRAFT_ROWS: usize = 1_000;
/// Part of the iterations that go over the draft.
const DRAFT_PART: f64 = 0.4;

/// A search for the meta-parameters with the least error on all rows.
#[derive(Debug)]
pub(super) struct FullBatch {
    problem: Problem,
    /// What the first iterations go over; none where rows are few, or shared by all tasks.
    draft: Option<Draft>,
    search: Lbfgs,
}

/// Some of the rows, and the iterations that still go over them.
#[derive(Debug)]
struct Draft {
    problem: Problem,
    left: usize,
}

/// What an iteration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// Whether it made the error smaller; if not, no step does.
    pub on: bool,
    /// Whether it was the first one over all rows: the error is no longer that of the draft.
    pub to_all_rows: bool,
}

#[derive(Debug)]
struct Problem {
    loss: Arc<dyn Direct>,
    /// The rows, in every order in which they are judged.
    orders: Vec<HostRows>,
    tasks: usize,
    evaluations: usize,
}

impl FullBatch {
    /// A search of so many iterations for the least error of `loss`, from these meta-parameters of the
    /// learner. The draft takes the first rows: they should be mixed.
    pub fn new(
        learner: &dyn Learner,
        loss: Arc<dyn Direct>,
        data: HostRows,
        start: Vec<f64>,
        iterations: usize,
    ) -> Self {
        let both_ways = learner.trained_context(&start, 0).is_none();
        let mut draft = Self::draft_rows(&data).map(|rows| Draft {
            problem: Problem::new(loss.clone(), rows, both_ways),
            left: (DRAFT_PART * iterations as f64) as usize,
        });
        let mut problem = Problem::new(loss, data, both_ways);
        let first = draft.as_mut().map_or(&mut problem, |d| &mut d.problem);
        let search = Lbfgs::new(start, MEMORY, &mut |x, gradient| {
            first.evaluate(x, gradient)
        });
        Self {
            problem,
            draft,
            search,
        }
    }

    fn draft_rows(data: &HostRows) -> Option<HostRows> {
        let rows = data.rows / DRAFT;
        (data.groups > 1 && rows * data.groups >= DRAFT_ROWS).then(|| data.first(rows))
    }

    /// One iteration.
    pub fn step(&mut self) -> Moved {
        if let Some(Draft { problem, left }) = &mut self.draft {
            let evaluate = &mut |x: &[f64], gradient: &mut [f64]| problem.evaluate(x, gradient);
            if *left > 0 && self.search.step(evaluate) {
                *left -= 1;
                return Moved {
                    on: true,
                    to_all_rows: false,
                };
            }
        }
        let problem = &mut self.problem;
        let draft = self.draft.take();
        if let Some(draft) = &draft {
            problem.evaluations += draft.problem.evaluations;
        }
        let evaluate = &mut |x: &[f64], gradient: &mut [f64]| problem.evaluate(x, gradient);
        if draft.is_some() {
            self.search.evaluate_anew(evaluate);
        }
        Moved {
            on: self.search.step(evaluate),
            to_all_rows: draft.is_some(),
        }
    }

    /// Lets the next iteration go over all rows; false where the last one already did.
    pub fn leave_draft(&mut self) -> bool {
        self.draft.as_mut().map(|draft| draft.left = 0).is_some()
    }

    /// The work of so many further iterations: that of one over all rows is 1.
    pub fn work(&self, iterations: usize) -> f64 {
        let drafted = self.draft.as_ref().map_or(0, |draft| draft.left);
        let drafted = drafted.min(iterations);
        (iterations - drafted) as f64 + drafted as f64 / DRAFT as f64
    }

    /// The error of standardised targets.
    pub fn error(&self) -> f64 {
        self.search.value()
    }

    /// Evaluations of the loss and its gradient so far.
    #[cfg(test)]
    pub fn evaluations(&self) -> usize {
        let drafted = self.draft.as_ref().map_or(0, |d| d.problem.evaluations);
        drafted + self.problem.evaluations
    }

    /// The meta-parameters, with the contexts that were solved for.
    pub fn parameters(&self, learner: &dyn Learner) -> Result<Vec<f64>, LearnerError> {
        let HostRows { x, y, groups, .. } = &self.problem.orders[0];
        let mut parameters = self.search.x().to_vec();
        let blocks = x.chunks_exact(x.len() / groups);
        let blocks = blocks.zip(y.chunks_exact(y.len() / groups));
        for (first_task, (inputs, targets)) in blocks.enumerate() {
            learner.project(&mut parameters, first_task, Shots { inputs, targets })?;
        }
        Ok(parameters)
    }
}

impl Problem {
    fn new(loss: Arc<dyn Direct>, data: HostRows, both_ways: bool) -> Self {
        let tasks = data.y.len() / data.rows;
        let turned = both_ways.then(|| data.turned());
        Self {
            loss,
            orders: [data].into_iter().chain(turned).collect(),
            tasks,
            evaluations: 0,
        }
    }

    fn evaluate(&mut self, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        self.evaluations += 1;
        gradient.fill(0.0);
        let mut error = 0.0;
        for data in &self.orders {
            let at = Rows {
                parameters,
                x: &data.x,
                y: &data.y,
                groups: data.groups,
                tasks: self.tasks,
                rows: data.rows,
            };
            error += self.loss.double(at, gradient);
        }
        let share = 1.0 / self.orders.len() as f64;
        gradient.iter_mut().for_each(|g| *g *= share);
        share * error
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{
        learners::{
            Settings, Shape,
            heads::ROWS_IN_GRAMS,
            learner,
            net::{ROWS_IN_NETS, TIME_IN_NETS},
        },
        random::generator,
    };

    /// Two inputs in two tasks.
    fn data(groups: usize, rows: usize) -> HostRows {
        let wave = |count: usize| (0..count).map(|i| (1.7 * i as f64).sin()).collect();
        HostRows {
            x: wave(groups * rows * 2),
            y: wave(2 * rows),
            groups,
            rows,
        }
    }

    /// A search of ten iterations.
    fn search(method: &str, data: HostRows) -> FullBatch {
        let settings = Settings::new("cartpole", method).unwrap();
        let shape = Shape {
            inputs: 2,
            tasks: 2,
        };
        let learner = learner(&settings, shape).unwrap();
        let start = learner.initial_parameters(&mut generator(1, 0));
        let loss = learner.projected().unwrap();
        FullBatch::new(&*learner, loss, data, start, 10)
    }

    #[test]
    fn both_halves_of_the_rows_are_judged() {
        for method in ["camel", "anil", "r2d2"] {
            let [error, turned] =
                [data(2, 6), data(2, 6).turned()].map(|data| search(method, data).error());
            assert!((error - turned).abs() < 1e-9 * error, "{method}");
        }
    }

    #[test]
    fn four_in_ten_iterations_go_over_a_quarter_of_long_trajectories_and_the_rest_over_all() {
        for method in ["camel", "anil", "r2d2"] {
            let mut search = search(method, data(2, 2_000));
            let draft = self::search(method, data(2, 2_000).first(500));
            assert_eq!(search.error(), draft.error());
            assert_eq!((search.work(3), search.work(10)), (0.75, 7.0));
            let moved: Vec<Moved> = (0..6).map(|_| search.step()).collect();
            assert!(moved.iter().all(|moved| moved.on), "{method}");
            let to_all: Vec<bool> = moved.iter().map(|moved| moved.to_all_rows).collect();
            let expected = [false, false, false, false, true, false];
            assert_eq!(to_all, expected, "{method}");
            assert_eq!(search.work(4), 4.0);
            let (problem, x) = (&mut search.problem, search.search.x());
            let error = problem.evaluate(x, &mut vec![0.0; x.len()]);
            assert_eq!(search.error(), error, "{method}");
        }
    }

    #[test]
    fn few_rows_and_grids_that_tasks_share_are_all_gone_over_from_the_start() {
        assert!(search("camel", data(2, 2_000)).draft.is_some());
        for (groups, rows) in [(1, 8_000), (2, 1_996)] {
            assert!(search("camel", data(groups, rows)).draft.is_none());
        }
    }

    #[test]
    fn a_draft_that_no_step_helps_is_left() {
        let mut flat = data(2, 2_000);
        for task in flat.y.chunks_exact_mut(2_000) {
            task[..500].fill(0.0);
        }
        let moved: Vec<Moved> = {
            let mut search = search("camel", flat);
            (0..4).map(|_| search.step()).collect()
        };
        assert!(moved.iter().any(|moved| moved.to_all_rows), "{moved:?}");
        assert!(moved.iter().all(|moved| moved.on), "{moved:?}");
    }

    #[test]
    fn a_draft_that_is_left_early_gives_way_to_all_rows_in_the_next_iteration() {
        let mut search = search("camel", data(2, 2_000));
        assert!(!search.step().to_all_rows);
        assert!(search.leave_draft());
        assert_eq!(search.work(9), 9.0);
        assert!(search.step().to_all_rows);
        assert!(!search.leave_draft());
    }

    #[test]
    fn whoever_gets_nowhere_on_all_rows_is_told_that_the_draft_was_left() {
        let mut none = data(2, 2_000);
        none.y.fill(0.0);
        let mut search = search("camel", none);
        let moved = (0..10).map(|_| search.step()).find(|moved| !moved.on);
        assert!(moved.is_some_and(|moved| moved.to_all_rows), "{moved:?}");
    }

    /// A loss on a grid that so many tasks share.
    fn on_a_grid(settings: &Settings, tasks: usize, rows: usize) -> (Problem, Vec<f64>) {
        let shape = Shape { inputs: 2, tasks };
        let learner = learner(settings, shape).unwrap();
        let wave = |count: usize| (0..count).map(|i| (1.7 * i as f64).sin()).collect();
        let data = HostRows {
            x: wave(rows * 2),
            y: wave(tasks * rows),
            groups: 1,
            rows,
        };
        let start = learner.initial_parameters(&mut generator(1, 0));
        let both_ways = learner.trained_context(&start, 0).is_none();
        let loss = learner.projected().unwrap();
        (Problem::new(loss, data, both_ways), start)
    }

    /// Rows that nets, products of features and pulls at these go over in an evaluation on a grid that so
    /// many tasks share.
    fn rows_of_an_evaluation(settings: &Settings, tasks: usize, rows: usize) -> [usize; 2] {
        let (mut problem, at) = on_a_grid(settings, tasks, rows);
        ROWS_IN_NETS.set(0);
        ROWS_IN_GRAMS.set(0);
        problem.evaluate(&at, &mut vec![0.0; at.len()]);
        [ROWS_IN_NETS.get(), ROWS_IN_GRAMS.get()]
    }

    #[test]
    fn what_a_shared_grid_gives_whatever_the_targets_is_computed_once_for_all_tasks() {
        let rows = 50;
        for method in ["camel", "anil", "r2d2"] {
            let settings = Settings::new("charges-quadrupole", method).unwrap();
            let rank = settings.rank;
            let one_triangle = rank * (rank + 1) / 2;
            // Forward and back; the others adapt to each half once, and pull at its features.
            let expected = match method {
                "camel" => [2 * rows, one_triangle * rows],
                _ => [4 * rows, (one_triangle + rank * rank) * rows],
            };
            for tasks in [5, 40] {
                let found = rows_of_an_evaluation(&settings, tasks, rows);
                assert_eq!(found, expected, "{method}, {tasks} tasks");
            }
        }
    }

    #[test]
    fn contexts_on_a_shared_grid_are_solved_for_at_once_and_are_those_of_the_single_tasks() {
        let settings = Settings::new("capacitor", "camel").unwrap();
        let (rows, tasks) = (50, 7);
        let (problem, start) = on_a_grid(&settings, tasks, rows);
        let learner = learner(&settings, Shape { inputs: 2, tasks }).unwrap();
        let HostRows { x, y, .. } = &problem.orders[0];
        let mut single = start.clone();
        for (task, targets) in y.chunks_exact(rows).enumerate() {
            let rows = Shots { inputs: x, targets };
            learner.project(&mut single, task, rows).unwrap();
        }
        let search = Lbfgs::new(start, MEMORY, &mut |_, _| 0.0);
        let search = FullBatch {
            problem,
            draft: None,
            search,
        };
        ROWS_IN_NETS.set(0);
        assert_eq!(search.parameters(&*learner).unwrap(), single);
        // Features and bias.
        assert_eq!(ROWS_IN_NETS.get(), 2 * rows);
    }

    #[test]
    #[ignore = "a benchmark: cargo test --release --lib speed_of_an_evaluation -- --ignored --nocapture"]
    fn speed_of_an_evaluation_on_a_grid_that_all_tasks_share() {
        for (system, rows) in [("charges-dipole", 400), ("capacitor", 1_000)] {
            for method in ["camel", "anil", "r2d2"] {
                for tasks in [10, 125] {
                    let settings = Settings::new(system, method).unwrap();
                    let (mut problem, at) = on_a_grid(&settings, tasks, rows);
                    let mut gradient = vec![0.0; at.len()];
                    let times = (0..30).map(|_| {
                        TIME_IN_NETS.set(Duration::ZERO);
                        let begun = Instant::now();
                        problem.evaluate(&at, &mut gradient);
                        [begun.elapsed(), begun.elapsed() - TIME_IN_NETS.get()]
                    });
                    let [all, outside] = times.min().unwrap().map(|time| 1e3 * time.as_secs_f64());
                    println!(
                        "{method}, the grid of {system}, {tasks} tasks: {all:.3} ms an evaluation, {outside:.3} ms of it outside of the nets"
                    );
                }
            }
        }
    }
}
