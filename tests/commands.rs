//! Tables, figures and tuning on the command line: what is kept, continued and refused.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(not(target_arch = "wasm32"))]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use camel_lab::experiments::{figures::Curve, record::Record, tuning::Tried};

/// `camel`, as far as it is told.
fn camel(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_camel"));
    command.args(arguments);
    command
}

/// What a command says on standard error, and whether it succeeded.
fn outcome(arguments: &[&str]) -> (bool, String) {
    let output = camel(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), text)
}

fn camel_table(arguments: &[&str]) -> (bool, String) {
    outcome(&[&["table"], arguments].concat())
}

/// An empty folder of this test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("camel-lab-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A table of short trainings of the pendulum, in a file.
const SHORT: [&str; 8] = [
    "--systems",
    "pendulum",
    "--set",
    "steps=20",
    "--trials",
    "2",
    "--seed",
    "1",
];

fn records(file: &Path) -> Vec<Record> {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn what_cannot_be_done_is_named_before_anything_is_trained() {
    let corrupt = std::env::temp_dir().join(format!("camel-lab-{}.json", std::process::id()));
    fs::write(&corrupt, "no table").unwrap();
    let cases = [
        (&["--systems", "spring"][..], "'spring'"),
        (&["--methods", "magic"], "'magic'"),
        (&["--trials", "0"], "trials must be 1 or more"),
        (&["--shots", "0"], "shots must be 1 or more"),
        (&["--systems", "pendulum", "--shots", "99999"], "99999"),
        (&["--noise", "NaN"], "noise must be 0 or more"),
        (&["--set", "stepz=3"], "stepz"),
        (
            &["--methods", "maml,coda", "--set", "first_order=true"],
            "first_order must be false for CoDA by the optimiser adam, but is true",
        ),
        (&["--set", "method=maml"], "'method=maml' is no setting"),
        (&["--set", "method=maml"], "chosen with --methods"),
        (&["--set", "system=arm"], "chosen with --systems"),
        (&["--json", "/no/such/folder/table.json"], "/no/such/folder"),
        (
            &["--weights", "/proc/weights"],
            "cannot write /proc/weights",
        ),
        (&["--weights", "/proc"], "cannot write /proc"),
        (&["--json", corrupt.to_str().unwrap()], "left as it is"),
    ];
    for (arguments, expected) in cases {
        let (success, text) = camel_table(arguments);
        assert!(!success && text.contains(expected), "{arguments:?}: {text}");
        assert!(!text.contains("trained"), "{arguments:?}: {text}");
    }
    assert_eq!(fs::read_to_string(&corrupt).unwrap(), "no table");
    fs::remove_file(corrupt).unwrap();
}

/// The good name comes first: whoever checks a name when it is reached would train that one.
#[test]
fn pretrain_times_and_tune_name_what_is_wrong_before_they_begin() {
    let cases = [
        ("pretrain --systems pendulum,spring", "'spring'"),
        (
            "pretrain --systems pendulum --methods r2d2,magic",
            "'magic'",
        ),
        (
            "pretrain --systems pendulum --methods r2d2,phi-camel",
            "phi-camel has no training of its own: it uses the model of camel",
        ),
        (
            "pretrain --systems pendulum --methods r2d2 --out /proc/weights",
            "cannot write /proc/weights",
        ),
        (
            "pretrain --systems pendulum --methods r2d2 --out /proc",
            "cannot write /proc",
        ),
        (
            "times --seconds 0.001 --systems pendulum,spring",
            "'spring'",
        ),
        ("tune --trials 1 --systems pendulum,spring", "'spring'"),
        ("tune --trials 1 --methods r2d2,phi-camel", "phi-camel"),
    ];
    let folder = folder("wrong");
    for (words, expected) in cases {
        let arguments: Vec<_> = words.split(' ').collect();
        // Where the default folder would be made.
        let output = camel(&arguments).current_dir(&folder).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{words}: {text}");
        assert!(text.contains(expected), "{words}: {text}");
        assert_eq!(text.lines().count(), 1, "{words}: {text}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn two_jobs_make_the_table_that_one_makes_and_keep_the_models() {
    let folder = folder("jobs");
    let made = ["1", "2"].map(|jobs| {
        let file = folder.join(jobs);
        let weights = folder.join(format!("weights-{jobs}"));
        let arguments = [
            "--methods",
            "camel,phi-camel,r2d2",
            "--jobs",
            jobs,
            "--json",
            file.to_str().unwrap(),
            "--weights",
            weights.to_str().unwrap(),
        ];
        let (success, text) = camel_table(&[&SHORT[..], &arguments].concat());
        assert!(success, "{text}");
        assert!(weights.join("pendulum-r2d2.safetensors").exists(), "{text}");
        let records = records(&file).into_iter();
        records
            .map(|r| (r.method, r.shots, r.mse, r.spec))
            .collect::<Vec<_>>()
    });
    assert_eq!(made[0].len(), 5);
    assert_eq!(made[0], made[1]);
    fs::remove_dir_all(folder).unwrap();
}

/// Starts a table of a quick and a long training, ends it once the cells of the first are there, and
/// lets it go on.
#[test]
fn a_table_that_is_killed_keeps_its_cells_and_goes_on_from_them() {
    let folder = folder("killed");
    let file = folder.join("table.json");
    let arguments = [
        "table",
        "--systems",
        "pendulum,capacitor",
        "--methods",
        "r2d2",
        "--set",
        "steps=100",
        "--trials",
        "2",
        "--json",
        file.to_str().unwrap(),
    ];
    let mut child = camel(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    // The cells of a training are written before the next one begins to speak.
    let mut lines = said.by_ref().map(|line| line.unwrap());
    assert!(lines.any(|line| line.contains("50-shot")));
    let kept = loop {
        let kept = fs::read_to_string(&file).map(|_| records(&file));
        match kept {
            Ok(kept) if !kept.is_empty() => break kept,
            _ => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(records(&file), kept, "a kill leaves what was finished");
    let (success, text) = outcome(&arguments);
    assert!(
        success && text.contains("2 cells are there, 1 trainings to do"),
        "{text}"
    );
    let all = records(&file);
    assert_eq!(all.len(), 4);
    assert!(kept.iter().all(|record| all.contains(record)));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_part_made_elsewhere_is_taken_over_and_a_corrupt_one_is_named() {
    let folder = folder("parts");
    let [part, whole, corrupt] = ["part", "whole", "corrupt"].map(|name| folder.join(name));
    let run = |file: &Path, more: &[&str]| {
        let json = ["--methods", "r2d2", "--json", file.to_str().unwrap()];
        camel_table(&[&SHORT[..], &json, more].concat())
    };
    let (success, text) = run(&part, &[]);
    assert!(success, "{text}");
    let (success, text) = run(&whole, &["--from", part.to_str().unwrap()]);
    assert!(success && text.contains("0 trainings to do"), "{text}");
    assert_eq!(records(&whole), records(&part));
    let half = &fs::read_to_string(&part).unwrap()[..200];
    fs::write(&corrupt, half).unwrap();
    let (success, text) = run(&whole, &["--from", corrupt.to_str().unwrap()]);
    assert!(
        !success && text.contains("corrupt is not a table of records"),
        "{text}"
    );
    assert_eq!(records(&whole), records(&part), "finished cells are kept");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn figures_refuse_the_models_of_another_seed_name_missing_ones_and_skip_what_is_made() {
    let folder = folder("figures");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (json, table) = (path("figures"), path("table 1"));
    for seed in ["1", "2"] {
        let (table, weights) = (path(&format!("table {seed}")), path(seed));
        let (success, text) = camel_table(&[
            "--systems",
            "pendulum",
            "--methods",
            "r2d2",
            "--set",
            "steps=20",
            "--seed",
            seed,
            "--json",
            &table,
            "--weights",
            &weights,
        ]);
        assert!(success, "{text}");
    }
    let figures = |systems: &str, weights: &str| {
        outcome(&[
            "figures",
            "--figures",
            "shots",
            "--systems",
            systems,
            "--methods",
            "r2d2",
            "--seed",
            "1",
            "--json",
            &json,
            "--weights",
            weights,
            "--table",
            &table,
        ])
    };
    let (success, text) = figures("pendulum", &path("2"));
    assert!(
        !success && text.contains("is not the model of the table"),
        "{text}"
    );
    // The table has trained no model of the arm.
    let (success, text) = figures("arm,pendulum", &path("1"));
    assert!(
        !success && text.contains("1 curves could not be made"),
        "{text}"
    );
    assert!(text.contains("1/arm-r2d2.safetensors"), "{text}");
    assert!(text.contains("shots pendulum r2d2: 5 points"), "{text}");
    let curves: Vec<Curve> = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((curves.len(), curves[0].seed), (1, 1));
    let (success, text) = figures("pendulum", &path("1"));
    assert!(success && text.contains("0 curves to make"), "{text}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn figures_name_what_is_wrong_before_anything_is_trained() {
    let cases = [
        (&["--figures", "seven"][..], "'seven'"),
        (
            &["--figures", "tasks", "--methods", "phi-camel"],
            "phi-camel",
        ),
        (&["--systems", "pendulum,spring"], "'spring'"),
        (
            &["--figures", "tasks,epsilon", "--systems", "arm"],
            "the figures tasks, epsilon have no curves of arm",
        ),
        (&["--weights", "/no/weights"], "no folder /no/weights"),
        (
            &["--figures", "tasks", "--jobs", "0"],
            "jobs must be 1 or more",
        ),
        (&["--figures", "tasks", "--table", "/no/table"], "/no/table"),
        (
            &["--figures", "tasks", "--json", "/no/such/f.json"],
            "/no/such/f.json",
        ),
    ];
    for (arguments, expected) in cases {
        let (success, text) = outcome(&[&["figures"], arguments].concat());
        assert!(!success && text.contains(expected), "{arguments:?}: {text}");
    }
}

#[test]
fn tuning_tries_the_same_for_a_method_and_goes_on_where_it_was() {
    let folder = folder("tuning");
    let file = folder.join("tuning.json");
    let old = r#"[{"system": "pendulum", "method": "r2d2", "tried": "by hand", "shots": 10, "mse": 1.0, "nmse": 0.1, "identification_error": null, "seed": 0, "trials": 3}]"#;
    fs::write(&file, old).unwrap();
    let arguments = [
        "tune",
        "--systems",
        "pendulum",
        "--methods",
        "r2d2",
        "--trials",
        "2",
        "--jobs",
        "2",
        "--json",
        file.to_str().unwrap(),
    ];
    let (success, text) = outcome(&arguments);
    assert!(success && text.contains("6 to try with seed 0"), "{text}");
    let tried: Vec<Tried> = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    // Six candidates from two numbers of shots, and what was there.
    assert_eq!(tried.len(), 13);
    assert!(tried.is_sorted_by_key(|one| one.shots), "{tried:?}");
    assert!(tried.iter().any(|one| one.tried == "by hand"));
    let (success, text) = outcome(&arguments);
    assert!(success && text.contains("0 to try with seed 0"), "{text}");
    for (arguments, expected) in [
        (["--jobs", "0"], "jobs must be 1 or more"),
        (["--methods", "magic"], "'magic'"),
        (["--json", "/no/such/folder/t.json"], "/no/such/folder"),
    ] {
        let (success, text) = outcome(&[&["tune"], &arguments[..]].concat());
        assert!(!success && text.contains(expected), "{text}");
    }
    fs::remove_dir_all(folder).unwrap();
}
