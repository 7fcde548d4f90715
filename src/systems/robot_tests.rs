//! What every robot must do.

use std::f64::consts::PI;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::{
    Robot, Split, System as _, SystemError,
    arm::Arm,
    cartpole::Cartpole,
    pendulum::Pendulum,
    simulate::{Integrator, simulate},
    upkie::Upkie,
};
use crate::random;

/// Robots whose features tell the input exactly.
fn exact_robots() -> Vec<Box<dyn Robot>> {
    vec![
        Box::new(Pendulum::default()),
        Box::new(Cartpole::default()),
        Box::new(Arm::default()),
    ]
}

fn robots() -> Vec<Box<dyn Robot>> {
    let mut robots = exact_robots();
    robots.push(Box::new(Upkie::default()));
    robots
}

/// Robots with this friction and a small time step, for energy.
fn fine_robots(friction: f64) -> Vec<Box<dyn Robot>> {
    let time_step = 1e-3;
    vec![
        Box::new(Pendulum {
            friction,
            time_step,
            ..Pendulum::default()
        }),
        Box::new(Cartpole {
            friction,
            time_step,
            ..Cartpole::default()
        }),
        Box::new(Arm {
            friction,
            time_step,
            ..Arm::default()
        }),
        // Upkie's joints are free, but for the damping of the servos.
        Box::new(Upkie {
            stiffness: 0.0,
            damping: friction / 30.0,
            physics_step: time_step / 4.0,
            substeps: 1,
            ..Upkie::default()
        }),
    ]
}

/// The state in which a robot hangs at rest.
fn hanging(robot: &dyn Robot) -> Vec<f64> {
    match robot.description().name {
        "upkie" => vec![0.0, 0.0, PI, 0.0, PI, 0.0, PI, 0.0],
        _ => vec![0.0; robot.state().len()],
    }
}

fn random_parameters(robot: &dyn Robot, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let draw = |p: &super::Parameter| rng.random_range(p.test.0..=p.test.1);
    robot.description().parameters.iter().map(draw).collect()
}

fn random_state(robot: &dyn Robot, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let draw = |_| rng.random_range(-5.0..5.0);
    robot.state().iter().map(draw).collect()
}

fn typical(robot: &dyn Robot) -> Vec<f64> {
    let parameters = robot.description().parameters;
    parameters.iter().map(|p| p.typical).collect()
}

#[test]
fn forward_then_inverse_returns_the_input() {
    let mut rng = random::generator(0, 0);
    for robot in exact_robots() {
        let robot = &*robot;
        for _ in 0..10_000 {
            let phi = random_parameters(robot, &mut rng);
            let state = random_state(robot, &mut rng);
            let u = rng.random_range(-10.0..10.0);
            // The next state without limits, so that its speeds tell the accelerations.
            let h = robot.time_step();
            let next = super::simulate::euler(&state, &robot.derivative(&phi, &state, u), h);
            let found = robot.inverse(&phi, &robot.features(&state, &next));
            let name = robot.description().name;
            assert!(
                (found - u).abs() < 1e-9,
                "{name} {phi:?} {state:?} {u} {found}"
            );
        }
    }
}

#[test]
fn energy_is_conserved_without_friction_and_input() {
    let mut rng = random::generator(1, 0);
    for robot in fine_robots(0.0) {
        let inputs = vec![0.0; (10.0 / robot.time_step()) as usize];
        for _ in 0..5 {
            let phi = random_parameters(&*robot, &mut rng);
            let push = random_state(&*robot, &mut rng);
            let rest = hanging(&*robot);
            let start: Vec<f64> = rest.iter().zip(push).map(|(x, p)| x + p / 5.0).collect();
            let states = simulate(&*robot, &phi, &start, &inputs, Integrator::Rk4).unwrap();
            let before = robot.energy(&phi, &start);
            for state in states {
                let drift = robot.energy(&phi, &state) - before;
                assert!(drift.abs() < 1e-6, "{:?} {drift}", robot.description().name);
            }
        }
    }
}

#[test]
fn energy_decreases_with_friction() {
    for robot in fine_robots(0.3) {
        let phi = typical(&*robot);
        let mut start = vec![0.5; robot.state().len()];
        start[0] = 1.0;
        let states = simulate(&*robot, &phi, &start, &[0.0; 5_000], Integrator::Rk4).unwrap();
        let energies: Vec<f64> = states.iter().map(|x| robot.energy(&phi, x)).collect();
        assert!(energies.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9));
        assert!(energies[5_000] < energies[0] - 0.1);
    }
}

#[test]
fn the_input_is_affine_in_the_parameters() {
    let mut rng = random::generator(2, 0);
    for robot in robots() {
        let robot = &*robot;
        for _ in 0..1_000 {
            let [a, b] = [0, 1].map(|_| random_parameters(robot, &mut rng));
            let t = rng.random_range(-1.0..2.0);
            let between: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + t * (b - a)).collect();
            let x: Vec<f64> = robot
                .description()
                .inputs
                .iter()
                .map(|_| rng.random_range(-3.0..3.0))
                .collect();
            let [ua, ub] = [&a, &b].map(|phi| robot.inverse(phi, &x));
            let residual = robot.inverse(&between, &x) - (ua + t * (ub - ua));
            assert!(residual.abs() < 1e-9);
        }
    }
}

#[test]
fn there_are_as_many_training_environments_as_the_paper_has() {
    let count = |robot: &dyn Robot| robot.environments(Split::Train, 0).len();
    let expected = [("pendulum", 9), ("cartpole", 4), ("arm", 9), ("upkie", 10)];
    let found: Vec<_> = robots()
        .iter()
        .map(|robot| (robot.description().name, count(&**robot)))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn impossible_parameters_are_refused_with_their_value() {
    for robot in robots() {
        for bad in [0.0, -1.5, f64::NAN, f64::INFINITY] {
            for j in 0..robot.description().parameters.len() {
                let mut phi = typical(&*robot);
                phi[j] = bad;
                let error = robot.check(&phi).unwrap_err().to_string();
                assert!(error.contains(&bad.to_string()), "{error}");
                let name = robot.description().parameters[j].name;
                assert!(error.contains(name), "{error}");
                assert!(
                    simulate(
                        &*robot,
                        &phi,
                        &vec![0.0; robot.state().len()],
                        &[0.0],
                        Integrator::Own
                    )
                    .is_err()
                );
            }
        }
        let error = robot.check(&[1.0; 7]).unwrap_err();
        assert!(matches!(
            error,
            SystemError::ParameterCount { given: 7, .. }
        ));
    }
}

#[test]
fn a_time_step_that_blows_up_is_refused_with_its_value() {
    let cartpole = Cartpole {
        time_step: 1.5,
        ..Cartpole::default()
    };
    let error = simulate(&cartpole, &[2.0, 0.3], &[0.0; 4], &[0.0], Integrator::Own).unwrap_err();
    assert!(error.to_string().contains("time step") && error.to_string().contains("1.5"));
    let arm = Arm {
        time_step: f64::NAN,
        ..Arm::default()
    };
    assert!(
        arm.check(&[0.35, 1.0])
            .unwrap_err()
            .to_string()
            .contains("NaN")
    );
}

#[test]
fn a_simulation_that_leaves_the_finite_numbers_stops_with_an_error() {
    for robot in robots() {
        let start = vec![0.1; robot.state().len()];
        let inputs = [0.0, 0.0, f64::MAX, f64::MAX, f64::MAX];
        for integrator in [
            Integrator::Own,
            Integrator::Euler,
            Integrator::SemiImplicitEuler,
            Integrator::Rk4,
        ] {
            match simulate(&*robot, &typical(&*robot), &start, &inputs, integrator) {
                Err(error) => assert!(matches!(error, SystemError::Diverged { step: 2.., .. })),
                // Speed limits can hold even this.
                Ok(states) => {
                    assert!(["cartpole", "arm"].contains(&robot.description().name));
                    assert!(states.iter().flatten().all(|x| x.is_finite()));
                }
            }
        }
    }
}

#[test]
fn starts_and_inputs_that_are_no_numbers_are_refused() {
    let robot = Pendulum::default();
    let run = |start: &[f64], u: f64| simulate(&robot, &[1.0, 1.0], start, &[u], Integrator::Own);
    assert!(
        run(&[0.0], 0.0)
            .unwrap_err()
            .to_string()
            .contains("2 state variables, but 1")
    );
    assert!(
        run(&[0.0, f64::NAN], 0.0)
            .unwrap_err()
            .to_string()
            .contains("NaN")
    );
    assert!(
        run(&[0.0, 0.0], f64::INFINITY)
            .unwrap_err()
            .to_string()
            .contains("inf")
    );
}

#[test]
fn sketches_are_finite_in_every_state() {
    let mut rng = random::generator(3, 0);
    for robot in robots() {
        for _ in 0..100 {
            let phi = random_parameters(&*robot, &mut rng);
            let state = random_state(&*robot, &mut rng);
            for shape in robot.sketch(&phi, &state) {
                let points = match shape {
                    super::Shape::Line { points, .. } | super::Shape::Polygon { points, .. } => {
                        points
                    }
                    super::Shape::Disc { centre, radius, .. } => vec![centre, [radius, radius]],
                };
                assert!(points.iter().flatten().all(|x| x.is_finite()));
            }
        }
    }
}
