//! The demonstration in the view of a link: `mass_3 speed_4 paused_1`.

use leptos::prelude::*;

use super::demo::Demo;
use crate::{
    experiments::{link::Page, live::MASSES, view},
    ui::{
        browser::{self, Throttle},
        route::Route,
        views::{MASS, SPEEDS},
    },
};

/// Most changes of the link in a second; browsers refuse more than a few.
const WRITES: f64 = 3.0;

/// What a visitor has set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Mass of the cart [kg].
    pub mass: f64,
    /// Multiple of real time.
    pub speed: f64,
    /// Whether the clock stands.
    pub paused: bool,
}

impl Setting {
    /// What nobody has changed.
    fn usual() -> Self {
        Self {
            mass: MASSES[0],
            speed: 1.0,
            paused: browser::reduced_motion(),
        }
    }

    /// Reads a view; what is missing or not allowed is as usual.
    pub fn read(view: &str) -> Self {
        let usual = Self::usual();
        let number = |name| view::get(view, name)?.parse::<f64>().ok();
        let mass = number("mass").filter(|mass| MASS.check(*mass).is_ok());
        let speed = number("speed").filter(|speed| SPEEDS.iter().any(|(s, _)| s == speed));
        Self {
            mass: mass.unwrap_or(usual.mass),
            speed: speed.unwrap_or(usual.speed),
            paused: view::get(view, "paused").map_or(usual.paused, |text| text == "1"),
        }
    }

    /// The entries of a view: what is not as usual.
    fn entries(self) -> [(&'static str, Option<String>); 3] {
        let usual = Self::usual();
        let changed = |value: f64, usual: f64| (value != usual).then(|| value.to_string());
        let paused = (self.paused != usual.paused).then(|| u8::from(self.paused).to_string());
        [
            ("mass", changed(self.mass, usual.mass)),
            ("speed", changed(self.speed, usual.speed)),
            ("paused", paused),
        ]
    }
}

/// Follows the link, and writes what the visitor changes into it.
pub fn follow(route: Route, demo: Demo) {
    let linked = Memo::new(move |_| Setting::read(&route.link().view));
    Effect::new(move || {
        let linked = linked.get();
        if route.page() == Page::Play && linked != untrack(|| demo.setting()) {
            demo.set(linked);
        }
    });
    let throttle = Throttle::new(WRITES);
    Effect::new(move || {
        if demo.setting() != linked.get_untracked() {
            throttle.run(move || write(route, demo));
        }
    });
}

/// Writes what is set by then, unless the visitor has left the page.
fn write(route: Route, demo: Demo) {
    let here = route.link_untracked().page == Page::Play;
    if here && demo.mass.try_get_untracked().is_some() {
        route.set_view(&untrack(|| demo.setting()).entries());
    }
}
