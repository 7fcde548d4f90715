//! Tests of the trials with known features.

use super::{cartpole::START, *};
use crate::control::controllers::Fixed;
use crate::identification::{
    change::CusumSettings,
    model::KnownFeatures,
    online::OnlineLeastSquares,
    recursive::{Drift, RecursiveSettings},
};
use crate::systems::{cartpole::Cartpole, upkie::Upkie};

fn known(
    forgetting: f64,
    change: Option<CusumSettings>,
) -> Result<OnlineLeastSquares<KnownFeatures<Cartpole>>, ControlError> {
    let settings = RecursiveSettings {
        forgetting,
        noise: 0.05,
        spread: vec![3.0; 2],
        drift: None,
    };
    let model = KnownFeatures::new(Cartpole::default());
    Ok(OnlineLeastSquares::new(
        model,
        &[1.0, 0.2],
        settings,
        change,
    )?)
}

fn report(forgetting: f64, change: Option<CusumSettings>) -> AdaptiveReport {
    let setting = AdaptiveTrials::default();
    adaptive_trials(&setting, 20, 0, BUDGET, || known(forgetting, change)).unwrap()
}

#[test]
fn a_doubled_cart_mass_is_identified_without_being_told_when() {
    let report = report(0.999, Some(CusumSettings::EXACT));
    assert!(report.detection_delay.max.unwrap() <= 5.0, "{report:?}");
    assert!(
        report.steps_within_5pct.median.unwrap() <= 69.0,
        "{report:?}"
    );
    assert!(report.false_alarms_per_10k <= 1.0, "{report:?}");
    assert!(
        report.tracking_error < 1.5 * report.tracking_error_oracle,
        "{report:?}"
    );
}

#[test]
fn algorithm_2_as_printed_never_gets_there_and_forgetting_alone_is_slow() {
    let printed = report(1.0, None);
    assert_eq!(printed.steps_within_5pct.median, None);
    assert_eq!(printed.detection_delay.max, None);
    let forgetting = report(0.99, None);
    assert!(
        forgetting.steps_within_5pct.median.unwrap() > 200.0,
        "{forgetting:?}"
    );
}

#[test]
fn a_factor_that_leaves_no_mass_is_refused_with_the_value() {
    for factor in [0.0, -1.0] {
        let setting = AdaptiveTrials {
            factor,
            ..AdaptiveTrials::default()
        };
        let error = adaptive_trials(&setting, 1, 0, BUDGET, || known(1.0, None)).unwrap_err();
        let value = factor * START[0];
        assert!(
            error.to_string().ends_with(&format!("but is {value}")),
            "{error}"
        );
    }
}

#[test]
fn a_run_of_upkie_that_is_over_before_its_window_is_full_is_refused_with_both_numbers() {
    let setting = UpkieTrials {
        change_tick: Some(20),
        after: 30,
        ..UpkieTrials::default()
    };
    let refused = adaptive_trials(&setting, 1, 0, BUDGET, || Ok(silent(0.0)));
    let said = refused.unwrap_err().to_string();
    let expected = "the reference has 50 steps, but adaptation alone takes 50";
    assert_eq!(said, expected);
}

#[test]
fn the_wheels_are_compared_with_a_repeated_torque_of_which_former_files_know_nothing() {
    let report =
        adaptive_trials(&UpkieTrials::default(), 2, 0, BUDGET, || Ok(silent(0.0))).unwrap();
    let [own, plain, repeated] = [
        report.speed_error,
        report.speed_error_plain,
        report.speed_error_repeated,
    ]
    .map(Option::unwrap);
    assert_eq!(own, plain);
    assert!(repeated < plain, "{repeated} of {plain} m/s");
    let mut json = serde_json::to_value(&report).unwrap();
    let known = json.as_object_mut().unwrap();
    assert!(known.remove("speed_error_repeated").is_some());
    let former: AdaptiveReport = serde_json::from_value(json).unwrap();
    assert_eq!(former.speed_error_repeated, None);
    assert_eq!(former.speed_error, report.speed_error);
}

/// A model that always predicts the same and identifies nothing.
fn silent(prediction: f64) -> Fixed<impl Fn(&[f64]) -> f64 + Clone> {
    Fixed(move |_: &[f64]| prediction)
}

#[test]
fn a_model_that_identifies_nothing_is_never_within_reach() {
    let report =
        adaptive_trials(&AdaptiveTrials::default(), 1, 0, BUDGET, || Ok(silent(0.0))).unwrap();
    assert_eq!(report.steps_within_10pct.max, None);
    let json = serde_json::to_value(&report).unwrap();
    assert!(json["detection_delay"]["median"].is_null());
}

#[test]
fn a_run_that_fails_without_any_change_fails_its_trial_too() {
    let predictions = [0.0, f64::INFINITY];
    for reversed in [false, true] {
        let mut runs = 0;
        let fresh = || {
            runs += 1;
            Ok(silent(predictions[usize::from((runs == 2) != reversed)]))
        };
        let report = adaptive_trials(&AdaptiveTrials::default(), 1, 0, BUDGET, fresh).unwrap();
        assert_eq!(report.diverged, 1, "{report:?}");
        assert!(report.tracking_error.is_infinite(), "{report:?}");
    }
}

#[test]
fn the_recovery_brings_the_oracle_closer_to_the_reference() {
    let report = report(0.999, Some(CusumSettings::EXACT));
    let plain = report.tracking_error_oracle_plain.unwrap();
    assert!(report.tracking_error_oracle < plain, "{report:?}");
}

#[test]
fn a_torso_four_times_as_heavy_is_weighed_in_two_seconds() {
    let model = || {
        let settings = RecursiveSettings {
            forgetting: 0.999,
            noise: 0.003,
            spread: vec![10.0],
            drift: Some(Drift {
                size: 0.003,
                correlation: 0.95,
            }),
        };
        let known = KnownFeatures::new(Upkie::default());
        let change = Some(CusumSettings::LEARNED);
        Ok(OnlineLeastSquares::new(known, &[5.0], settings, change)?)
    };
    let report = adaptive_trials(&UpkieTrials::default(), 6, 0, BUDGET, model).unwrap();
    assert!(
        report.steps_within_15pct.median.unwrap() <= 400.0,
        "{report:?}"
    );
}
