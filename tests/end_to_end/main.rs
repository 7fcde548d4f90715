//! The built site in a real browser: what a visitor does, click by click.
//!
//! `./lab test` builds `dist/` and runs these; by themselves they are ignored.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails loudly"
)]
#![cfg(not(target_arch = "wasm32"))]

mod accessibility;
mod browser;
mod control;
mod engine;
mod files;
mod gallery;
mod links;
mod pages;
mod play;
mod points;
mod policy;
mod sharing;
mod states;
mod tables;
mod training;

use std::{
    path::Path,
    sync::{PoisonError, RwLock},
};

use browser::{DESKTOP, Site, Window};
use serde_json::Value;

/// A run that takes about a second.
const SHORT: &str = "#/experiments?v=1&system=cartpole&method=camel&steps=300&device=cpu";
/// A run that is still going when it is cancelled.
const LONG: &str = "#/experiments?v=1&system=cartpole&method=camel&steps=200000&device=cpu";

/// Held by every test; a test that measures time holds it alone. One that failed leaves it as it was.
static MACHINE: RwLock<()> = RwLock::new(());

/// Every test on one thread of its own runtime, beside others.
fn drive(window: Window, test: impl AsyncFn(&Site)) {
    drive_on(&browser::dist(), window, test);
}

/// The same on the site in another folder.
fn drive_on(folder: &Path, window: Window, test: impl AsyncFn(&Site)) {
    let _beside_others = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
    run(folder, window, test);
}

/// The same while no other test runs, for what is measured in time.
fn drive_alone(window: Window, test: impl AsyncFn(&Site)) {
    let _alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
    run(&browser::dist(), window, test);
}

fn run(folder: &Path, window: Window, test: impl AsyncFn(&Site)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let site = runtime.block_on(Site::open(folder, window));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runtime.block_on(async {
            test(&site).await;
            assert_nothing_went_wrong(&site).await;
        });
    }));
    // After a failure too: the browser would live on.
    runtime.block_on(site.close());
    if let Err(failure) = outcome {
        std::panic::resume_unwind(failure);
    }
}

/// No error on the console and no request to anywhere else.
async fn assert_nothing_went_wrong(site: &Site) {
    let script = "return performance.getEntriesByType('resource').map(entry => entry.name)";
    let Value::Array(requests) = site.script(script).await else {
        panic!("no list of requests")
    };
    let own = site.address.split("/some").next().unwrap();
    for request in requests {
        assert!(
            request.as_str().unwrap().starts_with(own),
            "a request to {request}"
        );
    }
    assert_eq!(site.errors().await, Vec::<String>::new());
}

#[test]
#[ignore = "needs the built site"]
fn a_visitor_trains_and_sees_the_masses() {
    drive(DESKTOP, async |site| {
        site.visit(SHORT).await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text("#device-used", "CPU").await;
        let table = site.wait_for_text("#identified", "±").await;
        assert!(table.contains("kg"), "{table}");
        site.picture("experiment-desktop").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_link_with_run_starts_by_itself_and_gives_the_same_figures_twice() {
    drive(DESKTOP, async |site| {
        let mut seen = Vec::new();
        for _ in 0..2 {
            site.visit(&format!("{SHORT}&run=1")).await;
            site.wait_for_text("#status", "Finished").await;
            seen.push((
                site.find("#identified").await.text().await.unwrap(),
                site.find("#errors").await.text().await.unwrap(),
            ));
        }
        assert_eq!(seen[0], seen[1]);
    });
}

/// Opens what is no model, and waits until the page says so.
async fn open_damaged_model(site: &Site) {
    let damaged = files::file("damaged.safetensors", "no model");
    files::choose(site, "#open-run", damaged).await;
    site.wait_for_text("#transfer .notice--error", "damaged.safetensors")
        .await;
}

/// Cancels what runs and gives the milliseconds until the page says so.
async fn cancel(site: &Site) -> f64 {
    site.script("window.asked = performance.now(); document.querySelector('#cancel').click(); const watch = setInterval(() => { if (document.querySelector('#status').textContent.includes('Cancelled')) { window.stopped = performance.now() - window.asked; clearInterval(watch) } }, 5)").await;
    site.wait_for_text("#status", "Cancelled").await;
    site.until("window.stopped").await;
    site.script("return window.stopped").await.as_f64().unwrap()
}

#[test]
#[ignore = "needs the built site"]
fn a_training_is_shown_and_cancel_stops_it_at_once() {
    drive_alone(DESKTOP, async |site| {
        site.visit(LONG).await;
        site.click("#train").await;
        let line = site.wait_for_text(".progress-line", "s left").await;
        assert!(line.contains("steps/s"), "{line}");
        site.find("[aria-label=Training] canvas[aria-label*='Training loss']")
            .await;
        site.wait_for_text("#status", "Training").await;
        open_damaged_model(site).await;
        let step = "Number(document.querySelector('.progress-line')?.textContent.match(/step (\\d+)/)?.[1])";
        let before = site.script(&format!("return {step}")).await;
        assert!(
            before.is_number(),
            "the damaged file has ended the training"
        );
        site.until(&format!("{step} > {before}")).await;
        let took = cancel(site).await;
        assert!(took < 100.0, "cancelling took {took} ms");
        site.fill("#steps", "50\t").await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn settings_are_in_the_address_and_back_and_forward_work() {
    drive(DESKTOP, async |site| {
        site.visit(SHORT).await;
        site.fill("#rank", "4\t").await;
        assert!(
            site.fragment().await.contains("rank=4"),
            "{}",
            site.fragment().await
        );
        site.click("nav a[href*='gallery']").await;
        site.wait_for_text("h1", "Systems").await;
        site.client.back().await.unwrap();
        site.wait_for_text("h1", "Cartpole").await;
        let rank = site
            .script("return document.querySelector('#rank').value")
            .await;
        assert_eq!(rank, "4");
        site.client.forward().await.unwrap();
        site.wait_for_text("h1", "Systems").await;

        // A link without settings leads to another page and leaves them alone.
        site.click(".brand").await;
        site.find("#lane-camel").await;
        site.click("main nav a[href^='#/how']").await;
        site.find("#idea").await;
        site.click("nav a[href*='#/experiments']").await;
        let kept = "document.querySelector('#rank')?.value === '4'";
        site.until(kept).await;
        site.visit("#/experiments").await;
        site.until(kept).await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_broken_link_is_explained_and_corrected() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&rank=99&colour=red&steps=many&method=magic")
            .await;
        let said = site
            .wait_for_text(".notice--warn", "rank must be between 1 and 16, but is 99")
            .await;
        for part in [
            "'colour' is not a setting",
            "steps must be a whole number",
            "magic",
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert_eq!(
            site.script("return document.querySelector('#rank').value")
                .await,
            "4"
        );
        site.picture("broken-link-desktop").await;
        accessibility::assert_sound(site, "a notice").await;
        // One that starts by itself is explained too, and for as long as it is not closed.
        site.visit(&format!("{SHORT}&colour=red&run=1")).await;
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text(".notice--warn", "'colour' is not a setting")
            .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_value_out_of_range_is_named_beside_its_field() {
    drive(DESKTOP, async |site| {
        site.visit(SHORT).await;
        site.fill("#shots", "0\t").await;
        site.wait_for_text("#shots-about", "must be between 1 and 2000, but is 0")
            .await;
        assert!(!site.fragment().await.contains("shots"));
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_dead_worker_is_replaced_and_the_visitor_is_told() {
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
        // The first worker dies at once, as one does whose file is damaged; the next is a real one.
        site.script("const Real = Worker; let first = true; window.Worker = function (url, options) { if (first) { first = false; return new Real('missing.js?' + Date.now(), options) } return new Real(url, options) }").await;
        site.script(&format!("location.hash = '{SHORT}'")).await;
        site.click("#train").await;
        site.wait_for_text("#status", "a fresh one takes its place")
            .await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        site.forgive_errors().await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn webgpu_trains_in_the_page_and_says_so() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&method=camel&optimiser=adam&steps=2&width=4&depth=1&batch=8&device=webgpu&run=1").await;
        site.wait_for_text("#device-used", "WebGPU").await;
        site.wait_for_text("#status", "Finished").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_page_is_interactive_before_the_engine_has_loaded() {
    drive(DESKTOP, async |site| {
        site.visit(SHORT).await;
        let script = "return performance.getEntriesByType('resource').map(entry => entry.name).filter(name => name.includes('worker'))";
        site.fill("#seed", "5\t").await;
        assert_eq!(
            site.script(script).await,
            Value::Array(vec![]),
            "the engine was loaded before it was needed"
        );
        assert!(site.fragment().await.contains("seed=5"));
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_shipped_model_answers_before_anything_is_trained() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&method=camel&device=cpu")
            .await;
        site.wait_for_text("#origin", "came with the site").await;
        let before = site.wait_for_text("#identified", "±").await;
        // Another environment and fewer shots: the same model adapts anew.
        site.fill("#shots", "60\t").await;
        site.wait_for_text("#results h2", "60 samples").await;
        // φ-CAMEL sees no sample: its curve follows the slider alone.
        let curves = "document.querySelector('#environment .chart canvas')";
        let told = format!("{curves}.getAttribute('aria-label').split('φ')[1]");
        let drawn = site.script(&format!("return {curves}.toDataURL()")).await;
        let zero_shot = site.script(&format!("return {told}")).await;
        assert!(zero_shot.is_string(), "no curve from the parameters alone");
        site.script("const slider = document.querySelector('#environment input[type=range]'); slider.value = 2.4; slider.dispatchEvent(new Event('input', { bubbles: true }))").await;
        site.wait_for_text("#identified", "2.4 kg").await;
        site.until(&format!(
            "{curves}.toDataURL() !== {drawn} && {told} !== {zero_shot}"
        ))
        .await;
        assert!(!before.contains("2.4 kg"), "{before}");
        assert!(site.fragment().await.contains("shots=60"));
    });
}

#[test]
#[ignore = "needs the built site"]
fn every_system_is_answered_by_the_model_that_came_with_the_site() {
    drive(DESKTOP, async |site| {
        for system in camel_lab::systems::NAMES {
            site.visit(&format!("#/experiments?v=1&system={system}&method=camel"))
                .await;
            let origin = site.wait_for_text("#origin", "adapts at once").await;
            assert!(origin.contains("came with the site"), "{origin}");
            site.wait_for_text("#identified", "±").await;
            let field = system.starts_with("charges") || system.starts_with("capacitor");
            let picture = if field {
                ".maps canvas"
            } else {
                "#environment .chart canvas"
            };
            site.find(picture).await;
            if ["charges-pair", "arm", "upkie"].contains(&system) {
                accessibility::assert_sound(site, system).await;
                site.picture(&format!("shipped-{system}")).await;
            }
        }
        site.visit("#/experiments?v=1&system=arm&method=maml&steps=123")
            .await;
        site.wait_for_text("#origin", "No model of these settings yet; press Train")
            .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn training_goes_on_while_the_visitor_reads() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&method=camel&steps=2000&device=cpu")
            .await;
        site.click("#train").await;
        site.wait_for_text(".progress-line", "steps/s").await;
        site.click("nav a[href*='#/how']").await;
        site.wait_for_text("h1", "Learn the equation once").await;
        site.click("nav a[href*='experiments']").await;
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text("#origin", "that you trained").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn methods_are_trained_one_after_the_other_and_compared() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=pendulum&method=camel&steps=50&device=cpu&run=1")
            .await;
        site.wait_for_text("#comparison table", "CAMEL").await;
        site.wait_for_text("#status", "Finished").await;
        site.fill("#seed", "7\t").await;
        site.click("#train").await;
        site.wait_for_text("#comparison tbody tr:nth-child(2)", "CAMEL")
            .await;
        site.click("#compare").await;
        site.wait_for_text("#comparison [role=status]", "2 more to train")
            .await;
        open_damaged_model(site).await;
        site.wait_for_text("#comparison [role=status]", "more to train")
            .await;
        site.click("#cancel").await;
        site.wait_for_text("#status", "Cancelled").await;
        assert_eq!(
            site.script("return document.querySelector('#comparison [role=status]').textContent")
                .await,
            ""
        );
    });
}
