//! Tables made again and the benchmark, to the end, in the visitor's browser.

use std::time::Duration;

use serde_json::Value;

use crate::{
    browser::{DESKTOP, Site},
    drive,
};

/// Longest wait for a training on a busy machine.
const LONG: Duration = Duration::from_secs(600);

/// Two cores for workers, whatever the machine has.
async fn give_cores(site: &Site) {
    site.script("Object.defineProperty(navigator, 'hardwareConcurrency', { value: 3 })")
        .await;
}

async fn text_of(site: &Site, css: &str) -> String {
    site.find(css).await.text().await.unwrap()
}

#[test]
#[ignore = "needs the built site"]
fn a_cell_is_made_again_compared_and_kept_over_a_reload() {
    drive(DESKTOP, async |site| {
        site.visit("#/tables?v=1&system=pendulum").await;
        site.wait_for_text("#errors", "Ours / paper").await;
        give_cores(site).await;
        // The first cell is CAMEL's; a longer training beside it shows that two run at once.
        site.click("#rerun-one").await;
        site.click("#rerun [aria-label='Run CAVIA again']").await;
        site.wait_for_text("#rerun-jobs li:nth-child(2)", "left")
            .await;
        let first = text_of(site, "#rerun-jobs li:first-child").await;
        assert!(first.contains("left"), "{first}");
        let found = site.wait_long_for_text("#rerun-found", "CAMEL", LONG).await;
        let ratio = "return parseFloat(document.querySelector('#rerun-found tbody tr').children[5].innerText)";
        let ratio = site.script(ratio).await.as_f64().unwrap();
        // Rounding changes a training, and single trials make most of the mean.
        assert!((0.1..10.0).contains(&ratio), "{ratio}: {found}");
        site.click("#rerun-cancel").await;
        site.wait_for_text("#rerun-jobs", "cancelled").await;
        assert!(
            text_of(site, "#rerun-found").await.contains("CAMEL"),
            "what was found stays"
        );
        site.picture("tables-rerun").await;

        site.visit("#/tables?v=1&system=pendulum").await;
        site.wait_for_text("#rerun-found", "CAMEL").await;
        site.click("#forget").await;
        site.visit("#/tables?v=1&system=pendulum").await;
        site.wait_for_text("#errors", "Ours / paper").await;
        let left = site
            .script("return document.querySelector('#rerun-found')")
            .await;
        assert_eq!(left, Value::Null);
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_whole_table_and_all_tables_are_started_and_cancelled() {
    drive(DESKTOP, async |site| {
        site.visit("#/tables?v=1&system=charges-pair").await;
        site.wait_for_text("#errors", "Ours / paper").await;
        give_cores(site).await;
        for (button, trainings) in [("Whole table of", 6), ("Every table", 54)] {
            let click = format!(
                "[...document.querySelectorAll('#rerun button')].find(b => b.innerText.startsWith('{button}')).click()"
            );
            site.script(&click).await;
            site.wait_for_text("#rerun-jobs", "left").await;
            let listed = site
                .script("return document.querySelectorAll('#rerun-jobs li').length")
                .await;
            assert_eq!(listed.as_u64(), Some(trainings), "{button}");
            site.click("#rerun-cancel").await;
            let none_left = "[...document.querySelectorAll('#rerun-jobs li')].every(li => !/left|waits|prepares/.test(li.innerText))";
            site.until(none_left).await;
        }
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_page_says_what_a_ratio_compares_how_long_methods_take_and_shows_the_papers_figures() {
    drive(DESKTOP, async |site| {
        site.visit("#/tables?v=1&system=upkie").await;
        site.wait_for_text("#notes", "other scale of torques").await;
        site.wait_for_text("#errors", "not comparable").await;
        site.wait_for_text("#compute-time", "Paper").await;
        site.visit("#/tables?v=1&system=charges-dipole").await;
        site.wait_for_text("#notes", "normalised errors").await;
        site.wait_for_text("#errors", "True potentials, least squares")
            .await;
        site.find("#figures canvas[aria-label*='training tasks']")
            .await;
        site.wait_for_text("#remarks ul", "paper").await;
        site.visit("#/tables?v=1&system=capacitor-eps").await;
        site.find("#figures canvas[aria-label*='ε']").await;
        let remarks = text_of(site, "#remarks").await;
        assert!(!remarks.is_empty(), "nothing is said of the figures");
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_benchmark_comes_to_its_end_and_can_be_saved() {
    drive(DESKTOP, async |site| {
        site.visit("#/bench").await;
        site.wait_for_text("#machine", "cores").await;
        site.script("window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = blob => { window.saved.push(blob); return make(blob) }")
            .await;
        let brief = "[...document.querySelectorAll('.segmented button')].find(b => b.innerText.includes('Cartpole')).click()";
        site.script(brief).await;
        site.click("#measure").await;
        site.wait_long_for_text("#bench-status", "Finished", LONG)
            .await;
        site.wait_for_text("#bench-results", "CAVIA").await;
        site.click("#bench-save").await;
        let read = "const done = arguments[0]; window.saved[0].text().then(done)";
        let saved = site.client.execute_async(read, vec![]).await.unwrap();
        let sheet: Value = serde_json::from_str(saved.as_str().unwrap()).unwrap();
        let measured = sheet["measured"].as_array().unwrap();
        assert_eq!(measured.len(), 6 + 2);
        let memory = measured[0]["speed"]["memory"].as_u64().unwrap();
        assert!((10_000..1_000_000_000).contains(&memory), "{memory}");
        let link = site
            .script("return document.querySelector('[aria-label=Share] input').value")
            .await;
        assert!(link.as_str().unwrap().contains("cartpole.camel"), "{link}");
    });
}
