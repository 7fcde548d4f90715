//! What the page asks of the browser: colour scheme, sizes, frames, files and the clipboard.

use std::{
    cell::{Cell, RefCell},
    rc::{Rc, Weak},
};

use gloo::{
    events::{EventListener, EventListenerOptions},
    file::{Blob, ObjectUrl, futures::read_as_bytes},
    render::{AnimationFrame, request_animation_frame},
    timers::callback::Timeout,
};
use js_sys::{Array, Reflect, Uint8Array};
use leptos::{html::Canvas, prelude::*};
use wasm_bindgen::{JsCast as _, closure::Closure, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, File, HtmlAnchorElement, HtmlCanvasElement, MediaQueryList, Response};

/// Largest file that the page reads [bytes]; what it saves is smaller.
const MOST_BYTES: u64 = 20_000_000;

#[wasm_bindgen]
extern "C" {
    /// The browser's observer of element sizes.
    type ResizeObserver;

    #[wasm_bindgen(constructor)]
    fn new(callback: &Closure<dyn FnMut()>) -> ResizeObserver;

    #[wasm_bindgen(method)]
    fn observe(this: &ResizeObserver, element: &Element);

    #[wasm_bindgen(method)]
    fn disconnect(this: &ResizeObserver);
}

/// Keeps a value alive for as long as the component that asks for it.
pub fn keep<T: 'static>(value: T) {
    StoredValue::new_local(value);
}

fn media(query: &str) -> Option<MediaQueryList> {
    web_sys::window()?.match_media(query).ok()?
}

/// Whether the visitor prefers a dark page; follows changes.
pub fn dark_mode() -> Signal<bool> {
    let query = media("(prefers-color-scheme: dark)");
    let dark = RwSignal::new(query.as_ref().is_some_and(MediaQueryList::matches));
    if let Some(query) = query {
        let asked = query.clone();
        let listener = EventListener::new(&query, "change", move |_| dark.set(asked.matches()));
        keep(listener);
    }
    dark.into()
}

/// Whether the visitor asked for less motion: animations then wait for a click.
pub fn reduced_motion() -> bool {
    media("(prefers-reduced-motion: reduce)").is_some_and(|query| query.matches())
}

/// Device pixels in a CSS pixel, 1 to 4.
pub fn pixel_ratio() -> f64 {
    let ratio = web_sys::window().map_or(1.0, |window| window.device_pixel_ratio());
    if ratio.is_finite() {
        ratio.clamp(1.0, 4.0)
    } else {
        1.0
    }
}

/// Milliseconds since the page was opened.
pub fn now() -> f64 {
    web_sys::window()
        .and_then(|w| w.performance())
        .map_or(0.0, |clock| clock.now())
}

/// An id that no other element has.
pub fn unique_id(kind: &str) -> String {
    thread_local!(static COUNT: Cell<u32> = const { Cell::new(0) });
    let number = COUNT.replace(COUNT.get().wrapping_add(1));
    format!("{kind}-{number}")
}

struct Watched {
    observer: ResizeObserver,
    _callback: Closure<dyn FnMut()>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Counts how often a canvas changed its size, so that drawings can follow.
pub fn resizes(canvas: NodeRef<Canvas>) -> Signal<u32> {
    let count = RwSignal::new(0_u32);
    let watched = StoredValue::new_local(None);
    Effect::new(move |_| {
        let Some(canvas) = canvas.get() else {
            return;
        };
        let callback = Closure::<dyn FnMut()>::new(move || {
            count.try_update(|n| *n = n.wrapping_add(1));
        });
        let observer = ResizeObserver::new(&callback);
        observer.observe(&canvas);
        watched.set_value(Some(Watched {
            observer,
            _callback: callback,
        }));
    });
    count.into()
}

/// Runs the newest of many requests, at most some times a second.
pub struct Throttle {
    interval: f64,
    last: Cell<f64>,
    pending: RefCell<Option<Timeout>>,
}

impl Throttle {
    /// At most `rate` runs a second.
    pub fn new(rate: f64) -> Rc<Self> {
        let interval = 1000.0 / rate;
        Rc::new(Self {
            interval,
            last: Cell::new(-interval),
            pending: RefCell::new(None),
        })
    }

    /// Runs `action` soon, unless another request is already waiting. So an action should read
    /// what is newest when it runs.
    pub fn run(self: &Rc<Self>, action: impl FnOnce() + 'static) {
        let mut pending = self.pending.borrow_mut();
        if pending.is_some() {
            return;
        }
        let wait = (self.last.get() + self.interval - now()).clamp(0.0, self.interval);
        let this: Weak<Self> = Rc::downgrade(self);
        *pending = Some(Timeout::new(wait.ceil() as u32, move || {
            let Some(this) = this.upgrade() else {
                return;
            };
            this.last.set(now());
            if let Some(done) = this.pending.borrow_mut().take() {
                done.forget();
            }
            action();
        }));
    }
}

type Slot = Rc<RefCell<Option<AnimationFrame>>>;

/// Calls `tick` with the milliseconds since the last call before each frame while `running`.
/// Pauses with a hidden tab; a pause counts as at most 100 ms.
pub fn animate(running: Signal<bool>, tick: impl FnMut(f64) + 'static) {
    let slot: Slot = Rc::default();
    let tick: Rc<RefCell<dyn FnMut(f64)>> = Rc::new(RefCell::new(tick));
    keep(slot.clone());
    Effect::new(move |_| {
        if running.get() {
            if slot.borrow().is_none() {
                next_frame(&slot, running, tick.clone(), None);
            }
        } else {
            slot.borrow_mut().take();
        }
    });
}

fn next_frame(
    slot: &Slot,
    running: Signal<bool>,
    tick: Rc<RefCell<dyn FnMut(f64)>>,
    last: Option<f64>,
) {
    let again = Rc::downgrade(slot);
    let frame = request_animation_frame(move |time| {
        let passed = last.map_or(0.0, |last| (time - last).clamp(0.0, 100.0));
        (tick.borrow_mut())(passed);
        let Some(slot) = again.upgrade() else {
            return;
        };
        if running.try_get_untracked() == Some(true) {
            next_frame(&slot, running, tick, Some(time));
        } else {
            slot.borrow_mut().take();
        }
    });
    slot.borrow_mut().replace(frame);
}

/// Saves bytes as a file of the visitor. Nothing leaves the browser.
pub fn save(name: &str, kind: &str, bytes: &[u8]) {
    save_url(name, Blob::new_with_options(bytes, Some(kind)).into());
}

/// Saves text as a file of the visitor.
pub fn save_text(name: &str, kind: &str, text: &str) {
    save(name, &format!("{kind};charset=utf-8"), text.as_bytes());
}

/// Saves a canvas as a PNG file of the visitor.
pub fn save_png(name: &str, canvas: &HtmlCanvasElement) {
    let name = name.to_owned();
    let callback = Closure::once_into_js(move |blob: Option<web_sys::Blob>| {
        if let Some(blob) = blob {
            save_url(&name, Blob::from(blob).into());
        }
    });
    // Fails only for pictures from other sites, and there are none.
    let _ = canvas.to_blob(callback.unchecked_ref());
}

fn save_url(name: &str, url: ObjectUrl) {
    let link = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.create_element("a").ok())
        .and_then(|element| element.dyn_into::<HtmlAnchorElement>().ok());
    if let Some(link) = link {
        link.set_href(&url);
        link.set_download(name);
        link.click();
    }
    // The download has its own hold on the data by then.
    Timeout::new(10_000, move || drop(url)).forget();
}

/// A file made of text, as if the visitor had chosen it.
pub fn file(name: &str, text: &str) -> Option<File> {
    let parts = Array::of1(&text.into());
    File::new_with_str_sequence(&parts, name).ok()
}

/// The text of a file of the visitor.
pub async fn read_text(file: &File) -> Result<String, String> {
    let bytes = read_bytes(file).await?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// The bytes of a file of the visitor.
pub async fn read_bytes(file: &File) -> Result<Vec<u8>, String> {
    let file = Blob::from(file.clone());
    if file.size() > MOST_BYTES {
        return Err(format!(
            "the file may have at most {} MB, but has {:.0} MB",
            MOST_BYTES / 1_000_000,
            file.size() as f64 / 1e6
        ));
    }
    let bytes = read_as_bytes(&file).await;
    bytes.map_err(|_| "the browser could not read it".to_owned())
}

/// The bytes of a file of this site; none if it cannot be had.
pub async fn fetch_bytes(path: &str) -> Option<Vec<u8>> {
    let response = JsFuture::from(web_sys::window()?.fetch_with_str(path)).await;
    let response: Response = response.ok()?.dyn_into().ok()?;
    let buffer = JsFuture::from(response.array_buffer().ok()?).await.ok()?;
    response.ok().then(|| Uint8Array::new(&buffer).to_vec())
}

/// What the browser calls itself.
pub fn name() -> String {
    web_sys::window()
        .and_then(|window| window.navigator().user_agent().ok())
        .unwrap_or_default()
}

/// A file that is dropped beside its place must not take the page's.
pub fn refuse_drops() {
    let Some(window) = web_sys::window() else {
        return;
    };
    for kind in ["dragover", "drop"] {
        let options = EventListenerOptions::enable_prevent_default();
        let refuse = |event: &web_sys::Event| event.prevent_default();
        EventListener::new_with_options(&window, kind, options, refuse).forget();
    }
}

/// Copies text; says whether the browser allowed it.
pub async fn copy(text: &str) -> bool {
    match web_sys::window() {
        // Without a secure connection there is no clipboard to ask.
        Some(window) if window.is_secure_context() => {
            let promise = window.navigator().clipboard().write_text(text);
            JsFuture::from(promise).await.is_ok()
        }
        _ => false,
    }
}

/// A list of numbers from a JSON file of this site, by its key; none if it cannot be had.
pub async fn fetch_numbers(path: &str, key: &str) -> Option<Vec<f64>> {
    let response = JsFuture::from(web_sys::window()?.fetch_with_str(path)).await;
    let response: Response = response.ok()?.dyn_into().ok()?;
    let json = JsFuture::from(response.json().ok()?).await.ok()?;
    let list = Reflect::get(&json, &key.into()).ok()?;
    Array::from(&list)
        .iter()
        .map(|value| value.as_f64())
        .collect()
}

/// A name for a file from a title: plain letters, digits and hyphens.
pub fn file_name(title: &str, ending: &str) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let stem = if words.is_empty() {
        "camel-lab".to_owned()
    } else {
        words.join("-")
    };
    format!("{}.{ending}", stem.chars().take(60).collect::<String>())
}
