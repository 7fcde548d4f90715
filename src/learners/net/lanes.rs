//! Numbers that are computed side by side.
//!
//! Natively the compiler finds the registers for arrays of numbers. For the browser it finds none for
//! doubles, so that they are named. Loops go over arrays: what `map` and `from_fn` of arrays do is a call
//! wherever the compiler does not feel like inlining it.

use super::{product::Instructions, scalar::Scalar};

/// Neighbours in memory that are computed side by side.
pub trait Lanes<T>: Copy {
    /// How many.
    const COUNT: usize;

    /// The same number in every place.
    fn of(value: T) -> Self;

    /// Those from `at` on.
    fn load(values: &[T], at: usize) -> Self;

    /// Writes them from `at` on.
    fn store(self, values: &mut [T], at: usize);

    /// The sums.
    fn plus(self, other: Self) -> Self;

    /// `self += scale · values`.
    fn add_scaled<I: Instructions>(&mut self, scale: T, values: &Self);

    /// `self += a ⊙ b`.
    fn add_products(&mut self, a: &Self, b: &Self);

    /// `scale · self`.
    fn times(self, scale: T) -> Self;
}

impl<T: Scalar, const L: usize> Lanes<T> for [T; L] {
    const COUNT: usize = L;

    #[inline(always)]
    fn of(value: T) -> Self {
        [value; L]
    }

    #[inline(always)]
    fn load(values: &[T], at: usize) -> Self {
        let mut lanes = [T::ZERO; L];
        lanes.copy_from_slice(&values[at..at + L]);
        lanes
    }

    #[inline(always)]
    fn store(self, values: &mut [T], at: usize) {
        values[at..at + L].copy_from_slice(&self);
    }

    #[inline(always)]
    fn plus(mut self, other: Self) -> Self {
        for (sum, value) in self.iter_mut().zip(other) {
            *sum += value;
        }
        self
    }

    #[inline(always)]
    fn add_scaled<I: Instructions>(&mut self, scale: T, values: &Self) {
        for (sum, value) in self.iter_mut().zip(values) {
            *sum = if I::FUSED {
                value.fused_multiply_add(scale, *sum)
            } else {
                *sum + scale * *value
            };
        }
    }

    #[inline(always)]
    fn add_products(&mut self, a: &Self, b: &Self) {
        for (sum, (a, b)) in self.iter_mut().zip(a.iter().zip(b)) {
            *sum += *a * *b;
        }
    }

    #[inline(always)]
    fn times(mut self, scale: T) -> Self {
        for value in &mut self {
            *value = *value * scale;
        }
        self
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub mod wasm {
    //! The browser's registers of 128 bits.

    use std::arch::wasm32::*;

    use super::{Instructions, Lanes};

    macro_rules! registers {
        ($name:ident, $number:ty, $each:literal, $splat:ident, $add:ident, $mul:ident, $make:ident($($lane:literal $get:ident),*)) => {
            /// N registers.
            #[derive(Clone, Copy, Debug)]
            pub struct $name<const N: usize>([v128; N]);

            impl<const N: usize> Lanes<$number> for $name<N> {
                const COUNT: usize = $each * N;

                #[inline(always)]
                fn of(value: $number) -> Self {
                    Self([$splat(value); N])
                }

                #[inline(always)]
                fn load(values: &[$number], at: usize) -> Self {
                    let (parts, _) = values[at..at + Self::COUNT].as_chunks::<$each>();
                    let mut loaded = Self::of(0.0);
                    for (register, part) in loaded.0.iter_mut().zip(parts) {
                        *register = $make($(part[$lane]),*);
                    }
                    loaded
                }

                #[inline(always)]
                fn store(self, values: &mut [$number], at: usize) {
                    let (parts, _) = values[at..at + Self::COUNT].as_chunks_mut::<$each>();
                    for (part, register) in parts.iter_mut().zip(self.0) {
                        *part = [$($get::<$lane>(register)),*];
                    }
                }

                #[inline(always)]
                fn plus(mut self, other: Self) -> Self {
                    for (sum, value) in self.0.iter_mut().zip(other.0) {
                        *sum = $add(*sum, value);
                    }
                    self
                }

                #[inline(always)]
                fn add_scaled<I: Instructions>(&mut self, scale: $number, values: &Self) {
                    let scale = $splat(scale);
                    for (sum, value) in self.0.iter_mut().zip(values.0) {
                        *sum = $add(*sum, $mul(scale, value));
                    }
                }

                #[inline(always)]
                fn add_products(&mut self, a: &Self, b: &Self) {
                    for (sum, (a, b)) in self.0.iter_mut().zip(a.0.into_iter().zip(b.0)) {
                        *sum = $add(*sum, $mul(a, b));
                    }
                }

                #[inline(always)]
                fn times(mut self, scale: $number) -> Self {
                    let scale = $splat(scale);
                    for value in &mut self.0 {
                        *value = $mul(*value, scale);
                    }
                    self
                }
            }
        };
    }

    registers!(Singles, f32, 4, f32x4_splat, f32x4_add, f32x4_mul, f32x4(
        0 f32x4_extract_lane, 1 f32x4_extract_lane, 2 f32x4_extract_lane, 3 f32x4_extract_lane));
    registers!(Doubles, f64, 2, f64x2_splat, f64x2_add, f64x2_mul, f64x2(
        0 f64x2_extract_lane, 1 f64x2_extract_lane));
}
