//! Every choice of a page is in its link, and the Share button hands the link over.

use serde_json::{Value, json};

use crate::{
    accessibility::assert_sound,
    browser::{DESKTOP, Site},
    drive,
    sharing::shared,
};

/// The texts of the pressed buttons of the bench.
async fn pressed(site: &Site) -> String {
    let script = "return [...document.querySelectorAll('.segmented [aria-pressed=true]')].map(b => b.textContent.trim()).join()";
    let Value::String(text) = site.script(script).await else {
        panic!("no buttons")
    };
    text
}

async fn wait_for_pressed(site: &Site, wanted: &str) {
    site.find(".segmented").await;
    let script = format!(
        "[...document.querySelectorAll('.segmented [aria-pressed=true]')].map(b => b.textContent.trim()).join() === '{wanted}'"
    );
    site.until(&script).await;
}

#[test]
#[ignore = "needs the built site"]
fn what_is_chosen_on_the_bench_is_in_its_link() {
    drive(DESKTOP, async |site| {
        site.visit("#/bench").await;
        site.find("#measure").await;
        assert_eq!(pressed(site).await, "Everything,CPU");
        site.click("[aria-label=Length] button:last-child").await;
        site.click("[aria-label=Device] button:last-child").await;
        wait_for_pressed(site, "Cartpole only,WebGPU").await;
        let link = shared(site).await;
        assert!(link.contains("length_brief"), "{link}");

        site.click("nav a[href*='#/how']").await;
        site.wait_for_text("h1", "Learn the equation once").await;
        site.client.back().await.unwrap();
        wait_for_pressed(site, "Cartpole only,WebGPU").await;
        site.client.forward().await.unwrap();
        site.wait_for_text("h1", "Learn the equation once").await;

        site.visit("#/bench").await;
        wait_for_pressed(site, "Everything,CPU").await;
        site.visit(&link).await;
        wait_for_pressed(site, "Cartpole only,WebGPU").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_former_link_of_the_bench_keeps_its_machine_beside_new_choices() {
    drive(DESKTOP, async |site| {
        site.visit("#/bench?v=1&view=8,cpu;1000,100").await;
        site.wait_for_text(".notice", "a machine of 8 cores").await;
        site.click("[aria-label=Length] button:last-child").await;
        wait_for_pressed(site, "Cartpole only,CPU").await;
        let link = shared(site).await;
        site.visit(&link).await;
        site.wait_for_text(".notice", "a machine of 8 cores").await;
        assert_eq!(pressed(site).await, "Cartpole only,CPU");
        // Whoever takes the other machine away takes it out of the link.
        site.click(".notice button").await;
        site.until("!location.hash.includes('sheet')").await;
        assert!(site.fragment().await.contains("length_brief"));
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_chosen_cell_of_a_table_is_in_its_link() {
    let cell = "return document.querySelector('#rerun-cell').value";
    let is = |value: &Value| format!("document.querySelector('#rerun-cell')?.value === {value}");
    drive(DESKTOP, async |site| {
        site.visit("#/tables?v=1&system=pendulum").await;
        site.find("#rerun-cell").await;
        let first = site.script(cell).await;
        site.click("#rerun-cell option:nth-child(4)").await;
        site.until("location.hash.includes('cell_')").await;
        let chosen = site.script(cell).await;
        assert_ne!(chosen, first);
        let link = shared(site).await;

        site.click("nav a[href*='#/how']").await;
        site.wait_for_text("h1", "Learn the equation once").await;
        site.client.back().await.unwrap();
        site.until(&is(&chosen)).await;
        site.client.forward().await.unwrap();
        site.wait_for_text("h1", "Learn the equation once").await;

        site.visit(&link).await;
        site.until(&is(&chosen)).await;
        // The usual choice needs no word in the link, and an unknown one is as usual, with a remark.
        site.click("#rerun-cell option:first-child").await;
        site.until("!location.hash.includes('cell_')").await;
        site.visit("#/tables?v=1&system=pendulum&view=cell_magic.3.0")
            .await;
        site.until(&is(&first)).await;
        site.wait_for_text(".notice--warn", "magic.3.0").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn methods_to_compare_and_the_online_run_share_a_link() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=cartpole&view=online%3Danil,2,8")
            .await;
        site.click("#comparison [name=r2d2]").await;
        site.until("location.hash.includes('compare_') && document.querySelector('#online-method').value === 'anil'").await;
        site.click("#online-method option[value=coda]").await;
        site.until("location.hash.includes('coda')").await;
        site.click("#comparison [name=maml]").await;
        let link = shared(site).await;
        site.visit(&link).await;
        site.find("#online-method").await;
        let state = "return [document.querySelector('#online-method').value, ...[...document.querySelectorAll('#comparison [type=checkbox]')].filter((box) => box.checked).map((box) => box.name)].join()";
        assert_eq!(site.script(state).await, "coda,camel,anil,maml");
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_share_button_puts_the_link_on_the_clipboard() {
    drive(DESKTOP, async |site| {
        let allowed = ["clipboardReadWrite", "clipboardSanitizedWrite"];
        let allowed = json!({ "permissions": allowed });
        site.tools("Browser.grantPermissions", allowed).await;
        site.visit("#/experiments?v=1&system=arm&method=camel&rank=3")
            .await;
        site.find("#train").await;
        site.click("#share-button").await;
        site.wait_for_text("#share-panel", "Copied").await;
        let read = "const done = arguments[0]; navigator.clipboard.readText().then(done, (e) => done(String(e)))";
        let copied = site.client.execute_async(read, vec![]).await.unwrap();
        let shown = "return document.querySelector('#share-panel input').value";
        assert_eq!(copied, site.script(shown).await);
        assert_sound(site, "the open Share panel").await;
        let link = copied.as_str().unwrap();
        assert!(link.starts_with(&site.address), "{link}");
        assert!(
            link.contains("system=arm") && link.contains("rank=3"),
            "{link}"
        );
    });
}
