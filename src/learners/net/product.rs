//! Register-blocked products of the small matrices of a network.
//!
//! All right-hand sides and results have rows of a multiple of [`LANES`] numbers. A tile of
//! `M × LANES` results stays in registers while the inner dimension runs.

use super::scalar::Scalar;

/// Numbers that are computed side by side; widths are padded to a multiple of it.
pub const LANES: usize = 8;

/// `width`, padded with zeros to a multiple of [`LANES`].
pub const fn padded(width: usize) -> usize {
    width.next_multiple_of(LANES)
}

/// What the processor can do.
pub trait Instructions {
    /// Whether a register holds [`LANES`] numbers of 32 bits and multiplies and adds at once.
    const WIDE: bool;
}

/// What every processor can do: registers of 128 bits.
pub struct Common;

impl Instructions for Common {
    const WIDE: bool = false;
}

/// AVX2 with fused multiply-add.
#[cfg(target_arch = "x86_64")]
pub struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Instructions for Avx2 {
    const WIDE: bool = true;
}

/// From where a product starts to add up.
#[derive(Clone, Copy)]
pub enum Start<'a, T> {
    /// From zero.
    Zero,
    /// From this row, in every row.
    Row(&'a [T]),
    /// From what is there.
    Current,
}

/// `c = start + a · b`: a `[rows, inner]` with rows `stride` apart, b `[inner, width]`, c `[rows, width]`.
#[inline(always)]
pub fn multiply<T: Scalar, I: Instructions>(
    (a, stride, inner): (&[T], usize, usize),
    (b, width): (&[T], usize),
    start: Start<T>,
    c: &mut [T],
) {
    let rows = c.len() / width;
    let mut row = 0;
    if I::WIDE {
        while row + 8 <= rows {
            row_tiles::<T, I, 8>(
                (&a[row * stride..], stride, inner),
                (b, width),
                start,
                &mut c[row * width..],
            );
            row += 8;
        }
    }
    while row + 4 <= rows {
        row_tiles::<T, I, 4>(
            (&a[row * stride..], stride, inner),
            (b, width),
            start,
            &mut c[row * width..],
        );
        row += 4;
    }
    while row < rows {
        row_tiles::<T, I, 1>(
            (&a[row * stride..], stride, inner),
            (b, width),
            start,
            &mut c[row * width..],
        );
        row += 1;
    }
}

/// M rows of [`multiply`].
#[inline(always)]
fn row_tiles<T: Scalar, I: Instructions, const M: usize>(
    (a, stride, inner): (&[T], usize, usize),
    (b, width): (&[T], usize),
    start: Start<T>,
    c: &mut [T],
) {
    let a: [&[T]; M] = std::array::from_fn(|m| &a[m * stride..][..inner]);
    for column in (0..width).step_by(LANES) {
        let mut tile: [[T; LANES]; M] = std::array::from_fn(|m| match start {
            Start::Zero => [T::ZERO; LANES],
            Start::Row(row) => lanes(row, column),
            Start::Current => lanes(c, m * width + column),
        });
        for (k, b) in b.chunks_exact(width).take(inner).enumerate() {
            let b = lanes(b, column);
            for m in 0..M {
                add_scaled::<T, I>(&mut tile[m], a[m][k], &b);
            }
        }
        for (m, tile) in tile.iter().enumerate() {
            c[m * width + column..][..LANES].copy_from_slice(tile);
        }
    }
}

/// `c += aᵀ · b`: a `[rows, outer]` with rows `stride` apart, b `[rows, width]`, c `[outer, width]`.
#[inline(always)]
pub fn add_transposed_product<T: Scalar, I: Instructions>(
    (a, stride, outer): (&[T], usize, usize),
    (b, width): (&[T], usize),
    c: &mut [T],
) {
    let mut first = 0;
    if I::WIDE {
        while first + 8 <= outer {
            column_tiles::<T, I, 8>((a, stride, first), (b, width), c);
            first += 8;
        }
    }
    while first + 4 <= outer {
        column_tiles::<T, I, 4>((a, stride, first), (b, width), c);
        first += 4;
    }
    while first < outer {
        column_tiles::<T, I, 1>((a, stride, first), (b, width), c);
        first += 1;
    }
}

/// The columns `first` to `first + M` of a in [`add_transposed_product`].
#[inline(always)]
fn column_tiles<T: Scalar, I: Instructions, const M: usize>(
    (a, stride, first): (&[T], usize, usize),
    (b, width): (&[T], usize),
    c: &mut [T],
) {
    for column in (0..width).step_by(LANES) {
        let mut tile = [[T::ZERO; LANES]; M];
        for (a, b) in a.chunks(stride).zip(b.chunks_exact(width)) {
            let a = &a[first..first + M];
            let b = lanes(b, column);
            for m in 0..M {
                add_scaled::<T, I>(&mut tile[m], a[m], &b);
            }
        }
        for (m, tile) in tile.iter().enumerate() {
            let c = &mut c[(first + m) * width + column..][..LANES];
            for (c, t) in c.iter_mut().zip(tile) {
                *c += *t;
            }
        }
    }
}

/// `c += Σ_rows b`: b `[rows, width]`, c `[width]`.
#[inline(always)]
pub fn add_column_sums<T: Scalar>((b, width): (&[T], usize), c: &mut [T]) {
    for column in (0..width).step_by(LANES) {
        let mut sum: [T; LANES] = lanes(c, column);
        for b in b.chunks_exact(width) {
            let b = lanes(b, column);
            for (s, b) in sum.iter_mut().zip(b) {
                *s += b;
            }
        }
        c[column..column + LANES].copy_from_slice(&sum);
    }
}

#[inline(always)]
fn lanes<T: Scalar>(values: &[T], at: usize) -> [T; LANES] {
    let mut lanes = [T::ZERO; LANES];
    lanes.copy_from_slice(&values[at..at + LANES]);
    lanes
}

/// `sum += scale · values`.
#[inline(always)]
fn add_scaled<T: Scalar, I: Instructions>(sum: &mut [T; LANES], scale: T, values: &[T; LANES]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum = if I::WIDE {
            value.fused_multiply_add(scale, *sum)
        } else {
            *sum + scale * *value
        };
    }
}
