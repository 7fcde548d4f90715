//! Every page on every window: it fits, axe-core finds nothing serious, the keyboard is enough, and
//! the page's main thread is free while it trains.

use std::{cell::RefCell, time::Duration};

use camel_lab::charts::{Colour, Theme};
use serde_json::{Value, json};

use crate::{
    LONG, SHORT,
    browser::{DESKTOP, PHONE, Site, Window},
    drive, drive_alone,
};

/// Pages with something on them to look at.
const PAGES: [&str; 8] = [
    "#/play",
    "#/experiments",
    "#/data",
    "#/gallery",
    "#/tables",
    "#/how",
    "#/bench",
    "#/differences",
];

const PHONE_DARK: Window = Window {
    dark: true,
    ..PHONE
};
const DESKTOP_DARK: Window = Window {
    dark: true,
    ..DESKTOP
};

/// Most stops of the Tab key on a page.
const MOST_STOPS: usize = 400;
/// After so many stops without a new one, the Tab key has been everywhere.
const ROUND: usize = 5;

/// Keeps what the Tab key comes to from the first link on, and then says what is wrong with it.
const WATCH_FOCUS: &str = "
    const words = (element) => element.outerHTML.slice(0, 120);
    const shown = (element) => {
        const box = (element.closest('label') ?? element).getBoundingClientRect();
        return box.width > 1 && box.height > 1 && element.checkVisibility({ visibilityProperty: true });
    };
    const usable = (element) => element.isConnected && !element.disabled && element.tabIndex >= 0 && shown(element);
    const named = (element) => {
        const field = element.matches('input, select, textarea');
        const own = field ? [...(element.labels ?? [])].map((label) => label.textContent) : [element.textContent];
        return [element.ariaLabel, element.title, ...own].some((text) => text?.trim());
    };
    const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]');
    const controls = [...all].filter(usable);
    const stops = new Map();
    window.look = () => {
        const here = document.activeElement;
        if (here && here !== document.body && !stops.has(here)) stops.set(here, shown(here));
        return stops.size;
    };
    window.faults = () => [
        ...[...stops].filter(([, seen]) => !seen).map(([stop]) => 'the Tab key stops at what cannot be seen: ' + words(stop)),
        ...[...stops.keys()].filter((stop) => !named(stop)).map((stop) => 'the Tab key stops at what has no name: ' + words(stop)),
        ...controls.filter((control) => usable(control) && !stops.has(control)).map((control) => 'the Tab key does not come to ' + words(control)),
    ];
    document.querySelector('.skip-link').focus();
    window.look()";

/// The code of axe-core.
fn axe() -> String {
    let file =
        std::env::var("CAMEL_LAB_AXE").expect("CAMEL_LAB_AXE names axe.min.js; ./lab test sets it");
    std::fs::read_to_string(file).unwrap()
}

/// The texts of a list that a script has made.
fn texts(list: Value) -> Vec<String> {
    let Value::Array(list) = list else {
        panic!("no list, but {list}")
    };
    list.iter().map(ToString::to_string).collect()
}

/// Runs axe-core and gives its serious findings in words. A dark page differs from a light one in
/// its colours alone, so that only their rule is asked about it.
async fn findings(site: &Site, axe: &str) -> Vec<String> {
    site.script(axe).await;
    let code = "const done = arguments[arguments.length - 1];
        const dark = matchMedia('(prefers-color-scheme: dark)').matches;
        const rules = dark ? { runOnly: ['color-contrast'] } : {};
        axe.run(document, { resultTypes: ['violations'], ...rules }).then(
            (found) => done(found.violations
                .filter((v) => ['serious', 'critical'].includes(v.impact))
                .map((v) => v.id + ': ' + v.help + ' at ' + v.nodes.map((n) => n.target.join(' ')).slice(0, 5).join(', '))),
            (error) => done(['axe did not run: ' + error]))";
    texts(site.client.execute_async(code, vec![]).await.unwrap())
}

/// What is wrong with what is on the page now: findings of axe-core, and a page that does not fit.
async fn problems(site: &Site, axe: &str) -> Vec<String> {
    let mut found = findings(site, axe).await;
    let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    let wide = site.script(wide).await;
    if wide != 0 {
        found.push(format!("the page is {wide} px wider than the window"));
    }
    found
}

/// Fails with what is wrong with what is on the page now.
pub async fn assert_sound(site: &Site, what: &str) {
    let found = problems(site, &axe()).await;
    assert!(found.is_empty(), "{what}: {}", found.join("\n"));
}

/// Charts are drawn on the paper of the colour scheme.
async fn wrong_paper(site: &Site, dark: bool) -> Option<String> {
    let Colour { r, g, b } = Theme::new(dark).paper;
    let pixel = "return [...document.querySelector('main .chart canvas').getContext('2d').getImageData(4, 4, 1, 1).data].slice(0, 3)";
    let pixel = site.script(pixel).await;
    let wrong = pixel != json!([r, g, b]);
    wrong.then(|| format!("the paper of the chart is {pixel}, not {r}, {g}, {b}"))
}

/// Goes through the page with the Tab key; gives what it does not come to, and stops that cannot be
/// seen or have no name.
async fn faults_of_keyboard(site: &Site) -> Vec<String> {
    site.script(WATCH_FOCUS).await;
    let (mut known, mut idle) = (0, 0);
    for _ in 0..MOST_STOPS {
        press(site, json!({ "key": "Tab", "windowsVirtualKeyCode": 9 })).await;
        let stops = site.script("return window.look()").await.as_u64().unwrap();
        idle = if stops > known { 0 } else { idle + 1 };
        known = stops;
        if idle == ROUND {
            break;
        }
    }
    texts(site.script("return window.faults()").await)
}

/// What is wrong with a page, and with what a click makes of it.
async fn faults_of_page(site: &Site, axe: &str, page: &str, window: Window) -> Vec<String> {
    let mut found = problems(site, axe).await;
    if page == "#/play" {
        found.extend(wrong_paper(site, window.dark).await);
    }
    if page == "#/data" {
        site.click("#use-example").await;
        site.wait_for_text("#file-status", "1,800 rows").await;
        found.extend(problems(site, axe).await);
    }
    if window == DESKTOP {
        found.extend(faults_of_keyboard(site).await);
    }
    found
}

/// The same for results, which take more room than settings: of a training and of a benchmark.
async fn faults_of_results(site: &Site, axe: &str) -> Vec<String> {
    site.visit(&format!("{SHORT}&run=1")).await;
    site.wait_for_text("#status", "Finished").await;
    site.wait_for_text("#comparison table", "CAMEL").await;
    site.picture("experiment-phone").await;
    let mut found = problems(site, axe).await;
    site.visit("#/bench").await;
    site.click("#measure").await;
    site.find("#bench-results table").await;
    site.click("main .button--danger").await;
    site.wait_for_text("#bench-status", "Cancelled").await;
    site.picture("bench-results-phone").await;
    found.extend(problems(site, axe).await);
    found
}

/// Every page fits a window without a serious fault; `name` is what pictures of it are called.
fn assert_every_page_fits(name: &str, window: Window) {
    let axe = axe();
    let all = RefCell::new(Vec::new());
    let list = |what: &str, faults: Vec<String>| {
        let named = faults.into_iter();
        let named = named.map(|fault| format!("{what} on {name}: {fault}"));
        all.borrow_mut().extend(named);
    };
    drive(window, async |site| {
        for page in PAGES {
            site.visit(page).await;
            site.find("h1").await;
            tokio::time::sleep(Duration::from_millis(700)).await;
            site.picture(&format!("{}-{name}", &page[2..])).await;
            list(page, faults_of_page(site, &axe, page, window).await);
        }
        if window == PHONE {
            list("results", faults_of_results(site, &axe).await);
        }
    });
    let all = all.into_inner();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
#[ignore = "needs the built site"]
fn every_page_fits_a_phone_without_a_serious_fault() {
    assert_every_page_fits("phone", PHONE);
}

#[test]
#[ignore = "needs the built site"]
fn every_page_fits_a_dark_phone_without_a_serious_fault() {
    assert_every_page_fits("phone-dark", PHONE_DARK);
}

#[test]
#[ignore = "needs the built site"]
fn every_page_fits_a_desktop_without_a_serious_fault() {
    assert_every_page_fits("desktop", DESKTOP);
}

#[test]
#[ignore = "needs the built site"]
fn every_page_fits_a_dark_desktop_without_a_serious_fault() {
    assert_every_page_fits("desktop-dark", DESKTOP_DARK);
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
        site.visit(SHORT).await;
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
    // Other work on the machine can delay any task, so three of five stretches of two seconds have to
    // be quiet. Without a graphics card, frames say only that the page goes on.
    const STRETCHES: usize = 5;
    const QUIET: usize = 3;
    const LEAST_FRAMES: f64 = 15.0;
    let watch = "window.tasks = []; window.drawn = 0;
        new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask' });
        const draw = () => { window.drawn += 1; requestAnimationFrame(draw) };
        requestAnimationFrame(draw)";
    drive_alone(DESKTOP, async |site| {
        site.visit(LONG).await;
        site.click("#train").await;
        site.wait_for_text(".progress-line", "steps/s").await;
        site.script(watch).await;
        let mut seen = Vec::new();
        for _ in 0..STRETCHES {
            seen.push(stretch(site).await);
            // The browser lists only tasks of 50 ms and more.
            if seen.iter().filter(|(longest, _)| *longest == 0.0).count() == QUIET {
                break;
            }
        }
        println!("longest task of the main thread [ms] and frames a second: {seen:?}");
        let quiet = seen.iter().filter(|(longest, _)| *longest == 0.0).count();
        assert!(quiet >= QUIET, "longest tasks and frames: {seen:?}");
        let most = seen.iter().map(|(_, frames)| *frames).fold(0.0, f64::max);
        assert!(most > LEAST_FRAMES, "longest tasks and frames: {seen:?}");
        site.click("#cancel").await;
        site.wait_for_text("#status", "Cancelled").await;
    });
}

/// The longest task of the main thread in two seconds [ms], and the frames in each of them.
async fn stretch(site: &Site) -> (f64, f64) {
    site.script("window.tasks.length = 0; window.drawn = 0; window.begun = performance.now()")
        .await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let seen = "return [Math.max(0, ...window.tasks), 1e3 * window.drawn / (performance.now() - window.begun)]";
    let seen = site.script(seen).await;
    (seen[0].as_f64().unwrap(), seen[1].as_f64().unwrap())
}
