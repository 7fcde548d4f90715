//! Pages with nothing to show yet, and a page that nobody looks at.

use std::time::Duration;

use crate::{SHORT, browser::DESKTOP, drive};

#[test]
#[ignore = "needs the built site"]
fn a_page_without_results_says_how_to_get_some() {
    drive(DESKTOP, async |site| {
        for (page, place, sentence) in [
            (
                "#/experiments?v=1&system=arm&method=maml&steps=123",
                "#environment + .empty",
                "Press Train",
            ),
            ("#/experiments", "#comparison .empty", "press Train"),
            ("#/data", "#file-status", "try the example"),
            ("#/tables", "#rerun .empty", "Choose a method or a cell"),
            ("#/bench", "main .empty", "Press Measure"),
        ] {
            site.visit(page).await;
            site.wait_for_text(place, sentence).await;
        }
        site.visit(&format!("{SHORT}&run=1")).await;
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text("#comparison table", "CAMEL").await;
        assert_eq!(
            site.script("return document.querySelectorAll('main .empty').length")
                .await,
            0,
            "they go with the first result"
        );
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_hidden_tab_stands_still_while_its_training_goes_on() {
    // What the page shows at the moment it is hidden and at the moment it is seen again.
    let watch = "window.seen = []; const look = () => window.seen.push([
            document.hidden,
            document.querySelector('#tracking canvas').toDataURL(),
            Number(document.querySelector('.progress-line')?.textContent.match(/step (\\d+)/)?.[1])]);
        document.addEventListener('visibilitychange', look)";
    drive(DESKTOP, async |site| {
        site.visit(&format!("{SHORT}&run=1")).await;
        site.wait_for_text("#status", "Finished").await;
        site.find("#tracking canvas").await;
        site.fill("#steps", "100000\t").await;
        site.click("#train").await;
        site.wait_for_text(".progress-line", "steps/s").await;
        site.script(watch).await;
        let picture = "document.querySelector('#tracking canvas').toDataURL()";
        let before = site.script(&format!("return {picture}")).await;
        site.until(&format!("{picture} !== {before}")).await;

        let first = site.client.window().await.unwrap();
        let second = site.client.new_window(true).await.unwrap();
        site.client.switch_to_window(second.handle).await.unwrap();
        tokio::time::sleep(Duration::from_secs(4)).await;
        site.client.close_window().await.unwrap();
        site.client.switch_to_window(first).await.unwrap();
        site.until("window.seen.length === 2").await;
        let seen = site.script("return window.seen").await;
        let (gone, back) = (&seen[0], &seen[1]);
        assert!(gone[0] == true && back[0] == false, "it was hidden");
        assert_eq!(gone[1], back[1], "the picture moved while nobody looked");
        let step = |seen: &serde_json::Value| seen[2].as_u64().unwrap();
        assert!(step(back) > step(gone) + 100, "{} {}", gone[2], back[2]);
        site.until(&format!("{picture} !== {}", back[1])).await;
        site.click("#cancel").await;
        site.wait_for_text("#status", "Cancelled").await;
    });
}
