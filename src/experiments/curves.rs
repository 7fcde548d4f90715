//! The paper's figures as charts, from the curves of `public/results/figures.json`.

use super::{
    compare::{method_title, title},
    figures::{Curve, Point},
    record::Summary,
};
use crate::charts::{Axis, Chart, Hue, LineChart, Series};

/// The charts of a system: the error in each figure, and the identification error where there is
/// one.
pub fn charts(curves: &[Curve], system: &str) -> Vec<Chart> {
    let mut charts = Vec::new();
    for figure in ["shots", "tasks", "epsilon"] {
        let here = |curve: &&Curve| curve.figure == figure && curve.system == system;
        let curves: Vec<&Curve> = curves.iter().filter(here).collect();
        let errors = series(&curves, |point| Some(point.nmse));
        let found = series(&curves, |point| point.identification_error);
        if !errors.is_empty() {
            let y = Axis::log("error of mean target²", "");
            charts.push(chart(("Error", system), figure, y, errors));
        }
        // From few shots every figure says how well the parameters are found.
        if !found.is_empty() {
            let y = Axis::log("relative error", "");
            charts.push(chart(("Identification error", system), figure, y, found));
        }
    }
    charts
}

fn chart((what, system): (&str, &str), figure: &str, y: Axis, series: Vec<Series>) -> Chart {
    let x = match figure {
        "shots" => Axis::log("shots", ""),
        "tasks" => Axis::log("training tasks", ""),
        _ => Axis::linear("size of the misalignment ε", ""),
    };
    Chart::Lines(LineChart {
        title: format!(
            "{}: {} against {}",
            title(system),
            what.to_ascii_lowercase(),
            x.label
        ),
        x,
        y,
        series,
        ..LineChart::default()
    })
}

/// One series a method, of the points that have a value.
fn series(curves: &[&Curve], value: fn(&Point) -> Option<Summary>) -> Vec<Series> {
    let of = |curve: &&Curve| {
        let points = curve.points.iter();
        let points: Vec<[f64; 2]> = points
            .filter_map(|point| Some([point.x, value(point)?.mean]))
            .collect();
        let hue = Hue::of_method(&curve.method);
        Series::new(method_title(&curve.method), hue, points).with_dots()
    };
    let all = curves.iter().map(of);
    all.filter(|series| !series.points.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::describe;

    fn curve(figure: &str, identified: bool) -> Curve {
        let summary = |mean| Summary {
            mean,
            std: 0.0,
            n: 3,
        };
        let point = |x| Point {
            x,
            nmse: summary(0.1 / x),
            mse: summary(0.2 / x),
            identification_error: identified.then(|| summary(0.01 / x)),
            zero_shot_error: None,
        };
        Curve {
            figure: figure.to_owned(),
            system: "charges-pair".to_owned(),
            method: "camel".to_owned(),
            seed: 0,
            spec: None,
            points: [3.0, 10.0, 30.0].map(point).to_vec(),
        }
    }

    #[test]
    fn each_figure_is_a_chart_and_another_one_where_parameters_were_found() {
        let curves = [curve("shots", false), curve("tasks", true)];
        let charts = charts(&curves, "charges-pair");
        let said: Vec<String> = charts.iter().map(describe).collect();
        assert_eq!(charts.len(), 3, "{said:?}");
        assert!(
            said[2].contains("identification error against training tasks"),
            "{said:?}"
        );
        assert!(super::charts(&curves, "cartpole").is_empty());
    }
}
