//! Every learner's meta-gradient against central differences, and its adaptation on the host against
//! the one inside its loss on the device.

use std::sync::Arc;

use burn::tensor::{DType, Device, Tensor, TensorData};
use rand::RngExt as _;

use super::*;
use crate::random::generator;

const TASKS: usize = 5;
const ROWS: usize = 8;
const INPUTS: usize = 2;

/// The names of the methods of which something holds.
fn methods(holds: impl Fn(&Method) -> bool) -> Vec<&'static str> {
    let trained = METHODS.iter().filter(|method| !method.zero_shot);
    let names: Vec<_> = trained.filter(|m| holds(m)).map(|m| m.name).collect();
    assert!(!names.is_empty());
    names
}

/// Whether a method's meta-parameters hold the contexts of its training tasks.
fn keeps_contexts(method: &Method) -> bool {
    let learner = build(&settings(method.name));
    let parameters = parameters(&*learner);
    learner.trained_context(&parameters, 0).is_some()
}

fn settings(method: &str) -> Settings {
    let mut settings = Settings::new("cartpole", method).unwrap().with_adam();
    settings.rank = 2;
    settings.hidden = vec![5, 4];
    settings.inner_steps = 3;
    settings.adaptation_steps = 3;
    settings.inner_rate = 0.3;
    settings.ridge = 1e-2;
    if method == "coda" {
        settings.context_penalty = 0.02;
        settings.network_penalty = 0.01;
        settings.adaptation_steps = 500;
    }
    settings
}

fn build(settings: &Settings) -> Arc<dyn Learner> {
    let shape = Shape {
        inputs: INPUTS,
        tasks: TASKS,
    };
    learner(settings, shape).unwrap()
}

/// Parameters away from kinks and from special starts.
fn parameters(learner: &dyn Learner) -> Vec<f64> {
    seeded_parameters(learner, 3)
}

fn seeded_parameters(learner: &dyn Learner, seed: u64) -> Vec<f64> {
    let mut rng = generator(seed, 0);
    let mut parameters = learner.initial_parameters(&mut rng);
    for value in &mut parameters {
        *value += rng.random_range(-0.3..0.3);
    }
    parameters
}

fn tensor(values: &[f64]) -> Tensor<1> {
    let data = TensorData::new(values.to_vec(), [values.len()]);
    Tensor::from_data(data, (&Device::flex(), DType::F64))
}

/// Random rows; X = 1 or T blocks of inputs.
fn data(blocks: usize) -> (Vec<f64>, Vec<f64>) {
    seeded_data(blocks, 5)
}

fn seeded_data(blocks: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = generator(seed, 0);
    let mut draw = |count| {
        (0..count)
            .map(|_| rng.random_range(-1.5..1.5))
            .collect::<Vec<f64>>()
    };
    (draw(blocks * ROWS * INPUTS), draw(TASKS * ROWS))
}

fn batch(blocks: usize) -> Batch {
    batch_of(blocks, data(blocks))
}

fn batch_of(blocks: usize, (x, y): (Vec<f64>, Vec<f64>)) -> Batch {
    Batch {
        x: tensor(&x).reshape([blocks, ROWS, INPUTS]),
        y: tensor(&y).reshape([TASKS, ROWS]),
    }
}

fn objective(learner: &dyn Learner, parameters: &[f64], batch: &Batch) -> f64 {
    let loss = learner.loss(tensor(parameters), batch).objective;
    loss.into_scalar()
}

fn gradient(learner: &dyn Learner, parameters: &[f64], batch: &Batch) -> Vec<f64> {
    let leaf = tensor(parameters).autodiff().require_grad();
    let batch = Batch {
        x: batch.x.clone().autodiff(),
        y: batch.y.clone().autodiff(),
    };
    let loss = learner.loss(leaf.clone(), &batch).objective;
    let gradient = leaf.grad(&loss.backward()).unwrap();
    gradient.try_into_vec_as().unwrap()
}

/// Central differences of fourth order: a solution by few rows can change steeply.
fn central_differences(learner: &dyn Learner, parameters: &[f64], batch: &Batch) -> Vec<f64> {
    let h = 1e-4;
    let at = |j: usize, change: f64| {
        let mut moved = parameters.to_vec();
        moved[j] += change;
        objective(learner, &moved, batch)
    };
    let across = |j: usize, h: f64| at(j, h) - at(j, -h);
    (0..parameters.len())
        .map(|j| (8.0 * across(j, h) - across(j, 2.0 * h)) / (12.0 * h))
        .collect()
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum::<f64>().sqrt()
}

fn relative_difference(a: &[f64], b: &[f64]) -> f64 {
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&difference) / norm(b)
}

#[test]
fn every_meta_gradient_agrees_with_central_differences() {
    for method in methods(|_| true) {
        for blocks in [1, TASKS] {
            for bias in [vec![], vec![3]] {
                for inner_steps in [1, 3] {
                    let settings = Settings {
                        bias: bias.clone(),
                        inner_steps,
                        ..settings(method)
                    };
                    for seed in 3..6 {
                        let error = gradient_error(&*build(&settings), blocks, seed);
                        assert!(
                            error < 1e-6,
                            "{method}, {blocks} blocks of inputs, {inner_steps} inner steps, seed {seed}: {error:e}"
                        );
                    }
                }
            }
        }
    }
}

/// How far a meta-gradient is from central differences on a random problem, relative to their size.
fn gradient_error(learner: &dyn Learner, blocks: usize, seed: u64) -> f64 {
    let parameters = seeded_parameters(learner, seed);
    let batch = batch_of(blocks, seeded_data(blocks, seed + 2));
    let exact = gradient(learner, &parameters, &batch);
    let differences = central_differences(learner, &parameters, &batch);
    relative_difference(&exact, &differences)
}

#[test]
fn losses_without_tensors_have_the_same_value_and_gradient() {
    for method in methods(|method| build(&settings(method.name)).direct().is_some()) {
        let mut variants = vec![(1, false), (TASKS, false)];
        if super::method(method).unwrap().first_order {
            variants.push((TASKS, true));
        }
        for (blocks, first_order) in variants {
            for (bias, rank) in [(vec![], 2), (vec![3], 3), (vec![3], 5)] {
                let learner = build(&Settings {
                    bias,
                    rank,
                    first_order,
                    ..settings(method)
                });
                let (parameters, batch) = (parameters(&*learner), batch(blocks));
                let direct = learner.direct().unwrap();
                let (direct, error) =
                    host_ops::direct_gradient(&direct, tensor(&parameters), &batch);
                let expected = learner.loss(tensor(&parameters), &batch).error;
                let (expected, error): (f64, f64) = (expected.into_scalar(), error.into_scalar());
                assert!((error - expected).abs() < 1e-12 * expected, "{method}");
                let exact = gradient(&*learner, &parameters, &batch);
                let direct: Vec<f64> = direct.try_into_vec_as().unwrap();
                let difference = relative_difference(&direct, &exact);
                assert!(
                    difference < 1e-11,
                    "{method}, {blocks} blocks of inputs: {difference:e}"
                );
            }
        }
    }
}

#[test]
fn the_projected_loss_has_the_gradient_of_its_differences_and_is_the_least() {
    for blocks in [1, TASKS] {
        for bias in [vec![], vec![3]] {
            let learner = build(&Settings {
                bias,
                ..settings("camel")
            });
            let (projected, (x, y)) = (learner.projected().unwrap(), data(blocks));
            let loss = |parameters: &[f64], gradient: &mut [f64]| {
                let at = Rows {
                    parameters,
                    x: &x,
                    y: &y,
                    groups: blocks,
                    tasks: TASKS,
                    rows: ROWS,
                };
                projected.double(at, gradient)
            };
            let mut parameters = parameters(&*learner);
            let mut gradient = vec![0.0; parameters.len()];
            let least = loss(&parameters, &mut gradient);
            let mut ignored = vec![0.0; parameters.len()];
            let h = 1e-5;
            let mut differences = Vec::new();
            for j in 0..parameters.len() {
                let before = parameters[j];
                parameters[j] = before + h;
                let above = loss(&parameters, &mut ignored);
                parameters[j] = before - h;
                differences.push((above - loss(&parameters, &mut ignored)) / (2.0 * h));
                parameters[j] = before;
            }
            let error = relative_difference(&gradient, &differences);
            assert!(error < 1e-6, "{blocks} blocks of inputs: {error:e}");

            assert!(objective(&*learner, &parameters, &batch(blocks)) > least);
            for t in 0..TASKS {
                let block = if blocks == 1 { 0 } else { t };
                let rows = Shots {
                    inputs: &x[block * ROWS * INPUTS..(block + 1) * ROWS * INPUTS],
                    targets: &y[t * ROWS..(t + 1) * ROWS],
                };
                learner.project(&mut parameters, t, rows).unwrap();
            }
            let found = objective(&*learner, &parameters, &batch(blocks));
            assert!((found - least).abs() < 1e-6 * least, "{found} {least}");
        }
    }
}

#[test]
fn first_order_variants_have_another_gradient() {
    for method in methods(|method| method.first_order) {
        let exact = build(&settings(method));
        let first_order = build(&Settings {
            first_order: true,
            ..settings(method)
        });
        let (parameters, batch) = (parameters(&*exact), batch(TASKS));
        let difference = relative_difference(
            &gradient(&*first_order, &parameters, &batch),
            &gradient(&*exact, &parameters, &batch),
        );
        assert!(difference > 1e-2, "{method}: {difference:e}");
    }
}

#[test]
fn maml_differs_from_its_first_order_version_by_the_hessian_term() {
    let rate = 0.3;
    let with = |inner_rate, first_order| {
        build(&Settings {
            inner_steps: 1,
            inner_rate,
            first_order,
            ..settings("maml")
        })
    };
    let one_task = |batch: Batch| Batch {
        x: batch.x.narrow(0, 0, 1),
        y: batch.y.narrow(0, 0, 1),
    };
    let batch = one_task(batch(TASKS));
    let (support, _) = batch.halves();
    let twice_support = Batch {
        x: Tensor::cat(vec![support.x.clone(); 2], 1),
        y: Tensor::cat(vec![support.y.clone(); 2], 1),
    };
    let exact = with(rate, false);
    let parameters = parameters(&*exact);
    let first = gradient(&*with(rate, true), &parameters, &batch);
    // ∇ℓ on the support rows, ℓ = ½ mean (F − y)², is half the meta-gradient without inner step.
    let plain = with(0.0, false);
    let h = 1e-6;
    let support_gradient = |sign: f64| {
        let moved = parameters.iter().zip(&first);
        let moved: Vec<f64> = moved.map(|(p, g)| p + sign * h * g).collect();
        gradient(&*plain, &moved, &twice_support)
    };
    let (above, below) = (support_gradient(1.0), support_gradient(-1.0));
    let expected: Vec<f64> = (0..first.len())
        .map(|j| first[j] - rate * 0.5 * (above[j] - below[j]) / (2.0 * h))
        .collect();
    let error = relative_difference(&gradient(&*exact, &parameters, &batch), &expected);
    assert!(error < 1e-6, "{error:e}");
}

/// Host-side error of a task: adapted to its first half, judged on its second.
fn host_error(learner: &dyn Learner, parameters: &[f64], blocks: usize) -> f64 {
    let (x, y) = data(blocks);
    let half = ROWS / 2;
    let (mut sum, mut workspace) = (0.0, Workspace::default());
    for t in 0..TASKS {
        let block = if blocks == 1 { 0 } else { t };
        let x = &x[block * ROWS * INPUTS..(block + 1) * ROWS * INPUTS];
        let y = &y[t * ROWS..(t + 1) * ROWS];
        let shots = Shots {
            inputs: &x[..half * INPUTS],
            targets: &y[..half],
        };
        let adapted = learner.adapt(parameters, shots).unwrap();
        let mut outputs = vec![0.0; ROWS - half];
        let rest = &x[half * INPUTS..];
        learner.predict(parameters, &adapted, rest, &mut outputs, &mut workspace);
        let errors = outputs.iter().zip(&y[half..]).map(|(a, b)| (a - b).powi(2));
        sum += errors.sum::<f64>() / (ROWS - half) as f64;
    }
    sum / TASKS as f64
}

#[test]
fn adaptation_on_the_host_is_the_inner_loop_on_the_device() {
    for method in methods(|method| !keeps_contexts(method)) {
        for blocks in [1, TASKS] {
            let learner = build(&settings(method));
            let parameters = parameters(&*learner);
            let loss = learner.loss(tensor(&parameters), &batch(blocks));
            let device: f64 = loss.error.into_scalar();
            let host = host_error(&*learner, &parameters, blocks);
            let error = (device - host).abs() / device;
            assert!(error < 1e-10, "{method}, {blocks}: {device} {host}");
        }
    }
}

#[test]
fn the_loss_of_coda_is_the_mean_error_with_squared_contexts_and_row_norms() {
    let settings = settings("coda");
    let learner = build(&settings);
    let parameters = parameters(&*learner);
    let loss = learner.loss(tensor(&parameters), &batch(1));
    let [found, error] = [loss.objective, loss.error].map(Tensor::into_scalar::<f64>);
    let (network, contexts) = parameters.split_at(parameters.len() - TASKS * settings.rank);
    let weights = network.len() / (1 + settings.rank);
    let columns: Vec<&[f64]> = network[weights..].chunks_exact(weights).collect();
    let row = |j: usize| columns.iter().map(|column| column[j].powi(2)).sum::<f64>();
    let rows: f64 = (0..weights).map(|j| row(j).sqrt()).sum();
    let expected =
        error + settings.context_penalty * norm(contexts).powi(2) + settings.network_penalty * rows;
    assert!(
        (found - expected).abs() < 1e-9 * expected,
        "{found} {expected}"
    );
}

#[test]
fn adapted_contexts_on_the_host_leave_no_gradient_on_the_device() {
    for method in methods(keeps_contexts) {
        let settings = Settings {
            ridge: 0.0,
            ..settings(method)
        };
        let learner = build(&settings);
        let mut parameters = parameters(&*learner);
        let (x, y) = data(1);
        let start = parameters.len() - TASKS * learner.context_size();
        for t in 0..TASKS {
            let shots = Shots {
                inputs: &x,
                targets: &y[t * ROWS..(t + 1) * ROWS],
            };
            let adapted = learner.adapt(&parameters, shots).unwrap();
            let at = start + t * learner.context_size();
            parameters[at..at + learner.context_size()].copy_from_slice(adapted.context());
        }
        let gradient = gradient(&*learner, &parameters, &batch(1));
        let left = norm(&gradient[start..]) / norm(&gradient);
        assert!(left < 1e-6, "{method}: {left:e}");
    }
}
