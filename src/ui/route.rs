//! The address bar: reads and writes the share link after `#`.

use gloo::events::EventListener;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use crate::experiments::{
    link::{LONGEST_VIEW, Link, Page, Remark},
    spec::Spec,
    view,
};

/// Where the visitor is. Back and forward change it, and so does every link.
#[derive(Clone, Copy)]
pub struct Route {
    link: RwSignal<Link>,
    remarks: RwSignal<Vec<Remark>>,
}

impl Route {
    /// Reads the address and follows it from now on.
    pub fn follow() -> Self {
        let (link, remarks) = Link::read(&fragment());
        let route = Self {
            link: RwSignal::new(link),
            remarks: RwSignal::new(remarks),
        };
        EventListener::new(&window(), "hashchange", move |_| {
            let (link, remarks) = Link::read(&fragment());
            route.remarks.set(remarks);
            if route.link.get_untracked() != link {
                route.link.set(link);
            }
        })
        .forget();
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

    /// Takes over settings, without a word in the address.
    pub fn adopt(&self, spec: Spec) {
        self.link.update(|link| link.spec = spec);
    }

    /// Whether the address says nothing, as it does at the first visit.
    pub fn is_bare() -> bool {
        !fragment().contains('?')
    }

    /// Forgets the remarks.
    pub fn dismiss(&self) {
        self.remarks.set(Vec::new());
    }

    /// Writes a changed setting into the address without a new entry in the history.
    pub fn replace(&self, link: Link) {
        if let Ok(history) = window().history() {
            // An address that the browser refuses only costs the share link.
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&link.write()));
        }
        self.remarks.set(Vec::new());
        self.link.set(link);
        // The browser is silent about this, and the site's other program reads the address too.
        if let Ok(event) = web_sys::Event::new("hashchange") {
            let _ = window().dispatch_event(&event);
        }
    }

    /// Writes what else the page shows into the address: names, and values or nothing.
    pub fn set_view(&self, entries: &[(&str, Option<String>)]) {
        let link = self.link_untracked();
        let view = entries
            .iter()
            .fold(link.view.clone(), |view, (name, value)| {
                view::set(&view, name, value.as_deref())
            });
        if view != link.view && view.len() <= LONGEST_VIEW {
            self.replace(Link { view, ..link });
        }
    }

    /// Goes somewhere, with an entry in the history.
    pub fn go(&self, link: Link) {
        let _ = window().location().set_hash(&link.write());
    }

    /// The full address that leads to a link.
    pub fn address(link: &Link) -> String {
        let here = window().location().href().unwrap_or_default();
        let base = here.split('#').next().unwrap_or_default();
        format!("{base}{}", link.write())
    }
}

fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}
