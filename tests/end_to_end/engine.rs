//! What happens to a visitor when the engine or the graphics card fails.

use std::{fs, time::Duration};

use camel_lab::engine::protocol::{Event, Reply, decode};

use crate::{
    LONG, SHORT,
    browser::{DESKTOP, Site, dist},
    cancel, drive, drive_alone, drive_on,
};

#[path = "../support/order.rs"]
mod order;

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

/// What the engine sends when it panics, from the `last` worker.
fn crash(why: &str) -> String {
    format!(
        "last.dispatchEvent(new MessageEvent('message', {{ data: JSON.stringify({{ Crashed: {{ message: '{why}' }} }}) }}))"
    )
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
        site.visit("#/how").await;
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
fn an_engine_that_does_not_hear_cancel_is_ended_in_time_and_replaced() {
    drive_alone(DESKTOP, async |site| {
        site.visit("#/how").await;
        let deaf = "const send = worker.postMessage.bind(worker); window.engines = count; worker.postMessage = (text, ...more) => { if (!String(text).includes('Cancel')) send(text, ...more) }";
        meddle(site, deaf).await;
        go(site, LONG).await;
        site.click("#train").await;
        site.wait_for_text(".progress-line", "steps/s").await;
        let took = cancel(site).await;
        assert!(took < 100.0, "cancelling took {took} ms");
        assert_eq!(site.script("return window.engines").await, 1);
        site.fill("#steps", "50\t").await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        assert_eq!(site.script("return window.engines").await, 2);
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_demonstration_may_be_paused_for_long_and_starts_anew_after_its_engine_has_died() {
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
        hasten(site).await;
        meddle(site, "window.last = worker").await;
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

        site.script(&crash("it broke")).await;
        site.wait_for_text(".notice--error", "it broke").await;
        site.click("#reset").await;
        site.until("!document.querySelector('.notice--error')")
            .await;
        let dead = site.script(picture).await;
        site.until(&format!("({}) !== {dead}", &picture["return ".len()..]))
            .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn an_engine_of_another_version_refuses_and_says_what_to_do() {
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
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
        site.visit("#/how").await;
        meddle(site, ASK).await;
        go(site, SHORT).await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        let asked = asked(site).await;
        assert!(asked.contains("bin=worker&"), "{asked}");
        assert!(!asked.contains("worker-gpu"), "{asked}");
    });
}

/// Where the page has asked for engines, in one text.
async fn asked(site: &Site) -> String {
    let asked = site.script("return window.asked.join()").await;
    asked.as_str().unwrap().to_owned()
}

const ASK: &str = "(window.asked ??= []).push(String(url))";

#[test]
#[ignore = "needs the built site"]
fn a_short_run_that_may_choose_is_measured_and_does_not_load_the_engine_for_webgpu() {
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
        meddle(site, ASK).await;
        go(site, &ON_WEBGPU.replace("device=webgpu", "device=auto")).await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        let said = site.wait_for_text("#device-used", "measured").await;
        assert!(said.contains("ms a step"), "{said}");
        assert!(said.contains("too short for WebGPU to be loaded"), "{said}");
        let asked = asked(site).await;
        assert!(!asked.contains("worker-gpu"), "{asked}");
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_long_run_that_may_choose_is_measured_on_both_devices() {
    let long = "#/experiments?v=1&system=cartpole&method=camel&optimiser=adam&steps=200000&width=32&depth=2&batch=100&device=auto";
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
        meddle(site, ASK).await;
        go(site, long).await;
        site.click("#train").await;
        site.wait_for_text("#notes", "WebGPU is loaded to see")
            .await;
        // The software adapter compiles its shaders for long.
        let patience = Duration::from_secs(180);
        let said = site
            .wait_long_for_text("#device-used", "step on WebGPU", patience)
            .await;
        assert!(said.starts_with("Runs on the CPU: measured"), "{said}");
        assert!(said.contains("ms a step on the CPU"), "{said}");
        println!("{said}");
        site.wait_for_text(".progress-line", "steps/s").await;
        let asked = asked(site).await;
        assert!(asked.contains("bin=worker&"), "{asked}");
        assert!(asked.contains("worker-gpu"), "{asked}");
        site.click("#cancel").await;
        site.wait_for_text("#status", "Cancelled").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn what_has_no_use_for_webgpu_does_not_load_its_engine() {
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
        meddle(site, ASK).await;
        go(site, &SHORT.replace("device=cpu", "device=webgpu")).await;
        site.click("#train").await;
        site.wait_for_text("#device-used", "L-BFGS computes in double precision")
            .await;
        site.wait_for_text("#status", "Finished").await;
        let asked = asked(site).await;
        assert!(!asked.contains("worker-gpu"), "{asked}");
    });
}

/// A copy of the site with JavaScript that every engine runs before all else.
fn drive_with_damage(name: &str, code: &str, test: impl AsyncFn(&Site)) {
    let folder = std::env::temp_dir().join(format!("camel-lab-{name}-{}", std::process::id()));
    copy(&dist(), &folder);
    let engine = folder.join("engine.js");
    let text = fs::read_to_string(&engine).unwrap();
    fs::write(&engine, format!("{code};\n{text}")).unwrap();
    drive_on(&folder, DESKTOP, test);
    fs::remove_dir_all(folder).unwrap();
}

/// Copies a folder with all that is in it.
pub fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &name),
            false => drop(fs::copy(&path, name).unwrap()),
        }
    }
}

#[test]
#[ignore = "needs the built site"]
fn webgpu_that_computes_wrongly_is_found_out_and_the_run_uses_the_cpu() {
    // Every number that is read back from the card is half as large again.
    let damage = "const real = GPUBuffer.prototype.getMappedRange; GPUBuffer.prototype.getMappedRange = function (...place) { const range = real.apply(this, place); if (this.usage & GPUBufferUsage.MAP_READ) { const numbers = new Float32Array(range, 0, range.byteLength >> 2); numbers.forEach((number, i) => { numbers[i] = 1.5 * number }) } return range }";
    drive_with_damage("wrong", damage, async |site| {
        site.visit(&format!("{ON_WEBGPU}&run=1")).await;
        let said = site
            .wait_for_text("#device-used", "WebGPU computes wrongly on this machine")
            .await;
        assert!(said.starts_with("Runs on the CPU"), "{said}");
        assert!(said.contains(" instead of "), "{said}");
        site.wait_for_text("#status", "Finished").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_card_that_is_lost_on_the_way_is_replaced_by_the_cpu() {
    let damage = "const real = GPUAdapter.prototype.requestDevice; GPUAdapter.prototype.requestDevice = async function (wish) { const device = await real.call(this, wish); self.addEventListener('message', ({ data }) => { if (data === 'lose the card') device.destroy() }); return device }";
    drive_with_damage("lost", damage, async |site| {
        site.visit("#/how").await;
        meddle(site, "window.last = worker").await;
        go(site, ON_WEBGPU).await;
        site.click("#train").await;
        site.wait_for_text("#device-used", "Runs on WebGPU").await;
        site.wait_for_text(".progress-line", "steps/s").await;
        // The engine lets be what is no request.
        site.script("last.postMessage({ lose: 'nothing' }); last.postMessage(7)")
            .await;
        site.script("last.postMessage('lose the card')").await;
        let said = site.wait_for_text("#notes", "WebGPU stopped working").await;
        assert!(said.contains("the run starts again on the CPU"), "{said}");
        println!("{said}");
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text("#device-used", "Runs on the CPU").await;
        // The browser and the engine complain about the card on the console.
        site.forgive_errors().await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn an_engine_tells_everything_in_its_order() {
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
        let listen =
            "worker.addEventListener('message', ({ data }) => (window.heard ??= []).push(data))";
        meddle(site, listen).await;
        go(site, SHORT).await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        // Nothing may follow.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let heard = site.script("return window.heard").await;
        let replies = heard.as_array().unwrap().iter();
        let mut replies = replies.map(|text| decode::<Reply>(text.as_str().unwrap()).unwrap());
        assert!(matches!(replies.next(), Some(Reply::Ready { .. })));
        let events: Vec<(u32, Event)> = replies
            .filter_map(|reply| match reply {
                Reply::Event { job, event } => Some((job, event)),
                _ => None,
            })
            .collect();
        let trained = |(_, event): &&(u32, Event)| matches!(event, Event::Weights(_));
        let (run, _) = events.iter().find(trained).unwrap();
        let of_run = events.iter().filter(|(job, _)| job == run);
        let course: Vec<Event> = of_run.map(|(_, event)| event.clone()).collect();
        order::assert_whole_course(&course);
    });
}

#[test]
#[ignore = "needs the built site"]
fn what_webgpu_breaks_off_starts_again_on_the_cpu() {
    drive(DESKTOP, async |site| {
        site.visit("#/how").await;
        meddle(site, "window.last = worker").await;
        go(site, ON_WEBGPU).await;
        site.click("#train").await;
        site.wait_for_text("#device-used", "WebGPU").await;
        site.wait_for_text(".progress-line", "steps/s").await;
        // As it does when the graphics card is gone.
        site.script(&crash("the card is gone")).await;
        site.wait_for_text(
            "#notes",
            "WebGPU stopped working (the card is gone); the run starts again on the CPU",
        )
        .await;
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text("#device-used", "Runs on the CPU").await;
    });
}
