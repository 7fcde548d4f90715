//! `x' = (x − x̄)/s_x`, `y' = (y − ȳ)/s_y`: standardisation with one scale for all tasks.
//!
//! The scales are shared by all tasks, so a target that is affine in φ stays affine in φ. ȳ is
//! zero unless the model has a bias of its own: otherwise a target that is linear in φ would
//! become affine and need one feature more.

use serde::{Deserialize, Serialize};

use crate::systems::Task;

/// Centres and scales of inputs and targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Mean of each input.
    pub input_centre: Vec<f64>,
    /// Standard deviation of each input, 1 where it is constant.
    pub input_scale: Vec<f64>,
    /// What is subtracted from the targets.
    pub target_centre: f64,
    /// Root-mean-square of the targets about their centre.
    pub target_scale: f64,
}

impl Scaling {
    /// The scaling of non-empty tasks with inputs of one dimension.
    pub fn of(tasks: &[Task], centre_targets: bool) -> Self {
        let dim = tasks.first().map_or(0, |task| task.inputs.dim);
        let (input_centre, input_scale) = (0..dim)
            .map(|j| {
                let column = || {
                    tasks
                        .iter()
                        .flat_map(move |task| task.inputs.rows().map(move |row| row[j]))
                };
                let centre = mean(column());
                (centre, deviation(column(), centre))
            })
            .unzip();
        let targets = || tasks.iter().flat_map(|task| task.targets.iter().copied());
        let target_centre = if centre_targets { mean(targets()) } else { 0.0 };
        Self {
            input_centre,
            input_scale,
            target_centre,
            target_scale: deviation(targets(), target_centre),
        }
    }

    /// Standardises rows of inputs into `out`.
    pub fn inputs_into(&self, rows: &[f64], out: &mut Vec<f64>) {
        out.clear();
        let dim = self.input_centre.len();
        out.extend(rows.iter().enumerate().map(|(i, x)| {
            let j = i % dim;
            (x - self.input_centre[j]) / self.input_scale[j]
        }));
    }

    /// Standardises a target.
    pub fn target(&self, y: f64) -> f64 {
        (y - self.target_centre) / self.target_scale
    }

    /// A standardised target in its own unit.
    pub fn restore(&self, y: f64) -> f64 {
        self.target_centre + self.target_scale * y
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0usize), |(s, n), v| (s + v, n + 1));
    sum / count.max(1) as f64
}

/// Standard deviation about `centre`; 1 where it vanishes next to the size of the values.
fn deviation(values: impl Iterator<Item = f64>, centre: f64) -> f64 {
    let deviation = mean(values.map(|v| (v - centre).powi(2))).sqrt();
    if deviation > 1e-9 * centre.abs().max(f64::MIN_POSITIVE) {
        deviation
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::systems::Samples;

    fn task(inputs: Vec<f64>, targets: Vec<f64>) -> Task {
        Task {
            parameters: vec![],
            inputs: Arc::new(Samples {
                dim: 2,
                values: inputs,
            }),
            targets,
        }
    }

    #[test]
    fn a_constant_input_is_centred_and_not_divided_by_zero() {
        let scaling = Scaling::of(&[task(vec![1.0, 5.0, 3.0, 5.0], vec![2.0, -2.0])], true);
        assert_eq!(scaling.input_centre, [2.0, 5.0]);
        assert_eq!(scaling.input_scale, [1.0, 1.0]);
        let mut out = vec![];
        scaling.inputs_into(&[3.0, 5.0], &mut out);
        assert_eq!(out, [1.0, 0.0]);
    }

    #[test]
    fn targets_keep_their_centre_unless_asked() {
        let tasks = [task(vec![0.0, 0.0, 1.0, 1.0], vec![3.0, 4.0])];
        let kept = Scaling::of(&tasks, false);
        assert_eq!(kept.target_centre, 0.0);
        assert!((kept.target_scale - 12.5f64.sqrt()).abs() < 1e-12);
        let centred = Scaling::of(&tasks, true);
        assert_eq!(centred.target_centre, 3.5);
        assert!((centred.restore(centred.target(3.25)) - 3.25).abs() < 1e-12);
    }
}
