use super::*;
use crate::{
    engine::protocol::DeviceUsed,
    experiments::{
        dataset::{report::DataSpec, roles::Columns, tasks::Order},
        fuzz,
        report::{Adaptation, ErrorSize, Identified},
        spec::Draft,
    },
};

fn report() -> Report {
    let error = ErrorSize {
        mse: 0.1 + 0.2,
        normalised: 1e-9,
    };
    Report {
        spec: Draft::recommended("cartpole", "camel")
            .unwrap()
            .check()
            .unwrap(),
        device: DeviceUsed::default(),
        version: "0.1.0".to_owned(),
        seconds: 1.5,
        steps: 300,
        losses: vec![(1, 0.5), (2, 0.25)],
        adaptation: Adaptation {
            shots: 10,
            few_shot: error,
            zero_shot: Some(error),
            identified: vec![Identified {
                name: "cart mass".to_owned(),
                symbol: "M".to_owned(),
                unit: "kg".to_owned(),
                truth: 2.0,
                estimate: 2.1,
                standard_error: 0.1,
                determined: true,
                map_alone: false,
            }],
            conditioning: None,
            predictions: vec![(1.0, 1.1)],
            target: ("u".to_owned(), "N".to_owned()),
            floor: Some(1e-3),
        },
        motion: Some(Motion {
            dt: 0.02,
            reference: vec![vec![0.0; 4]],
            states: vec![vec![0.0; 4]],
            errors: vec![0.1],
            success: true,
            seconds_a_step: 2e-6,
            compared: vec![("oracle".to_owned(), vec![0.0])],
        }),
    }
}

fn data_report() -> DataReport {
    let Report {
        spec: training,
        device,
        version,
        losses,
        adaptation,
        ..
    } = report();
    DataReport {
        spec: DataSpec {
            file: "carts.csv".to_owned(),
            columns: Columns {
                environment: "env".to_owned(),
                inputs: vec!["x".to_owned()],
                target: "y".to_owned(),
                parameters: Vec::new(),
            },
            held_out: "cart 6".to_owned(),
            order: Order::First,
            shared_part: true,
            training,
        },
        device,
        version,
        seconds: 1.0,
        steps: 300,
        losses,
        environments: 5,
        adaptation,
        notes: vec!["a note".to_owned()],
    }
}

#[test]
fn a_saved_run_is_opened_again() {
    let model = [0, 127, 255];
    let text = write(&report(), &model, "Browser 1").unwrap();
    assert!(text.contains("\"browser\":\"Browser 1\"") && text.contains("\"device\""));
    let saved = read::<Report>(&text).unwrap();
    assert_eq!((saved.report, saved.weights.0), (report(), model.to_vec()));
    let printed = serde_json::to_string(&report()).unwrap();
    let saved = read::<Report>(&printed).unwrap();
    assert_eq!((saved.report, saved.weights.0), (report(), Vec::new()));
    let text = write(&data_report(), &[], "").unwrap();
    assert!(!text.contains("weights"));
    assert_eq!(read::<DataReport>(&text).unwrap().report, data_report());
}

#[test]
fn what_is_not_finite_survives() {
    let mut odd = report();
    odd.adaptation.identified[0].standard_error = f64::INFINITY;
    let read = read::<Report>(&write(&odd, &[], "").unwrap())
        .unwrap()
        .report;
    assert!(read.adaptation.identified[0].standard_error.is_nan());
}

#[test]
fn another_file_is_named() {
    let said = |text: &str| read::<Report>(text).unwrap_err().to_string();
    assert!(said("a,b,c").contains("does not hold an experiment of camel-lab"));
    assert!(said("{\"format\":\"camel-lab data 1\"}").contains("but is 'camel-lab data 1'"));
    assert!(said("{\"colour\":1}").contains("missing field"));
    let odd = write(&report(), &[7], "")
        .unwrap()
        .replace("\"07\"", "\"0x\"");
    assert!(said(&odd).contains("must be hexadecimal digits"));
    let text = write(&report(), &[], "")
        .unwrap()
        .replace("\"depth\":3", "\"depth\":99");
    assert!(said(&text).contains("depth must be between 1 and 6, but is 99"));
    assert!(said(&" ".repeat(MOST_BYTES + 1)).contains("at most 20 MB"));
}

#[test]
fn a_motion_that_cannot_be_drawn_is_refused() {
    let refuse = |change: fn(&mut Motion)| {
        let mut broken = report();
        change(broken.motion.as_mut().unwrap());
        read::<Report>(&write(&broken, &[], "").unwrap())
            .unwrap_err()
            .to_string()
    };
    assert!(
        refuse(|motion| motion.states[0].truncate(1)).contains("must have 4 numbers, but has 1")
    );
    assert!(refuse(|motion| motion.dt = 0.0).contains("but is 0"));
    assert!(refuse(|motion| motion.reference.clear()).contains("no states"));
}

/// Tries 100,000 damaged files.
fn survives<R: Saveable>(report: &R, check: impl Fn(R)) {
    let whole = write(report, &[0xca, 0xfe], "Browser 1").unwrap();
    fuzz::damaged(&whole, |text| {
        if let Ok(saved) = read::<R>(text) {
            assert!(saved.report.check().is_ok());
            check(saved.report);
        }
    });
}

#[test]
fn a_hundred_thousand_damaged_runs_never_panic() {
    survives(&report(), |report| {
        assert!(Draft::from(report.spec).check().is_ok());
    });
}

#[test]
fn a_hundred_thousand_damaged_results_of_data_never_panic() {
    survives(&data_report(), |report| {
        assert!(Draft::from(report.spec.training).check().is_ok());
    });
}
