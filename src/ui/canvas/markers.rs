//! Measurement points that a visitor places on a field.

/// A list of points inside a rectangle.
#[derive(Clone, Debug, PartialEq)]
pub struct Markers {
    /// Lower left and upper right corner of where points may be.
    pub domain: [[f64; 2]; 2],
    /// The points.
    pub points: Vec<[f64; 2]>,
    /// Most points there can be.
    pub limit: usize,
}

impl Markers {
    /// The nearest point within `radius` of `at`.
    pub fn nearest(&self, at: [f64; 2], radius: f64) -> Option<usize> {
        let distance = |p: &[f64; 2]| (p[0] - at[0]).hypot(p[1] - at[1]);
        let found = self
            .points
            .iter()
            .enumerate()
            .map(|(k, point)| (k, distance(point)))
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        (found.1 <= radius).then_some(found.0)
    }

    /// Adds a point and says its index; none if it lies outside or there are enough.
    pub fn add(&mut self, at: [f64; 2]) -> Option<usize> {
        let inside = (0..2).all(|k| (self.domain[0][k]..=self.domain[1][k]).contains(&at[k]));
        if !inside || self.points.len() >= self.limit {
            return None;
        }
        self.points.push(at);
        Some(self.points.len() - 1)
    }

    /// Moves a point, keeping it inside.
    pub fn shift(&mut self, index: usize, to: [f64; 2]) {
        let kept = self.kept_inside(to);
        if let Some(point) = self.points.get_mut(index) {
            *point = kept;
        }
    }

    /// Removes a point.
    pub fn remove(&mut self, index: usize) {
        if index < self.points.len() {
            self.points.remove(index);
        }
    }

    /// The place inside the domain that is nearest to `at`.
    pub fn kept_inside(&self, at: [f64; 2]) -> [f64; 2] {
        let [low, high] = self.domain;
        std::array::from_fn(|k| {
            if at[k].is_finite() {
                at[k].max(low[k]).min(high[k])
            } else {
                low[k]
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markers() -> Markers {
        Markers {
            domain: [[-1.0, 0.0], [1.0, 1.0]],
            points: vec![[0.0, 0.5], [0.5, 0.5]],
            limit: 3,
        }
    }

    #[test]
    fn the_nearest_point_is_found_only_within_reach() {
        assert_eq!(markers().nearest([0.45, 0.5], 0.1), Some(1));
        assert_eq!(markers().nearest([0.25, 0.9], 0.1), None);
    }

    #[test]
    fn points_outside_or_beyond_the_limit_are_refused() {
        let mut markers = markers();
        assert_eq!(markers.add([2.0, 0.5]), None);
        assert_eq!(markers.add([0.9, 0.9]), Some(2));
        assert_eq!(markers.add([0.8, 0.8]), None);
    }

    #[test]
    fn a_dragged_point_stays_inside() {
        let mut markers = markers();
        markers.shift(0, [5.0, -3.0]);
        assert_eq!(markers.points[0], [1.0, 0.0]);
        markers.shift(0, [f64::NAN, 0.5]);
        assert_eq!(markers.points[0], [-1.0, 0.5]);
        markers.shift(99, [0.0, 0.0]);
        markers.remove(99);
        assert_eq!(markers.points.len(), 2);
    }
}
