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
    /// The first `count` samples of the test trajectory `seed` with these parameters; white noise of
    /// standard deviation `noise` lies between the inputs as recorded and as they acted.
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
        let errors = StandardNormal.sample_iter(random::generator(seed, NOISE_STREAM));
        let recorded = task.targets.iter().zip(errors);
        Ok(Self {
            inputs: Samples {
                dim: task.inputs.dim,
                values: task.inputs.values[..count * task.inputs.dim].to_vec(),
            },
            targets: recorded
                .map(|(u, error): (_, f64)| u + noise * error)
                .take(count)
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::cartpole::Cartpole;

    #[test]
    fn the_noise_of_shots_is_as_large_as_asked_for_and_none_leaves_them_exact() {
        let shots = |noise| Shots::of(&Cartpole::default(), &[1.5, 0.3], 300, noise, 1).unwrap();
        let (exact, noisy) = (shots(0.0), shots(0.05));
        assert_eq!(exact.inputs.values, noisy.inputs.values);
        let errors = exact.targets.iter().zip(&noisy.targets);
        let square = errors.map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 300.0;
        assert!((square.sqrt() / 0.05 - 1.0).abs() < 0.15, "{square}");
    }

    #[test]
    fn more_shots_than_there_are_or_none_are_refused_with_the_number() {
        for count in [0, 100_000] {
            let refused = Shots::of(&Cartpole::default(), &[1.5, 0.3], count, 0.0, 1);
            let error = refused.unwrap_err().to_string();
            assert!(error.ends_with(&format!("but is {count}")), "{error}");
        }
    }
}
