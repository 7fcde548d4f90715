//! Where a field is measured: by click, by dragging and by keyboard.

use serde_json::json;

use crate::{
    accessibility::press,
    browser::{DESKTOP, Site},
    drive, files,
};

#[test]
#[ignore = "needs the built site"]
fn a_field_is_measured_where_the_visitor_clicks() {
    drive(DESKTOP, async |site| {
        let link = "#/experiments?v=1&system=charges-pair&method=camel&steps=200&device=cpu";
        site.visit(&format!(
            "{link}&points=0.1%2C0.5%20-0.4%2C0.3%20.7%2C0.8&run=1"
        ))
        .await;
        site.wait_for_text("#status", "Finished").await;
        site.wait_for_text("#results h2", "3 samples").await;
        let add = "const map = document.querySelector('.maps canvas'); map.scrollIntoView(); map.focus(); map.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true })); map.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))";
        site.find(".maps canvas").await;
        site.script(add).await;
        site.wait_for_text("#results h2", "4 samples").await;
        site.picture("field-desktop").await;
        let place = "const map = document.querySelector('.maps canvas'); map.scrollIntoView({ block: 'center' }); const box = map.getBoundingClientRect(); return [box.left + 0.2 * box.width, box.top + 0.2 * box.height]";
        let place = site.script(place).await;
        for kind in ["mousePressed", "mouseReleased"] {
            let mouse = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            site.tools("Input.dispatchMouseEvent", mouse).await;
        }
        site.wait_for_text("#results h2", "5 samples").await;
        site.fill("#noise", "0.1\t").await;
        site.wait_for_text("#errors", "Noise floor").await;
        // φ-CAMEL sees no sample: its map follows the slider.
        let map = "document.querySelector('.maps figure:nth-child(3) canvas').toDataURL()";
        let before = site.script(&format!("return {map}")).await;
        site.script("const slider = document.querySelector('#environment input[type=range]'); slider.value = slider.max; slider.dispatchEvent(new Event('input', { bubbles: true }))").await;
        site.until(&format!("{map} !== {before}")).await;
        site.click("#random-points").await;
        site.wait_for_text("#results h2", "10 samples").await;

        files::watch_saving(site).await;
        for (place, begins) in [(1, &b"<svg"[..]), (2, b"\x89PNG"), (3, b"x [m],y [m]")] {
            site.click(".maps figure:nth-child(2) .menu > summary")
                .await;
            let item = format!(".maps figure:nth-child(2) .menu__list button:nth-child({place})");
            let bytes = files::saved_by(site, &item).await;
            assert!(bytes.starts_with(begins), "export {place}");
        }
    });
}

/// Drags with the mouse between two places of the true field [m], which is two wide and one high.
async fn drag(site: &Site, from: [f64; 2], to: [f64; 2]) {
    let place = "const map = document.querySelector('.maps canvas'); map.scrollIntoView({ block: 'center' }); const box = map.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]";
    let frame = site.script(place).await;
    let [left, top, width, height] = [0, 1, 2, 3].map(|k| frame[k].as_f64().unwrap());
    let middle = [0, 1].map(|k| (from[k] + to[k]) / 2.0);
    for (kind, [x, y]) in [
        ("mousePressed", from),
        ("mouseMoved", middle),
        ("mouseMoved", to),
        ("mouseReleased", to),
    ] {
        let (x, y) = (left + width * (x + 1.0) / 2.0, top + height * (1.0 - y));
        let mouse = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1 });
        site.tools("Input.dispatchMouseEvent", mouse).await;
    }
}

/// Presses at a place of the true field [m], moves to another in so many moves and releases, all at
/// once, so that the engine cannot answer in between.
async fn pull(site: &Site, from: [f64; 2], to: [f64; 2], moves: usize) {
    let [from, to] = [json!(from), json!(to)];
    let script = format!(
        "const [from, to, moves] = [{from}, {to}, {moves}];
        const map = document.querySelector('.maps canvas');
        map.scrollIntoView({{ block: 'center' }});
        const box = map.getBoundingClientRect();
        const send = (kind, part) => {{
            const [x, y] = [0, 1].map((k) => from[k] + part * (to[k] - from[k]));
            const clientX = box.left + box.width * (x + 1) / 2;
            const clientY = box.top + box.height * (1 - y);
            map.dispatchEvent(new PointerEvent(kind, {{ clientX, clientY, bubbles: true, pointerType: 'mouse', buttons: 1 }}));
        }};
        send('pointerdown', 0);
        for (let k = 1; k <= moves; k += 1) send('pointermove', k / moves);
        send('pointerup', 1)"
    );
    site.script(&script).await;
}

/// Waits until the address has so many points, the last of them at a place [m].
async fn wait_for_last_point(site: &Site, count: usize, at: [f64; 2]) {
    let at = json!(at);
    site.until(&format!(
        "(() => {{
            const points = decodeURIComponent(location.hash).split('points=')[1]?.split('&')[0].split('+') ?? [];
            const [x, y] = (points.at(-1) ?? '').split(',').map(Number);
            return points.length === {count} && Math.hypot(x - {at}[0], y - {at}[1]) < 0.02;
        }})()"
    ))
    .await;
}

#[test]
#[ignore = "needs the built site"]
fn a_point_is_dragged_and_the_estimate_follows() {
    drive(DESKTOP, async |site| {
        site.visit(
            "#/experiments?v=1&system=charges-pair&method=camel&points=0.1,0.5+-0.4,0.3+0.7,0.8",
        )
        .await;
        site.wait_for_text("#points", "3 points of your own").await;
        site.find(".maps canvas").await;
        let before = site.wait_for_text("#identified", "±").await;
        drag(site, [0.1, 0.5], [-0.2, 0.7]).await;
        site.until("location.hash.includes('points=-0.2')").await;
        let told = format!(
            "(document.querySelector('#identified')?.innerText ?? '').includes('±') && document.querySelector('#identified').innerText !== {}",
            json!(before)
        );
        site.until(&told).await;
        let link = site.fragment().await;
        let (_, points) = link.split_once("points=").unwrap();
        let points: Vec<_> = points.split('+').collect();
        assert_eq!(points[1..], ["-0.4%2C0.3", "0.7%2C0.8"], "{link}");
        let (x, y) = points[0].split_once("%2C").unwrap();
        let off = |text: &str, wanted: f64| (text.parse::<f64>().unwrap() - wanted).abs();
        assert!(off(x, -0.2) < 0.02 && off(y, 0.7) < 0.02, "{link}");
        site.wait_for_text("#points", "3 points of your own").await;

        // A hand that trembles while it clicks adds a point all the same.
        pull(site, [0.3, 0.2], [0.308, 0.2], 1).await;
        wait_for_last_point(site, 4, [0.308, 0.2]).await;
        site.wait_for_text("#results h2", "4 samples").await;
        // More moves than a browser lets a page write into its address.
        pull(site, [0.308, 0.2], [0.5, 0.35], 300).await;
        wait_for_last_point(site, 4, [0.5, 0.35]).await;
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        wait_for_last_point(site, 4, [0.5, 0.35]).await;
    });
}

#[test]
#[ignore = "needs the built site"]
fn the_keyboard_adds_and_removes_points() {
    drive(DESKTOP, async |site| {
        site.visit("#/experiments?v=1&system=charges-pair&method=camel&points=0.1,0.5+-0.4,0.3")
            .await;
        site.wait_for_text("#points", "2 points of your own").await;
        site.find(".maps canvas").await;
        site.script("document.querySelector('.maps canvas').focus()")
            .await;
        let key = |name: &str, code: u32| json!({ "key": name, "windowsVirtualKeyCode": code });
        for _ in 0..20 {
            press(site, key("ArrowRight", 39)).await;
        }
        press(site, key("Enter", 13)).await;
        site.wait_for_text("#points", "3 points of your own").await;
        site.wait_for_text("#results h2", "3 samples").await;
        assert!(
            site.fragment().await.contains("+0.8"),
            "20 steps of 2 % of the width"
        );
        press(site, key("Delete", 46)).await;
        site.wait_for_text("#points", "2 points of your own").await;
        assert!(!site.fragment().await.contains("+0.8"));
    });
}
