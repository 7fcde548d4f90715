//! The physics and the shipped models on the command line: numbers, columns, and every bad input named.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(not(target_arch = "wasm32"))]

use std::{
    f64::consts::TAU,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use camel_lab::{
    learners::{Model, weights},
    systems::{self, Split},
};

/// Runs `camel` with words that have spaces between, and with text on standard input.
fn camel(words: &str, given: &str) -> Output {
    camel_with(&words.split(' ').collect::<Vec<_>>(), given)
}

fn camel_with(arguments: &[&str], given: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_camel"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(given.as_bytes());
    child.wait_with_output().unwrap()
}

/// What a command that succeeds writes.
fn written(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Columns and numbers of a CSV text. Every number but a time has ten digits or more.
fn table(text: &str) -> (String, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let columns = lines.next().unwrap().to_owned();
    let number = |cell: &str| {
        let digits = cell.chars().take_while(|c| *c != 'e');
        let digits = digits.filter(char::is_ascii_digit).count();
        assert!(digits >= 10, "'{cell}' has {digits} digits");
        cell.parse().unwrap()
    };
    // There is no input at the last state.
    let cells = |line: &str| -> Vec<f64> {
        let cells = line.split(',').filter(|cell| !cell.is_empty());
        cells.map(number).collect()
    };
    (columns, lines.map(cells).collect())
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("camel-lab-{name}-{}", std::process::id()))
}

#[test]
fn every_system_is_listed_with_parameters_units_and_ranges() {
    let list = written(&camel("systems", ""));
    for line in [
        "pendulum: ",
        "charges-dipole: ",
        "charges-pair: ",
        "charges-quadrupole: ",
        "capacitor: ",
        "capacitor-eps: ",
        "cartpole: ",
        "arm: ",
        "upkie: ",
        "  M (cart mass) [kg], 0.1 to 20, tested on 1.5 to 2.5",
        "  α (angle of the upper plate) [rad], -0.75 to 0.75, tested on 0 to 0.5",
    ] {
        let found = list.lines().any(|given| given.starts_with(line));
        assert!(found, "{line} in {list}");
    }
}

/// The cartpole's equations of motion, written down once more, in Euler steps of 20 ms.
fn cartpole(masses: [f64; 2], mut x: [f64; 4], inputs: impl Iterator<Item = f64>) -> Vec<[f64; 4]> {
    let ([cart, pole], g, h) = (masses, 9.8, 0.02);
    let mut states = vec![x];
    for input in inputs {
        let [_, speed, angle, rate] = x;
        let (sin, cos) = angle.sin_cos();
        let force = input - 0.1 * (cart + pole) * g * speed.tanh() + pole * rate * rate * sin;
        let push = (force + pole * g * sin * cos) / (cart + pole - pole * cos * cos);
        let swing = -g * sin - push * cos;
        let slope = [speed, push, rate, swing];
        x = std::array::from_fn(|k| x[k] + h * slope[k]);
        states.push(x);
    }
    states
}

#[test]
fn a_cartpole_is_simulated_as_its_equations_say() {
    let text = written(&camel(
        "simulate cartpole --phi 2,0.3 --x0=0,0,0.1,0 --input sin:5:2:0 --steps 200 --integrator euler --csv -",
        "",
    ));
    let (columns, rows) = table(&text);
    assert_eq!(columns, "t,y,ẏ,φ,φ̇,u");
    assert_eq!(rows.len(), 201);
    let input = |k: usize| 5.0 * (TAU * 0.02 * k as f64 / 2.0).sin();
    let states = cartpole([2.0, 0.3], [0.0, 0.0, 0.1, 0.0], (0..200).map(input));
    for (k, (row, state)) in rows.iter().zip(&states).enumerate() {
        assert!((row[0] - 0.02 * k as f64).abs() < 1e-9, "{row:?}");
        let apart = row[1..5].iter().zip(state).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-8, "{row:?} and {state:?}");
        match row.get(5) {
            Some(u) => assert!((u - input(k)).abs() < 1e-12, "{row:?}"),
            None => assert_eq!(k, 200),
        }
    }
}

#[test]
fn an_arm_without_input_has_its_own_columns() {
    let text = written(&camel("simulate arm --input zero --steps 2", ""));
    let (columns, rows) = table(&text);
    assert_eq!(columns, "t,φ1,φ̇1,φ2,φ̇2,u");
    assert_eq!(rows.len(), 3);
    assert!(rows[..2].iter().all(|row| row[5] == 0.0), "{rows:?}");
}

#[test]
fn points_come_from_a_file_as_they_do_from_a_pipe() {
    let file = folder("points");
    fs::write(&file, "0.1,0.5\n-0.3,0.2\n").unwrap();
    let field = |points: &str, input: &str| {
        written(&camel(
            &format!("field charges-dipole --phi 2,1,3 --points {points}"),
            input,
        ))
    };
    let piped = field("-", "0.1,0.5\n-0.3,0.2\n");
    assert_eq!(field(file.to_str().unwrap(), ""), piped);
    assert_eq!(table(&piped).1.len(), 2);
}

#[test]
fn inputs_come_from_a_file_that_has_enough_of_them() {
    let file = folder("inputs");
    fs::write(&file, "1\n-2\n\n0.5\n").unwrap();
    let place = file.to_str().unwrap();
    let run = |steps: &str| {
        let input = format!("csv:{place}");
        let arguments = ["simulate", "pendulum", "--input", &input, "--steps", steps];
        camel_with(&arguments, "")
    };
    let (columns, rows) = table(&written(&run("3")));
    assert_eq!((columns.as_str(), rows.len()), ("t,q,q̇,u", 4));
    let inputs: Vec<_> = rows.iter().filter_map(|row| row.get(3)).collect();
    assert_eq!(inputs, [&1.0, &-2.0, &0.5]);
    let short = run("4");
    let complaint = String::from_utf8_lossy(&short.stderr);
    assert!(!short.status.success());
    assert!(
        complaint.contains("has 3 inputs, but 4 steps need 4"),
        "{complaint}"
    );
    fs::remove_file(file).unwrap();
}

/// Σ q / |x − x_j|.
fn coulomb(charges: &[([f64; 2], f64)], x: [f64; 2]) -> f64 {
    let one = |(at, charge): &([f64; 2], f64)| charge / (x[0] - at[0]).hypot(x[1] - at[1]);
    charges.iter().map(one).sum()
}

const POINTS: [[f64; 2]; 4] = [[-1.0, 0.0], [0.25, 0.5], [1.0, 1.0], [-0.3, 0.01]];

fn potentials(arguments: &[&str]) -> Vec<Vec<f64>> {
    let lines = POINTS.map(|[x1, x2]| format!("{x1},{x2}\n")).concat();
    let (columns, rows) = table(&written(&camel_with(arguments, &lines)));
    assert_eq!((columns.as_str(), rows.len()), ("x1,x2,y", POINTS.len()));
    rows
}

#[test]
fn a_field_is_the_sum_of_its_charges_wherever_they_are() {
    let dipole = [([-3.0, 0.0], 2.0), ([0.2, -0.1], 1.0), ([-0.2, -0.1], -3.0)];
    let placed = [([-1.5, 0.5], 1.0), ([0.0, -0.3], -2.0), ([2.0, 2.0], 4.0)];
    let of_the_paper = "field charges-dipole --phi 2,1,3 --points -";
    let of_the_paper: Vec<_> = of_the_paper.split(' ').collect();
    let three = "-1.5,0.5 0,-0.3 2,2";
    let of_a_visitor = [
        "field",
        "charges-pair",
        "--places",
        three,
        "--phi=1,-2,4",
        "--points",
        "-",
    ];
    for (arguments, charges) in [(&of_the_paper[..], dipole), (&of_a_visitor, placed)] {
        for (row, x) in potentials(arguments).iter().zip(POINTS) {
            let expected = coulomb(&charges, x);
            assert_eq!(row[..2], x);
            assert!(
                (row[2] - expected).abs() < 1e-12,
                "{row:?}, not {expected} V"
            );
        }
    }
}

#[test]
fn a_data_set_is_a_file_an_environment_and_repeats_with_its_seed() {
    let data = |seed: u32| {
        let place = folder(&format!("data-{seed}"));
        let words = format!(
            "data cartpole --split train --seed {seed} --csv {}",
            place.display()
        );
        written(&camel(&words, ""));
        let mut files: Vec<_> = fs::read_dir(&place)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let texts: Vec<_> = files
            .iter()
            .map(|file| fs::read_to_string(file).unwrap())
            .collect();
        fs::remove_dir_all(place).unwrap();
        texts
    };
    let texts = data(0);
    let masses = [[1.0, 0.2], [1.0, 0.5], [2.0, 0.2], [2.0, 0.5]];
    assert_eq!(texts.len(), masses.len());
    for (text, [cart, pole]) in texts.iter().zip(masses) {
        let (columns, rows) = table(text);
        assert_eq!(columns, "M,m,ẏ,ÿ,cos φ,sin φ,φ̇,φ̈,u");
        assert!(rows.len() > 1_000, "{}", rows.len());
        for row in rows {
            assert_eq!(row[..2], [cart, pole]);
            let [speed, push, cos, sin, rate, swing, u] = row[2..] else {
                panic!("{row:?}")
            };
            let friction = 0.1 * (cart + pole) * 9.8 * speed.tanh();
            let expected =
                (cart + pole) * push + pole * (swing * cos - rate * rate * sin) + friction;
            assert!((u - expected).abs() < 1e-8, "{row:?}, not {expected} N");
        }
    }
    assert_eq!(data(0), texts);
    assert_ne!(data(1), texts);
}

/// What a model predicts for the data of one of its training tasks on the pendulum.
fn predictions(model: &Model, number: usize) -> Vec<f64> {
    let system = systems::by_name("pendulum").unwrap();
    let task = system.task(&model.tasks()[number].parameters, Split::Train, 1);
    let adapted = model.trained(number).unwrap().unwrap();
    model.predict(&adapted, &task.unwrap().inputs).unwrap()
}

#[test]
fn a_shipped_model_is_made_again_by_its_command() {
    let place = folder("pretrained");
    let words = "pretrain --systems pendulum --methods camel --out";
    let made = camel(&format!("{words} {}", place.display()), "");
    written(&made);
    let told = String::from_utf8_lossy(&made.stderr);
    assert!(told.contains("validation error"), "{told}");
    let [again, shipped] = [&*place, Path::new("public/weights")].map(|folder| {
        let file = folder.join("pendulum-camel.safetensors");
        weights::import(&fs::read(file).unwrap()).unwrap()
    });
    assert_eq!(again.settings(), shipped.settings());
    assert_eq!(again.tasks().len(), shipped.tasks().len());
    // The same bits on the same kind of processor; rounding on others is amplified by L-BFGS, but two
    // trainings from different starts are much further apart than this.
    let allowed = 0.1 * shipped.validation_rmse();
    for (number, (again_task, shipped_task)) in
        again.tasks().iter().zip(shipped.tasks()).enumerate()
    {
        assert_eq!(again_task.parameters, shipped_task.parameters);
        let [again, shipped] = [&again, &shipped].map(|model| predictions(model, number));
        let squares = again.iter().zip(&shipped).map(|(a, b)| (a - b).powi(2));
        let apart = (squares.sum::<f64>() / shipped.len() as f64).sqrt();
        assert!(apart < allowed, "task {number}: {apart:e}");
    }
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn every_bad_input_is_refused_with_its_value() {
    let cases = [
        ("simulate spring", "there is no system 'spring'"),
        ("field spring --points -", "there is no system 'spring'"),
        ("data spring --csv nowhere", "there is no system 'spring'"),
        ("simulate cartpole --phi 0,0.3", "but is 0"),
        ("simulate cartpole --phi=-1,0.3", "but is -1"),
        ("simulate cartpole --phi 2,NaN", "but is NaN"),
        (
            "simulate cartpole --phi 2",
            "2 parameters, but 1 were given",
        ),
        ("simulate upkie --phi 0", "but is 0"),
        ("simulate arm --phi 0.1,1", "0.1"),
        ("simulate cartpole --x0=0,0,inf,0", "inf"),
        ("simulate cartpole --x0=0,0", "2"),
        (
            "simulate pendulum --input sin:1e300:2:0",
            "diverged at step",
        ),
        ("simulate pendulum --input sin:1:0:0", "above 0 s, but is 0"),
        ("simulate pendulum --input saw:1", "but is 'saw:1'"),
        ("simulate pendulum --integrator verlet", "but is 'verlet'"),
        (
            "simulate pendulum --input csv:/no/such/file",
            "/no/such/file",
        ),
        ("simulate capacitor", "capacitor does not move"),
        ("field cartpole --points -", "cartpole is no static field"),
        ("field charges-pair --phi 1,99 --points -", "but is 99"),
        (
            "field charges-pair --places 1.5,0;1.5,0 --points -",
            "charge 2 at (1.5, 0) m must be 0.02 m or more away from charge 1",
        ),
        (
            "field charges-pair --places 0,0.5 --points -",
            "outside the measured rectangle",
        ),
        (
            "field charges-pair --places 1,2;1,3;1,4;1,5;1,6;1,7;1,8;1,9;2,9 --points -",
            "there are 9",
        ),
        ("field charges-pair --places 3 --points -", "'3'"),
        ("field capacitor --places 3,3 --points -", "no charges"),
        ("field capacitor --phi 0,1.995 --points -", "leaves the box"),
        (
            "field capacitor --phi 0.53,0 --points -",
            "an angle of 0.53 rad",
        ),
        ("data cartpole --split all --csv nowhere", "but is 'all'"),
        (
            "data cartpole --csv /proc/no-such-folder",
            "/proc/no-such-folder",
        ),
    ];
    for (words, named) in cases {
        // Several places are one word.
        let arguments: Vec<_> = words
            .split(' ')
            .map(|word| word.replace(';', " "))
            .collect();
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let output = camel_with(&arguments, "0,0.5\n");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{words} succeeded");
        assert!(complaint.contains(named), "{words}: {complaint}");
        assert!(output.stdout.is_empty(), "{words} wrote something");
    }
    for points in ["0,0.5\n7,0\n", "0;0.5\n", "0,high\n"] {
        let output = camel("field charges-pair --points -", points);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && complaint.contains("row "),
            "{complaint}"
        );
    }
}
