//! The pages that not every visitor opens are a program of their own, so that the front page loads
//! sooner. `public/boot.js` loads it when the page asks for it, and it stays from then on.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use super::{
    data_session::DataSession,
    measuring::Measuring,
    pages::{bench::Bench, data::Data, gallery::Gallery, tables::Tables},
    reruns::Reruns,
    route::Route,
};
use crate::experiments::link::Page;

/// Id of the element that these pages are in.
pub const PLACE: &str = "more";
/// The page asks for the program.
pub const WANTED: &str = "more-wanted";
/// It runs.
pub const READY: &str = "more-ready";
/// It could not be loaded.
pub const FAILED: &str = "more-failed";

/// Puts these pages into their place.
pub fn start() {
    console_error_panic_hook::set_once();
    let place = document().get_element_by_id(PLACE);
    if let Some(place) = place.and_then(|place| place.dyn_into().ok()) {
        leptos::mount::mount_to(place, More).forget();
    }
}

/// The page in view, if it is one of these.
#[component]
fn More() -> impl IntoView {
    let route = Route::follow();
    provide_context(route);
    provide_context(DataSession::follow(route));
    provide_context(Reruns::follow());
    provide_context(Measuring::follow());
    let page = Memo::new(move |_| route.page());
    move || match page.get() {
        Page::Data => view! { <Data /> }.into_any(),
        Page::Gallery => view! { <Gallery /> }.into_any(),
        Page::Tables => view! { <Tables /> }.into_any(),
        Page::Bench => view! { <Bench /> }.into_any(),
        _ => ().into_any(),
    }
}
