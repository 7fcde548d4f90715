//! Robots on a canvas.

use leptos::{html::Canvas, prelude::*};

use crate::{
    charts::Theme,
    ui::{
        browser,
        canvas::{Scene, paint},
    },
};

/// A canvas that shows a scene and fills the element around it, which gives it its height
/// (class `stage__view` or `picture`).
#[component]
pub fn RobotCanvas(
    /// What to show; painted whenever it changes.
    #[prop(into)]
    scene: Signal<Scene>,
    /// What is to be seen, in words.
    #[prop(into)]
    label: Signal<String>,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let dark = browser::dark_mode();
    let resizes = browser::resizes(canvas);
    Effect::new(move |_| {
        resizes.track();
        let theme = Theme::new(dark.get());
        if let Some(canvas) = canvas.get() {
            scene.with(|scene| paint::scene(&canvas, scene, &theme));
        }
    });
    view! { <canvas node_ref=canvas role="img" aria-label=label></canvas> }
}
