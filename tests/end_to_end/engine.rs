//! What happens to a visitor when the engine or the graphics card fails.

use std::time::Duration;

use crate::{
    SHORT,
    browser::{DESKTOP, Site},
    drive,
};

/// A run that takes long on WebGPU's software adapter and a moment on the CPU.
const ON_WEBGPU: &str = "#/experiments?v=1&system=cartpole&method=camel&optimiser=adam&steps=1000&width=4&depth=1&batch=8&device=webgpu";

/// How much faster the page looks at its engine in these tests.
const HASTE: u32 = 5;

/// Makes the page's clock faster, so that it loses patience with a silent engine after 6 s instead of
/// 32 s; `slow()` gives the real clock back.
async fn hasten(site: &Site) {
    site.script(&format!(
        "const real = setInterval; window.slow = () => {{ window.setInterval = real }}; window.setInterval = (call, time) => real(call, time / {HASTE})"
    ))
    .await;
}

/// Lets JavaScript have each new `worker` of the page before the page does; `count` is its number.
async fn meddle(site: &Site, code: &str) {
    site.script(&format!(
        "const Real = Worker; let count = 0; window.Worker = function (url, options) {{ const worker = new Real(url, options); count += 1; {code}; return worker }}"
    ))
    .await;
}

/// Goes to a link without loading the page again.
async fn go(site: &Site, link: &str) {
    site.script(&format!("location.hash = '{link}'")).await;
    site.find("#train").await;
}

#[test]
#[ignore = "needs the built site"]
fn an_engine_that_hangs_is_replaced_and_the_visitor_is_told() {
    drive(DESKTOP, async |site| {
        hasten(site).await;
        meddle(site, "if (count === 1) worker.postMessage = () => {}").await;
        go(site, SHORT).await;
        site.click("#train").await;
        let said = site.wait_for_text("#status", "it did not answer").await;
        assert!(said.contains("a fresh one takes its place"), "{said}");
        site.script("slow()").await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_demonstration_may_be_paused_for_long() {
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
        hasten(site).await;
        site.script("location.hash = '#/play'").await;
        site.wait_for_text("#lane-camel", "cm off").await;
        site.click("#pause").await;
        site.wait_for_text("#pause", "Play").await;
        tokio::time::sleep(Duration::from_secs(9)).await;
        let fault = "return document.querySelector('.notice--error')?.innerText ?? ''";
        assert_eq!(site.script(fault).await, "");
        let picture = "return document.querySelector('#lane-camel canvas').toDataURL()";
        let still = site.script(picture).await;
        site.click("#pause").await;
        site.wait_for_text("#pause", "Pause").await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_ne!(site.script(picture).await, still);
    });
}

#[test]
#[ignore = "needs the built site"]
fn an_engine_of_another_version_refuses_and_says_what_to_do() {
    drive(DESKTOP, async |site| {
        let other = r#"worker.postMessage = (text) => Real.prototype.postMessage.call(worker, text.replace(/"protocol":\d+/, '"protocol":99'))"#;
        meddle(site, other).await;
        go(site, SHORT).await;
        site.click("#train").await;
        let said = site.wait_for_text("#status", "reload the page").await;
        assert!(said.contains("protocols 99 and"), "{said}");
    });
}

#[test]
#[ignore = "needs the built site"]
fn without_webgpu_the_run_uses_the_cpu_and_says_why() {
    let adapter = |found: &str| format!("GPU.prototype.requestAdapter = async () => {found}");
    drive(DESKTOP, async |site| {
        for (code, why) in [
            (
                "Object.defineProperty(navigator, 'gpu', { value: undefined })".to_owned(),
                "this browser has no WebGPU; the run uses the CPU",
            ),
            (adapter("null"), "WebGPU found no graphics adapter"),
            (
                adapter("({ features: new Set(), info: {} })"),
                "lacks the WebGPU feature",
            ),
        ] {
            site.visit("#/how").await;
            site.script(&code).await;
            go(site, ON_WEBGPU).await;
            site.click("#train").await;
            site.wait_for_text("#notes", why).await;
            site.wait_for_text("#status", "Finished").await;
            site.wait_for_text("#device-used", "Runs on the CPU").await;
        }
    });
}

#[test]
#[ignore = "needs the built site"]
fn who_stays_on_the_cpu_does_not_load_the_engine_for_webgpu() {
    drive(DESKTOP, async |site| {
        meddle(site, "(window.asked ??= []).push(String(url))").await;
        go(site, SHORT).await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        let asked = site.script("return window.asked.join()").await;
        let asked = asked.as_str().unwrap();
        assert!(asked.contains("bin=worker&"), "{asked}");
        assert!(!asked.contains("worker-gpu"), "{asked}");
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_automatic_choice_says_why_it_leaves_webgpu_alone() {
    drive(DESKTOP, async |site| {
        site.visit(&format!(
            "{}&run=1",
            ON_WEBGPU.replace("device=webgpu", "device=auto")
        ))
        .await;
        site.wait_for_text("#notes", "only a software adapter")
            .await;
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text("#device-used", "Runs on the CPU").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn what_webgpu_breaks_off_starts_again_on_the_cpu() {
    drive(DESKTOP, async |site| {
        meddle(site, "window.last = worker").await;
        go(site, ON_WEBGPU).await;
        site.click("#train").await;
        site.wait_for_text("#device-used", "WebGPU").await;
        site.wait_for_text(".progress-line", "steps/s").await;
        // What the engine sends when it panics, as it does when the graphics card is gone.
        site.script("last.dispatchEvent(new MessageEvent('message', { data: JSON.stringify({ Crashed: { message: 'the card is gone' } }) }))")
            .await;
        site.wait_for_text(
            "#notes",
            "WebGPU stopped working (the card is gone); the run starts again on the CPU",
        )
        .await;
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text("#device-used", "Runs on the CPU").await;
    });
}
