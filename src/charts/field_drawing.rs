//! How a field chart is drawn: square cells in equal colours, lines with arrows, a colour bar.

use plotters::{
    prelude::DrawingBackend,
    style::text_anchor::{HPos, VPos},
};

use super::{
    ChartError,
    axis::Axis,
    field::{FieldChart, Outline},
    frame::{self, Frame, LABEL},
    number::significant,
    pen::{Area, Lettering, Pen, Pixel, Stroke, text_width},
    theme::Hue,
};

/// Colour steps of a drawn map; more only make exported files larger.
const SHADES: f64 = 96.0;

impl FieldChart {
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
}
