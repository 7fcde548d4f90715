//! What is shipped can be made again: a cell of the table, a file of weights.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(not(target_arch = "wasm32"))]

use std::{collections::BTreeSet, fs, sync::Arc};

use camel_lab::{
    experiments::{
        record::{Printed, Record},
        table::{Cell, Evaluator, Made},
        training::train,
    },
    learners::{METHODS, Model, Settings, weights},
    systems::{self, Split},
};

/// A cell and a model that are made in a second or two.
const SYSTEM: &str = "pendulum";
const METHOD: &str = "camel";
/// Seed of the weights.
const SEED: u64 = 0;
/// Seed of the table: one that no setting was chosen with.
const TABLE_SEED: u64 = 1;

fn trained(seed: u64) -> (Model, Made) {
    let system = systems::by_name(SYSTEM).unwrap();
    let settings = Settings::new(SYSTEM, METHOD).unwrap();
    let environments = system.environments(Split::Train, seed);
    train(system.as_ref(), &settings, &environments, seed, |_| ()).unwrap()
}

fn table() -> Vec<Record> {
    serde_json::from_str(&fs::read_to_string("public/results/table.json").unwrap()).unwrap()
}

#[test]
fn a_committed_cell_is_made_again() {
    let committed = table();
    let of_method = |r: &&Record| r.system == SYSTEM && r.method == METHOD && r.seed == TABLE_SEED;
    let committed: Vec<_> = committed.iter().filter(of_method).collect();
    assert!(!committed.is_empty());
    let (model, made) = trained(TABLE_SEED);
    let system = systems::by_name(SYSTEM).unwrap();
    let mut evaluator = Evaluator::new(system, Arc::new(model), TABLE_SEED).unwrap();
    for record in committed {
        let cell = Cell::of(record);
        assert!(cell.is_done(record, &made.settings), "{record:?}");
        let again = evaluator.record(&cell, &made).unwrap();
        let relative = (again.mse.mean / record.mse.mean - 1.0).abs();
        assert!(relative < 0.05, "{again:?} instead of {record:?}");
    }
}

#[test]
fn a_shipped_model_is_made_again() {
    let file = format!("public/weights/{SYSTEM}-{METHOD}.safetensors");
    let shipped = weights::import(&fs::read(file).unwrap()).unwrap();
    let (model, _) = trained(SEED);
    assert_eq!(shipped.settings(), model.settings());
    let system = systems::by_name(SYSTEM).unwrap();
    for (number, task) in model.tasks().iter().enumerate() {
        assert_eq!(shipped.tasks()[number].parameters, task.parameters);
        let inputs = system
            .task(&task.parameters, Split::Train, SEED)
            .unwrap()
            .inputs;
        let outputs = [&shipped, &model].map(|model| {
            let adapted = model.trained(number).unwrap().unwrap();
            model.predict(&adapted, &inputs).unwrap()
        });
        let differences = outputs[0]
            .iter()
            .zip(&outputs[1])
            .map(|(a, b)| (a - b).powi(2));
        let size = outputs[0].iter().map(|y| y * y).sum::<f64>();
        let relative = (differences.sum::<f64>() / size).sqrt();
        assert!(relative < 1e-2, "task {number}: {relative:e}");
    }
}

#[test]
fn every_shipped_model_is_of_todays_settings_and_loads() {
    for entry in fs::read_dir("public/weights").unwrap() {
        let path = entry.unwrap().path();
        let model = weights::import(&fs::read(&path).unwrap()).unwrap();
        let Settings { system, method, .. } = model.settings();
        let today = Settings::new(system, method).unwrap();
        assert_eq!(model.settings(), &today, "{}", path.display());
    }
}

#[test]
fn every_printed_figure_has_a_name_that_we_know() {
    let text = fs::read_to_string("public/results/paper.json").unwrap();
    let printed: Vec<Printed> = serde_json::from_str(&text).unwrap();
    let known: BTreeSet<_> = METHODS.iter().map(|method| method.name).collect();
    for figure in &printed {
        assert!(
            systems::NAMES.contains(&figure.system.as_str()),
            "{figure:?}"
        );
        assert!(known.contains(figure.method.as_str()), "{figure:?}");
    }
}

#[test]
fn the_committed_table_is_of_todays_settings() {
    for record in table() {
        let settings = Settings::new(&record.system, &record.method).unwrap();
        let cell = Cell::of(&record);
        assert!(cell.is_done(&record, &settings), "{record:?}");
    }
}

/// What `camel table` says on standard error, and whether it succeeded.
fn camel_table(arguments: &[&str]) -> (bool, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_camel"))
        .arg("table")
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), text)
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
        (&["--noise", "NaN"], "noise must be 0 or more"),
        (&["--set", "stepz=3"], "stepz"),
        (&["--json", "/no/such/folder/table.json"], "/no/such/folder"),
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
