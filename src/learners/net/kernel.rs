//! The network on one processor core: forward, backward and second-order passes over blocks of
//! rows that stay in the first-level cache.
//!
//! With a₀ = x, z_l = a_{l−1} W_l + b_l, a_l = tanh z_l, s_l = 1 − a_l², y = z_L and Φ = Σ dy ⊙ y:
//!
//! - backward: `δ_L = dy, ∂W_l = a_{l−1}ᵀ δ_l, ∂b_l = Σ δ_l, g_{l−1} = δ_l W_lᵀ, δ_l = g_l ⊙ s_l`;
//! - second order, along a direction (ẇ, ẋ), by Pearlmutter's operator:
//!   `ż_l = ȧ_{l−1} W_l + a_{l−1} Ẇ_l + ḃ_l, ȧ_l = s_l ⊙ ż_l`, and back from δ̇_L = 0:
//!   `∂Ẇ_l = ȧ_{l−1}ᵀ δ_l + a_{l−1}ᵀ δ̇_l, ġ_{l−1} = δ̇_l W_lᵀ + δ_l Ẇ_lᵀ, δ̇_l = ġ_l ⊙ s_l − 2 g_l ⊙ a_l ⊙ ȧ_l`.
//!   These are the derivatives of ⟨ẇ, ∂Φ/∂w⟩ + ⟨ẋ, ∂Φ/∂x⟩ with respect to w and x; that with respect to dy is ẏ.

use super::{
    packed::{Dims, Packed},
    passes::{Backward, Forward},
    product::{Common, Instructions},
    scalar::Scalar,
    second_order::SecondOrder,
};

/// Rows that go through all layers together.
pub const BLOCK: usize = 32;

/// Reusable memory for the passes of one network.
#[derive(Clone, Debug)]
pub struct Scratch<T> {
    pub(super) layers: Vec<Dims>,
    pub(super) weights: Packed<T>,
    /// ẇ.
    pub(super) direction: Packed<T>,
    /// Where the derivatives with respect to the weights add up.
    pub(super) sums: Packed<T>,
    pub(super) block: Buffers<T>,
    /// Derivatives of `block` along the direction.
    pub(super) tangent: Buffers<T>,
    pub(super) hidden_width: usize,
}

/// One block's activations and what flows back through them.
#[derive(Clone, Debug)]
pub(super) struct Buffers<T> {
    /// Outputs of the hidden layers, layer after layer.
    pub hidden: Vec<T>,
    /// Outputs, padded.
    pub output: Vec<T>,
    /// δ of a layer.
    pub delta: Vec<T>,
    /// g or δ of the layer before.
    pub previous: Vec<T>,
}

impl<T: Scalar> Buffers<T> {
    fn new(hidden: usize, widest: usize) -> Self {
        let zeros = |width: usize| vec![T::ZERO; width * BLOCK];
        Self {
            hidden: zeros(hidden),
            output: zeros(widest),
            delta: zeros(widest),
            previous: zeros(widest),
        }
    }
}

impl<T: Scalar> Scratch<T> {
    /// Memory for a network of these sizes.
    pub fn new(sizes: &[usize]) -> Self {
        let layers = Dims::of(sizes);
        let widths = || layers.iter().map(|l| l.output_width);
        let hidden_width = widths().take(layers.len() - 1).sum();
        let widest = layers
            .iter()
            .map(|l| l.input_width.max(l.output_width))
            .max();
        let buffers = Buffers::new(hidden_width, widest.unwrap_or(0));
        Self {
            weights: Packed::new(&layers),
            direction: Packed::new(&layers),
            sums: Packed::new(&layers),
            tangent: buffers.clone(),
            block: buffers,
            layers,
            hidden_width,
        }
    }

    /// Whether it is for a network of these sizes.
    pub fn fits(&self, sizes: &[usize]) -> bool {
        let pairs = self.layers.iter().map(|l| [l.input, l.output]);
        sizes.len() == self.layers.len() + 1 && sizes.windows(2).eq(pairs)
    }

    /// Numbers a row that a forward pass can keep for the way back.
    pub fn kept_width(&self) -> usize {
        self.hidden_width
    }

    /// Takes weights for forward passes.
    pub fn load(&mut self, weights: &[T]) {
        self.weights.pack(&self.layers, weights);
    }

    /// Takes weights for all passes.
    pub fn load_both(&mut self, weights: &[T]) {
        self.weights.pack_both(&self.layers, weights);
    }

    /// y = f(x) with the loaded weights; `kept`, of [`Self::kept_width`] numbers a row, takes the
    /// hidden activations for [`Self::backward`].
    pub fn forward(&mut self, x: &[T], y: &mut [T], kept: Option<&mut [T]>) {
        #[cfg(test)]
        self.count_rows(x);
        run(Forward {
            scratch: self,
            x,
            y,
            kept,
        });
    }

    /// Adds ∂Φ/∂w and ∂Φ/∂x. Evaluates the hidden activations again unless they were kept.
    pub fn backward(
        &mut self,
        x: &[T],
        dy: &[T],
        kept: Option<&[T]>,
        dw: Option<&mut [T]>,
        dx: Option<&mut [T]>,
    ) {
        #[cfg(test)]
        self.count_rows(x);
        run(Backward {
            scratch: self,
            x,
            dy,
            kept,
            dw,
            dx,
        });
    }

    #[cfg(test)]
    fn count_rows(&self, x: &[T]) {
        let rows = x.len() / self.layers[0].input;
        super::store::ROWS_IN_NETS.set(super::store::ROWS_IN_NETS.get() + rows);
    }

    /// Adds the derivatives of ⟨ẇ, ∂Φ/∂w⟩ + ⟨ẋ, ∂Φ/∂x⟩ with respect to w, x and dy.
    pub fn second_order(
        &mut self,
        x: &[T],
        dy: &[T],
        direction: (Option<&[T]>, Option<&[T]>),
        dw: &mut [T],
        dx: Option<&mut [T]>,
        ddy: &mut [T],
    ) {
        match direction.0 {
            Some(w) => self.direction.pack_both(&self.layers, w),
            None => {
                self.direction.values.fill(T::ZERO);
                self.direction.transposed.fill(T::ZERO);
            }
        }
        run(SecondOrder {
            scratch: self,
            x,
            dy,
            x_direction: direction.1,
            dw,
            dx,
            ddy,
        });
    }
}

/// A pass, compiled for each instruction set.
pub trait Pass {
    /// Runs it with these instructions; inlined, so that they are used throughout.
    fn run<I: Instructions>(self);
}

fn run(pass: impl Pass) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        #[expect(
            unsafe_code,
            reason = "a third of the native time, and only the call is unsafe"
        )]
        // SAFETY: the processor has both features.
        unsafe {
            run_avx2(pass);
        }
        return;
    }
    pass.run::<Common>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(pass: impl Pass) {
    pass.run::<super::product::Avx2>();
}
