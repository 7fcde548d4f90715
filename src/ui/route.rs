//! The address bar: reads and writes the share link after `#`.
//!
//! The site's first program keeps the address. Its second one only reads it once: whoever changes the
//! link tells both, so that nobody waits for a browser that takes few changes of an address at a time.

use gloo::events::EventListener;
use leptos::prelude::*;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{CustomEvent, Event};

use super::{
    browser::{self, Throttle},
    views,
};
use crate::experiments::link::{Link, Page, Remark};

/// Tells both programs of a changed link.
const CHANGED: &str = "link-changed";
/// Changes of the address in a second that every browser allows for long.
const WRITES: f64 = 2.0;
/// Changes that every browser allows at once.
const BURST: f64 = 30.0;

/// Where the visitor is. Back and forward change it, and so does every link.
#[derive(Clone, Copy)]
pub struct Route {
    link: RwSignal<Link>,
    remarks: RwSignal<Vec<Remark>>,
    /// Every page as it was left, the last one last.
    left: StoredValue<Vec<Link>>,
}

impl Route {
    /// Reads the address and hears of changes from now on.
    pub fn follow() -> Self {
        let (link, remarks) = read();
        let route = Self {
            left: StoredValue::new(vec![link.clone()]),
            link: RwSignal::new(link),
            remarks: RwSignal::new(remarks),
        };
        let hear = move |event: &Event| route.hear(event);
        EventListener::new(&window(), CHANGED, hear).forget();
        route
    }

    /// The same, and follows and writes the address.
    pub fn keep() -> Self {
        let route = Self::follow();
        let seen = StoredValue::new(fragment());
        let arrive = move |_: &Event| {
            seen.set_value(fragment());
            route.arrive();
        };
        EventListener::new(&window(), "hashchange", arrive).forget();
        // When all that was written would be allowed without a burst [ms].
        let due = StoredValue::new(0.0_f64);
        let write = move || {
            // An address that was not seen yet is where the visitor is about to go.
            if seen.get_value() == fragment() {
                route.write();
                seen.set_value(fragment());
                due.set_value(due.get_value().max(browser::now()) + 1e3 / WRITES);
            }
        };
        let throttle = Throttle::new(WRITES);
        let changed = move |_: &Event| match due.get_value() - browser::now() < 1e3 * BURST / WRITES
        {
            true => write(),
            false => throttle.run(write),
        };
        EventListener::new(&window(), CHANGED, changed).forget();
        route
    }

    /// What the address says now.
    pub fn link(&self) -> Link {
        self.link.get()
    }

    /// The same without being told when it changes.
    pub fn link_untracked(&self) -> Link {
        self.link.get_untracked()
    }

    /// The page.
    pub fn page(&self) -> Page {
        self.link.with(|link| link.page)
    }

    /// What was wrong with the address.
    pub fn remarks(&self) -> Vec<Remark> {
        self.remarks.get()
    }

    /// Forgets the remarks.
    pub fn dismiss(&self) {
        self.remarks.set(Vec::new());
    }

    /// Whether the address says nothing, as it does at the first visit and in plain links.
    pub fn is_bare() -> bool {
        !fragment().contains('?')
    }

    /// Every page as it was left, the last one last.
    pub fn left(&self) -> Vec<Link> {
        self.link.track();
        self.left.get_value()
    }

    /// The way to a page as it was left, with the settings of now. Those of the visitor's own data are
    /// apart from those of the experiments.
    pub fn way_to(&self, page: Page) -> Link {
        let mut way = Link {
            page,
            ..Link::read("").0
        };
        self.link.track();
        self.left.with_value(|left| {
            let mut last = left.iter().rev();
            if let Some(before) = last.clone().find(|link| link.page == page) {
                way.view.clone_from(&before.view);
            }
            if let Some(now) = last.find(|link| (link.page == Page::Data) == (page == Page::Data)) {
                way.spec = now.spec.clone();
            }
        });
        // What was chosen may not fit another system.
        if !views::faults(&way).is_empty() {
            way.view.clear();
        }
        way
    }

    /// Takes over how pages were left at the last visit; an address that says nothing gets the settings
    /// of then.
    pub fn recall(&self, left: Vec<Link>) {
        let mut here = self.link_untracked();
        self.left.set_value(left);
        if Self::is_bare() {
            here.spec = untrack(|| self.way_to(here.page)).spec;
        }
        self.replace(here);
    }

    /// Forgets all settings.
    pub fn forget(&self) {
        self.left.set_value(Vec::new());
        self.replace(Link {
            page: self.link_untracked().page,
            ..Link::read("").0
        });
    }

    /// Writes a changed setting into the address without a new entry in the history.
    pub fn replace(&self, link: Link) {
        let text = link.write();
        self.take(link);
        if let Ok(event) = CustomEvent::new(CHANGED) {
            event.init_custom_event_with_can_bubble_and_cancelable_and_detail(
                CHANGED,
                false,
                false,
                &JsValue::from(text),
            );
            // An event of our own cannot be refused.
            let _ = window().dispatch_event(&event);
        }
    }

    /// Writes what else the page shows into the address: names, and values or nothing.
    pub fn set_view(&self, entries: &[(&str, Option<String>)]) {
        let link = self.link_untracked();
        let changed = link.with_choices(entries);
        if changed != link {
            self.replace(changed);
        }
    }

    /// The full address that leads to a link.
    pub fn address(link: &Link) -> String {
        let here = window().location().href().unwrap_or_default();
        let base = here.split('#').next().unwrap_or_default();
        format!("{base}{}", link.write())
    }

    /// Goes where the address says. One that says nothing leads to the page as it was left.
    fn arrive(self) {
        let (link, remarks) = read();
        self.remarks.set(remarks);
        self.replace(match Self::is_bare() {
            true => untrack(|| self.way_to(link.page)),
            false => link,
        });
    }

    /// Hears of a changed link, of this program or the other one.
    fn hear(self, event: &Event) {
        let event = event.dyn_ref::<CustomEvent>();
        let Some(text) = event.and_then(|event| event.detail().as_string()) else {
            return;
        };
        let (link, remarks) = Link::read(&text);
        // What was wrong with the address stays until the visitor closes it or goes elsewhere.
        if !remarks.is_empty() {
            self.remarks.set(remarks);
        }
        self.take(link);
    }

    fn take(self, link: Link) {
        self.left.update_value(|left| {
            left.retain(|other| other.page != link.page);
            left.push(link.clone());
        });
        if self.link.with_untracked(|here| *here != link) {
            self.link.set(link);
        }
    }

    /// Writes the link into the address, unless that says the same already.
    fn write(self) {
        let link = self.link_untracked();
        if Link::read(&fragment()).0 == link {
            return;
        }
        if let Ok(history) = window().history() {
            // An address that the browser refuses only costs the share link.
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&link.write()));
        }
    }
}

/// What the address says, with a remark on each part that could not be used as it is.
fn read() -> (Link, Vec<Remark>) {
    let (link, mut remarks) = Link::read(&fragment());
    remarks.extend(views::faults(&link));
    (link, remarks)
}

fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}
