//! Scatter charts: predicted against true values, with error bars and the line of equality.

use plotters::prelude::DrawingBackend;
use serde::{Deserialize, Serialize};

use super::{
    ChartError,
    axis::Axis,
    frame::{self, Entry, Frame, Glyph},
    pen::{Pen, Stroke},
    series::{self, Level, Series},
    table::Table,
};

/// Points over a common pair of axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScatterChart {
    /// What the chart shows.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The point clouds; a band is drawn as error bars.
    pub series: Vec<Series>,
    /// Whether to draw the line y = x, with the same range on both axes.
    pub diagonal: bool,
    /// Horizontal markers.
    pub levels: Vec<Level>,
}

impl ScatterChart {
    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &Pen<DB>) -> Result<(), ChartError> {
        let entries: Vec<Entry> = self
            .series
            .iter()
            .map(|s| Entry {
                name: &s.name,
                hue: s.hue,
                glyph: Glyph::Dot,
            })
            .collect();
        let top = frame::heading(pen, &self.title, &entries)?;
        let across: Vec<f64> = self
            .series
            .iter()
            .flat_map(|s| s.points.iter().map(|p| p[0]))
            .collect();
        let mut up: Vec<f64> = self.series.iter().flat_map(Series::heights).collect();
        up.extend(self.levels.iter().map(|l| l.value));
        let (x, y) = if self.diagonal {
            let all = || across.iter().chain(&up).copied();
            (self.x.scale(all()), self.y.scale(all()))
        } else {
            (self.x.scale(across), self.y.scale(up))
        };
        let frame = frame::axes(
            pen,
            (&self.x, x.padded(0.04)),
            (&self.y, y.padded(0.04)),
            top,
        )?;
        if self.diagonal {
            diagonal(pen, &frame)?;
        }
        for s in self.series.iter().rev() {
            cloud(pen, &frame, s)?;
        }
        series::draw_levels(pen, &frame, &self.levels)?;
        if self.series.iter().all(|s| s.points.is_empty()) {
            frame::nothing(pen, frame.plot)?;
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> String {
        let mut text = format!(
            "Scatter chart: {}. Horizontal axis: {}. Vertical axis: {}.",
            self.title,
            self.x.title(),
            self.y.title()
        );
        for s in &self.series {
            text += &format!(" {}", s.describe());
            if let (true, Some(r)) = (self.diagonal, correlation(&s.points)) {
                text += &format!(" Correlation {r:.3}.");
            }
        }
        text
    }

    pub(super) fn rows(&self, format: fn(f64) -> String) -> Table {
        series::rows(
            &self.title,
            &self.x.title(),
            &self.y.title(),
            &self.series,
            format,
        )
    }
}

fn diagonal<DB: DrawingBackend>(pen: &Pen<DB>, frame: &Frame) -> Result<(), ChartError> {
    let (low, high) = (frame.x.low.max(frame.y.low), frame.x.high.min(frame.y.high));
    let line = [frame.at([low, low]), frame.at([high, high])];
    let stroke = Stroke::solid(pen.theme.axis, 1.25).dashed(Some((5.0, 4.0)));
    pen.clipped(&line, frame.plot, stroke)
}

fn cloud<DB: DrawingBackend>(pen: &Pen<DB>, frame: &Frame, s: &Series) -> Result<(), ChartError> {
    let colour = pen.theme.hue(s.hue);
    // Crowded clouds get small and translucent points.
    let (radius, alpha) = match s.points.len() {
        0..=60 => (4.0, 0.9),
        61..=400 => (3.0, 0.65),
        _ => (2.0, 0.4),
    };
    for (i, &point) in s.points.iter().enumerate() {
        let pixel = frame.at(point);
        if !frame.plot.contains(pixel) {
            continue;
        }
        if let Some(&[low, high]) = s.band.get(i)
            && low.is_finite()
            && high.is_finite()
        {
            let bar = [[pixel[0], frame.row(low)], [pixel[0], frame.row(high)]];
            pen.line(&bar, Stroke::solid(colour, 1.25).faint(0.6))?;
        }
        pen.disc(pixel, radius, colour, alpha)?;
    }
    Ok(())
}

/// Pearson correlation of the finite points; none if it is not defined.
fn correlation(points: &[[f64; 2]]) -> Option<f64> {
    let shown: Vec<&[f64; 2]> = points
        .iter()
        .filter(|p| p.iter().all(|c| c.is_finite()))
        .collect();
    let n = shown.len() as f64;
    let mean = |k: usize| shown.iter().map(|p| p[k]).sum::<f64>() / n;
    let (mx, my) = (mean(0), mean(1));
    let moment =
        |f: fn(f64, f64) -> f64| -> f64 { shown.iter().map(|p| f(p[0] - mx, p[1] - my)).sum() };
    let r = moment(|x, y| x * y) / (moment(|x, _| x * x) * moment(|_, y| y * y)).sqrt();
    r.is_finite().then_some(r)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_are_fully_correlated() {
        let points: Vec<[f64; 2]> = (0..9).map(|k| [k as f64, 3.0 - 2.0 * k as f64]).collect();
        assert!((correlation(&points).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(correlation(&[[1.0, 2.0]]), None);
    }
}
