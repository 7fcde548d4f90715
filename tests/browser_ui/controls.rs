//! Buttons, menus and messages.

use camel_lab::ui::components::{Menu, MenuItem, Notice, Playback, ProgressBar, ShareBox, Tone};
use leptos::{mount::mount_to, prelude::*};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, HtmlButtonElement, HtmlElement, HtmlInputElement};

use crate::visitor::{find, labelled, place, point, press, settled, sleep, text_of};

#[wasm_bindgen_test]
async fn a_menu_gives_the_keyboard_back_and_closes_when_something_else_is_pressed() {
    let place = place();
    let chosen = RwSignal::new(0);
    let _page = mount_to(place.clone(), move || {
        view! {
            <Menu label="Export" about="Training loss">
                <MenuItem label="Picture" on_choose=move |()| chosen.update(|count| *count += 1) />
            </Menu>
        }
    });
    settled().await;
    let (menu, button): (Element, HtmlElement) = (find(&place, "details"), find(&place, "summary"));
    let item: HtmlElement = find(&place, ".menu__list button");
    let is_open = || menu.has_attribute("open");
    let is_back = || document().active_element().as_ref() == Some(&*button);
    let label = button.get_attribute("aria-label").unwrap();
    assert!(label.contains("Training loss"), "{label}");
    for way in ["Escape", "a choice"] {
        button.click();
        item.focus().unwrap();
        assert!(is_open() && !is_back(), "before {way}");
        match way {
            "Escape" => press(&item, way),
            _ => item.click(),
        }
        settled().await;
        assert!(!is_open() && is_back(), "after {way}");
    }
    assert_eq!(chosen.get_untracked(), 1);
    button.click();
    assert!(is_open());
    point(&document().body().unwrap(), "pointerdown", 0.0, 0.0);
    settled().await;
    assert!(!is_open(), "something else was pressed");
}

#[wasm_bindgen_test]
async fn a_notice_is_read_out_and_can_be_closed() {
    let place = place();
    let closed = RwSignal::new(false);
    let _page = mount_to(place.clone(), move || {
        view! {
            <Notice tone=Tone::Error title="It failed" on_close=move |()| closed.set(true)>
                <p>"Because."</p>
            </Notice>
        }
    });
    settled().await;
    assert!(text_of(&place, "[role=alert]").contains("It failed"));
    find::<HtmlElement>(&place, "[aria-label=Close]").click();
    assert!(closed.get_untracked());
}

#[wasm_bindgen_test]
async fn progress_shows_what_is_known() {
    let place = place();
    let part = RwSignal::new(None);
    let _page = mount_to(place.clone(), move || {
        view! { <ProgressBar label="Training" part=part done=Signal::stored("step 1".to_owned()) /> }
    });
    settled().await;
    let bar: Element = find(&place, "progress[aria-label=Training]");
    assert!(bar.get_attribute("value").is_none());
    part.set(Some(0.62));
    settled().await;
    assert_eq!(bar.get_attribute("value").as_deref(), Some("0.62"));
    assert!(text_of(&place, ".progress-line__text").contains("62 % · step 1"));
}

#[wasm_bindgen_test]
async fn the_link_to_share_is_shown() {
    let place = place();
    let link = Signal::stored("https://example.org/#v=1".to_owned());
    let _page = mount_to(place.clone(), move || view! { <ShareBox link=link /> });
    settled().await;
    let input: HtmlInputElement = labelled(&place, "Link to this page");
    assert_eq!(input.value(), "https://example.org/#v=1");
    find::<HtmlElement>(&place, "button").click();
    sleep(200).await;
    assert!(!text_of(&place, "[role=status]").is_empty());
}

#[wasm_bindgen_test]
async fn what_moves_is_paused_stepped_sped_up_and_reset_and_nothing_that_is_not_there() {
    const SPEEDS: [(f64, &str); 2] = [(0.25, "¼ ×"), (1.0, "1 ×")];
    let place = place();
    let (paused, speed, idle) = (
        RwSignal::new(false),
        RwSignal::new(1.0),
        RwSignal::new(false),
    );
    let (steps, resets) = (RwSignal::new(0), RwSignal::new(0));
    let _page = mount_to(place.clone(), move || {
        view! {
            <Playback prefix="a-" paused=paused on_toggle=move |()| paused.update(|paused| *paused = !*paused)
                on_step=move |()| steps.update(|n| *n += 1) on_reset=move |()| resets.update(|n| *n += 1)
                speeds=&SPEEDS speed=speed on_speed=move |s| speed.set(s) idle=idle />
        }
    });
    settled().await;
    let [pause, step, reset] =
        ["#a-pause", "#a-step", "#a-reset"].map(|css| find::<HtmlButtonElement>(&place, css));
    assert!(step.disabled(), "it moves");
    assert_eq!(pause.text_content().as_deref(), Some("Pause"));
    pause.click();
    settled().await;
    assert_eq!(pause.text_content().as_deref(), Some("Play"));
    step.click();
    reset.click();
    find::<HtmlElement>(&place, "[role=group][aria-label=Speed] button").click();
    settled().await;
    assert_eq!((steps.get_untracked(), resets.get_untracked()), (1, 1));
    assert_eq!(speed.get_untracked(), 0.25);
    assert_eq!(text_of(&place, "[aria-pressed=true]"), "¼ ×");
    idle.set(true);
    settled().await;
    assert!(pause.disabled() && step.disabled() && reset.disabled());
}
