//! Training from tasks to models, on the CPU.

use std::{
    cell::Cell,
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use rand::RngExt as _;

use super::*;
use crate::{
    learners::{
        Model,
        net::{ROWS_IN_NETS, TIME_IN_NETS},
    },
    systems::Samples,
};

/// The value of a future that never waits, as on the CPU.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the CPU does not wait"),
    }
}

/// y = a sin 2x₁ + b x₁x₂ on shared or own inputs.
fn tasks(parameters: &[[f64; 2]], shared: bool) -> Vec<Task> {
    let mut rng = generator(9, 0);
    let mut draw = || {
        Arc::new(Samples {
            dim: 2,
            values: (0..400).map(|_| rng.random_range(-1.0..1.0)).collect(),
        })
    };
    let common = draw();
    parameters
        .iter()
        .map(|phi| {
            let inputs = if shared { common.clone() } else { draw() };
            let value = |x: &[f64]| phi[0] * (2.0 * x[0]).sin() + phi[1] * x[0] * x[1];
            Task {
                parameters: phi.to_vec(),
                targets: inputs.rows().map(value).collect(),
                inputs,
            }
        })
        .collect()
}

/// The same on own inputs, so many rows that L-BFGS begins with a part of them.
fn long_tasks() -> Vec<Task> {
    let repeated = |task: Task| Task {
        inputs: Arc::new(Samples {
            dim: 2,
            values: task.inputs.values.repeat(6),
        }),
        targets: task.targets.repeat(6),
        ..task
    };
    let tasks = tasks(&PARAMETERS, false).into_iter().map(repeated);
    tasks.collect()
}

/// A training of so many iterations of L-BFGS.
fn second_order(tasks: &[Task], steps: usize) -> Trainer {
    let settings = Settings {
        optimiser: Optimiser::Lbfgs,
        steps,
        ..settings("camel")
    };
    Trainer::new(&settings, tasks, 1, &Device::flex()).unwrap()
}

const PARAMETERS: [[f64; 2]; 4] = [[1.0, 1.0], [2.0, 1.0], [1.0, 3.0], [3.0, 2.0]];

fn settings(method: &str) -> Settings {
    let mut settings = Settings::new("pendulum", method).unwrap().with_adam();
    settings.steps = 600;
    settings.batch = 50;
    settings
}

fn train(settings: &Settings, tasks: &[Task]) -> Model {
    let mut trainer = Trainer::new(settings, tasks, 1, &Device::flex()).unwrap();
    now(trainer.run(100, |_| {})).unwrap();
    now(trainer.finish()).unwrap()
}

fn few_shot_error(model: &Model, task: &Task, shots: usize) -> f64 {
    let inputs = Samples {
        dim: task.inputs.dim,
        values: task.inputs.values[..shots * task.inputs.dim].to_vec(),
    };
    let adapted = model.adapt(&inputs, &task.targets[..shots]).unwrap();
    let outputs = model.predict(&adapted, &task.inputs).unwrap();
    let errors = outputs
        .iter()
        .zip(&task.targets)
        .map(|(a, b)| (a - b).powi(2));
    errors.sum::<f64>() / outputs.len() as f64
}

#[test]
fn camel_learns_affine_tasks_and_adapts_to_a_new_one() {
    for shared in [true, false] {
        let tasks = tasks(&PARAMETERS, shared);
        let model = train(&settings("camel"), &tasks);
        let new = &self::tasks(&[[2.5, 1.5]], shared)[0];
        let error = few_shot_error(&model, new, 20);
        let size = new.targets.iter().map(|y| y * y).sum::<f64>() / 200.0;
        assert!(error < 3e-3 * size, "shared {shared}: {error:e} of {size}");
        assert!(model.validation_rmse() < 0.05 * size.sqrt());
    }
}

#[test]
fn every_method_learns_and_gives_contexts() {
    let tasks = tasks(&PARAMETERS, false);
    let new = &self::tasks(&[[2.5, 1.5]], false)[0];
    let size = new.targets.iter().map(|y| y * y).sum::<f64>() / 200.0;
    for method in super::super::METHODS {
        let model = train(&settings(method.name), &tasks);
        let error = few_shot_error(&model, new, 40);
        assert!(error < 0.2 * size, "{}: {error:e} of {size}", method.name);
        assert_eq!(model.tasks().len(), 4);
        assert_eq!(model.tasks()[2].parameters, [1.0, 3.0]);
    }
}

#[test]
fn a_glance_adapts_to_new_tasks_as_the_whole_model_does() {
    let tasks = tasks(&PARAMETERS, false);
    let new = &self::tasks(&[[2.5, 1.5]], false)[0];
    for method in super::super::METHODS {
        let settings = Settings {
            steps: 20,
            ..settings(method.name)
        };
        let mut trainer = Trainer::new(&settings, &tasks, 1, &Device::flex()).unwrap();
        now(trainer.run(10, |_| {})).unwrap();
        let [glance, whole] = [now(trainer.glance()), now(trainer.snapshot())].map(Result::unwrap);
        let errors = [&glance, &whole].map(|model| few_shot_error(model, new, 40));
        assert_eq!(errors[0], errors[1], "{}", method.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_model_and_another_seed_another() {
    let tasks = tasks(&PARAMETERS, true);
    let settings = Settings {
        steps: 20,
        ..settings("camel")
    };
    let train = |seed| {
        let mut trainer = Trainer::new(&settings, &tasks, seed, &Device::flex()).unwrap();
        now(trainer.run(10, |_| {})).unwrap();
        now(trainer.finish()).unwrap().parameters
    };
    assert_eq!(train(1), train(1));
    assert_ne!(train(1), train(2));
}

#[test]
fn divergence_restarts_once_with_a_smaller_rate_and_says_so() {
    let tasks = tasks(&PARAMETERS, true);
    let mut trainer = Trainer::new(&settings("camel"), &tasks, 1, &Device::flex()).unwrap();
    diverge(&mut trainer).unwrap();
    assert!(now(trainer.loss()).unwrap().is_nan());
    let progress = trainer.progress();
    assert_eq!(progress.step, 0);
    assert!(progress.notices[0].contains("restarted"), "{progress:?}");
    assert!((progress.rate - 0.3 * trainer.settings.learning_rate).abs() < 1e-12);
    now(trainer.step()).unwrap();
    assert!(now(trainer.loss()).unwrap().is_finite());
    let error = diverge(&mut trainer).unwrap_err();
    assert!(matches!(error, LearnerError::Diverged { .. }), "{error}");
}

/// Leaves the finite numbers and trains until that is judged.
fn diverge(trainer: &mut Trainer) -> Result<(), LearnerError> {
    trainer.parameters = trainer.parameters.clone().mul_scalar(f64::NAN);
    now(trainer.step())?;
    while !trainer.step.is_multiple_of(JUDGED) {
        now(trainer.step())?;
    }
    Ok(())
}

/// A training whose error does not fall, so that its schedule is shortened.
fn stuck() -> Settings {
    Settings {
        learning_rate: 1e-7,
        weight_decay: 0.0,
        steps: 4_000,
        ..settings("camel")
    }
}

#[test]
fn looks_at_the_loss_change_neither_the_model_nor_where_training_ends() {
    let tasks = tasks(&PARAMETERS, true);
    // With a decay of 3, weights double in every step at the rate 1 and shrink at the rate 0.3.
    let restarted = Settings {
        learning_rate: 1.0,
        weight_decay: 3.0,
        steps: 1_200,
        ..settings("camel")
    };
    for (settings, happened) in [(stuck(), "shortened"), (restarted, "restarted")] {
        let trained = |looks| {
            let mut trainer = Trainer::new(&settings, &tasks, 1, &Device::flex()).unwrap();
            now(trainer.run(looks, |_| {})).unwrap();
            let Progress { step, notices, .. } = trainer.progress();
            (step, notices, now(trainer.finish()).unwrap().parameters)
        };
        let rarely = trained(500);
        assert!(rarely.1[0].contains(happened), "{:?}", rarely.1);
        for looks in [5, 7, 100] {
            assert!(trained(looks) == rarely, "{happened}, looks every {looks}");
        }
    }
}

/// What was shortened before the restart says nothing of the second attempt.
#[test]
fn a_restart_has_the_whole_schedule_again() {
    let tasks = tasks(&PARAMETERS, true);
    let settings = stuck();
    let mut trainer = Trainer::new(&settings, &tasks, 1, &Device::flex()).unwrap();
    while trainer.notices.is_empty() {
        now(trainer.step()).unwrap();
    }
    assert!(trainer.progress().steps < settings.steps);
    diverge(&mut trainer).unwrap();
    let progress = trainer.progress();
    assert_eq!((progress.step, progress.steps), (0, settings.steps));
}

#[test]
fn the_second_order_option_is_not_said_to_have_tried_a_smaller_rate() {
    let tasks = tasks(&PARAMETERS, true);
    let settings = Settings {
        optimiser: Optimiser::Lbfgs,
        ..settings("camel")
    };
    let mut trainer = Trainer::new(&settings, &tasks, 1, &Device::flex()).unwrap();
    let place = (&trainer.device, PRECISION);
    let nothing = Tensor::from_data([f64::NAN], place);
    trainer.add_error(nothing);
    let said = now(trainer.judge()).unwrap_err().to_string();
    assert!(said.contains("L-BFGS") && !said.contains("again"), "{said}");
}

/// Rows that pass through nets, forward and back, in a step of so many tasks on the same inputs.
fn rows_of_a_step(method: &str, count: usize) -> usize {
    let parameters: Vec<_> = (0..count).map(|t| [1.0 + t as f64, 1.0]).collect();
    let tasks = tasks(&parameters, true);
    let mut trainer = Trainer::new(&settings(method), &tasks, 1, &Device::flex()).unwrap();
    ROWS_IN_NETS.set(0);
    now(trainer.step()).unwrap();
    ROWS_IN_NETS.get()
}

#[test]
fn inputs_that_all_tasks_share_are_evaluated_once() {
    for method in ["camel", "anil", "r2d2"] {
        let once = 2 * settings(method).batch;
        let rows = [5, 40].map(|tasks| rows_of_a_step(method, tasks));
        assert_eq!(rows, [once; 2], "{method}");
    }
}

#[test]
fn others_run_between_the_tasks_of_a_snapshot_and_can_end_it() {
    let tasks = tasks(&PARAMETERS, false);
    let trainer = Trainer::new(&settings("maml"), &tasks, 1, &Device::flex()).unwrap();
    let breaths = Cell::new(0);
    let breathe_until = async |last: usize| {
        breaths.set(breaths.get() + 1);
        match breaths.get() == last {
            true => Err(LearnerError::Device("enough".to_owned())),
            false => Ok(()),
        }
    };
    let ended = now(trainer.snapshot_with(async || breathe_until(3).await));
    assert!(ended.is_err() && breaths.get() == 3, "{}", breaths.get());
    breaths.set(0);
    now(trainer.snapshot_with(async || breathe_until(usize::MAX).await)).unwrap();
    assert_eq!(breaths.get(), tasks.len());
}

/// η_k = η (1 + cos(π k / K)) / 2.
#[test]
fn the_learning_rate_falls_as_a_cosine_from_the_setting_to_zero() {
    let settings = Settings {
        steps: 40,
        ..settings("camel")
    };
    let tasks = tasks(&PARAMETERS, true);
    let mut trainer = Trainer::new(&settings, &tasks, 1, &Device::flex()).unwrap();
    for step in 0..=settings.steps {
        let turn = PI * step as f64 / settings.steps as f64;
        let expected = 0.5 * settings.learning_rate * (1.0 + turn.cos());
        let found = trainer.progress().rate;
        assert!((found - expected).abs() < 1e-12, "step {step}: {found}");
        now(trainer.step()).unwrap();
    }
    assert!(trainer.finished());
}

/// Adam's first step without a decay is as long as the learning rate, whatever the gradient.
#[test]
fn the_rate_that_is_told_is_the_one_that_is_used() {
    let settings = Settings {
        weight_decay: 0.0,
        ..settings("camel")
    };
    let tasks = tasks(&PARAMETERS, true);
    let mut trainer = Trainer::new(&settings, &tasks, 1, &Device::flex()).unwrap();
    let before = now(trainer.snapshot()).unwrap();
    now(trainer.step()).unwrap();
    let after = now(trainer.finish()).unwrap();
    let moves = before.parameters().iter().zip(after.parameters());
    let longest = moves.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
    let rate = settings.learning_rate;
    assert!((longest / rate - 1.0).abs() < 1e-2, "{longest} with {rate}");
}

#[test]
fn a_plateau_shortens_the_schedule() {
    let tasks = tasks(&PARAMETERS, true);
    let settings = stuck();
    let mut trainer = Trainer::new(&settings, &tasks, 1, &Device::flex()).unwrap();
    let mut seen = vec![trainer.progress()];
    now(trainer.run(20, |progress| seen.push(progress.clone()))).unwrap();
    assert_eq!(seen[0].steps, settings.steps);
    assert!(seen.iter().all(|p| p.step <= p.steps), "{seen:?}");
    let progress = trainer.progress();
    assert!(progress.step < settings.steps, "{progress:?}");
    assert_eq!(progress.steps, progress.step);
    assert_eq!(progress.notices.len(), 1);
}

#[test]
fn the_second_order_option_gets_further_in_fewer_evaluations() {
    for shared in [true, false] {
        let tasks = tasks(&PARAMETERS, shared);
        let adam = settings("camel");
        let lbfgs = Settings {
            optimiser: Optimiser::Lbfgs,
            steps: adam.steps / 4,
            ..adam.clone()
        };
        let mut trainer = Trainer::new(&lbfgs, &tasks, 1, &Device::flex()).unwrap();
        let mut errors = Vec::new();
        now(trainer.run(10, |progress| errors.push(progress.error.unwrap()))).unwrap();
        let evaluations = trainer.full_batch.as_ref().unwrap().evaluations();
        assert!(evaluations < adam.steps / 2, "{evaluations}");
        assert!(errors.is_sorted_by(|a, b| a >= b), "{errors:?}");
        let model = now(trainer.finish()).unwrap();

        let first = train(&adam, &tasks);
        let new = &self::tasks(&[[2.5, 1.5]], shared)[0];
        let errors = [&model, &first].map(|model| few_shot_error(model, new, 20));
        assert!(errors[0] < 0.5 * errors[1], "shared {shared}: {errors:?}");
        assert!(model.validation_rmse() < first.validation_rmse());
    }
}

#[test]
fn the_second_order_option_ends_where_no_step_helps() {
    let tasks = tasks(&PARAMETERS, true);
    let flat: Vec<Task> = tasks
        .into_iter()
        .map(|task| Task {
            targets: vec![0.0; task.targets.len()],
            ..task
        })
        .collect();
    let settings = Settings {
        optimiser: Optimiser::Lbfgs,
        ..settings("camel")
    };
    let mut trainer = Trainer::new(&settings, &flat, 1, &Device::flex()).unwrap();
    now(trainer.run(10, |_| {})).unwrap();
    let progress = trainer.progress();
    assert!(progress.step < 10, "{progress:?}");
    assert!(progress.notices[0].contains("no step"), "{progress:?}");
}

#[test]
fn a_plateau_on_some_of_the_rows_leads_to_all_of_them_and_not_to_an_early_end() {
    let mut trainer = second_order(&long_tasks(), 20);
    // Nothing is better than this.
    trainer.best = (0.0, 0.0);
    while !trainer.finished() {
        now(trainer.step()).unwrap();
        now(trainer.judge()).unwrap();
    }
    let progress = trainer.progress();
    assert_eq!((progress.step, progress.steps), (20, 20), "{progress:?}");
    let [notice] = &progress.notices[..] else {
        panic!("{progress:?}")
    };
    assert!(notice.starts_with("from step 7 on"), "{notice}");
    assert!(notice.contains("all rows") && notice.contains("may rise"));
    let search = trainer.full_batch.as_ref().unwrap();
    assert_eq!(search.work(5), 5.0);
}

#[test]
fn errors_of_some_rows_are_not_mixed_with_those_of_all_where_no_step_helps() {
    let flat = long_tasks().into_iter().map(|task| Task {
        targets: vec![0.0; task.targets.len()],
        ..task
    });
    let mut trainer = second_order(&flat.collect::<Vec<_>>(), 20);
    let of_the_draft = Tensor::from_data([123.0], (&trainer.device, PRECISION));
    trainer.add_error(of_the_draft);
    now(trainer.step()).unwrap();
    assert!(trainer.finished());
    assert_eq!(now(trainer.loss()).unwrap(), 0.0);
}

#[test]
fn a_step_over_a_quarter_of_the_rows_is_a_quarter_of_the_work() {
    let mut trainer = second_order(&long_tasks(), 10);
    let mut seen = vec![trainer.progress().work];
    now(trainer.run(1, |progress| seen.push(progress.work))).unwrap();
    let expected = [0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    for (seen, expected) in seen.iter().zip(expected) {
        assert!((7.0 * seen - expected).abs() < 1e-12, "{seen}");
    }
    assert_eq!(seen.len(), expected.len());
}

#[test]
fn a_rank_above_the_number_of_tasks_is_refused() {
    let tasks = tasks(&PARAMETERS, true);
    for method in super::super::METHODS {
        let settings = Settings {
            rank: 5,
            ..settings(method.name)
        };
        let error = Trainer::new(&settings, &tasks, 1, &Device::flex()).unwrap_err();
        assert_eq!(error, LearnerError::RankAboveTasks { rank: 5, tasks: 4 });
    }
}

#[test]
fn too_few_and_unsuitable_shots_are_refused() {
    let tasks = tasks(&PARAMETERS, true);
    // The shipped ridge is too small to stand for shots that are missing.
    let settings = Settings {
        steps: 5,
        prior_noise: 0.0,
        ..settings("camel")
    };
    assert!(settings.ridge > 0.0);
    let model = train(&settings, &tasks);
    let shots = |values: Vec<f64>| Samples { dim: 2, values };
    let error = model.adapt(&shots(vec![0.1, 0.2]), &[1.0]).unwrap_err();
    assert_eq!(
        error,
        LearnerError::TooFewShots {
            given: 1,
            needed: 2
        }
    );
    let same = [0.1, 0.2].repeat(4);
    let error = model.adapt(&shots(same.clone()), &[1.0; 4]).unwrap_err();
    assert!(
        matches!(error, LearnerError::SingularGram { rank: 2, .. }),
        "{error}"
    );
    let prior = Settings {
        ridge: 1e-3,
        ..settings
    };
    assert!(train(&prior, &tasks).adapt(&shots(same), &[1.0; 4]).is_ok());
    let error = model
        .adapt(&shots(vec![f64::NAN; 8]), &[1.0; 4])
        .unwrap_err();
    assert!(matches!(error, LearnerError::NotFinite { .. }), "{error}");
}

#[test]
fn features_and_context_make_the_prediction() {
    let tasks = tasks(&PARAMETERS, false);
    let settings = Settings {
        steps: 20,
        bias: vec![4],
        ..settings("camel")
    };
    let model = train(&settings, &tasks);
    let adapted = model.trained(1).unwrap().unwrap();
    let outputs = model.predict(&adapted, &tasks[1].inputs).unwrap();
    for (row, output) in tasks[1].inputs.rows().zip(outputs) {
        let (features, bias) = model.features(row).unwrap();
        let products = features.iter().zip(adapted.context()).map(|(v, w)| v * w);
        assert!((bias + products.sum::<f64>() - output).abs() < 1e-12);
    }
}

#[test]
#[ignore = "a benchmark: cargo test --release --lib speed_of_a_training_step -- --ignored --nocapture"]
fn speed_of_a_training_step() {
    let mut rng = generator(2, 0);
    let mut draw =
        |count: usize| -> Vec<f64> { (0..count).map(|_| rng.random_range(-1.0..1.0)).collect() };
    let tasks: Vec<Task> = (0..4)
        .map(|t| Task {
            parameters: vec![t as f64],
            inputs: Arc::new(Samples {
                dim: 6,
                values: draw(1600 * 6),
            }),
            targets: draw(1600),
        })
        .collect();
    for method in super::super::METHODS.iter().filter(|m| !m.zero_shot) {
        let settings = Settings::new("cartpole", method.name).unwrap().with_adam();
        let mut trainer = Trainer::new(&settings, &tasks, 1, &Device::flex()).unwrap();
        let (step, in_nets) = least_milliseconds(|| now(trainer.step()).unwrap());
        println!(
            "{}: {step:.3} ms a step, {:.0} % of it outside of the net's products and tanh",
            method.title,
            100.0 * (1.0 - in_nets / step)
        );
    }
}

/// The quickest of many short runs: all of its time, and that in passes of nets.
fn least_milliseconds(mut call: impl FnMut()) -> (f64, f64) {
    let mut run = |_| {
        TIME_IN_NETS.set(Duration::ZERO);
        let start = Instant::now();
        (0..20).for_each(|_| call());
        let times = [start.elapsed(), TIME_IN_NETS.get()];
        let [all, in_nets] = times.map(|time| 1e3 * time.as_secs_f64() / 20.0);
        (all, in_nets)
    };
    let runs = (0..21).map(&mut run);
    runs.fold((f64::INFINITY, 0.0), |least, run| {
        if run.0 < least.0 { run } else { least }
    })
}
