//! Register-blocked products of the small matrices of a network.
//!
//! All right-hand sides and results have rows of a multiple of [`LANES`] numbers. A tile of
//! `M × LANES` results stays in registers while the inner dimension runs.

use super::{lanes::Lanes, scalar::Scalar};

/// Widths are whole multiples of it: of a register of numbers of 32 bits.
const PAD: usize = if cfg!(target_arch = "wasm32") { 4 } else { 8 };

/// `width`, padded with zeros to whole tiles.
pub const fn padded(width: usize) -> usize {
    width.next_multiple_of(PAD)
}

/// What the processor can do.
pub trait Instructions {
    /// Bytes of a register.
    const REGISTER: usize;
    /// Whether it multiplies and adds at once.
    const FUSED: bool;
}

/// What every processor can do.
pub struct Common;

impl Instructions for Common {
    const REGISTER: usize = 16;
    const FUSED: bool = false;
}

/// AVX2 with fused multiply-add.
#[cfg(target_arch = "x86_64")]
pub struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Instructions for Avx2 {
    const REGISTER: usize = 32;
    const FUSED: bool = true;
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
    // As many rows at once as fill half of the sixteen registers with results.
    match I::REGISTER / size_of::<T>() {
        8 => rows_by::<T, I, 8>(&mut row, (a, stride, inner), (b, width), start, c),
        4 => rows_by::<T, I, 4>(&mut row, (a, stride, inner), (b, width), start, c),
        _ => rows_by::<T, I, 2>(&mut row, (a, stride, inner), (b, width), start, c),
    }
    if rows > row {
        rows_by::<T, I, 1>(&mut row, (a, stride, inner), (b, width), start, c);
    }
}

#[inline(always)]
fn rows_by<T: Scalar, I: Instructions, const M: usize>(
    row: &mut usize,
    (a, stride, inner): (&[T], usize, usize),
    (b, width): (&[T], usize),
    start: Start<T>,
    c: &mut [T],
) {
    let rows = c.len() / width;
    while *row + M <= rows {
        let mut of_tile: [&[T]; M] = [&[]; M];
        for (m, of_row) in of_tile.iter_mut().enumerate() {
            *of_row = &a[(*row + m) * stride..][..inner];
        }
        let c = &mut c[*row * width..];
        let mut column = 0;
        while column + 8 <= width {
            row_tile::<T, T::Eight, I, M>((&of_tile, inner), (b, width, column), start, c);
            column += 8;
        }
        if PAD == 4 && column < width {
            row_tile::<T, T::Four, I, M>((&of_tile, inner), (b, width, column), start, c);
        }
        *row += M;
    }
}

/// M rows of [`multiply`], and the columns from `column` on that are side by side.
#[inline(always)]
fn row_tile<T: Scalar, L: Lanes<T>, I: Instructions, const M: usize>(
    (a, inner): (&[&[T]; M], usize),
    (b, width, column): (&[T], usize, usize),
    start: Start<T>,
    c: &mut [T],
) {
    let mut tile = [L::of(T::ZERO); M];
    for (m, tile) in tile.iter_mut().enumerate() {
        match start {
            Start::Zero => {}
            Start::Row(row) => *tile = L::load(row, column),
            Start::Current => *tile = L::load(c, m * width + column),
        }
    }
    for (k, b) in rows_of(b, width).take(inner).enumerate() {
        let b = L::load(b, column);
        for m in 0..M {
            tile[m].add_scaled::<I>(a[m][k], &b);
        }
    }
    for (m, tile) in tile.into_iter().enumerate() {
        tile.store(c, m * width + column);
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
    match I::REGISTER / size_of::<T>() {
        8 => columns_by::<T, I, 8>(&mut first, (a, stride, outer), (b, width), c),
        4 => columns_by::<T, I, 4>(&mut first, (a, stride, outer), (b, width), c),
        _ => columns_by::<T, I, 2>(&mut first, (a, stride, outer), (b, width), c),
    }
    columns_by::<T, I, 1>(&mut first, (a, stride, outer), (b, width), c);
}

#[inline(always)]
fn columns_by<T: Scalar, I: Instructions, const M: usize>(
    first: &mut usize,
    (a, stride, outer): (&[T], usize, usize),
    (b, width): (&[T], usize),
    c: &mut [T],
) {
    while *first + M <= outer {
        let mut column = 0;
        while column + 8 <= width {
            column_tile::<T, T::Eight, I, M>((a, stride, *first), (b, width, column), c);
            column += 8;
        }
        if PAD == 4 && column < width {
            column_tile::<T, T::Four, I, M>((a, stride, *first), (b, width, column), c);
        }
        *first += M;
    }
}

/// The columns `first` to `first + M` of a, and those from `column` on of b, in
/// [`add_transposed_product`].
#[inline(always)]
fn column_tile<T: Scalar, L: Lanes<T>, I: Instructions, const M: usize>(
    (a, stride, first): (&[T], usize, usize),
    (b, width, column): (&[T], usize, usize),
    c: &mut [T],
) {
    let mut tile = [L::of(T::ZERO); M];
    for (a, b) in rows_of(a, stride).zip(rows_of(b, width)) {
        let a = &a[first..first + M];
        let b = L::load(b, column);
        for m in 0..M {
            tile[m].add_scaled::<I>(a[m], &b);
        }
    }
    for (m, tile) in tile.into_iter().enumerate() {
        let at = (first + m) * width + column;
        L::load(c, at).plus(tile).store(c, at);
    }
}

/// `c += Σ_rows b`: b `[rows, width]`, c `[width]`.
#[inline(always)]
pub fn add_column_sums<T: Scalar>((b, width): (&[T], usize), c: &mut [T]) {
    for column in (0..width).step_by(T::Four::COUNT) {
        let mut sum = T::Four::load(c, column);
        for b in rows_of(b, width) {
            sum = sum.plus(T::Four::load(b, column));
        }
        sum.store(c, column);
    }
}

/// Whole rows of `width` numbers, without the division of `chunks_exact`: products are short.
#[inline(always)]
fn rows_of<T>(mut values: &[T], width: usize) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let (row, rest) = values.split_at_checked(width)?;
        values = rest;
        Some(row)
    })
}
