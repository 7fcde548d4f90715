//! Iterative LQR: a trajectory is improved by the LQR of its own linearisation, again and again.
//!
//! Minimises, from a given start and over N steps with `u = U tanh(w/U)`,
//!
//! ```text
//! J = Σ ½ (R w² + Σ_i Q_i e_i²) + ½ Σ_i F_i e_i(N)²,   e = x − goal
//! ```
//!
//! Backward, with A, B of the linearised step: `Q_ww = R + BᵀVB + μ`, `k = −Q_w/Q_ww`,
//! `K = −Q_wx/Q_ww`, and V, the cost to go, one step earlier. Forward, `w + α k + K δx` is tried
//! with ever smaller α until J falls; μ grows when none helps and shrinks when one does.

use nalgebra::{DMatrix, DVector, RowDVector};

use super::{lqr, reference::Reference};
use crate::systems::{Robot, SystemError};

/// Largest regularisation μ; beyond it the trajectory cannot be improved.
const LARGEST_DAMPING: f64 = 1e9;
/// Halvings of the step that a line search tries.
const HALVINGS: i32 = 10;

/// What a trajectory should do, and how long to improve it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ilqr {
    /// Largest |u|, U.
    pub largest_input: f64,
    /// Weight R of the unsquashed input w.
    pub input_weight: f64,
    /// Running weights Q of the state.
    pub running_weights: Vec<f64>,
    /// Final weights F of the state.
    pub final_weights: Vec<f64>,
    /// The state to reach at the end.
    pub goal: Vec<f64>,
    /// Steps N.
    pub steps: usize,
    /// Improvements at most.
    pub iterations: usize,
}

/// Inputs w and the states they lead through, with their cost.
struct Trajectory {
    inputs: Vec<f64>,
    states: Vec<Vec<f64>>,
    cost: f64,
}

/// Open-loop change k and feedback K of one step.
struct Feedback {
    change: f64,
    gain: RowDVector<f64>,
}

impl Ilqr {
    /// The best trajectory found from `start`, beginning with the inputs `guess` (w, one a step).
    pub fn solve(
        &self,
        robot: &dyn Robot,
        parameters: &[f64],
        start: &[f64],
        guess: Vec<f64>,
    ) -> Result<Reference, SystemError> {
        robot.check(parameters)?;
        let problem = Problem {
            settings: self,
            robot,
            parameters,
        };
        let mut best = problem.roll_out(start, guess, None);
        let mut damping = 1.0;
        for _ in 0..self.iterations {
            let feedback = problem.backward(&best, damping);
            match problem.search(&best, &feedback) {
                Some(better) => {
                    best = better;
                    damping = f64::max(damping / 3.0, 1e-9);
                }
                None => damping *= 4.0,
            }
            if damping > LARGEST_DAMPING {
                break;
            }
        }
        let inputs = best.inputs.iter().map(|&w| self.squash(w)).collect();
        Reference::open_loop(robot, parameters, start, inputs)
    }

    fn squash(&self, w: f64) -> f64 {
        self.largest_input * (w / self.largest_input).tanh()
    }

    fn squash_slope(&self, w: f64) -> f64 {
        1.0 - (w / self.largest_input).tanh().powi(2)
    }

    fn error(&self, state: &[f64]) -> DVector<f64> {
        let n = state.len();
        DVector::from_iterator(n, (0..n).map(|i| state[i] - self.goal[i]))
    }

    fn cost(&self, states: &[Vec<f64>], inputs: &[f64]) -> f64 {
        let weigh = |weights: &[f64], state: &[f64]| {
            let error = self.error(state);
            (0..state.len())
                .map(|i| 0.5 * weights[i] * error[i] * error[i])
                .sum::<f64>()
        };
        let running: f64 = states
            .iter()
            .zip(inputs)
            .map(|(x, w)| weigh(&self.running_weights, x) + 0.5 * self.input_weight * w * w)
            .sum();
        running + weigh(&self.final_weights, &states[inputs.len()])
    }
}

/// The settings with the robot that they are for.
struct Problem<'a> {
    settings: &'a Ilqr,
    robot: &'a dyn Robot,
    parameters: &'a [f64],
}

impl Problem<'_> {
    /// Runs the robot, with the feedback of a step length α around an older trajectory if given.
    fn roll_out(
        &self,
        start: &[f64],
        mut inputs: Vec<f64>,
        around: Option<(&Trajectory, &[Feedback], f64)>,
    ) -> Trajectory {
        let mut states = vec![start.to_vec()];
        for k in 0..inputs.len() {
            let state = &states[k];
            if let Some((old, feedback, alpha)) = around {
                let shift = DVector::from_iterator(
                    state.len(),
                    state.iter().zip(&old.states[k]).map(|(new, old)| new - old),
                );
                inputs[k] += alpha * feedback[k].change + (&feedback[k].gain * shift)[0];
            }
            let u = self.settings.squash(inputs[k]);
            states.push(self.robot.step(self.parameters, state, u));
        }
        let cost = self.settings.cost(&states, &inputs);
        Trajectory {
            inputs,
            states,
            cost,
        }
    }

    /// The feedback of each step, from the last to the first.
    fn backward(&self, around: &Trajectory, damping: f64) -> Vec<Feedback> {
        let settings = self.settings;
        let diagonal = |w: &[f64]| DMatrix::from_diagonal(&DVector::from_column_slice(w));
        let running = diagonal(&settings.running_weights);
        let mut value = diagonal(&settings.final_weights);
        let mut slope = &value * settings.error(&around.states[around.inputs.len()]);
        let mut feedback = Vec::with_capacity(around.inputs.len());
        for (state, &w) in around.states.iter().zip(&around.inputs).rev() {
            let mut model = lqr::linearise(self.robot, self.parameters, state, settings.squash(w));
            model.b *= settings.squash_slope(w);
            let va = &value * &model.a;
            let vb = &value * &model.b;
            let curvature = settings.input_weight + model.b.dot(&vb) + damping;
            let q_w = settings.input_weight * w + model.b.dot(&slope);
            let q_wx = model.b.transpose() * &va;
            let change = -q_w / curvature;
            let gain = -&q_wx / curvature;
            let q_x = &running * settings.error(state) + model.a.transpose() * &slope;
            let q_xx = &running + model.a.transpose() * &va;
            let q_ww = curvature - damping;
            slope = q_x + gain.transpose() * (q_ww * change + q_w) + q_wx.transpose() * change;
            value = q_xx
                + gain.transpose() * &gain * q_ww
                + gain.transpose() * &q_wx
                + q_wx.transpose() * &gain;
            feedback.push(Feedback { change, gain });
        }
        feedback.reverse();
        feedback
    }

    /// The first cheaper trajectory on the way along the feedback.
    fn search(&self, old: &Trajectory, feedback: &[Feedback]) -> Option<Trajectory> {
        (0..HALVINGS)
            .map(|i| {
                let around = (old, feedback, 0.5f64.powi(i));
                self.roll_out(&old.states[0], old.inputs.clone(), Some(around))
            })
            .find(|new| new.cost < old.cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::pendulum::Pendulum;

    fn to(goal: f64, iterations: usize) -> Ilqr {
        Ilqr {
            largest_input: 5.0,
            input_weight: 0.01,
            running_weights: vec![0.0, 0.0],
            final_weights: vec![1000.0, 1000.0],
            goal: vec![goal, 0.0],
            steps: 100,
            iterations,
        }
    }

    #[test]
    fn a_mass_is_moved_with_the_least_effort_possible() {
        // Without gravity and bound: one metre in T = 2 s costs ∫u² = 12/T³ at the least.
        let robot = Pendulum {
            gravity: 0.0,
            ..Pendulum::default()
        };
        let settings = Ilqr {
            largest_input: 1e6,
            ..to(1.0, 40)
        };
        let found = settings
            .solve(&robot, &[1.0, 1.0], &[0.0, 0.0], vec![0.0; 100])
            .unwrap();
        let effort: f64 = found.inputs.iter().map(|u| u * u * found.dt).sum();
        assert!((effort - 1.5).abs() < 0.03, "{effort}");
        assert!((found.states[100][0] - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_pendulum_is_turned_upright_by_less_torque_than_its_weight() {
        let robot = Pendulum::default();
        let settings = Ilqr {
            steps: 200,
            ..to(std::f64::consts::PI, 300)
        };
        let guess = (0..200).map(|k| (f64::from(k) * 0.06).sin()).collect();
        let found = settings.solve(&robot, &[1.0, 1.0], &[0.0, 0.0], guess);
        let found = found.unwrap();
        let end = &found.states[200];
        assert!((end[0] - std::f64::consts::PI).abs() < 0.05, "{end:?}");
        assert!(found.inputs.iter().all(|u| u.abs() <= 5.0));
    }
}
