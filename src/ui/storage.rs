//! What the browser keeps for the visitor between two visits, under names of our own.

use web_sys::Storage;

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

/// Keeps a text; if the browser has no room for it, what was kept before stays.
pub fn put(name: &str, text: &str) -> Result<(), &'static str> {
    // Where keeping is forbidden, there is nothing to tell the visitor.
    let Some(storage) = storage() else {
        return Ok(());
    };
    storage.set_item(&format!("{PREFIX}{name}"), text).map_err(|_| {
        "The browser's storage for this site is full: these results stay on the page, but will not be here after a reload. Save them as a file, or forget what is kept (at the foot of the page)."
    })
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
