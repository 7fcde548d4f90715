//! The engine in a Web Worker, with WebGPU.

fn main() {
    #[cfg(target_arch = "wasm32")]
    camel_lab::engine::worker::start();
}
