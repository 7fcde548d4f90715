//! From metres with y upwards to canvas pixels with y downwards.

/// A view of a rectangle of the world, the same scale in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// World point in the middle of the canvas [m].
    pub centre: [f64; 2],
    /// Pixels in a metre.
    pub scale: f64,
    /// Canvas width and height [px].
    pub size: [f64; 2],
}

impl Camera {
    /// The largest view that shows all of `world` (lower left and upper right corner) on a
    /// canvas of `size` pixels; none if either is empty or not finite.
    pub fn fit(world: [[f64; 2]; 2], size: [f64; 2]) -> Option<Self> {
        let [low, high] = world;
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        let scale = (size[0] / width).min(size[1] / height);
        let valid = width > 0.0 && height > 0.0 && scale > 0.0 && scale.is_finite();
        valid.then(|| Self {
            centre: [(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0],
            scale,
            size,
        })
    }

    /// The same view moved sideways so that `x` is in the middle.
    pub fn centred_at(self, x: f64) -> Self {
        let centre = if x.is_finite() {
            [x, self.centre[1]]
        } else {
            self.centre
        };
        Self { centre, ..self }
    }

    /// The pixel of a world point.
    pub fn to_pixel(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [
            self.size[0] / 2.0 + (x - self.centre[0]) * self.scale,
            self.size[1] / 2.0 - (y - self.centre[1]) * self.scale,
        ]
    }

    /// The world point of a pixel.
    pub fn to_world(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [
            self.centre[0] + (x - self.size[0] / 2.0) / self.scale,
            self.centre[1] - (y - self.size[1] / 2.0) / self.scale,
        ]
    }

    /// A length in pixels, but at least `least`.
    pub fn length(&self, metres: f64, least: f64) -> f64 {
        let pixels = metres.abs() * self.scale;
        if pixels.is_finite() {
            pixels.max(least)
        } else {
            least
        }
    }

    /// Left and right edge of the view [m].
    pub fn reach(&self) -> (f64, f64) {
        let half = self.size[0] / 2.0 / self.scale;
        (self.centre[0] - half, self.centre[0] + half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: [[f64; 2]; 2] = [[-2.0, -1.0], [2.0, 1.0]];

    #[test]
    fn the_world_fits_and_keeps_its_proportions() {
        let camera = Camera::fit(WORLD, [800.0, 300.0]).unwrap();
        assert_eq!(camera.scale, 150.0);
        assert_eq!(camera.to_pixel([0.0, 1.0]), [400.0, 0.0]);
        assert_eq!(camera.to_pixel([0.0, -1.0]), [400.0, 300.0]);
        assert_eq!(camera.to_pixel([2.0, 0.0]), [700.0, 150.0]);
    }

    #[test]
    fn a_pixel_and_back_is_the_same_point() {
        let camera = Camera::fit(WORLD, [390.0, 844.0]).unwrap().centred_at(7.5);
        for point in [[0.0, 0.0], [1.3, -0.4], [9.0, 3.0]] {
            let back = camera.to_world(camera.to_pixel(point));
            assert!((back[0] - point[0]).abs() < 1e-12 && (back[1] - point[1]).abs() < 1e-12);
        }
    }

    #[test]
    fn an_empty_canvas_or_world_has_no_camera() {
        assert_eq!(Camera::fit(WORLD, [0.0, 100.0]), None);
        assert_eq!(Camera::fit([[0.0; 2]; 2], [100.0; 2]), None);
        assert_eq!(Camera::fit([[f64::NAN; 2], [1.0; 2]], [100.0; 2]), None);
    }

    #[test]
    fn a_robot_that_ran_away_to_infinity_does_not_take_the_camera_along() {
        let camera = Camera::fit(WORLD, [100.0; 2]).unwrap();
        assert_eq!(camera.centred_at(f64::INFINITY), camera);
        assert_eq!(camera.length(f64::NAN, 1.0), 1.0);
    }
}
