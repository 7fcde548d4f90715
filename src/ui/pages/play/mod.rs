//! The front page: a cartpole under adaptive control, whose cart the visitor makes heavier.

use leptos::prelude::*;

use crate::{
    experiments::live::{Command, MASSES},
    ui::{
        components::{ChartView, Notice, Readout, RobotCanvas, Segmented, Slider, Tone},
        entry::Range,
        pages::play::demo::Demo,
    },
};

mod demo;
mod picture;

/// The front page.
#[component]
pub fn Play() -> impl IntoView {
    let demo = Demo::start();
    view! {
        <section class="hero">
            <div class="page-head">
                <p class="eyebrow">"Live on your machine"</p>
                <h1>"A model that knows what it weighs"</h1>
                <p class="lead">
                    "This cart is driven by a learned model. Make it heavier: the model notices, says what it weighs now, and
                    carries on. Nobody tells it when."
                </p>
            </div>
            <div class="row">
                <button type="button" id="double" class="button button--primary button--large"
                    on:click=move |_| demo.double()>{move || demo.double_text()}</button>
            </div>
        </section>
        <Stage demo />
        <ChartView chart=Signal::derive(move || picture::mass_chart(&demo.history.get())) />
        <Why />
    }
    .into_any()
}

/// The cart, its controls and its numbers.
#[component]
fn Stage(
    /// The demonstration.
    demo: Demo,
) -> impl IntoView {
    let scene = Signal::derive(move || {
        demo.tick
            .with(|tick| tick.as_ref().map(picture::scene).unwrap_or_default())
    });
    let speeds = [("0.25", "¼ ×"), ("1", "1 ×"), ("4", "4 ×")]
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
    let set_speed = move |name: String| {
        if let Ok(speed) = name.parse() {
            demo.set_speed(speed)
        }
    };
    view! {
        <section class="stage" aria-label="Cartpole under adaptive control">
            <div class="stage__view">
                <RobotCanvas scene=scene
                    label=Signal::derive(move || demo.tick.with(|tick| picture::words(tick.as_ref()))) />
                <div class="stage__corner">
                    <div class="row">
                        <span class="badge hue--camel">"CAMEL"</span>
                        <span class="badge hue--analytic">"textbook formula"</span>
                        <span class="badge hue--oracle">"reference"</span>
                    </div>
                </div>
            </div>
            <div class="stage__bar">
                <button type="button" id="pause" class="button button--quiet button--small"
                    on:click=move |_| demo.toggle()>{move || if demo.paused.get() { "Play" } else { "Pause" }}</button>
                <button type="button" class="button button--bare button--small" disabled=move || !demo.paused.get()
                    on:click=move |_| demo.send(Command::Step(1))>"Step"</button>
                <Segmented label="Speed" options=speeds.to_vec() value=Signal::derive(move || demo.speed.get().to_string())
                    on_change=set_speed />
                <button type="button" class="button button--bare button--small" on:click=move |_| demo.reset()>"Reset"</button>
                <dl class="readouts" id="readouts">
                    <Readout label="true cart mass" value=Signal::derive(move || demo.number(|tick| format!("{:.2} kg", tick.mass))) />
                    <Readout label="identified" value=Signal::derive(move || demo.number(|tick| {
                        format!("{:.2} ± {:.2} kg", tick.identified.0, tick.identified.1)
                    })) />
                    <Readout label="one control step" value=Signal::derive(move || format!("{:.0} µs", 1e6 * demo.seconds_a_tick.get())) />
                </dl>
            </div>
        </section>
        <Slider label="Cart mass" unit="kg" value=demo.mass on_input=move |mass| demo.set_mass(mass)
            range=Range { min: 0.75, max: 4.0, whole: false } step=0.05
            hint=format!("It starts with {} kg", MASSES[0]) />
        <Show when=move || demo.problem.with(|problem| !problem.is_empty())>
            <Notice tone=Tone::Error title=demo.problem />
        </Show>
    }
    .into_any()
}

/// Why it works, and the way to the rest.
#[component]
fn Why() -> impl IntoView {
    view! {
        <section class="grid" aria-label="Why it works">
            <article class="stack stack--tight">
                <h2>"One model, many carts"</h2>
                <p class="muted">
                    "CAMEL learns features v(x) from four carts. A new cart is a short vector w, and the force is c(x) + wᵀv(x)."
                </p>
            </article>
            <article class="stack stack--tight">
                <h2>"Adapting is least squares"</h2>
                <p class="muted">
                    "Each step refines w in microseconds, with an error bar. A jump in the prediction errors is a change."
                </p>
            </article>
            <article class="stack stack--tight">
                <h2>"The vector is physics"</h2>
                <p class="muted">
                    "w is a linear image of the masses, so they can be read off. "
                    <a href="#/experiments?v=1&system=cartpole&method=camel&run=1">"Train one yourself"</a>", "
                    <a href="#/gallery">"see every system"</a>" or "
                    <a href="#/differences">"read where we differ from the paper"</a>"."
                </p>
            </article>
        </section>
    }
    .into_any()
}
