use std::{cell::Cell, time::Duration};

use super::*;
use crate::{
    engine::{listener::Listener, pacing::Beating},
    experiments::training::train_on,
    systems,
};

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

fn tasks() -> Vec<Task> {
    let (system, listener) = (systems::by_name("pendulum").unwrap(), Listener::default());
    pollster::block_on(make_tasks(system.as_ref(), 0, &listener)).unwrap()
}

/// What the host heard of a short training, and how that went.
fn trained(settings: &Settings) -> (Vec<String>, Trained) {
    let listener = Listener::default();
    let trained = pollster::block_on(train(settings, 0, &tasks(), &Device::flex(), &listener));
    let Ok(trained) = trained else {
        panic!("no model");
    };
    let notes = listener
        .0
        .into_inner()
        .into_iter()
        .filter_map(|event| match event {
            Event::Note(note) => Some(note),
            _ => None,
        });
    (notes.collect(), trained)
}

/// A host that has heard nothing for no time at all hears of every breath.
#[test]
fn others_run_while_a_trained_model_adapts_to_its_tasks() {
    let (listener, tasks) = (Listener::default(), tasks());
    let host = Beating::new(&listener, Duration::ZERO);
    let maml = Settings {
        steps: 1,
        batch: 20,
        ..Settings::new("pendulum", "maml").unwrap()
    };
    let trained = pollster::block_on(train(&maml, 0, &tasks, &Device::flex(), &host));
    assert!(trained.is_ok());
    let heard = listener.0.into_inner();
    let breaths = heard.iter().filter(|event| **event == Event::Alive).count();
    assert!(breaths >= tasks.len(), "{breaths}");
}

fn settings() -> Settings {
    Settings {
        steps: 600,
        batch: 20,
        ..Settings::new("pendulum", "camel").unwrap().with_adam()
    }
}

#[test]
fn the_host_hears_of_a_schedule_that_was_shortened() {
    let settings = stuck();
    let (notes, trained) = trained(&settings);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("shortened"), "{notes:?}");
    assert!(trained.steps < settings.steps, "{}", trained.steps);
}

/// A page looks at the loss after every 25 of these steps, the table after every 500.
#[test]
fn a_page_makes_the_model_of_the_table() {
    let settings = stuck();
    let (_, trained) = trained(&settings);
    let (of_table, _) = train_on(&tasks(), &settings, 0, |_| ()).unwrap();
    assert_eq!(trained.model.parameters(), of_table.parameters());
}

/// A training whose error does not fall.
fn stuck() -> Settings {
    Settings {
        steps: 5_000,
        learning_rate: 1e-7,
        weight_decay: 0.0,
        ..settings()
    }
}

/// With a decay of 3, weights double in every step at the rate 1 and shrink at the rate 0.3.
#[test]
fn the_host_hears_of_a_restart_and_steps_are_counted_from_it() {
    let (notes, trained) = trained(&Settings {
        learning_rate: 1.0,
        weight_decay: 3.0,
        ..settings()
    });
    assert!(notes[0].contains("restarted"), "{notes:?}");
    assert!(trained.steps <= 600, "{}", trained.steps);
    let steps: Vec<_> = trained.losses.iter().map(|(step, _)| *step).collect();
    assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
    assert_eq!(steps.last(), Some(&trained.steps));
}
