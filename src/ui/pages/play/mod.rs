//! The front page: cartpoles under adaptive control, whose carts the visitor makes heavier.

use leptos::prelude::*;

use crate::{
    experiments::{
        link::Page,
        live::{Command, MASSES},
    },
    ui::{
        components::{ChartView, Notice, Playback, Readout, RobotCanvas, Slider, Tone},
        pages::play::demo::Demo,
        views::{MASS, SPEEDS},
    },
};

mod demo;
mod picture;
mod setting;

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
                    "Three carts swing up and balance on three models. Make them heavier: CAMEL notices, says what its cart
                    weighs now, and carries on. Nobody tells it when."
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

/// The carts, their controls and their numbers.
#[component]
fn Stage(
    /// The demonstration.
    demo: Demo,
) -> impl IntoView {
    view! {
        <section class="stage" aria-label="Cartpoles under adaptive control">
            <div class="lanes">
                {(0..picture::LANES.len()).map(|lane| view! { <Lane demo lane /> }).collect_view()}
                <Show when=move || demo.tick.with(Option::is_none)>
                    <p class="lanes__wait" role="status">{move || {
                        if demo.problem.with(String::is_empty) { "Loading the engine …" } else { "The engine did not start" }
                    }}</p>
                </Show>
            </div>
            <Bar demo />
        </section>
        <p class="small muted">
            "The pale cart is the reference, the motion that each controller should make; \"cm off\" is how far the tip of the pole is from the reference's."
        </p>
        <Slider label="Cart mass" unit="kg" value=demo.mass on_input=move |mass| demo.set_mass(mass)
            range=MASS step=0.05
            hint=format!("It starts with {} kg; the models were trained with 1 and 2 kg", MASSES[0]) />
        <Show when=move || demo.problem.with(|problem| !problem.is_empty())>
            <Notice tone=Tone::Error title=demo.problem>
                <button type="button" class="button button--quiet button--small" on:click=move |_| demo.launch()>"Start again"</button>
            </Notice>
        </Show>
    }
    .into_any()
}

/// One cart and how it is doing.
#[component]
fn Lane(
    /// The demonstration.
    demo: Demo,
    /// Number of the lane.
    lane: usize,
) -> impl IntoView {
    let (hue, name) = picture::LANES[lane];
    let standing = move || {
        demo.lane_text(lane, |seen| {
            picture::standing(seen.off, seen.fallen, seen.falls)
        })
    };
    let scene = Signal::derive(move || {
        demo.tick
            .with(|tick| picture::scene(tick.as_ref(), lane, demo.trail(lane)))
    });
    let label = Signal::derive(move || demo.tick.with(|tick| picture::words(tick.as_ref(), lane)));
    view! {
        <div class="lane" id=format!("lane-{}", hue.name())>
            <RobotCanvas scene label />
            <div class="stage__corner">
                <span class=format!("badge hue--{}", hue.name())>{name}</span>
            </div>
            <span class="lane__standing">{standing}</span>
        </div>
    }
    .into_any()
}

/// Pause, step, speed, reset, and the numbers.
#[component]
fn Bar(
    /// The demonstration.
    demo: Demo,
) -> impl IntoView {
    let mass = move || {
        demo.tick.with(|tick| {
            tick.as_ref()
                .map_or_else(|| "–".to_owned(), |tick| format!("{:.2} kg", tick.mass))
        })
    };
    let identified = move || {
        demo.lane_text(0, |lane| match (lane.identified, lane.standard_error) {
            (Some(mass), Some(error)) => format!("{mass:.3} ± {error:.3} kg"),
            _ => "–".to_owned(),
        })
    };
    let times = move || {
        let [camel, anil] = [0, 1].map(|lane| demo.step_time(lane));
        format!("CAMEL {camel} · ANIL {anil}")
    };
    view! {
        <div class="stage__bar">
            <Playback paused=demo.paused on_toggle=move |()| demo.toggle() on_step=move |()| demo.send(Command::Step(1))
                on_reset=move |()| demo.reset() speeds=&SPEEDS speed=demo.speed on_speed=move |speed| demo.set_speed(speed) />
            <dl class="readouts" id="readouts">
                <Readout label="true cart mass" value=Signal::derive(mass) />
                <Readout label="identified by CAMEL" value=Signal::derive(identified) />
                <Readout label="one control step" value=Signal::derive(times) />
            </dl>
        </div>
    }
    .into_any()
}

/// Why it works, and the way to the rest.
#[component]
fn Why() -> impl IntoView {
    let others = Page::ALL
        .iter()
        .copied()
        .filter(|&page| page != Page::Play && page.is_listed());
    view! {
        <section class="grid" aria-label="Why it works">
            <article class="stack stack--tight">
                <h2>"One model, many carts"</h2>
                <p class="muted">
                    "CAMEL learned features v(x) from four carts; a new cart is a short vector w, and the force is c(x) + wᵀv(x)."
                </p>
            </article>
            <article class="stack stack--tight">
                <h2>"Adapting is least squares"</h2>
                <p class="muted">
                    "Each step refines w in microseconds and with an error bar, and a jump in the prediction errors is a change."
                </p>
            </article>
            <article class="stack stack--tight">
                <h2>"The vector is physics"</h2>
                <p class="muted">
                    "w is a linear image of the masses, so they can be read off while the cart moves."
                </p>
            </article>
        </section>
        <nav class="row" aria-label="The rest of the site">
            <a class="button button--quiet" href="#/experiments?v=1&system=cartpole&method=camel&run=1">"Train this model yourself"</a>
            {others.map(|page| view! {
                <a class="button button--bare" href=format!("#/{}", page.name())>{page.title()}</a>
            }).collect_view()}
        </nav>
    }
    .into_any()
}
