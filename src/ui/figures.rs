//! The charts of a report.

use crate::{
    charts::{self, Axis, Chart, Hue, LineChart, ScatterChart, Series, Table, number},
    experiments::report::{Adaptation, Identified, Motion},
};

/// The loss of a run over its steps.
pub fn loss_chart(method: &str, losses: &[(usize, f64)]) -> Chart {
    let points = losses
        .iter()
        .map(|&(step, loss)| [step as f64, loss])
        .collect();
    charts::loss_chart(
        "Training loss",
        vec![Series::new(method, Hue::of_method(method), points)],
    )
}

/// Predicted against true targets.
pub fn prediction_chart(method: &str, adaptation: &Adaptation) -> Chart {
    let (symbol, unit) = &adaptation.target;
    let points = adaptation
        .predictions
        .iter()
        .map(|&(truth, predicted)| [truth, predicted])
        .collect();
    Chart::Scatter(ScatterChart {
        title: "Predictions on samples that were not used".to_owned(),
        x: Axis::linear(format!("true {symbol}"), unit.clone()),
        y: Axis::linear(format!("predicted {symbol}"), unit.clone()),
        series: vec![Series::new(method, Hue::of_method(method), points)],
        diagonal: true,
        ..ScatterChart::default()
    })
}

/// Distance between the tip and its reference over time.
pub fn tracking_chart(method: &str, motion: &Motion) -> Chart {
    let line = |name: &str, errors: &[f64]| {
        let point = |(step, &error): (usize, &f64)| [(step + 1) as f64 * motion.dt, error];
        let points = errors.iter().enumerate().map(point).collect();
        Series::new(name, Hue::of_method(name), points)
    };
    let others = motion.compared.iter();
    let mut series = vec![line(method, &motion.errors)];
    series.extend(others.map(|(name, errors)| line(name, errors)));
    Chart::Lines(LineChart {
        title: "Distance between the tip and its reference".to_owned(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("distance", "m"),
        series,
        ..LineChart::default()
    })
}

/// True against identified parameters.
pub fn identified_table(identified: &[Identified]) -> Table {
    let mut table = Table::new(
        "Identified parameters",
        ["Parameter", "True", "Identified", "Off by"],
    );
    for parameter in identified {
        let off = 100.0 * (parameter.estimate - parameter.truth) / parameter.truth;
        table.push([
            format!("{} {}", parameter.name, parameter.symbol),
            format!(
                "{} {}",
                number::significant(parameter.truth, 5),
                parameter.unit
            ),
            identified_text(parameter),
            format!("{off:+.2} %"),
        ]);
    }
    table
}

/// An identified value with its standard error and unit.
pub fn identified_text(identified: &Identified) -> String {
    let Identified {
        estimate,
        standard_error,
        unit,
        determined,
        ..
    } = identified;
    let value = format!(
        "{} ± {} {unit}",
        number::significant(*estimate, 4),
        number::significant(*standard_error, 2)
    );
    if *determined {
        value
    } else {
        format!("{value} (not determined by these samples)")
    }
}
