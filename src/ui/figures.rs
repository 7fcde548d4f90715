//! The charts of a report.

use crate::{
    charts::{
        self, Axis, BarChart, BarSeries, Chart, Hue, Level, LineChart, ScatterChart, Series, Table,
        number,
    },
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
    let point = |(step, &error): (usize, &f64)| [(step + 1) as f64 * motion.dt, error];
    let points = motion.errors.iter().enumerate().map(point).collect();
    Chart::Lines(LineChart {
        title: "Distance between the tip and its reference".to_owned(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("distance", "m"),
        series: vec![Series::new(method, Hue::of_method(method), points)],
        ..LineChart::default()
    })
}

/// Identified parameters in units of the true ones, so that all fit one axis.
pub fn identified_chart(method: &str, identified: &[Identified]) -> Chart {
    let relative = |value: fn(&Identified) -> f64| {
        let relative = |found: &Identified| value(found) / found.truth;
        identified.iter().map(relative).collect::<Vec<_>>()
    };
    let errors = relative(|found| 2.0 * found.standard_error);
    Chart::Bars(BarChart {
        title: "Identified over true, ± 2 standard errors".to_owned(),
        category: "parameter".to_owned(),
        y: Axis::linear("identified / true", ""),
        categories: identified.iter().map(|i| i.symbol.clone()).collect(),
        series: vec![BarSeries {
            name: method.to_owned(),
            hue: Hue::of_method(method),
            values: relative(|found| found.estimate),
            errors: errors.into_iter().map(f64::abs).collect(),
        }],
        levels: vec![Level {
            value: 1.0,
            label: "true".to_owned(),
            hue: Hue::Oracle,
        }],
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identified_parameters_stand_beside_the_true_ones_with_error_bars() {
        let found = |symbol: &str, truth: f64, estimate: f64| Identified {
            name: symbol.to_owned(),
            symbol: symbol.to_owned(),
            unit: "C".to_owned(),
            truth,
            estimate,
            standard_error: 0.1,
            determined: true,
        };
        let chart = identified_chart("camel", &[found("a", 2.0, 2.2), found("b", -4.0, -4.0)]);
        let words = charts::describe(&chart);
        assert!(words.contains("a 1.1 ± 0.1"), "{words}");
        assert!(words.contains("b 1 ± 0.05"), "{words}");
        let svg = charts::to_svg(&chart, &charts::Theme::light(), (600, 300)).unwrap();
        assert!(svg.contains("true"), "{svg}");
    }
}
