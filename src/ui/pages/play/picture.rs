//! What the demonstration looks like.

use std::collections::VecDeque;

use super::demo::Point;
use crate::{
    charts::{Axis, Chart, Event, Hue, LineChart, Series},
    experiments::live::{MASSES, Tick},
    systems::{Robot as _, Role, Shape, cartpole::Cartpole},
    ui::canvas::{Actor, Scene},
};

/// The carts of one step: reference and textbook as ghosts, the adaptive one in front.
pub fn scene(tick: &Tick) -> Scene {
    let cartpole = Cartpole::default();
    let masses = [tick.mass, MASSES[1]];
    // The rail of the sketch ends where this cart goes on; the scene's own ground does not.
    let (rail, _) = split(cartpole.sketch(&masses, &tick.reference));
    let ground = rail.iter().find_map(|shape| match shape {
        Shape::Line { points, .. } => points.first().map(|point| point[1]),
        _ => None,
    });
    let robot = |state: &[f64]| split(cartpole.sketch(&masses, state)).1;
    Scene {
        world: [[-2.2, -1.35], [2.2, 0.75]],
        follow: tick.reference.first().copied(),
        ground,
        actors: vec![
            Actor::ghost(robot(&tick.reference), Hue::Oracle),
            Actor::ghost(robot(&tick.textbook), Hue::Analytic),
            Actor::solid(robot(&tick.adaptive), Hue::Camel),
        ],
        trails: Vec::new(),
    }
}

/// The ground, and everything else.
fn split(shapes: Vec<Shape>) -> (Vec<Shape>, Vec<Shape>) {
    shapes
        .into_iter()
        .partition(|shape| shape.role() == Role::Ground)
}

/// The picture in words.
pub fn words(tick: Option<&Tick>) -> String {
    match tick {
        None => "The demonstration is loading".to_owned(),
        Some(_) => "A cart with a hanging pole follows its reference; the reference and a cart under the textbook formula are drawn behind it".to_owned(),
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
        "identified, ± 2 standard errors",
        Hue::Camel,
        points(|p| p.identified.0),
    );
    let noticed = history.iter().filter(|point| point.noticed);
    Chart::Lines(LineChart {
        title: "The cart's mass".to_owned(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("mass", "kg").with_range(0.0, 4.5),
        series: vec![
            identified.with_band(history.iter().map(band).collect()),
            Series::new("true", Hue::Oracle, points(|p| p.mass)),
        ],
        events: noticed
            .map(|p| Event {
                at: p.time,
                label: "change noticed".to_owned(),
                hue: Hue::Camel,
            })
            .collect(),
        ..LineChart::default()
    })
}
