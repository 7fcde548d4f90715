//! The charts of a report.

use crate::{
    charts::{
        self, Axis, BarChart, BarSeries, Chart, Hue, Level, LineChart, ScatterChart, Series, Table,
        number,
    },
    experiments::{
        compare::method_title,
        plan::Plan,
        report::{Adaptation, Conditioning, Identified, Motion},
    },
};

/// What a method or controller is called on the page.
pub fn title(name: &str) -> String {
    match name {
        "analytic" => "textbook".to_owned(),
        _ => method_title(name),
    }
}

/// A curve or cloud of a method, in its colour.
fn series(name: &str, points: Vec<[f64; 2]>) -> Series {
    Series::new(title(name), Hue::of_method(name), points)
}

/// The loss of a run over its steps.
pub fn loss_chart(method: &str, losses: &[(usize, f64)]) -> Chart {
    let points = losses
        .iter()
        .map(|&(step, loss)| [step as f64, loss])
        .collect();
    charts::loss_chart("Training loss", vec![series(method, points)])
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
        series: vec![series(method, points)],
        diagonal: true,
        ..ScatterChart::default()
    })
}

/// Distance between the tip and its reference over time.
pub fn tracking_chart(method: &str, motion: &Motion) -> Chart {
    let line = |name: &str, errors: &[f64]| {
        let point = |(step, &error): (usize, &f64)| [(step + 1) as f64 * motion.dt, error];
        let points = errors.iter().enumerate().map(point).collect();
        series(name, points)
    };
    let others = motion.compared.iter();
    let mut lines = vec![line(method, &motion.errors)];
    lines.extend(others.map(|(name, errors)| line(name, errors)));
    Chart::Lines(LineChart {
        title: "Distance between the tip and its reference".to_owned(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("distance", "m"),
        series: lines,
        ..LineChart::default()
    })
}

/// The distances of a whole run together, of every controller, and how fast the first one was.
pub fn tracking_total(method: &str, motion: &Motion) -> String {
    let total = |name: &str, errors: &[f64]| {
        // One that diverged stopped early.
        let whole = errors.len() + 1 >= motion.reference.len();
        let sum = if whole {
            errors.iter().sum()
        } else {
            f64::INFINITY
        };
        format!("{} {} m", title(name), number::metres(sum))
    };
    let others = motion.compared.iter();
    let others = others.map(|(name, errors)| total(name, errors));
    let all: Vec<_> = std::iter::once(total(method, &motion.errors))
        .chain(others)
        .collect();
    let all = format!("Total distance of all steps: {}.", all.join(", "));
    match motion.seconds_a_step > 0.0 {
        true => format!(
            "{all} One step took {:.1} µs here.",
            1e6 * motion.seconds_a_step
        ),
        false => all,
    }
}

/// Errors that planned and random points of a field leave, with dots, and the error bars that are
/// expected of them.
pub fn plan_chart(plan: Option<&Plan>) -> Chart {
    let line = |name: &str, hue: Hue, values: &[[f64; 2]], kind: usize| {
        let points = values.iter().enumerate();
        let points = points.map(|(k, both)| [(k + 1) as f64, both[kind]]);
        Series::new(name, hue, points.collect())
    };
    let series = |plan: &Plan| {
        let (errors, bars) = (&plan.errors, &plan.expected);
        vec![
            line("best next points", Hue::Camel, errors, 0).with_dots(),
            line("random points", Hue::Neutral, errors, 1).with_dots(),
            line("best, expected", Hue::Camel, bars, 0),
            line("random, expected", Hue::Neutral, bars, 1),
        ]
    };
    Chart::Lines(LineChart {
        title: "What planned points gain over random ones".to_owned(),
        x: Axis::linear("points measured", ""),
        y: Axis::log("error, share of the prior's", ""),
        series: plan.map(series).unwrap_or_default(),
        ..LineChart::default()
    })
}

/// How the errors of planned points compare with those of random ones, in words.
pub fn plan_text(plan: &Plan) -> String {
    let Some([planned, random]) = plan.errors.last() else {
        return String::new();
    };
    let ratio = number::significant(planned / random, 2);
    let count = plan.errors.len();
    format!("Here {count} planned points leave {ratio} times the error of random ones.")
}

/// Identified parameters in units of the true ones, so that all fit one axis. One that is truly zero
/// has no such unit and is left to the table.
pub fn identified_chart(method: &str, identified: &[Identified]) -> Chart {
    let shown = || identified.iter().filter(|found| found.truth != 0.0);
    let relative = |value: fn(&Identified) -> f64| {
        let relative = |found: &Identified| value(found) / found.truth;
        shown().map(relative).collect::<Vec<_>>()
    };
    let errors = relative(|found| 2.0 * found.standard_error);
    Chart::Bars(BarChart {
        title: match identified.iter().any(|found| found.map_alone) {
            true => "Identified over true, ± 2 standard errors of the map alone",
            false => "Identified over true, ± 2 standard errors",
        }
        .to_owned(),
        category: "parameter".to_owned(),
        y: Axis::linear("identified / true", ""),
        categories: shown().map(|found| found.symbol.clone()).collect(),
        series: vec![BarSeries {
            name: title(method),
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
        table.push([
            format!("{} {}", parameter.name, parameter.symbol),
            format!(
                "{} {}",
                number::significant(parameter.truth, 5),
                parameter.unit
            ),
            identified_text(parameter),
            off_text(parameter),
        ]);
    }
    table
}

/// How far off a value is: a share of the true one, or a distance from zero.
fn off_text(parameter: &Identified) -> String {
    match parameter.off() {
        Some(share) => format!("{:+.2} %", 100.0 * share),
        None => format!(
            "{} {}",
            number::significant(parameter.estimate, 3),
            parameter.unit
        ),
    }
}

/// An identified value with its standard error and unit.
pub fn identified_text(identified: &Identified) -> String {
    let Identified {
        estimate,
        standard_error,
        unit,
        determined,
        map_alone,
        ..
    } = identified;
    let value = format!(
        "{} ± {} {unit}{}",
        number::significant(*estimate, 4),
        number::significant(*standard_error, 2),
        if *map_alone { " (of the map)" } else { "" }
    );
    if *determined {
        value
    } else {
        format!("{value} (not determined)")
    }
}

/// What the samples do not tell, in words; empty if they tell all.
pub fn conditioning_text(adaptation: &Adaptation) -> String {
    let unknown = adaptation.identified.iter().filter(|p| !p.determined);
    let names: Vec<_> = unknown.map(|p| p.name.as_str()).collect();
    let Some(Conditioning { rank, condition }) = adaptation.conditioning else {
        return String::new();
    };
    let numbers = format!(
        "numerical rank {rank}, condition number {}",
        number::significant(condition, 2)
    );
    if adaptation.identified.iter().any(|found| found.map_alone) {
        return format!(
            "The error bars are of this method's map from context to parameters alone: what these samples leave open is not in them. The map: {numbers}."
        );
    }
    if names.is_empty() {
        return format!("How well these samples tell the parameters apart: {numbers}.");
    }
    let names = names.join(" and the ");
    format!("These samples do not determine the {names}: {numbers}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::{evaluate, spec::Draft},
        systems::cartpole::Cartpole,
    };

    #[test]
    fn samples_that_do_not_determine_a_parameter_are_named() {
        let parameter = |name: &str, determined| Identified {
            name: name.to_owned(),
            symbol: String::new(),
            unit: "kg".to_owned(),
            truth: 1.0,
            estimate: 1.0,
            standard_error: 0.1,
            determined,
            map_alone: false,
        };
        let mut adaptation = Adaptation {
            identified: vec![parameter("cart mass", true), parameter("pole mass", false)],
            conditioning: Some(Conditioning {
                rank: 1,
                condition: 1234.5,
            }),
            ..Adaptation::default()
        };
        let text = conditioning_text(&adaptation);
        assert!(text.starts_with("These samples do not determine the pole mass:"));
        assert!(text.contains("rank 1, condition number 1"), "{text}");
        adaptation.identified[1].determined = true;
        assert!(!conditioning_text(&adaptation).contains("not determine"));
        adaptation.identified[1].map_alone = true;
        assert!(conditioning_text(&adaptation).contains("samples leave open is not in them"));
        let chart = charts::describe(&identified_chart("maml", &adaptation.identified));
        assert!(chart.contains("of the map alone"), "{chart}");
        assert!(identified_text(&adaptation.identified[1]).ends_with("kg (of the map)"));
    }

    #[test]
    fn distances_are_summed_and_a_run_that_diverged_has_no_sum() {
        let motion = Motion {
            reference: vec![vec![0.0]; 4],
            errors: vec![0.5, 0.25, 0.5],
            compared: vec![
                ("analytic".to_owned(), vec![9.0]),
                ("oracle".to_owned(), vec![1e-12; 3]),
            ],
            ..Motion::default()
        };
        assert_eq!(
            tracking_total("camel", &motion),
            "Total distance of all steps: CAMEL 1.25 m, textbook ∞ m, oracle 0 m."
        );
        let timed = Motion {
            seconds_a_step: 2.14e-6,
            ..motion
        };
        assert!(tracking_total("camel", &timed).ends_with("0 m. One step took 2.1 µs here."));
    }

    /// What the shipped cartpole model says of so many samples.
    fn of_cartpole(shots: usize) -> String {
        let bytes = include_bytes!("../../public/weights/cartpole-camel.safetensors");
        let model = std::sync::Arc::new(crate::learners::weights::import(bytes).unwrap());
        let draft = Draft {
            shots,
            ..Draft::recommended("cartpole", "camel").unwrap()
        };
        let (spec, cartpole) = (draft.check().unwrap(), Cartpole::default());
        conditioning_text(&evaluate::adapt(&spec, &cartpole, &model).unwrap().0)
    }

    #[test]
    fn few_samples_of_the_cartpole_do_not_determine_its_pole_and_many_do() {
        let few = of_cartpole(2);
        let said = "These samples do not determine the pole mass: numerical rank 2,";
        assert!(few.starts_with(said), "{few}");
        let many = of_cartpole(100);
        assert!(many.starts_with("How well these samples tell"), "{many}");
    }

    #[test]
    fn a_parameter_that_is_truly_zero_is_off_by_a_distance_and_not_by_infinity() {
        let found = |symbol: &str, truth: f64| Identified {
            symbol: symbol.to_owned(),
            unit: "m".to_owned(),
            truth,
            estimate: 0.1,
            standard_error: 0.1,
            determined: true,
            ..Identified::default()
        };
        let both = [found("a", 0.2), found("b", 0.0)];
        let column: Vec<_> = identified_table(&both)
            .rows
            .iter()
            .map(|row| row[3].clone())
            .collect();
        assert_eq!(column, ["-50.00 %", "0.1 m"]);
        let words = charts::describe(&identified_chart("camel", &both));
        assert!(words.contains("a 0.5"), "{words}");
        assert!(!words.contains("inf") && !words.contains('∞'), "{words}");
    }

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
            map_alone: false,
        };
        let chart = identified_chart("camel", &[found("a", 2.0, 2.2), found("b", -4.0, -4.0)]);
        let words = charts::describe(&chart);
        assert!(words.contains("a 1.1 ± 0.1"), "{words}");
        assert!(words.contains("b 1 ± 0.05"), "{words}");
        let svg = charts::to_svg(&chart, &charts::Theme::light(), (600, 300)).unwrap();
        assert!(svg.contains("true"), "{svg}");
    }
}
