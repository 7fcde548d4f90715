//! Asks the browser for its WebGPU adapter, in a page or in a worker.
//!
//! `web-sys` has these calls only behind an unstable flag, so they go through reflection.

use js_sys::{Function, Promise, Reflect, global};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

/// What the browser says of its graphics card.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapter {
    /// Its name, as far as the browser tells.
    pub name: String,
}

/// The feature that burn's WebGPU runtime cannot do without.
const NEEDED_FEATURE: &str = "timestamp-query";

/// The adapter, or in one sentence why there is none to use.
pub async fn find() -> Result<Adapter, String> {
    let missing = || "this browser has no WebGPU".to_owned();
    let gpu = get(&global(), "navigator")
        .and_then(|n| get(&n, "gpu"))
        .ok_or_else(missing)?;
    let request = get(&gpu, "requestAdapter").ok_or_else(missing)?;
    let promise = request
        .dyn_into::<Function>()
        .and_then(|f| f.call0(&gpu))
        .map_err(|_| missing())?;
    let adapter = JsFuture::from(promise.unchecked_into::<Promise>())
        .await
        .ok()
        .filter(|adapter| !adapter.is_null() && !adapter.is_undefined())
        .ok_or("WebGPU found no graphics adapter")?;
    if !has_feature(&adapter, NEEDED_FEATURE) {
        return Err(format!(
            "the graphics adapter lacks the WebGPU feature {NEEDED_FEATURE}"
        ));
    }
    let info = get(&adapter, "info").unwrap_or(JsValue::NULL);
    let words = ["vendor", "architecture", "description"].map(|key| text(&info, key));
    let known = words.into_iter().filter(|word| !word.is_empty());
    let name = known.collect::<Vec<_>>().join(" ");
    Ok(Adapter { name })
}

fn get(object: &JsValue, key: &str) -> Option<JsValue> {
    Reflect::get(object, &key.into())
        .ok()
        .filter(|value| !value.is_undefined() && !value.is_null())
}

fn text(object: &JsValue, key: &str) -> String {
    get(object, key)
        .and_then(|value| value.as_string())
        .unwrap_or_default()
}

fn has_feature(adapter: &JsValue, feature: &str) -> bool {
    let ask = || {
        let features = get(adapter, "features")?;
        let has = get(&features, "has")?.dyn_into::<Function>().ok()?;
        has.call1(&features, &feature.into()).ok()
    };
    ask().is_some_and(|answer| answer.is_truthy())
}
