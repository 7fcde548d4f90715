use super::*;
use crate::{
    engine::listener::Listener,
    experiments::{record::Printed, tuning::Tried},
    learners::{METHODS, method},
};

#[test]
fn every_method_has_goals_the_largest_first() {
    let adapting = METHODS.iter().filter(|method| !method.zero_shot);
    for method in adapting {
        let goals: Vec<f64> = GOALS
            .iter()
            .filter(|goal| goal.0 == method.name)
            .map(|goal| goal.1)
            .collect();
        assert!(!goals.is_empty(), "{} has no goal", method.name);
        assert!(goals.is_sorted_by(|a, b| a > b), "{goals:?}");
    }
    for (name, ..) in GOALS {
        assert!(method(name).is_ok(), "{name}");
    }
}

#[test]
fn goals_are_what_the_paper_prints() {
    let text = include_str!("../../../public/results/paper.json");
    let printed: Vec<Printed> = serde_json::from_str(text).unwrap();
    let lowest = |method: &str| {
        let same = |p: &&Printed| (&*p.system, p.shots) == PROBLEM && p.method == method;
        let means = printed.iter().filter(same).filter_map(|p| p.mean);
        means.min_by(f64::total_cmp)
    };
    for (method, goal, whose) in GOALS {
        match method {
            "cavia" => {
                assert_eq!(lowest("cavia"), None, "the paper has a goal of its own");
                assert_eq!(lowest("maml"), Some(goal));
            }
            _ if whose == PRINTED => assert_eq!(lowest(method), Some(goal), "{method}"),
            _ => assert_eq!(method, "camel"),
        }
    }
}

#[test]
fn no_setting_was_tried_with_the_seed_that_is_measured() {
    let text = include_str!("../../../public/results/tuning.json");
    let tried: Vec<Tried> = serde_json::from_str(text).unwrap();
    for method in METHODS.iter().filter(|method| !method.zero_shot) {
        let seeds: Vec<u64> = tried
            .iter()
            .filter(|tried| tried.method == method.name)
            .map(|tried| tried.seed)
            .collect();
        assert!(
            !seeds.is_empty() && !seeds.contains(&SEED),
            "{}",
            method.name
        );
    }
}

/// What a method tells with measurements of so many seconds.
fn told(method: &str, seconds: f64) -> Vec<Accuracy> {
    let plan = Plan {
        device: "cpu".to_owned(),
        seconds,
        brief: false,
    };
    let (host, mut told) = (Listener::default(), Vec::new());
    let measured = async {
        let course = Course::new(&host).await?;
        let tell = |measured| match measured {
            Measured::Accuracy(accuracy) => told.push(accuracy),
            other => panic!("{other:?}"),
        };
        course
            .measure(method, &plan, &Device::flex(), &host, tell)
            .await
    };
    pollster::block_on(measured).unwrap();
    told
}

#[test]
fn a_method_without_time_tells_of_every_goal_that_it_missed() {
    let told = told("camel", 1e-6);
    let goals: Vec<f64> = told.iter().map(|accuracy| accuracy.goal).collect();
    assert_eq!(goals, [GOALS[0].1, GOALS[1].1]);
    for accuracy in told {
        assert_eq!((accuracy.seconds, accuracy.steps), (None, 1));
        assert!(accuracy.spent > 0.0 && accuracy.error > accuracy.goal);
    }
}

#[test]
fn a_goal_is_reached_with_the_error_and_the_time_of_that_moment() {
    let told = told("coda", 1.0);
    let [accuracy] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(accuracy.seconds, Some(accuracy.spent));
    assert!(accuracy.error <= accuracy.goal && accuracy.error > 0.0);
    // Steps of whole parts of the schedule.
    assert_eq!(accuracy.steps % 500, 0);
}

#[test]
#[ignore = "a benchmark"]
fn time_of_every_learner_to_the_papers_accuracy() {
    for method in METHODS.iter().filter(|method| !method.zero_shot) {
        for accuracy in told(method.name, 1.0) {
            let Accuracy {
                goal,
                whose,
                steps,
                error,
                spent,
                ..
            } = accuracy;
            let reached = if error <= goal {
                "reached"
            } else {
                "not reached"
            };
            println!(
                "{}: error {goal:.1e} ({whose}) {reached}: {error:.1e} after {spent:.2} s, {steps} steps",
                method.name
            );
        }
    }
}
