use burn::tensor::Device;

use super::*;
use crate::learners::Trainer;

fn trained(system: &str, method: &str) -> Spec {
    let draft = Draft {
        steps: 30,
        width: 8,
        depth: 1,
        batch: 50,
        ..Draft::recommended(system, method).unwrap()
    };
    let spec = draft.check().unwrap();
    let system = spec.physics().unwrap();
    let tasks: Vec<_> = system
        .environments(Split::Train, 0)
        .iter()
        .map(|phi| system.task(phi, Split::Train, 0).unwrap())
        .collect();
    let mut trainer = Trainer::new(&spec.settings().unwrap(), &tasks, 0, &Device::flex()).unwrap();
    while !trainer.finished() {
        pollster::block_on(trainer.step()).unwrap();
    }
    keep(
        &spec,
        Arc::new(pollster::block_on(trainer.finish()).unwrap()),
    );
    spec
}

#[test]
fn a_field_is_answered_with_maps_through_the_placed_points() {
    let spec = trained("charges-pair", "camel");
    let points = vec![[-0.5, 0.2], [0.1, 0.8], [0.7, 0.4]];
    let asked = Draft {
        points: points.clone(),
        phi: vec![2.0, 4.0],
        ..spec.clone().into()
    };
    let noisy = Draft {
        noise: 0.1,
        ..spec.into()
    };
    let floor = answer(&noisy.check().unwrap()).unwrap().adaptation.floor;
    assert!(floor.is_some_and(|mse| mse > 0.0), "{floor:?}");
    let answer = answer(&asked.check().unwrap()).unwrap();
    assert_eq!(answer.adaptation.floor, None);
    assert_eq!(answer.adaptation.shots, 3);
    let Some(Picture::Maps {
        points: measured,
        truth,
        few_shot,
        zero_shot: Some(zero_shot),
        columns,
        ..
    }) = answer.picture
    else {
        panic!("no maps");
    };
    assert_eq!(measured, points);
    let plan = answer.plan.unwrap();
    assert!(!points.contains(&plan.next) && !plan.errors.is_empty());
    assert_eq!(truth.values.len(), columns * 36);
    assert!(truth.lines.len() > 5);
    for map in [few_shot, zero_shot] {
        assert_eq!(map.values.len(), truth.values.len());
        assert!(map.values.iter().all(|y| y.is_finite()));
    }
}

#[test]
fn a_moved_plate_costs_one_solution() {
    let solved = || crate::systems::laplace::SOLVED.get();
    let spec = trained("capacitor", "camel");
    let validation = solved();
    answer(&spec).unwrap();
    let environments = spec.physics().unwrap().environments(Split::Train, 0).len();
    assert_eq!(solved() - validation, environments + 1);
    for points in [Vec::new(), vec![[0.0, 0.0], [1.0, 0.2], [-2.0, 1.5]]] {
        let before = solved();
        let moved = Draft {
            phi: vec![0.1 + 0.05 * points.len() as f64, 0.2],
            points,
            ..spec.clone().into()
        };
        answer(&moved.check().unwrap()).unwrap();
        assert_eq!(solved() - before, 1);
    }
}

#[test]
fn a_robot_is_answered_with_curves_and_a_method_without_features_too() {
    for method in ["camel", "maml"] {
        let spec = trained("pendulum", method);
        let answer = answer(&spec).unwrap();
        let Some(Picture::Curves {
            truth, few_shot, ..
        }) = answer.picture
        else {
            panic!("no curves");
        };
        assert_eq!(truth.len(), few_shot.len());
    }
}

#[test]
fn other_settings_need_other_training() {
    let spec = trained("pendulum", "camel");
    assert!(is_ready(&spec));
    let wider = Draft {
        width: 9,
        ..spec.clone().into()
    };
    let wider = wider.check().unwrap();
    assert!(!is_ready(&wider));
    let error = answer(&wider).unwrap_err().to_string();
    assert!(error.contains("train"), "{error}");
    assert_eq!(shipped_file(&wider), None);
    let noisy = Draft {
        noise: 0.1,
        shots: 5,
        ..spec.into()
    };
    assert!(is_ready(&noisy.check().unwrap()));
}

#[test]
fn a_shipped_file_is_one_that_is_there() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/public/");
    for system in crate::systems::NAMES {
        for method in crate::learners::METHODS {
            let spec = Draft::recommended(system, method.name).unwrap();
            let file = format!("weights/{system}-{}.safetensors", method.trained_as);
            let there = std::path::Path::new(folder).join(&file).exists();
            let said = shipped_file(&spec.check().unwrap());
            assert_eq!(said, there.then_some(file));
        }
    }
}

#[test]
fn a_model_is_opened_again_and_one_that_does_not_fit_is_named() {
    let spec = trained("pendulum", "camel");
    let (_, model) = kept(&spec).unwrap();
    let bytes = weights::export(&model).unwrap();
    let before = answer(&spec).unwrap();
    keep_file(&spec, Origin::File, &bytes).unwrap();
    let after = answer(&spec).unwrap();
    assert_eq!(after.origin, Origin::File);
    assert_eq!(after.picture, before.picture);
    let refused = |draft: Draft| {
        let spec = draft.check().unwrap();
        let refused = keep_file(&spec, Origin::File, &bytes);
        refused.unwrap_err().to_string()
    };
    let rank = refused(Draft {
        rank: 4,
        ..spec.clone().into()
    });
    assert!(
        rank.contains("its rank is") && rank.contains("must be 4"),
        "{rank}"
    );
    let method = refused(Draft {
        method: "anil".to_owned(),
        ..spec.clone().into()
    });
    assert!(method.contains("its method is \"camel\""), "{method}");
    let system = refused(Draft::recommended("arm", "camel").unwrap());
    assert!(system.contains("its system is \"pendulum\""), "{system}");
    assert!(keep_file(&spec, Origin::File, b"photo").is_err());
}

#[test]
fn usual_parameters_ask_the_same_as_none() {
    let spec = Draft::recommended("cartpole", "camel").unwrap();
    let usual = crate::systems::by_name("cartpole").unwrap();
    let phi = usual.description().typical();
    let with = |phi: Vec<f64>, shots| {
        let draft = Draft {
            phi,
            shots,
            ..spec.clone()
        };
        draft.check().unwrap()
    };
    assert!(same_question(&with(phi.clone(), 9), &with(Vec::new(), 9)));
    assert!(!same_question(&with(phi.clone(), 9), &with(phi.clone(), 8)));
    let heavier = phi.iter().map(|m| 1.1 * m).collect();
    assert!(!same_question(&with(heavier, 9), &with(Vec::new(), 9)));
}

#[test]
fn an_answer_is_saved_with_the_training_where_it_is_known() {
    let spec = trained("pendulum", "camel");
    let answer = answer(&spec).unwrap();
    let untold = answer.report(None);
    assert_eq!((untold.seconds, untold.losses.len()), (0.0, 0));
    assert_eq!(untold.device.name, "cpu");
    let trained = Report {
        seconds: 2.0,
        adaptation: Adaptation::default(),
        ..untold
    };
    let told = answer.report(Some(&trained));
    assert_eq!(told.seconds, 2.0);
    assert_eq!(told.adaptation, answer.adaptation);
}
