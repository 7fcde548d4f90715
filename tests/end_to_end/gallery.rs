//! Every system on its stage: it is painted, and all that a visitor changes is in the link.

use std::time::Duration;

use fantoccini::actions::{InputSource as _, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};

use crate::{
    browser::{DESKTOP, Site},
    drive,
};

const SYSTEMS: [&str; 9] = [
    "pendulum",
    "charges-dipole",
    "charges-pair",
    "charges-quadrupole",
    "capacitor",
    "capacitor-eps",
    "cartpole",
    "arm",
    "upkie",
];
/// A canvas of fewer colours shows nothing.
const COLOURS: u64 = 8;

/// Waits until a script says yes.
async fn wait_until(site: &Site, what: &str, condition: &str) {
    for _ in 0..200 {
        if site.script(condition).await == true {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what}: never; the address is {}", site.fragment().await);
}

async fn wait_for_link(site: &Site, part: &str) {
    let condition = format!("return decodeURIComponent(location.hash).includes('{part}')");
    wait_until(site, part, &condition).await;
}

/// Waits until the stage's canvas has been painted.
pub async fn wait_for_paint(site: &Site, name: &str) {
    let condition = format!(
        "const canvas = document.querySelector('#stage canvas');
        if (!canvas?.width || !canvas.height) return false;
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const colours = new Set();
        for (let k = 0; k < pixels.length; k += 4) colours.add(pixels[k] << 16 | pixels[k + 1] << 8 | pixels[k + 2]);
        return colours.size > {COLOURS}"
    );
    wait_until(site, &format!("{name} is painted"), &condition).await;
}

/// Moves the first slider under `css` some way to the right.
async fn slide(site: &Site, css: &str) {
    let slider = format!("{css} input[type=range]");
    site.find(&slider).await;
    site.script(&format!(
        "const slider = document.querySelector('{slider}'); slider.stepUp(3); slider.dispatchEvent(new Event('input', {{ bubbles: true }}))"
    ))
    .await;
}

#[test]
#[ignore = "needs the built site"]
fn every_system_is_painted_and_its_sliders_are_in_the_link() {
    drive(DESKTOP, async |site| {
        for name in SYSTEMS {
            site.visit(&format!("#/gallery?v=1&system={name}")).await;
            wait_for_paint(site, name).await;
            assert!(!site.fragment().await.contains("phi="), "{name}");
            slide(site, "#stage form").await;
            wait_for_link(site, "phi=").await;
            site.picture(&format!("gallery-{name}")).await;
        }
    });
}

#[test]
#[ignore = "needs the built site"]
fn a_charge_is_dragged_into_the_link_and_back_leads_to_where_it_was() {
    drive(DESKTOP, async |site| {
        site.visit("#/gallery?v=1&system=charges-pair").await;
        wait_for_paint(site, "charges-pair").await;
        let canvas = site.find("#stage canvas").await;
        site.script("document.querySelector('#stage canvas').scrollIntoView({ block: 'center' })")
            .await;
        let (_, _, width, height) = canvas.rectangle().await.unwrap();
        // The left charge, from the middle of a picture of 3.5 m by 2 m around (0, 0.5) m.
        let (x, y) = (-1.1 / 3.5 * width, 0.5 / 2.0 * height);
        let drag = MouseActions::new("mouse".to_owned())
            .then(PointerAction::MoveToElement {
                element: canvas,
                duration: None,
                x,
                y,
            })
            .then(PointerAction::Down {
                button: MOUSE_BUTTON_LEFT,
            })
            .then(PointerAction::MoveBy {
                duration: Some(Duration::from_millis(200)),
                x: -20.0,
                y: 10.0,
            })
            .then(PointerAction::Up {
                button: MOUSE_BUTTON_LEFT,
            });
        site.client.perform_actions(drag).await.unwrap();
        wait_for_link(site, "places=").await;
        // A link with other places is followed, and so is the way back.
        let label = "document.querySelector('#stage canvas').getAttribute('aria-label')";
        let dragged = site.script(&format!("return {label}")).await;
        site.script(
            "location.hash = '#/gallery?v=1&system=charges-pair&places=-1.02%2C-0.02%201.4%2C0'",
        )
        .await;
        wait_until(
            site,
            "other places",
            &format!("return {label} !== {dragged}"),
        )
        .await;
        site.client.back().await.unwrap();
        wait_until(
            site,
            "the way back",
            &format!("return {label} === {dragged}"),
        )
        .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn charges_are_added_and_removed_and_can_be_learned() {
    drive(DESKTOP, async |site| {
        let sliders = |count: usize| {
            let all = "document.querySelectorAll('#stage form input[type=range]').length";
            format!("return {all} === {count}")
        };
        site.visit("#/gallery?v=1&system=charges-pair").await;
        site.click("#add-charge").await;
        wait_until(site, "a third slider", &sliders(3)).await;
        wait_for_link(site, "phi=3+3+1").await;
        wait_until(
            site,
            "the focus stays",
            "return document.activeElement.id === 'add-charge'",
        )
        .await;
        wait_for_paint(site, "three charges").await;
        site.picture("gallery-three-charges").await;
        for left in [2, 1] {
            site.click("#remove-charge").await;
            wait_until(site, "one slider less", &sliders(left)).await;
        }
        site.click("#reset").await;
        wait_until(site, "both charges", &sliders(2)).await;
        site.click("#add-charge").await;
        wait_until(site, "a third slider again", &sliders(3)).await;
        site.click("#stage a[href*='experiments']").await;
        site.wait_for_text("#environment", "Charge 3").await;
        site.fill("#steps", "20\t").await;
        site.click("#train").await;
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text("#identified", "charge 3").await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn what_pushes_a_robot_is_in_the_link() {
    drive(DESKTOP, async |site| {
        site.visit("#/gallery?v=1&system=cartpole&view=sine+8+3")
            .await;
        let pressed =
            "(document.querySelector('[aria-label=Input] [aria-pressed=true]')?.textContent ?? '')";
        wait_until(
            site,
            "a sine",
            &format!("return {pressed}.includes('Sine')"),
        )
        .await;
        slide(site, ".stage__sliders").await;
        wait_until(
            site,
            "another amplitude",
            "return /view=sine\\+(?!8\\+)/.test(location.hash)",
        )
        .await;
        site.click("[aria-label=Input] button:last-child").await;
        wait_for_link(site, "view=none").await;
        site.script("location.hash = '#/gallery?v=1&system=cartpole'")
            .await;
        wait_until(
            site,
            "the usual input",
            &format!("return {pressed}.includes('Swing')"),
        )
        .await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn another_kind_of_input_starts_the_motion_anew() {
    /// Time on the stage [s].
    const TIME: &str = "parseFloat(document.querySelector('#figures dd')?.textContent)";
    drive(DESKTOP, async |site| {
        site.visit("#/gallery?v=1&system=cartpole").await;
        for (kind, button) in [("none", "last-child"), ("the swing-up", "first-child")] {
            wait_until(site, "some motion", &format!("return {TIME} > 0.5")).await;
            site.click("#pause").await;
            site.wait_for_text("#pause", "Play").await;
            assert!(site.script(&format!("return {TIME}")).await.as_f64() > Some(0.5));
            site.click(&format!("[aria-label=Input] button:{button}"))
                .await;
            wait_until(site, kind, &format!("return {TIME} === 0")).await;
            site.click("#pause").await;
        }
    });
}
