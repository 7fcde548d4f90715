//! Whole experiments on a native thread.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(not(target_arch = "wasm32"))]

use std::time::{Duration, Instant};

use camel_lab::{
    engine::{
        native::Job,
        protocol::{Event, Progress, Work, decode, encode},
    },
    experiments::{
        data_cache, dataset::report::DataSpec, link::Link, live::Command, run::run, spec::Draft,
    },
    learners::weights,
};

mod golden;
mod support;

use support::dataset;

/// The last event of a job that learns from a file.
fn learn(spec: DataSpec, file: Vec<u8>) -> Event {
    let job = Job::with_file(Work::Dataset(Box::new(spec)), file);
    job.events.iter().find(Event::is_last).unwrap()
}

#[test]
fn masses_are_read_off_the_example_file() {
    let file = dataset::example();
    for (shared_part, allowed) in [(false, 0.05), (true, 0.15)] {
        let spec = DataSpec {
            shared_part,
            ..dataset::spec(&file, "camel", 3_000)
        };
        let Event::Learned(report) = learn(spec, file.clone()) else {
            panic!("no report")
        };
        let report = report.open().unwrap();
        assert_eq!(report.environments, 5);
        assert_eq!(report.notes, Vec::<String>::new());
        let adaptation = &report.adaptation;
        assert!(adaptation.few_shot.normalised < 0.01, "{adaptation:?}");
        assert!(adaptation.zero_shot.unwrap().normalised < 0.02);
        assert_eq!(adaptation.target, ("u".to_owned(), "N".to_owned()));
        let cart = &adaptation.identified[0];
        assert_eq!((cart.name.as_str(), cart.unit.as_str()), ("M", "kg"));
        assert!(cart.determined, "{cart:?}");
        let off = (cart.estimate - cart.truth).abs() / cart.truth;
        assert!(off < allowed, "{cart:?}");
        let bars = (cart.estimate - cart.truth).abs() / cart.standard_error;
        assert!(bars < 5.0, "{cart:?}");
    }
}

#[test]
fn every_method_learns_from_a_file() {
    let file = dataset::example();
    for method in ["anil", "maml", "coda", "r2d2", "cavia"] {
        let ended = learn(dataset::spec(&file, method, 20), file.clone());
        let Event::Learned(report) = ended else {
            panic!("{method}: {ended:?}")
        };
        let report = report.open().unwrap();
        assert_eq!(
            report.adaptation.identified.len(),
            2,
            "{method}: {:?}",
            report.notes
        );
    }
}

#[test]
fn units_of_known_parameters_do_not_matter() {
    let text = String::from_utf8(dataset::example()).unwrap();
    let mut lines = text.lines();
    let mut milligrams = lines.next().unwrap().replace("M [kg]", "M [mg]") + "\n";
    for line in lines {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells[1] = (1e6 * cells[1].parse::<f64>().unwrap()).to_string();
        milligrams += &(cells.join(",") + "\n");
    }
    let mass = |file: &str| {
        let spec = dataset::spec(file.as_bytes(), "camel", 200);
        let ended = learn(spec, file.as_bytes().to_vec());
        let Event::Learned(report) = ended else {
            panic!("{ended:?}")
        };
        let report = report.open().unwrap();
        let cart = report.adaptation.identified[0].clone();
        (cart.estimate, cart.standard_error)
    };
    let (small, large) = (mass(&text), mass(&milligrams));
    assert!(
        (1e6 * small.0 / large.0 - 1.0).abs() < 1e-6,
        "{small:?} {large:?}"
    );
    assert!(
        (1e6 * small.1 / large.1 - 1.0).abs() < 1e-6,
        "{small:?} {large:?}"
    );
}

/// Files that are allowed but say little: each ends with a result or a reason, never in a panic.
#[test]
fn odd_files_end_with_a_result_or_a_reason() {
    let rows = |row: fn(usize, usize) -> String| -> String {
        let environment = |e: usize| -> String { (0..9).map(|k| row(e, k)).collect() };
        (0..4).map(environment).collect()
    };
    let odd = [
        ("zero targets", rows(|e, k| format!("{e},{e},{k},0\n"))),
        ("one input value", rows(|e, k| format!("{e},{e},1,{k}\n"))),
        ("all the same", rows(|e, _| format!("{e},1,1,1\n"))),
        (
            "huge",
            rows(|e, k| format!("{e},{e}e47,{k}e47,{}e47\n", e * k)),
        ),
        (
            "tiny",
            rows(|e, k| format!("{e},{e}e-300,{k}e-300,{}e-300\n", e * k)),
        ),
        (
            "huge and tiny",
            rows(|e, k| format!("{e},{e}e-300,{k}e47,{}e-300\n", e * k)),
        ),
        (
            "nearly the same",
            rows(|e, k| format!("{e},{},{k},{k}\n", 1.0 + e as f64 * 1e-15)),
        ),
    ];
    for (name, rows) in odd {
        let file = format!("env,param:m,x,y\n{rows}").into_bytes();
        for method in ["camel", "maml", "r2d2"] {
            for shots in [1, 4] {
                let mut spec = dataset::spec(&file, method, 10);
                let mut draft = Draft::from(spec.training);
                (draft.rank, draft.shots) = (1, shots);
                spec.training = draft.check().unwrap();
                let ended = learn(spec, file.clone());
                assert!(
                    matches!(ended, Event::Learned(_) | Event::Failed(_)),
                    "{name}, {method}: {ended:?}"
                );
                // What the page gets is what was sent.
                assert!(
                    decode::<Event>(&encode(&ended).unwrap()).is_ok(),
                    "{name}: {ended:?}"
                );
            }
        }
    }
}

#[test]
fn a_file_that_determines_too_little_says_so_and_a_bad_one_fails_with_row_and_column() {
    let text = String::from_utf8(dataset::example()).unwrap();
    let few: String = text
        .lines()
        .filter(|line| {
            !line.starts_with("cart 3")
                && !line.starts_with("cart 4")
                && !line.starts_with("cart 5")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let spec = dataset::spec(few.as_bytes(), "camel", 5);
    let Event::Learned(report) = learn(spec.clone(), few.clone().into_bytes()) else {
        panic!("no report")
    };
    let report = report.open().unwrap();
    assert_eq!(report.adaptation.identified, vec![]);
    assert!(
        report.notes[0].contains("cannot be identified"),
        "{:?}",
        report.notes
    );

    let bad = few.replacen("\ncart 2,", "\ncart 2,heavy", 1).into_bytes();
    let Event::Failed(message) = learn(spec.clone(), bad) else {
        panic!("a bad cell was accepted")
    };
    assert!(
        message.starts_with("row 302, column 'param:M [kg]': 'heavy"),
        "{message}"
    );
    let Event::Failed(message) = learn(spec, Vec::new()) else {
        panic!("an empty file was accepted")
    };
    assert!(message.contains("the file is empty"), "{message}");
}

#[test]
fn a_file_is_outlined_and_learning_from_it_can_be_cancelled() {
    let file = dataset::example();
    let job = Job::with_file(Work::Outline, file.clone());
    let Ok(Event::Outline(outline)) = job.events.recv() else {
        panic!("no outline")
    };
    let outline = outline.open().unwrap();
    assert_eq!((outline.rows, outline.columns.len()), (1_800, 10));
    let spec = dataset::spec(&file, "camel", 200_000);
    let job = Job::with_file(Work::Dataset(Box::new(spec)), file);
    while !matches!(job.events.recv().unwrap(), Event::Progress(_)) {}
    job.cancel();
    while !matches!(job.events.recv().unwrap(), Event::Cancelled) {}
}

#[test]
fn a_run_gives_its_weights_and_the_second_one_does_not_make_the_data_again() {
    let link = "#/experiments?v=1&system=charges-pair&steps=2&width=2&depth=1&device=cpu";
    let spec = Link::read(link).0.spec;
    let recorder = support::Recorder::default();
    for _ in 0..2 {
        pollster::block_on(run(&spec, &recorder));
    }
    let events = recorder.events.into_inner();
    let weights = events.iter().find_map(|event| match event {
        Event::Weights(weights) => Some(weights.0.clone()),
        _ => None,
    });
    let model = weights::import(&weights.unwrap()).unwrap();
    assert_eq!(model.settings().system, "charges-pair");
    assert!(data_cache::find("charges-pair", 0).is_some());
}

#[test]
fn a_run_with_too_few_points_ends_before_it_trains() {
    let link = "#/experiments?v=1&system=charges-pair&rank=3&steps=2&device=cpu&points=0.1,0.5";
    let (link, remarks) = Link::read(link);
    assert_eq!(remarks, []);
    let recorder = support::Recorder::default();
    pollster::block_on(run(&link.spec, &recorder));
    let said = "the number of points must be at least 3 for CAMEL with rank 3, but is 1";
    let events = recorder.events.into_inner();
    assert_eq!(events, [Event::Failed(said.to_owned())]);
}

#[test]
fn plates_are_solved_once_however_many_runs_follow() {
    let made = |system: &str| {
        let link = format!("#/experiments?v=1&system={system}&steps=2&width=2&depth=1&device=cpu");
        let recorder = support::Recorder::default();
        pollster::block_on(run(&Link::read(&link).0.spec, &recorder));
        let events = recorder.events.into_inner();
        assert!(
            matches!(events.last(), Some(Event::Finished(_))),
            "{events:?}"
        );
        let is_making = |event: &&Event| matches!(event, Event::Making { .. });
        events.iter().filter(is_making).count()
    };
    assert!(made("capacitor") > 0);
    assert!(made("capacitor-eps") > 0 && made("charges-pair") > 0);
    for system in ["capacitor", "capacitor-eps", "charges-pair"] {
        assert_eq!(made(system), 0, "{system}");
    }
}

#[test]
fn a_run_is_cancelled_while_its_plates_are_solved() {
    let (link, _) = Link::read("#/experiments?v=1&system=capacitor&device=cpu");
    let job = Job::start(Work::Experiment(link.spec));
    let first = job.events.recv().unwrap();
    assert!(
        matches!(first, Event::Making { done: 0, of: 10 }),
        "{first:?}"
    );
    job.cancel();
    let rest: Vec<_> = job.events.iter().collect();
    assert!(matches!(rest.last(), Some(Event::Cancelled)), "{rest:?}");
    let has_data = |event: &Event| matches!(event, Event::Data { .. });
    assert!(!rest.iter().any(has_data), "{rest:?}");
}

#[test]
fn any_number_of_charges_is_learned_wherever_a_visitor_puts_them() {
    let adaptation = |settings: &str| {
        let link = format!("#/experiments?v=1&system=charges-pair&device=cpu&{settings}");
        pollster::block_on(support::report_of(&link)).adaptation
    };
    let one = adaptation("rank=1&steps=1000&phi=2.5&places=1.3,0.5");
    assert_eq!((one.identified.len(), one.identified[0].truth), (1, 2.5));
    let found = one.identified[0].estimate;
    assert!((found - 2.5).abs() < 0.1, "{found}");
    let five =
        adaptation("rank=5&steps=500&phi=1+2+1+2+1&places=-1.1,0+1.1,0+0,-0.25+0,1.2+1.2,1.2");
    assert_eq!(five.identified.len(), 5);
    assert!(five.few_shot.normalised < 0.1, "{:?}", five.few_shot);
}

#[test]
fn a_native_run_repeats_the_golden_losses() {
    for golden in golden::RUNS {
        let report = pollster::block_on(support::report_of(golden.link));
        if std::env::var_os("CAMEL_LAB_GOLDEN").is_some() {
            let text = serde_json::to_string(&report.losses).unwrap();
            std::fs::write(format!("tests/golden/{}", golden.file), text).unwrap();
        }
        golden.assert_match(&report.losses);
    }
}

#[test]
fn a_job_is_cancelled_within_a_tenth_of_a_second() {
    let (link, _) = Link::read("#/experiments?v=1&system=cartpole&steps=200000&device=cpu");
    let job = Job::start(Work::Experiment(link.spec));
    while !matches!(job.events.recv().unwrap(), Event::Progress(_)) {}
    let asked = Instant::now();
    job.cancel();
    while !matches!(job.events.recv().unwrap(), Event::Cancelled) {}
    assert!(
        asked.elapsed() < Duration::from_millis(100),
        "{:?}",
        asked.elapsed()
    );
}

/// The events of a run that is cancelled as soon as one of them is reached.
fn cancelled_at(link: &str, reached: fn(&Event) -> bool) -> Vec<Event> {
    let recorder = support::Recorder {
        cancel_at: Some(reached),
        ..support::Recorder::default()
    };
    pollster::block_on(run(&Link::read(link).0.spec, &recorder));
    let events = recorder.events.into_inner();
    assert!(events.iter().any(reached), "{events:?}");
    events
}

#[test]
fn a_run_is_cancelled_while_its_data_are_made() {
    let making = |event: &Event| matches!(event, Event::Making { .. });
    let events = cancelled_at("#/experiments?v=1&system=capacitor&device=cpu", making);
    assert_eq!(events.last(), Some(&Event::Cancelled));
    // A plate that takes longer than a report is told of, too; the next one is not begun.
    let told = events.iter().filter(|event| making(event)).count();
    assert!((1..=2).contains(&told), "{events:?}");
    assert!(data_cache::find("capacitor", 0).is_none());
}

#[test]
fn a_run_is_cancelled_between_training_and_evaluation() {
    let link = "#/experiments?v=1&system=cartpole&steps=2&device=cpu";
    let events = cancelled_at(link, |event| matches!(event, Event::Weights(_)));
    assert_eq!(events.last(), Some(&Event::Cancelled));
    let evaluated = |event: &Event| matches!(event, Event::Adapted(_));
    assert!(!events.iter().any(evaluated), "{events:?}");
}

#[test]
fn a_slow_training_tells_how_far_it_is_before_it_knows_a_loss() {
    let link =
        "#/experiments?v=1&system=cartpole&steps=200000&width=128&depth=6&batch=4000&device=cpu";
    let events = cancelled_at(link, |event| matches!(event, Event::Progress(_)));
    let [
        ..,
        Event::Progress(Progress { step, loss, .. }),
        Event::Cancelled,
    ] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert!(*step < 1_000 && loss.is_nan(), "step {step}, loss {loss}");
}

#[test]
fn a_paused_demonstration_says_that_it_lives() {
    let job = Job::start(Work::Live);
    job.command(Command::Paused(true));
    let next = || job.events.recv_timeout(Duration::from_secs(60)).unwrap();
    while next() != Event::Alive {}
    job.cancel();
    while !matches!(job.events.recv().unwrap(), Event::Cancelled) {}
}

#[test]
fn the_demonstration_obeys_on_a_thread() {
    let job = Job::start(Work::Live);
    let next = || match job.events.recv_timeout(Duration::from_secs(20)).unwrap() {
        Event::Ticks(news) => {
            let ticks = news.open().unwrap().ticks.into_iter();
            ticks.map(|tick| tick.mass).collect()
        }
        Event::Note(note) => panic!("{note}"),
        _ => Vec::new(),
    };
    job.command(Command::CartMass(3.0));
    job.command(Command::Speed(10.0));
    let mut masses: Vec<f64> = Vec::new();
    while masses.last() != Some(&3.0) {
        masses.extend(next());
    }
    job.cancel();
    while !matches!(job.events.recv().unwrap(), Event::Cancelled) {}
}
