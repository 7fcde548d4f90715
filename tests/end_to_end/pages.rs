//! The pages besides the experiments: how it works, tables, bench, and a visit without a network.

use std::{fs, time::Duration};

use serde_json::json;

use crate::{
    accessibility::assert_sound,
    browser::{DESKTOP, PHONE, dist},
    drive, drive_alone, drive_on, engine,
    gallery::wait_for_paint,
};

#[test]
#[ignore = "needs the built site"]
fn the_idea_is_explained_with_equations_and_a_live_table() {
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
        site.wait_for_text("#idea", "One equation, many environments")
            .await;
        let equations = site
            .script("return document.querySelectorAll('#idea math[display=block]').length")
            .await;
        assert!(equations.as_u64().unwrap() >= 6, "{equations}");
        site.find("article svg").await;
        site.wait_for_text("main", "References").await;
        site.wait_for_text("#cost", "1\u{202f}030").await;
        site.fill("#cost .field:nth-child(4) input", "1000\t").await;
        site.wait_for_text("#cost", "4\u{202f}000").await;
        assert!(site.fragment().await.contains("view=1000+3+3+1000"));
        site.picture("how-desktop").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_old_address_of_the_differences_still_works_and_words_stay_in_their_cells() {
    drive(DESKTOP, async |site| {
        site.visit("#/differences").await;
        site.wait_for_text("table", "Charges: scale of the errors")
            .await;
        site.until("[...document.querySelectorAll('.table th, .table td')].every(cell => cell.scrollWidth <= cell.clientWidth + 1)")
            .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_tables_show_ours_beside_the_papers_and_a_method_can_be_run_again() {
    drive(DESKTOP, async |site| {
        site.visit("#/tables?v=1&system=pendulum").await;
        site.wait_for_text("#overview", "CAMEL").await;
        site.wait_for_text("#errors", "Ours / paper").await;
        site.click("#rerun [aria-label='Run CAMEL again']").await;
        site.wait_for_text("#rerun-jobs", "left").await;
        site.picture("tables-desktop").await;
        site.click("#rerun-cancel").await;
        site.wait_for_text("#rerun-jobs", "cancelled").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_bench_measures_and_compares_with_a_link() {
    drive(DESKTOP, async |site| {
        site.visit("#/bench?v=1&view=8,cpu;1000,100").await;
        site.wait_for_text("#machine", "cores").await;
        site.wait_for_text(".notice", "a machine of 8 cores").await;
        site.click("#measure").await;
        site.wait_for_text("#bench-results", "Training, this / other")
            .await;
        site.fill("#bench-paste", "{\"version\": 3}\t").await;
        site.wait_for_text(".notice--error", "not a saved benchmark")
            .await;
        site.picture("bench-desktop").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_pages_are_behind_one_button_on_a_phone() {
    drive(PHONE, async |site| {
        site.visit("").await;
        site.click(".nav-button").await;
        site.click("nav a[href*='#/how']").await;
        site.wait_for_text("h1", "Learn the equation once").await;
        let open = site
            .script("return document.querySelector('.nav-button').getAttribute('aria-expanded')")
            .await;
        assert_eq!(open, "false");
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_site_works_without_a_network_after_one_visit() {
    drive(DESKTOP, async |site| {
        site.visit("").await;
        let ready =
            "const done = arguments[0]; navigator.serviceWorker.ready.then(() => done(true))";
        site.client.execute_async(ready, vec![]).await.unwrap();
        site.stop_server();
        site.visit("#/how").await;
        site.wait_for_text("#idea", "One equation, many environments")
            .await;
        site.visit("#/experiments?v=1&system=cartpole&method=camel&steps=50&device=cpu&run=1")
            .await;
        site.wait_for_text("#status", "Finished").await;
        site.visit("#/experiments?v=1&system=pendulum&method=camel")
            .await;
        let origin = site.wait_for_text("#origin", "adapts at once").await;
        assert!(origin.contains("came with the site"), "{origin}");
        site.wait_for_text("#identified", "±").await;
        site.visit("#/tables?v=1&system=pendulum").await;
        site.wait_for_text("#errors", "Ours / paper").await;
        site.find("#figures canvas").await;
        site.visit("#/gallery?v=1&system=charges-pair").await;
        wait_for_paint(site, "charges-pair without a network").await;
        // The browser tried in vain to look for a newer version.
        site.forgive_errors().await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn pages_that_could_not_be_loaded_say_so_and_are_tried_again() {
    let folder = std::env::temp_dir().join(format!("camel-lab-more-{}", std::process::id()));
    engine::copy(&dist(), &folder);
    let (program, away) = (folder.join("more.js"), folder.join("more.away"));
    fs::rename(&program, &away).unwrap();
    drive_on(&folder, DESKTOP, async |site| {
        site.visit("#/tables?v=1&system=pendulum").await;
        site.wait_for_text("main .notice--error", "could not be loaded")
            .await;
        assert_sound(site, "a page that could not be loaded").await;
        site.picture("not-loaded-desktop").await;
        fs::rename(&away, &program).unwrap();
        site.click("main .notice--error button").await;
        site.wait_for_text("#errors", "Ours / paper").await;
        // The console has heard of the missing file.
        site.forgive_errors().await;
    });
    fs::remove_dir_all(folder).unwrap();
}

/// Puts a file back as it was.
struct Restored(std::path::PathBuf, Vec<u8>);

impl Drop for Restored {
    fn drop(&mut self) {
        std::fs::write(&self.0, &self.1).unwrap();
    }
}

#[test]
#[ignore = "needs the built site"]
fn a_newer_version_no_network_and_an_old_browser_are_said_in_the_page() {
    // Alone: it changes a file of the site.
    drive_alone(DESKTOP, async |site| {
        site.visit("").await;
        site.until("navigator.serviceWorker.controller").await;
        let network = |offline: bool| json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        site.tools("Network.emulateNetworkConditions", network(true))
            .await;
        site.wait_for_text("#offline", "goes on working").await;
        site.tools("Network.emulateNetworkConditions", network(false))
            .await;
        site.until("!document.querySelector('#offline')").await;

        let worker = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/sw.js");
        let before = Restored(worker.clone(), std::fs::read(&worker).unwrap());
        let newer = [&before.1[..], b"// newer\n"].concat();
        std::fs::write(&worker, newer).unwrap();
        // Not the front page: Chromium looks for newer versions when it has nothing else to do, and
        // without a graphics card the demonstration leaves it no such moment.
        site.visit("#/how").await;
        site.script("window.old = true").await;
        site.click("#update").await;
        site.until("!window.old && document.querySelector('nav')")
            .await;
        drop(before);
        site.forgive_errors().await;

        let source = "WebAssembly.validate = () => false";
        site.tools(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": source }),
        )
        .await;
        // From elsewhere: an address that only differs after its # is the same document, and to load it anew
        // while the browser goes there can be refused.
        site.client.goto("about:blank").await.unwrap();
        site.client.goto(&site.address).await.unwrap();
        site.wait_for_text("#boot", "cannot run WebAssembly with SIMD")
            .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_first_load_is_measured() {
    drive_alone(DESKTOP, async |site| {
        site.visit("").await;
        let begun = "return performance.getEntriesByName('interactive')[0]?.startTime";
        let mut interactive = None;
        for _ in 0..100 {
            interactive = site.script(begun).await.as_f64();
            if interactive.is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let interactive = interactive.expect("the page marks when it can be used");
        // From the same load: nothing of the engine is in a cache yet.
        site.script("window.asked = performance.now(); location.hash = '#/experiments?v=1&system=cartpole&method=camel&device=cpu&run=1'")
            .await;
        site.wait_long_for_text("#status", "Finished", Duration::from_secs(900))
            .await;
        let training = site.script("return performance.now() - window.asked").await;
        let result = interactive + training.as_f64().unwrap();
        println!("interactive after {interactive:.0} ms, first result after {result:.0} ms");
        if let Ok(file) = std::env::var("CAMEL_LAB_FIRST_LOAD") {
            std::fs::write(file, format!("{interactive:.0},{result:.0}\n")).unwrap();
        }
    });
}
