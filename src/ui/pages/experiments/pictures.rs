//! Truth and predictions to look at: maps of a field, or inputs of a robot over time.

use leptos::{html::Canvas, prelude::*};

use crate::{
    charts::{Axis, Chart, FieldChart, Hue, LineChart, Series},
    experiments::{
        explore::{Answer, Map, Picture},
        spec::Spec,
    },
    ui::components::{ChartTools, ChartView, FieldCanvas, Scale},
};

/// What a field's map shows.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Truth,
    FewShot,
    ZeroShot,
}

/// The pictures of an answer. Points are placed in the true field.
#[component]
pub fn Pictures(
    /// The experiment.
    spec: Memo<Spec>,
    /// What the model says.
    answer: Memo<Option<Answer>>,
    /// Told of the points that the visitor places.
    on_points: Callback<Vec<[f64; 2]>>,
) -> impl IntoView {
    let kind = Memo::new(move |_| {
        answer.with(|answer| match answer.as_ref()?.picture.as_ref()? {
            Picture::Maps { zero_shot, .. } => Some((true, zero_shot.is_some())),
            Picture::Curves { .. } => Some((false, false)),
        })
    });
    move || match kind.get() {
        Some((true, zero_shot)) => {
            view! { <Maps spec=spec answer=answer zero_shot=zero_shot on_points=on_points /> }
                .into_any()
        }
        Some((false, _)) => {
            let chart = Signal::derive(move || answer.with(|answer| curves(answer.as_ref())));
            view! { <ChartView chart=chart /> }.into_any()
        }
        None => ().into_any(),
    }
}

/// The true field beside the predicted ones.
#[component]
fn Maps(
    /// The experiment.
    spec: Memo<Spec>,
    /// What the model says.
    answer: Memo<Option<Answer>>,
    /// Whether there is a prediction from the parameters.
    zero_shot: bool,
    /// Told of the points that the visitor places.
    on_points: Callback<Vec<[f64; 2]>>,
) -> impl IntoView {
    let chart = move |shown: Shown| {
        Signal::derive(move || answer.with(|answer| map_chart(answer.as_ref(), shown)))
    };
    let points = Signal::derive(move || {
        // The visitor's own points do not wait for the answer.
        let own = spec.with(|spec| spec.points.clone());
        if !own.is_empty() {
            return own;
        }
        answer.with(
            |answer| match answer.as_ref().and_then(|a| a.picture.as_ref()) {
                Some(Picture::Maps { points, .. }) => points.clone(),
                _ => Vec::new(),
            },
        )
    });
    let words =
        |chart: Signal<FieldChart>| Signal::derive(move || chart.with(FieldChart::describe));
    let (truth, few, zero) = (
        chart(Shown::Truth),
        chart(Shown::FewShot),
        chart(Shown::ZeroShot),
    );
    let tools = |field: Signal<FieldChart>, canvas: NodeRef<Canvas>| {
        let chart = Signal::derive(move || {
            Chart::Field(FieldChart {
                points: points.get(),
                ..field.get()
            })
        });
        view! { <ChartTools chart=chart canvas=canvas /> }
    };
    let [first, second, third] = [(); 3].map(|()| NodeRef::<Canvas>::new());
    let zero_shot = zero_shot.then(|| {
        view! {
            <figure class="map">
                <FieldCanvas field=zero label=words(zero) canvas=third />
                <figcaption>"Predicted from the parameters φ alone"</figcaption>
                {tools(zero, third)}
            </figure>
        }
    });
    view! {
        <div class="maps">
            <figure class="map">
                <FieldCanvas field=truth points=points on_points=on_points label=words(truth) canvas=first />
                <figcaption>"True field, and where it is measured"</figcaption>
                {tools(truth, first)}
            </figure>
            <figure class="map">
                <FieldCanvas field=few points=points label=words(few) canvas=second />
                <figcaption>"Predicted from the measurements"</figcaption>
                {tools(few, second)}
            </figure>
            {zero_shot}
        </div>
        <Scale chart=truth />
    }
    .into_any()
}

/// A map in the colours of the true field.
fn map_chart(answer: Option<&Answer>, shown: Shown) -> FieldChart {
    let Some((
        Answer { adaptation, .. },
        Picture::Maps {
            domain,
            columns,
            truth,
            few_shot,
            zero_shot,
            ..
        },
    )) = answer.and_then(|answer| Some((answer, answer.picture.as_ref()?)))
    else {
        return FieldChart {
            domain: [[0.0; 2], [1.0; 2]],
            ..FieldChart::default()
        };
    };
    let (title, map) = match shown {
        Shown::Truth => ("True field", Some(truth)),
        Shown::FewShot => ("Predicted from the measurements", Some(few_shot)),
        Shown::ZeroShot => ("Predicted from the parameters", zero_shot.as_ref()),
    };
    let chart = |map: &Map| FieldChart {
        title: title.to_owned(),
        quantity: Axis::linear("potential y", adaptation.target.1.clone()),
        length_unit: "m".to_owned(),
        domain: *domain,
        columns: *columns,
        values: map.values.iter().map(|&y| f64::from(y)).collect(),
        lines: map
            .lines
            .iter()
            .map(|line| line.iter().map(|x| x.map(f64::from)).collect())
            .collect(),
        ..FieldChart::default()
    };
    let span = chart(truth).span();
    let mut chart = map.map(chart).unwrap_or_default();
    chart.quantity.range = Some((span.low, span.high));
    chart
}

/// True and predicted inputs over time.
fn curves(answer: Option<&Answer>) -> Chart {
    let mut chart = LineChart {
        title: "Input along a movement that was not trained on".to_owned(),
        x: Axis::linear("time", "s"),
        ..LineChart::default()
    };
    if let Some((
        Answer {
            adaptation, spec, ..
        },
        Picture::Curves {
            dt,
            truth,
            few_shot,
            zero_shot,
        },
    )) = answer.and_then(|answer| Some((answer, answer.picture.as_ref()?)))
    {
        let (symbol, unit) = &adaptation.target;
        chart.y = Axis::linear(symbol.clone(), unit.clone());
        let series = |name: String, hue: Hue, values: &[f64]| {
            let points = values.iter().enumerate().map(|(k, &y)| [k as f64 * dt, y]);
            Series::new(&name, hue, points.collect())
        };
        let few = format!("from {} samples", adaptation.shots);
        chart.series = vec![
            series("true".to_owned(), Hue::Oracle, truth),
            series(few, Hue::of_method(&spec.method), few_shot),
        ];
        if let Some(values) = zero_shot {
            chart.series.push(series(
                "from the parameters φ alone".to_owned(),
                Hue::of_method("phi-camel"),
                values,
            ));
        }
    }
    Chart::Lines(chart)
}
