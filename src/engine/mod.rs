//! Runs experiments away from the page: in a Web Worker in the browser, on a thread natively.
//!
//! Both run the same job ([`crate::experiments::run`]) and speak the same [`protocol`]; only
//! [`worker`] and [`client`] know of browsers, only [`native`] knows of threads.

pub mod device;
pub mod jobs;
#[cfg(test)]
pub mod listener;
pub mod pacing;
pub mod parcel;
pub mod probe;
pub mod protocol;

#[cfg(target_arch = "wasm32")]
pub mod adapter;
#[cfg(target_arch = "wasm32")]
pub mod client;
#[cfg(not(target_arch = "wasm32"))]
pub mod native;
#[cfg(target_arch = "wasm32")]
pub mod placement;
#[cfg(target_arch = "wasm32")]
pub mod worker;
