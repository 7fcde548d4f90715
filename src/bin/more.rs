//! The pages that are loaded when one of them is opened.

fn main() {
    #[cfg(target_arch = "wasm32")]
    camel_lab::ui::more::start();
}
