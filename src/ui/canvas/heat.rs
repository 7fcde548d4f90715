//! Heat maps as pixels.

use crate::charts::{FieldChart, Theme};

/// Pixels of a heat map, one a grid value.
#[derive(Clone, Debug, PartialEq)]
pub struct Pixels {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green, blue and opacity of each pixel, row after row from the top.
    pub rgba: Vec<u8>,
}

/// The values of a field in its colour map; values that are not numbers are left transparent.
/// None if there is nothing to show.
pub fn pixels(field: &FieldChart, theme: &Theme) -> Option<Pixels> {
    let rows = field.rows_of_values();
    if field.columns == 0 || rows == 0 {
        return None;
    }
    let span = field.span();
    let mut rgba = Vec::with_capacity(4 * field.values.len());
    for row in field.values.chunks_exact(field.columns).rev() {
        for &value in row {
            let colour = field.map.colour(span.part(value), theme.dark);
            let opacity = if value.is_finite() { 255 } else { 0 };
            rgba.extend([colour.r, colour.g, colour.b, opacity]);
        }
    }
    Some(Pixels {
        width: u32::try_from(field.columns).ok()?,
        height: u32::try_from(rows).ok()?,
        rgba,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(values: Vec<f64>) -> FieldChart {
        FieldChart {
            columns: 2,
            values,
            ..FieldChart::default()
        }
    }

    #[test]
    fn the_top_row_of_the_picture_is_the_last_row_of_the_grid() {
        let pixels = pixels(&field(vec![-1.0, 0.0, 0.0, 1.0]), &Theme::light()).unwrap();
        assert_eq!((pixels.width, pixels.height), (2, 2));
        let map = field(vec![]).map;
        let high = map.colour(1.0, false);
        assert_eq!(pixels.rgba[4..7], [high.r, high.g, high.b]);
    }

    #[test]
    fn what_is_not_a_number_is_transparent() {
        let pixels = pixels(&field(vec![f64::NAN, 1.0]), &Theme::dark()).unwrap();
        assert_eq!((pixels.rgba[3], pixels.rgba[7]), (0, 255));
    }

    #[test]
    fn nothing_gives_no_picture() {
        assert_eq!(pixels(&FieldChart::default(), &Theme::light()), None);
    }
}
