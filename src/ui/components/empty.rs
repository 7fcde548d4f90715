//! What stands where there is nothing to show yet.

use leptos::prelude::*;

/// Says what is missing and how to get it.
#[component]
pub fn Empty(
    /// What is missing.
    title: &'static str,
    /// How to get it.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="empty">
            <p><strong>{title}</strong></p>
            <p>{children()}</p>
        </div>
    }
    .into_any()
}
