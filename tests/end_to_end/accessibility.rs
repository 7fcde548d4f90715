//! Every page under axe-core, in both colour schemes, and the page's main thread while it trains.

use serde_json::{Value, json};

use crate::{
    LONG,
    browser::{DESKTOP, PHONE, Site, Window},
    drive,
};

/// Pages with something on them to look at.
pub const PAGES: [&str; 8] = [
    "#/play",
    "#/experiments",
    "#/data",
    "#/gallery",
    "#/tables",
    "#/how",
    "#/bench",
    "#/differences",
];

/// The code of axe-core.
pub fn axe() -> String {
    let file =
        std::env::var("CAMEL_LAB_AXE").expect("CAMEL_LAB_AXE names axe.min.js; ./lab test sets it");
    std::fs::read_to_string(file).unwrap()
}

/// Runs axe-core and gives its serious findings in words.
pub async fn findings(site: &Site, axe: &str) -> Vec<String> {
    site.script(axe).await;
    let code = "const done = arguments[arguments.length - 1];
        axe.run(document, { resultTypes: ['violations'] }).then(
            (found) => done(found.violations
                .filter((v) => ['serious', 'critical'].includes(v.impact))
                .map((v) => v.id + ': ' + v.help + ' at ' + v.nodes.map((n) => n.target.join(' ')).slice(0, 5).join(', '))),
            (error) => done(['axe did not run: ' + error]))";
    let found = site.client.execute_async(code, vec![]).await.unwrap();
    let Value::Array(found) = found else {
        panic!("axe said {found}")
    };
    found.iter().map(ToString::to_string).collect()
}

#[test]
#[ignore = "needs the built site"]
fn no_page_has_a_serious_accessibility_fault_in_light_or_dark() {
    let axe = axe();
    let mut all = Vec::new();
    for (window, dark) in [(DESKTOP, false), (DESKTOP, true), (PHONE, true)] {
        let window = Window { dark, ..window };
        let found = std::cell::RefCell::new(Vec::new());
        drive(window, async |site| {
            for page in PAGES {
                site.visit(page).await;
                site.find("h1").await;
                tokio::time::sleep(std::time::Duration::from_millis(700)).await;
                let name = format!("{page} ({} px, dark {dark})", window.width);
                let faults = findings(site, &axe).await;
                let named = faults.into_iter().map(|fault| format!("{name} {fault}"));
                found.borrow_mut().extend(named);
            }
        });
        all.extend(found.into_inner());
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// Presses a key of the real keyboard.
pub async fn press(site: &Site, key: Value) {
    for kind in ["keyDown", "keyUp"] {
        let mut event = key.clone();
        event["type"] = kind.into();
        site.tools("Input.dispatchKeyEvent", event).await;
    }
}

#[test]
#[ignore = "needs the built site"]
fn the_keyboard_is_enough_to_train() {
    drive(DESKTOP, async |site| {
        site.visit(crate::SHORT).await;
        site.find("#train").await;
        let focused = "return document.activeElement.id";
        for _ in 0..80 {
            if site.script(focused).await == "train" {
                press(
                    site,
                    json!({ "key": "Enter", "windowsVirtualKeyCode": 13, "text": "\r" }),
                )
                .await;
                site.wait_for_text("#status", "Finished").await;
                return;
            }
            press(site, json!({ "key": "Tab", "windowsVirtualKeyCode": 9 })).await;
        }
        panic!("the Tab key never came to the Train button");
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_page_stays_smooth_while_it_trains() {
    // Other work on the machine can delay any task, so one quiet stretch of two seconds is enough.
    const STRETCHES: usize = 8;
    drive(DESKTOP, async |site| {
        site.visit(LONG).await;
        site.click("#train").await;
        site.wait_for_text(".progress-line", "steps/s").await;
        site.script("window.tasks = []; new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask' })").await;
        let mut seen = Vec::new();
        for _ in 0..STRETCHES {
            site.script("window.tasks.length = 0").await;
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            let longest = site.script("return Math.max(0, ...window.tasks)").await;
            // The browser lists only tasks of 50 ms and more.
            if longest.as_f64() == Some(0.0) {
                site.click("#cancel").await;
                site.wait_for_text("#status", "Cancelled").await;
                return;
            }
            seen.push(longest);
        }
        panic!("longest tasks of the main thread in each stretch: {seen:?} ms");
    });
}
