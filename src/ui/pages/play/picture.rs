//! What the demonstration looks like.

use std::collections::VecDeque;

use super::demo::Point;
use crate::{
    charts::{Axis, Chart, Event, Hue, LineChart, Series},
    experiments::live::{MASSES, Tick},
    systems::{Robot as _, Role, Shape, cartpole::Cartpole},
    ui::canvas::{Actor, Scene, Trail},
};

/// A lane as it is shown: its colour and its name.
pub const LANES: [(Hue, &str); 3] = [
    (Hue::Camel, "CAMEL"),
    (Hue::Anil, "ANIL"),
    (Hue::Analytic, "textbook"),
];
/// How far a cart may be from the middle of its picture [m].
const STAGE: f64 = 1.3;
/// Steps of a pole's tip that are drawn, 1.2 s.
const TRAIL: usize = 60;
/// The cartpole before the engine has loaded.
const WAITING: [f64; 4] = [0.0, 0.0, 0.1, 0.0];

/// One lane: the reference as a ghost behind the cartpole.
pub fn scene(tick: Option<&Tick>, lane: usize, trail: Option<Trail>) -> Scene {
    let cartpole = Cartpole::default();
    let seen = tick.and_then(|tick| tick.lanes.get(lane));
    let masses = [tick.map_or(MASSES[0], |tick| tick.mass), MASSES[1]];
    let (state, reference) = match seen {
        Some(lane) => (lane.state.as_slice(), lane.reference.as_slice()),
        None => (WAITING.as_slice(), WAITING.as_slice()),
    };
    // The rail of the sketch ends where this cart goes on; the scene's own ground does not.
    let (rail, ghost) = split(cartpole.sketch(&masses, reference));
    let ground = rail.iter().find_map(|shape| match shape {
        Shape::Line { points, .. } => points.first().map(|point| point[1]),
        _ => None,
    });
    let (_, robot) = split(cartpole.sketch(&masses, state));
    let mut actors = vec![Actor::solid(robot, LANES[lane].0)];
    if seen.is_some_and(|lane| !lane.fallen) {
        actors.insert(0, Actor::ghost(ghost, Hue::Oracle));
    }
    Scene {
        world: [[-1.7, -1.15], [1.7, 1.3]],
        follow: Some(camera(state[0])),
        ground,
        actors,
        trails: trail.into_iter().collect(),
    }
}

/// The trails of all lanes, still empty.
pub fn trails() -> Vec<Trail> {
    LANES.map(|(hue, _)| Trail::new(TRAIL, hue)).to_vec()
}

/// Adds a step to the trails; a pole that is put back leaves a gap.
pub fn extend(trails: &mut [Trail], tick: &Tick) {
    let cartpole = Cartpole::default();
    for (trail, lane) in trails.iter_mut().zip(&tick.lanes) {
        match lane.fallen {
            true => trail.clear(),
            false => trail.push(cartpole.tip(&lane.state)),
        }
    }
}

/// Stands still while the cart is in the picture, then goes along with it.
fn camera(cart: f64) -> f64 {
    cart - cart.clamp(-STAGE, STAGE)
}

/// The ground, and everything else.
fn split(shapes: Vec<Shape>) -> (Vec<Shape>, Vec<Shape>) {
    shapes
        .into_iter()
        .partition(|shape| shape.role() == Role::Ground)
}

/// A lane's picture in words.
pub fn words(tick: Option<&Tick>, lane: usize) -> String {
    let name = LANES[lane].1;
    let does = match tick.and_then(|tick| tick.lanes.get(lane)) {
        None => "waits for the engine",
        Some(lane) if lane.fallen => "has fallen",
        Some(lane) if lane.state[2].cos() < -0.5 => "balances its pole upright",
        Some(_) => "swings its pole up",
    };
    format!("The cart under {name} {does}; its reference is drawn behind it")
}

/// How a lane is doing, in a few words.
pub fn standing(off: f64, fallen: bool, falls: usize) -> String {
    let now = match fallen {
        true => "fallen".to_owned(),
        false => format!("{:.0} cm off", 100.0 * off),
    };
    match falls {
        0 => now,
        1 => format!("{now}, fell once"),
        falls => format!("{now}, fell {falls} times"),
    }
}

/// True and identified mass over the last 20 s.
pub fn mass_chart(history: &VecDeque<Point>) -> Chart {
    let points = |value: fn(&Point) -> f64| {
        history
            .iter()
            .map(|p| [p.time, value(p)])
            .collect::<Vec<_>>()
    };
    let band = |p: &Point| {
        [
            p.identified.0 - 2.0 * p.identified.1,
            p.identified.0 + 2.0 * p.identified.1,
        ]
    };
    let identified = Series::new(
        "CAMEL, ± 2 standard errors",
        Hue::Camel,
        points(|p| p.identified.0),
    );
    let noticed = history.iter().filter(|point| point.noticed);
    Chart::Lines(LineChart {
        title: "The cart's mass: true and identified".to_owned(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("mass", "kg").with_range(0.0, 4.5),
        series: vec![
            identified.with_band(history.iter().map(band).collect()),
            Series::new("ANIL", Hue::Anil, points(|p| p.anil)),
            Series::new("true", Hue::Oracle, points(|p| p.mass)),
        ],
        events: noticed
            .map(|p| Event {
                at: p.time,
                label: "CAMEL noticed".to_owned(),
                hue: Hue::Camel,
            })
            .collect(),
        ..LineChart::default()
    })
}
