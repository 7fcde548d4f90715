//! The charts of a run of online control, and what it comes to in words.

use super::figures::title;
use crate::{
    charts::{Axis, Chart, Event as Mark, Hue, LineChart, Series, number},
    experiments::{
        online_report::OnlineReport,
        online_run::{OnlinePoint, OnlineRun},
    },
};

/// What a run of a system changes.
pub fn mass_name(system: &str) -> &'static str {
    match system {
        "upkie" => "torso mass",
        _ => "cart mass",
    }
}

/// What a run measures, and in which unit. Former files of Upkie, which know of no sum, hold torques.
fn error_name(report: &OnlineReport) -> (&'static str, &'static str) {
    match (report.spec.system.as_str(), report.run.total) {
        ("upkie", None) => ("Error of the predicted wheel torque", "N m"),
        ("upkie", _) => ("Distance from the path", "m"),
        _ => ("Distance of the tip to its reference", "m"),
    }
}

/// True and identified mass over time, with the changes that were noticed.
pub fn mass_chart(OnlineReport { spec, run, .. }: &OnlineReport) -> Chart {
    let mass = mass_name(&spec.system);
    let (hue, method) = (Hue::of_method(&spec.method), title(&spec.method));
    let top = run.points.iter().map(|p| p.truth).fold(1.0, f64::max);
    let identified = || run.points.iter().filter_map(|p| Some((p, p.estimate?)));
    let line: Vec<_> = identified().map(|(p, mass)| [p.time, mass]).collect();
    let bands = identified().filter_map(|(p, mass)| {
        let reach = 2.0 * p.standard_error?;
        Some([mass - reach, mass + reach])
    });
    let bands: Vec<_> = bands.collect();
    // A band belongs to every point of its line.
    let estimate = if bands.len() < line.len() || line.is_empty() {
        Series::new(method, hue, line)
    } else {
        let of = if spec.method == "camel" {
            ""
        } else {
            " of the map"
        };
        Series::new(format!("{method}, ± 2 standard errors{of}"), hue, line).with_band(bands)
    };
    let truth = |p: &OnlinePoint| [p.time, p.truth];
    let mark = |&at: &f64| Mark {
        at,
        label: "noticed".to_owned(),
        hue,
    };
    Chart::Lines(LineChart {
        title: format!("The {mass}: true and identified"),
        x: Axis::linear("time", "s"),
        y: Axis::linear("mass", "kg").with_range(0.0, 1.6 * top),
        series: vec![
            estimate,
            Series::new("true", Hue::Oracle, run.points.iter().map(truth).collect()),
        ],
        events: run.noticed.iter().map(mark).collect(),
        ..LineChart::default()
    })
}

/// Distances over time beside the oracle's, and the ticks that were missed.
pub fn error_chart(report: &OnlineReport) -> Chart {
    let (OnlineReport { spec, run, .. }, (name, unit)) = (report, error_name(report));
    let (own, hue) = (title(&spec.method), Hue::of_method(&spec.method));
    let points = run.points.iter();
    let mut series = vec![Series::new(
        own,
        hue,
        points.clone().map(|p| [p.time, p.error]).collect(),
    )];
    let oracle: Vec<_> = points.filter_map(|p| Some([p.time, p.oracle?])).collect();
    if !oracle.is_empty() {
        series.push(Series::new("oracle", Hue::Oracle, oracle));
    }
    let missed = missed_ticks(&run.points);
    if !missed.is_empty() {
        series.push(Series::new("missed ticks", Hue::Neutral, missed));
    }
    Chart::Lines(LineChart {
        title: name.to_owned(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("error", unit),
        series,
        ..LineChart::default()
    })
}

/// A stroke along the time axis from the point before for each point since which a tick was missed.
fn missed_ticks(points: &[OnlinePoint]) -> Vec<[f64; 2]> {
    let pairs = points.windows(2).filter(|pair| pair[1].missed > 0);
    let stroke = |pair: &[OnlinePoint]| {
        let [from, to] = [pair[0].time, pair[1].time];
        [[from, 0.0], [to, 0.0], [to, f64::NAN]]
    };
    pairs.flat_map(stroke).collect()
}

/// All distances of a run together, beside the oracle's.
pub fn total(OnlineReport { run, .. }: &OnlineReport) -> Option<String> {
    let own = format!(
        "Total distance of all ticks: {} m",
        number::short(run.total?)
    );
    let oracle = run.total_oracle.map(|total| {
        let total = number::short(total);
        format!("; of an oracle that knows the equations and is told of the change: {total} m")
    });
    Some(own + &oracle.unwrap_or_default() + ".")
}

/// Missed ticks and the times of an adaptation and of a whole tick, in words.
pub fn summary(run: &OnlineRun, tick: f64) -> String {
    let (missed, ticks) = (run.missed, run.ticks);
    let time = if run.seconds_a_tick > 0.0 {
        format!("took {:.0} µs here", 1e6 * run.seconds_a_tick)
    } else {
        "was too short for this browser's clock so far".to_owned()
    };
    let whole = match run.seconds_a_step > 0.0 {
        true => format!(
            ", a whole tick with the robot {:.0} µs",
            1e6 * run.seconds_a_step
        ),
        false => String::new(),
    };
    format!("Missed {missed} of {ticks} ticks of {tick} ms. One adaptation {time}{whole}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{charts, experiments::online_run::OnlineSpec};

    fn point(time: f64, missed: usize) -> OnlinePoint {
        OnlinePoint {
            time,
            truth: if time < 2.0 { 1.0 } else { 4.0 },
            estimate: Some(1.5),
            standard_error: Some(0.25),
            error: 0.1,
            oracle: Some(0.05),
            missed,
        }
    }

    fn report() -> OnlineReport {
        OnlineReport {
            run: OnlineRun {
                points: vec![point(1.0, 0), point(2.0, 2), point(3.0, 0)],
                noticed: vec![2.5],
                total: Some(12.3456),
                total_oracle: Some(10.0),
                ..OnlineRun::default()
            },
            ..OnlineReport::new(OnlineSpec::usual("upkie"))
        }
    }

    #[test]
    fn the_mass_is_drawn_with_its_band_the_truth_and_the_time_of_the_alarm() {
        let chart = mass_chart(&report());
        let Chart::Lines(lines) = &chart else {
            panic!("{chart:?}")
        };
        assert_eq!(lines.series[0].band, [[1.0, 2.0]; 3]);
        let words = charts::describe(&chart);
        assert!(words.contains("± 2 standard errors: 3 points"), "{words}");
        assert!(words.contains("true: 3 points, from 1 to 4"), "{words}");
        assert!(words.contains("Event: noticed at 2.5."), "{words}");
    }

    #[test]
    fn missed_ticks_and_the_oracle_stand_beside_the_distance_from_the_path() {
        let words = charts::describe(&error_chart(&report()));
        assert!(words.contains("Distance from the path"), "{words}");
        assert!(words.contains("error [m]"), "{words}");
        assert!(words.contains("oracle: 3 points, from 0.05"), "{words}");
        assert!(words.contains("missed ticks: 2 points"), "{words}");
        let text = total(&report()).unwrap();
        assert!(text.starts_with("Total distance of all ticks: 12.35 m;"));
        assert!(text.ends_with("10 m."), "{text}");
    }

    #[test]
    fn the_time_of_a_whole_tick_stands_beside_that_of_an_adaptation_where_it_was_measured() {
        let run = OnlineRun {
            ticks: 7,
            seconds_a_tick: 2e-5,
            seconds_a_step: 9e-5,
            ..OnlineRun::default()
        };
        let said = "Missed 0 of 7 ticks of 20 ms. One adaptation took 20 µs here, a whole tick with the robot 90 µs.";
        assert_eq!(summary(&run, 20.0), said);
        let former = OnlineRun {
            seconds_a_step: 0.0,
            ..run
        };
        assert!(summary(&former, 20.0).ends_with("took 20 µs here."));
    }

    #[test]
    fn a_punctual_run_has_no_missed_ticks_and_a_former_file_its_torques() {
        let mut former = report();
        former.run = OnlineRun {
            points: vec![point(1.0, 0)],
            ..OnlineRun::default()
        };
        let words = charts::describe(&error_chart(&former));
        assert!(
            !words.contains("missed") && words.contains("N m"),
            "{words}"
        );
        assert_eq!(total(&former), None);
    }
}
