//! The frame of the site: navigation, remarks on the link, and the page.

use leptos::prelude::*;

use super::{
    components::{Notice, Tone},
    pages::{differences::Differences, experiments::Experiments, gallery::Gallery, play::Play},
    route::Route,
    session::Session,
};
use crate::experiments::link::{Link, Page};

/// The whole site.
#[component]
pub fn App() -> impl IntoView {
    let route = Route::follow();
    provide_context(route);
    provide_context(Session::new());
    let page = Memo::new(move |_| route.page());
    Effect::new(move || document().set_title(&format!("{} · camel-lab", page.get().title())));
    view! {
        <a class="skip-link visually-hidden" href="#main" on:click=focus_main>"Skip to the content"</a>
        <header class="top-bar">
            <div class="top-bar__inner">
                <a class="brand" href="#/play"><img src="favicon.svg" alt="" />"camel lab"</a>
                <nav class="nav" aria-label="Pages">
                    {Page::ALL.map(|page| view! { <PageLink page /> }).collect_view()}
                </nav>
            </div>
        </header>
        <main class="page" id="main" tabindex="-1">
            <Remarks />
            {move || match page.get() {
                Page::Play => view! { <Play /> }.into_any(),
                Page::Experiments => view! { <Experiments /> }.into_any(),
                Page::Gallery => view! { <Gallery /> }.into_any(),
                Page::Differences => view! { <Differences /> }.into_any(),
            }}
        </main>
        <footer class="footer">
            <div class="footer__inner">
                <span>"Everything runs in this page. Nothing is sent anywhere."</span>
                <span>{concat!("version ", env!("CARGO_PKG_VERSION"))}</span>
            </div>
        </footer>
    }
    .into_any()
}

/// A link of the navigation. It keeps the experiment that the visitor has set up.
#[component]
fn PageLink(
    /// Where it leads.
    page: Page,
) -> impl IntoView {
    let route = expect_context::<Route>();
    let address = move || {
        Link {
            page,
            run: false,
            ..route.link()
        }
        .write()
    };
    let current = move || (route.page() == page).then_some("page");
    view! { <a href=address aria-current=current>{page.title()}</a> }
}

/// What was ignored or corrected in the link.
#[component]
fn Remarks() -> impl IntoView {
    let route = expect_context::<Route>();
    let items = move || {
        let remarks = route.remarks();
        remarks
            .into_iter()
            .map(|remark| view! { <li>{remark.to_string()}</li> })
            .collect_view()
    };
    view! {
        <Show when=move || !route.remarks().is_empty()>
            <Notice tone=Tone::Warn title="Not everything in this link could be used" on_close=move |()| route.dismiss()>
                <ul>{items}</ul>
            </Notice>
        </Show>
    }
    .into_any()
}

/// Moves the focus without touching the address, which belongs to the experiment.
fn focus_main(event: leptos::ev::MouseEvent) {
    use wasm_bindgen::JsCast as _;
    event.prevent_default();
    let main = document().get_element_by_id("main");
    if let Some(main) = main.and_then(|main| main.dyn_into::<web_sys::HtmlElement>().ok()) {
        // Focus is a courtesy.
        let _ = main.focus();
    }
}
