//! The control loop at 200 Hz: the time of a tick, and that of every method's adaptation within it,
//! beside the 5 ms that a tick has.

use std::sync::Arc;

use camel_lab::{
    control::{balance::UpkieLoop, trials::BUDGET, upkie_adaptive::AdaptiveUpkie},
    identification::{
        identifier::Identifier,
        online::{Estimate, OnlineModel},
        window::WindowAdaptation,
    },
    learners::{Model, weights},
    systems::upkie::Upkie,
};
use wasm_bindgen_test::{console_log, wasm_bindgen_test};

use crate::clock::Times;

/// Length of one measurement [s].
const SECONDS: f64 = 0.3;
/// Ticks that methods which adapt by descent look back on, as on the page.
const WINDOW: usize = 50;
/// Ticks that fill every window and are then measured over and over.
const TICKS: usize = 200;
/// The torso [kg].
const TORSO: f64 = 1.0;

macro_rules! shipped {
    ($method:literal) => {
        weights::import(include_bytes!(concat!(
            "../../public/weights/upkie-",
            $method,
            ".safetensors"
        )))
        .map(Arc::new)
        .unwrap()
    };
}

/// Predicts and learns nothing: what is left is the robot and its own controller.
#[derive(Clone)]
struct Nothing;

impl OnlineModel for Nothing {
    fn observe(&mut self, _: &[f64], _: f64) -> bool {
        false
    }

    fn predict(&mut self, _: &[f64]) -> f64 {
        0.0
    }

    fn identify(&self) -> Option<Estimate> {
        None
    }
}

fn robot<M: OnlineModel>(model: M) -> AdaptiveUpkie<M> {
    let plant = UpkieLoop::new(Upkie::default(), TORSO, 0.0).unwrap();
    AdaptiveUpkie::new(plant, model)
}

fn camel(model: &Arc<Model>) -> impl OnlineModel + Clone + use<> {
    let identifier = Identifier::of_model(model, &Upkie::default(), 0).unwrap();
    identifier.online(0.0).unwrap()
}

#[wasm_bindgen_test]
fn time_of_a_tick_of_the_adaptive_loop() {
    let model = camel(&shipped!("camel"));
    let [whole, robot] = [whole_tick(model), whole_tick(Nothing)];
    say("a tick of CAMEL with the simulated robot", whole);
    say("a tick of the simulated robot alone", robot);
}

/// Milliseconds of a tick with everything, begun anew before the robot has rolled far.
fn whole_tick<M: OnlineModel + Clone>(model: M) -> f64 {
    let fresh = robot(model);
    let (mut run, mut left) = (fresh.clone(), TICKS);
    let times = Times::of(SECONDS, || {
        if left == 0 {
            (run, left) = (fresh.clone(), TICKS);
        }
        run.step().unwrap();
        left -= 1;
    });
    times.least()
}

#[wasm_bindgen_test]
fn time_of_every_adaptation_within_a_tick() {
    let mut plant = robot(Nothing);
    let seen: Vec<(Vec<f64>, f64)> = (0..TICKS)
        .map(|_| plant.step().map(|tick| (tick.features, tick.torque)))
        .collect::<Result<_, _>>()
        .unwrap();
    let model = shipped!("camel");
    say("the adaptation of CAMEL", adaptation(camel(&model), &seen));
    for (name, model) in [
        ("R2-D2", shipped!("r2d2")),
        ("ANIL", shipped!("anil")),
        ("CoDA", shipped!("coda")),
        ("CAVIA", shipped!("cavia")),
        ("MAML", shipped!("maml")),
    ] {
        let windowed = WindowAdaptation::new(model, WINDOW, 1).unwrap();
        let time = adaptation(windowed, &seen);
        say(&format!("the adaptation of {name} to {WINDOW} ticks"), time);
    }
}

/// Milliseconds in which a model predicts, learns and identifies.
fn adaptation(mut model: impl OnlineModel, seen: &[(Vec<f64>, f64)]) -> f64 {
    let mut ticks = seen.iter().cycle();
    for (features, torque) in ticks.by_ref().take(WINDOW - 1) {
        model.remember(features, *torque);
    }
    let times = Times::of(SECONDS, || {
        let Some((features, torque)) = ticks.next() else {
            return;
        };
        model.predict(features);
        model.observe(features, *torque);
        model.identify();
    });
    times.least()
}

fn say(what: &str, time: f64) {
    let budget = 1e3 * BUDGET.as_secs_f64();
    let verdict = if time > budget {
        "misses it"
    } else {
        "keeps it"
    };
    let share = 100.0 * time / budget;
    console_log!("200 Hz, {what}: {time:.4} ms, {share:.1} % of {budget} ms: {verdict}");
}
