//! A place to drop a file on, or to choose one with mouse or keyboard.

use leptos::{ev, html::Input, prelude::*};
use web_sys::{File, FileList};

/// Takes one file from the visitor. It is not sent anywhere.
#[component]
pub fn DropZone(
    /// Id of the file field.
    id: &'static str,
    /// Text of the button that opens the browser's list of files.
    #[prop(into)]
    label: String,
    /// Endings of files to offer, such as `.csv,.txt`.
    accept: &'static str,
    /// Called with the file.
    #[prop(into)]
    on_file: Callback<File>,
    /// What stands above the button.
    children: Children,
) -> impl IntoView {
    let over = RwSignal::new(false);
    let input = NodeRef::<Input>::new();
    let take = move |files: Option<FileList>| {
        if let Some(file) = files.and_then(|files| files.get(0)) {
            on_file.run(file);
        }
    };
    let chosen = move |_| {
        if let Some(input) = input.get_untracked() {
            take(input.files());
            // So that the same file can be chosen again after a change.
            input.set_value("");
        }
    };
    let dropped = move |event: ev::DragEvent| {
        event.prevent_default();
        over.set(false);
        take(event.data_transfer().and_then(|data| data.files()));
    };
    let hover = move |event: ev::DragEvent| {
        event.prevent_default();
        over.set(true);
    };
    view! {
        <div class="drop" class:drop--over=over on:dragover=hover on:dragleave=move |_| over.set(false)
            on:drop=dropped>
            {children()}
            <label class="button button--quiet drop__button">
                {label}
                <input id=id node_ref=input type="file" accept=accept on:change=chosen />
            </label>
        </div>
    }
    .into_any()
}
