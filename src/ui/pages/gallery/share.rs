//! The link to what is on the stage.

use leptos::prelude::*;

use crate::ui::{components::ShareBox, route::Route};

/// The link to this system and its parameters.
#[component]
pub fn SharePanel() -> impl IntoView {
    let route = expect_context::<Route>();
    view! {
        <section class="card stack stack--tight" id="share" aria-label="Share">
            <h3>"Share"</h3>
            <p class="small muted">"The link holds the system and all that you have set."</p>
            <ShareBox link=Signal::derive(move || Route::address(&route.link())) />
        </section>
    }
    .into_any()
}
