use super::*;

fn draft() -> Draft {
    Draft::recommended("cartpole", "camel").unwrap()
}

#[test]
fn every_recommended_setting_is_valid() {
    for system in systems::NAMES {
        for method in learners::METHODS {
            let draft = Draft::recommended(system, method.name).unwrap();
            assert_eq!(
                draft.clone().check().map(Draft::from),
                Ok(draft),
                "{system} {}",
                method.name
            );
        }
    }
}

#[test]
fn a_value_out_of_range_is_named() {
    let faults = Draft {
        shots: 0,
        ..draft()
    }
    .check()
    .unwrap_err();
    assert_eq!(
        faults[0].to_string(),
        "shots must be between 1 and 2000, but is 0"
    );
}

#[test]
fn a_number_far_out_of_range_is_named_in_few_digits() {
    let said = |value: f64| {
        let steps = NUMBERS.iter().find(|number| number.key == "steps").unwrap();
        steps.check(value).unwrap_err().to_string()
    };
    for (value, expected) in [
        (1e300, "1e300"),
        (-2.5e-9, "-2.5e-9"),
        (0.0, "0"),
        (-0.5, "-0.5"),
        (200001.0, "200001"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
    ] {
        let expected = format!("steps must be between 1 and 200000, but is {expected}");
        assert_eq!(said(value), expected);
    }
}

#[test]
fn too_few_shots_and_too_small_a_batch_are_named_before_anything_is_trained() {
    let few = Draft {
        rank: 4,
        shots: 3,
        batch: 1,
        ..draft()
    };
    let said: Vec<_> = few.clone().check().unwrap_err();
    let said: Vec<_> = said.iter().map(SpecError::to_string).collect();
    assert_eq!(
        said,
        [
            "batch must be between 2 and 4000, but is 1",
            "shots must be at least 4 for CAMEL with rank 4, but is 3"
        ]
    );
    let (spec, _) = few.corrected();
    assert_eq!((spec.shots, spec.batch), (4, 2));
    // Points are placed one by one, and other methods adapt from a single shot.
    let placed = Draft {
        shots: 1,
        points: vec![[0.5, 0.5]],
        ..Draft::recommended("charges-pair", "camel").unwrap()
    };
    assert!(placed.check().is_ok());
    let other = Draft {
        shots: 1,
        ..Draft::recommended("cartpole", "anil").unwrap()
    };
    assert!(other.check().is_ok());
}

#[test]
fn too_few_placed_points_are_named_before_anything_is_trained() {
    let placed = |method: &str, count: usize| Draft {
        rank: 3,
        points: vec![[0.5, 0.5]; count],
        ..Draft::recommended("charges-pair", method).unwrap()
    };
    for method in ["camel", "phi-camel"] {
        let said = placed(method, 2).check_rank().unwrap_err().to_string();
        assert_eq!(
            said,
            "the number of points must be at least 3 for CAMEL with rank 3, but is 2"
        );
        // None are random points, as many as there are shots.
        for enough in [0, 3] {
            assert_eq!(placed(method, enough).check_rank(), Ok(()));
        }
        // While they are placed, the experiment can be written into a link.
        assert!(placed(method, 2).check().is_ok());
    }
    assert_eq!(placed("anil", 1).check_rank(), Ok(()));
    let with_prior = Draft {
        points: vec![[0.5, 0.5]],
        ..Draft::recommended("charges-dipole", "camel").unwrap()
    };
    assert_eq!(with_prior.check_rank(), Ok(()));
}

#[test]
fn a_rank_above_the_number_of_training_tasks_is_named() {
    for method in learners::METHODS {
        let tasks = systems::by_name("cartpole")
            .unwrap()
            .environments(systems::Split::Train, 0)
            .len();
        let with_rank = |rank| Draft {
            rank,
            ..Draft::recommended("cartpole", method.name).unwrap()
        };
        assert_eq!(with_rank(tasks).check_rank(), Ok(()));
        let said = with_rank(tasks + 1).check_rank().unwrap_err().to_string();
        let expected = format!("rank must be at most {tasks}, the number");
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn a_correction_is_valid_and_says_what_it_changed() {
    let (spec, faults) = Draft {
        rate: f64::NAN,
        method: "magic".into(),
        phi: vec![-1.0, 1.0],
        ..draft()
    }
    .corrected();
    assert_eq!(faults.len(), 3);
    assert!(Draft::from(spec).check().is_ok());
}

#[test]
fn an_unchecked_spec_cannot_be_read_from_json() {
    let text = serde_json::to_string(&Draft {
        depth: 99,
        ..draft()
    })
    .unwrap();
    let error = serde_json::from_str::<Spec>(&text).unwrap_err().to_string();
    assert!(
        error.contains("depth must be between 1 and 6, but is 99"),
        "{error}"
    );
}
