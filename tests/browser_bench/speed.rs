//! Steps, adaptations and simulations a second, of everything.

use camel_lab::{
    engine::protocol::Event,
    experiments::{
        bench::{self, Measured, Plan},
        bench_accuracy::{Accuracy, PATIENCE},
    },
    systems,
};
use wasm_bindgen_test::{console_log, wasm_bindgen_test};
use web_time::Instant;

use crate::support::Recorder;

/// Shortest measurement [s].
const SECONDS: f64 = 0.5;
/// The same on WebGPU: a software adapter takes about a second for every step.
#[cfg(feature = "gpu")]
const WEBGPU_SECONDS: f64 = 0.25;

#[wasm_bindgen_test]
async fn the_suite_of_the_bench_page() {
    measure("cpu", SECONDS).await;
}

#[cfg(feature = "gpu")]
#[wasm_bindgen_test]
async fn the_suite_on_webgpu() {
    match camel_lab::engine::device::gpu::device().await {
        Ok((_, adapter)) => {
            console_log!("WebGPU on {adapter}");
            measure("webgpu", WEBGPU_SECONDS).await;
        }
        Err(why) => console_log!("WebGPU is left out: {why}"),
    }
}

/// Says what is measured at once: of a suite that breaks off, the beginning is known.
fn tell(device: &str, event: &Event) {
    match event {
        Event::Started { device: used } => assert_eq!(used.name, device, "{}", used.reason),
        Event::Measured(measured) => say(device, &measured.clone().open().unwrap()),
        Event::Failed(message) => panic!("{message}"),
        _ => {}
    }
}

async fn measure(device: &str, seconds: f64) {
    console_log!(
        "{device}: {seconds} s a measurement, {} s at most to an accuracy",
        PATIENCE * seconds
    );
    let plan = Plan {
        device: device.to_owned(),
        seconds,
        brief: false,
    };
    let begun = Instant::now();
    let name = device.to_owned();
    let recorder = Recorder {
        tell: Some(Box::new(move |event| tell(&name, event))),
        ..Recorder::default()
    };
    bench::run(&plan, &recorder).await;
    let minutes = begun.elapsed().as_secs_f64() / 60.0;
    console_log!("{device}: the suite took {minutes:.1} minutes");
}

#[wasm_bindgen_test]
fn speed_of_every_system() {
    for name in systems::NAMES {
        let system = systems::by_name(name).unwrap();
        let parameters = system.description().parameters.iter();
        let mut phi: Vec<f64> = parameters.map(|parameter| parameter.typical).collect();
        let (begun, mut times) = (Instant::now(), 0_u32);
        let mut state = system
            .robot()
            .map(|robot| vec![0.0; robot.state().len()])
            .unwrap_or_default();
        while begun.elapsed().as_secs_f64() < SECONDS {
            match (system.robot(), system.field()) {
                (Some(robot), _) => state = robot.step(&phi, &state, 0.01),
                (_, Some(field)) => {
                    // A field keeps its last solution.
                    phi[0] += 1e-6;
                    drop(field.solve(&phi).unwrap());
                }
                _ => {}
            }
            times += 1;
        }
        let rate = f64::from(times) / begun.elapsed().as_secs_f64();
        let what = if state.is_empty() {
            "solutions"
        } else {
            "steps"
        };
        console_log!("{name}: {rate:.0} {what} a second");
    }
}

fn say(device: &str, measured: &Measured) {
    match measured {
        Measured::Speed(speed) => console_log!(
            "{device}, {} {}: {:.2} steps a second, {:.3} ms an adaptation, {:.1} MB of memory",
            speed.system,
            speed.method,
            speed.steps_per_second,
            1e3 * speed.adaptation_seconds,
            1e-6 * speed.memory as f64
        ),
        Measured::Growth(growth) => {
            let last = growth.points.last().map_or(f64::NAN, |point| point.1);
            console_log!(
                "{device}, {} grows with {}: slope {:.2}, {:.3} ms a step at the most",
                growth.method,
                growth.of,
                growth.slope(),
                1e3 * last
            );
        }
        Measured::Accuracy(found) => say_accuracy(device, found),
    }
}

fn say_accuracy(device: &str, found: &Accuracy) {
    let reached = match found.seconds {
        Some(_) => "reached",
        None => "not reached",
    };
    console_log!(
        "{device}, {} {}: error {:.1e} ({}) {reached} after {:.2} s, {} steps: {:.1e}",
        found.system,
        found.method,
        found.goal,
        found.whose,
        found.spent,
        found.steps,
        found.error
    );
}
