//! What the demonstration looks like.

use std::collections::VecDeque;

use super::demo::Point;
use crate::{
    charts::{Axis, Chart, Event, Hue, LineChart, Series},
    experiments::live::{MASSES, Tick},
    systems::{Robot as _, cartpole::Cartpole},
    ui::canvas::{Actor, Scene},
};

/// The carts of one step: reference and textbook as ghosts, the adaptive one in front.
pub fn scene(tick: &Tick) -> Scene {
    let cartpole = Cartpole::default();
    let masses = [tick.mass, MASSES[1]];
    let shapes = |masses: &[f64], state: &[f64]| cartpole.sketch(masses, state);
    let first = |state: &[f64]| state.first().copied().unwrap_or(0.0);
    Scene {
        world: [[-2.2, -1.35], [2.2, 0.75]],
        follow: Some(first(&tick.reference)),
        ground: None,
        actors: vec![
            Actor::ghost(shapes(&MASSES, &tick.reference), Hue::Oracle),
            Actor::ghost(shapes(&masses, &tick.textbook), Hue::Analytic),
            Actor::solid(shapes(&masses, &tick.adaptive), Hue::Camel),
        ],
        trails: Vec::new(),
    }
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
