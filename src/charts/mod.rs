//! Charts: one description, drawn the same way on a canvas, in an SVG file and in tests.
//!
//! A [`Chart`] is plain data. [`draw`] puts it on any plotters backend, [`to_svg`] makes a file,
//! [`describe`] says it in words for those who do not see it, and [`rows`] gives its data.

pub mod axis;
mod bars;
pub mod colormap;
pub mod colour;
mod field;
mod field_drawing;
mod frame;
mod lines;
pub mod loss;
pub mod nullable;
pub mod number;
mod path;
mod pen;
mod scatter;
mod series;
pub mod table;
pub mod theme;

use plotters::{
    coord::Shift,
    prelude::{
        DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoDrawingArea as _, SVGBackend,
    },
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use axis::{Axis, Spacing};
pub use bars::{BarChart, BarSeries};
pub use colormap::Map;
pub use colour::Colour;
pub use field::{FieldChart, Outline};
pub use lines::LineChart;
pub use loss::loss_chart;
pub use scatter::ScatterChart;
pub use series::{Event, Level, Series};
pub use table::Table;
pub use theme::{Hue, Theme};

use pen::Pen;

/// A chart of any kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Chart {
    /// Curves.
    Lines(LineChart),
    /// Grouped bars.
    Bars(BarChart),
    /// Point clouds.
    Scatter(ScatterChart),
    /// A heat map with field lines.
    Field(FieldChart),
}

impl Chart {
    /// What the chart shows.
    pub fn title(&self) -> &str {
        match self {
            Self::Lines(chart) => &chart.title,
            Self::Bars(chart) => &chart.title,
            Self::Scatter(chart) => &chart.title,
            Self::Field(chart) => &chart.title,
        }
    }
}

/// Why a chart was not drawn.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ChartError {
    /// No room for axes and labels.
    #[error("a chart needs at least 120 by 90 pixels, but has {width:.0} by {height:.0}")]
    TooSmall {
        /// Width [px].
        width: f64,
        /// Height [px].
        height: f64,
    },
    /// The backend refused.
    #[error("the chart could not be drawn: {0}")]
    Backend(String),
}

impl ChartError {
    fn backend<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> Self {
        Self::Backend(error.to_string())
    }
}

/// Draws a chart over the whole area.
pub fn draw<DB: DrawingBackend>(
    chart: &Chart,
    theme: &Theme,
    area: &DrawingArea<DB, Shift>,
) -> Result<(), ChartError> {
    draw_with(chart, &Pen::new(area, theme, 1.0))?;
    area.present().map_err(ChartError::backend)
}

fn draw_with<DB: DrawingBackend>(chart: &Chart, pen: &Pen<DB>) -> Result<(), ChartError> {
    pen.clear()?;
    match chart {
        Chart::Lines(chart) => chart.draw(pen),
        Chart::Bars(chart) => chart.draw(pen),
        Chart::Scatter(chart) => chart.draw(pen),
        Chart::Field(chart) => chart.draw(pen),
    }
}

/// The chart as an SVG document of `size` CSS pixels (width, height).
pub fn to_svg(chart: &Chart, theme: &Theme, size: (u32, u32)) -> Result<String, ChartError> {
    // The backend rounds to whole units: eight to a pixel make smooth curves.
    const FINE: u32 = 8;
    // It also divides font sizes by this factor.
    const FONT: f64 = 1.24;
    let size = (size.0.min(20_000), size.1.min(20_000));
    let fine = (size.0 * FINE, size.1 * FINE);
    let theme = theme.at_scale(f64::from(FINE));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, fine).into_drawing_area();
        draw_with(chart, &Pen::new(&area, &theme, FONT))?;
        area.present().map_err(ChartError::backend)?;
    }
    let head = format!("<svg width=\"{}\" height=\"{}\"", fine.0, fine.1);
    let label = escape(&describe(chart));
    let better = format!(
        "<svg width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{label}\" stroke-linejoin=\"round\"",
        size.0, size.1
    );
    Ok(svg.replacen(&head, &better, 1))
}

fn escape(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;");
    text.chars().filter(|c| !c.is_control()).collect()
}

/// The chart in words.
pub fn describe(chart: &Chart) -> String {
    match chart {
        Chart::Lines(chart) => chart.describe(),
        Chart::Bars(chart) => chart.describe(),
        Chart::Scatter(chart) => chart.describe(),
        Chart::Field(chart) => chart.describe(),
    }
}

/// The data of the chart; `format` writes each number, such as [`number::short`] for the page
/// or [`number::exact`] for files.
pub fn rows(chart: &Chart, format: fn(f64) -> String) -> Table {
    match chart {
        Chart::Lines(chart) => chart.rows(format),
        Chart::Bars(chart) => chart.rows(format),
        Chart::Scatter(chart) => chart.rows(format),
        Chart::Field(chart) => chart.rows(format),
    }
}

#[cfg(test)]
mod tests;
