//! Control and identification on the command line: the keys that scripts read, and bad input.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(not(target_arch = "wasm32"))]

use std::process::{Command, Output};

use serde_json::Value;

fn camel(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_camel"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

/// The JSON of a command that must succeed.
fn figures(arguments: &str) -> Value {
    let output = camel(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a command that must fail says.
fn refusal(arguments: &str) -> String {
    let output = camel(arguments);
    assert!(!output.status.success(), "{arguments}");
    String::from_utf8(output.stderr).unwrap()
}

/// Two trials of a system and a method with the weights that the site ships.
fn shipped(command: &str, system: &str, method: &str) -> Value {
    figures(&format!(
        "{command} --system {system} --method {method} \
         --weights public/weights/{system}-{method}.safetensors --trials 2 --seed 7 --json -"
    ))
}

#[test]
fn identification_is_reported_under_the_promised_keys() {
    for method in ["camel", "anil"] {
        let json = shipped("identify --shots 100", "cartpole", method);
        for summary in [
            &json["relative_error"],
            &json["parameters"][0]["relative_error"],
        ] {
            for key in ["median", "mean", "max"] {
                assert!(summary[key].as_f64().unwrap() >= 0.0, "{key}: {json}");
            }
        }
        assert!(json["coverage_95"].is_number(), "{json}");
        assert!(json["parameters"][1]["coverage_95"].is_number(), "{json}");
        assert_eq!(json["parameters"][1]["name"], "pole mass");
        assert_eq!(json["rank"], 2, "{json}");
        assert!(json["condition"]["median"].as_f64().unwrap() >= 1.0);
    }
}

#[test]
fn adaptive_control_is_reported_under_the_promised_keys() {
    for system in ["cartpole", "upkie"] {
        let json = shipped("adaptive", system, "camel");
        for steps in ["steps_within_5pct", "steps_within_10pct", "detection_delay"] {
            for key in ["median", "max"] {
                let value = json[steps].get(key);
                assert!(
                    value.is_some_and(|v| v.is_null() || v.is_number()),
                    "{json}"
                );
            }
        }
        for key in [
            "false_alarms_per_10k",
            "tracking_error",
            "tracking_error_oracle",
            "missed_ticks",
        ] {
            assert!(json[key].is_number(), "{key}: {json}");
        }
        assert_eq!(json["diverged"], 0);
    }
    let json = shipped("adaptive --factor 2 --change-at 400", "cartpole", "camel");
    let error = |key: &str| json[key].as_f64().unwrap();
    assert!(error("tracking_error_oracle") < error("tracking_error_oracle_plain"));
    assert!(error("tracking_error") < error("tracking_error_analytic"));
    assert_eq!(json["budget_seconds"], 0.02, "a tick of the cartpole");
}

#[test]
fn tracking_and_design_report_every_controller_and_every_number_of_points() {
    let json = figures("track --system cartpole --methods analytic,camel,oracle --trials 2");
    let methods = json["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 3);
    for method in methods {
        assert!(method["total_error"]["median"].is_number(), "{method}");
        assert!(method["success"].is_number() && method["diverged"] == 0);
        assert!(method["error_over_time"].as_array().unwrap().len() > 10);
    }
    let json = figures("design --system charges-pair --samples 6 --trials 2");
    for point in json["curve"].as_array().unwrap() {
        assert!(point["planned"]["median"].is_number(), "{point}");
        assert!(point["usual"]["median"].is_number(), "{point}");
    }
}

/// The figures of one controller in what `camel track` writes for one system.
fn followed<'a>(figures: &'a Value, method: &str) -> &'a Value {
    let methods = figures["methods"].as_array().unwrap().iter();
    methods.clone().find(|m| m["method"] == method).unwrap()
}

#[test]
fn the_shipped_tracking_figures_are_what_the_command_makes() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/public/results/tracking.json");
    let shipped: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    for (system, figures) in ["cartpole", "arm"].iter().zip(shipped.as_array().unwrap()) {
        assert_eq!(
            (&figures["system"], &figures["trials"]),
            (&(*system).into(), &25.into())
        );
        for method in [
            "analytic", "camel", "anil", "coda", "maml", "r2d2", "cavia", "oracle",
        ] {
            let found = followed(figures, method);
            assert!(found["total_error"]["median"].is_number(), "{found}");
        }
        assert_eq!(followed(figures, "oracle")["success"], 1.0);
    }
    for figures in shipped.as_array().unwrap() {
        are_made_again(figures, &["camel", "anil"]);
    }
}

/// Makes the figures of some controllers again, as the file says that they were made.
fn are_made_again(shipped: &Value, methods: &[&str]) {
    let text = |key: &str| shipped[key].to_string().replace('"', "");
    assert_eq!(shipped["feedback"], "regulator");
    let command = format!(
        "track --system {} --methods {} --shots {} --trials {} --seed {} --summary",
        text("system"),
        methods.join(","),
        text("shots"),
        text("trials"),
        text("seed"),
    );
    let again = figures(&command);
    for method in methods {
        let [then, now] = [shipped, &again].map(|all| followed(all, method));
        assert_eq!(then["success"], now["success"], "{command}: {method}");
        assert_eq!(then["diverged"], now["diverged"], "{command}: {method}");
        for key in ["median", "mean", "max"] {
            let [then, now] = [then, now].map(|m| m["total_error"][key].as_f64().unwrap());
            assert!(
                (now / then - 1.0).abs() < 1e-3,
                "{command}: {key} of {method} {then} m, now {now} m"
            );
        }
    }
}

#[test]
fn the_true_parameters_need_no_weights_of_their_own() {
    let json = figures("track --methods phi-camel --trials 1 --summary");
    assert_eq!(json["methods"][0]["success"], 1.0, "{json}");
}

#[test]
fn what_makes_no_sense_is_refused_with_its_value_before_anything_is_trained() {
    let refused = [
        ("adaptive --factor 0 --trials 1", "but is 0"),
        ("adaptive --factor=-2 --trials 1", "but is -3"),
        ("adaptive --system upkie --factor 0", "but is 0"),
        ("adaptive --change-at 5000", "but is 5000"),
        ("adaptive --trials 0", "but is 0"),
        (
            "adaptive --trials 99999999999999999",
            "but is 99999999999999999",
        ),
        ("adaptive --budget-ms 0", "but is 0"),
        ("adaptive --system arm", "'arm'"),
        ("identify --shots 0", "but is 0"),
        ("identify --shots 99999", "but is 99999"),
        ("identify --trials 0", "but is 0"),
        ("track --trials 0", "but is 0"),
        (
            "track --trials 99999999999999999",
            "but is 99999999999999999",
        ),
        ("track --shots 0", "but is 0"),
        ("track --shots 99999", "but is 99999"),
        ("track --system arm --shots 99999", "but is 99999"),
        (
            "track --system arm --shots 350",
            "the reference has 300 steps, but adaptation alone takes 350",
        ),
        ("track --methods cat --trials 1", "'cat'"),
        ("track --system upkie", "'upkie'"),
        ("design --noise=-1", "but is -1"),
    ];
    for (arguments, expected) in refused {
        let said = refusal(arguments);
        assert!(said.contains(expected), "{arguments}: {said}");
    }
}

#[test]
fn the_weights_of_another_system_or_method_are_refused_by_name() {
    let file = "public/weights/cartpole-camel.safetensors";
    let said = refusal(&format!("identify --system arm --weights {file}"));
    assert!(
        said.contains("camel for cartpole, but camel for arm"),
        "{said}"
    );
    let said = refusal(&format!("adaptive --method anil --weights {file}"));
    assert!(
        said.contains("camel for cartpole, but anil for cartpole"),
        "{said}"
    );
}
