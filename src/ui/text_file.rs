//! Text files of this site, fetched when a page needs them.

use leptos::{prelude::*, task::spawn_local};
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::JsFuture;
use web_sys::Response;

use super::components::{Notice, Tone};

/// How far a file has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Load {
    /// On its way.
    #[default]
    Waiting,
    /// Here.
    Here(String),
    /// Not to be had, and why.
    Failed(String),
}

impl Load {
    /// The text, once it is here.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Here(text) => Some(text),
            _ => None,
        }
    }
}

/// A file that is fetched as soon as it is made.
#[derive(Clone, Copy)]
pub struct TextFile {
    path: &'static str,
    /// How far it has come.
    pub load: RwSignal<Load>,
}

impl TextFile {
    /// Fetches a file by its path below the page.
    pub fn open(path: &'static str) -> Self {
        let file = Self {
            path,
            load: RwSignal::default(),
        };
        file.fetch();
        file
    }

    /// Fetches it (again).
    pub fn fetch(self) {
        self.load.set(Load::Waiting);
        spawn_local(async move {
            let load = match fetch(self.path).await {
                Ok(text) => Load::Here(text),
                Err(why) => Load::Failed(why),
            };
            // The visitor may have left the page.
            self.load.try_set(load);
        });
    }
}

async fn fetch(path: &str) -> Result<String, String> {
    let lost = || format!("{path} could not be loaded; check the network and try again");
    let window = web_sys::window().ok_or_else(lost)?;
    let response = JsFuture::from(window.fetch_with_str(path)).await;
    let response: Response = response
        .ok()
        .and_then(|response| response.dyn_into().ok())
        .ok_or_else(lost)?;
    if !response.ok() {
        return Err(format!("{path} is not there ({})", response.status()));
    }
    let text = JsFuture::from(response.text().map_err(|_| lost())?).await;
    text.ok().and_then(|text| text.as_string()).ok_or_else(lost)
}

/// What stands in for a file that is not here: grey bars while it is on its way, or why it is not
/// coming and a button to try again.
#[component]
pub fn Pending(
    /// The file.
    file: TextFile,
) -> impl IntoView {
    move || {
        match file.load.get() {
        Load::Here(_) => ().into_any(),
        Load::Waiting => view! {
            <div class="stack" role="status" aria-label="Loading">
                <div class="skeleton skeleton--title"></div>
                <div class="skeleton skeleton--block"></div>
            </div>
        }
        .into_any(),
        Load::Failed(why) => view! {
            <Notice tone=Tone::Error title=why>
                <button type="button" class="button button--quiet button--small" on:click=move |_| file.fetch()>
                    "Try again"
                </button>
            </Notice>
        }
        .into_any(),
    }
    }
}
