//! Whole experiments on a native thread.
#![cfg(not(target_arch = "wasm32"))]

use std::time::{Duration, Instant};

use camel_lab::{
    engine::{native::Job, protocol::Event},
    experiments::link::Link,
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
    let job = Job::start(link.spec);
    while !matches!(job.events.recv().unwrap(), Event::Progress(_)) {}
    let asked = Instant::now();
    job.cancel();
    while !matches!(job.events.recv().unwrap(), Event::Cancelled) {}
    assert!(asked.elapsed() < Duration::from_millis(100), "{:?}", asked.elapsed());
}
