//! What is around the data: title, legend, axes, grid, and the room left for the rest.

use plotters::{
    prelude::DrawingBackend,
    style::text_anchor::{HPos, VPos},
};

use super::{
    ChartError,
    axis::{Axis, Scale},
    pen::{Area, Lettering, Pen, Pixel, Stroke, fitted, text_width},
    theme::Hue,
};

/// Side margins [px].
const SIDE: f64 = 16.0;
/// Size of the title [px].
const TITLE: f64 = 15.0;
/// Size of all other text [px].
pub(super) const LABEL: f64 = 12.5;

/// How a legend entry is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glyph {
    Line,
    Square,
    Dot,
}

impl Glyph {
    /// Room for the glyph before its name [px].
    fn width(self) -> f64 {
        match self {
            Self::Line => 27.0,
            Self::Square => 18.0,
            Self::Dot => 15.0,
        }
    }
}

/// One entry of a legend.
pub(super) struct Entry<'a> {
    pub name: &'a str,
    pub hue: Hue,
    pub glyph: Glyph,
}

/// The place of the data on the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub plot: Area,
    pub x: Scale,
    pub y: Scale,
}

impl Frame {
    /// The pixel of a value; not finite where a scale cannot show it.
    pub fn at(&self, [x, y]: [f64; 2]) -> Pixel {
        let across = self.x.part(x).unwrap_or(f64::NAN);
        let up = self.y.part(y).unwrap_or(f64::NAN);
        [
            self.plot.left + across * self.plot.width(),
            self.plot.bottom - up * self.plot.height(),
        ]
    }

    /// The pixel row of a vertical value, kept inside the plot.
    pub fn row(&self, value: f64) -> f64 {
        let up = self.y.part(value).unwrap_or(0.0).clamp(0.0, 1.0);
        self.plot.bottom - up * self.plot.height()
    }
}

/// Draws the title and the legend; returns the height they take.
pub(super) fn heading<DB: DrawingBackend>(
    pen: &Pen<DB>,
    title: &str,
    entries: &[Entry],
) -> Result<f64, ChartError> {
    let (width, height) = pen.size();
    if width < 120.0 || height < 90.0 {
        return Err(ChartError::TooSmall { width, height });
    }
    let mut top = 12.0;
    if !title.is_empty() {
        let text = fitted(title, TITLE * 1.08, width - 2.0 * SIDE);
        let how = Lettering::new(TITLE, pen.theme.ink).bold();
        pen.text(&text, [SIDE, top + 9.0], how)?;
        top += 27.0;
    }
    if entries.len() > 1 {
        top = legend(pen, entries, top, width)?;
    }
    Ok(top)
}

fn legend<DB: DrawingBackend>(
    pen: &Pen<DB>,
    entries: &[Entry],
    top: f64,
    width: f64,
) -> Result<f64, ChartError> {
    let (mut left, mut middle) = (SIDE, top + 8.0);
    for entry in entries {
        let name = fitted(entry.name, LABEL, width - 2.0 * SIDE - 28.0);
        let indent = entry.glyph.width();
        let needed = indent + text_width(&name, LABEL) + 18.0;
        if left > SIDE && left + needed - 18.0 > width - SIDE {
            (left, middle) = (SIDE, middle + 19.0);
        }
        swatch(pen, entry, [left, middle])?;
        pen.text(
            &name,
            [left + indent, middle],
            Lettering::new(LABEL, pen.theme.ink),
        )?;
        left += needed;
    }
    Ok(middle + 17.0)
}

fn swatch<DB: DrawingBackend>(
    pen: &Pen<DB>,
    entry: &Entry,
    [x, y]: Pixel,
) -> Result<(), ChartError> {
    let colour = pen.theme.hue(entry.hue);
    match entry.glyph {
        Glyph::Line => {
            let stroke = Stroke::solid(colour, 2.25).dashed(entry.hue.dash());
            pen.line(&[[x, y], [x + 20.0, y]], stroke)
        }
        Glyph::Square => {
            let area = Area {
                left: x,
                top: y - 5.5,
                right: x + 11.0,
                bottom: y + 5.5,
            };
            pen.rectangle(area, colour, 1.0)
        }
        Glyph::Dot => pen.disc([x + 4.0, y], 4.0, colour, 0.9),
    }
}

/// Draws grid, ticks and axis titles below `top`; returns the frame of the data.
pub(super) fn axes<DB: DrawingBackend>(
    pen: &Pen<DB>,
    x: (&Axis, Scale),
    y: (&Axis, Scale),
    top: f64,
) -> Result<Frame, ChartError> {
    let frame = axes_without_x_ticks(pen, x, y, top)?;
    x_ticks(pen, &frame)?;
    Ok(frame)
}

/// Like [`axes`], for a horizontal axis of categories.
pub(super) fn axes_without_x_ticks<DB: DrawingBackend>(
    pen: &Pen<DB>,
    (x_axis, x): (&Axis, Scale),
    (y_axis, y): (&Axis, Scale),
    top: f64,
) -> Result<Frame, ChartError> {
    let (width, height) = pen.size();
    let top = y_title(pen, y_axis, top, width)?;
    let bottom = height - if x_axis.label.is_empty() { 32.0 } else { 50.0 };
    let wanted = ((bottom - top) / 44.0) as usize;
    let y_ticks = y.ticks(wanted);
    let widest = y_ticks
        .iter()
        .map(|t| text_width(&t.label, LABEL))
        .fold(0.0, f64::max);
    let left = SIDE + widest.min(0.3 * width) + 9.0;
    let plot = Area {
        left,
        top,
        right: width - SIDE - 6.0,
        bottom: bottom.max(top + 20.0),
    };
    let frame = Frame { plot, x, y };
    for tick in &y_ticks {
        let row = frame.row(tick.value);
        pen.line(
            &[[left, row], [plot.right, row]],
            Stroke::solid(pen.theme.grid, 1.0),
        )?;
        let how = Lettering::new(LABEL, pen.theme.muted).at(HPos::Right, VPos::Center);
        pen.text(&tick.label, [left - 9.0, row], how)?;
    }
    let base = [[left, plot.bottom], [plot.right, plot.bottom]];
    pen.line(&base, Stroke::solid(pen.theme.axis, 1.0))?;
    x_title(pen, x_axis, &frame)?;
    Ok(frame)
}

fn y_title<DB: DrawingBackend>(
    pen: &Pen<DB>,
    axis: &Axis,
    top: f64,
    width: f64,
) -> Result<f64, ChartError> {
    if axis.label.is_empty() {
        return Ok(top + 6.0);
    }
    let text = fitted(&axis.title(), LABEL, width - 2.0 * SIDE);
    pen.text(
        &text,
        [SIDE, top + 8.0],
        Lettering::new(LABEL, pen.theme.muted),
    )?;
    Ok(top + 26.0)
}

pub(super) fn x_title<DB: DrawingBackend>(
    pen: &Pen<DB>,
    axis: &Axis,
    frame: &Frame,
) -> Result<(), ChartError> {
    let how = Lettering::new(LABEL, pen.theme.muted).at(HPos::Right, VPos::Center);
    let text = fitted(&axis.title(), LABEL, frame.plot.right - SIDE);
    pen.text(&text, [frame.plot.right, frame.plot.bottom + 35.0], how)
}

fn x_ticks<DB: DrawingBackend>(pen: &Pen<DB>, frame: &Frame) -> Result<(), ChartError> {
    let plot = frame.plot;
    let mut free = f64::NEG_INFINITY;
    for tick in frame.x.ticks((plot.width() / 78.0) as usize) {
        let Some(part) = frame.x.part(tick.value) else {
            continue;
        };
        let column = plot.left + part * plot.width();
        let half = text_width(&tick.label, LABEL) / 2.0;
        if column - half < free {
            continue;
        }
        free = column + half + 10.0;
        let mark = [[column, plot.bottom], [column, plot.bottom + 4.0]];
        pen.line(&mark, Stroke::solid(pen.theme.axis, 1.0))?;
        let how = Lettering::new(LABEL, pen.theme.muted).at(HPos::Center, VPos::Center);
        let centre = column.min(plot.right + SIDE + 4.0 - half);
        pen.text(&tick.label, [centre, plot.bottom + 16.0], how)?;
    }
    Ok(())
}

/// A label on a patch of paper, so that it can be read over the data.
pub(super) fn label_over_data<DB: DrawingBackend>(
    pen: &Pen<DB>,
    text: &str,
    right_end: Pixel,
    how: Lettering,
) -> Result<(), ChartError> {
    let [right, middle] = right_end;
    let patch = Area {
        left: right - text_width(text, how.size) - 4.0,
        top: middle - 0.65 * how.size,
        right: right + 3.0,
        bottom: middle + 0.65 * how.size,
    };
    pen.rectangle(patch, pen.theme.paper, 0.82)?;
    pen.text(text, right_end, how.at(HPos::Right, VPos::Center))
}

/// Says in the middle of the plot that there is nothing to draw.
pub(super) fn nothing<DB: DrawingBackend>(pen: &Pen<DB>, plot: Area) -> Result<(), ChartError> {
    let centre = [
        (plot.left + plot.right) / 2.0,
        (plot.top + plot.bottom) / 2.0,
    ];
    let how = Lettering::new(LABEL + 0.5, pen.theme.muted).at(HPos::Center, VPos::Center);
    pen.text("no data yet", centre, how)
}
