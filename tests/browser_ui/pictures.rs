//! Robots and fields on a canvas.

use camel_lab::{
    charts::{Axis, FieldChart, Hue},
    systems::{Role, Shape},
    ui::canvas::{Actor, Scene},
    ui::components::{FieldCanvas, RobotCanvas},
};
use leptos::{mount::mount_to, prelude::*};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{HtmlCanvasElement, HtmlElement};

use crate::visitor::{find, is_painted, place, point, press, settled, sleep, touch};

#[wasm_bindgen_test]
async fn a_robot_is_painted() {
    let place = place();
    let shapes = vec![Shape::Disc {
        centre: [0.0, 0.5],
        radius: 0.3,
        role: Role::Body,
    }];
    let scene = Signal::stored(Scene {
        world: [[-1.0, 0.0], [1.0, 1.0]],
        ground: Some(0.0),
        actors: vec![Actor::solid(shapes, Hue::Camel)],
        ..Scene::default()
    });
    let _page = mount_to(place.clone(), move || {
        view! { <div class="stage__view"><RobotCanvas scene=scene label="A cart" /></div> }
    });
    sleep(50).await;
    assert!(is_painted(&find(&place, "canvas[aria-label='A cart']")));
}

/// A field whose points the visitor places. It is there for as long as what is returned.
fn show_field(place: &HtmlElement, points: RwSignal<Vec<[f64; 2]>>) -> impl Sized {
    let field = Signal::stored(FieldChart {
        quantity: Axis::linear("potential", "V"),
        ..FieldChart::sample([[-1.0, 0.0], [1.0, 1.0]], 20, |[x, y]| x + y)
    });
    mount_to(place.clone(), move || {
        view! { <FieldCanvas field=field points=points on_points=move |p| points.set(p) label="Field" /> }
    })
}

#[wasm_bindgen_test]
async fn points_are_placed_moved_and_removed_by_pointer_and_keyboard() {
    let place = place();
    let points = RwSignal::new(Vec::<[f64; 2]>::new());
    let _page = show_field(&place, points);
    sleep(50).await;
    let canvas: HtmlCanvasElement = find(&place, "canvas[role=application]");
    assert!(is_painted(&canvas));
    point(&canvas, "pointerdown", 0.75, 0.5);
    settled().await;
    let at = points.get_untracked()[0];
    assert!(
        (at[0] - 0.5).abs() < 0.01 && (at[1] - 0.5).abs() < 0.02,
        "{at:?}"
    );
    point(&canvas, "pointermove", 0.25, 0.5);
    point(&canvas, "pointerup", 0.25, 0.5);
    settled().await;
    assert!((points.get_untracked()[0][0] + 0.5).abs() < 0.01);
    for (key, left) in [("Enter", 2), ("Delete", 1)] {
        press(&canvas, key);
        settled().await;
        assert_eq!(points.get_untracked().len(), left, "after {key}");
    }
}

#[wasm_bindgen_test]
async fn a_finger_adds_a_point_with_a_tap_and_none_while_it_scrolls() {
    let place = place();
    let points = RwSignal::new(Vec::<[f64; 2]>::new());
    let _page = show_field(&place, points);
    sleep(50).await;
    let canvas: HtmlCanvasElement = find(&place, "canvas[role=application]");
    for (kind, down) in [
        ("pointerdown", 0.25),
        ("pointermove", 0.5),
        ("pointerup", 0.75),
    ] {
        touch(&canvas, kind, 0.25, down);
    }
    settled().await;
    assert_eq!(points.get_untracked().len(), 0, "a finger that scrolls");
    for kind in ["pointerdown", "pointerup"] {
        touch(&canvas, kind, 0.75, 0.5);
    }
    settled().await;
    assert_eq!(points.get_untracked().len(), 1, "a finger that taps");
}
