//! Strokes, fills and text in CSS pixels on any plotters backend.
//!
//! Backends count in whole device pixels; the pen scales, rounds, dashes and clips, and leaves
//! out what is not a finite number.

use plotters::{
    coord::Shift,
    element::{Circle, PathElement, Polygon, Rectangle, Text},
    prelude::{DrawingArea, DrawingBackend},
    style::{
        Color as _, FontDesc, FontFamily, FontStyle, RGBAColor, ShapeStyle, TextStyle,
        text_anchor::{HPos, Pos, VPos},
    },
};

use super::{
    ChartError,
    colour::Colour,
    path::{clip, dashes, finite},
    theme::Theme,
};

/// The fonts of the page; nothing is downloaded.
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/// A point in CSS pixels, y downwards.
pub(super) type Pixel = [f64; 2];

/// A rectangle in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub fn contains(&self, [x, y]: Pixel) -> bool {
        let slack = 0.5;
        (self.left - slack..=self.right + slack).contains(&x)
            && (self.top - slack..=self.bottom + slack).contains(&y)
    }
}

/// Colour, opacity, width and dashes of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    pub colour: Colour,
    pub alpha: f64,
    pub width: f64,
    pub dash: Option<(f64, f64)>,
}

impl Stroke {
    pub fn solid(colour: Colour, width: f64) -> Self {
        Self {
            colour,
            alpha: 1.0,
            width,
            dash: None,
        }
    }

    pub fn dashed(self, dash: Option<(f64, f64)>) -> Self {
        Self { dash, ..self }
    }

    pub fn faint(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }
}

/// Size, colour and anchor of a text.
#[derive(Clone, Copy)]
pub(super) struct Lettering {
    pub size: f64,
    pub colour: Colour,
    pub bold: bool,
    pub across: HPos,
    pub down: VPos,
}

impl Lettering {
    pub fn new(size: f64, colour: Colour) -> Self {
        Self {
            size,
            colour,
            bold: false,
            across: HPos::Left,
            down: VPos::Center,
        }
    }

    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub fn at(self, across: HPos, down: VPos) -> Self {
        Self {
            across,
            down,
            ..self
        }
    }
}

/// Draws on one area with one theme.
pub(super) struct Pen<'a, DB: DrawingBackend> {
    area: &'a DrawingArea<DB, Shift>,
    pub theme: &'a Theme,
    text_scale: f64,
}

impl<'a, DB: DrawingBackend> Pen<'a, DB> {
    pub fn new(area: &'a DrawingArea<DB, Shift>, theme: &'a Theme, text_scale: f64) -> Self {
        Self {
            area,
            theme,
            text_scale,
        }
    }

    /// Width and height in CSS pixels.
    pub fn size(&self) -> (f64, f64) {
        let (width, height) = self.area.dim_in_pixel();
        (
            f64::from(width) / self.theme.scale,
            f64::from(height) / self.theme.scale,
        )
    }

    pub fn clear(&self) -> Result<(), ChartError> {
        self.area
            .fill(&opaque(self.theme.paper, 1.0))
            .map_err(ChartError::backend)
    }

    /// A line through `points`, broken where a point is not finite.
    pub fn line(&self, points: &[Pixel], stroke: Stroke) -> Result<(), ChartError> {
        for piece in points.split(|p| !finite(p)) {
            match stroke.dash {
                None => self.solid(piece, stroke)?,
                Some(dash) => {
                    for part in dashes(piece, dash) {
                        self.solid(&part, stroke)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A line inside `area`: what lies outside is cut off.
    pub fn clipped(&self, points: &[Pixel], area: Area, stroke: Stroke) -> Result<(), ChartError> {
        for piece in clip(points, area) {
            self.line(&piece, stroke)?;
        }
        Ok(())
    }

    fn solid(&self, points: &[Pixel], stroke: Stroke) -> Result<(), ChartError> {
        if points.len() < 2 {
            return Ok(());
        }
        let path: Vec<(i32, i32)> = points.iter().map(|&p| self.device(p)).collect();
        let style = ShapeStyle {
            color: opaque(stroke.colour, stroke.alpha),
            filled: false,
            stroke_width: (stroke.width * self.theme.scale).round().max(1.0) as u32,
        };
        self.area
            .draw(&PathElement::new(path, style))
            .map_err(ChartError::backend)
    }

    /// A filled polygon; one with a corner that is not finite is left out.
    pub fn polygon(&self, points: &[Pixel], fill: Colour, alpha: f64) -> Result<(), ChartError> {
        if points.len() < 3 || !points.iter().all(finite) {
            return Ok(());
        }
        let path: Vec<(i32, i32)> = points.iter().map(|&p| self.device(p)).collect();
        self.area
            .draw(&Polygon::new(path, opaque(fill, alpha).filled()))
            .map_err(ChartError::backend)
    }

    pub fn rectangle(&self, area: Area, fill: Colour, alpha: f64) -> Result<(), ChartError> {
        let corners = [[area.left, area.top], [area.right, area.bottom]];
        if !corners.iter().all(finite) {
            return Ok(());
        }
        let style = opaque(fill, alpha).filled();
        let corners = corners.map(|c| self.device(c));
        self.area
            .draw(&Rectangle::new(corners, style))
            .map_err(ChartError::backend)
    }

    pub fn disc(
        &self,
        centre: Pixel,
        radius: f64,
        fill: Colour,
        alpha: f64,
    ) -> Result<(), ChartError> {
        if !finite(&centre) {
            return Ok(());
        }
        let radius = (radius * self.theme.scale).round().max(1.0) as i32;
        let disc = Circle::new(self.device(centre), radius, opaque(fill, alpha).filled());
        self.area.draw(&disc).map_err(ChartError::backend)
    }

    pub fn text(&self, text: &str, at: Pixel, how: Lettering) -> Result<(), ChartError> {
        if text.is_empty() || !finite(&at) {
            return Ok(());
        }
        let weight = if how.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let size = how.size * self.theme.scale * self.text_scale;
        let font = FontDesc::new(FontFamily::Name(FONTS), size, weight);
        let colour = opaque(how.colour, 1.0);
        let style = TextStyle::from(font)
            .color(&colour)
            .pos(Pos::new(how.across, how.down));
        // XML has no way to write control characters.
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        let text = Text::new(text, self.device(at), style);
        self.area.draw(&text).map_err(ChartError::backend)
    }

    fn device(&self, [x, y]: Pixel) -> (i32, i32) {
        let limit = 1e6;
        let round = |v: f64| (v * self.theme.scale).clamp(-limit, limit).round() as i32;
        (round(x), round(y))
    }
}

/// About how wide a text is; the same on every backend, so that layouts agree.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let wide = |c: char| match c {
        'i' | 'l' | 'j' | 't' | 'f' | 'r' | '.' | ',' | ':' | ' ' | '|' | '\'' => 0.33,
        'm' | 'w' | 'M' | 'W' | '—' => 0.86,
        'A'..='Z' => 0.68,
        _ => 0.57,
    };
    text.chars().map(wide).sum::<f64>() * size
}

/// The text, or its beginning and `…` where it is wider than `width`.
pub(super) fn fitted(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        short.push(c);
        if text_width(&short, size) + size > width {
            short.pop();
            break;
        }
    }
    format!("{}…", short.trim_end())
}

fn opaque(colour: Colour, alpha: f64) -> RGBAColor {
    RGBAColor(colour.r, colour.g, colour.b, alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: Area = Area {
        left: 0.0,
        top: 0.0,
        right: 10.0,
        bottom: 10.0,
    };

    #[test]
    fn long_labels_are_shortened_to_the_room_they_have() {
        assert_eq!(fitted("short", 12.0, 200.0), "short");
        let text = fitted("an exceedingly long label", 12.0, 60.0);
        assert!(
            text.ends_with('…') && text_width(&text, 12.0) <= 72.0,
            "{text}"
        );
    }

    #[test]
    fn strokes_and_fills_land_on_the_pixels_of_a_bitmap() {
        use plotters::prelude::{BitMapBackend, IntoDrawingArea as _};
        let theme = Theme::light().at_scale(2.0);
        let mut pixels = vec![0; 3 * 40 * 40];
        {
            let area = BitMapBackend::with_buffer(&mut pixels, (40, 40)).into_drawing_area();
            let pen = Pen::new(&area, &theme, 1.0);
            assert_eq!(pen.size(), (20.0, 20.0));
            pen.clear().unwrap();
            let red = Colour::hex(0xFF0000);
            pen.line(&[[2.0, 5.0], [18.0, 5.0]], Stroke::solid(red, 1.0))
                .unwrap();
            pen.rectangle(SQUARE, Colour::hex(0x0000FF), 0.0).unwrap();
            pen.disc([10.0, 15.0], 2.0, Colour::hex(0x00FF00), 1.0)
                .unwrap();
            pen.disc([f64::NAN, 15.0], 2.0, red, 1.0).unwrap();
        }
        let at = |x: usize, y: usize| &pixels[3 * (40 * y + x)..][..3];
        assert_eq!(at(20, 10), [255, 0, 0]);
        assert_eq!(at(20, 30), [0, 255, 0]);
        assert_eq!(at(1, 1), [255, 255, 255]);
        assert_eq!(at(20, 20), [255, 255, 255]);
    }
}
