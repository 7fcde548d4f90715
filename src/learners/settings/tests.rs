//! The settings of every learner: what is allowed, and what the paper gives.

use super::*;
use crate::{learners::METHODS, systems::NAMES};

#[test]
fn every_method_has_allowed_settings_on_every_system() {
    for system in NAMES {
        for method in METHODS {
            let settings = Settings::new(system, method.name).unwrap();
            settings.check().unwrap();
            assert_eq!(
                (&*settings.system, &*settings.method),
                (system, method.name)
            );
        }
    }
}

/// Appendix B of the paper: hidden layers and size of the last one. The two ranks that differ are
/// in `public/differences.json`.
#[test]
fn nets_have_the_sizes_of_the_paper() {
    let paper = [
        ("charges-pair", vec![16; 4], 2, 2),
        ("charges-dipole", vec![16; 4], 3, 3),
        ("charges-quadrupole", vec![16; 4], 4, 4),
        ("capacitor", vec![64; 4], 3, 6),
        ("capacitor-eps", vec![64; 4], 3, 3),
        ("cartpole", vec![16; 3], 4, 2),
        ("arm", vec![64; 4], 4, 4),
        ("upkie", vec![64; 4], 3, 3),
    ];
    let differences = include_str!("../../../public/differences.json");
    for (system, hidden, in_paper, rank) in paper {
        let told = format!("r = {rank} for the {system}");
        assert!(rank == in_paper || differences.contains(&told), "{told}");
        for method in METHODS {
            let settings = Settings::new(system, method.name).unwrap();
            let (system, method) = (&settings.system, &settings.method);
            assert_eq!(settings.hidden, hidden, "{system}, {method}");
            assert_eq!(settings.rank, rank, "{system}, {method}");
            // "At least 10 gradient steps, until convergence."
            assert!(settings.adaptation_steps >= 10, "{system}, {method}");
        }
    }
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let error = Settings::new("cartpole", "camle").unwrap_err().to_string();
    assert!(
        error.contains("'camle'") && error.contains("r2d2"),
        "{error}"
    );
    let error = Settings::new("spring", "camel").unwrap_err().to_string();
    assert!(
        error.contains("'spring'") && error.contains("upkie"),
        "{error}"
    );
}

#[test]
fn an_optimiser_that_a_method_does_not_have_is_named() {
    for method in METHODS {
        let settings = Settings {
            optimiser: Optimiser::Lbfgs,
            ..Settings::new("cartpole", method.name).unwrap()
        };
        let outcome = settings.check();
        assert_eq!(outcome.is_ok(), method.lbfgs);
        if let Err(error) = outcome {
            let said = error.to_string();
            assert!(
                said.contains(method.title) && said.contains("adam"),
                "{said}"
            );
        }
    }
}

#[test]
fn second_derivatives_are_left_out_only_of_inner_steps_and_by_adam() {
    for method in METHODS {
        for optimiser in Optimiser::ALL {
            let settings = Settings {
                optimiser,
                first_order: true,
                ..Settings::new("cartpole", method.name).unwrap()
            };
            let allowed = method.first_order && optimiser == Optimiser::Adam;
            assert_eq!(settings.check().is_ok(), allowed, "{}", method.name);
        }
    }
    let error = Settings {
        first_order: true,
        ..Settings::new("cartpole", "anil").unwrap()
    }
    .check()
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "first_order must be false for ANIL by the optimiser lbfgs, but is true"
    );
}

#[test]
fn adam_gets_more_steps_in_place_of_those_of_the_second_order() {
    let with_steps = |optimiser, steps| Settings {
        optimiser,
        steps,
        ..Settings::new("cartpole", "camel").unwrap()
    };
    for (optimiser, steps, expected) in [
        (Optimiser::Lbfgs, 5_000, 50_000),
        (Optimiser::Lbfgs, 200_000, 1_000_000),
        (Optimiser::Adam, 5_000, 5_000),
    ] {
        let by_adam = with_steps(optimiser, steps).with_adam();
        assert_eq!(by_adam, with_steps(Optimiser::Adam, expected));
        by_adam.check().unwrap();
    }
}

#[test]
fn a_value_out_of_range_is_named_with_its_range() {
    let good = Settings::new("cartpole", "maml").unwrap();
    let broken = [
        Settings {
            rank: 0,
            ..good.clone()
        },
        Settings {
            hidden: vec![16, 0],
            ..good.clone()
        },
        Settings {
            steps: 0,
            ..good.clone()
        },
        Settings {
            learning_rate: f64::NAN,
            ..good.clone()
        },
        Settings {
            batch: 1,
            ..good.clone()
        },
        Settings {
            inner_steps: 51,
            ..good.clone()
        },
        Settings {
            ridge: -1.0,
            ..good.clone()
        },
    ];
    for settings in broken {
        let error = settings.check().unwrap_err();
        assert!(matches!(error, LearnerError::Range { .. }), "{error}");
    }
    let error = Settings { steps: 0, ..good }
        .check()
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the number of steps must be between 1 and 1000000, but is 0"
    );
}
