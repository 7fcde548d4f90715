//! Tasks of robots: trajectories under sinusoidal inputs, from random starts.

use std::{f64::consts::TAU, sync::Arc};

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::{Robot, Samples, Split, SystemError, Task, simulate::Integrator};
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

    /// A random sine: amplitude 0.8 to 1.2 of `amplitude`, any phase, a period in the range [s].
    pub fn random(amplitude: f64, periods: (f64, f64), rng: &mut ChaCha8Rng) -> Self {
        Self {
            amplitude: amplitude * rng.random_range(0.8..=1.2),
            period: rng.random_range(periods.0..=periods.1),
            phase: rng.random_range(0.0..TAU),
        }
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
    inputs: Vec<f64>,
    targets: Vec<f64>,
}

impl<'a> Recorder<'a> {
    /// An empty record of the environment φ, which is checked.
    pub fn new(robot: &'a dyn Robot, parameters: &'a [f64]) -> Result<Self, SystemError> {
        robot.check(parameters)?;
        Ok(Self {
            robot,
            parameters,
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
            if next.iter().any(|value| !value.is_finite()) {
                let system = self.robot.description().name;
                return Err(SystemError::Diverged { system, step });
            }
            if limited {
                return Ok(None);
            }
            states.push(next);
        }
        Ok(Some(states))
    }

    /// The next state, and whether it lies on a speed limit.
    fn advance(&self, state: &[f64], u: f64) -> (Vec<f64>, bool) {
        let next = Integrator::Own.step(self.robot, self.parameters, state, u);
        let nudged: Vec<f64> = next.iter().map(|x| x * (1.0 + 1e-12)).collect();
        let mut limited = nudged.clone();
        self.robot.limit(&mut limited);
        (next, limited != nudged)
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
