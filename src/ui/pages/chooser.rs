//! A row of small pictures, one a system.

use leptos::{html::Nav, prelude::*};
use wasm_bindgen::JsCast as _;
use web_sys::HtmlElement;

use crate::{
    experiments::{
        compare::short_title,
        link::{Link, Page},
        spec::Draft,
    },
    systems::{self, Portrait, Shape},
    ui::{
        canvas::{Actor, Scene},
        components::RobotCanvas,
        route::Route,
    },
};

/// Links to all systems.
#[component]
pub fn Chooser(
    /// The page that shows the chosen one.
    page: Page,
    /// Name of the system on the stage.
    chosen: Memo<String>,
) -> impl IntoView {
    let row = NodeRef::<Nav>::new();
    Effect::new(move || {
        chosen.track();
        row.get().and_then(|row| bring_into_view(&row));
    });
    let choices = systems::NAMES
        .iter()
        .filter_map(|name| systems::portrait(name, &[]).ok());
    view! {
        <nav class="chooser" aria-label="Systems" node_ref=row>
            {choices.map(|system| choice(&*system, page, chosen)).collect_view()}
        </nav>
    }
    .into_any()
}

/// On a narrow screen the row is scrolled to the system on the stage.
fn bring_into_view(row: &HtmlElement) -> Option<()> {
    let choice = row
        .query_selector("[aria-current]")
        .ok()??
        .dyn_into::<HtmlElement>()
        .ok()?;
    let middle = choice.offset_left() + choice.offset_width() / 2 - row.offset_left();
    row.set_scroll_left(middle - row.client_width() / 2);
    Some(())
}

fn choice(system: &dyn Portrait, page: Page, chosen: Memo<String>) -> impl IntoView + use<> {
    let route = expect_context::<Route>();
    let name = system.about().name;
    let current = move || chosen.with(|chosen| chosen == name).then_some("true");
    view! {
        <a class="chooser__choice" href=move || address(&route, page, name) aria-current=current>
            <span class="chooser__picture" aria-hidden="true">
                <RobotCanvas scene=Signal::stored(thumbnail(system)) label="" />
            </span>
            {short_title(name)}
        </a>
    }
}

/// The same method on another system.
fn address(route: &Route, page: Page, system: &str) -> String {
    let link = route.link();
    let draft = Draft::recommended(system, &link.spec.method)
        .unwrap_or_else(|_| Draft::from(link.spec.clone()));
    Link {
        page,
        spec: draft.corrected().0,
        run: false,
        view: String::new(),
    }
    .write()
}

/// The robot in a pose, or the sources of the field.
fn thumbnail(system: &dyn Portrait) -> Scene {
    let (name, phi) = (system.about().name, system.about().typical());
    let (world, pose): ([[f64; 2]; 2], &[f64]) = match name {
        "pendulum" => ([[-0.7, -1.15], [0.9, 0.25]], &[0.5, 0.0]),
        "cartpole" => ([[-0.9, -0.35], [0.9, 1.15]], &[-0.15, 0.0, 2.8, 0.0]),
        "arm" => ([[-1.2, -1.4], [1.6, 0.9]], &[0.7, 0.0, 1.3, 0.0]),
        "upkie" => (
            [[-0.35, -0.02], [0.35, 0.66]],
            &[0.0, 0.0, 0.06, 0.0, 0.06, 0.0, 0.06, 0.0],
        ),
        "charges-dipole" => ([[-0.55, -0.5], [0.55, 0.35]], &[]),
        "charges-pair" => ([[-1.5, -0.8], [1.5, 0.8]], &[]),
        "charges-quadrupole" => ([[-1.4, -1.3], [1.4, 1.3]], &[]),
        _ => ([[-2.6, -1.5], [2.6, 1.5]], &[]),
    };
    let mut shapes = system.picture(&phi, pose);
    if system.extent().is_some() {
        shapes = enlarged(shapes, 0.06 * (world[1][0] - world[0][0]));
    }
    Scene {
        world,
        actors: vec![Actor::plain(shapes)],
        ..Scene::default()
    }
}

/// The same shapes with discs that can be seen in a small picture.
fn enlarged(mut shapes: Vec<Shape>, size: f64) -> Vec<Shape> {
    for shape in &mut shapes {
        if let Shape::Disc { radius, .. } = shape {
            *radius = size;
        }
    }
    shapes
}
