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
        protocol::{Event, Work},
    },
    experiments::{link::Link, live::Command},
};

mod golden;
mod support;

#[test]
fn a_native_run_repeats_the_golden_losses() {
    let report = pollster::block_on(support::report_of(golden::LINK));
    if std::env::var_os("CAMEL_LAB_GOLDEN").is_some() {
        let text = serde_json::to_string(&report.losses).unwrap();
        std::fs::write("tests/golden/losses.json", text).unwrap();
    }
    golden::assert_losses_match(&report.losses);
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

#[test]
fn the_demonstration_obeys_on_a_thread() {
    let job = Job::start(Work::Live);
    let next = || match job.events.recv_timeout(Duration::from_secs(20)).unwrap() {
        Event::Ticks { ticks, .. } => ticks.into_iter().map(|tick| tick.mass).collect(),
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
