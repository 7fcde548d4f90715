//! The two kinds of numbers that the kernel computes with, and their tanh.

use std::{fmt::Debug, ops};

use super::lanes::Lanes;

/// `f32`, fast, or `f64`, exact.
pub trait Scalar:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + ops::Add<Output = Self>
    + ops::AddAssign
    + ops::Div<Output = Self>
    + ops::Mul<Output = Self>
    + ops::Neg<Output = Self>
    + ops::Sub<Output = Self>
    + 'static
{
    /// Four numbers side by side.
    type Four: Lanes<Self>;
    /// Eight numbers side by side.
    type Eight: Lanes<Self>;

    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// tanh, within 2e-7 in `f32` and 1e-15 in `f64`.
    fn tanh(self) -> Self;

    /// √.
    fn sqrt(self) -> Self;

    /// The nearest number.
    fn from_f64(value: f64) -> Self;

    /// The same number.
    fn to_f64(self) -> f64;

    /// `self · factor + term`, rounded once.
    fn fused_multiply_add(self, factor: Self, term: Self) -> Self;
}

macro_rules! lanes {
    ($registers:ident, $four:literal, $eight:literal) => {
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        type Four = super::lanes::wasm::$registers<$four>;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        type Eight = super::lanes::wasm::$registers<$eight>;
        #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
        type Four = [Self; 4];
        #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
        type Eight = [Self; 8];
    };
}

impl Scalar for f32 {
    lanes!(Singles, 1, 2);

    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn tanh(self) -> Self {
        rational_tanh(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn fused_multiply_add(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

impl Scalar for f64 {
    lanes!(Doubles, 2, 4);

    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn tanh(self) -> Self {
        double_tanh(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn fused_multiply_add(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

/// tanh x = 2t / (1 + t²) with t = tanh(x/2) ≈ x P(x²) / Q(x²), P and Q of degree 3: the best such
/// fraction on |x| ≤ 8.4 (relative error 3e-8, by Remez's exchange algorithm). The doubling forgives
/// errors of t where it is near 1, and costs no second division. No branches, so that a
/// loop over it is vectorised.
#[inline(always)]
fn rational_tanh(x: f32) -> f32 {
    let x = x.clamp(-LIMIT, LIMIT);
    let u = x * x;
    let p = x * (((P[3] * u + P[2]) * u + P[1]) * u + P[0]);
    let q = ((Q[3] * u + Q[2]) * u + Q[1]) * u + Q[0];
    (p + p) * q / (p * p + q * q)
}

/// Where tanh is 1 in `f32`.
const LIMIT: f32 = 9.0;
const P: [f32; 4] = [0.5, 1.577_095_9e-2, 8.057_882e-5, 4.402_255e-8];
const Q: [f32; 4] = [1.0, 0.114_875_235, 1.400_773_5e-3, 2.776_392e-6];

/// The same in `f64` with three doublings from t = tanh(x/8) ≈ z P(z²) / Q(z²), z = x/8, degrees 5
/// and 4 (relative error 4e-18 on |x| ≤ 19.1, where tanh is 1).
#[inline(always)]
fn double_tanh(x: f64) -> f64 {
    let z = 0.125 * x.clamp(-DOUBLE_LIMIT, DOUBLE_LIMIT);
    let u = z * z;
    let p = ((((DOUBLE_P[5] * u + DOUBLE_P[4]) * u + DOUBLE_P[3]) * u + DOUBLE_P[2]) * u
        + DOUBLE_P[1])
        * u
        + DOUBLE_P[0];
    let q =
        (((DOUBLE_Q[4] * u + DOUBLE_Q[3]) * u + DOUBLE_Q[2]) * u + DOUBLE_Q[1]) * u + DOUBLE_Q[0];
    let (p, q) = doubled(doubled(doubled((z * p, q))));
    p / q
}

/// Twice the argument of tanh = p / q.
#[inline(always)]
fn doubled((p, q): (f64, f64)) -> (f64, f64) {
    ((p + p) * q, p * p + q * q)
}

const DOUBLE_LIMIT: f64 = 19.1;
#[allow(clippy::excessive_precision, reason = "as the fit gave them")]
const DOUBLE_P: [f64; 6] = [
    1.0,
    0.138_987_256_302_699_32,
    4.148_463_963_075_380e-3,
    3.412_774_168_965_607_4e-5,
    4.830_087_200_657_742_9e-8,
    -3.075_576_087_080_482_6e-11,
];
#[allow(clippy::excessive_precision, reason = "as the fit gave them")]
const DOUBLE_Q: [f64; 5] = [
    1.0,
    0.472_320_589_636_032_54,
    2.825_532_717_508_715_7e-2,
    4.447_454_834_988_777_2e-4,
    1.748_838_455_426_658_3e-6,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rational_tanh_is_within_2e_7() {
        let worst = |range: f32| {
            (-200_000..=200_000)
                .map(|i| range * i as f32 / 200_000.0)
                .map(|x| (f64::from(rational_tanh(x)) - f64::from(x).tanh()).abs())
                .fold(0.0, f64::max)
        };
        for range in [1e-3, 1.0, 10.0, 1e3] {
            assert!(worst(range) < 2e-7, "{range}: {}", worst(range));
        }
        assert!(rational_tanh(f32::NAN).is_nan());
        assert!((rational_tanh(f32::INFINITY) - 1.0).abs() < 2e-7);
    }
    #[test]
    fn the_double_tanh_is_within_1e_15() {
        for range in [1e-3, 1.0, 30.0, 1e3] {
            for i in -200_000..=200_000 {
                let x = range * f64::from(i) / 200_000.0;
                let error = (double_tanh(x) - x.tanh()).abs();
                assert!(error <= 1e-15 * x.tanh().abs(), "{x}: {error}");
            }
        }
        assert!(double_tanh(f64::NAN).is_nan());
        assert!((double_tanh(f64::NEG_INFINITY) + 1.0).abs() < 1e-15);
    }
}
