//! Real trainings of a moment, and what the page shows of them.

use camel_lab::{
    charts::{Hue, Theme},
    systems,
};
use serde_json::{Value, json};

use crate::{
    SHORT,
    browser::{DESKTOP, Site},
    drive,
    files::{saved_by, watch_saving},
};

/// Red, green and blue of a method on the light page.
fn colour(method: &str) -> [u8; 3] {
    let colour = Theme::light().hue(Hue::of_method(method));
    [colour.r, colour.g, colour.b]
}

/// Pixels of a chart that have exactly this colour.
async fn pixels(site: &Site, css: &str, colour: [u8; 3]) -> u64 {
    let script = format!(
        "const chart = document.querySelector('{css}'); const data = chart.getContext('2d').getImageData(0, 0, chart.width, chart.height).data; let count = 0; for (let k = 0; k < data.length; k += 4) {{ count += {}.every((part, j) => data[k + j] === part) }} return count",
        json!(colour)
    );
    site.script(&script).await.as_u64().unwrap()
}

/// The row of a method in the comparison, cell by cell.
async fn row(site: &Site, title: &str) -> Vec<String> {
    let script = format!(
        "return [...document.querySelectorAll('#comparison tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent)).find((cells) => cells[0] === '{title}')"
    );
    let Value::Array(cells) = site.script(&script).await else {
        panic!("no row of {title}")
    };
    let text = |cell: &Value| cell.as_str().unwrap().to_owned();
    cells.iter().map(text).collect()
}

#[test]
#[ignore = "needs the built site"]
fn two_methods_stand_side_by_side_in_their_own_colours() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=pendulum&method=camel&steps=50&device=cpu")
            .await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        site.click("#method option[value=r2d2]").await;
        site.fill("#steps", "60\t").await;
        site.click("#train").await;
        site.wait_for_text("#comparison tbody tr:nth-child(2)", "cpu")
            .await;
        let mut errors = Vec::new();
        for (name, title, steps) in [("camel", "CAMEL", "50"), ("r2d2", "R2-D2", "60")] {
            let cells = row(site, title).await;
            assert_eq!(cells[6], steps, "{cells:?}");
            let error: f64 = cells[2].parse().unwrap();
            assert!(error.is_finite() && error > 0.0, "{cells:?}");
            errors.push(error);
            let count = pixels(site, "#comparison .chart canvas", colour(name)).await;
            assert!(count > 100, "{count} pixels of {title}");
            let [r, g, b] = colour(name);
            let beside = format!(
                "return getComputedStyle(document.querySelector('#comparison [name={name}] + span .swatch')).backgroundColor"
            );
            assert_eq!(site.script(&beside).await, format!("rgb({r}, {g}, {b})"));
        }
        assert_ne!(errors[0], errors[1]);
        let none = pixels(site, "#comparison .chart canvas", colour("cavia")).await;
        assert_eq!(none, 0, "a method that was not trained has no bar");
        site.picture("comparison-desktop").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn capacitors_arm_and_upkie_are_trained_in_the_page() {
    drive(DESKTOP, async |site| {
        for system in ["capacitor", "capacitor-eps", "arm", "upkie"] {
            site.visit(&format!(
                "#/experiments?v=1&system={system}&method=camel&steps=30&device=cpu&run=1"
            ))
            .await;
            site.wait_for_text("#status", "Finished").await;
            site.wait_for_text("#origin", "that you trained").await;
            let table = site.wait_for_text("#identified", "±").await;
            assert!(!table.contains("inf"), "{table}");
            let rows = "return document.querySelectorAll('#identified tbody tr').length";
            let parameters = systems::by_name(system).unwrap().description().parameters;
            assert_eq!(site.script(rows).await, parameters.len(), "{system}");
            let errors = site.wait_for_text("#errors", "Mean squared error").await;
            let error = errors.lines().nth(1).unwrap().split(' ').next().unwrap();
            let error: f64 = error.parse().unwrap();
            assert!(error.is_finite() && error > 0.0, "{system}: {errors}");
            site.find("#results canvas[aria-label*='Predictions on samples']")
                .await;
        }
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_loss_curve_is_saved_as_a_picture_of_either_kind() {
    drive(DESKTOP, async |site| {
        site.visit(&format!("{SHORT}&run=1")).await;
        site.wait_for_text("#status", "Finished").await;
        site.find("[aria-label=Training] canvas[aria-label*='Training loss']")
            .await;
        watch_saving(site).await;
        let save = async |place: usize| {
            site.click("[aria-label=Training] .menu > summary").await;
            let item = format!("[aria-label=Training] .menu__list button:nth-child({place})");
            let bytes = saved_by(site, &item).await;
            (bytes, site.script("return window.saved.at(-1).type").await)
        };
        let (svg, kind) = save(1).await;
        assert_eq!(kind, "image/svg+xml;charset=utf-8");
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(
            svg.contains("Training loss") && svg.contains("<polyline"),
            "{svg}"
        );
        let (png, kind) = save(2).await;
        assert_eq!(kind, "image/png");
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 1_000);
        let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
        let shown = "return document.querySelector('[aria-label=Training] canvas').width";
        assert_eq!(site.script(shown).await, width);
    });
}
