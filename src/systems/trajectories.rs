//! Tasks of robots: trajectories under sinusoidal inputs, from random starts.

use std::{
    f64::consts::{PI, TAU},
    sync::Arc,
};

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::{
    Robot, Samples, Split, SystemError, Task,
    simulate::{Integrator, check_setting, checked},
};
use crate::random;

/// Starts tried before an environment is refused because its speeds always reach the limit.
const ATTEMPTS: usize = 1000;

/// The input `u(t) = A sin(2πt/P + ψ)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sine {
    /// Amplitude A, in the unit of the input.
    pub amplitude: f64,
    /// Period P [s].
    pub period: f64,
    /// Phase ψ [rad].
    pub phase: f64,
}

impl Sine {
    /// The input at time `t` [s].
    pub fn at(&self, t: f64) -> f64 {
        self.amplitude * (TAU * t / self.period + self.phase).sin()
    }

    /// Inputs at `steps` samples, `time_step` apart [s].
    pub fn samples(&self, steps: usize, time_step: f64) -> Vec<f64> {
        (0..steps).map(|k| self.at(k as f64 * time_step)).collect()
    }
}

/// How the trajectories of a robot's tasks are made.
///
/// Training trajectory i has the input `A sin(2πt/P + ψ)` with `P = 100 (⌊i/2⌋ mod n + 1)` steps
/// and `ψ = ⌊i/4⌋ π/2 − π`. Test tasks are one trajectory under a random sine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Trajectories of a training task.
    pub trajectories: usize,
    /// Steps of a training trajectory.
    pub steps: usize,
    /// Steps of the one trajectory of a test task; the first ones are the shots.
    pub test_steps: usize,
    /// Amplitude A of the input, in its unit.
    pub amplitude: f64,
    /// Number n of different periods: 100, 200, .., 100 n steps.
    pub periods: usize,
    /// Starts are uniform within this distance of a rest, in each state variable and its unit.
    pub spread: f64,
    /// Trajectories on which a speed reaches this are thrown away; infinity keeps all that the
    /// robot's own limits do not touch.
    pub largest_speed: f64,
}

impl Sampling {
    /// The task of one environment. Trajectories start around the two `rests` in turn, test
    /// trajectories around either with even odds.
    pub fn task(
        &self,
        robot: &dyn Robot,
        parameters: &[f64],
        split: Split,
        seed: u64,
        rests: [&[f64]; 2],
    ) -> Result<Task, SystemError> {
        let mut rng = generator(parameters, split, seed);
        let mut recorder = Recorder::new(robot, parameters, self.largest_speed)?;
        if split == Split::Train {
            for i in 0..self.trajectories {
                let inputs = self.training_sine(i, robot.time_step());
                let inputs = inputs.samples(self.steps, robot.time_step());
                recorder.add(&inputs, || self.start(rests[i % 2], &mut rng))?;
            }
        } else {
            let inputs = self.random_sine(robot.time_step(), &mut rng);
            let inputs = inputs.samples(self.test_steps, robot.time_step());
            let rest = rests[usize::from(rng.random::<bool>())];
            recorder.add(&inputs, || self.start(rest, &mut rng))?;
        }
        Ok(recorder.task())
    }

    /// Refuses settings for which the tasks make no sense.
    pub fn check(&self) -> Result<(), SystemError> {
        let count = |name, n: usize, max| check_setting(name, n as f64, (1.0, max), "");
        count("number of trajectories", self.trajectories, 1e4)?;
        count("number of training steps", self.steps, 1e6)?;
        count("number of test steps", self.test_steps, 1e6)?;
        count("number of periods", self.periods, 1e3)?;
        check_setting("input amplitude", self.amplitude, (0.0, 1e3), "")?;
        check_setting("spread of the starts", self.spread, (0.0, PI), "rad")?;
        check_setting(
            "largest speed",
            self.largest_speed,
            (1e-3, f64::INFINITY),
            "",
        )
    }

    fn training_sine(&self, i: usize, time_step: f64) -> Sine {
        Sine {
            amplitude: self.amplitude,
            period: 100.0 * (i / 2 % self.periods + 1) as f64 * time_step,
            phase: (i / 4) as f64 * PI / 2.0 - PI,
        }
    }

    /// Amplitude 0.8 to 1.2 of the training's, any phase, a period of 100 to 100 n steps.
    fn random_sine(&self, time_step: f64, rng: &mut ChaCha8Rng) -> Sine {
        Sine {
            amplitude: self.amplitude * rng.random_range(0.8..=1.2),
            period: 100.0 * rng.random_range(1.0..=self.periods as f64) * time_step,
            phase: rng.random_range(0.0..TAU),
        }
    }

    fn start(&self, rest: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
        rest.iter()
            .map(|x| x + self.spread * rng.random_range(-1.0..=1.0))
            .collect()
    }
}

/// The generator of one environment's task. Environments of one seed are independent of each
/// other, and their data depend on φ, the split and the seed alone.
pub fn generator(parameters: &[f64], split: Split, seed: u64) -> ChaCha8Rng {
    // FNV-1a over the bits of φ, started from the split.
    let mut stream = 0xcbf2_9ce4_8422_2325 ^ (split as u64 + 1);
    for byte in parameters.iter().flat_map(|p| p.to_bits().to_le_bytes()) {
        stream = (stream ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    random::generator(seed, stream)
}

/// Uniformly random parameters, each in its range.
pub fn random_parameters<const N: usize>(
    ranges: [(f64, f64); N],
    count: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<Vec<f64>> {
    (0..count)
        .map(|_| {
            let draw = |(min, max)| rng.random_range(min..=max);
            ranges.map(draw).to_vec()
        })
        .collect()
}

/// Samples of one environment, collected trajectory by trajectory.
#[derive(Debug)]
pub struct Recorder<'a> {
    robot: &'a dyn Robot,
    parameters: &'a [f64],
    largest_speed: f64,
    inputs: Vec<f64>,
    targets: Vec<f64>,
}

impl<'a> Recorder<'a> {
    /// An empty record of the environment φ, which is checked. Trajectories that reach
    /// `largest_speed` are not recorded.
    pub fn new(
        robot: &'a dyn Robot,
        parameters: &'a [f64],
        largest_speed: f64,
    ) -> Result<Self, SystemError> {
        robot.check(parameters)?;
        Ok(Self {
            robot,
            parameters,
            largest_speed,
            inputs: Vec::new(),
            targets: Vec::new(),
        })
    }

    /// Adds a trajectory under the inputs `us`, from a start that `draw` gives.
    ///
    /// Accelerations do not obey the equations of motion where a speed limit acts, so a start
    /// that leads there is thrown away and another one drawn.
    pub fn add(
        &mut self,
        us: &[f64],
        mut draw: impl FnMut() -> Vec<f64>,
    ) -> Result<(), SystemError> {
        for _ in 0..ATTEMPTS {
            if let Some(states) = self.free_run(us, draw())? {
                for (pair, &u) in states.windows(2).zip(us) {
                    self.inputs.extend(self.robot.features(&pair[0], &pair[1]));
                    self.targets.push(u);
                }
                return Ok(());
            }
        }
        Err(SystemError::Invalid(format!(
            "{} with parameters {:?} reaches its speed limit from each of {ATTEMPTS} starts",
            self.robot.description().name,
            self.parameters
        )))
    }

    /// The states of a run, or `None` if a speed limit acted.
    fn free_run(&self, us: &[f64], start: Vec<f64>) -> Result<Option<Vec<Vec<f64>>>, SystemError> {
        let mut states = vec![start];
        for (step, &u) in us.iter().enumerate() {
            let (next, limited) = self.advance(&states[step], u);
            if limited {
                return Ok(None);
            }
            states.push(checked(self.robot, next, step)?);
        }
        Ok(Some(states))
    }

    /// The next state, and whether it is at a speed limit or beyond.
    fn advance(&self, state: &[f64], u: f64) -> (Vec<f64>, bool) {
        let next = Integrator::Own.step(self.robot, self.parameters, state, u);
        let nudged: Vec<f64> = next.iter().map(|x| x * (1.0 + 1e-12)).collect();
        let mut limited = nudged.clone();
        self.robot.limit(&mut limited);
        let mut speeds = next.iter().skip(1).step_by(2);
        let too_fast = speeds.any(|speed| speed.abs() >= self.largest_speed);
        (next, too_fast || limited != nudged)
    }

    /// The task of all trajectories so far.
    pub fn task(self) -> Task {
        Task {
            parameters: self.parameters.to_vec(),
            inputs: Arc::new(Samples {
                dim: self.robot.description().inputs.len(),
                values: self.inputs,
            }),
            targets: self.targets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::{System as _, arm::Arm, cartpole::Cartpole};

    #[test]
    fn the_same_seed_gives_the_same_data_and_another_seed_others() {
        let system = Cartpole::default();
        let data = |phi: &[f64], split, seed| system.task(phi, split, seed).unwrap().inputs;
        let phi = [1.0, 0.2];
        assert_eq!(data(&phi, Split::Train, 1), data(&phi, Split::Train, 1));
        assert_ne!(data(&phi, Split::Train, 1), data(&phi, Split::Train, 2));
        assert_ne!(
            data(&phi, Split::Test, 1),
            data(&phi, Split::OutOfDomain, 1)
        );
    }

    #[test]
    fn environments_of_one_seed_start_differently() {
        let system = Cartpole::default();
        let first = |phi: &[f64]| {
            system
                .task(phi, Split::Test, 0)
                .unwrap()
                .inputs
                .row(0)
                .to_vec()
        };
        assert_ne!(first(&[2.0, 0.3])[4], first(&[2.0, 0.31])[4]);
    }

    #[test]
    fn trajectories_that_are_too_fast_are_drawn_again() {
        let mut system = Arm::default();
        system.sampling.largest_speed = 12.0;
        let task = system.task(&[0.35, 1.0], Split::Train, 0).unwrap();
        assert_eq!(task.targets.len(), 1600);
        assert!(
            task.inputs
                .rows()
                .all(|x| x[2].abs() < 12.0 && x[6].abs() < 12.0)
        );
        system.sampling.largest_speed = 0.01;
        let error = system.task(&[0.35, 1.0], Split::Train, 0).unwrap_err();
        assert!(error.to_string().contains("speed limit"));
    }

    #[test]
    fn the_first_training_input_is_the_papers() {
        let sampling = Cartpole::default().sampling;
        let sine = sampling.training_sine(5, 0.02);
        assert_eq!((sine.amplitude, sine.period), (5.0, 6.0));
        assert!((sine.phase + PI / 2.0).abs() < 1e-12);
    }
}
