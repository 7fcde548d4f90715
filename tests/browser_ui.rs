//! The components in a real page: mounted, clicked, typed into, and asked by role and label.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(target_arch = "wasm32")]

use std::{cell::Cell, rc::Rc};

use camel_lab::{
    charts::{Axis, Chart, FieldChart, Hue, Series, Table, loss_chart},
    systems::{Role, Shape},
    ui::{
        browser::{Throttle, now},
        canvas::{Actor, Scene},
        components::{
            ChartTools, ChartView, DataTable, DropZone, FieldCanvas, Menu, MenuItem, Notice,
            NumberField, ProgressBar, RobotCanvas, SelectField, ShareBox, Slider, Tone,
        },
        entry::Range,
    },
};
use leptos::{mount::mount_to, prelude::*};
use wasm_bindgen::{JsCast, prelude::wasm_bindgen};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{Element, HtmlCanvasElement, HtmlElement, HtmlInputElement, HtmlSelectElement};

wasm_bindgen_test_configure!(run_in_browser);

/// What a visitor does, as the browser would report it.
#[wasm_bindgen(inline_js = r#"
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
export const count = (place, selector) => place.querySelectorAll(selector).length;
export const fire = (target, kind) => target.dispatchEvent(new Event(kind, { bubbles: true }));
export function drop(target, name, text) {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  target.dispatchEvent(new DragEvent("dragover", { dataTransfer, bubbles: true, cancelable: true }));
  return !target.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}
export const press = (target, key) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
export function pointWith(pointerType, target, kind, across, down) {
  const area = target.getBoundingClientRect();
  const clientX = area.left + across * area.width;
  const clientY = area.top + down * area.height;
  target.dispatchEvent(new PointerEvent(kind, { clientX, clientY, pointerType, bubbles: true }));
}
export function labelled(place, text) {
  const label = [...place.querySelectorAll("label")].find((l) => l.textContent === text);
  return label ? place.querySelector(`#${label.htmlFor}`) : undefined;
}
export function isPainted(canvas) {
  const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  return pixels.some((pixel) => pixel !== pixels[0]);
}
"#)]
extern "C" {
    async fn sleep(milliseconds: u32);
    fn count(place: &HtmlElement, selector: &str) -> u32;
    fn fire(target: &Element, kind: &str);
    fn drop(target: &Element, name: &str, text: &str) -> bool;
    fn press(target: &Element, key: &str);
    #[wasm_bindgen(js_name = pointWith)]
    fn point_with(pointer: &str, target: &Element, kind: &str, across: f64, down: f64);
    #[wasm_bindgen(js_name = labelled)]
    fn find_labelled(place: &HtmlElement, label: &str) -> Option<Element>;
    #[wasm_bindgen(js_name = isPainted)]
    fn is_painted(canvas: &HtmlCanvasElement) -> bool;
}

const STYLE: &str = concat!(
    include_str!("../style/main.css"),
    include_str!("../style/layout.css"),
    include_str!("../style/controls.css"),
    include_str!("../style/results.css"),
);

/// A fresh place in the page with the site's style.
fn place() -> HtmlElement {
    let document = document();
    if document.get_element_by_id("site-style").is_none() {
        let style = document.create_element("style").unwrap();
        style.set_id("site-style");
        style.set_text_content(Some(STYLE));
        document.head().unwrap().append_child(&style).unwrap();
    }
    let place: HtmlElement = document.create_element("main").unwrap().unchecked_into();
    place.set_class_name("page");
    document.body().unwrap().append_child(&place).unwrap();
    place
}

fn find<T: JsCast>(place: &HtmlElement, selector: &str) -> T {
    let found = place.query_selector(selector).unwrap();
    let found = found.unwrap_or_else(|| panic!("no {selector} in {}", place.inner_html()));
    found
        .dyn_into()
        .unwrap_or_else(|_| panic!("another kind of element"))
}

fn labelled<T: JsCast>(place: &HtmlElement, label: &str) -> T {
    let found = find_labelled(place, label);
    let found = found.unwrap_or_else(|| panic!("no '{label}' in {}", place.inner_html()));
    found
        .dyn_into()
        .unwrap_or_else(|_| panic!("another kind of element"))
}

/// What the mouse does at a share of the width and of the height of something.
fn point(target: &Element, kind: &str, across: f64, down: f64) {
    point_with("mouse", target, kind, across, down);
}

/// What a finger does there.
fn touch(target: &Element, kind: &str, across: f64, down: f64) {
    point_with("touch", target, kind, across, down);
}

/// Lets effects, and the effects of effects, run.
async fn settled() {
    sleep(30).await;
}

async fn type_into(input: &HtmlInputElement, text: &str) {
    input.set_value(text);
    fire(input, "input");
    settled().await;
}

fn text_of(place: &HtmlElement, selector: &str) -> String {
    find::<Element>(place, selector)
        .text_content()
        .unwrap_or_default()
}

fn curve(points: usize) -> Chart {
    let points = (0..points)
        .map(|k| [k as f64, 1.0 / (1.0 + k as f64)])
        .collect();
    loss_chart("Loss", vec![Series::new("CAMEL", Hue::Camel, points)])
}

#[wasm_bindgen_test]
async fn a_number_out_of_range_gets_a_message_and_leaves_the_value() {
    let place = place();
    let value = RwSignal::new(4.0);
    let _page = mount_to(place.clone(), move || {
        let range = Range {
            min: 1.0,
            max: 32.0,
            whole: true,
        };
        view! { <NumberField label="Rank" value=value on_change=move |v| value.set(v) range=range unit="1" /> }
    });
    settled().await;
    let input: HtmlInputElement = labelled(&place, "Rank");
    assert_eq!(input.value(), "4");
    type_into(&input, "900").await;
    assert_eq!(value.get_untracked(), 4.0);
    assert_eq!(input.get_attribute("aria-invalid").as_deref(), Some("true"));
    assert_eq!(
        text_of(&place, ".field__error"),
        "must be between 1 and 32, but is 900"
    );
    type_into(&input, "8").await;
    assert_eq!(value.get_untracked(), 8.0);
    assert_eq!(
        input.get_attribute("aria-invalid").as_deref(),
        Some("false")
    );
    value.set(2.0);
    settled().await;
    assert_eq!(input.value(), "2");
}

#[wasm_bindgen_test]
async fn half_typed_numbers_are_not_overwritten() {
    let place = place();
    let value = RwSignal::new(1.0);
    let _page = mount_to(place.clone(), move || {
        let range = Range {
            min: 0.0,
            max: 10.0,
            whole: false,
        };
        view! { <NumberField label="Noise" value=value on_change=move |v| value.set(v) range=range /> }
    });
    settled().await;
    let input: HtmlInputElement = labelled(&place, "Noise");
    for (typed, read) in [("0.", 0.0), ("0.0", 0.0), ("0.05", 0.05)] {
        type_into(&input, typed).await;
        assert_eq!(
            (input.value().as_str(), value.get_untracked()),
            (typed, read)
        );
    }
}

#[wasm_bindgen_test]
async fn a_slider_says_its_value_with_its_unit() {
    let place = place();
    let value = RwSignal::new(1.5);
    let _page = mount_to(place.clone(), move || {
        let range = Range {
            min: 0.5,
            max: 5.0,
            whole: false,
        };
        view! { <Slider label="Cart mass M" unit="kg" value=value on_input=move |v| value.set(v) range=range step=0.05 /> }
    });
    settled().await;
    let input: HtmlInputElement = labelled(&place, "Cart mass M");
    assert_eq!(input.value(), "1.5");
    type_into(&input, "3").await;
    assert_eq!(value.get_untracked(), 3.0);
    assert_eq!(
        input.get_attribute("aria-valuetext").as_deref(),
        Some("3 kg")
    );
}

#[wasm_bindgen_test]
async fn a_choice_is_shown_and_changed() {
    let place = place();
    let value = RwSignal::new("anil".to_owned());
    let _page = mount_to(place.clone(), move || {
        let options = ["camel", "anil"]
            .map(|n| (n.to_owned(), n.to_uppercase()))
            .to_vec();
        view! { <SelectField label="Method" options=options value=value on_change=move |v| value.set(v) /> }
    });
    settled().await;
    let select: HtmlSelectElement = labelled(&place, "Method");
    assert_eq!(select.value(), "anil");
    select.set_value("camel");
    fire(&select, "change");
    settled().await;
    assert_eq!(value.get_untracked(), "camel");
}

#[wasm_bindgen_test]
async fn a_chart_is_drawn_described_and_follows_its_data_and_size() {
    let place = place();
    let chart = RwSignal::new(curve(3));
    let _page = mount_to(place.clone(), move || view! { <ChartView chart=chart /> });
    sleep(150).await;
    let canvas: HtmlCanvasElement = find(&place, "canvas[role=img]");
    assert!(is_painted(&canvas));
    assert!(
        canvas
            .get_attribute("aria-label")
            .unwrap()
            .contains("CAMEL: 3 points")
    );
    chart.set(curve(50));
    sleep(150).await;
    assert!(
        canvas
            .get_attribute("aria-label")
            .unwrap()
            .contains("CAMEL: 50 points")
    );
    let before = canvas.width();
    place.style().set_property("max-width", "400px").unwrap();
    sleep(250).await;
    assert!(canvas.width() < before, "{} was {before}", canvas.width());
}

#[wasm_bindgen_test]
async fn the_data_of_a_chart_is_a_table() {
    let place = place();
    let chart = Signal::stored(curve(1000));
    let _page = mount_to(place.clone(), move || view! { <ChartView chart=chart /> });
    settled().await;
    assert!(place.query_selector("table").unwrap().is_none());
    find::<HtmlElement>(&place, "details.details > summary").click();
    sleep(200).await;
    assert_eq!(count(&place, "tbody tr"), 300);
    assert!(text_of(&place, ".chart__tools").contains("The first 300 of 1000 rows"));
}

#[wasm_bindgen_test]
async fn many_requests_are_drawn_at_most_fifteen_times_a_second() {
    let throttle = Throttle::new(15.0);
    let runs = Rc::new(Cell::new(0));
    let start = now();
    while now() - start < 1000.0 {
        let count = runs.clone();
        throttle.run(move || count.set(count.get() + 1));
        sleep(4).await;
    }
    assert!((8..=16).contains(&runs.get()), "{} runs", runs.get());
}

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

#[wasm_bindgen_test]
async fn a_menu_gives_the_keyboard_back_and_closes_when_something_else_is_pressed() {
    let place = place();
    let chosen = RwSignal::new(0);
    let _page = mount_to(place.clone(), move || {
        view! {
            <Menu label="Export" about="Training loss">
                <MenuItem label="Picture" on_choose=move |()| chosen.update(|count| *count += 1) />
            </Menu>
        }
    });
    settled().await;
    let (menu, button): (Element, HtmlElement) = (find(&place, "details"), find(&place, "summary"));
    let item: HtmlElement = find(&place, ".menu__list button");
    let is_open = || menu.has_attribute("open");
    let is_back = || document().active_element().as_ref() == Some(&*button);
    let label = button.get_attribute("aria-label").unwrap();
    assert!(label.contains("Training loss"), "{label}");
    for way in ["Escape", "a choice"] {
        button.click();
        item.focus().unwrap();
        assert!(is_open() && !is_back(), "before {way}");
        match way {
            "Escape" => press(&item, way),
            _ => item.click(),
        }
        settled().await;
        assert!(!is_open() && is_back(), "after {way}");
    }
    assert_eq!(chosen.get_untracked(), 1);
    button.click();
    assert!(is_open());
    point(&document().body().unwrap(), "pointerdown", 0.0, 0.0);
    settled().await;
    assert!(!is_open(), "something else was pressed");
}

#[wasm_bindgen_test]
async fn a_field_is_a_table_and_a_file_too() {
    let place = place();
    let field = FieldChart::sample([[-1.0, 0.0], [1.0, 1.0]], 20, |[x, y]| x + y);
    let chart = Signal::stored(Chart::Field(field));
    let _page = mount_to(place.clone(), move || {
        view! { <ChartTools chart=chart canvas=NodeRef::new() /> }
    });
    settled().await;
    find::<HtmlElement>(&place, "details.details > summary").click();
    sleep(200).await;
    assert_eq!(count(&place, "tbody tr"), 200);
    assert_eq!(count(&place, ".menu__list button"), 3);
}

#[wasm_bindgen_test]
async fn a_table_has_headings_and_exports() {
    let place = place();
    let mut table = Table::new("Errors", ["method", "error"]);
    table.push(["CAMEL", "0.01"]);
    table.push(["ANIL", "0.2"]);
    let table = Signal::stored(table);
    let _page = mount_to(place.clone(), move || {
        view! { <DataTable table=table best=Signal::stored(vec![(0, 1)]) /> }
    });
    settled().await;
    assert_eq!(text_of(&place, "h3"), "Errors");
    assert_eq!(text_of(&place, "th[scope=row]"), "CAMEL");
    assert_eq!(text_of(&place, ".best"), "0.01");
    assert_eq!(count(&place, ".menu__list button"), 3);
}

#[wasm_bindgen_test]
async fn a_notice_is_read_out_and_can_be_closed() {
    let place = place();
    let closed = RwSignal::new(false);
    let _page = mount_to(place.clone(), move || {
        view! {
            <Notice tone=Tone::Error title="It failed" on_close=move |()| closed.set(true)>
                <p>"Because."</p>
            </Notice>
        }
    });
    settled().await;
    assert!(text_of(&place, "[role=alert]").contains("It failed"));
    find::<HtmlElement>(&place, "[aria-label=Close]").click();
    assert!(closed.get_untracked());
}

#[wasm_bindgen_test]
async fn progress_shows_what_is_known() {
    let place = place();
    let part = RwSignal::new(None);
    let _page = mount_to(place.clone(), move || {
        view! { <ProgressBar label="Training" part=part done=Signal::stored("step 1".to_owned()) /> }
    });
    settled().await;
    let bar: Element = find(&place, "progress[aria-label=Training]");
    assert!(bar.get_attribute("value").is_none());
    part.set(Some(0.62));
    settled().await;
    assert_eq!(bar.get_attribute("value").as_deref(), Some("0.62"));
    assert!(text_of(&place, ".progress-line__text").contains("62 % · step 1"));
}

#[wasm_bindgen_test]
async fn the_link_to_share_is_shown() {
    let place = place();
    let link = Signal::stored("https://example.org/#v=1".to_owned());
    let _page = mount_to(place.clone(), move || view! { <ShareBox link=link /> });
    settled().await;
    let input: HtmlInputElement = labelled(&place, "Link to this page");
    assert_eq!(input.value(), "https://example.org/#v=1");
    find::<HtmlElement>(&place, "button").click();
    sleep(200).await;
    assert!(!text_of(&place, "[role=status]").is_empty());
}

#[wasm_bindgen_test]
async fn a_dropped_file_is_taken_once_and_the_browser_keeps_the_page() {
    let place = place();
    let names = RwSignal::new(Vec::<String>::new());
    let _mounted = mount_to(place.clone(), move || {
        let take = move |file: web_sys::File| names.update(|names| names.push(file.name()));
        view! {
            <DropZone id="a-file" label="Choose a file" accept=".csv" on_file=take>
                <p>"Drop it here"</p>
            </DropZone>
        }
    });
    let zone: Element = find(&place, ".drop");
    assert!(
        drop(&zone, "carts.csv", "a,b"),
        "the browser would have opened the file"
    );
    settled().await;
    assert_eq!(names.get_untracked(), ["carts.csv"]);
    assert!(!zone.class_name().contains("drop--over"));
    let input: HtmlInputElement = find(&place, "label input[type=file]");
    input.focus().unwrap();
    assert_eq!(document().active_element().unwrap().id(), "a-file");
}
