//! Keeps the last settings and results between two visits, and forgets them on request.

use leptos::prelude::*;
use serde::Serialize;
use web_sys::Event;

use super::{browser, route::Route, session::Session, storage};
use crate::{
    engine::protocol::Weights,
    experiments::{
        explore::Origin,
        link::Link,
        report::Report,
        saved::{self, Saveable},
    },
};

/// Names under which things are kept.
const LINK: &str = "link";
const EXPERIMENT: &str = "experiment";
const WEIGHTS: &str = "weights";
/// Tells the site's other program to forget.
pub const FORGET: &str = "forget-everything";

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
        Effect::new(move || keeper.keep_link());
        Effect::new(move || {
            let problem = session
                .report
                .with(|report| keep(EXPERIMENT, report.as_ref()));
            keeper.tell(problem);
        });
        Effect::new(move || {
            let weights = session.run.weights.get();
            if weights.is_empty() {
                // Those of another run would be wrong.
                storage::remove(WEIGHTS);
            } else {
                keeper.tell(storage::put(WEIGHTS, &String::from(Weights(weights))));
            }
        });
        keeper
    }

    /// Forgets what is kept and what is shown.
    pub fn forget(self) {
        self.session.close();
        self.route.replace(Link {
            page: self.route.link_untracked().page,
            ..Link::read("").0
        });
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
        let here = self.route.link_untracked();
        let bare = Route::is_bare();
        let last = storage::get(LINK).map(|text| Link::read(&text).0);
        let reload = last.as_ref().is_some_and(|last| last.spec == here.spec);
        if let (true, Some(last)) = (bare, &last) {
            self.route.adopt(last.spec.clone());
        }
        if let Some(report) = kept::<Report>(EXPERIMENT)
            && !here.run
            && (bare || reload || report.spec == here.spec)
        {
            let weights = storage::get(WEIGHTS).and_then(|text| Weights::try_from(text).ok());
            let weights = weights.unwrap_or_default().0;
            self.session.show(report, weights, Origin::Trained);
        }
    }

    fn keep_link(self) {
        let link = self.route.link();
        if link.spec == Link::read("").0.spec {
            storage::remove(LINK);
        } else {
            self.tell(storage::put(LINK, &link.write()));
        }
    }

    fn tell(self, outcome: Result<(), &'static str>) {
        if let Err(problem) = outcome {
            self.problem.set(problem.to_owned());
        }
    }
}

/// Keeps a result, if there is one.
pub fn keep<R: Saveable>(name: &str, report: Option<&R>) -> Result<(), &'static str> {
    match report.map(|report| saved::write(report, &[], &browser::name())) {
        Some(Ok(text)) => storage::put(name, &text),
        _ => Ok(()),
    }
}

/// Keeps figures, or forgets them; a browser without room keeps those of before.
pub fn keep_json(name: &str, figures: Option<&impl Serialize>) -> Result<(), &'static str> {
    match figures.map(serde_json::to_string) {
        Some(Ok(text)) => storage::put(name, &text),
        _ => {
            storage::remove(name);
            Ok(())
        }
    }
}

/// A result that is kept; one that this version cannot read is left out.
pub fn kept<R: Saveable>(name: &str) -> Option<R> {
    let saved = saved::read(&storage::get(name)?).ok()?;
    Some(saved.report)
}
