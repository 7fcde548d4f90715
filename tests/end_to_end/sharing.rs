//! What one visitor sees, another can see too: by a link, or by a file.

use serde_json::Value;

use crate::{
    SHORT,
    browser::{DESKTOP, Site},
    drive,
    files::{choose, file, saved_by, watch_saving},
};

/// The part after `#` of the link that the Share button shows.
pub async fn shared(site: &Site) -> String {
    site.click("#share-button").await;
    site.find("#share-panel input").await;
    let link = site
        .script("return document.querySelector('#share-panel input').value")
        .await;
    site.click("#share-button").await;
    let link = link.as_str().unwrap();
    link[link.find('#').unwrap()..].to_owned()
}

#[test]
#[ignore = "needs the built site"]
fn a_link_brings_back_the_demonstration() {
    drive(DESKTOP, async |site| {
        site.visit("#/play").await;
        site.wait_for_text("#lane-camel", "cm off").await;
        site.click("#double").await;
        site.click(".segmented button:last-child").await;
        site.click("#pause").await;
        site.wait_for_text("#pause", "Play").await;
        site.until("location.hash.includes('paused')").await;
        let link = shared(site).await;
        assert!(link.contains("view=mass_3+speed_4+paused_1"), "{link}");
        site.picture("share-desktop").await;

        site.visit(&link).await;
        site.wait_for_text("#pause", "Play").await;
        site.wait_for_text("#double", "Halve").await;
        let pressed =
            "document.querySelector('.segmented button:last-child').getAttribute('aria-pressed')";
        assert_eq!(site.script(&format!("return {pressed}")).await, "true");
        site.wait_for_text("#readouts", "3.00 kg").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_link_of_an_experiment_trains_only_where_its_sender_has_trained() {
    drive(DESKTOP, async |site| {
        site.visit(SHORT).await;
        site.click("#comparison [name=anil]").await;
        let link = shared(site).await;
        assert!(!link.contains("run=1"), "{link}");
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        let link = shared(site).await;
        assert!(link.contains("run=1"), "{link}");
        site.visit(&link).await;
        site.wait_for_text("#status", "Finished").await;
        let ticks = "return [...document.querySelectorAll('#comparison [type=checkbox]')].filter((box) => box.checked).map((box) => box.name).join()";
        assert_eq!(site.script(ticks).await, "camel,r2d2");
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_link_brings_back_what_the_columns_stand_for() {
    drive(DESKTOP, async |site| {
        site.visit("#/data").await;
        site.click("#use-example").await;
        site.wait_for_text("#columns", "param:M [kg]").await;
        let choose = |css: &str, value: &str| {
            format!(
                "const list = document.querySelector(\"{css}\"); list.value = '{value}'; list.dispatchEvent(new Event('change', {{ bubbles: true }}))"
            )
        };
        site.script(&choose("#held-out", "cart 2")).await;
        let role = "select[aria-label='Role of param:M [kg]']";
        site.script(&choose(role, "ignored")).await;
        site.click("#columns .segmented button:last-child").await;
        site.click("#shared-part").await;
        site.until("location.hash.includes('shared_no')").await;
        let link = shared(site).await;

        site.visit(&link).await;
        site.click("#use-example").await;
        site.wait_for_text("#columns", "param:M [kg]").await;
        let state = format!(
            "return [document.querySelector('#held-out').value, document.querySelector(\"{role}\").value, document.querySelector('#columns .segmented button:last-child').getAttribute('aria-pressed'), document.querySelector('#shared-part').checked].join()"
        );
        assert_eq!(site.script(&state).await, "cart 2,ignored,true,false");
        // What fits the file is no setting of the experiments.
        site.click("nav a[href*='#/experiments']").await;
        site.wait_for_text("h1", "Cartpole").await;
        let experiment = site.fragment().await;
        assert!(!experiment.contains("steps="), "{experiment}");
    });
}

/// What the page shows of a field and of its parameters.
async fn seen(site: &Site) -> (Value, String) {
    site.find(".maps figure:nth-child(3) canvas").await;
    let maps = "return [...document.querySelectorAll('.maps canvas')].map((map) => map.getAttribute('aria-label'))";
    let maps = site.script(maps).await;
    (maps, site.wait_for_text("#identified", "±").await)
}

#[test]
#[ignore = "needs the built site"]
fn a_saved_result_or_model_is_opened_again_as_it_was() {
    const FIELD: &str = "#/experiments?v=1&system=charges-pair&method=camel&steps=200&device=cpu";
    drive(DESKTOP, async |site| {
        site.visit(&format!(
            "{FIELD}&points=0.1%2C0.5%20-0.4%2C0.3%20.7%2C0.8&run=1"
        ))
        .await;
        site.wait_for_text("#status", "Finished").await;
        let before = seen(site).await;
        watch_saving(site).await;
        let run = saved_by(site, "#save-run").await;
        let model = saved_by(site, "#save-weights").await;

        site.visit("#/experiments?v=1&system=pendulum").await;
        choose(site, "#open-run", file("field.json", &run)).await;
        site.wait_for_text("#origin", "the file that you opened")
            .await;
        assert_eq!(seen(site).await, before);
        assert!(site.fragment().await.contains("points="));
        site.wait_for_text("#comparison table", "CAMEL").await;

        // The model alone fits the settings that it was trained with, and no others.
        site.visit(&format!("{FIELD}&rank=3")).await;
        choose(site, "#open-run", file("field.safetensors", &model)).await;
        site.wait_for_text("#transfer .notice--error", "its rank is 2, but must be 3")
            .await;
        site.fill("#rank", "2\t").await;
        choose(site, "#open-run", file("field.safetensors", &model)).await;
        site.wait_for_text("#origin", "the file that you opened")
            .await;
        site.find(".maps canvas").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_result_of_usual_settings_is_not_overwritten_by_the_shipped_model() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&method=camel")
            .await;
        let origin = site.wait_for_text("#origin", "adapts at once").await;
        assert!(origin.contains("came with the site"), "{origin}");
        let shipped = site.wait_for_text("#identified", "±").await;
        watch_saving(site).await;
        let saved = saved_by(site, "#save-run").await;
        let mut alone: Value = serde_json::from_slice(&saved).unwrap();
        assert_eq!(alone["report"]["device"]["name"], "cpu");
        alone.as_object_mut().unwrap().remove("weights");
        alone["report"]["adaptation"]["identified"][0]["estimate"] = 12.5.into();

        site.visit("#/experiments?v=1&system=pendulum").await;
        choose(site, "#open-run", file("alone.json", alone.to_string())).await;
        site.wait_for_text("#identified", "12.5").await;
        site.wait_for_text("#origin", "came without its model")
            .await;
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        site.wait_for_text("#identified", "12.5").await;
        // Another question is for a model, and the shipped one has these settings.
        site.fill("#shots", "60\t").await;
        site.wait_for_text("#origin", "came with the site").await;

        choose(site, "#open-run", file("whole.json", &saved)).await;
        site.wait_for_text("#origin", "the file that you opened")
            .await;
        assert_eq!(site.wait_for_text("#identified", "±").await, shipped);
    });
}
