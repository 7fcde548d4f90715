//! Every system, to be seen and moved.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    experiments::link::Page,
    systems::System,
    ui::{
        pages::{
            chooser::Chooser,
            gallery::{
                field_stage::FieldStage, parameters::Parameters, robot_stage::RobotStage,
                setting::Setting, share::SharePanel,
            },
        },
        route::Route,
    },
};

mod charges;
mod field_stage;
pub(super) mod parameters;
mod robot_stage;
pub(super) mod setting;
mod share;
mod words;

/// All systems; the link says which one is on the stage, and with which parameters.
#[component]
pub fn Gallery() -> impl IntoView {
    let route = expect_context::<Route>();
    let kind = Memo::new(move |_| route.link().spec.kind());
    let name = Memo::new(move |_| kind.with(|(name, _)| name.clone()));
    let stage = move || {
        kind.track();
        let physics = route.link_untracked().spec.physics().ok();
        physics.map(|system| view! { <Stage system=Arc::from(system) /> })
    };
    view! {
        <header class="page-head">
            <h1>"Systems"</h1>
            <p class="lead">
                "Six physical systems with unknown parameters φ. Move the parameters and see what they change: "
                "this is what the models have to find out from a few samples."
            </p>
        </header>
        <Chooser page=Page::Gallery chosen=name />
        {stage}
    }
    .into_any()
}

/// One system with its parameters.
#[component]
fn Stage(
    /// The system.
    system: Arc<dyn System>,
) -> impl IntoView {
    let about = system.description();
    let (name, title, equation, parameters) =
        (about.name, about.title, about.equation, about.parameters);
    let setting = Setting::follow(system.clone());
    let phi = setting.phi;
    let stage = match system.robot() {
        Some(_) => view! { <RobotStage system=system.clone() phi=phi /> }.into_any(),
        None => view! { <FieldStage name=name title=title phi=phi /> }.into_any(),
    };
    view! {
        <section class="split split--right" id="stage" aria-label=title>
            <div class="stack">
                <div class="stack stack--tight">
                    <h2>{title}</h2>
                    <p class="muted equation">{equation.replace("_j", "ⱼ")}</p>
                </div>
                {stage}
            </div>
            <aside class="split__aside stack">
                <Parameters parameters=parameters setting=setting />
                <section class="card stack stack--tight" aria-label="About">
                    <p class="small">{words::about(name)}</p>
                    <p class="small"><a href=setting.experiment()>"Learn it from samples"</a></p>
                </section>
                <SharePanel />
            </aside>
        </section>
    }
    .into_any()
}
