//! The front page, click by click.

use std::time::Duration;

use crate::{
    browser::{DESKTOP, Site, Window},
    drive,
};

#[test]
#[ignore = "needs the built site"]
fn the_cartpole_swings_up_and_its_doubled_mass_is_identified() {
    drive(DESKTOP, async |site| {
        site.visit("#/play").await;
        site.wait_for_text("#lane-camel", "cm off").await;
        site.picture("play-start").await;
        site.click(".segmented button:last-child").await;
        wait_for_label(site, "balances").await;
        site.picture("play-upright").await;
        site.click("#double").await;
        site.wait_for_text("#readouts", "3.00 kg").await;
        let identified = "return parseFloat(document.querySelector('#readouts').innerText.match(/([0-9.]+) ± /)?.[1] ?? 'NaN')";
        let mut mass = 0.0;
        for _ in 0..100 {
            mass = site.script(identified).await.as_f64().unwrap_or(0.0);
            if (mass - 3.0_f64).abs() < 0.3 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!((mass - 3.0).abs() < 0.3, "{mass} kg");
        site.picture("play-doubled").await;
    });
}

/// Waits until the picture of CAMEL's cart says so.
async fn wait_for_label(site: &Site, word: &str) {
    let script = "return document.querySelector('#lane-camel canvas').getAttribute('aria-label')";
    for _ in 0..200 {
        let label = site.script(script).await;
        if label.as_str().is_some_and(|label| label.contains(word)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("CAMEL's cart never {word}");
}

#[test]
#[ignore = "needs the built site"]
fn the_demonstration_pauses_steps_and_starts_anew() {
    drive(DESKTOP, async |site| {
        site.visit("#/play").await;
        site.wait_for_text("#lane-camel", "cm off").await;
        let readouts = site.wait_for_text("#readouts", "one control step").await;
        assert!(readouts.contains("µs"), "{readouts}");
        site.click(".segmented button:first-child").await;
        let slow = "document.querySelector('.segmented button:first-child').getAttribute('aria-pressed') === 'true'";
        site.until(slow).await;
        site.click("#pause").await;
        site.wait_for_text("#pause", "Play").await;
        let picture = "return document.querySelector('#lane-camel canvas').toDataURL()";
        tokio::time::sleep(Duration::from_millis(300)).await;
        let still = site.script(picture).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(site.script(picture).await, still);
        site.click("#step").await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_ne!(site.script(picture).await, still);
        site.script("const slider = document.querySelector('.slider'); slider.value = 2; slider.dispatchEvent(new Event('input', { bubbles: true }))").await;
        site.click("#step").await;
        site.wait_for_text("#readouts", "2.00 kg").await;
        site.click("#reset").await;
        site.wait_for_text("#readouts", "1.50 kg").await;
        site.click("#pause").await;
        site.wait_for_text("#pause", "Pause").await;
        for lane in ["anil", "analytic"] {
            site.wait_for_text(&format!("#lane-{lane}"), "cm off").await;
        }
        // Nobody looks at a hidden tab.
        let hide = |hidden: bool| {
            format!(
                "Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }}); document.dispatchEvent(new Event('visibilitychange'))"
            )
        };
        site.script(&hide(true)).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let still = site.script(picture).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(site.script(picture).await, still);
        site.script(&hide(false)).await;
        site.until(&format!("({}) !== {still}", &picture["return ".len()..]))
            .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn who_prefers_reduced_motion_starts_it_by_hand() {
    let still = Window {
        still: true,
        ..DESKTOP
    };
    drive(still, async |site| {
        site.visit("#/play").await;
        site.wait_for_text("#lane-camel", "cm off").await;
        site.wait_for_text("#pause", "Play").await;
    });
}
