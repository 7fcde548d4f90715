use std::cell::Cell;

use super::*;
use crate::engine::listener::Listener;

fn lost() -> Stop {
    LearnerError::Device("lost".to_owned()).into()
}

/// Tries something on a device of that name: the outcome, the number of attempts, the events.
fn attempts(
    name: &str,
    outcome: fn(usize) -> Result<usize, Stop>,
) -> (Result<(usize, DeviceUsed), Stop>, usize, Vec<Event>) {
    let listener = Listener::default();
    let used = DeviceUsed {
        name: name.to_owned(),
        ..DeviceUsed::default()
    };
    let count = Cell::new(0);
    let attempt = async |_: &Device| {
        count.set(count.get() + 1);
        outcome(count.get())
    };
    let ended = pollster::block_on(with_fallback((Device::flex(), used), &listener, attempt));
    (ended, count.get(), listener.0.into_inner())
}

#[test]
fn only_a_failing_device_is_worth_another_attempt() {
    assert!(matches!(lost(), Stop::Device(why) if why.contains("lost")));
    let other: Stop = LearnerError::UnknownMethod("magic".to_owned()).into();
    assert!(matches!(other, Stop::Failed(why) if why.contains("magic")));
    assert_eq!(
        Event::from(lost()),
        Event::Failed("the device failed: lost".to_owned())
    );
}

#[test]
fn what_webgpu_fails_to_do_starts_again_on_the_cpu_and_says_so() {
    let (ended, count, events) = attempts("webgpu", |count| match count {
        1 => Err(lost()),
        count => Ok(count),
    });
    let (result, used) = ended.unwrap();
    assert_eq!((result, count, used.name.as_str()), (2, 2, "cpu"));
    let [
        Event::Started { device: first },
        Event::Note(note),
        Event::Started { device: second },
    ] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!((first.name.as_str(), second), ("webgpu", &used));
    assert!(
        note.starts_with("WebGPU stopped working") && note.ends_with("again on the CPU"),
        "{note}"
    );
}

#[test]
fn neither_the_cpu_nor_another_error_is_tried_again() {
    assert_eq!(attempts("cpu", |_| Err(lost())).1, 1);
    let (ended, count, _) = attempts("webgpu", |_| Err(Stop::Failed("rank".to_owned())));
    assert_eq!((ended, count), (Err(Stop::Failed("rank".to_owned())), 1));
    let (ended, count, _) = attempts("webgpu", |_| Err(Stop::Cancelled));
    assert_eq!((ended, count), (Err(Stop::Cancelled), 1));
}
