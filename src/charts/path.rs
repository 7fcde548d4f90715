//! Lines in pixels: where they end, where they are cut, where they have gaps.

use super::pen::{Area, Pixel};

/// Whether a point can be drawn.
pub(super) fn finite(point: &Pixel) -> bool {
    point.iter().all(|c| c.is_finite())
}

/// Cuts a line into drawn pieces of `drawn` with gaps of `skipped` pixels.
pub(super) fn dashes(points: &[Pixel], (drawn, skipped): (f64, f64)) -> Vec<Vec<Pixel>> {
    let mut pieces = Vec::new();
    let Some(&first) = points.first() else {
        return pieces;
    };
    let mut piece = vec![first];
    let (mut on, mut left) = (true, drawn);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to[0] - from[0]).hypot(to[1] - from[1]);
        while length > left {
            let part = left / length;
            from = [
                from[0] + part * (to[0] - from[0]),
                from[1] + part * (to[1] - from[1]),
            ];
            length -= left;
            if on {
                piece.push(from);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![from];
            }
            on = !on;
            left = if on { drawn } else { skipped };
        }
        left -= length;
        if on {
            piece.push(to);
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

/// The parts of a line inside a rectangle (Liang and Barsky).
pub(super) fn clip(points: &[Pixel], area: Area) -> Vec<Vec<Pixel>> {
    let mut pieces: Vec<Vec<Pixel>> = Vec::new();
    let mut open = false;
    for pair in points.windows(2) {
        let Some((from, to)) = clip_segment(pair[0], pair[1], area) else {
            open = false;
            continue;
        };
        match pieces.last_mut() {
            Some(piece) if open && piece.last() == Some(&from) => piece.push(to),
            _ => pieces.push(vec![from, to]),
        }
        open = to == pair[1];
    }
    pieces
}

fn clip_segment(from: Pixel, to: Pixel, area: Area) -> Option<(Pixel, Pixel)> {
    if !finite(&from) || !finite(&to) {
        return None;
    }
    let step = [to[0] - from[0], to[1] - from[1]];
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    let edges = [
        (-step[0], from[0] - area.left),
        (step[0], area.right - from[0]),
        (-step[1], from[1] - area.top),
        (step[1], area.bottom - from[1]),
    ];
    for (p, q) in edges {
        if p == 0.0 {
            if q < 0.0 {
                return None;
            }
        } else if p < 0.0 {
            start = start.max(q / p);
        } else {
            end = end.min(q / p);
        }
    }
    let at = |part: f64| [from[0] + part * step[0], from[1] + part * step[1]];
    (start <= end).then(|| {
        let first = if start == 0.0 { from } else { at(start) };
        let last = if end == 1.0 { to } else { at(end) };
        (first, last)
    })
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
    fn a_line_is_cut_at_the_edges_and_continues_where_it_comes_back() {
        let line = [
            [-5.0, 5.0],
            [5.0, 5.0],
            [5.0, 20.0],
            [8.0, 20.0],
            [8.0, 2.0],
        ];
        let pieces = clip(&line, SQUARE);
        assert_eq!(
            pieces,
            vec![
                vec![[0.0, 5.0], [5.0, 5.0], [5.0, 10.0]],
                vec![[8.0, 10.0], [8.0, 2.0]],
            ]
        );
    }

    #[test]
    fn a_line_with_a_hole_is_two_lines() {
        let line = [
            [1.0, 1.0],
            [2.0, 2.0],
            [f64::NAN, 3.0],
            [4.0, 4.0],
            [5.0, 5.0],
        ];
        assert_eq!(clip(&line, SQUARE).len(), 2);
    }

    #[test]
    fn dashes_cover_their_share_of_the_line() {
        let length = |piece: &Vec<Pixel>| -> f64 {
            piece
                .windows(2)
                .map(|p| (p[1][0] - p[0][0]).hypot(p[1][1] - p[0][1]))
                .sum()
        };
        let line: Vec<Pixel> = (0..=100).map(|k| [k as f64, 0.0]).collect();
        let drawn: f64 = dashes(&line, (6.0, 4.0)).iter().map(length).sum();
        assert!((drawn - 60.0).abs() < 1e-9, "{drawn} of 100 px are drawn");
    }
}
