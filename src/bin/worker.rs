//! The engine in a Web Worker, CPU only.

use camel_lab::experiments::bench_memory::Counting;

/// So that the benchmark can say how much memory a learner takes.
#[global_allocator]
static MEMORY: Counting = Counting;

fn main() {
    #[cfg(target_arch = "wasm32")]
    camel_lab::engine::worker::start();
}
