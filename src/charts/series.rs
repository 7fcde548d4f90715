//! Curves and point clouds, and the lines that mark events and levels.

use plotters::{
    prelude::DrawingBackend,
    style::text_anchor::{HPos, VPos},
};
use serde::{Deserialize, Serialize};

use super::{
    ChartError,
    frame::{Frame, LABEL, label_over_data},
    nullable,
    number::short,
    pen::{Lettering, Pen, Stroke, text_width},
    table::Table,
    theme::Hue,
};

/// A named curve or point cloud.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// What it stands for.
    pub hue: Hue,
    /// Points (x, y).
    #[serde(with = "nullable::pairs")]
    pub points: Vec<[f64; 2]>,
    /// Lower and upper end of each point's error band; empty for none.
    #[serde(
        with = "nullable::pairs",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub band: Vec<[f64; 2]>,
    /// Whether each point of a curve gets a dot.
    #[serde(default)]
    pub dotted: bool,
}

impl Series {
    /// A curve without error bands.
    pub fn new(name: impl Into<String>, hue: Hue, points: Vec<[f64; 2]>) -> Self {
        Self {
            name: name.into(),
            hue,
            points,
            band: Vec::new(),
            dotted: false,
        }
    }

    /// The same curve with a band from lower to upper end at each point.
    pub fn with_band(self, band: Vec<[f64; 2]>) -> Self {
        Self { band, ..self }
    }

    /// The same curve with a dot at each point.
    pub fn with_dots(self) -> Self {
        Self {
            dotted: true,
            ..self
        }
    }

    /// All vertical values, with those of the band.
    pub(super) fn heights(&self) -> impl Iterator<Item = f64> {
        self.points
            .iter()
            .map(|p| p[1])
            .chain(self.band.iter().flatten().copied())
    }

    /// One sentence on the curve for those who do not see it.
    pub(super) fn describe(&self) -> String {
        let shown: Vec<[f64; 2]> = self
            .points
            .iter()
            .copied()
            .filter(|p| p.iter().all(|c| c.is_finite()))
            .collect();
        let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
            return format!("{}: no data.", self.name);
        };
        let by_height = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
        let low = shown.iter().min_by(by_height).unwrap_or(first);
        let high = shown.iter().max_by(by_height).unwrap_or(first);
        format!(
            "{}: {} points, from {} to {}, lowest {} at {}, highest {} at {}.",
            self.name,
            shown.len(),
            short(first[1]),
            short(last[1]),
            short(low[1]),
            short(low[0]),
            short(high[1]),
            short(high[0]),
        )
    }
}

/// Something that happened at one place of the horizontal axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Where on the horizontal axis.
    pub at: f64,
    /// What happened.
    pub label: String,
    /// Whose event it is.
    pub hue: Hue,
}

/// A value to compare with, such as the true mass or the noise floor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The value on the vertical axis.
    pub value: f64,
    /// What it is.
    pub label: String,
    /// What it stands for.
    pub hue: Hue,
}

pub(super) fn draw_levels<DB: DrawingBackend>(
    pen: &Pen<DB>,
    frame: &Frame,
    levels: &[Level],
) -> Result<(), ChartError> {
    let plot = frame.plot;
    for level in levels {
        let row = frame.at([frame.x.low, level.value])[1];
        if !plot.contains([plot.left, row]) {
            continue;
        }
        let colour = pen.theme.hue(level.hue);
        let stroke = Stroke::solid(colour, 1.5)
            .dashed(level.hue.dash())
            .faint(0.85);
        pen.line(&[[plot.left, row], [plot.right, row]], stroke)?;
        let beside = if row - 16.0 < plot.top {
            row + 11.0
        } else {
            row - 11.0
        };
        let how = Lettering::new(LABEL - 0.5, colour);
        label_over_data(pen, &level.label, [plot.right - 2.0, beside], how)?;
    }
    Ok(())
}

/// Height of one line of event labels above the plot [px].
const EVENT_LINE: f64 = 17.0;

/// Room above the plot that the labels of events need.
pub(super) fn event_room(events: &[Event]) -> f64 {
    // The first line is next to the title of the vertical axis.
    EVENT_LINE * events.len().clamp(1, 2).saturating_sub(1) as f64
}

/// Draws events as lines through the plot, with their labels above it.
pub(super) fn draw_events<DB: DrawingBackend>(
    pen: &Pen<DB>,
    frame: &Frame,
    events: &[Event],
) -> Result<(), ChartError> {
    let plot = frame.plot;
    let size = LABEL - 0.5;
    for (index, event) in events.iter().enumerate() {
        let column = frame.at([event.at, frame.y.low])[0];
        if !plot.contains([column, plot.top]) {
            continue;
        }
        let colour = pen.theme.hue(event.hue);
        let middle = plot.top - EVENT_LINE * (0.5 + (index % 2) as f64);
        let stroke = Stroke::solid(colour, 1.25).dashed(Some((3.0, 3.0)));
        pen.line(&[[column, middle - 6.0], [column, plot.bottom]], stroke)?;
        let how = Lettering::new(size, colour);
        if column + 6.0 + text_width(&event.label, size) > plot.right {
            pen.text(
                &event.label,
                [column - 6.0, middle],
                how.at(HPos::Right, VPos::Center),
            )?;
        } else {
            pen.text(
                &event.label,
                [column + 6.0, middle],
                how.at(HPos::Left, VPos::Center),
            )?;
        }
    }
    Ok(())
}

/// One row a point: side by side if all series have the same x, else one below the other.
pub(super) fn rows(
    title: &str,
    x: &str,
    y: &str,
    series: &[Series],
    format: fn(f64) -> String,
) -> Table {
    let shared = series.iter().all(|s| {
        s.points.len() == series[0].points.len()
            && s.points
                .iter()
                .zip(&series[0].points)
                .all(|(a, b)| a[0] == b[0])
    });
    if shared {
        side_by_side(title, x, series, format)
    } else {
        stacked(title, x, y, series, format)
    }
}

fn side_by_side(title: &str, x: &str, series: &[Series], format: fn(f64) -> String) -> Table {
    let mut columns = vec![x.to_owned()];
    for s in series {
        columns.push(s.name.clone());
        if !s.band.is_empty() {
            columns.extend([format!("{} lower", s.name), format!("{} upper", s.name)]);
        }
    }
    let mut table = Table::new(title, columns);
    for i in 0..series.first().map_or(0, |s| s.points.len()) {
        let mut row = vec![format(series[0].points[i][0])];
        for s in series {
            row.push(format(s.points[i][1]));
            if !s.band.is_empty() {
                let [low, high] = s.band.get(i).copied().unwrap_or([f64::NAN; 2]);
                row.extend([format(low), format(high)]);
            }
        }
        table.rows.push(row);
    }
    table
}

fn stacked(title: &str, x: &str, y: &str, series: &[Series], format: fn(f64) -> String) -> Table {
    let banded = series.iter().any(|s| !s.band.is_empty());
    let mut table = Table::new(title, ["series", x, y]);
    if banded {
        table
            .columns
            .extend(["lower".to_owned(), "upper".to_owned()]);
    }
    for s in series {
        for (i, &[x, y]) in s.points.iter().enumerate() {
            let mut row = vec![s.name.clone(), format(x), format(y)];
            if banded {
                let [low, high] = s.band.get(i).copied().unwrap_or([f64::NAN; 2]);
                row.extend([format(low), format(high)]);
            }
            table.rows.push(row);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_with_the_same_x_share_their_rows() {
        let a = Series::new("a", Hue::Camel, vec![[0.0, 1.0], [1.0, 2.0]]);
        let b = Series::new("b", Hue::Anil, vec![[0.0, 3.0], [1.0, 4.0]])
            .with_band(vec![[2.5, 3.5], [3.5, 4.5]]);
        let table = rows("t", "x", "y", &[a.clone(), b.clone()], short);
        assert_eq!(table.columns, ["x", "a", "b", "b lower", "b upper"]);
        assert_eq!(table.rows[1], ["1", "2", "4", "3.5", "4.5"]);
        let shifted = Series {
            points: vec![[0.5, 3.0]],
            band: vec![],
            ..b
        };
        assert_eq!(rows("t", "x", "y", &[a, shifted], short).rows.len(), 3);
    }

    #[test]
    fn a_description_names_the_ends_and_the_extremes() {
        let curve = Series::new(
            "CAMEL",
            Hue::Camel,
            vec![[0.0, 4.0], [1.0, f64::NAN], [2.0, 1.0]],
        );
        assert_eq!(
            curve.describe(),
            "CAMEL: 2 points, from 4 to 1, lowest 1 at 2, highest 4 at 0."
        );
        assert_eq!(
            Series::new("x", Hue::Neutral, vec![]).describe(),
            "x: no data."
        );
    }
}
