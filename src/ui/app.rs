//! The frame of the site: navigation, remarks on the link, and the page.

use leptos::prelude::*;

use super::{
    browser,
    components::{Notice, ShareBox, Tone},
    keeper::Keeper,
    more,
    offline::Updates,
    online::Online,
    outside::{Loading, Outside},
    pages::{differences::Differences, experiments::Experiments, how::How, play::Play},
    route::Route,
    session::Session,
};
use crate::experiments::{
    link::{Link, Page},
    report::Report,
};

/// The whole site.
#[component]
pub fn App() -> impl IntoView {
    let route = Route::keep();
    provide_context(route);
    let session = Session::new();
    provide_context(session);
    provide_context(Online::new());
    let keeper = Keeper::follow(route, session);
    browser::refuse_drops();
    let outside = Outside::follow();
    let page = Memo::new(move |_| route.page());
    Effect::new(move || document().set_title(&format!("{} · camel-lab", page.get().title())));
    view! {
        <a class="skip-link visually-hidden" href="#main" on:click=focus_main>"Skip to the content"</a>
        <TopBar page />
        <main class="page" id="main" tabindex="-1">
            <Updates />
            <Remarks />
            <KeepProblem keeper />
            {move || match page.get() {
                Page::Play => view! { <Play /> }.into_any(),
                Page::Experiments => view! { <Experiments /> }.into_any(),
                Page::How => view! { <How /> }.into_any(),
                Page::Differences => view! { <Differences /> }.into_any(),
                Page::Data | Page::Gallery | Page::Tables | Page::Bench => view! { <Loading outside /> }.into_any(),
            }}
            <div id=more::PLACE></div>
        </main>
        <footer class="footer">
            <div class="footer__inner">
                <span>"Everything runs in this page. Nothing is sent anywhere."</span>
                <Forget keeper />
                <span>{concat!("version ", env!("CARGO_PKG_VERSION"))}</span>
            </div>
        </footer>
    }
    .into_any()
}

/// The name of the site and the way to every page: a row of links, behind a button where the row
/// would not fit.
#[component]
fn TopBar(
    /// Where the visitor is.
    page: Memo<Page>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    let sharing = RwSignal::new(false);
    let close = move || {
        open.set(false);
        sharing.set(false);
    };
    Effect::new(move || {
        page.track();
        close();
    });
    let key = move |event: leptos::ev::KeyboardEvent| {
        if event.key() == "Escape" {
            close();
        }
    };
    let listed = Page::ALL.iter().filter(|page| page.is_listed());
    view! {
        <header class="top-bar" on:keydown=key>
            <div class="top-bar__inner">
                <a class="brand" href="#/play"><img src="favicon.svg" alt="" />"camel lab"</a>
                <button type="button" class="nav-button" aria-controls="pages" aria-expanded=move || open.get().to_string()
                    on:click=move |_| open.update(|open| *open = !*open)>
                    <span class="visually-hidden">"Pages, now: "</span>
                    {move || page.get().title()}
                </button>
                <nav class="nav" id="pages" aria-label="Pages" class:nav--open=open>
                    {listed.map(|&page| view! { <PageLink page /> }).collect_view()}
                </nav>
                <button type="button" class="button button--quiet button--small" id="share-button" aria-controls="share-panel"
                    aria-expanded=move || sharing.get().to_string()
                    on:click=move |_| sharing.update(|sharing| *sharing = !*sharing)>"Share"</button>
                <div class="share-panel" id="share-panel" role="region" aria-label="Share" hidden=move || !sharing.get()>
                    <Show when=move || sharing.get()><SharePanel /></Show>
                </div>
            </div>
        </header>
    }
    .into_any()
}

/// The link to what is on the page. It trains where the sender has trained.
#[component]
fn SharePanel() -> impl IntoView {
    let (route, session) = (expect_context::<Route>(), expect_context::<Session>());
    let address = move || {
        let link = route.link();
        let trained = session.report.with(|report| {
            let fits = |report: &Report| link.spec.trains_like(&report.spec);
            link.page == Page::Experiments && report.as_ref().is_some_and(fits)
        });
        Route::address(&Link {
            run: trained,
            ..link
        })
    };
    let missing = move || {
        let link = route.link();
        let of_file = match link.page {
            Page::Data => " Your file is not in it: send it along.",
            _ => "",
        };
        let of_choices = match link.is_cut() {
            true => " Some choices are too long for a link and are not in it.",
            false => "",
        };
        [of_file, of_choices].concat()
    };
    view! {
        <p class="small muted">"The link holds what is set on this page, and nothing of yours is sent anywhere." {missing}</p>
        <ShareBox link=Signal::derive(address) at_once=true />
    }
    .into_any()
}

/// A link of the navigation. It keeps what the visitor has set up.
#[component]
fn PageLink(
    /// Where it leads.
    page: Page,
) -> impl IntoView {
    let route = expect_context::<Route>();
    let address = move || route.way_to(page).write();
    // A page that is not listed belongs to the one that leads to it.
    let current = move || {
        let here = match route.page() {
            Page::Differences => Page::How,
            listed => listed,
        };
        (here == page).then_some("page")
    };
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

/// Why the last result could not be kept.
#[component]
fn KeepProblem(
    /// What keeps it.
    keeper: Keeper,
) -> impl IntoView {
    let problem = keeper.problem;
    view! {
        <Show when=move || problem.with(|p| !p.is_empty())>
            <Notice tone=Tone::Warn title=problem on_close=move |()| problem.set(String::new()) />
        </Show>
    }
    .into_any()
}

/// Forgets what this browser keeps of the visitor.
#[component]
fn Forget(
    /// What keeps it.
    keeper: Keeper,
) -> impl IntoView {
    let said = RwSignal::new("");
    let forget = move |_| {
        keeper.forget();
        said.set("Forgotten: this browser keeps nothing of yours.");
    };
    view! {
        <span>
            <button type="button" class="button button--bare button--small" id="forget"
                title="Settings and results that this browser keeps for your next visit" on:click=forget>
                "Forget everything"
            </button>
            <span role="status">{said}</span>
        </span>
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
