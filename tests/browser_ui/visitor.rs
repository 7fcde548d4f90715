//! What a visitor does and sees.

use camel_lab::charts::{Chart, Hue, Series, loss_chart};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, prelude::wasm_bindgen};
use web_sys::{Element, HtmlCanvasElement, HtmlElement, HtmlInputElement};

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
    pub async fn sleep(milliseconds: u32);
    pub fn count(place: &HtmlElement, selector: &str) -> u32;
    pub fn fire(target: &Element, kind: &str);
    pub fn drop(target: &Element, name: &str, text: &str) -> bool;
    pub fn press(target: &Element, key: &str);
    #[wasm_bindgen(js_name = pointWith)]
    fn point_with(pointer: &str, target: &Element, kind: &str, across: f64, down: f64);
    #[wasm_bindgen(js_name = labelled)]
    fn find_labelled(place: &HtmlElement, label: &str) -> Option<Element>;
    #[wasm_bindgen(js_name = isPainted)]
    pub fn is_painted(canvas: &HtmlCanvasElement) -> bool;
}

const STYLE: &str = concat!(
    include_str!("../../style/main.css"),
    include_str!("../../style/layout.css"),
    include_str!("../../style/controls.css"),
    include_str!("../../style/results.css"),
);

/// A fresh place in the page with the site's style.
pub fn place() -> HtmlElement {
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

pub fn find<T: JsCast>(place: &HtmlElement, selector: &str) -> T {
    let found = place.query_selector(selector).unwrap();
    let found = found.unwrap_or_else(|| panic!("no {selector} in {}", place.inner_html()));
    found
        .dyn_into()
        .unwrap_or_else(|_| panic!("another kind of element"))
}

pub fn labelled<T: JsCast>(place: &HtmlElement, label: &str) -> T {
    let found = find_labelled(place, label);
    let found = found.unwrap_or_else(|| panic!("no '{label}' in {}", place.inner_html()));
    found
        .dyn_into()
        .unwrap_or_else(|_| panic!("another kind of element"))
}

/// What the mouse does at a share of the width and of the height of something.
pub fn point(target: &Element, kind: &str, across: f64, down: f64) {
    point_with("mouse", target, kind, across, down);
}

/// What a finger does there.
pub fn touch(target: &Element, kind: &str, across: f64, down: f64) {
    point_with("touch", target, kind, across, down);
}

/// Lets effects, and the effects of effects, run.
pub async fn settled() {
    sleep(30).await;
}

pub async fn type_into(input: &HtmlInputElement, text: &str) {
    input.set_value(text);
    fire(input, "input");
    settled().await;
}

pub fn text_of(place: &HtmlElement, selector: &str) -> String {
    find::<Element>(place, selector)
        .text_content()
        .unwrap_or_default()
}

pub fn curve(points: usize) -> Chart {
    let points = (0..points)
        .map(|k| [k as f64, 1.0 / (1.0 + k as f64)])
        .collect();
    loss_chart("Loss", vec![Series::new("CAMEL", Hue::Camel, points)])
}
