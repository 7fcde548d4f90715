//! Box-constrained quadratic program: `min ½ uᵀHu + fᵀu` with `low ≤ u_i ≤ high`, H positive
//! definite.
//!
//! Projected Newton: inputs that sit on a bound and are pushed against it are held, the others
//! take a Newton step, and the result is clipped to the box, with shorter steps until the cost
//! falls enough. The set of held inputs settles after a few rounds, and then one step is exact.

use nalgebra::{DMatrix, DVector};

use crate::systems::SystemError;

/// Rounds at most; a few are enough for every problem that was tried.
const ROUNDS: usize = 200;
/// Share of the predicted decrease that a step must reach.
const ARMIJO: f64 = 1e-4;

/// The minimiser within `low..=high`, started from `start` clipped to the box.
pub fn minimise(
    hessian: &DMatrix<f64>,
    linear: &DVector<f64>,
    (low, high): (f64, f64),
    start: &DVector<f64>,
) -> Result<DVector<f64>, SystemError> {
    let clip = |u: DVector<f64>| u.map(|x| x.clamp(low, high));
    let cost = |u: &DVector<f64>| 0.5 * u.dot(&(hessian * u)) + linear.dot(u);
    let tolerance = 1e-10 * (1.0 + linear.amax());
    let mut u = clip(start.clone());
    for _ in 0..ROUNDS {
        let gradient = hessian * &u + linear;
        let free: Vec<usize> = (0..u.len())
            .filter(|&i| {
                !((u[i] <= low && gradient[i] > 0.0) || (u[i] >= high && gradient[i] < 0.0))
            })
            .collect();
        if free.iter().all(|&i| gradient[i].abs() <= tolerance) {
            return Ok(u);
        }
        let step = newton_step(hessian, &gradient, &free)?;
        let before = cost(&u);
        let mut length = 1.0;
        loop {
            let next = clip(&u + length * &step);
            let predicted = gradient.dot(&(&next - &u));
            if cost(&next) <= before + ARMIJO * predicted || length < 1e-12 {
                u = next;
                break;
            }
            length /= 2.0;
        }
    }
    Err(SystemError::Invalid(format!(
        "the box-constrained program was not solved in {ROUNDS} rounds"
    )))
}

/// The Newton step of the free inputs; the others stay.
fn newton_step(
    hessian: &DMatrix<f64>,
    gradient: &DVector<f64>,
    free: &[usize],
) -> Result<DVector<f64>, SystemError> {
    let reduced = hessian.select_rows(free).select_columns(free);
    let slope = gradient.select_rows(free);
    let Some(factor) = reduced.cholesky() else {
        return Err(SystemError::Invalid(
            "the cost of a quadratic program must be positive definite, but is not".to_owned(),
        ));
    };
    let solution = factor.solve(&slope);
    let mut step = DVector::zeros(gradient.len());
    for (k, &i) in free.iter().enumerate() {
        step[i] = -solution[k];
    }
    Ok(step)
}

#[cfg(test)]
pub(super) mod tests {
    use rand::RngExt as _;

    use super::*;
    use crate::random;

    #[test]
    fn a_distant_minimum_ends_on_the_box() {
        let hessian = DMatrix::identity(2, 2);
        let linear = DVector::from_vec(vec![-5.0, 0.5]);
        let u = minimise(&hessian, &linear, (-1.0, 1.0), &DVector::zeros(2)).unwrap();
        assert!((u[0] - 1.0).abs() < 1e-12 && (u[1] + 0.5).abs() < 1e-12);
    }

    #[test]
    fn an_indefinite_cost_is_refused() {
        let hessian = DMatrix::from_diagonal_element(2, 2, -1.0);
        let linear = DVector::from_element(2, 1.0);
        assert!(minimise(&hessian, &linear, (-1.0, 1.0), &DVector::zeros(2)).is_err());
    }

    /// H = GᵀG + d I with random G, scaled so that some inputs end on the box and some do not.
    fn random_problem(seed: u64) -> (DMatrix<f64>, DVector<f64>) {
        let mut rng = random::generator(seed, 0);
        let n = rng.random_range(1..=20);
        let g = DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0));
        let d = 10f64.powf(rng.random_range(-3.0..0.0));
        let hessian = g.transpose() * g + DMatrix::from_diagonal_element(n, n, d);
        let linear = DVector::from_fn(n, |_, _| rng.random_range(-3.0..3.0));
        (hessian, linear)
    }

    #[cfg(not(target_arch = "wasm32"))]
    #[test]
    fn random_programs_have_the_solution_of_an_interior_point_solver() {
        let (mut held, mut free) = (0, 0);
        for seed in 0..1_000 {
            let (hessian, linear) = random_problem(seed);
            let start = DVector::zeros(linear.len());
            let ours = minimise(&hessian, &linear, (-1.0, 1.0), &start).unwrap();
            let theirs = by_clarabel(&hessian, &linear, 1.0);
            for (a, b) in ours.iter().zip(&theirs) {
                assert!((a - b).abs() < 1e-5, "problem {seed}: {a} {b}");
            }
            held += ours.iter().filter(|u| u.abs() > 1.0 - 1e-9).count();
            free += ours.iter().filter(|u| u.abs() < 1.0 - 1e-9).count();
        }
        assert!(held > 1_000 && free > 1_000);
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::control) fn by_clarabel(
        hessian: &DMatrix<f64>,
        linear: &DVector<f64>,
        bound: f64,
    ) -> Vec<f64> {
        use clarabel::{algebra::CscMatrix, solver::*};
        let n = linear.len();
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                (0..n)
                    .map(|j| if j >= i { hessian[(i, j)] } else { 0.0 })
                    .collect()
            })
            .collect();
        let p = CscMatrix::from(&rows);
        let bounds: Vec<Vec<f64>> = (0..2 * n)
            .map(|k| {
                let sign = if k < n { 1.0 } else { -1.0 };
                (0..n)
                    .map(|j| if k % n == j { sign } else { 0.0 })
                    .collect()
            })
            .collect();
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(1e-10)
            .tol_gap_rel(1e-10)
            .tol_feas(1e-10)
            .build()
            .unwrap();
        let mut solver = DefaultSolver::new(
            &p,
            linear.as_slice(),
            &CscMatrix::from(&bounds),
            &vec![bound; 2 * n],
            &[SupportedConeT::NonnegativeConeT(2 * n)],
            settings,
        )
        .unwrap();
        solver.solve();
        solver.solution.x
    }
}
