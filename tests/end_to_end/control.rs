//! Online control and planned measurements, click by click.

use serde_json::Value;

use crate::{
    browser::{DESKTOP, PHONE, Site, Window},
    drive,
    files::{choose, file, saved_by, watch_saving},
};

const UPKIE: &str = "#/experiments?v=1&system=upkie&method=camel&view=online%3Dcamel,3,2.5";

#[test]
#[ignore = "needs the built site"]
fn a_run_of_online_control_streams_pauses_steps_and_survives_the_way_to_another_page() {
    drive(DESKTOP, async |site| {
        site.visit(UPKIE).await;
        site.wait_for_text("#online", "Time of the change").await;
        let chosen = "return [...document.querySelectorAll('#online output')].map(o => o.textContent.trim()).join()";
        assert_eq!(site.script(chosen).await, "3,2.5 s");
        site.click("#online-run").await;
        site.wait_for_text("#online-ticks", "ticks of 5 ms").await;
        site.click("#online-pause").await;
        site.wait_for_text("#online-pause", "Play").await;
        site.click("#online-step").await;
        site.click("nav a[href*='#/how']").await;
        site.wait_for_text("h1", "Learn the equation once").await;
        site.click("nav a[href*='#/experiments']").await;
        site.wait_for_text("#online-pause", "Play").await;
        let address = site.script("return location.hash").await;
        assert!(address.as_str().unwrap().contains("online"), "{address}");
        site.click("#online-pause").await;
        site.click("#online .segmented button:last-child").await;
        site.wait_for_text("#online-ticks", "of 2000 ticks").await;
        site.wait_for_text("#online-run", "Run with").await;
    });
}

/// Ticks of the run so far.
async fn ticks(site: &Site) -> u64 {
    let text = site.wait_for_text("#online-ticks", "ticks of 5 ms").await;
    let words: Vec<&str> = text.split(' ').collect();
    words[3].parse().unwrap()
}

#[test]
#[ignore = "needs the built site"]
fn an_online_run_goes_step_by_step_begins_anew_and_says_what_a_tick_takes() {
    drive(DESKTOP, async |site| {
        site.visit(UPKIE).await;
        site.click("#online-run").await;
        let text = site
            .wait_for_text("#online-ticks", "One adaptation took")
            .await;
        let (_, times) = text.split_once("took ").unwrap();
        let (adaptation, tick) = times
            .split_once(" µs here, a whole tick with the robot ")
            .unwrap();
        let (tick, _) = tick.split_once(" µs.").unwrap();
        let [adaptation, tick] = [adaptation, tick].map(|time| time.parse::<f64>().unwrap());
        assert!(0.0 < adaptation && adaptation < tick, "{text}");
        site.click("#online-pause").await;
        site.wait_for_text("#online-pause", "Play").await;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let stood = ticks(site).await;
        assert!(stood > 1);
        for step in 1..=2 {
            site.click("#online-step").await;
            site.wait_for_text("#online-ticks", &format!("of {} ticks", stood + step))
                .await;
        }
        site.click("#online-reset").await;
        site.wait_for_text("#online-ticks", "of 1 ticks").await;
        site.click("#online-step").await;
        site.wait_for_text("#online-ticks", "of 2 ticks").await;
        site.click("#online-run").await;
        site.wait_for_text("#online-run", "Run with").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_gradient_method_runs_the_same_loop_and_is_cancelled() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&method=camel&view=online%3Danil,2,8")
            .await;
        site.click("#online-run").await;
        site.wait_for_text("#online-ticks", "ticks of 20 ms").await;
        site.wait_for_text("#online-run", "Cancel").await;
        site.click("#online-run").await;
        site.wait_for_text("#online-run", "Run with").await;
    });
}

/// What the page shows of a run: its charts in words, and its line of figures.
const SEEN: &str = "return [...document.querySelectorAll('#online .chart canvas')].map((c) => c.getAttribute('aria-label')).concat(document.querySelector('#online-ticks').textContent).join(' | ')";

#[test]
#[ignore = "needs the built site"]
fn a_saved_online_run_is_opened_again_without_running() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&method=camel&view=online_camel-3-6-exciting")
            .await;
        site.click("#online .segmented button:last-child").await;
        site.click("#online-run").await;
        site.wait_for_text("#online-ticks", "of 1200 ticks").await;
        site.wait_for_text("#online-run", "Run with").await;
        let seen = site.script(SEEN).await;
        assert!(seen.as_str().unwrap().contains("CAMEL"), "{seen}");
        watch_saving(site).await;
        let text = String::from_utf8(saved_by(site, "#save-online").await).unwrap();
        let run: Value = serde_json::from_str(&text).unwrap();
        assert!(run["browser"].as_str().unwrap().contains("Chrome"));
        let report = &run["report"];
        assert_eq!(report["device"]["name"], "cpu");
        assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(report["spec"]["factor"], 3.0);
        assert_eq!(report["run"]["ticks"], 1200);

        site.visit("#/experiments?v=1&system=pendulum").await;
        let broken = text.replace("\"factor\":3", "\"factor\":-3");
        choose(site, "#open-run", file("broken.json", broken)).await;
        site.wait_for_text("#transfer .notice--error", "the factor -3")
            .await;
        assert!(site.fragment().await.contains("system=pendulum"));
        choose(site, "#open-run", file("online.json", &text)).await;
        site.wait_for_text("#online-ticks", "of 1200 ticks").await;
        site.until(&format!("(() => {{ {SEEN} }})() === {seen}"))
            .await;
        let address = site.fragment().await;
        assert!(address.contains("system=cartpole"), "{address}");
        assert!(address.contains("online_camel-3-6-exciting"), "{address}");
        site.wait_for_text("#online-run", "Run with").await;
        site.click("#online-method option[value=analytic]").await;
        site.until("document.querySelector('#online-run').textContent === 'Run'")
            .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_robot_on_its_reference_is_stepped_slowed_and_begins_anew() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&method=camel")
            .await;
        site.wait_for_text("#motion-pause", "Pause").await;
        site.click("#tracking .segmented button:first-child").await;
        site.click("#motion-pause").await;
        site.wait_for_text("#motion-pause", "Play").await;
        site.click("#motion-reset").await;
        site.wait_for_text("#motion-time", "0.00 s").await;
        for time in ["0.02 s", "0.04 s"] {
            site.click("#motion-step").await;
            site.wait_for_text("#motion-time", time).await;
        }
        site.click("#motion-pause").await;
        site.until("document.querySelector('#motion-step').disabled")
            .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_best_next_point_is_added_to_the_link() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=charges-pair&method=camel&points=0.5,0.5+-0.5,0.5")
            .await;
        site.wait_for_text("#points", "2 points of your own").await;
        site.wait_for_text("#results", "2 samples").await;
        site.click("#best-point:not([disabled])").await;
        site.wait_for_text("#points", "3 points of your own").await;
        site.wait_for_text("#results", "3 samples").await;
    });
}

/// Runs CAMEL to the end: its charts say when it noticed, how sure it is and what is true, and its distance
/// from the reference stands beside an oracle's.
async fn assert_is_told(site: &Site, system: &str, factor: f64, ticks: usize, truth: &str) {
    site.visit(&format!(
        "#/experiments?v=1&system={system}&method=camel&view=online_camel-{factor}-4"
    ))
    .await;
    site.click("#online .segmented button:last-child").await;
    site.click("#online-run").await;
    site.wait_for_text("#online-ticks", &format!("of {ticks} ticks"))
        .await;
    site.wait_for_text("#online-run", "Run with").await;
    // The chart's words follow it at its own pace.
    site.until(&format!(
        "(() => {{ {SEEN} }})().includes('Event: noticed at 4')"
    ))
    .await;
    let seen = site.script(SEEN).await;
    let seen = seen.as_str().unwrap();
    for part in ["CAMEL, ± 2 standard errors:", "true:", truth, "oracle:"] {
        assert!(seen.contains(part), "{system}: {part} in {seen}");
    }
    let total = site.wait_for_text("#online-total", "oracle").await;
    let words = total.split(' ');
    let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    let [own, oracle] = numbers[..] else {
        panic!("{total}")
    };
    assert!(oracle > 0.0 && own < 3.0 * oracle, "{total}");
    assert!(total.ends_with(" m."), "{total}");
    site.script("document.querySelector('#online-total').scrollIntoView({ block: 'end' })")
        .await;
    site.picture(&format!("online-{system}")).await;
}

#[test]
#[ignore = "needs the built site"]
fn an_online_run_shows_the_alarm_the_band_the_truth_and_its_total_error() {
    drive(DESKTOP, async |site| {
        assert_is_told(site, "cartpole", 2.0, 1200, "from 1.5 to 3").await;
    });
    let phone = Window {
        dark: true,
        ..PHONE
    };
    drive(phone, async |site| {
        assert_is_told(site, "upkie", 4.0, 2000, "from 1 to 4").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_ticks_that_a_slow_method_misses_are_in_the_chart() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=upkie&method=camel&view=online_maml-4-3")
            .await;
        site.click("#online .segmented button:last-child").await;
        site.click("#online-run").await;
        site.until("Number(document.querySelector('#online-ticks')?.textContent.match(/Missed (\\d+)/)?.[1]) > 0 && document.querySelectorAll('#online .chart canvas')[1].getAttribute('aria-label').includes('missed ticks: ')").await;
        site.script("document.querySelector('#online-total').scrollIntoView({ block: 'end' })")
            .await;
        site.picture("online-missed").await;
        site.click("#online-run").await;
        site.wait_for_text("#online-run", "Run with").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_swing_up_says_its_total_error_beside_the_oracles() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&method=camel")
            .await;
        let total = site.wait_for_text("#tracking-total", "oracle").await;
        assert!(
            total.starts_with("Total distance of all steps: CAMEL "),
            "{total}"
        );
        assert!(total.contains("textbook"), "{total}");
        site.script("document.querySelector('#tracking-total').scrollIntoView({ block: 'end' })")
            .await;
        site.picture("tracking-total").await;
        site.visit("#/tables?v=1&system=cartpole").await;
        let table = site.wait_for_text("#swing-ups", "Upright at the end").await;
        assert!(
            table.contains("CAMEL") && table.contains("Oracle"),
            "{table}"
        );
        site.script("document.querySelector('#swing-ups').scrollIntoView()")
            .await;
        site.picture("tables-swing-ups").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn samples_that_do_not_determine_a_mass_say_so() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&method=camel&shots=3")
            .await;
        site.wait_for_text(
            "#conditioning",
            "These samples do not determine the pole mass:",
        )
        .await;
        site.wait_for_text("#identified", "not determined").await;
        site.fill("#shots", "100\t").await;
        site.wait_for_text("#conditioning", "How well these samples tell")
            .await;
    });
}
