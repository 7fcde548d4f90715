//! The training steps of `tests/peers`: the same shapes, and TensorFlow.js in the same worker.
//!
//! One line of JSON a measurement, as `tests/peers/steps.py` prints them; `tests/peers/compare.py`
//! puts both side by side.

use std::sync::Arc;

use burn::tensor::Device;
use camel_lab::{
    learners::{
        Optimiser, Rows, Settings, Shape, Trainer, learner,
        net::{Mlp, Scalar, Scratch},
    },
    random::generator,
    systems::{Samples, Task},
};
use rand_distr::{Distribution as _, StandardNormal};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{console_log, wasm_bindgen_test};

use crate::clock::Times;

/// Where `./lab bench --peers` serves TensorFlow.js.
const PEER: &str = "http://127.0.0.1:8377/step.js";
/// Length of one measurement [s].
const SECONDS: f64 = 1.0;

/// The shape of a problem.
#[derive(Clone, Copy)]
pub struct Problem {
    pub name: &'static str,
    pub tasks: usize,
    pub rows: usize,
    pub batch: usize,
    pub inputs: usize,
    pub hidden: &'static [usize],
    pub rank: usize,
    pub shared: bool,
}

pub const PROBLEMS: [Problem; 2] = [
    Problem {
        name: "cartpole",
        tasks: 4,
        rows: 1600,
        batch: 200,
        inputs: 6,
        hidden: &[16, 16, 16],
        rank: 4,
        shared: false,
    },
    Problem {
        name: "charges-pair",
        tasks: 25,
        rows: 400,
        batch: 300,
        inputs: 2,
        hidden: &[16, 16],
        rank: 3,
        shared: true,
    },
];

impl Problem {
    /// `y = Σ_k sin((1 + t/10) x_k)` on normal inputs.
    pub fn data(&self) -> Vec<Task> {
        let mut rng = generator(0, 0);
        let mut draw = || {
            let values = StandardNormal.sample_iter(&mut rng);
            Arc::new(Samples {
                dim: self.inputs,
                values: values.take(self.rows * self.inputs).collect(),
            })
        };
        let common = draw();
        (0..self.tasks)
            .map(|t| {
                let factor = 1.0 + 0.1 * t as f64;
                let inputs = if self.shared { common.clone() } else { draw() };
                let target = |row: &[f64]| row.iter().map(|x| (factor * x).sin()).sum();
                Task {
                    parameters: vec![factor],
                    targets: inputs.rows().map(target).collect(),
                    inputs,
                }
            })
            .collect()
    }

    /// One inner step and no bias net, as in the peers.
    pub fn settings(&self, method: &str) -> Settings {
        Settings {
            hidden: self.hidden.to_vec(),
            bias: Vec::new(),
            rank: self.rank,
            batch: self.batch,
            learning_rate: 5e-3,
            weight_decay: 0.0,
            clip: 0.0,
            steps: 1_000_000,
            inner_rate: 0.1,
            inner_steps: 1,
            first_order: false,
            optimiser: Optimiser::Adam,
            ..Settings::new("cartpole", method).unwrap()
        }
    }

    /// Milliseconds of a training step.
    pub fn step(&self, method: &str) -> Times {
        let settings = self.settings(method);
        let mut trainer = Trainer::new(&settings, &self.data(), 0, &Device::flex()).unwrap();
        Times::of(SECONDS, || pollster::block_on(trainer.step()).unwrap())
    }

    /// What a training step of a method with a single way forward and back consists of.
    fn step_and_products(&self, method: &str) -> Parts {
        let settings = self.settings(method);
        let mut trainer = Trainer::new(&settings, &self.data(), 0, &Device::flex()).unwrap();
        let products = match method {
            // Every task has its own net, and no head.
            "coda" => [Some(self.net_pass::<f32>(self.tasks, self.batch, 1)), None],
            _ => self.products::<f32>(self.batch),
        };
        Parts::of(|| pollster::block_on(trainer.step()).unwrap(), products)
    }

    /// What an evaluation of CAMEL's loss for L-BFGS consists of: on all rows, in double precision, with
    /// the contexts solved for.
    fn evaluation_and_products(&self) -> Parts {
        let (inputs, tasks) = (self.inputs, self.tasks);
        let learner = learner(&self.settings("camel"), Shape { inputs, tasks }).unwrap();
        let loss = learner.projected().unwrap();
        let parameters = learner.initial_parameters(&mut generator(0, 2));
        let mut gradient = vec![0.0; parameters.len()];
        let (data, groups) = (self.data(), self.groups());
        let x: Vec<f64> = data[..groups]
            .iter()
            .flat_map(|task| task.inputs.values.iter().copied())
            .collect();
        let y: Vec<f64> = data.into_iter().flat_map(|task| task.targets).collect();
        let evaluate = || {
            let at = Rows {
                parameters: &parameters,
                x: &x,
                y: &y,
                groups,
                tasks,
                rows: self.rows,
            };
            loss.double(at, &mut gradient);
        };
        Parts::of(evaluate, self.products::<f64>(self.rows))
    }

    /// Blocks of inputs.
    fn groups(&self) -> usize {
        if self.shared { 1 } else { self.tasks }
    }

    /// The way of so many rows of each block through the net, and through a linear layer in place of the
    /// products of features and heads.
    fn products<T: Scalar>(&self, rows: usize) -> [Option<Work>; 2] {
        let (groups, heads) = (self.groups(), self.tasks / self.groups());
        let net = self.net_pass::<T>(groups, rows, self.rank);
        let heads = pass::<T>(vec![self.rank, heads], rows * groups, true);
        [Some(net), Some(heads)]
    }

    fn net_pass<T: Scalar>(&self, groups: usize, rows: usize, outputs: usize) -> Work {
        let sizes = [&[self.inputs], self.hidden, &[outputs]].concat();
        pass::<T>(sizes, rows * groups, false)
    }

    /// What JavaScript is told.
    fn describe(&self) -> String {
        let Self {
            tasks,
            rows,
            batch,
            inputs,
            hidden,
            rank,
            shared,
            ..
        } = self;
        format!(
            r#"{{"tasks":{tasks},"rows":{rows},"batch":{batch},"inputs":{inputs},"hidden":{hidden:?},"rank":{rank},"shared":{shared}}}"#
        )
    }
}

/// Something to measure.
type Work = Box<dyn FnMut()>;

/// Milliseconds of something, and of the products and tanh in it: those of the net, and those of features
/// and heads.
struct Parts {
    whole: f64,
    net: f64,
    heads: f64,
}

impl Parts {
    /// In turns, so that all see the same machine.
    fn of(mut whole: impl FnMut(), mut products: [Option<Work>; 2]) -> Self {
        let least = |to: &mut f64, work: &mut dyn FnMut()| {
            *to = to.min(Times::of(SECONDS / 10.0, work).least());
        };
        let mut found = [f64::INFINITY; 3];
        for _ in 0..10 {
            least(&mut found[0], &mut whole);
            for (found, work) in found[1..].iter_mut().zip(&mut products) {
                match work {
                    Some(work) => least(found, work),
                    None => *found = 0.0,
                }
            }
        }
        let [whole, net, heads] = found;
        Self { whole, net, heads }
    }

    fn tell(&self, system: &str, what: &str) {
        let [net, heads] = [self.net, self.heads].map(|part| 100.0 * part / self.whole);
        console_log!(
            "{system}: {what} takes {:.4} ms, {net:.0} % in the net's products and tanh, {heads:.0} % in those of \
             features and heads (as long as a linear layer of their size takes), {:.0} % in neither (aim: below 25 %)",
            self.whole,
            100.0 - net - heads
        );
    }
}

/// A net's way forward and back, to its inputs as well if `through`.
fn pass<T: Scalar>(sizes: Vec<usize>, rows: usize, through: bool) -> Work {
    let mlp = Mlp::new(sizes.clone()).unwrap();
    let mut rng = generator(0, 1);
    let mut draw = |count: usize| -> Vec<T> {
        let draws = StandardNormal.sample_iter(&mut rng).take(count);
        draws.map(T::from_f64).collect()
    };
    let (w, x) = (draw(mlp.weight_count()), draw(rows * mlp.input_size()));
    let (dy, mut dw) = (draw(rows * mlp.output_size()), vec![T::ZERO; w.len()]);
    let mut dx = through.then(|| vec![T::ZERO; x.len()]);
    let mut scratch = Scratch::new(&sizes);
    Box::new(move || {
        let dx = dx.as_deref_mut();
        mlp.backward((&w, &x, &dy), Some(&mut dw), dx, &mut scratch);
    })
}

fn report(peer: &str, system: &str, times: &Times) {
    console_log!(
        r#"{{"peer":"{peer}","system":"{system}","p10_ms":{:.4},"median_ms":{:.4}}}"#,
        times.least(),
        times.median()
    );
}

/// Tells how long TensorFlow.js takes, if it is served.
async fn tensorflow(backend: &str, problem: &Problem) -> Result<Times, JsValue> {
    let call = js_sys::Function::new_with_args(
        "url, backend, shape, seconds",
        "return import(url).then(peer => peer.measure(backend, JSON.parse(shape), seconds))",
    );
    let arguments = js_sys::Array::of4(
        &PEER.into(),
        &backend.into(),
        &problem.describe().into(),
        &(2.0 * SECONDS).into(),
    );
    let promise = call.apply(&JsValue::NULL, &arguments)?;
    let times = JsFuture::from(promise.unchecked_into::<js_sys::Promise>()).await?;
    let times: js_sys::Float64Array = times.unchecked_into();
    Ok(Times::from(times.to_vec()))
}

#[wasm_bindgen_test]
async fn steps_beside_the_peers() {
    for problem in PROBLEMS {
        for method in ["camel", "anil", "maml", "coda", "r2d2", "cavia"] {
            report(
                &format!("{method} ours"),
                problem.name,
                &problem.step(method),
            );
        }
        // MAML and CAVIA go through their nets several times, in ways that no single pass stands for.
        for method in ["camel", "anil", "r2d2", "coda"] {
            let parts = problem.step_and_products(method);
            parts.tell(problem.name, &format!("a step of {method}"));
        }
        let parts = problem.evaluation_and_products();
        parts.tell(problem.name, "an evaluation of camel for L-BFGS");
        for backend in ["wasm", "cpu", "webgpu"] {
            match tensorflow(backend, &problem).await {
                Ok(times) => report(&format!("camel tfjs-{backend}"), problem.name, &times),
                Err(error) => console_log!("TensorFlow.js on {backend} is left out: {error:?}"),
            }
            // Ours once more, next to the peer in time.
            report("camel ours", problem.name, &problem.step("camel"));
        }
    }
}
