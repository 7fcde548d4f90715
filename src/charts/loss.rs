//! The loss of a training run over its steps, on a logarithmic scale.

use super::{Chart, axis::Axis, lines::LineChart, series::Series};

/// A loss chart of one or several methods; points are (step, loss).
pub fn loss_chart(title: impl Into<String>, series: Vec<Series>) -> Chart {
    Chart::Lines(LineChart {
        title: title.into(),
        x: Axis::linear("step", ""),
        y: Axis::log("training loss", ""),
        series,
        ..LineChart::default()
    })
}

/// A running mean over `window` points, for the calm line over a noisy loss. The mean is of the
/// logarithms, so that one bad batch does not hide the rest; values that are not positive are
/// passed over.
pub fn smoothed(points: &[[f64; 2]], window: usize) -> Vec<[f64; 2]> {
    let window = window.max(1);
    let mut recent = std::collections::VecDeque::with_capacity(window);
    let mut out = Vec::with_capacity(points.len());
    for &[step, loss] in points {
        if loss > 0.0 && loss.is_finite() {
            if recent.len() == window {
                recent.pop_front();
            }
            recent.push_back(loss.ln());
        }
        if !recent.is_empty() {
            let mean = recent.iter().sum::<f64>() / recent.len() as f64;
            out.push([step, mean.exp()]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smoothed_loss_is_the_geometric_mean_of_the_last_values() {
        let points = [[0.0, 1.0], [1.0, 100.0], [2.0, f64::NAN], [3.0, 1e-4]];
        let calm = smoothed(&points, 2);
        assert_eq!(calm.len(), 4);
        assert!((calm[1][1] - 10.0).abs() < 1e-9);
        assert!((calm[3][1] - 0.1).abs() < 1e-9);
    }
}
