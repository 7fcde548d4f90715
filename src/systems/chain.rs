//! Planar chain on a wheel: `M(q) q̈ + h(q, q̇) = Q`, for Upkie.
//!
//! Coordinates q = (s, θ1, θ2, θ3): the axle's position along the ground and the *absolute* angles
//! of three segments from the vertical, positive when leaning forward. A body's centre is
//! `p = (s, R) + Σ_j Rot(θ_j) d_j` with an offset d_j in each segment's own frame, so with its
//! Jacobian J (columns ∂p/∂q_j)
//!
//! ```text
//! M = Σ m JᵀJ + Σ I (rotation),   h = Σ m Jᵀ (Σ_j ∂²p/∂θ_j² θ̇_j² + g ẑ)
//! ```
//!
//! There are no cross terms in h because each offset turns with one angle alone. M and h are
//! linear in all masses and inertias.

use nalgebra::{Matrix2x4, Matrix4, Vector2, Vector4};

/// Coordinates (s, θ1, θ2, θ3), their rates or their accelerations.
pub type Coordinates = Vector4<f64>;

/// A rigid body that turns with one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Mass [kg].
    pub mass: f64,
    /// Inertia about its centre [kg m²].
    pub inertia: f64,
    /// Segment that it turns with: 0, 1 or 2.
    pub segment: usize,
    /// Offsets d_j in the frames of the three segments, (forward, up) [m].
    pub offsets: [[f64; 2]; 3],
}

/// A wheel and the bodies above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Mass of the wheel [kg].
    pub wheel_mass: f64,
    /// Inertia of the wheel about its axle [kg m²].
    pub wheel_inertia: f64,
    /// Radius R of the wheel [m].
    pub wheel_radius: f64,
    /// Gravity g [m/s²].
    pub gravity: f64,
    /// The bodies.
    pub bodies: Vec<Body>,
}

/// Sine and cosine of an angle.
type Turn = (f64, f64);

/// An offset turned forward by an angle.
pub fn turned(offset: [f64; 2], angle: f64) -> Vector2<f64> {
    turned_by(offset, angle.sin_cos())
}

fn turned_by([forward, up]: [f64; 2], (sin, cos): Turn) -> Vector2<f64> {
    Vector2::new(forward * cos + up * sin, up * cos - forward * sin)
}

/// The turns of the three segments, made once for all bodies.
fn turns(q: &Coordinates) -> [Turn; 3] {
    [1, 2, 3].map(|i| q[i].sin_cos())
}

/// The offsets of a body, turned with their segments.
struct Arms([Vector2<f64>; 3]);

impl Body {
    fn arms(&self, turns: &[Turn; 3]) -> Arms {
        Arms([0, 1, 2].map(|j| turned_by(self.offsets[j], turns[j])))
    }
}

impl Arms {
    /// Height of the body's centre above the axle.
    fn height(&self) -> f64 {
        self.0.iter().map(|arm| arm.y).sum()
    }

    fn jacobian(&self) -> Matrix2x4<f64> {
        let mut jacobian = Matrix2x4::zeros();
        jacobian[(0, 0)] = 1.0;
        for (j, arm) in self.0.iter().enumerate() {
            jacobian.set_column(j + 1, &Vector2::new(arm.y, -arm.x));
        }
        jacobian
    }

    /// The centre's acceleration when all q̈ are zero.
    fn centripetal(&self, rates: &Coordinates) -> Vector2<f64> {
        let arms = self.0.iter().enumerate();
        arms.map(|(j, arm)| -arm * rates[j + 1].powi(2)).sum()
    }
}

impl Chain {
    /// The mass matrix M, and the centripetal and gravity terms h.
    fn equations(&self, q: &Coordinates, rates: &Coordinates) -> (Matrix4<f64>, Coordinates) {
        let turns = turns(q);
        let (mut matrix, mut bias) = (Matrix4::zeros(), Coordinates::zeros());
        matrix[(0, 0)] =
            self.wheel_mass + self.wheel_inertia / (self.wheel_radius * self.wheel_radius);
        for body in &self.bodies {
            let arms = body.arms(&turns);
            let jacobian = arms.jacobian();
            let acceleration = arms.centripetal(rates) + Vector2::new(0.0, self.gravity);
            matrix += jacobian.transpose() * jacobian * body.mass;
            matrix[(body.segment + 1, body.segment + 1)] += body.inertia;
            bias += jacobian.transpose() * acceleration * body.mass;
        }
        (matrix, bias)
    }

    /// The mass matrix M.
    pub fn mass_matrix(&self, q: &Coordinates) -> Matrix4<f64> {
        self.equations(q, &Coordinates::zeros()).0
    }

    /// Centripetal and gravity terms h.
    pub fn bias(&self, q: &Coordinates, rates: &Coordinates) -> Coordinates {
        self.equations(q, rates).1
    }

    /// Accelerations q̈ under generalised forces Q; not a number if M is not positive definite.
    pub fn accelerations(
        &self,
        q: &Coordinates,
        rates: &Coordinates,
        forces: &Coordinates,
    ) -> Coordinates {
        let (matrix, bias) = self.equations(q, rates);
        let Some(factor) = matrix.cholesky() else {
            return Coordinates::repeat(f64::NAN);
        };
        factor.solve(&(forces - bias))
    }

    /// Generalised forces Q that explain accelerations q̈.
    pub fn forces(
        &self,
        q: &Coordinates,
        rates: &Coordinates,
        accelerations: &Coordinates,
    ) -> Coordinates {
        let (matrix, bias) = self.equations(q, rates);
        matrix * accelerations + bias
    }

    /// Kinetic and potential energy [J], the latter zero at the height of the axle.
    pub fn energy(&self, q: &Coordinates, rates: &Coordinates) -> f64 {
        let turns = turns(q);
        let height = |body: &Body| body.mass * body.arms(&turns).height();
        let heights: f64 = self.bodies.iter().map(height).sum();
        0.5 * rates.dot(&(self.mass_matrix(q) * rates)) + self.gravity * heights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_rod_is_a_cart_with_an_inverted_pendulum() {
        let (m, l, inertia, wheel) = (0.7, 0.4, 0.02, 1.3);
        let chain = Chain {
            wheel_mass: wheel,
            wheel_inertia: 0.0,
            wheel_radius: 0.05,
            gravity: 9.81,
            bodies: vec![Body {
                mass: m,
                inertia,
                segment: 0,
                offsets: [[0.0, l], [0.0; 2], [0.0; 2]],
            }],
        };
        let (q, rates) = (
            Coordinates::new(0.0, 0.6, 0.0, 0.0),
            Coordinates::new(0.3, -1.1, 0.0, 0.0),
        );
        let matrix = chain.mass_matrix(&q);
        assert!((matrix[(0, 0)] - wheel - m).abs() < 1e-12);
        assert!((matrix[(0, 1)] - m * l * 0.6f64.cos()).abs() < 1e-12);
        assert!((matrix[(1, 1)] - inertia - m * l * l).abs() < 1e-12);
        let bias = chain.bias(&q, &rates);
        assert!((bias[0] + m * l * 0.6f64.sin() * 1.21).abs() < 1e-12);
        assert!((bias[1] + m * 9.81 * l * 0.6f64.sin()).abs() < 1e-12);
    }
}
