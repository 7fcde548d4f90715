use rand::seq::index::sample;

use super::*;

fn presets() -> [Charges; 3] {
    [Charges::dipole(), Charges::pair(), Charges::quadrupole()]
}

#[test]
fn presets_pass_their_own_checks_and_have_the_sizes_of_the_paper() {
    for (charges, tasks) in presets().into_iter().zip([125, 25, 16]) {
        assert!(Charges::new(charges.sites(), charges.domain()).is_ok());
        let environments = charges.environments(Split::Train, 0);
        assert_eq!(environments.len(), tasks);
        assert!(environments.iter().all(|phi| charges.check(phi).is_ok()));
        let [first, last] = [&environments[0], &environments[tasks - 1]]
            .map(|phi| charges.task(phi, Split::Train, 0).unwrap());
        assert_eq!(first.targets.len(), 400);
        assert!(Arc::ptr_eq(&first.inputs, &last.inputs));
        assert_ne!(first.targets, last.targets);
    }
}

#[test]
fn test_environments_are_inside_the_training_range_and_the_others_are_not() {
    for charges in presets() {
        let ranges = charges.description().parameters;
        let inside = |phi: &Vec<f64>| {
            phi.iter()
                .zip(ranges)
                .all(|(q, p)| (p.test.0..=p.test.1).contains(q))
        };
        let test = charges.environments(Split::Test, 3);
        assert_eq!(test.len(), 30);
        assert!(test.iter().all(inside));
        assert_eq!(test, charges.environments(Split::Test, 3));
        assert_ne!(test, charges.environments(Split::Test, 4));
        let outside = charges.environments(Split::OutOfDomain, 3);
        assert!(
            outside
                .iter()
                .all(|phi| !inside(phi) && charges.check(phi).is_ok())
        );
    }
    let outside = Charges::quadrupole().environments(Split::OutOfDomain, 0);
    assert_eq!(outside[0], [1.0, -1.0, 1.0, -1.0]);
}

#[test]
fn test_points_fill_the_domain_and_follow_the_seed() {
    let dipole = Charges::dipole();
    let points = |seed| {
        dipole
            .task(&[1.0, 2.0, 3.0], Split::Test, seed)
            .unwrap()
            .inputs
    };
    let inputs = points(1);
    assert_eq!(inputs, points(1));
    assert_ne!(inputs, points(2));
    assert!(inputs.len() >= 400);
    assert!(
        inputs
            .rows()
            .all(|x| x[0].abs() <= 1.0 && (0.0..=1.0).contains(&x[1]))
    );
    let left = inputs.rows().filter(|x| x[0] < 0.0).count();
    assert!((140..=260).contains(&left), "{left} of 400 on the left");
}

#[test]
fn potentials_superpose_and_scale() {
    for charges in presets() {
        let n = charges.sites().len();
        let alone = |j: usize| {
            let mut phi = vec![0.0; n];
            phi[j] = 1.0;
            charges.task(&phi, Split::Test, 5).unwrap().targets
        };
        let each: Vec<_> = (0..n).map(alone).collect();
        for phi in charges.environments(Split::OutOfDomain, 5) {
            let all = charges.task(&phi, Split::Test, 5).unwrap().targets;
            for (i, y) in all.iter().enumerate() {
                let sum: f64 = (0..n).map(|j| phi[j] * each[j][i]).sum();
                assert!((y - sum).abs() < 1e-9, "{y} instead of {sum}");
            }
        }
    }
}

#[test]
fn the_pair_has_coulombs_potential_and_field() {
    let field = Charges::pair().potential(&[2.0, 3.0]).unwrap();
    let y = field.value([0.1, 0.5]);
    let expected = 2.0 / 1.2_f64.hypot(0.5) + 3.0 / 1.0_f64.hypot(0.5);
    assert!((y - expected).abs() < 1e-12, "{y}");
}

#[test]
fn the_minus_charge_of_the_dipole_lowers_the_potential() {
    let dipole = Charges::dipole();
    let field = dipole.potential(&[0.0, 1.0, 1.0]).unwrap();
    assert!(field.value([0.2, 0.1]) > 1.0 && field.value([-0.2, 0.1]) < -1.0);
    assert!(field.value([0.0, 0.5]).abs() < 1e-12);
    let roles: Vec<_> = dipole.sketch(&[0.0, 1.0, 1.0]).iter().map(role).collect();
    assert_eq!(roles, [Role::Ground, Role::Positive, Role::Negative]);
}

fn role(shape: &Shape) -> Role {
    match shape {
        Shape::Line { role, .. } | Shape::Polygon { role, .. } | Shape::Disc { role, .. } => *role,
    }
}

#[test]
fn the_gradient_agrees_with_central_differences() {
    for charges in presets() {
        let phi = charges.environments(Split::OutOfDomain, 8).pop().unwrap();
        let field = charges.potential(&phi).unwrap();
        for x in charges.random_points(100, 9).rows() {
            let gradient = field.gradient([x[0], x[1]]);
            for (axis, slope) in gradient.into_iter().enumerate() {
                let at = |h: f64| {
                    let mut x = [x[0], x[1]];
                    x[axis] += h;
                    field.value(x)
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((slope - difference).abs() < 1e-5 * (1.0 + slope.abs()));
            }
        }
    }
}

#[test]
fn value_and_gradient_stay_finite_at_a_charge() {
    let dipole = Charges::dipole();
    let field = dipole.potential(&[1.0, 1.0, 1.0]).unwrap();
    let place = dipole.sites()[1].position;
    assert!(field.value(place).is_finite());
    assert!(field.gradient(place).iter().all(|slope| slope.is_finite()));
}

#[test]
fn the_dipole_is_as_hard_to_identify_as_known() {
    let dipole = Charges::dipole();
    let grid = dipole.task(&[1.0; 3], Split::Train, 0).unwrap().inputs;
    let singular = dipole.features(&grid).singular_values();
    let condition = singular.max() / singular.min();
    assert!((condition - 12.9).abs() < 0.05, "{condition}");
    let median = |shots: usize| {
        let floor = |seed| {
            let nodes = sample(&mut generator(seed, 0), grid.len(), shots);
            let values = nodes
                .iter()
                .flat_map(|node| grid.row(node).to_vec())
                .collect();
            dipole
                .noise_floor(&Samples { dim: 2, values }, 0.1)
                .unwrap()
        };
        let mut floors: Vec<_> = (0..1001).map(floor).collect();
        floors.sort_by(f64::total_cmp);
        floors[500]
    };
    for (shots, expected) in [(10, 0.164), (30, 0.070), (400, 0.016)] {
        let floor = median(shots);
        assert!(
            (floor / expected - 1.0).abs() < 0.05,
            "{floor} from {shots} shots"
        );
    }
}

#[test]
fn the_noise_floor_is_the_error_of_least_squares() {
    let dipole = Charges::dipole();
    let points = dipole.random_points(30, 11);
    let features = dipole.features(&points);
    let inverse = features.clone().pseudo_inverse(1e-12).unwrap();
    let mut random = generator(12, 0);
    let normal = rand_distr::Normal::new(0.0, 0.1).unwrap();
    let runs = 4000;
    let mut square = 0.0;
    for _ in 0..runs {
        let noise = nalgebra::DVector::from_fn(30, |_, _| random.sample(normal));
        square += (&inverse * noise).norm_squared() / 3.0;
    }
    let seen = (square / f64::from(runs)).sqrt();
    let floor = dipole.noise_floor(&points, 0.1).unwrap();
    assert!(
        (seen / floor - 1.0).abs() < 0.05,
        "{seen} seen, {floor} expected"
    );
}

#[test]
fn too_few_points_or_odd_noise_have_no_floor() {
    let dipole = Charges::dipole();
    let error = dipole
        .noise_floor(&dipole.random_points(2, 0), 0.1)
        .unwrap_err();
    assert!(error.to_string().contains("from 2 points"), "{error}");
    let points = dipole.random_points(10, 0);
    let error = dipole.noise_floor(&points, f64::NAN).unwrap_err();
    assert!(error.to_string().contains("NaN"), "{error}");
}

#[test]
fn impossible_places_are_refused_with_their_value() {
    let domain = [[-1.0, 0.0], [1.0, 1.0]];
    let refused = |places: &[[f64; 2]], wanted: &str| {
        let sites: Vec<_> = places.iter().copied().map(Site::plus).collect();
        let error = Charges::new(&sites, domain).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    refused(&[], "there are 0");
    refused(&[[2.0, 0.0]; 9], "there are 9");
    refused(
        &[[2.0, 0.0], [3.0, 0.0], [2.0, 0.001]],
        "charge 3 at (2, 0.001)",
    );
    refused(&[[0.3, 0.5]], "charge 1 at (0.3, 0.5)");
    refused(&[[1.0, 1.0]], "charge 1 at (1, 1)");
    refused(&[[2.0, 0.0], [f64::NAN, 0.0]], "charge 2 at (NaN, 0)");
    refused(&[[f64::INFINITY, 0.0]], "charge 1 at (inf, 0)");
    for domain in [
        [[0.0, 0.0], [0.0, 1.0]],
        [[0.0, f64::NAN], [1.0, 1.0]],
        [[0.0; 2], [99.0; 2]],
    ] {
        assert!(
            Charges::new(&[Site::plus([5.0, -5.0])], domain).is_err(),
            "{domain:?}"
        );
    }
}

#[test]
fn impossible_charges_are_refused_with_their_value() {
    let pair = Charges::pair();
    let error = pair.solve(&[1.0, f64::NAN]).unwrap_err().to_string();
    assert!(
        error.contains("charge 2") && error.contains("NaN"),
        "{error}"
    );
    let error = pair
        .task(&[99.0, 1.0], Split::Test, 0)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("charge 1") && error.contains("99"),
        "{error}"
    );
    assert!(pair.solve(&[1.0]).is_err());
}

#[test]
fn a_visitor_can_place_any_number_of_charges() {
    for n in 1..=MAX_CHARGES {
        let sites: Vec<_> = (0..n).map(|j| Site::plus([j as f64 - 4.0, -1.0])).collect();
        let charges = Charges::new(&sites, [[-1.0, 0.0], [1.0, 1.0]]).unwrap();
        assert_eq!(charges.description().parameters.len(), n);
        for split in [Split::Train, Split::Test, Split::OutOfDomain] {
            let environments = charges.environments(split, 0);
            assert!(environments.len() <= 256);
            assert!(
                environments
                    .iter()
                    .all(|phi| charges.task(phi, split, 0).is_ok())
            );
        }
    }
}

#[test]
fn charges_are_added_to_and_taken_from_those_of_the_paper() {
    let dipole = Charges::dipole();
    let places = [[-2.0, 0.0], [0.3, -0.2], [-0.3, -0.2], [2.0, 0.5]];
    let signs = |charges: &Charges| -> Vec<f64> {
        let sites = charges.sites().iter();
        sites.map(|site| site.sign.factor()).collect()
    };
    let more = dipole.moved(&places).unwrap();
    assert_eq!(signs(&more), [1.0, 1.0, -1.0, 1.0]);
    assert_eq!(more.sites()[3].position, [2.0, 0.5]);
    assert_eq!(more.description().name, "charges-dipole");
    let field = more.solve(&[0.0, 0.0, 2.0, -3.0]).unwrap();
    let expected = -2.0 / 0.3_f64.hypot(0.7) - 3.0 / 2.0;
    assert!((field.value([0.0, 0.5]) - expected).abs() < 1e-12);
    assert_eq!(signs(&dipole.moved(&places[..1]).unwrap()), [1.0]);
    assert!(dipole.moved(&[]).is_err());
    let nine = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|j| [f64::from(j), -1.0]);
    let error = dipole.moved(&nine).unwrap_err().to_string();
    assert!(error.contains("there are 9"), "{error}");
}
