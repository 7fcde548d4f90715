use nalgebra::{DMatrix, DVector};
use rand::RngExt as _;

use super::*;
use crate::random::generator;

const DOMAIN: [[f64; 2]; 2] = [[-4.0, -2.0], [4.0, 2.0]];

/// Two crossed walls and some single nodes: nothing that a coarse grid could follow.
fn awkward(grid: &Grid, seed: u64) -> Vec<Option<f64>> {
    let [width, height] = grid.size();
    let mut random = generator(seed, 0);
    let mut given = vec![None; grid.node_count()];
    for i in width / 4..3 * width / 4 {
        given[grid.index(i, height / 3)] = Some(-2.0);
        given[grid.index(i, (height / 3 + i / 3).min(height - 2))] = Some(2.0);
    }
    for _ in 0..5 {
        let node = random.random_range(0..grid.node_count());
        given[node] = Some(random.random_range(-3.0..3.0));
    }
    given
}

/// The textbook scheme, written down independently: a mirrored ghost node beyond each wall.
fn dense_solution(grid: &Grid, given: &[Option<f64>]) -> DVector<f64> {
    let [width, height] = grid.size().map(|n| n as isize);
    let [h1, h2] = grid.spacing();
    let mirror = |n: isize, count: isize| {
        if n < 0 {
            1
        } else if n == count {
            n - 2
        } else {
            n
        }
    };
    let mut matrix = DMatrix::zeros(grid.node_count(), grid.node_count());
    let mut right_side = DVector::zeros(grid.node_count());
    for j in 0..height {
        for i in 0..width {
            let row = grid.index(i as usize, j as usize);
            if let Some(value) = given[row] {
                matrix[(row, row)] = 1.0;
                right_side[row] = value;
                continue;
            }
            for (di, dj, h) in [(-1, 0, h1), (1, 0, h1), (0, -1, h2), (0, 1, h2)] {
                let (ni, nj) = (mirror(i + di, width), mirror(j + dj, height));
                matrix[(row, grid.index(ni as usize, nj as usize))] += 1.0 / (h * h);
                matrix[(row, row)] -= 1.0 / (h * h);
            }
        }
    }
    matrix.lu().solve(&right_side).unwrap()
}

#[test]
fn the_solution_agrees_with_a_dense_solve() {
    for (size, seed) in [([31, 19], 1), ([24, 20], 2), ([33, 17], 3), ([5, 40], 4)] {
        let grid = Grid::new(size, DOMAIN).unwrap();
        let given = awkward(&grid, seed);
        let dense = dense_solution(&grid, &given);
        let solution = solve(&grid, &given, at_node).unwrap();
        let error = solution
            .values
            .iter()
            .zip(&dense)
            .map(|(a, b)| (a - b).abs());
        let error = error.fold(0.0, f64::max);
        assert!(
            error < 1e-6,
            "{size:?}: {error} V off after {} iterations",
            solution.iterations
        );
    }
}

#[test]
fn the_reported_residual_is_that_of_the_values() {
    let grid = Grid::new([120, 90], DOMAIN).unwrap();
    let given = awkward(&grid, 5);
    let solution = solve(&grid, &given, at_node).unwrap();
    let (operator, b) = assemble(&grid, &given, at_node);
    let mut x = vec![0.0; b.len()];
    for j in 0..90 {
        for i in 0..120 {
            let node = grid.index(i, j);
            if given[node].is_none() {
                x[operator.index(i, j)] = solution.values[node];
            }
        }
    }
    let mut residual = vec![0.0; b.len()];
    operator.residual(&x, &b, &mut residual);
    let relative = (dot(&residual, &residual) / dot(&b, &b)).sqrt();
    assert!(relative <= 1.01 * TOLERANCE, "{relative}");
    assert!(
        (relative - solution.residual).abs() < 1e-3 * TOLERANCE,
        "{relative}"
    );
}

#[test]
fn a_potential_between_two_given_walls_is_a_ramp() {
    let grid = Grid::new([64, 48], DOMAIN).unwrap();
    let on_side = |x: [f64; 2]| (x[0].abs() == 4.0).then_some(x[0]);
    let given: Vec<_> = grid.positions().map(on_side).collect();
    let solution = solve(&grid, &given, at_node).unwrap();
    for (value, x) in solution.values.iter().zip(grid.positions()) {
        assert!((value - x[0]).abs() < 1e-6, "{value} V at {x:?}");
    }
}

/// Largest error of the potential between two circles, 0 V at r = 0.3 and 1 V at r = 0.9.
fn error_between_circles(n: usize, follow_edges: bool) -> f64 {
    let grid = Grid::new([n, n + 3], [[-1.0, -1.0], [1.0, 1.0]]).unwrap();
    let radius = |x: [f64; 2]| x[0].hypot(x[1]);
    let on_body = |x: [f64; 2]| match radius(x) {
        r if r < 0.3 => Some(0.0),
        r if r > 0.9 => Some(1.0),
        _ => None,
    };
    let given: Vec<_> = grid.positions().map(on_body).collect();
    let entry = |free: [f64; 2], fixed: [f64; 2]| {
        let edge = if radius(fixed) < 0.5 { 0.3 } else { 0.9 };
        let at = |t: f64| radius([0, 1].map(|a| free[a] + t * (fixed[a] - free[a])));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            let still_free = (at(middle) - edge) * (at(0.0) - edge) > 0.0;
            if still_free {
                low = middle
            } else {
                high = middle
            }
        }
        if follow_edges { low } else { 1.0 }
    };
    let solution = solve(&grid, &given, entry).unwrap();
    let errors = grid
        .positions()
        .zip(&solution.values)
        .zip(&given)
        .filter(|(_, g)| g.is_none());
    errors.fold(0.0, |most, ((x, y), _)| {
        most.max((y - (radius(x) / 0.3).ln() / 3.0_f64.ln()).abs())
    })
}

#[test]
fn followed_edges_are_accurate_to_second_order() {
    let [coarse, fine] = [50, 200].map(|n| error_between_circles(n, true));
    assert!(
        coarse < 2e-3 && fine < coarse / 10.0,
        "{coarse} then {fine}"
    );
    assert!(error_between_circles(200, false) > 10.0 * fine);
}

#[test]
fn the_preconditioner_is_symmetric_and_positive() {
    let grid = Grid::new([50, 37], DOMAIN).unwrap();
    let given = awkward(&grid, 6);
    let (operator, b) = assemble(&grid, &given, at_node);
    let mut random = generator(7, 0);
    let mut free_vector = || -> Vec<f64> {
        let value = |k| {
            if operator.is_free(k) {
                random.random_range(-1.0..1.0)
            } else {
                0.0
            }
        };
        (0..b.len()).map(value).collect()
    };
    let (u, v) = (free_vector(), free_vector());
    let mut multigrid = Multigrid::new(operator.clone()).unwrap();
    let mut images = [vec![0.0; b.len()], vec![0.0; b.len()]];
    multigrid.apply(&u, &mut images[0]);
    multigrid.apply(&v, &mut images[1]);
    let (left, right) = (dot(&v, &images[0]), dot(&u, &images[1]));
    assert!(
        (left - right).abs() < 1e-10 * dot(&u, &images[0]),
        "{left} {right}"
    );
    assert!(dot(&u, &images[0]) > 0.0 && dot(&v, &images[1]) > 0.0);
}

#[test]
fn iterations_do_not_grow_with_the_grid() {
    let iterations = |size| {
        let grid = Grid::new(size, DOMAIN).unwrap();
        solve(&grid, &awkward(&grid, 8), at_node)
            .unwrap()
            .iterations
    };
    let (coarse, fine) = (iterations([75, 50]), iterations([301, 203]));
    assert!(fine <= coarse + 3 && fine <= 20, "{coarse} then {fine}");
}

#[test]
fn a_problem_without_a_given_potential_is_refused() {
    let grid = Grid::new([8, 8], DOMAIN).unwrap();
    let error = solve(&grid, &[None; 64], at_node).unwrap_err().to_string();
    assert!(error.contains("none has one"), "{error}");
    let error = solve(&grid, &[Some(1.0); 63], at_node)
        .unwrap_err()
        .to_string();
    assert!(error.contains("64 nodes, but 63"), "{error}");
    let error = solve(&grid, &[Some(f64::NAN); 64], at_node)
        .unwrap_err()
        .to_string();
    assert!(error.contains("NaN"), "{error}");
}

#[test]
fn a_grid_that_is_given_everywhere_is_returned_as_it_is() {
    let grid = Grid::new([40, 40], DOMAIN).unwrap();
    let given: Vec<_> = grid.positions().map(|x| Some(x[0] * x[1])).collect();
    let solution = solve(&grid, &given, at_node).unwrap();
    assert_eq!(
        solution.values,
        given.into_iter().flatten().collect::<Vec<_>>()
    );
}
