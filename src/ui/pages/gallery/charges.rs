//! The charges on the stage: where they are and how many, in step with the link.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::HtmlElement;

use super::setting::WRITES;
use crate::{
    experiments::{link::Link, spec::Draft},
    ui::{browser::Throttle, route::Route, stage::map::Source},
};

/// The places of a number of charges.
#[derive(Clone, Copy)]
pub struct Charges {
    route: Route,
    /// The places as the visitor gives them, possible or not [m].
    pub places: RwSignal<Vec<[f64; 2]>>,
    phi: RwSignal<Vec<f64>>,
    /// The places of the paper; the link leaves them out.
    usual: StoredValue<Vec<[f64; 2]>>,
}

impl Charges {
    /// Reads the places from the link, follows it, and writes possible changes into it.
    pub fn follow(source: &Source, phi: RwSignal<Vec<f64>>) -> Self {
        let route = expect_context::<Route>();
        let usual = source.usual_places();
        let linked = Memo::new({
            let usual = usual.clone();
            move |_| match route.link().spec.places.clone() {
                places if places.is_empty() => usual.clone(),
                places => places,
            }
        });
        let charges = Self {
            route,
            places: RwSignal::new(linked.get_untracked()),
            phi,
            usual: StoredValue::new(usual),
        };
        let places = charges.places;
        Effect::new(move || {
            let linked = linked.get();
            // For another number of charges the stage is built anew.
            if places.with_untracked(|places| places.len() == linked.len() && *places != linked) {
                places.set(linked);
            }
        });
        let throttle = Throttle::new(WRITES);
        Effect::new(move || {
            if places.get() != linked.get_untracked() {
                throttle.run(move || charges.write());
            }
        });
        charges
    }

    /// Moves the charges, to the millimetre: nobody points more exactly.
    pub fn drag(self, points: Vec<[f64; 2]>) {
        let rounded = |point: [f64; 2]| point.map(|x| (1e3 * x).round() / 1e3);
        let points: Vec<_> = points.into_iter().map(rounded).collect();
        let changes = |places: &Vec<_>| places.len() == points.len() && *places != points;
        if self.places.with_untracked(changes) {
            self.places.set(points);
        }
    }

    /// Writes the places into the link; impossible ones stay out of it.
    fn write(self) {
        let link = self.route.link_untracked();
        let Some(places) = self.places.try_get_untracked() else {
            return;
        };
        let draft = Draft {
            places: self.unless_usual(places),
            ..Draft::from(link.spec.clone())
        };
        if let Ok(spec) = draft.check() {
            self.route.replace(Link { spec, ..link });
        }
    }

    fn unless_usual(self, places: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
        match self.usual.with_value(|usual| *usual == places) {
            true => Vec::new(),
            false => places,
        }
    }

    /// Puts other charges in the place of these.
    fn set(self, places: Vec<[f64; 2]>, phi: Vec<f64>) {
        let link = self.route.link_untracked();
        let draft = Draft {
            places: self.unless_usual(places),
            phi,
            ..Draft::from(link.spec.clone())
        };
        self.route.replace(Link {
            spec: draft.corrected().0,
            ..link
        });
    }

    fn add(self, place: [f64; 2]) {
        let (mut places, mut phi) = (self.places.get_untracked(), self.phi.get_untracked());
        places.push(place);
        phi.push(1.0);
        self.set(places, phi);
    }

    fn remove_last(self) {
        let (mut places, mut phi) = (self.places.get_untracked(), self.phi.get_untracked());
        places.pop();
        phi.pop();
        self.set(places, phi);
    }

    fn reset(self) {
        let usual = self.usual.get_value();
        match self.places.with_untracked(Vec::len) == usual.len() {
            true => self.places.set(usual),
            false => self.set(usual, Vec::new()),
        }
    }
}

/// Adds a charge, removes the last one, brings back those of the paper.
#[component]
pub fn ChargeButtons(
    /// The charges.
    charges: Charges,
    /// Where there is room for one more.
    source: StoredValue<Source>,
    /// Whether the present charges are impossible.
    refused: Signal<bool>,
) -> impl IntoView {
    let vacancy = Memo::new(move |_| {
        let places = charges.places.get();
        source.with_value(|source| source.vacancy(&places))
    });
    let only_one = move || charges.places.with(|places| places.len() == 1);
    let add = move |_| {
        if let Some(place) = vacancy.get_untracked() {
            charges.add(place);
            focus("add-charge");
        }
    };
    let remove = move |_| {
        charges.remove_last();
        focus("remove-charge");
    };
    view! {
        <div class="row">
            <button type="button" class="button button--quiet button--small" id="add-charge"
                disabled=move || refused.get() || vacancy.with(Option::is_none) on:click=add>"Add a charge"</button>
            <button type="button" class="button button--quiet button--small" id="remove-charge"
                disabled=move || refused.get() || only_one() on:click=remove>"Remove the last"</button>
            <button type="button" class="button button--quiet button--small" id="reset"
                on:click=move |_| charges.reset()>"Back to the paper's charges"</button>
        </div>
    }
    .into_any()
}

/// The stage is built anew for another number of charges, but the keyboard stays where it was.
fn focus(id: &'static str) {
    request_animation_frame(move || {
        let button = document().get_element_by_id(id);
        if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
            // A button that cannot be focused is found with the next key.
            let _ = button.focus();
        }
    });
}
