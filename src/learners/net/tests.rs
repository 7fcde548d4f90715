use burn::tensor::{DType, Device, Tensor};

use super::{
    test_cases::{Arguments, Case, cases, distance, host, large_cases},
    *,
};
use crate::random::generator;

/// One implementation of the network.
#[derive(Clone, Copy)]
struct Net {
    forward: fn(&Mlp, Tensor<2>, Tensor<3>) -> Tensor<3>,
    gradient: fn(&Mlp, Tensor<2>, Tensor<3>, Tensor<3>) -> Tensor<2>,
    input_gradient: fn(&Mlp, Tensor<2>, Tensor<3>, Tensor<3>) -> Tensor<3>,
}

const PLAIN: Net = Net {
    forward: plain::forward,
    gradient: plain::gradient,
    input_gradient: plain::input_gradient,
};

const FUSED: Net = Net {
    forward: fused::forward,
    gradient: fused::gradient,
    input_gradient: fused::input_gradient,
};

type Number = fn(Net, &Case, Arguments) -> Tensor<1>;

/// Numbers whose derivatives are the network's first and second derivatives.
const NUMBERS: [Number; 3] = [
    |net, case, a| ((net.forward)(&case.mlp, a.weights, a.x) * a.dy).sum(),
    |net, case, a| {
        let gradient = (net.gradient)(&case.mlp, a.weights, a.x, a.dy);
        (case.cotangent(&gradient) * gradient).sum()
    },
    |net, case, a| {
        let gradient = (net.input_gradient)(&case.mlp, a.weights, a.x, a.dy);
        (case.cotangent(&gradient) * gradient).sum()
    },
];

#[test]
fn layers_tile_the_weight_vector() {
    let mlp = Mlp::new([3, 5, 2]).unwrap();
    let layers: Vec<_> = mlp.layers().collect();
    assert_eq!(layers[0].matrix, 0..15);
    assert_eq!(layers[0].bias, 15..20);
    assert_eq!(layers[1].matrix, 20..30);
    assert_eq!(layers[1].bias, 30..32);
    assert_eq!(mlp.weight_count(), 32);
}

#[test]
fn sizes_that_are_no_network_are_named() {
    let error = Mlp::new([3]).unwrap_err().to_string();
    assert!(error.contains("[3]"), "{error}");
    let error = Mlp::new([3, 0, 1]).unwrap_err().to_string();
    assert!(error.contains("[3, 0, 1]"), "{error}");
}

#[test]
fn first_weights_follow_the_seed_and_the_bound() {
    let mlp = Mlp::new([2, 16, 3]).unwrap();
    let draw = |seed| mlp.initial_weights(&mut generator(seed, 0));
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let bound = (6.0f64 / 18.0).sqrt();
    let largest = draw(1)[..32].iter().fold(0.0f64, |m, w| m.max(w.abs()));
    assert!(largest <= bound && largest > 0.5 * bound);
}

#[test]
fn outputs_agree_with_the_definition() {
    for case in cases() {
        for net in [PLAIN, FUSED] {
            let a = case.arguments(&Device::flex(), DType::F64);
            let outputs = host((net.forward)(&case.mlp, a.weights, a.x));
            let error = distance(&outputs, &case.expected_outputs());
            assert!(error < 1e-14, "{}: {error}", case.name());
        }
    }
}

#[test]
fn gradients_of_each_task_agree_with_central_differences() {
    for case in cases() {
        let tasks = case.tasks();
        let output = NUMBERS[0];
        let differences = |task| case.task(task).differences(|a| output(FUSED, &case, a));
        let expected: Vec<_> = (0..tasks).map(differences).collect();
        let all = |argument: usize| -> Vec<f64> {
            expected.iter().flat_map(|e| e[argument].clone()).collect()
        };
        for net in [PLAIN, FUSED] {
            let a = case.arguments(&Device::flex(), DType::F64);
            let (w, x, dy) = (a.weights, a.x, a.dy);
            let by_weights = (net.gradient)(&case.mlp, w.clone(), x.clone(), dy.clone());
            let by_inputs = (net.input_gradient)(&case.mlp, w, x, dy);
            assert_eq!(by_weights.dims(), [tasks, case.mlp.weight_count()]);
            assert_eq!(by_inputs.dims()[0], tasks);
            for (got, expected) in [(host(by_weights), all(0)), (host(by_inputs), all(1))] {
                let error = distance(&got, &expected);
                assert!(error < 1e-8, "{}: {error}", case.name());
            }
        }
    }
}

#[test]
fn first_and_second_derivatives_agree_with_central_differences() {
    for case in cases() {
        for (kind, number) in NUMBERS.into_iter().enumerate() {
            let expected = case.differences(|a| number(FUSED, &case, a));
            for net in [PLAIN, FUSED] {
                let got = case.derivatives(DType::F64, |a| number(net, &case, a));
                for argument in 0..3 {
                    let error = distance(&got[argument], &expected[argument]);
                    assert!(error < 1e-8, "{} {kind} {argument}: {error}", case.name());
                }
            }
        }
    }
}

#[test]
fn the_kernel_agrees_with_plain_operations_to_rounding() {
    for case in cases().into_iter().chain(large_cases()) {
        for (dtype, allowed) in [(DType::F32, 1e-5), (DType::F64, 1e-10)] {
            let a = || case.arguments(&Device::flex(), dtype);
            let values = |net: Net| {
                let Arguments { weights, x, dy } = a();
                [
                    host((net.forward)(&case.mlp, weights.clone(), x.clone())),
                    host((net.gradient)(
                        &case.mlp,
                        weights.clone(),
                        x.clone(),
                        dy.clone(),
                    )),
                    host((net.input_gradient)(&case.mlp, weights, x, dy)),
                ]
            };
            let derivatives =
                |net: Net| NUMBERS.map(|number| case.derivatives(dtype, |a| number(net, &case, a)));
            let pairs = values(FUSED).into_iter().zip(values(PLAIN)).chain(
                derivatives(FUSED)
                    .into_iter()
                    .flatten()
                    .zip(derivatives(PLAIN).into_iter().flatten()),
            );
            for (index, (got, expected)) in pairs.enumerate() {
                let error = distance(&got, &expected);
                assert!(
                    error < allowed,
                    "{} {dtype:?} {index}: {error}",
                    case.name()
                );
            }
        }
    }
}

#[test]
fn only_what_requires_gradients_gets_them_and_views_of_tensors_are_understood() {
    let case = &large_cases()[0];
    let device = Device::flex().autodiff();
    let a = case.arguments(&device, DType::F32);
    let weights = a.weights.require_grad();
    let [tasks, rows, d] = a.x.dims();
    let half = |x: Tensor<3>| x.slice([0..tasks, 3..rows, 0..d]).swap_dims(1, 2);
    let copied = half(a.x.clone()).into_data();
    let view = half(a.x.clone()).swap_dims(1, 2);
    let copy = Tensor::<3>::from_data(copied, &device).swap_dims(1, 2);
    let grads = |x: Tensor<3>| {
        let y = case.mlp.forward(weights.clone(), x.clone());
        let grads = (y.clone() * y).sum().backward();
        assert!(x.grad(&grads).is_none());
        host(weights.grad(&grads).unwrap())
    };
    assert_eq!(grads(view), grads(copy));
}

#[test]
fn the_host_kernel_agrees_with_tensors() {
    for case in cases().into_iter().filter(|case| case.tasks() == 1) {
        let [weights, x, dy] = &case.values;
        let mut scratch = Scratch::new(case.mlp.sizes());
        let mut y = vec![0.0; dy.len()];
        case.mlp.evaluate(weights, x, &mut y, &mut scratch);
        assert!(distance(&y, &case.expected_outputs()) < 1e-14);

        let (mut dw, mut dx) = (vec![0.0; weights.len()], vec![0.0; x.len()]);
        let arguments = (&weights[..], &x[..], &dy[..]);
        case.mlp
            .backward(arguments, Some(&mut dw), Some(&mut dx), &mut scratch);
        let a = case.arguments(&Device::flex(), DType::F64);
        let by_weights = plain::gradient(&case.mlp, a.weights.clone(), a.x.clone(), a.dy.clone());
        let by_inputs = plain::input_gradient(&case.mlp, a.weights, a.x, a.dy);
        assert!(distance(&dw, &host(by_weights)) < 1e-12);
        assert!(distance(&dx, &host(by_inputs)) < 1e-12);
    }
}

/// Milliseconds of a forward and backward pass, the least of many.
fn milliseconds(mut pass: impl FnMut()) -> f64 {
    let time = |_| {
        let start = std::time::Instant::now();
        pass();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..100).map(time).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a benchmark: cargo test --release --lib net::tests::speed -- --ignored --nocapture"]
fn speed_of_forward_and_backward() {
    let batches: [(&[usize], usize); 3] = [
        (&[6, 16, 16, 16, 4], 800),
        (&[2, 16, 16, 3], 300),
        (&[8, 64, 64, 64, 4], 4500),
    ];
    for (sizes, rows) in batches {
        let case = Case::new(sizes, [1; 3], rows);
        let a = case.arguments(&Device::flex().autodiff(), DType::F32);
        let weights = a.weights.require_grad();
        let step = |net: Net| {
            let y = (net.forward)(&case.mlp, weights.clone(), a.x.clone());
            let grads = (y * a.dy.clone()).sum().backward();
            assert!(weights.grad(&grads).is_some());
        };
        let values = case
            .values
            .each_ref()
            .map(|values| -> Vec<f32> { values.iter().map(|value| *value as f32).collect() });
        let [w, x, dy] = values.each_ref().map(|values| &values[..]);
        let (mut dw, mut scratch) = (vec![0.0; w.len()], Scratch::new(sizes));
        let mut kernel = || {
            case.mlp
                .backward((w, x, dy), Some(&mut dw), None, &mut scratch)
        };
        println!(
            "{sizes:?} × {rows}: kernel {:.4} ms, fused {:.4} ms, plain {:.4} ms",
            milliseconds(&mut kernel),
            milliseconds(|| step(FUSED)),
            milliseconds(|| step(PLAIN)),
        );
        let arguments = || (weights.clone(), a.x.clone(), a.dy.clone());
        let second = |net: Net| {
            let (w, x, dy) = arguments();
            let gradient = (net.gradient)(&case.mlp, w, x, dy);
            (gradient.clone() * gradient).sum().backward();
        };
        println!(
            "    gradient and its derivative: fused {:.4} ms, plain {:.4} ms",
            milliseconds(|| second(FUSED)),
            milliseconds(|| second(PLAIN)),
        );
    }
}
