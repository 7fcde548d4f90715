use super::*;
use crate::experiments::{bench_accuracy::Accuracy, fuzz, link::LONGEST_VIEW};

fn sheet() -> Sheet {
    let pairs = FIRST_SYSTEMS.map(|system| FIRST_METHODS.map(|method| (system, method)));
    let speed = |(place, &(system, method)): (usize, &(&str, &str))| {
        Measured::Speed(Speed {
            system: system.to_owned(),
            method: method.to_owned(),
            steps_per_second: 100.0 * (place + 1) as f64,
            adaptation_seconds: 1e-4,
            memory: 0,
        })
    };
    Sheet {
        version: String::new(),
        machine: Machine {
            cores: 8,
            device: "cpu".to_owned(),
            ..Machine::default()
        },
        measured: pairs.as_flattened().iter().enumerate().map(speed).collect(),
    }
}

#[test]
fn a_link_holds_the_machine_and_the_speeds_and_fits_into_an_address() {
    let mut sheet = sheet();
    sheet.machine.gpu = "Acme; Model 3".to_owned();
    sheet.machine.browser = "Firefox 140".to_owned();
    let text = sheet.write();
    assert!(text.len() < LONGEST_VIEW, "{}", text.len());
    let read = Sheet::read(&text).unwrap();
    assert_eq!(read.machine.gpu, "Acme  Model 3");
    assert_eq!(read.machine.browser, "Firefox 140");
    assert_eq!(read.write(), text);
    assert_eq!(read.speeds().count(), 18);
}

#[test]
fn a_link_of_the_first_form_is_read() {
    let read = Sheet::read("8,cpu;1.000e3,1.000e2;;2.000e1,5.000e4").unwrap();
    let found: Vec<_> = read
        .speeds()
        .map(|s| (&*s.method, s.steps_per_second))
        .collect();
    assert_eq!(found, [("camel", 1000.0), ("maml", 20.0)]);
    assert_eq!((read.machine.cores, &*read.machine.gpu), (8, ""));
}

#[test]
fn a_method_that_is_not_known_yet_does_not_shift_the_others() {
    let text = "2;4;cpu;gpu;browser;cartpole.magic,1e3,1e2;cartpole.camel,2e3,1e2";
    let read = Sheet::read(text).unwrap();
    let camel = read.speed("cartpole", "camel").unwrap();
    assert_eq!(camel.steps_per_second, 2_000.0);
}

#[test]
fn a_goal_that_was_missed_says_so() {
    let accuracy = |method: &str, seconds, spent| {
        Measured::Accuracy(Accuracy {
            system: "cartpole".to_owned(),
            method: method.to_owned(),
            goal: 3.1e-3,
            whose: "printed in the paper".to_owned(),
            seconds,
            steps: 500,
            error: 0.01,
            spent,
        })
    };
    let sheet = Sheet {
        measured: vec![
            accuracy("camel", Some(2.5), 2.5),
            accuracy("r2d2", None, 36.04),
            accuracy("maml", None, 0.0),
        ],
        ..Sheet::default()
    };
    let rows = sheet.accuracies().rows;
    let found: Vec<_> = rows.iter().map(|row| (&*row[1], &*row[4])).collect();
    let expected = [
        ("CAMEL", "2.5"),
        ("R2-D2", "not reached in 36: 0.01"),
        ("MAML", "not reached: 0.01"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_file_of_the_time_when_only_camel_had_goals_is_read() {
    let text = r#"{"version": "0.1.0", "machine": {"cores": 8, "gpu": "", "browser": "", "device": "cpu"},
        "measured": [
            {"speed": {"system": "cartpole", "method": "camel", "steps_per_second": 1e3, "adaptation_seconds": 1e-4, "memory": 0}},
            {"accuracy": {"system": "cartpole", "method": "camel", "goal": 0.0031, "whose": "printed in the paper",
                "seconds": null, "steps": 500, "error": null}}
        ]}"#;
    let sheet = Sheet::from_json(text).unwrap();
    let table = sheet.accuracies();
    assert_eq!(table.rows.len(), 1);
    assert!(table.rows[0][4].starts_with("not reached: "));
}

#[test]
fn a_damaged_link_or_file_is_refused() {
    for text in [
        "",
        "8,cpu;",
        "8,tpu;1e2,1e2",
        "x,cpu;1,1",
        "8,cpu;-1,1",
        "8,cpu;nan,1",
        "2;8,cpu;1,1",
        "2;8;cpu;gpu;browser",
        "2;8;cpu;gpu;browser;camel,1,1",
        "2;8;cpu;gpu;browser;cartpole.camel,1,0",
    ] {
        assert_eq!(Sheet::read(text), None, "{text}");
    }
    assert!(Sheet::from_json("{}").is_err_and(|e| e.contains("not a saved benchmark")));
    let empty = serde_json::to_string(&Sheet::default()).unwrap();
    assert!(Sheet::from_json(&empty).is_err_and(|e| e.contains("no measurement")));
}

#[test]
fn two_machines_are_compared_by_ratios() {
    let table = sheet().table(Some(&sheet()));
    assert_eq!(table.rows[0][6..], ["1", "1"]);
}

#[test]
fn a_hundred_thousand_damaged_links_and_files_never_panic() {
    let positive = |sheet: &Sheet| sheet.speeds().all(|speed| speed.steps_per_second > 0.0);
    fuzz::damaged(&sheet().write(), |text| {
        assert!(Sheet::read(text).is_none_or(|sheet| positive(&sheet)));
    });
    fuzz::damaged(&serde_json::to_string(&sheet()).unwrap(), |text| {
        if let Ok(sheet) = Sheet::from_json(text) {
            assert!(sheet.speeds().next().is_some());
            sheet.table(Some(&sheet));
            sheet.slopes();
        }
    });
}
