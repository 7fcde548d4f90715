//! The front page.

use leptos::prelude::*;

/// The front page.
#[component]
pub fn Play() -> impl IntoView {
    view! {
        <section class="hero">
            <div class="page-head">
                <p class="eyebrow">"Live on your machine"</p>
                <h1>"A model that knows what it weighs"</h1>
                <p class="lead">
                    "A physical system behaves differently in every environment. CAMEL learns it from a few of them with a model "
                    "that is affine in a small task vector, so that a new environment is one least-squares fit away, and the fit "
                    "tells the masses."
                </p>
            </div>
            <div class="row">
                <a class="button button--primary button--large" href="#/experiments?v=1&system=cartpole&method=camel&run=1">
                    "Train it now, in this page"
                </a>
            </div>
        </section>
    }
}
