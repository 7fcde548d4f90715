use super::*;
use crate::{experiments::training::train, systems::Split};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn one_training_serves_all_shots_and_the_zero_shot_method() {
    let systems = names(&["charges-pair", "cartpole"]);
    let methods = names(&["camel", "phi-camel", "anil"]);
    let trainings = plan(&systems, &methods, &[], None, &[0.0, 0.1], 7).unwrap();
    let trained: Vec<_> = trainings
        .iter()
        .map(|t| (&*t.system, &*t.method, t.cells.len()))
        .collect();
    let expected = [
        ("charges-pair", "camel", 5),
        ("charges-pair", "anil", 4),
        ("cartpole", "camel", 5),
        ("cartpole", "anil", 4),
    ];
    assert_eq!(trained, expected);
    let zero_shot = &trainings[0].cells[4];
    assert_eq!((&*zero_shot.method, zero_shot.shots), ("phi-camel", 0));
}

#[test]
fn charges_are_also_tested_with_noise_unless_another_is_asked_for() {
    let noises = |system: &str, noises: &[f64]| {
        let trainings = plan(&names(&[system]), &names(&["camel"]), &[3], None, noises, 0);
        let cells = trainings.unwrap().remove(0).cells;
        cells.iter().map(|cell| cell.noise).collect::<Vec<_>>()
    };
    assert_eq!(noises("charges-dipole", &[]), [0.0, 0.1]);
    assert_eq!(noises("cartpole", &[]), [0.0]);
    assert_eq!(noises("charges-dipole", &[0.5]), [0.5]);
}

#[test]
fn shots_and_trials_are_those_of_the_paper() {
    let paper: [(&str, &[usize], usize); 7] = [
        ("charges-dipole", &[3, 10], 30),
        ("charges-pair", &[3, 10], 30),
        ("capacitor", &[5, 40], 5),
        ("capacitor-eps", &[3, 30], 5),
        ("cartpole", &[50, 100], 50),
        ("arm", &[50, 100], 50),
        ("upkie", &[100], 15),
    ];
    for (name, shots, trials) in paper {
        let found = protocol(name);
        assert_eq!((found.shots, found.trials), (shots, trials), "{name}");
    }
}

#[test]
fn every_system_has_a_protocol_that_its_data_allow() {
    for name in systems::NAMES {
        let system = systems::by_name(name).unwrap();
        let Protocol {
            shots,
            trials,
            noises,
        } = protocol(name);
        assert!(!shots.is_empty() && trials > 0 && noises.contains(&0.0));
        let (phi, seed) = test_environment(system.as_ref(), trials - 1, 0);
        Trial::new(system.as_ref(), &phi, shots[shots.len() - 1], 0.0, seed).unwrap();
    }
}

/// A short training: the point is what is recorded, not how good it is.
#[test]
fn a_cell_repeats_and_its_noise_has_a_floor() {
    let cell = Cell {
        system: "charges-pair".to_owned(),
        method: "camel".to_owned(),
        shots: 10,
        trials: 4,
        seed: 3,
        noise: 0.1,
    };
    let record = || {
        let system = systems::by_name(&cell.system).unwrap();
        let mut settings = Settings::new(&cell.system, &cell.method).unwrap();
        settings.steps = 300;
        let environments = system.environments(Split::Train, cell.seed);
        let (model, made) =
            train(system.as_ref(), &settings, &environments, cell.seed, |_| ()).unwrap();
        let mut evaluator = Evaluator::new(system, Arc::new(model), cell.seed).unwrap();
        evaluator.record(&cell, &made).unwrap()
    };
    let (first, second) = (record(), record());
    assert_eq!((first.mse, first.nmse), (second.mse, second.nmse));
    assert_eq!(first.mse.n, 4);
    let floor = first.floor.unwrap();
    assert!(0.0 < floor.mean && floor.mean < first.mse.mean, "{first:?}");
    assert!(first.identification_error.is_some() && first.zero_shot_error.is_some());
}

#[test]
fn errors_are_normalised_by_the_targets_of_all_trials() {
    let cell = Cell {
        system: "charges-pair".to_owned(),
        method: "camel".to_owned(),
        shots: 10,
        trials: 2,
        seed: 3,
        noise: 0.0,
    };
    let made = Made {
        settings: Settings::new(&cell.system, &cell.method).unwrap(),
        device: String::new(),
        training_seconds: 0.0,
    };
    let outcomes = [(2.0, 1.0), (4.0, 5.0)].map(|(mse, power)| Outcome {
        mse,
        power,
        seconds: 0.0,
        identification: None,
        zero_shot: None,
        floor: None,
    });
    let record = cell.record(&outcomes, &made).unwrap();
    assert_eq!((record.mse.mean, record.nmse.mean), (3.0, 1.0));
    assert!((record.nmse.std - record.mse.std / 3.0).abs() < 1e-15);
}

#[test]
fn an_error_is_relative_to_the_truth_or_to_a_range_that_holds_zero() {
    let cartpole = systems::by_name("cartpole").unwrap();
    let parameters = cartpole.description().parameters;
    let error = relative_error(parameters, &[2.0, 0.4], &[2.2, 0.4]);
    assert!((error - 0.05).abs() < 1e-12);
    let capacitor = systems::by_name("capacitor").unwrap();
    let parameters = capacitor.description().parameters;
    let error = relative_error(parameters, &[0.25, 0.0], &[0.25, 0.05]);
    assert!((error - 0.05).abs() < 1e-12);
}
