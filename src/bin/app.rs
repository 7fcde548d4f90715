//! The page.

fn main() {
    #[cfg(target_arch = "wasm32")]
    camel_lab::ui::start();
}
