//! The order in which the events of a job come.

use camel_lab::engine::protocol::Event;

/// Before the device is chosen there are only data, which it is chosen by; steps never go back on one
/// device; results come on the way, once each; one event ends the job and nothing follows it.
pub fn assert_order(events: &[Event]) {
    let place = |found: fn(&Event) -> bool| events.iter().position(found);
    let count = |found: fn(&Event) -> bool| events.iter().filter(|event| found(event)).count();
    let ends = events.iter().filter(|event| event.is_last()).count();
    let said = names(events);
    assert_eq!(ends, 1, "{said:?}");
    assert!(events.last().is_some_and(Event::is_last), "{said:?}");
    let started = place(is_started).unwrap_or(events.len() - 1);
    for event in &events[..started] {
        assert!(is_before_start(event), "{event:?} before the start");
    }
    let mut step = 0;
    for event in events {
        match event {
            Event::Started { .. } => step = 0,
            Event::Progress(progress) => {
                let steps = step..=progress.steps;
                assert!(steps.contains(&progress.step), "{progress:?} after {step}");
                assert!(progress.seconds_left >= 0.0 && progress.steps_per_second >= 0.0);
                step = progress.step;
            }
            _ => {}
        }
    }
    assert!(count(is_weights) <= 1 && count(is_adapted) <= 1);
    let results = [place(is_progress), place(is_weights), place(is_adapted)];
    let reached = results.into_iter().flatten();
    assert!(reached.is_sorted(), "{said:?}");
}

/// The kinds of events, without what they say.
pub fn names(events: &[Event]) -> Vec<String> {
    let name = |event: &Event| {
        let letters = format!("{event:?}");
        letters
            .split(['(', ' '])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    events.iter().map(name).collect()
}

/// Checks the order and that a whole training was told of: progress, weights, adaptation.
pub fn assert_whole_course(events: &[Event]) {
    assert_order(events);
    for needed in [is_started, is_data, is_progress, is_weights, is_adapted] {
        assert!(events.iter().any(needed), "{:?}", names(events));
    }
    assert!(matches!(events.last(), Some(Event::Finished(_))));
}

fn is_started(event: &Event) -> bool {
    matches!(event, Event::Started { .. })
}

fn is_data(event: &Event) -> bool {
    matches!(event, Event::Data { .. })
}

fn is_before_start(event: &Event) -> bool {
    let quiet = matches!(event, Event::Alive | Event::Note(_));
    quiet || is_data(event) || matches!(event, Event::Making { .. })
}

fn is_progress(event: &Event) -> bool {
    matches!(event, Event::Progress(_))
}

fn is_weights(event: &Event) -> bool {
    matches!(event, Event::Weights(_))
}

fn is_adapted(event: &Event) -> bool {
    matches!(event, Event::Adapted(_))
}
