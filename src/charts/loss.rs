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
