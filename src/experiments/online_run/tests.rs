//! Tests of online runs with the shipped models.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use super::*;
use crate::{
    control::reference::START_MASSES,
    engine::{listener::Listener, native::Job, protocol::Work},
    identification::{identifier::Identifier, trials::Summary},
    systems::cartpole::Cartpole,
};

pub(super) fn spec(system: &str, method: &str, factor: f64, time: f64) -> OnlineSpec {
    OnlineSpec {
        system: system.to_owned(),
        method: method.to_owned(),
        factor,
        time,
        seed: 0,
        exciting: false,
    }
}

/// Everything that a run says, at full speed, and its last event.
fn heard(spec: OnlineSpec) -> (OnlineRun, Event) {
    let job = Job::start(Work::Online(spec));
    job.command(Command::Speed(100.0));
    let mut run = OnlineRun::default();
    let mut last = Event::Cancelled;
    for event in &job.events {
        match event {
            Event::Online(news) => run.extend(news.open().unwrap_or_default()),
            event => last = event,
        }
    }
    (run, last)
}

#[test]
fn the_new_mass_is_noticed_and_identified() {
    for (system, factor, mass, ticks) in [("cartpole", 2.0, 3.0, 1_200), ("upkie", 4.0, 4.0, 2_000)]
    {
        let (run, last) = heard(spec(system, "camel", factor, 4.0));
        assert_eq!(last, Event::Done, "{system}");
        assert_eq!(run.ticks, ticks);
        let first = run.noticed.first().copied().unwrap();
        assert!((4.0..5.0).contains(&first), "{system}: {first} s");
        assert!((400..=500).contains(&run.points.len()), "{system}");
        let last = run.points.last().unwrap();
        assert_eq!(last.truth, mass);
        let estimate = last.estimate.unwrap();
        assert!((estimate / mass - 1.0).abs() < 0.15, "{last:?}");
        assert!(last.standard_error.unwrap() > 0.0);
        assert!(run.seconds_a_step > run.seconds_a_tick && run.seconds_a_tick > 0.0);
        let (own, oracle) = (run.total.unwrap(), run.total_oracle.unwrap());
        println!("{system}: {own} m, oracle {oracle} m");
        assert!(oracle > 0.0 && own < 2.0 * oracle, "{own}, oracle {oracle}");
    }
}

#[test]
fn every_method_runs_on_either_robot() {
    for system in ["cartpole", "upkie"] {
        for method in METHODS {
            let model = model_of(system, method);
            let mut run =
                simulation(&spec(system, method, 2.0, 0.1), model.as_ref(), measured).unwrap();
            for step in 0..10 {
                let (point, _) = run.step().unwrap().unwrap();
                assert!((point.time - f64::from(step) * run.time_step()).abs() < 1e-9);
                assert!(point.error.is_finite(), "{system} {method}");
                assert_eq!(point.estimate.is_some(), point.standard_error.is_some());
            }
        }
    }
}

#[test]
fn a_learning_controller_without_a_trained_model_is_refused_and_never_becomes_the_textbook() {
    for system in ["cartpole", "upkie"] {
        for method in METHODS {
            let refused = simulation(&spec(system, method, 2.0, 0.1), None, measured).err();
            let said = refused.map(|error| error.to_string()).unwrap_or_default();
            let needed = format!("the controller '{method}' needs a trained model of");
            assert_eq!(said.starts_with(&needed), method != "analytic", "{said}");
        }
    }
}

#[test]
fn a_site_without_models_says_which_one_is_missing() {
    for method in METHODS.into_iter().filter(|method| *method != "analytic") {
        let host = Listener::default();
        pollster::block_on(run(&spec("upkie", method, 2.0, 0.1), &host));
        let file = format!("weights/upkie-{method}.safetensors is not here");
        let said = format!("the model could not be loaded: {file}");
        assert_eq!(*host.0.borrow(), [Event::Failed(said)]);
    }
}

/// The shipped model of a method; a formula has no file.
pub(super) fn model_of(system: &str, method: &str) -> Option<Arc<Model>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/public/weights");
    let file = format!("{folder}/{system}-{method}.safetensors");
    let bytes = std::fs::read(file).ok()?;
    weights::import(&bytes).ok().map(Arc::new)
}

#[test]
fn an_adaptation_may_take_a_tick_of_its_robot() {
    for name in ["cartpole", "upkie"] {
        let system = systems::by_name(name).unwrap();
        let tick = 1e3 * system.robot().unwrap().time_step();
        assert_eq!(tick_ms(name), Some(tick));
    }
    assert_eq!(tick_ms("charges-pair"), None);
}

#[test]
fn at_speed_1_as_many_ticks_are_made_as_the_clock_has_passed() {
    for (system, seconds) in [("cartpole", 0.013), ("upkie", 0.021)] {
        let plant = simulation(&spec(system, "analytic", 2.0, 4.0), None, measured).unwrap();
        let tick = plant.time_step();
        let (mut course, mut clock) = (Course::new(plant), Clock::default());
        let mut run = OnlineRun::default();
        for call in 1..=300_u32 {
            let (news, ..) = course.advance(&mut clock, seconds, Duration::MAX).unwrap();
            run.extend(news);
            let (made, passed) = (run.ticks as f64 * tick, f64::from(call) * seconds);
            assert!((passed - made).abs() < 1.01 * tick, "{made} of {passed} s");
        }
        let (last, end) = (run.points.last().unwrap().time, 300.0 * seconds);
        assert!((end - last).abs() < 0.1, "{last} s shown of {end} s");
    }
}

#[test]
fn a_formula_identifies_nothing() {
    for system in ["cartpole", "upkie"] {
        let (run, last) = heard(spec(system, "analytic", 2.0, 4.0));
        assert_eq!(last, Event::Done, "{system}");
        assert!(run.points.iter().all(|point| point.estimate.is_none()));
    }
}

#[test]
fn a_run_that_stands_makes_the_steps_it_is_asked_for_and_can_begin_anew() {
    let job = Job::start(Work::Online(spec("cartpole", "anil", 2.0, 4.0)));
    job.command(Command::Paused(true));
    job.command(Command::Step(7));
    let updates = || {
        job.events.iter().filter_map(|event| match event {
            Event::Online(news) => Some(news.open().unwrap()),
            _ => None,
        })
    };
    assert!(updates().any(|news| news.ticks >= 7));
    job.command(Command::Reset);
    job.command(Command::Step(1));
    let again = updates().find(|news| news.anew).unwrap();
    assert!(again.ticks <= 1, "{again:?}");
    job.cancel();
    assert_eq!(job.events.iter().last(), Some(Event::Cancelled));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_value() {
    let message = |spec: OnlineSpec| match heard(spec).1 {
        Event::Failed(message) => message,
        other => panic!("{other:?}"),
    };
    assert!(message(spec("cartpole", "camel", 0.0, 4.0)).contains("but is 0"));
    assert!(message(spec("upkie", "camel", -1.0, 4.0)).contains("but is -1"));
    assert!(message(spec("upkie", "camel", 4.0, 11.0)).contains("but is 11"));
    let at_the_end = message(spec("upkie", "camel", 4.0, 10.0));
    assert!(
        at_the_end.ends_with("below 10 s, but is 10"),
        "{at_the_end}"
    );
    assert!(message(spec("arm", "camel", 4.0, 1.0)).contains("'arm'"));
    assert!(message(spec("upkie", "cavia", 4.0, 1.0)).contains("'cavia'"));
}

#[test]
fn a_run_survives_the_link_and_a_damaged_link_gives_the_usual_one() {
    let chosen = spec("upkie", "anil", 2.5, 7.0);
    let view = chosen.in_view("compare_camel.anil");
    assert_eq!(view, "compare_camel.anil online_anil-2.5-7");
    assert_eq!(
        view::get(&view, "compare").as_deref(),
        Some("camel.anil"),
        "what else is chosen stays"
    );
    for link in [&view, "online=anil,2.5,7", "other=1;online=anil,2.5,7"] {
        let read = OnlineSpec::of_view("upkie", link);
        assert_eq!(read.as_ref(), Some(&chosen), "{link}");
    }
    assert_eq!(OnlineSpec::of_view("upkie", "other=1"), None);
    let usual = OnlineSpec::usual("upkie");
    assert_eq!(usual.in_view(&view), "compare_camel.anil online_camel-4-3");
    for broken in [
        "online_",
        "online_camel-4-10",
        "online_cat-x-1e9",
        "online=cat,x,1e9",
        "online=,,NaN",
    ] {
        let read = OnlineSpec::of_view("upkie", broken);
        assert_eq!(read.as_ref(), Some(&usual), "{broken}");
    }
}

/// Runs of a doubled cart.
#[derive(Debug, Default)]
struct Doubled {
    /// True errors of the cart's mass a second after the change, a share of it, and their bars.
    errors: Vec<f64>,
    bars: Vec<f64>,
    /// Steps without a change, or two seconds and more after it, and the alarms in them.
    quiet: usize,
    false_alarms: usize,
    /// Whether every run stayed within 10 % after its first second.
    good: bool,
}

impl Doubled {
    /// Over several times of the change.
    fn runs(exciting: bool) -> Option<Self> {
        let model = model_of("cartpole", "camel");
        let mut all = Self {
            good: true,
            ..Self::default()
        };
        for seed in 0..RUNS {
            let time = 4.0 + 0.5 * seed as f64;
            let spec = OnlineSpec {
                exciting,
                seed,
                ..spec("cartpole", "camel", 2.0, time)
            };
            let mut run = simulation(&spec, model.as_ref(), measured).ok()?;
            let mut last = None;
            while let Some((point, alarm)) = run.step().ok()? {
                let (mass, bar) = (point.estimate?, point.standard_error?);
                let off = (mass / point.truth - 1.0).abs();
                if point.time < time + 1.0 {
                    last = Some((off, bar / point.truth));
                } else {
                    all.good &= off < 0.1;
                }
                if point.time < time || point.time > time + 2.0 {
                    all.quiet += 1;
                    all.false_alarms += usize::from(alarm);
                }
            }
            let (off, bar) = last?;
            all.errors.push(off);
            all.bars.push(bar);
        }
        Some(all)
    }
}

/// Runs of each input.
const RUNS: u64 = 24;

#[test]
fn the_exciting_input_weighs_the_cart_better_than_the_sine_without_more_false_alarms() {
    let [sine, exciting] = [false, true].map(|exciting| Doubled::runs(exciting).unwrap());
    let medians = |values: fn(&Doubled) -> &[f64]| {
        [&sine, &exciting].map(|runs| Summary::of(values(runs)).median)
    };
    let (errors, bars) = (medians(|runs| &runs.errors), medians(|runs| &runs.bars));
    println!("a second after the change, under the sine and the exciting input:");
    println!("errors {errors:.5?}, bars {bars:.5?}");
    for runs in [&sine, &exciting] {
        println!("{} false alarms in {} steps", runs.false_alarms, runs.quiet);
        assert!(runs.good, "{runs:?}");
        assert!(runs.false_alarms * 10_000 <= runs.quiet, "{runs:?}");
    }
    for [sine, exciting] in [errors, bars] {
        assert!(exciting < 0.8 * sine, "{exciting}, sine {sine}");
    }
}

#[test]
fn the_exciting_input_is_in_the_link_of_the_cartpole_alone() {
    let chosen = OnlineSpec {
        exciting: true,
        ..spec("cartpole", "camel", 2.0, 8.0)
    };
    let view = chosen.in_view("");
    assert_eq!(view, "online_camel-2-8-exciting");
    assert_eq!(OnlineSpec::of_view("cartpole", &view), Some(chosen));
    let upkie = OnlineSpec::of_view("upkie", &view).unwrap();
    assert!(!upkie.exciting);
}

/// A run of the cartpole under CAMEL whose cart becomes lighter or heavier at so many seconds: its points,
/// and whether the controller can know the mass of that step, since it has noticed the change if there was one.
fn weighed(model: &Arc<Model>, factor: f64, time: f64, seed: u64) -> Vec<(OnlinePoint, bool)> {
    let spec = OnlineSpec {
        seed,
        ..spec("cartpole", "camel", factor, time)
    };
    let mut run = simulation(&spec, Some(model), measured).unwrap();
    let (mut truth, mut knows) = (START_MASSES[0], true);
    let mut points = Vec::new();
    while let Some((point, noticed)) = run.step().unwrap() {
        knows = noticed || (knows && point.truth == truth);
        truth = point.truth;
        points.push((point, knows));
    }
    points
}

/// Little moves the cart where the sine turns, and what is identified is hardly more than the prior. Carts were
/// once weighed at 58 and 131 kg there for single steps.
#[test]
fn what_is_shown_of_a_mass_is_never_far_beyond_its_error_bar_nor_the_bar_beyond_the_prior() {
    let model = model_of("cartpole", "camel").unwrap();
    let identifier = Identifier::of_model(&model, &Cartpole::default(), 0).unwrap();
    let spread = identifier.prior().spread[0];
    let mut untold = 0;
    for factor in [0.5, 0.7, 2.0, 4.0] {
        for seed in 0..36_u32 {
            let time = 4.0 + 0.5 * f64::from(seed);
            for (point, knows) in weighed(&model, factor, time, seed.into()) {
                let (mass, bar) = (point.estimate.unwrap(), point.standard_error.unwrap());
                assert!(bar <= spread, "{point:?}, seed {seed}");
                untold += usize::from(bar == spread);
                // Whoever has not noticed a change yet cannot know the mass.
                if knows {
                    let off = (mass - point.truth).abs();
                    assert!(off < 4.0 * bar, "{point:?}, seed {seed}");
                }
                // From 0.75 to 6 kg, and never further from what is possible than the prior reaches.
                assert!((-spread..6.0 + spread).contains(&mass), "{point:?}");
                if factor < 1.0 {
                    assert!(mass < 1.5 + 1.5 * spread, "{point:?}, seed {seed}");
                }
            }
        }
    }
    // Such steps occur.
    assert!(untold > 100, "{untold} steps");
}
