//! `w ← w − α∇ℓ(w)`: the inner loop of gradient-based learners, on the host.
//!
//! The first steps are those of training, whatever they do. Later ones, which training never took,
//! are only kept if they make the loss smaller; otherwise the step size is halved.

/// Step size, relative to the first, below which the descent ends.
const SMALLEST_RATE: f64 = 1e-6;

/// How far to descend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent {
    /// Step size α.
    pub rate: f64,
    /// Steps that are taken as in training.
    pub plain_steps: usize,
    /// Steps in total.
    pub steps: usize,
}

impl Descent {
    /// Descends from `start`; `loss` returns the value and writes the gradient.
    pub fn run(self, start: Vec<f64>, mut loss: impl FnMut(&[f64], &mut [f64]) -> f64) -> Vec<f64> {
        let mut at = start;
        let mut gradient = vec![0.0; at.len()];
        let mut value = loss(&at, &mut gradient);
        let (mut next, mut next_gradient) = (at.clone(), gradient.clone());
        let mut rate = self.rate;
        for step in 0..self.steps {
            for ((next, at), g) in next.iter_mut().zip(&at).zip(&gradient) {
                *next = at - rate * g;
            }
            let next_value = loss(&next, &mut next_gradient);
            if step < self.plain_steps || next_value <= value {
                std::mem::swap(&mut at, &mut next);
                std::mem::swap(&mut gradient, &mut next_gradient);
                value = next_value;
            } else {
                rate *= 0.5;
                if rate < SMALLEST_RATE * self.rate {
                    break;
                }
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ½(3x² + y²).
    fn bowl(x: &[f64], g: &mut [f64]) -> f64 {
        (g[0], g[1]) = (3.0 * x[0], x[1]);
        0.5 * (3.0 * x[0] * x[0] + x[1] * x[1])
    }

    #[test]
    fn the_steps_of_training_are_taken_as_they_are() {
        let descent = Descent {
            rate: 1.0,
            plain_steps: 2,
            steps: 2,
        };
        assert_eq!(descent.run(vec![1.0, 1.0], bowl), [4.0, 0.0]);
    }

    #[test]
    fn later_steps_never_climb() {
        let descent = Descent {
            rate: 1.0,
            plain_steps: 1,
            steps: 200,
        };
        let end = descent.run(vec![1.0, 1.0], bowl);
        assert!(bowl(&end, &mut [0.0; 2]) < 1e-12, "{end:?}");
    }
}
