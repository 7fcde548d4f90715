//! Exciting inputs: which input identifies a robot fastest.
//!
//! Candidates are sums of sines, `u(t) = Σ aᵢ sin(2π fᵢ t + ψᵢ)`, scaled to one peak. Each is tried
//! in simulation with *nominal* parameters, and the one whose features make the determinant of the
//! information matrix largest is played on the real robot.

use std::f64::consts::TAU;

use rand::RngExt as _;

use super::{design::Design, error::IdentificationError, model::AffineModel};
use crate::{random, systems::Robot};

/// Sines of a candidate.
const SINES: usize = 5;
/// Stream of the candidates in a seed.
const STREAM: u64 = 0xe8c1;

/// What an input may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExcitationLimits {
    /// Steps of the input.
    pub steps: usize,
    /// Largest |u|, in the input's unit.
    pub peak: f64,
    /// Lowest and highest frequency [Hz].
    pub frequencies: (f64, f64),
    /// Largest distance of the first coordinate from its start, such as the rail's end [m].
    pub travel: f64,
}

impl ExcitationLimits {
    /// The cartpole: a second and more of at most 4 N, 0.1 to 3 Hz, on a rail of 2 m to each side.
    pub fn cartpole(steps: usize) -> Self {
        Self {
            steps,
            peak: 4.0,
            frequencies: (0.1, 3.0),
            travel: 2.0,
        }
    }
}

/// An input and what it is expected to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Excitation {
    /// The input, one number a step.
    pub inputs: Vec<f64>,
    /// Logarithm of the determinant of the parameters' covariance after it; smaller is better.
    pub log_volume: f64,
}

/// What an input is expected to tell; `None` if it leads beyond the allowed travel or diverges.
pub fn expected(
    robot: &dyn Robot,
    nominal: &[f64],
    start: &[f64],
    inputs: &[f64],
    travel: f64,
    model: &mut impl AffineModel,
    mut design: Design,
) -> Result<Option<Excitation>, IdentificationError> {
    let mut features = vec![0.0; model.size()];
    let mut state = start.to_vec();
    for &input in inputs {
        let next = robot.step(nominal, &state, input);
        if next.iter().any(|x| !x.is_finite()) || (next[0] - start[0]).abs() > travel {
            return Ok(None);
        }
        model.features_into(&robot.features(&state, &next), &mut features);
        design.measured(&features)?;
        state = next;
    }
    Ok(Some(Excitation {
        inputs: inputs.to_vec(),
        log_volume: design.log_volume(),
    }))
}

/// The most informative of `candidates` random sums of sines; `None` if none is allowed.
pub fn exciting_input(
    robot: &dyn Robot,
    nominal: &[f64],
    start: &[f64],
    limits: &ExcitationLimits,
    model: &mut impl AffineModel,
    design: &Design,
    (candidates, seed): (usize, u64),
) -> Result<Option<Excitation>, IdentificationError> {
    let mut best: Option<Excitation> = None;
    for candidate in 0..candidates as u64 {
        let inputs = sum_of_sines(limits, robot.time_step(), seed, candidate);
        let tried = expected(
            robot,
            nominal,
            start,
            &inputs,
            limits.travel,
            model,
            design.clone(),
        )?;
        if let Some(tried) = tried
            && best
                .as_ref()
                .is_none_or(|best| tried.log_volume < best.log_volume)
        {
            best = Some(tried);
        }
    }
    Ok(best)
}

/// A random sum of sines with frequencies spread over the band, scaled to the peak.
fn sum_of_sines(limits: &ExcitationLimits, time_step: f64, seed: u64, candidate: u64) -> Vec<f64> {
    let mut rng = random::generator(seed.wrapping_add(candidate), STREAM);
    let (low, high) = limits.frequencies;
    let sines: [(f64, f64, f64); SINES] = std::array::from_fn(|_| {
        let frequency = low * (high / low).powf(rng.random_range(0.0..=1.0));
        let (amplitude, phase) = (rng.random_range(0.0..=1.0), rng.random_range(0.0..TAU));
        (amplitude, frequency, phase)
    });
    let at = |t: f64| -> f64 {
        let parts = sines.iter().map(|(a, f, p)| a * (TAU * f * t + p).sin());
        parts.sum()
    };
    let mut inputs: Vec<f64> = (0..limits.steps)
        .map(|k| at(k as f64 * time_step))
        .collect();
    let peak = inputs.iter().fold(f64::MIN_POSITIVE, |p, u| p.max(u.abs()));
    for input in &mut inputs {
        *input *= limits.peak / peak;
    }
    inputs
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::{
        identification::{
            model::KnownFeatures,
            recursive::{RecursiveLeastSquares, RecursiveSettings},
        },
        systems::{cartpole::Cartpole, trajectories::Sine},
    };

    const STEPS: usize = 60;

    /// Relative error of the pole's mass after playing an input on carts it was not planned for.
    fn error(inputs: &[f64], seed: u64) -> f64 {
        let robot = Cartpole::default();
        let truth = [2.3, 0.25];
        let mut rng = random::generator(seed, 2);
        let settings = RecursiveSettings {
            forgetting: 1.0,
            noise: 0.05,
            spread: vec![2.0, 0.6],
            drift: None,
        };
        let mut found = RecursiveLeastSquares::new(&[1.5, 0.35], settings).unwrap();
        let mut model = KnownFeatures::new(robot.clone());
        let (mut state, mut features) = (vec![0.0; 4], [0.0; 2]);
        for &input in inputs {
            let noise: f64 = StandardNormal.sample(&mut rng);
            let next = robot.step(&truth, &state, input + 0.05 * noise);
            let bias = model.features_into(&robot.features(&state, &next), &mut features);
            found.update(&features, input - bias);
            state = next;
        }
        (found.weights()[1] / truth[1] - 1.0).abs()
    }

    #[test]
    fn the_chosen_input_identifies_faster_than_the_sine() {
        let robot = Cartpole::default();
        let nominal = [1.5, 0.35];
        let mut model = KnownFeatures::new(robot.clone());
        let design = Design::new(&[2.0, 0.6], 0.05).unwrap();
        let limits = ExcitationLimits::cartpole(STEPS);
        let search = (200, 0);
        let chosen = exciting_input(
            &robot, &nominal, &[0.0; 4], &limits, &mut model, &design, search,
        )
        .unwrap()
        .unwrap();
        assert!(chosen.inputs.iter().all(|u| u.abs() <= 4.0 + 1e-12));
        let sine = Sine {
            amplitude: 4.0,
            period: 10.0,
            phase: 0.0,
        };
        let sine = sine.samples(STEPS, robot.time_step);
        let mean = |inputs: &[f64]| (0..50).map(|s| error(inputs, s)).sum::<f64>() / 50.0;
        let (planned, slow) = (mean(&chosen.inputs), mean(&sine));
        assert!(planned < 0.5 * slow, "planned {planned}, sine {slow}");
    }

    #[test]
    fn an_input_that_leaves_the_rail_is_not_allowed() {
        let robot = Cartpole::default();
        let mut model = KnownFeatures::new(robot.clone());
        let design = Design::new(&[2.0, 0.6], 0.05).unwrap();
        let mut allowed = |travel| {
            expected(
                &robot,
                &[1.5, 0.3],
                &[0.0; 4],
                &[8.0; 100],
                travel,
                &mut model,
                design.clone(),
            )
            .unwrap()
            .is_some()
        };
        assert!(allowed(100.0) && !allowed(0.5));
    }
}
