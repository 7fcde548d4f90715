//! Numbers, choices and files from the visitor.

use camel_lab::{
    ui::components::{DropZone, NumberField, SelectField, Slider},
    ui::entry::Range,
};
use leptos::{mount::mount_to, prelude::*};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, HtmlInputElement, HtmlSelectElement};

use crate::visitor::{drop, find, fire, labelled, place, settled, text_of, type_into};

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
