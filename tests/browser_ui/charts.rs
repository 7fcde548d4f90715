//! Charts and tables.

use std::{cell::Cell, rc::Rc};

use camel_lab::{
    charts::{Chart, FieldChart, Table},
    ui::browser::{Throttle, now},
    ui::components::{ChartTools, ChartView, DataTable},
};
use leptos::{mount::mount_to, prelude::*};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{HtmlCanvasElement, HtmlElement};

use crate::visitor::{count, curve, find, is_painted, place, settled, sleep, text_of};

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
