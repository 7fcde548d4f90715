//! Field charts: a heat map of a potential, its field lines, its sources and where it was
//! measured.

use serde::{Deserialize, Serialize};

use super::{
    axis::Axis,
    colormap::{Map, Span},
    nullable,
    number::short,
    table::Table,
};
use crate::systems::{Role, Shape};

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

    /// The map in words.
    pub fn describe(&self) -> String {
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
        let measured = match self.points.len() {
            0 => String::new(),
            count => format!(", {count} measured points"),
        };
        format!(
            "Field map: {}. {} over x from {} to {} and y from {} to {} {}: {range}; {} field lines{measured}.",
            self.title,
            self.quantity.title(),
            short(low[0]),
            short(high[0]),
            short(low[1]),
            short(high[1]),
            self.length_unit,
            self.lines.len(),
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
