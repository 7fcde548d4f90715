//! Model predictive control of a wheeled inverted pendulum: `min Σ ‖x_k − x*_k‖²` over N steps.
//!
//! State x = (r, θ, ṙ, θ̇): ground position and lean, input a: ground acceleration, |a| ≤ 10. With
//! ω = √(g/l) the motion over a time T under constant a is exactly `x' = A x + B a`,
//!
//! ```text
//! A = [[1,0,T,0],[0,cosh Tω,0,sinh(Tω)/ω],[0,0,1,0],[0,ω sinh Tω,0,cosh Tω]]
//! B = [T²/2, −(2/g) sinh²(Tω/2), T, −(ω/g) sinh Tω]ᵀ
//! ```
//!
//! States are eliminated (`X = Φ x + Γ U`), which leaves `½ UᵀHU + fᵀU` with a constant H, and f
//! linear in the state and the target. So without the box the plan `U = −H⁻¹f` is a constant
//! matrix times (state, target), made once. It is almost always within the box; only if it is not
//! is the box-constrained program solved.

use nalgebra::{DMatrix, DVector, Matrix4, Vector4};

use super::box_qp;
use crate::systems::{SystemError, simulate::check_setting};

/// Settings of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpcSettings {
    /// Length l of the pendulum [m], 0.05 to 5.
    pub length: f64,
    /// Gravity g [m/s²], 0.1 to 100.
    pub gravity: f64,
    /// Steps N of the horizon, 1 to 500.
    pub steps: usize,
    /// Time T of a step [s], 0.001 to 0.5.
    pub step_time: f64,
    /// Weight of the last state.
    pub final_weight: f64,
    /// Weight of the states before it.
    pub state_weight: f64,
    /// Weight of the inputs, more than 0.
    pub input_weight: f64,
    /// Largest |a| [m/s²], 0.01 to 1000.
    pub largest_input: f64,
}

impl Default for MpcSettings {
    fn default() -> Self {
        Self {
            length: 0.3,
            gravity: 9.81,
            steps: 50,
            step_time: 0.02,
            final_weight: 1.0,
            state_weight: 1e-3,
            input_weight: 1e-3,
            largest_input: 10.0,
        }
    }
}

/// What the controller wants to do over its horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Accelerations of the N steps [m/s²]; only the first is applied.
    pub inputs: DVector<f64>,
    /// Whether a bound was reached and the box-constrained program had to be solved.
    pub bounded: bool,
}

/// The controller, prepared to run at any rate.
#[derive(Clone, Debug)]
pub struct Mpc {
    settings: MpcSettings,
    hessian: DMatrix<f64>,
    /// f of the state and of the wanted positions and speeds, N of each.
    linear: DMatrix<f64>,
    /// The plan without the box, of the same.
    unbounded: DMatrix<f64>,
}

impl MpcSettings {
    /// The motion over one step, A and B.
    pub fn model(&self) -> (Matrix4<f64>, Vector4<f64>) {
        let (t, g) = (self.step_time, self.gravity);
        let w = (g / self.length).sqrt();
        let (sinh, cosh) = ((t * w).sinh(), (t * w).cosh());
        let a = Matrix4::new(
            1.0,
            0.0,
            t,
            0.0, //
            0.0,
            cosh,
            0.0,
            sinh / w, //
            0.0,
            0.0,
            1.0,
            0.0, //
            0.0,
            w * sinh,
            0.0,
            cosh,
        );
        let lean = -(2.0 / g) * (t * w / 2.0).sinh().powi(2);
        (a, Vector4::new(t * t / 2.0, lean, t, -(w / g) * sinh))
    }

    fn check(&self) -> Result<(), SystemError> {
        check_setting("pendulum length", self.length, (0.05, 5.0), "m")?;
        check_setting("gravity", self.gravity, (0.1, 100.0), "m/s²")?;
        check_setting("number of steps", self.steps as f64, (1.0, 500.0), "")?;
        check_setting("step time", self.step_time, (1e-3, 0.5), "s")?;
        check_setting("final weight", self.final_weight, (0.0, 1e6), "")?;
        check_setting("state weight", self.state_weight, (0.0, 1e6), "")?;
        check_setting("input weight", self.input_weight, (1e-9, 1e6), "")?;
        check_setting("largest input", self.largest_input, (0.01, 1e3), "m/s²")
    }
}

impl Mpc {
    /// Prepares the controller; refuses settings that make no sense.
    pub fn new(settings: MpcSettings) -> Result<Self, SystemError> {
        settings.check()?;
        let n = settings.steps;
        let (a, b) = settings.model();
        let mut free_motion = DMatrix::zeros(4 * n, 4);
        let mut effect = DMatrix::zeros(4 * n, n);
        let (mut power, mut response) = (a, b);
        for k in 0..n {
            free_motion
                .fixed_view_mut::<4, 4>(4 * k, 0)
                .copy_from(&power);
            for j in 0..n - k {
                // The input of step j moves the state k + 1 steps later by Aᵏ B.
                effect
                    .fixed_view_mut::<4, 1>(4 * (j + k), j)
                    .copy_from(&response);
            }
            power = a * power;
            response = a * response;
        }
        let mut pull = effect.transpose();
        for k in 0..n {
            let weight = if k + 1 == n {
                settings.final_weight
            } else {
                settings.state_weight
            };
            pull.columns_mut(4 * k, 4).scale_mut(weight);
        }
        let hessian = &pull * &effect + DMatrix::from_diagonal_element(n, n, settings.input_weight);
        let Some(factor) = hessian.clone().cholesky() else {
            return Err(SystemError::Invalid(
                "the weights of the controller leave its cost without a minimum".to_owned(),
            ));
        };
        let mut linear = DMatrix::zeros(n, 4 + 2 * n);
        linear.columns_mut(0, 4).copy_from(&(&pull * free_motion));
        for k in 0..n {
            // Only position and speed have a target; lean and its rate should be zero.
            linear.set_column(4 + k, &-pull.column(4 * k));
            linear.set_column(4 + n + k, &-pull.column(4 * k + 2));
        }
        let unbounded = factor.solve(&-&linear);
        Ok(Self {
            settings,
            hessian,
            linear,
            unbounded,
        })
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &MpcSettings {
        &self.settings
    }

    /// Plans from `state` towards `target(t)`, the wanted position and speed t seconds from now.
    pub fn plan(
        &self,
        state: &Vector4<f64>,
        target: impl Fn(f64) -> [f64; 2],
    ) -> Result<Plan, SystemError> {
        let situation = self.situation(state, target);
        let free = &self.unbounded * &situation;
        let largest = self.settings.largest_input;
        if free.iter().all(|a| a.abs() <= largest) {
            return Ok(Plan {
                inputs: free,
                bounded: false,
            });
        }
        let linear = &self.linear * situation;
        let inputs = box_qp::minimise(&self.hessian, &linear, (-largest, largest), &free)?;
        Ok(Plan {
            inputs,
            bounded: true,
        })
    }

    /// The state, then the wanted positions, then the wanted speeds.
    fn situation(&self, state: &Vector4<f64>, target: impl Fn(f64) -> [f64; 2]) -> DVector<f64> {
        let n = self.settings.steps;
        let mut situation = DVector::zeros(4 + 2 * n);
        situation.fixed_rows_mut::<4>(0).copy_from(state);
        for k in 0..n {
            let [position, speed] = target((k + 1) as f64 * self.settings.step_time);
            situation[4 + k] = position;
            situation[4 + n + k] = speed;
        }
        situation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_the_exact_motion_of_the_pendulum() {
        let settings = MpcSettings::default();
        let (a, b) = settings.model();
        let start = Vector4::new(0.1, 0.05, -0.2, 0.3);
        let input = 1.7;
        let (mut fine, h) = (start, settings.step_time / 20_000.0);
        for _ in 0..20_000 {
            // Midpoint rule on r̈ = a, θ̈ = (g θ − a)/l.
            let rate = |x: &Vector4<f64>| {
                Vector4::new(
                    x[2],
                    x[3],
                    input,
                    (settings.gravity * x[1] - input) / settings.length,
                )
            };
            let middle = fine + rate(&fine) * (h / 2.0);
            fine += rate(&middle) * h;
        }
        assert!((a * start + b * input - fine).amax() < 1e-9);
    }

    #[test]
    fn a_plan_balances_its_own_model() {
        let mpc = Mpc::new(MpcSettings::default()).unwrap();
        let (a, b) = mpc.settings().model();
        let mut state = Vector4::new(0.3, 0.1, 0.0, 0.0);
        for _ in 0..500 {
            let plan = mpc.plan(&state, |_| [0.0; 2]).unwrap();
            assert!(plan.inputs.amax() <= 10.0);
            state = a * state + b * plan.inputs[0];
        }
        assert!(state.amax() < 1e-2, "{state}");
    }

    #[test]
    fn a_plan_has_no_cheaper_neighbour() {
        let settings = MpcSettings::default();
        let mpc = Mpc::new(settings).unwrap();
        let (a, b) = settings.model();
        let start = Vector4::new(0.1, 0.02, -0.1, 0.05);
        let path = |t: f64| [0.2 * t, 0.2];
        // The cost, straight from its definition.
        let cost = |inputs: &DVector<f64>| {
            let (mut state, mut cost) = (start, 0.0);
            for (k, &input) in inputs.iter().enumerate() {
                state = a * state + b * input;
                let [position, speed] = path((k + 1) as f64 * settings.step_time);
                let error = state - Vector4::new(position, 0.0, speed, 0.0);
                let weight = if k == 49 { 1.0 } else { 1e-3 };
                cost += weight * error.norm_squared() + 1e-3 * input * input;
            }
            cost
        };
        let best = mpc.plan(&start, path).unwrap().inputs;
        for k in 0..50 {
            for shift in [-0.01, 0.01] {
                let mut other = best.clone();
                other[k] += shift;
                assert!(cost(&other) > cost(&best));
            }
        }
    }

    #[test]
    fn a_plan_from_a_deep_lean_respects_the_box() {
        let mpc = Mpc::new(MpcSettings::default()).unwrap();
        let state = Vector4::new(0.0, 0.5, 0.0, 1.0);
        let plan = mpc.plan(&state, |_| [0.0; 2]).unwrap();
        assert!(plan.bounded && plan.inputs.amax() <= 10.0);
        let inside = Vector4::new(0.0, 0.01, 0.0, 0.0);
        assert!(!mpc.plan(&inside, |_| [0.0; 2]).unwrap().bounded);
    }

    #[cfg(not(target_arch = "wasm32"))]
    #[test]
    fn bounded_plans_are_those_of_an_interior_point_solver() {
        use rand::RngExt as _;

        let mpc = Mpc::new(MpcSettings::default()).unwrap();
        let mut rng = crate::random::generator(0, 0);
        let mut bounded = 0;
        for _ in 0..100 {
            let state = Vector4::from_fn(|_, _| rng.random_range(-0.8..0.8));
            let plan = mpc.plan(&state, |_| [0.0; 2]).unwrap();
            let linear = &mpc.linear * mpc.situation(&state, |_| [0.0; 2]);
            let theirs = box_qp::tests::by_clarabel(&mpc.hessian, &linear, 10.0);
            let theirs = DVector::from_vec(theirs);
            let cost = |u: &DVector<f64>| 0.5 * u.dot(&(&mpc.hessian * u)) + linear.dot(u);
            // The cost is so flat that the other solver stops a little off the minimum.
            assert!(cost(&plan.inputs) <= cost(&theirs) + 1e-6);
            assert!((plan.inputs[0] - theirs[0]).abs() < 1e-2);
            bounded += usize::from(plan.bounded);
        }
        assert!(bounded > 20, "{bounded}");
    }

    #[test]
    fn impossible_settings_are_refused_with_their_value() {
        let settings = MpcSettings {
            step_time: -0.02,
            ..MpcSettings::default()
        };
        assert!(
            Mpc::new(settings)
                .unwrap_err()
                .to_string()
                .contains("-0.02")
        );
    }
}
