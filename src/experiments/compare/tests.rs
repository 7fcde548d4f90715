use super::*;
use crate::learners::Settings;

fn record(method: &str, shots: usize, mean: f64) -> Record {
    let summary = |mean| Summary {
        mean,
        std: 0.1 * mean,
        n: 5,
    };
    Record {
        system: "cartpole".to_owned(),
        method: method.to_owned(),
        shots,
        seed: 0,
        noise: 0.0,
        spec: Settings::new("cartpole", method).unwrap(),
        device: "CPU, native".to_owned(),
        version: "0".to_owned(),
        mse: summary(mean),
        nmse: summary(mean / 2.0),
        training_seconds: 1.0,
        adaptation_seconds: 1e-3,
        identification_error: None,
        zero_shot_error: None,
        floor: None,
    }
}

fn results() -> Results {
    let printed = |method: &str, to_normalised| Printed {
        system: "cartpole".to_owned(),
        method: method.to_owned(),
        shots: 50,
        mean: Some(0.2),
        std: None,
        table: "2".to_owned(),
        to_normalised,
    };
    Results {
        records: vec![
            record("camel", 50, 0.1),
            record("camel", 100, 0.05),
            record("phi-camel", 0, 0.01),
            record("anil", 50, 0.4),
        ],
        printed: vec![printed("camel", None), printed("anil", Some(0.1))],
        ..Results::default()
    }
}

#[test]
fn ours_stand_beside_the_papers_with_rank_and_ratio() {
    let (table, best) = results().errors("cartpole");
    let row = |k: usize| table.rows[k].join(" | ");
    assert_eq!(
        row(0),
        "CAMEL | 50 | 0.1 ± 0.01 | 0.05 ± 0.005 | 1 | 0.2 | 0.5"
    );
    assert!(row(2).starts_with("φ-CAMEL | 0 (φ given)"), "{}", row(2));
    // 0.4/2 of the mean target², against 0.2 × 0.1.
    assert!(row(3).ends_with("2 | 0.2 | 10"), "{}", row(3));
    assert_eq!(best, [(0, 2), (1, 2)]);
}

fn said(shots: Option<usize>, text: &str) -> Said {
    Said {
        system: "cartpole".to_owned(),
        method: "anil".to_owned(),
        shots,
        noise: None,
        text: text.to_owned(),
    }
}

#[test]
fn what_is_worse_than_the_paper_is_said_with_its_reason() {
    let mut results = results();
    let line = |results: &Results| results.remarks("cartpole");
    assert_eq!(line(&results), ["ANIL, 50 shots: 10 × the paper's error."]);
    assert_eq!(results.unexplained().len(), 1);
    results.remarks = vec![said(Some(50), "few steps"), said(Some(7), "no such cell")];
    assert_eq!(
        line(&results),
        [
            "ANIL, 50 shots: 10 × the paper's error; few steps.",
            "ANIL, 7 shots: no such cell."
        ]
    );
    assert!(results.unexplained().is_empty());
}

#[test]
fn a_difference_within_the_spread_of_the_trials_is_called_that() {
    let mut results = results();
    let anil = &mut results.records[3];
    (anil.nmse.mean, anil.nmse.std) = (0.0212, 0.02);
    assert_eq!(
        results.remarks("cartpole"),
        [
            "ANIL, 50 shots: 1.1 × the paper's error; that is within two standard errors of our 5 trials."
        ]
    );
    assert!(results.unexplained().is_empty());
    results.records[3].nmse.mean = 0.019;
    assert!(results.remarks("cartpole").is_empty());
}

#[test]
fn a_figure_on_another_scale_has_no_ratio() {
    let mut results = results();
    for record in &mut results.records {
        record.system = "upkie".to_owned();
    }
    for printed in &mut results.printed {
        printed.system = "upkie".to_owned();
    }
    let (table, _) = results.errors("upkie");
    assert!(table.rows[0].join(" | ").ends_with("0.2 | not comparable"));
    assert!(results.remarks("upkie").is_empty());
    let notes = results.notes("upkie").join(" ");
    assert!(notes.contains("other scale of torques"), "{notes}");
}

#[test]
fn what_is_left_out_is_named_with_its_reason() {
    let mut results = results();
    results.left_out = vec![LeftOut {
        system: "cartpole".to_owned(),
        method: "maml".to_owned(),
        shots: None,
        noise: None,
        reason: "it takes a day".to_owned(),
    }];
    let remarks = results.remarks("cartpole");
    assert!(
        remarks.contains(&"MAML is left out: it takes a day.".to_owned()),
        "{remarks:?}"
    );
}

#[test]
fn the_notes_say_what_a_ratio_compares() {
    let notes = results().notes("cartpole").join(" ");
    assert!(notes.contains("normalised errors"), "{notes}");
    let mut noisy = results();
    noisy.records[0].noise = 0.1;
    let notes = noisy.notes("cartpole").join(" ");
    assert!(notes.contains("least squares"), "{notes}");
}

#[test]
fn times_are_in_units_of_camels_beside_the_papers() {
    let mut results = results();
    let step = |method: &str, seconds| StepTime {
        system: "cartpole".to_owned(),
        method: method.to_owned(),
        rows: 100,
        seconds,
    };
    results.step_times = vec![step("camel", 1e-3), step("anil", 2e-3)];
    results.records[3].shots = 100;
    results.records[3].adaptation_seconds = 5e-3;
    results.paper_times = vec![PrintedTime {
        method: "anil".to_owned(),
        training: 10.0,
        adaptation: 3.0,
    }];
    let table = results.compute_times();
    assert_eq!(table.rows[0], ["CAMEL", "1", "–", "1", "–"]);
    assert_eq!(table.rows[1], ["ANIL", "2", "10", "5", "3"]);
}

#[test]
fn the_overview_takes_the_most_shots_and_marks_the_best() {
    let (table, best) = results().overview();
    assert_eq!(table.columns, ["Method", "Cartpole"]);
    assert_eq!(table.rows[0], ["CAMEL", "0.025"]);
    assert_eq!(best, [(1, 1)]);
}

#[test]
fn a_rerun_is_compared_with_its_own_cell() {
    let table = results().against(&[record("camel", 50, 0.11)]);
    assert_eq!(table.rows[0][5], "1.1");
}
