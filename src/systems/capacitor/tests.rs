use nalgebra::DMatrix;

use super::*;

const SMALL_GRID: [usize; 2] = [150, 100];

#[test]
fn the_middle_of_the_gap_has_the_uniform_field_of_parallel_plates() {
    for (edges, tolerance) in [(Edges::Stairs, 2e-3), (Edges::Straight, 1e-4)] {
        let capacitor = Capacitor::new(1.0, GRID_SIZE, edges).unwrap();
        let field = capacitor.solve_grid(&[0.0, 0.0]).unwrap();
        // Stairs put the face of a plate on the first row of nodes inside it.
        let rows = field
            .grid()
            .positions()
            .map(|x| x[1])
            .filter(|x2| *x2 > 0.5);
        let first_row = rows.fold(f64::INFINITY, f64::min);
        assert!(first_row < 0.5 + field.grid().spacing()[1]);
        let face = if edges == Edges::Stairs {
            first_row
        } else {
            0.5
        };
        for x2 in [-0.4, -0.2, 0.0, 0.1, 0.3] {
            let (value, closed_form) = (field.value([0.0, x2]), VOLTAGE * x2 / face);
            assert!(
                (value - closed_form).abs() < tolerance,
                "{value} V, not {closed_form} V"
            );
            let slope = field.gradient([0.0, x2]);
            assert!(
                (slope[1] - VOLTAGE / face).abs() < 4.0 * tolerance,
                "{slope:?}"
            );
            assert!(slope[0].abs() < tolerance, "{slope:?}");
        }
    }
}

/// No row of nodes of the paper's grid lies on the faces of the plates at ±0.5 m. The first ones
/// inside the plates are at ±0.5126 m, and there the stairs begin.
#[test]
fn the_stairs_of_the_presets_widen_the_gap_by_a_fortieth() {
    for capacitor in [Capacitor::full(), Capacitor::small()] {
        let field = capacitor.solve_grid(&[0.0, 0.0]).unwrap();
        let gap = 2.0 * VOLTAGE / field.gradient([0.0, 0.1])[1];
        assert!((gap - 1.0251).abs() < 1e-3, "{gap} m instead of 1 m");
    }
}

#[test]
fn the_last_solution_is_kept_and_another_is_not_taken_for_it() {
    let solved = || laplace::SOLVED.get();
    let capacitor = Capacitor::new(1.0, SMALL_GRID, Edges::Stairs).unwrap();
    let first = capacitor.solve_grid(&[0.2, 0.3]).unwrap();
    let before = solved();
    let again = capacitor.solve_grid(&[0.2, 0.3]).unwrap();
    assert_eq!((again.values(), solved()), (first.values(), before));
    let other = capacitor.solve_grid(&[0.2, 0.1]).unwrap();
    assert_ne!(other.values(), first.values());
    assert!(capacitor.solve_grid(&[0.53, 0.0]).is_err());
    assert_eq!(
        capacitor.solve_grid(&[0.2, 0.3]).unwrap().values(),
        first.values()
    );
    assert_eq!(solved(), before + 2);
}

#[test]
fn the_solver_takes_few_iterations_on_any_grid() {
    let environments = Capacitor::full().environments(Split::Train, 1);
    let most = |size, count: usize, edges| {
        let capacitor = Capacitor::new(1.0, size, edges).unwrap();
        let fields = environments[..count]
            .iter()
            .map(|phi| capacitor.solve_grid(phi).unwrap());
        fields.fold(0, |most, field| {
            assert!(field.residual() <= 1e-8);
            most.max(field.iterations())
        })
    };
    for edges in [Edges::Stairs, Edges::Straight] {
        let coarse = most(GRID_SIZE, 10, edges);
        let fine = most([600, 400], 3, edges);
        assert!(coarse <= 20, "{coarse} iterations");
        assert!(fine <= coarse + 1, "{coarse} iterations, then {fine}");
    }
}

#[test]
fn the_potential_satisfies_laplace_between_the_plates() {
    let capacitor = Capacitor::full();
    let phi = [0.3, -0.2];
    let field = capacitor.solve_grid(&phi).unwrap();
    let plates = capacitor.plates(&phi).unwrap();
    let grid = field.grid();
    let [h1, h2] = grid.spacing();
    let y = |i, j| field.values()[grid.index(i, j)];
    for j in 1..199 {
        for i in 1..299 {
            if plates
                .iter()
                .any(|plate| plate.contains(grid.position(i, j)))
            {
                assert_eq!(y(i, j).abs(), VOLTAGE);
                continue;
            }
            let along = (y(i + 1, j) - 2.0 * y(i, j) + y(i - 1, j)) / (h1 * h1);
            let up = (y(i, j + 1) - 2.0 * y(i, j) + y(i, j - 1)) / (h2 * h2);
            assert!((along + up).abs() < 2e-3, "{} V/m² at {i}, {j}", along + up);
            assert!(y(i, j).abs() < VOLTAGE);
        }
    }
}

#[test]
fn no_field_crosses_the_walls() {
    let field = Capacitor::full().solve_grid(&[0.4, 0.1]).unwrap();
    for x2 in [-1.7, -0.3, 0.9, 1.8] {
        assert!(field.gradient([-4.0, x2])[0].abs() < 0.02);
        assert!(field.gradient([4.0, x2])[0].abs() < 0.02);
    }
    for x1 in [-3.5, -0.7, 0.0, 2.9] {
        assert!(field.gradient([x1, -2.0])[1].abs() < 0.02);
        assert!(field.gradient([x1, 2.0])[1].abs() < 0.02);
    }
}

#[test]
fn a_mirrored_misalignment_mirrors_the_potential() {
    let capacitor = Capacitor::full();
    let field = capacitor.solve_grid(&[0.35, 0.2]).unwrap();
    let mirrored = capacitor.solve_grid(&[-0.35, -0.2]).unwrap();
    for x in [[0.3, 0.1], [-1.2, -0.2], [2.5, 1.0], [-3.0, 0.4]] {
        let (a, b) = (field.value(x), mirrored.value([-x[0], x[1]]));
        assert!((a - b).abs() < 1e-6, "{a} V and {b} V at {x:?}");
    }
}

/// Part of the variation over φ that no affine map of φ explains.
fn affine_misfit(epsilon: f64, edges: Edges) -> f64 {
    let capacitor = Capacitor::new(epsilon, GRID_SIZE, edges).unwrap();
    let environments = capacitor.environments(Split::Train, 2);
    let points = capacitor.adaptation_rows();
    let mut outputs = DMatrix::zeros(environments.len(), points.len());
    for (phi, mut row) in environments.iter().zip(outputs.row_iter_mut()) {
        let targets = capacitor.task(phi, Split::Train, 0).unwrap().targets;
        for (output, &point) in row.iter_mut().zip(&points) {
            *output = targets[point];
        }
    }
    let unexplained = |regressors: DMatrix<f64>| {
        let inverse = regressors.clone().pseudo_inverse(1e-12).unwrap();
        (&outputs - regressors * (inverse * &outputs)).norm()
    };
    let affine = |t: usize, j: usize| {
        if j < 2 {
            environments[t][j] / epsilon
        } else {
            1.0
        }
    };
    let variation = unexplained(DMatrix::from_element(environments.len(), 1, 1.0));
    unexplained(DMatrix::from_fn(environments.len(), 3, affine)) / variation
}

#[test]
fn the_potential_is_nearly_affine_in_small_misalignments_only() {
    let full = affine_misfit(1.0, Edges::Straight);
    let small = affine_misfit(0.1, Edges::Straight);
    assert!(full > 0.15 && small < 0.08, "{full} and {small}");
    let full = affine_misfit(1.0, Edges::Stairs);
    assert!(full > 0.15, "{full}");
}

#[test]
fn straight_edges_follow_small_misalignments_better_than_stairs() {
    let (straight, stairs) = (
        affine_misfit(0.1, Edges::Straight),
        affine_misfit(0.1, Edges::Stairs),
    );
    assert!(straight < 0.5 * stairs, "{straight} and {stairs}");
}

#[test]
fn environments_scale_with_epsilon() {
    for (capacitor, epsilon) in [(Capacitor::full(), 1.0), (Capacitor::small(), 0.1)] {
        let half = 0.5 * epsilon;
        let inside = |phi: &Vec<f64>| (0.0..=half).contains(&phi[0]) && phi[1].abs() <= half;
        let train = capacitor.environments(Split::Train, 0);
        let test = capacitor.environments(Split::Test, 0);
        assert_eq!((train.len(), test.len()), (10, 5));
        assert!(train.iter().chain(&test).all(inside));
        assert!(train.iter().all(|phi| !test.contains(phi)));
        let outside = capacitor.environments(Split::OutOfDomain, 0);
        assert!(
            outside
                .iter()
                .all(|phi| !inside(phi) && capacitor.check(phi).is_ok())
        );
        let ranges = capacitor.description().parameters.iter().map(|p| p.test);
        assert!(ranges.eq([(0.0, half), (-half, half)]));
    }
}

#[test]
fn the_whole_parameter_box_keeps_the_plates_apart() {
    let capacitor = Capacitor::full();
    let mut least = f64::INFINITY;
    for a in 0..=20 {
        for s in -20..=20 {
            let phi = [f64::from(a) / 40.0, f64::from(s) / 40.0];
            let [lower, upper] = capacitor.plates(&phi).unwrap();
            least = least.min(lower.gap(&upper));
        }
    }
    assert!((least - 0.047).abs() < 5e-4, "{least} m");
}

#[test]
fn tasks_share_all_nodes_and_the_adaptation_points_are_the_papers() {
    let capacitor = Capacitor::full();
    let [a, b] = [[0.1, 0.2], [0.3, 0.0]].map(|phi| capacitor.task(&phi, Split::Test, 0).unwrap());
    assert!(Arc::ptr_eq(&a.inputs, &b.inputs));
    assert_eq!((a.inputs.len(), a.targets.len()), (60_000, 60_000));
    let points = capacitor.adaptation_points();
    assert_eq!(points.len(), 42);
    let near = |x: &[f64], y: [f64; 2]| (x[0] - y[0]).hypot(x[1] - y[1]) < 1e-3;
    assert!(near(points.row(0), [-3.465, -2.0]));
    assert!(near(points.row(1), [-3.465, -1.397]));
    assert!(near(points.row(25), [0.548, 0.412]));
    assert!(near(points.row(41), [3.224, 1.618]));
    let field = capacitor.solve(&[0.1, 0.2]).unwrap();
    for (row, x) in capacitor.adaptation_rows().into_iter().zip(points.rows()) {
        assert!((a.targets[row] - field.value([x[0], x[1]])).abs() < 1e-9);
    }
}

#[test]
fn the_gradient_agrees_with_central_differences_inside_a_cell() {
    let field = Capacitor::new(1.0, SMALL_GRID, Edges::Stairs)
        .unwrap()
        .solve_grid(&[0.2, 0.3])
        .unwrap();
    let [h1, h2] = field.grid().spacing();
    for n in 0..200 {
        let (i, j) = (7 * n % 149, 11 * n % 99);
        let corner = field.grid().position(i, j);
        let x = [corner[0] + 0.3 * h1, corner[1] + 0.6 * h2];
        let gradient = field.gradient(x);
        for (axis, slope) in gradient.into_iter().enumerate() {
            let at = |h: f64| {
                let mut x = x;
                x[axis] += h;
                field.value(x)
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!(
                (slope - difference).abs() < 1e-7,
                "{slope} and {difference}"
            );
        }
    }
}

#[test]
fn impossible_plates_are_refused_with_their_value() {
    let capacitor = Capacitor::full();
    let refused = |phi: &[f64], wanted: &str| {
        let error = capacitor.check(phi).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
        assert!(capacitor.solve(phi).is_err() && capacitor.sketch(phi).is_empty());
    };
    refused(&[0.53, 0.0], "angle of 0.53 rad");
    refused(&[0.0, 1.995], "shift of 1.995 m");
    refused(&[0.9, 0.0], "0.9");
    refused(&[0.0, -7.0], "-7");
    refused(&[f64::NAN, 0.0], "NaN");
    refused(&[0.1], "1 were given");
}

#[test]
fn impossible_settings_are_refused_with_their_value() {
    for epsilon in [0.0, 0.04, 1.01, 0.125, -0.1, f64::NAN, f64::INFINITY] {
        let error = Capacitor::new(epsilon, GRID_SIZE, Edges::Stairs)
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("but is {epsilon}")), "{error}");
    }
    for size in [[10, 200], [300, 43], [300, 4000]] {
        assert!(
            Capacitor::new(1.0, size, Edges::Stairs).is_err(),
            "{size:?}"
        );
    }
    assert_eq!(
        Capacitor::new(0.07, GRID_SIZE, Edges::Stairs)
            .unwrap()
            .epsilon(),
        0.07
    );
}

#[test]
#[ignore = "prints a time, checks nothing"]
fn time_of_a_solve() {
    for size in [GRID_SIZE, [600, 400]] {
        let capacitor = Capacitor::new(1.0, size, Edges::Stairs).unwrap();
        let environments = capacitor.environments(Split::Train, 0);
        let solve = |phi: &Vec<f64>| {
            let start = std::time::Instant::now();
            let iterations = capacitor.solve_grid(phi).unwrap().iterations();
            (start.elapsed().as_secs_f64() * 1e3, iterations)
        };
        let times: Vec<_> = environments.iter().map(solve).collect();
        let least = times.iter().map(|t| t.0).fold(f64::INFINITY, f64::min);
        println!("{size:?}: {least:.1} ms at best, all (ms, iterations): {times:.1?}");
    }
}
