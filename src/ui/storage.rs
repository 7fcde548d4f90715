//! What the browser keeps for the visitor between two visits, under names of our own.

use web_sys::{Event, Storage};

/// Tells the page that there is no room.
pub const FULL: &str = "storage-full";
/// What our names begin with: other pages of the same host may keep things too.
const PREFIX: &str = "camel-lab/";

/// A visitor may have forbidden it.
fn storage() -> Option<Storage> {
    web_sys::window()?.local_storage().ok()?
}

/// What is kept under a name.
pub fn get(name: &str) -> Option<String> {
    storage()?.get_item(&format!("{PREFIX}{name}")).ok()?
}

/// Keeps a text. If the browser has no room for it, what was kept before stays, and the page is told.
pub fn put(name: &str, text: &str) {
    // Where keeping is forbidden, there is nothing to tell the visitor.
    let Some(storage) = storage() else { return };
    if storage.set_item(&format!("{PREFIX}{name}"), text).is_err()
        && let (Some(window), Ok(event)) = (web_sys::window(), Event::new(FULL))
    {
        // An event of our own cannot be refused.
        let _ = window.dispatch_event(&event);
    }
}

/// Forgets what is kept under a name.
pub fn remove(name: &str) {
    if let Some(storage) = storage() {
        // Removing what is not there is as good.
        let _ = storage.remove_item(&format!("{PREFIX}{name}"));
    }
}

/// Forgets everything of ours.
pub fn forget() {
    let Some(storage) = storage() else { return };
    let length = storage.length().unwrap_or(0);
    let names: Vec<String> = (0..length)
        .filter_map(|k| storage.key(k).ok().flatten())
        .filter(|name| name.starts_with(PREFIX))
        .collect();
    for name in names {
        let _ = storage.remove_item(&name);
    }
}
