//! Line charts: curves with bands, events and levels over linear or logarithmic axes.

use plotters::prelude::DrawingBackend;
use serde::{Deserialize, Serialize};

use super::{
    ChartError,
    axis::Axis,
    frame::{self, Entry, Frame, Glyph},
    number::short,
    pen::{Pen, Pixel, Stroke},
    series::{self, Event, Level, Series},
    table::Table,
};

/// Curves over a common pair of axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineChart {
    /// What the chart shows.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The curves, the most important one first (it is drawn on top).
    pub series: Vec<Series>,
    /// Vertical markers.
    pub events: Vec<Event>,
    /// Horizontal markers.
    pub levels: Vec<Level>,
}

impl LineChart {
    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &Pen<DB>) -> Result<(), ChartError> {
        let entries: Vec<Entry> = self
            .series
            .iter()
            .map(|s| Entry {
                name: &s.name,
                hue: s.hue,
                glyph: Glyph::Line,
            })
            .collect();
        let top = frame::heading(pen, &self.title, &entries)?;
        let across = self
            .series
            .iter()
            .flat_map(|s| s.points.iter().map(|p| p[0]));
        let x = self.x.scale(across.chain(self.events.iter().map(|e| e.at)));
        let up = self.series.iter().flat_map(Series::heights);
        let y = self.y.scale(up.chain(self.levels.iter().map(|l| l.value)));
        let y = if self.y.range.is_some() {
            y
        } else {
            y.padded(0.06)
        };
        let top = top + series::event_room(&self.events);
        let frame = frame::axes(pen, (&self.x, x), (&self.y, y), top)?;
        series::draw_events(pen, &frame, &self.events)?;
        for s in self.series.iter().rev() {
            band(pen, &frame, s)?;
        }
        for s in self.series.iter().rev() {
            curve(pen, &frame, s)?;
        }
        series::draw_levels(pen, &frame, &self.levels)?;
        if self.series.iter().all(|s| s.points.is_empty()) {
            frame::nothing(pen, frame.plot)?;
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> String {
        let mut text = format!(
            "Line chart: {}. Horizontal axis: {}. Vertical axis: {}{}.",
            self.title,
            self.x.title(),
            self.y.title(),
            if self.y.scale([]).is_log() {
                ", logarithmic"
            } else {
                ""
            },
        );
        for s in &self.series {
            text += &format!(" {}", s.describe());
        }
        for level in &self.levels {
            text += &format!(" Level: {} at {}.", level.label, short(level.value));
        }
        for event in &self.events {
            text += &format!(" Event: {} at {}.", event.label, short(event.at));
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

fn curve<DB: DrawingBackend>(pen: &Pen<DB>, frame: &Frame, s: &Series) -> Result<(), ChartError> {
    let colour = pen.theme.hue(s.hue);
    let pixels: Vec<Pixel> = s.points.iter().map(|&p| frame.at(p)).collect();
    let stroke = Stroke::solid(colour, 2.0).dashed(s.hue.dash());
    pen.clipped(&thin(&pixels), frame.plot, stroke)?;
    let few = pixels.len() <= 60;
    // A single point has no line: only its dot shows it.
    if (s.dotted && few) || pixels.len() == 1 {
        for &pixel in pixels.iter().filter(|p| frame.plot.contains(**p)) {
            pen.disc(pixel, 3.25, colour, 1.0)?;
        }
    }
    Ok(())
}

fn band<DB: DrawingBackend>(pen: &Pen<DB>, frame: &Frame, s: &Series) -> Result<(), ChartError> {
    let edges: Vec<(f64, [f64; 2])> = s
        .points
        .iter()
        .zip(&s.band)
        .map(|(p, b)| (frame.at([p[0], frame.y.low])[0], *b))
        .collect();
    let whole =
        |(column, b): &(f64, [f64; 2])| !(column.is_finite() && b.iter().all(|v| v.is_finite()));
    for run in edges.split(whole) {
        let inside = |column: f64| column.clamp(frame.plot.left, frame.plot.right);
        let lower = run.iter().map(|(x, b)| [inside(*x), frame.row(b[0])]);
        let upper = run.iter().rev().map(|(x, b)| [inside(*x), frame.row(b[1])]);
        let outline: Vec<Pixel> = lower.chain(upper).collect();
        pen.polygon(&outline, pen.theme.hue(s.hue), 0.16)?;
    }
    Ok(())
}

/// At most four points for each pixel column (first, lowest, highest, last), so that a curve of
/// any length is drawn quickly and looks the same.
fn thin(pixels: &[Pixel]) -> Vec<Pixel> {
    if pixels.len() < 2000 {
        return pixels.to_vec();
    }
    let mut kept = Vec::new();
    let column = |p: &Pixel| p[0].round() as i64;
    for run in
        pixels.chunk_by(|a, b| column(a) == column(b) && a[1].is_finite() == b[1].is_finite())
    {
        if run.len() <= 4 {
            kept.extend_from_slice(run);
            continue;
        }
        let by_row = |a: &usize, b: &usize| run[*a][1].total_cmp(&run[*b][1]);
        let low = (0..run.len()).min_by(by_row).unwrap_or(0);
        let high = (0..run.len()).max_by(by_row).unwrap_or(0);
        let mut picks = [0, low.min(high), low.max(high), run.len() - 1].to_vec();
        picks.dedup();
        kept.extend(picks.into_iter().map(|k| run[k]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_curve_keeps_its_extremes_with_few_points() {
        let mut pixels: Vec<Pixel> = (0..100_000).map(|k| [k as f64 / 200.0, 50.0]).collect();
        pixels[77_777][1] = 3.0;
        let thinned = thin(&pixels);
        assert!(thinned.len() < 2100, "{} points", thinned.len());
        assert!(thinned.iter().any(|p| p[1] == 3.0));
    }

    #[test]
    fn a_long_curve_keeps_its_gaps() {
        let mut pixels: Vec<Pixel> = (0..10_000).map(|k| [k as f64 / 20.0, 50.0]).collect();
        pixels[5_003][1] = f64::NAN;
        assert!(thin(&pixels).iter().any(|p| p[1].is_nan()));
    }
}
