//! Bar charts: one group of bars a category, one bar a method, with error bars.

use plotters::{
    prelude::DrawingBackend,
    style::text_anchor::{HPos, VPos},
};
use serde::{Deserialize, Serialize};

use super::{
    ChartError,
    axis::{Axis, Scale},
    frame::{self, Entry, Frame, Glyph, LABEL},
    nullable,
    number::short,
    pen::{Area, Lettering, Pen, Stroke, fitted},
    series::{self, Level},
    table::Table,
    theme::Hue,
};

/// The bars of one method, one a category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BarSeries {
    /// Name in the legend.
    pub name: String,
    /// What it stands for.
    pub hue: Hue,
    /// Height in each category; NaN leaves a gap.
    #[serde(with = "nullable::list")]
    pub values: Vec<f64>,
    /// Half length of each error bar; empty for none.
    #[serde(
        with = "nullable::list",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub errors: Vec<f64>,
}

/// Grouped bars over categories.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BarChart {
    /// What the chart shows.
    pub title: String,
    /// What the categories are.
    pub category: String,
    /// Vertical axis.
    pub y: Axis,
    /// Category names.
    pub categories: Vec<String>,
    /// One series a method.
    pub series: Vec<BarSeries>,
    /// Horizontal markers.
    pub levels: Vec<Level>,
}

impl BarChart {
    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &Pen<DB>) -> Result<(), ChartError> {
        let entries: Vec<Entry> = self
            .series
            .iter()
            .map(|s| Entry {
                name: &s.name,
                hue: s.hue,
                glyph: Glyph::Square,
            })
            .collect();
        let top = frame::heading(pen, &self.title, &entries)?;
        let groups = self.categories.len().max(1);
        // Without ticks on a category axis: its scale only places the groups.
        let hidden = Axis::linear(self.category.clone(), "").with_range(0.0, groups as f64);
        let x = (&hidden, hidden.scale([]));
        let frame = frame::axes_without_x_ticks(pen, x, (&self.y, self.height_scale()), top)?;
        self.names(pen, &frame, groups)?;
        for (index, s) in self.series.iter().enumerate() {
            self.bars(pen, &frame, (index, s))?;
        }
        series::draw_levels(pen, &frame, &self.levels)?;
        if self.series.iter().all(|s| s.values.is_empty()) {
            frame::nothing(pen, frame.plot)?;
        }
        Ok(())
    }

    fn height_scale(&self) -> Scale {
        let ends = self.series.iter().flat_map(|s| {
            s.values.iter().enumerate().flat_map(|(i, &v)| {
                let error = s
                    .errors
                    .get(i)
                    .copied()
                    .filter(|e| e.is_finite())
                    .unwrap_or(0.0);
                [v, v + error, v - error]
            })
        });
        let levels = self.levels.iter().map(|l| l.value);
        let scale = self.y.scale(ends.chain(levels));
        if self.y.range.is_some() {
            scale
        } else if scale.is_log() {
            scale.padded(0.08)
        } else {
            let all = [scale.low.min(0.0), scale.high.max(0.0)];
            let (low, high) = (all[0], all[1]);
            let pad = 0.06 * (high - low);
            let end = |v: f64, pad: f64| if v == 0.0 { 0.0 } else { v + pad };
            Axis::default()
                .with_range(end(low, -pad), end(high, pad))
                .scale([])
        }
    }

    fn names<DB: DrawingBackend>(
        &self,
        pen: &Pen<DB>,
        frame: &Frame,
        groups: usize,
    ) -> Result<(), ChartError> {
        let room = frame.plot.width() / groups as f64;
        for (i, name) in self.categories.iter().enumerate() {
            let centre = frame.at([i as f64 + 0.5, frame.y.low])[0];
            let how = Lettering::new(LABEL, pen.theme.muted).at(HPos::Center, VPos::Center);
            let text = fitted(name, LABEL, room - 4.0);
            pen.text(&text, [centre, frame.plot.bottom + 16.0], how)?;
        }
        Ok(())
    }

    fn bars<DB: DrawingBackend>(
        &self,
        pen: &Pen<DB>,
        frame: &Frame,
        (index, s): (usize, &BarSeries),
    ) -> Result<(), ChartError> {
        let count = self.series.len() as f64;
        let group = frame.plot.width() / self.categories.len().max(1) as f64;
        let wide = (0.72 * group / count).min(44.0);
        let base = if frame.y.is_log() {
            frame.plot.bottom
        } else {
            frame.row(0.0)
        };
        let colour = pen.theme.hue(s.hue);
        for (i, &value) in s.values.iter().take(self.categories.len()).enumerate() {
            if !value.is_finite() || frame.y.part(value).is_none() {
                continue;
            }
            let centre = frame.at([i as f64 + 0.5, frame.y.low])[0];
            let left = centre + (index as f64 - count / 2.0) * wide;
            let gap = (0.06 * wide).clamp(0.5, 2.0);
            let (tip, right) = (frame.row(value), left + wide - gap);
            let bar = Area {
                left: left + gap,
                top: tip.min(base),
                right,
                bottom: tip.max(base),
            };
            pen.rectangle(bar, colour, 1.0)?;
            if let Some(error) = s
                .errors
                .get(i)
                .copied()
                .filter(|e| e.is_finite() && *e > 0.0)
            {
                whisker(
                    pen,
                    frame,
                    (left + gap + right) / 2.0,
                    [value - error, value + error],
                )?;
            }
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> String {
        let mut text = format!(
            "Bar chart: {}. Vertical axis: {}.",
            self.title,
            self.y.title()
        );
        for s in &self.series {
            let bars: Vec<String> = self
                .categories
                .iter()
                .zip(&s.values)
                .enumerate()
                .map(|(i, (name, &value))| match s.errors.get(i) {
                    Some(&error) => format!("{name} {} ± {}", short(value), short(error)),
                    None => format!("{name} {}", short(value)),
                })
                .collect();
            text += &format!(" {}: {}.", s.name, bars.join(", "));
        }
        text
    }

    pub(super) fn rows(&self, format: fn(f64) -> String) -> Table {
        let mut columns = vec![self.category.clone()];
        for s in &self.series {
            columns.push(s.name.clone());
            if !s.errors.is_empty() {
                columns.push(format!("{} ±", s.name));
            }
        }
        let mut table = Table::new(self.title.clone(), columns);
        for (i, name) in self.categories.iter().enumerate() {
            let mut row = vec![name.clone()];
            for s in &self.series {
                let cell = |list: &[f64]| format(list.get(i).copied().unwrap_or(f64::NAN));
                row.push(cell(&s.values));
                if !s.errors.is_empty() {
                    row.push(cell(&s.errors));
                }
            }
            table.rows.push(row);
        }
        table
    }
}

fn whisker<DB: DrawingBackend>(
    pen: &Pen<DB>,
    frame: &Frame,
    centre: f64,
    [low, high]: [f64; 2],
) -> Result<(), ChartError> {
    let (low, high) = (frame.row(low), frame.row(high));
    let stroke = Stroke::solid(pen.theme.ink, 1.25).faint(0.8);
    pen.line(&[[centre, low], [centre, high]], stroke)?;
    for row in [low, high] {
        pen.line(&[[centre - 3.0, row], [centre + 3.0, row]], stroke)?;
    }
    Ok(())
}
