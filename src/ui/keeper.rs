//! Keeps the last settings and results between two visits, and forgets them on request.

use gloo::events::EventListener;
use leptos::prelude::*;
use serde::Serialize;
use web_sys::Event;

use super::{browser, route::Route, session::Session, storage};
use crate::experiments::{
    explore::Origin,
    link::{Link, Page},
    report::Report,
    saved::{self, Saveable, Saved},
};

/// Names under which things are kept: pages as they were left, one a line, and a result with its model.
const LINKS: &str = "link";
const EXPERIMENT: &str = "experiment";
/// Tells the site's other program to forget.
pub const FORGET: &str = "forget-everything";
/// What a visitor can do without room.
const NO_ROOM: &str = "The browser's storage for this site is full: these results stay on the page, but will not be here after a reload. Save them as a file, or forget what is kept (at the foot of the page).";

/// Keeps what the visitor has set and found.
#[derive(Clone, Copy)]
pub struct Keeper {
    route: Route,
    session: Session,
    /// Why the last result could not be kept; empty if it could.
    pub problem: RwSignal<String>,
}

impl Keeper {
    /// Restores what was kept and keeps every change from now on.
    pub fn follow(route: Route, session: Session) -> Self {
        let keeper = Self {
            route,
            session,
            problem: RwSignal::default(),
        };
        keeper.restore();
        let full = move |_: &Event| keeper.problem.set(NO_ROOM.to_owned());
        EventListener::new(&window(), storage::FULL, full).forget();
        Effect::new(move || keeper.keep_links());
        Effect::new(move || {
            let weights = session.run.weights.get_untracked();
            session
                .report
                .with(|report| keep(EXPERIMENT, report.as_ref(), &weights));
        });
        keeper
    }

    /// Forgets what is kept and what is shown.
    pub fn forget(self) {
        self.session.close();
        self.route.forget();
        storage::forget();
        self.problem.set(String::new());
        if let Ok(event) = Event::new(FORGET) {
            // An event of our own cannot be refused.
            let _ = window().dispatch_event(&event);
        }
    }

    /// The settings of the last visit, unless the address has some; its results, if they belong to
    /// what the address asks for.
    fn restore(self) {
        let (bare, run) = (Route::is_bare(), self.route.link_untracked().run);
        let links = storage::get(LINKS).unwrap_or_default();
        let links: Vec<Link> = links.lines().map(|line| Link::read(line).0).collect();
        let last = links.iter().rfind(|link| link.page != Page::Data).cloned();
        self.route.recall(links);
        let asked = untrack(|| self.route.way_to(Page::Experiments)).spec;
        let reload = last.is_some_and(|last| last.spec == asked);
        if let Some(Saved { report, weights }) = kept::<Report>(EXPERIMENT)
            && !run
            && (bare || reload || report.spec == asked)
        {
            // Only a file can have come without its model.
            let origin = match weights.0.is_empty() {
                true => Origin::File,
                false => Origin::Trained,
            };
            self.session.show(report, weights.0, origin);
        }
    }

    fn keep_links(self) {
        let (links, usual) = (self.route.left(), Link::read("").0);
        let is_usual = |link: &Link| link.spec == usual.spec && link.view.is_empty();
        if links.iter().all(is_usual) {
            storage::remove(LINKS);
        } else {
            let lines: Vec<String> = links.iter().map(Link::write).collect();
            storage::put(LINKS, &lines.join("\n"));
        }
    }
}

/// Keeps a result together with its model, if there is one.
pub fn keep<R: Saveable>(name: &str, report: Option<&R>, weights: &[u8]) {
    let text = report.map(|report| saved::write(report, weights, &browser::name()));
    if let Some(Ok(text)) = text {
        storage::put(name, &text);
    }
}

/// Keeps figures, or forgets them.
pub fn keep_json(name: &str, figures: Option<&impl Serialize>) {
    match figures.map(serde_json::to_string) {
        Some(Ok(text)) => storage::put(name, &text),
        _ => storage::remove(name),
    }
}

/// A result that is kept; one that this version cannot read is left out.
pub fn kept<R: Saveable>(name: &str) -> Option<Saved<R>> {
    saved::read(&storage::get(name)?).ok()
}
