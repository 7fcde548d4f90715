//! A robot following its reference, played over and over.

use leptos::prelude::*;

use crate::{
    charts::Hue,
    experiments::report::Motion,
    systems,
    ui::{
        browser,
        canvas::{Actor, Scene},
        components::{Playback, RobotCanvas},
        views::SPEEDS,
    },
};

/// Pause at the end before it starts again [s].
const PAUSE: f64 = 1.0;

/// The robot, with the reference as a ghost behind it.
#[component]
pub fn MotionView(
    /// Names of the robot and of the method, and what happened.
    motion: Memo<Option<(String, String, Motion)>>,
) -> impl IntoView {
    let paused = RwSignal::new(browser::reduced_motion());
    let (time, speed) = (RwSignal::new(0.0), RwSignal::new(1.0));
    let length = Memo::new(move |_| {
        motion.with(|m| {
            m.as_ref()
                .map_or(1.0, |(.., m)| m.dt * m.states.len() as f64)
        })
    });
    let advance = move |seconds: f64| {
        time.update(|time| *time = (*time + seconds) % (length.get_untracked() + PAUSE));
    };
    let running = Signal::derive(move || !paused.get());
    browser::animate(running, move |milliseconds| {
        advance(speed.get_untracked() * milliseconds / 1e3);
    });
    let step = move |()| {
        advance(motion.with_untracked(|m| m.as_ref().map_or(0.0, |(.., m)| m.dt)));
    };
    let scene = Signal::derive(move || {
        motion.with(|m| {
            m.as_ref()
                .map(|(system, method, motion)| {
                    let last = motion.states.len().saturating_sub(1);
                    // A whole number of steps may be a rounding error short of it.
                    let step = ((time.get() / motion.dt + 1e-6) as usize).min(last);
                    scene_at(system, Hue::of_method(method), motion, step)
                })
                .unwrap_or_default()
        })
    });
    view! {
        <div class="stage">
            <div class="stage__view">
                <RobotCanvas scene=scene label="The robot follows its reference, drawn as a ghost behind it" />
            </div>
            <div class="stage__bar">
                <Playback prefix="motion-" paused=paused on_toggle=move |()| paused.update(|paused| *paused = !*paused)
                    on_step=step on_reset=move |()| time.set(0.0) speeds=&SPEEDS speed=speed on_speed=move |s| speed.set(s) />
                <span class="small muted" id="motion-time">{move || format!("{:.2} s", time.get().min(length.get()))}</span>
            </div>
        </div>
    }
    .into_any()
}

fn scene_at(system: &str, hue: Hue, motion: &Motion, step: usize) -> Scene {
    let (Ok(system), Some(state), Some(target)) = (
        systems::portrait(system, &[]),
        motion.states.get(step),
        motion.reference.get(step),
    ) else {
        return Scene::default();
    };
    let phi = system.about().typical();
    let actors = vec![
        Actor::ghost(system.picture(&phi, target), Hue::Oracle),
        Actor::solid(system.picture(&phi, state), hue),
    ];
    Scene {
        world: [[-2.4, -1.4], [2.4, 1.4]],
        follow: None,
        ground: None,
        actors,
        trails: Vec::new(),
    }
}
