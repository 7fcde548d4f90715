//! Every kind of chart, with good and with broken data.

use super::*;

fn wave(points: usize) -> Vec<[f64; 2]> {
    (0..points)
        .map(|k| [k as f64, (k as f64 / 7.0).sin() + 1.5])
        .collect()
}

fn kinds() -> Vec<Chart> {
    let curve = Series::new("CAMEL", Hue::Camel, wave(80));
    let band = curve
        .points
        .iter()
        .map(|p| [p[1] - 0.2, p[1] + 0.2])
        .collect();
    let field = FieldChart {
        title: "Potential".into(),
        quantity: Axis::linear("potential", "V"),
        lines: vec![vec![[-1.0, 0.1], [0.0, 0.4], [1.0, 0.3]]],
        outlines: vec![Outline {
            points: vec![[0.0, 0.2], [0.4, 0.2], [0.4, 0.3]],
            sign: 1,
        }],
        points: vec![[0.1, 0.5]],
        ..FieldChart::sample([[-1.0, 0.0], [1.0, 1.0]], 40, |[x, y]| x * y)
    };
    vec![
        loss_chart(
            "Loss",
            vec![curve.clone(), Series::new("ANIL", Hue::Anil, wave(50))],
        ),
        Chart::Lines(LineChart {
            title: "Identified mass".into(),
            x: Axis::linear("time", "s"),
            y: Axis::linear("cart mass M", "kg"),
            series: vec![curve.clone().with_band(band).with_dots()],
            events: vec![Event {
                at: 30.0,
                label: "change detected".into(),
                hue: Hue::Neutral,
            }],
            levels: vec![Level {
                value: 2.0,
                label: "true".into(),
                hue: Hue::Oracle,
            }],
        }),
        Chart::Bars(BarChart {
            title: "Errors".into(),
            category: "shots".into(),
            y: Axis::log("error", "V"),
            categories: vec!["3".into(), "10".into()],
            series: vec![BarSeries {
                name: "CAMEL".into(),
                hue: Hue::Camel,
                values: vec![0.1, 0.01],
                errors: vec![0.02, 0.003],
            }],
            levels: vec![],
        }),
        Chart::Scatter(ScatterChart {
            title: "Predicted".into(),
            x: Axis::linear("true", "N"),
            y: Axis::linear("predicted", "N"),
            series: vec![curve],
            diagonal: true,
            levels: vec![],
        }),
        Chart::Field(field),
    ]
}

fn broken() -> Vec<Chart> {
    let bad = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        0.0,
        1e308,
        -1e308,
        1e-320,
    ];
    let points: Vec<[f64; 2]> = bad.iter().flat_map(|&x| bad.map(|y| [x, y])).collect();
    let mut out = Vec::new();
    for points in [
        points,
        vec![],
        vec![[f64::NAN; 2]],
        vec![[1.0, 1.0]],
        vec![[2.0, 2.0]; 3],
    ] {
        for axis in [
            Axis::linear("a", "b"),
            Axis::log("a", "b"),
            Axis::log("", "").with_range(1.0, 1.0),
        ] {
            let series = vec![
                Series::new("", Hue::Camel, points.clone())
                    .with_band(points.clone())
                    .with_dots(),
                Series::new("<&\">", Hue::PhiCamel, points.clone()),
            ];
            let level = Level {
                value: f64::NAN,
                label: "none".into(),
                hue: Hue::Oracle,
            };
            let event = Event {
                at: f64::INFINITY,
                label: "never".into(),
                hue: Hue::Oracle,
            };
            out.push(Chart::Lines(LineChart {
                title: "\u{0} <svg> & \"x\"".into(),
                x: axis.clone(),
                y: axis.clone(),
                series: series.clone(),
                events: vec![event],
                levels: vec![level.clone()],
            }));
            out.push(Chart::Scatter(ScatterChart {
                x: axis.clone(),
                y: axis.clone(),
                series,
                diagonal: true,
                levels: vec![level],
                ..ScatterChart::default()
            }));
            out.push(Chart::Bars(BarChart {
                y: axis,
                categories: (0..points.len()).map(|k| format!("category {k}")).collect(),
                series: vec![BarSeries {
                    name: "x".into(),
                    hue: Hue::R2d2,
                    values: points.iter().map(|p| p[0]).collect(),
                    errors: points.iter().map(|p| p[1]).collect(),
                }],
                ..BarChart::default()
            }));
        }
        out.push(Chart::Field(FieldChart {
            domain: [[f64::NAN, 0.0], [1.0, 0.0]],
            columns: 8,
            values: points.iter().map(|p| p[1]).collect(),
            lines: vec![points.clone()],
            outlines: vec![Outline {
                points: points.clone(),
                sign: -1,
            }],
            points,
            ..FieldChart::default()
        }));
    }
    out
}

#[test]
fn every_kind_is_drawn_described_and_tabulated() {
    for chart in kinds() {
        let svg = to_svg(&chart, &Theme::light(), (640, 400)).unwrap();
        assert!(
            svg.starts_with("<svg width=\"640\" height=\"400\" role=\"img\""),
            "{}",
            &svg[..99]
        );
        assert!(svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains(chart.title()));
        assert!(describe(&chart).contains(chart.title()));
        let table = rows(&chart, number::exact);
        assert!(table.rows.len() > 1);
        assert!(
            table
                .rows
                .iter()
                .all(|row| row.len() == table.columns.len())
        );
    }
}

#[test]
fn broken_data_and_odd_sizes_never_panic() {
    for chart in kinds().into_iter().chain(broken()) {
        for theme in [Theme::light(), Theme::dark()] {
            for size in [(0, 0), (1, 5000), (120, 90), (390, 260), (1200, 500)] {
                let drawn = to_svg(&chart, &theme, size);
                let too_small = size.0 < 120 || size.1 < 90;
                assert_eq!(drawn.is_err(), too_small, "{size:?} {drawn:?}");
            }
        }
        describe(&chart);
        rows(&chart, number::short);
    }
}

#[test]
fn text_from_outside_cannot_break_out_of_the_picture() {
    for chart in broken() {
        let svg = to_svg(&chart, &Theme::light(), (400, 300)).unwrap();
        assert_eq!(svg.matches("<svg").count(), 1);
        assert!(
            !svg.contains('\u{0}'),
            "control characters are not allowed in XML"
        );
    }
}

#[test]
fn charts_survive_json() {
    for chart in kinds() {
        let text = serde_json::to_string(&chart).unwrap();
        assert_eq!(serde_json::from_str::<Chart>(&text).unwrap(), chart);
    }
    for chart in broken() {
        let text = serde_json::to_string(&chart).unwrap();
        assert!(
            serde_json::from_str::<Chart>(&text).is_ok() || text.contains("null"),
            "{text}"
        );
    }
}

#[test]
fn a_missing_series_is_not_an_error() {
    let chart: Chart = serde_json::from_str(r#"{"kind":"lines","title":"empty"}"#).unwrap();
    let svg = to_svg(&chart, &Theme::dark(), (400, 300)).unwrap();
    assert!(svg.contains("no data yet"));
}
