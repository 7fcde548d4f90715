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
//! States are eliminated (`X = Φ x + Γ U`), which leaves `½ UᵀHU + fᵀU` with a constant H that is
//! factorised once. Its minimum is almost always within the box; only if it is not is the
//! box-constrained program solved.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, Matrix4, Vector4};

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

/// The controller, factorised and ready to run at any rate.
#[derive(Clone, Debug)]
pub struct Mpc {
    settings: MpcSettings,
    /// Effect Φ of the present state on the future ones.
    free_motion: DMatrix<f64>,
    /// `Γᵀ W`: what a future error pulls at.
    pull: DMatrix<f64>,
    hessian: DMatrix<f64>,
    factor: Cholesky<f64, Dyn>,
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
        Ok(Self {
            settings,
            free_motion,
            pull,
            hessian,
            factor,
        })
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &MpcSettings {
        &self.settings
    }

    /// Plans from `state` towards `target(t)`, the wanted state t seconds from now.
    pub fn plan(
        &self,
        state: &Vector4<f64>,
        target: impl Fn(f64) -> Vector4<f64>,
    ) -> Result<Plan, SystemError> {
        let linear = self.linear(state, target);
        let free = self.factor.solve(&-&linear);
        let largest = self.settings.largest_input;
        if free.iter().all(|a| a.abs() <= largest) {
            return Ok(Plan {
                inputs: free,
                bounded: false,
            });
        }
        let inputs = box_qp::minimise(&self.hessian, &linear, (-largest, largest), &free)?;
        Ok(Plan {
            inputs,
            bounded: true,
        })
    }

    /// The linear part f of the cost.
    fn linear(&self, state: &Vector4<f64>, target: impl Fn(f64) -> Vector4<f64>) -> DVector<f64> {
        let mut error = &self.free_motion * state;
        for k in 0..self.settings.steps {
            let wanted = target((k + 1) as f64 * self.settings.step_time);
            let mut part = error.fixed_rows_mut::<4>(4 * k);
            part -= wanted;
        }
        &self.pull * error
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
            let plan = mpc.plan(&state, |_| Vector4::zeros()).unwrap();
            assert!(plan.inputs.amax() <= 10.0);
            state = a * state + b * plan.inputs[0];
        }
        assert!(state.amax() < 1e-2, "{state}");
    }

    #[test]
    fn a_plan_from_a_deep_lean_respects_the_box() {
        let mpc = Mpc::new(MpcSettings::default()).unwrap();
        let state = Vector4::new(0.0, 0.5, 0.0, 1.0);
        let plan = mpc.plan(&state, |_| Vector4::zeros()).unwrap();
        assert!(plan.bounded && plan.inputs.amax() <= 10.0);
        let inside = Vector4::new(0.0, 0.01, 0.0, 0.0);
        assert!(!mpc.plan(&inside, |_| Vector4::zeros()).unwrap().bounded);
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
            let plan = mpc.plan(&state, |_| Vector4::zeros()).unwrap();
            let linear = mpc.linear(&state, |_| Vector4::zeros());
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
