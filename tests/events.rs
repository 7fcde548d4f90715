//! The order of the events of jobs on a native thread; the channel closes after the last one.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(not(target_arch = "wasm32"))]

use camel_lab::{
    engine::{
        native::Job,
        protocol::{Event, Work},
    },
    experiments::{link::Link, online_run::OnlineSpec, spec::Spec},
};

#[path = "support/order.rs"]
mod order;

use order::{assert_order, assert_whole_course};

const RUN: &str = "#/experiments?v=1&system=cartpole&method=camel&device=cpu";

fn spec(more: &str) -> Spec {
    Link::read(&format!("{RUN}&{more}")).0.spec
}

/// Every event of a job that is cancelled at the first one of which `stop` holds.
fn events(work: Work, stop: fn(&Event) -> bool) -> Vec<Event> {
    let job = Job::start(work);
    let look = |event: &Event| {
        if stop(event) {
            job.cancel();
        }
    };
    job.events.iter().inspect(look).collect()
}

fn never(_: &Event) -> bool {
    false
}

fn progress(event: &Event) -> bool {
    matches!(event, Event::Progress(_))
}

#[test]
fn a_finished_run_tells_everything_in_its_order() {
    for settings in ["steps=60", "steps=2000&optimiser=adam"] {
        assert_whole_course(&events(Work::Experiment(spec(settings)), never));
    }
}

#[test]
fn a_cancelled_run_ends_with_that_and_without_results() {
    let long = Work::Experiment(spec("steps=200000"));
    let events = events(long, progress);
    assert_order(&events);
    assert_eq!(events.last(), Some(&Event::Cancelled));
    let result = |event: &Event| matches!(event, Event::Weights(_) | Event::Adapted(_));
    assert!(!events.iter().any(result), "{:?}", order::names(&events));
}

#[test]
fn a_failed_job_ends_with_the_reason() {
    let weightless = OnlineSpec {
        factor: -1.0,
        ..OnlineSpec::usual("upkie")
    };
    for (work, reason) in [
        (Work::Outline, "the file is empty"),
        (Work::Online(weightless), "but is -1"),
    ] {
        let events = events(work, never);
        assert_order(&events);
        let Some(Event::Failed(why)) = events.last() else {
            panic!("{:?}", order::names(&events))
        };
        assert!(why.contains(reason), "{why}");
    }
}

#[test]
fn the_demonstration_ends_once() {
    let events = events(Work::Live, |event| matches!(event, Event::Ticks(_)));
    assert_order(&events);
    assert!(matches!(events.first(), Some(Event::Started { .. })));
}
