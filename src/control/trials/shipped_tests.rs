//! Trials with the models that the site ships.

use std::sync::Arc;

use super::*;
use crate::{
    control::{
        adaptive::{AdaptiveLoop, Controller, Tick},
        balance::UpkieLoop,
        plant::{Change, Plant},
        recovery::Recovery,
        reference::Reference,
        upkie_adaptive::{AdaptiveUpkie, UpkieTick},
    },
    identification::{
        budget::Stopwatch, identifier::Identifier, learned::LearnedModel, model::PhysicalModel,
        online::OnlineLeastSquares, window::WindowAdaptation,
    },
    learners::{Model, weights},
    systems::{System, cartpole::Cartpole, upkie::Upkie},
};

macro_rules! shipped {
    ($name:literal) => {
        weights::import(include_bytes!(concat!(
            "../../../public/weights/",
            $name,
            ".safetensors"
        )))
        .map(Arc::new)
        .unwrap()
    };
}

/// No tick is missed on a busy machine: what is tested here is not speed.
const PATIENT: Duration = Duration::from_secs(3_600);

type Camel = OnlineLeastSquares<PhysicalModel<LearnedModel>>;

fn camel(model: &Arc<Model>, system: &dyn System, noise: f64) -> Camel {
    let identifier = Identifier::of_model(model, system, 0).unwrap();
    identifier.online(noise).unwrap()
}

/// Upkie with a model that adapts to its last 50 observations, and takes as long for it as the stopwatch says.
fn windowed(model: &Arc<Model>, stopwatch: Stopwatch) -> AdaptiveReport {
    let setting = UpkieTrials {
        change_tick: Some(30),
        after: 40,
        ..UpkieTrials::default()
    };
    let fresh = || Ok(WindowAdaptation::new(model.clone(), 50, 1)?);
    let budget = Budget {
        tick: BUDGET,
        stopwatch,
    };
    adaptive_trials(&setting, 1, 0, budget, fresh).unwrap()
}

#[test]
fn every_tick_of_a_gradient_method_that_takes_two_and_a_half_is_missed_and_none_of_one_that_takes_one()
 {
    for model in [
        shipped!("upkie-anil"),
        shipped!("upkie-coda"),
        shipped!("upkie-maml"),
    ] {
        let late = windowed(&model, |work| {
            work();
            5 * BUDGET / 2
        });
        assert_eq!(late.missed_ticks, 1.0, "{late:?}");
        assert_eq!(late.adaptation_seconds.median, 0.0125);
        let prompt = windowed(&model, |work| {
            work();
            BUDGET
        });
        assert_eq!(prompt.missed_ticks, 0.0, "{prompt:?}");
        // What is late was learned from older observations.
        assert_ne!(late.prediction_error, prompt.prediction_error);
    }
}

#[test]
fn a_trained_model_weighs_the_heavier_torso_in_two_seconds_and_keeps_the_path_better_than_none() {
    let model = camel(&shipped!("upkie-camel"), &Upkie::default(), 0.0);
    let setting = UpkieTrials::default();
    let report = adaptive_trials(&setting, 50, 0, PATIENT, || Ok(model.clone())).unwrap();
    assert!(
        report.steps_within_15pct.median.unwrap() <= 400.0,
        "{report:?}"
    );
    assert!(report.false_alarms_per_10k <= 1.0, "{report:?}");
    let plain = report.tracking_error_plain.unwrap();
    assert!(report.tracking_error < 0.8 * plain, "{report:?}");
    let oracle = report.tracking_error_oracle;
    assert!(report.tracking_error < 1.2 * oracle, "{report:?}");
    // The wheels turn as they are told.
    let plain = report.speed_error_plain.unwrap();
    assert!(report.speed_error.unwrap() < 0.35 * plain, "{report:?}");
}

#[test]
fn upkie_stands_with_a_model_that_acts_whatever_its_torso_becomes() {
    let model = camel(&shipped!("upkie-camel"), &Upkie::default(), 0.0);
    for (start, factor) in [
        (0.5, 20.0),
        (10.0, 0.05),
        (1.0, 4.0),
        (4.0, 0.25),
        (10.0, 1.0),
    ] {
        let setting = UpkieTrials {
            start,
            factor,
            ..UpkieTrials::default()
        };
        let report = adaptive_trials(&setting, 5, 0, PATIENT, || Ok(model.clone())).unwrap();
        assert_eq!(report.diverged, 0, "{start} kg, times {factor}: {report:?}");
        let plain = report.tracking_error_plain.unwrap();
        assert!(
            report.tracking_error < 1.05 * plain,
            "{start} kg: {report:?}"
        );
    }
}

#[test]
fn upkie_stands_with_a_model_whose_predictions_jump() {
    let model = shipped!("upkie-anil");
    let fresh = || Ok(WindowAdaptation::new(model.clone(), 50, 1)?);
    let report = adaptive_trials(&UpkieTrials::default(), 3, 0, PATIENT, fresh).unwrap();
    assert!(report.prediction_error.unwrap() > 10.0, "{report:?}");
    assert_eq!(report.diverged, 0, "{report:?}");
    let plain = report.speed_error_plain.unwrap();
    assert!(report.speed_error.unwrap() < 0.7 * plain, "{report:?}");
}

#[test]
fn a_model_that_is_never_ready_does_no_harm() {
    for model in [
        shipped!("upkie-anil"),
        shipped!("upkie-coda"),
        shipped!("upkie-maml"),
    ] {
        let fresh = || Ok(WindowAdaptation::new(model.clone(), 50, 1)?);
        let hurried = Duration::from_nanos(1);
        let report = adaptive_trials(&UpkieTrials::default(), 3, 0, hurried, fresh).unwrap();
        assert_eq!(report.diverged, 0, "{report:?}");
        let plain = report.tracking_error_plain.unwrap();
        assert!(report.tracking_error < 1.05 * plain, "{report:?}");
        let plain = report.speed_error_plain.unwrap();
        assert!(report.speed_error.unwrap() < 1.05 * plain, "{report:?}");
    }
}

#[test]
fn the_error_bars_of_the_torso_cover_it_as_often_as_they_say() {
    let model = camel(&shipped!("upkie-camel"), &Upkie::default(), 0.0);
    let mut fresh = || Ok(Budgeted::new(model.clone(), PATIENT));
    let covered = (0..200_u32).filter(|&trial| {
        // Torsos become 0.5 to 10 kg heavy, as in training; two seconds later they are weighed.
        let setting = UpkieTrials {
            factor: 0.5 * 20.0_f64.powf(f64::from(trial) / 199.0),
            after: 400,
            ..UpkieTrials::default()
        };
        let seed = 5_000 + u64::from(trial);
        setting.trial(seed, &mut fresh).unwrap().covered.unwrap()
    });
    let covered = covered.count();
    assert!((170..=198).contains(&covered), "{covered} of 200");
}

#[test]
fn a_robot_that_falls_is_a_failed_trial() {
    let setting = UpkieTrials {
        robot: Upkie {
            wheel_limit: 0.02,
            ..Upkie::default()
        },
        ..UpkieTrials::default()
    };
    let model = camel(&shipped!("upkie-camel"), &Upkie::default(), 0.0);
    let report = adaptive_trials(&setting, 2, 0, PATIENT, || Ok(model.clone())).unwrap();
    assert_eq!((report.trials, report.diverged), (2, 2));
    assert_eq!(report.steps_within_15pct.median, None);
    assert!(report.tracking_error.is_infinite(), "{report:?}");
}

/// The cartpole's run with a doubled cart from `change` on, or without a change.
fn cartpole_ticks(model: &Camel, change: Option<usize>) -> Vec<Tick> {
    let robot = Cartpole::default();
    let reference = Reference::cartpole_sine(&robot).unwrap();
    let mut plant = Plant::new(robot.clone(), &[1.5, 0.3], &[0.0; 4], 0.05, 3).unwrap();
    if let Some(step) = change {
        let doubled = Change {
            step,
            parameter: 0,
            value: 3.0,
        };
        plant.schedule(doubled).unwrap();
    }
    let feedback = Recovery::cartpole(&robot, &reference);
    let controller = Controller::new(&robot, reference, feedback, model.clone(), 50).unwrap();
    let mut run = AdaptiveLoop::new(plant, controller);
    std::iter::from_fn(|| run.step().unwrap()).collect()
}

#[test]
fn nothing_that_the_controller_does_gives_a_coming_change_away() {
    let model = camel(&shipped!("cartpole-camel"), &Cartpole::default(), 0.05);
    let calm = cartpole_ticks(&model, None);
    for change in [60, 333, 700] {
        let ticks = cartpole_ticks(&model, Some(change));
        let seen = |tick: &Tick| (tick.input.to_bits(), tick.estimate.clone(), tick.detected);
        for (a, b) in ticks.iter().zip(&calm).take(change) {
            assert_eq!(seen(a), seen(b), "step {} of {change}", a.step);
        }
        // The input of the step of the change was chosen before it could be felt.
        assert_eq!(ticks[change].input.to_bits(), calm[change].input.to_bits());
        assert_ne!(ticks[change + 1].input, calm[change + 1].input);
    }
}

#[test]
fn nothing_that_acts_on_upkie_gives_a_coming_change_away_either() {
    let model = camel(&shipped!("upkie-camel"), &Upkie::default(), 0.0);
    let ticks = |change: usize| -> Vec<UpkieTick> {
        let plant = UpkieLoop::settled(Upkie::default(), 1.0, 0.01).unwrap();
        let mut run = AdaptiveUpkie::new(plant, model.clone());
        let mut tick = |step| {
            if step == change {
                run.change_mass(4.0).unwrap();
            }
            run.step().unwrap()
        };
        (0..400).map(&mut tick).collect()
    };
    let (calm, changed) = (ticks(usize::MAX), ticks(300));
    assert_eq!(calm[..300], changed[..300]);
    // What acts in the tick of the change was chosen before it could be felt.
    let forward = |ticks: &[UpkieTick], step: usize| ticks[step].forward;
    assert_eq!(
        forward(&calm, 300).to_bits(),
        forward(&changed, 300).to_bits()
    );
    assert_ne!(forward(&calm, 301), forward(&changed, 301));
}
