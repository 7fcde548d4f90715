//! Shots: the first samples (x, u) of a trajectory, to which a model adapts before it controls.

use rand_distr::{Distribution as _, StandardNormal};

use super::error::ControlError;
use crate::{
    random,
    systems::{Samples, Split, System},
};

/// Stream of the measurement noise in the shots' seed.
const NOISE_STREAM: u64 = 0x5407;

/// Features and the inputs that they were seen under.
#[derive(Clone, Debug)]
pub struct Shots {
    /// Features x.
    pub inputs: Samples,
    /// Inputs u.
    pub targets: Vec<f64>,
}

impl Shots {
    /// The first `count` samples of the test trajectory `seed` with these parameters, under a white
    /// force (or torque) of standard deviation `noise`.
    pub fn of(
        system: &dyn System,
        parameters: &[f64],
        count: usize,
        noise: f64,
        seed: u64,
    ) -> Result<Self, ControlError> {
        let task = system.task(parameters, Split::Test, seed)?;
        if count == 0 || count > task.targets.len() {
            return Err(ControlError::Setting {
                name: "the number of shots",
                value: count as f64,
                allowed: format!("between 1 and {}", task.targets.len()),
            });
        }
        let forces = StandardNormal.sample_iter(random::generator(seed, NOISE_STREAM));
        let known = task.targets.iter().zip(forces);
        Ok(Self {
            inputs: Samples {
                dim: task.inputs.dim,
                values: task.inputs.values[..count * task.inputs.dim].to_vec(),
            },
            targets: known
                .map(|(u, force): (_, f64)| u - noise * force)
                .take(count)
                .collect(),
        })
    }
}
