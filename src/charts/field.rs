//! Field charts: a heat map of a potential, its field lines, its sources and where it was
//! measured.

use plotters::{
    prelude::DrawingBackend,
    style::text_anchor::{HPos, VPos},
};
use serde::{Deserialize, Serialize};

use super::{
    ChartError,
    axis::Axis,
    colormap::{Map, Span},
    frame::{self, Frame, LABEL},
    nullable,
    number::{short, significant},
    pen::{Area, Lettering, Pen, Pixel, Stroke, text_width},
    table::Table,
    theme::Hue,
};
use crate::systems::{Role, Shape};

/// Colour steps of a drawn map; more only make exported files larger.
const SHADES: f64 = 96.0;

/// A plate or charge over the field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Corners.
    pub points: Vec<[f64; 2]>,
    /// Sign of its charge: positive, negative or neither.
    pub sign: i8,
}

/// Values on a regular grid over a rectangle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldChart {
    /// What the chart shows.
    pub title: String,
    /// What the colours stand for, and its unit.
    pub quantity: Axis,
    /// Unit of length.
    pub length_unit: String,
    /// Lower left and upper right corner.
    pub domain: [[f64; 2]; 2],
    /// Values in a row.
    pub columns: usize,
    /// Values, row after row from the lower left; the first and last lie on the border.
    #[serde(with = "nullable::list")]
    pub values: Vec<f64>,
    /// Colour map.
    pub map: Map,
    /// Field lines.
    pub lines: Vec<Vec<[f64; 2]>>,
    /// Sources.
    pub outlines: Vec<Outline>,
    /// Measured points.
    pub points: Vec<[f64; 2]>,
}

impl FieldChart {
    /// Samples `value` on a grid of `columns` by as many rows as keep the cells square.
    pub fn sample(domain: [[f64; 2]; 2], columns: usize, value: impl Fn([f64; 2]) -> f64) -> Self {
        let [low, high] = domain;
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        let columns = columns.clamp(2, 1000);
        let ratio = if width > 0.0 && height > 0.0 {
            height / width
        } else {
            1.0
        };
        let rows = ((columns as f64 * ratio).round() as usize).clamp(2, 1000);
        let part = |k: usize, n: usize| k as f64 / (n - 1) as f64;
        let values = (0..rows * columns)
            .map(|k| {
                let (row, column) = (k / columns, k % columns);
                value([
                    low[0] + part(column, columns) * width,
                    low[1] + part(row, rows) * height,
                ])
            })
            .collect();
        Self {
            domain,
            columns,
            values,
            length_unit: "m".to_owned(),
            ..Self::default()
        }
    }

    /// The sources of a system's sketch as outlines.
    pub fn outlines_of(shapes: &[Shape]) -> Vec<Outline> {
        let sign = |role: Role| match role {
            Role::Positive => 1,
            Role::Negative => -1,
            _ => 0,
        };
        let circle = |c: [f64; 2], r: f64| {
            let turn = |k: usize| std::f64::consts::TAU * k as f64 / 32.0;
            (0..32)
                .map(|k| [c[0] + r * turn(k).cos(), c[1] + r * turn(k).sin()])
                .collect()
        };
        shapes
            .iter()
            .map(|shape| match shape {
                Shape::Disc {
                    centre,
                    radius,
                    role,
                } => Outline {
                    points: circle(*centre, *radius),
                    sign: sign(*role),
                },
                Shape::Polygon { points, role } | Shape::Line { points, role, .. } => Outline {
                    points: points.clone(),
                    sign: sign(*role),
                },
            })
            .collect()
    }

    /// Number of rows.
    pub fn rows_of_values(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// The values that the ends of the colour map stand for.
    pub fn span(&self) -> Span {
        match self.quantity.range {
            Some((low, high)) if low < high => Span { low, high },
            _ => Span::of(&self.values, self.map, 0.01),
        }
    }

    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &Pen<DB>) -> Result<(), ChartError> {
        let top = frame::heading(pen, &self.title, &[])?;
        let frame = self.frame(pen, top + 2.0);
        if self.columns < 2 || self.rows_of_values() < 2 {
            return frame::nothing(pen, frame.plot);
        }
        self.heat(pen, &frame)?;
        for line in &self.lines {
            self.field_line(pen, &frame, line)?;
        }
        for outline in &self.outlines {
            self.outline(pen, &frame, outline)?;
        }
        for &point in &self.points {
            let pixel = frame.at(point);
            if frame.plot.contains(pixel) {
                pen.disc(pixel, 4.0, pen.theme.paper, 0.95)?;
                pen.disc(pixel, 2.75, pen.theme.hue(Hue::Oracle), 1.0)?;
            }
        }
        self.ticks(pen, &frame)?;
        self.colour_bar(pen, &frame)
    }

    /// The largest plot with square cells that leaves room for ticks and the colour bar.
    fn frame<DB: DrawingBackend>(&self, pen: &Pen<DB>, top: f64) -> Frame {
        let (width, height) = pen.size();
        let [low, high] = self.domain;
        let room = Area {
            left: 46.0,
            top,
            right: width - 22.0,
            bottom: height - 74.0,
        };
        let (w, h) = (high[0] - low[0], high[1] - low[1]);
        let ratio = if w > 0.0 && h > 0.0 && (w / h).is_finite() {
            w / h
        } else {
            1.0
        };
        let wide = room.width().min(room.height().max(20.0) * ratio).max(20.0);
        let left = room.left + (room.width() - wide).max(0.0) / 2.0;
        let plot = Area {
            left,
            top,
            right: left + wide,
            bottom: top + wide / ratio,
        };
        let axis = |k: usize| Axis::default().with_range(low[k], high[k]).scale([]);
        Frame {
            plot,
            x: axis(0),
            y: axis(1),
        }
    }

    /// Runs of equal colour in each row, each drawn a little too large so that no seam shows.
    fn heat<DB: DrawingBackend>(&self, pen: &Pen<DB>, frame: &Frame) -> Result<(), ChartError> {
        let (plot, rows, span) = (frame.plot, self.rows_of_values(), self.span());
        let shade = |value: f64| -> i32 {
            let part = span.part(value);
            if part.is_finite() {
                (part.clamp(0.0, 1.0) * SHADES).round() as i32
            } else {
                -1
            }
        };
        // Cells are centred on the grid points, so those on the border are halved.
        let cell = [
            plot.width() / (self.columns - 1) as f64,
            plot.height() / (rows - 1) as f64,
        ];
        let column = |k: f64| (plot.left + (k - 0.5) * cell[0]).clamp(plot.left, plot.right);
        let level = |k: f64| (plot.bottom - (k - 0.5) * cell[1]).clamp(plot.top, plot.bottom);
        for (row, values) in self.values.chunks_exact(self.columns).enumerate().rev() {
            let (above, below) = (level(row as f64 + 1.0), level(row as f64));
            let mut start = 0;
            for run in values.chunk_by(|a, b| shade(*a) == shade(*b)) {
                let (left, right) = (column(start as f64), column((start + run.len()) as f64));
                start += run.len();
                let shade = shade(run[0]);
                let colour = if shade < 0 {
                    pen.theme.grid
                } else {
                    self.map.colour(f64::from(shade) / SHADES, pen.theme.dark)
                };
                let area = Area {
                    left,
                    top: above,
                    right: (right + 0.75).min(plot.right),
                    bottom: (below + 0.75).min(plot.bottom),
                };
                pen.rectangle(area, colour, 1.0)?;
            }
        }
        Ok(())
    }

    fn field_line<DB: DrawingBackend>(
        &self,
        pen: &Pen<DB>,
        frame: &Frame,
        line: &[[f64; 2]],
    ) -> Result<(), ChartError> {
        let pixels: Vec<Pixel> = line.iter().map(|&p| frame.at(p)).collect();
        let stroke = Stroke::solid(pen.theme.ink, 1.0).faint(0.55);
        pen.clipped(&pixels, frame.plot, stroke)?;
        let middle = pixels.len() / 2;
        let (Some(&from), Some(&tip)) = (pixels.get(middle.wrapping_sub(1)), pixels.get(middle))
        else {
            return Ok(());
        };
        let (dx, dy) = (tip[0] - from[0], tip[1] - from[1]);
        let length = dx.hypot(dy);
        if !frame.plot.contains(tip) || length == 0.0 {
            return Ok(());
        }
        let (dx, dy) = (dx / length, dy / length);
        let back = |along: f64, side: f64| {
            [
                tip[0] - along * dx - side * dy,
                tip[1] - along * dy + side * dx,
            ]
        };
        pen.polygon(
            &[back(-3.5, 0.0), back(3.0, 3.0), back(3.0, -3.0)],
            pen.theme.ink,
            0.7,
        )
    }

    fn outline<DB: DrawingBackend>(
        &self,
        pen: &Pen<DB>,
        frame: &Frame,
        outline: &Outline,
    ) -> Result<(), ChartError> {
        let pixels: Vec<Pixel> = outline.points.iter().map(|&p| frame.at(p)).collect();
        if !pixels.iter().any(|&p| frame.plot.contains(p)) {
            return Ok(());
        }
        let colour = match outline.sign {
            1.. => pen.theme.hue(Hue::Camel),
            0 => pen.theme.hue(Hue::Neutral),
            _ => pen.theme.hue(Hue::Anil),
        };
        pen.polygon(&pixels, colour, 1.0)?;
        let closed: Vec<Pixel> = pixels.iter().chain(pixels.first()).copied().collect();
        pen.clipped(&closed, frame.plot, Stroke::solid(pen.theme.ink, 1.25))
    }

    fn ticks<DB: DrawingBackend>(&self, pen: &Pen<DB>, frame: &Frame) -> Result<(), ChartError> {
        let plot = frame.plot;
        let how = Lettering::new(LABEL, pen.theme.muted);
        for tick in frame.x.ticks((plot.width() / 90.0) as usize) {
            let at = [frame.at([tick.value, frame.y.low])[0], plot.bottom + 14.0];
            pen.text(&tick.label, at, how.at(HPos::Center, VPos::Center))?;
        }
        for tick in frame.y.ticks((plot.height() / 60.0) as usize) {
            let at = [plot.left - 8.0, frame.row(tick.value)];
            pen.text(&tick.label, at, how.at(HPos::Right, VPos::Center))?;
        }
        Ok(())
    }

    fn colour_bar<DB: DrawingBackend>(
        &self,
        pen: &Pen<DB>,
        frame: &Frame,
    ) -> Result<(), ChartError> {
        let (plot, span) = (frame.plot, self.span());
        let top = plot.bottom + 38.0;
        let wide = (0.5 * plot.width()).clamp(90.0, 220.0);
        let title = self.quantity.title();
        let start = plot.right - wide;
        let steps = 48;
        for k in 0..steps {
            let edge = |k: usize| start + wide * k as f64 / steps as f64;
            let right = (edge(k + 1) + 0.75).min(plot.right);
            let area = Area {
                left: edge(k),
                top,
                right,
                bottom: top + 9.0,
            };
            let part = (k as f64 + 0.5) / steps as f64;
            pen.rectangle(area, self.map.colour(part, pen.theme.dark), 1.0)?;
        }
        let how = Lettering::new(LABEL, pen.theme.muted);
        let label = |value: f64| significant(value, 2);
        let below = top + 20.0;
        pen.text(
            &label(span.low),
            [start, below],
            how.at(HPos::Left, VPos::Center),
        )?;
        pen.text(
            &label(span.high),
            [plot.right, below],
            how.at(HPos::Right, VPos::Center),
        )?;
        if text_width(&title, LABEL) < start - 12.0 - 16.0 {
            pen.text(
                &title,
                [start - 12.0, top + 4.5],
                how.at(HPos::Right, VPos::Center),
            )?;
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> String {
        let [low, high] = self.domain;
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        let (min, max) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
            (a.min(v), b.max(v))
        });
        let range = if min > max {
            "no values".to_owned()
        } else {
            format!("values from {} to {}", short(min), short(max))
        };
        format!(
            "Field map: {}. {} over x from {} to {} and y from {} to {} {}: {range}; {} field lines, {} measured points.",
            self.title,
            self.quantity.title(),
            short(low[0]),
            short(high[0]),
            short(low[1]),
            short(high[1]),
            self.length_unit,
            self.lines.len(),
            self.points.len(),
        )
    }

    pub(super) fn rows(&self, format: fn(f64) -> String) -> Table {
        let unit = &self.length_unit;
        let columns = [
            format!("x [{unit}]"),
            format!("y [{unit}]"),
            self.quantity.title(),
        ];
        let mut table = Table::new(self.title.clone(), columns);
        let (rows, columns) = (self.rows_of_values(), self.columns);
        let [low, high] = self.domain;
        let place = |k: usize, n: usize, axis: usize| {
            low[axis] + (high[axis] - low[axis]) * k as f64 / (n.max(2) - 1) as f64
        };
        for (k, &value) in self.values.iter().enumerate().take(rows * columns) {
            let (row, column) = (k / columns, k % columns);
            table.push([
                format(place(column, columns, 0)),
                format(place(row, rows, 1)),
                format(value),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_on_the_border_and_keep_cells_square() {
        let chart = FieldChart::sample([[-1.0, 0.0], [1.0, 1.0]], 21, |[x, y]| x + 10.0 * y);
        assert_eq!((chart.columns, chart.rows_of_values()), (21, 11));
        assert_eq!(chart.values[0], -1.0);
        assert_eq!(chart.values[chart.values.len() - 1], 11.0);
    }

    #[test]
    fn discs_become_outlines_with_the_sign_of_their_role() {
        let shapes = [
            Shape::Disc {
                centre: [1.0, 0.0],
                radius: 0.5,
                role: Role::Negative,
            },
            Shape::Polygon {
                points: vec![[0.0, 0.0]; 3],
                role: Role::Positive,
            },
        ];
        let outlines = FieldChart::outlines_of(&shapes);
        assert_eq!((outlines[0].sign, outlines[1].sign), (-1, 1));
        assert!(
            outlines[0]
                .points
                .iter()
                .all(|p| ((p[0] - 1.0).hypot(p[1]) - 0.5).abs() < 1e-12)
        );
    }
}
