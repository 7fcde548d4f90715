//! A chart on the page, with its data and its exports.

use leptos::{ev, html::Canvas, prelude::*};

use super::{DataTable, Menu, MenuItem};
use crate::{
    charts::{self, Chart, Table, Theme, number},
    ui::{
        browser::{self, Throttle},
        canvas::paint,
    },
};

/// Most redraws of a chart in a second.
pub(super) const REDRAWS: f64 = 15.0;
/// Most rows of data that are shown; files hold all.
const ROWS: usize = 300;

/// A chart that follows its data, its size and the colour scheme, with a description for those
/// who do not see it, its data as a table, and export as SVG, PNG and CSV.
#[component]
pub fn ChartView(
    /// The chart.
    #[prop(into)]
    chart: Signal<Chart>,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let dark = browser::dark_mode();
    let resizes = browser::resizes(canvas);
    let problem = RwSignal::new(String::new());
    let words = RwSignal::new(chart.with_untracked(charts::describe));
    let throttle = Throttle::new(REDRAWS);
    Effect::new(move |_| {
        chart.track();
        dark.track();
        resizes.track();
        let Some(canvas) = canvas.get() else {
            return;
        };
        throttle.run(move || {
            chart.try_with_untracked(|chart| {
                let theme = Theme::new(dark.try_get_untracked().unwrap_or(false));
                let drawn = paint::chart(&canvas, chart, &theme);
                problem.try_set(drawn.err().map(|e| e.to_string()).unwrap_or_default());
                words.try_set(charts::describe(chart));
            });
        });
    });
    view! {
        <figure class="chart">
            <div class="chart__canvas">
                <canvas node_ref=canvas role="img" aria-label=words></canvas>
            </div>
            <Show when=move || problem.with(|p| !p.is_empty())>
                <p class="field__error" role="status">{problem}</p>
            </Show>
            <ChartTools chart=chart canvas=canvas />
        </figure>
    }
    .into_any()
}

/// The data of a chart and its exports.
#[component]
pub fn ChartTools(
    /// The chart.
    chart: Signal<Chart>,
    /// Where it is drawn.
    canvas: NodeRef<Canvas>,
) -> impl IntoView {
    let dark = browser::dark_mode();
    let title = chart.with_untracked(|chart| chart.title().to_owned());
    view! {
        <div class="chart__tools">
            <ChartData chart=chart title=title.clone() />
            <ChartExport chart=chart title=title canvas=canvas dark=dark />
        </div>
    }
    .into_any()
}

/// The data of a chart, made only while it is open and at most once a second.
#[component]
fn ChartData(
    /// The chart.
    chart: Signal<Chart>,
    /// What it shows.
    title: String,
) -> impl IntoView {
    let open = RwSignal::new(false);
    let data = RwSignal::new((Table::default(), 0_usize));
    let throttle = Throttle::new(1.0);
    Effect::new(move |_| {
        if !open.get() {
            return;
        }
        chart.track();
        throttle.run(move || {
            chart.try_with_untracked(|chart| {
                let mut table = charts::rows(chart, number::short);
                let all = table.rows.len();
                table.rows.truncate(ROWS);
                data.try_set((table, all));
            });
        });
    });
    let toggle = move |event: ev::Event| {
        open.set(event_target::<web_sys::Element>(&event).has_attribute("open"));
    };
    let table = Signal::derive(move || data.with(|(table, _)| table.clone()));
    let more = move || data.with(|(_, all)| *all > ROWS);
    view! {
        <details class="details" on:toggle=toggle>
            <summary aria-label=format!("Data: {title}")>"Data"</summary>
            <Show when=move || open.get()>
                <DataTable table=table plain=true />
                <Show when=more>
                    <p class="small muted">
                        {move || {
                            data.with(|(_, all)| {
                                format!("The first {ROWS} of {all} rows; the CSV file holds all.")
                            })
                        }}
                    </p>
                </Show>
            </Show>
        </details>
    }
    .into_any()
}

/// The export menu of a chart.
#[component]
fn ChartExport(
    /// The chart.
    chart: Signal<Chart>,
    /// What it shows.
    title: String,
    /// Where it is drawn.
    canvas: NodeRef<Canvas>,
    /// Whether the page is dark.
    dark: Signal<bool>,
) -> impl IntoView {
    let name = move |ending| chart.with_untracked(|c| browser::file_name(c.title(), ending));
    let theme = move || Theme::new(dark.get_untracked());
    let size = move |chart: &Chart| {
        // In a file, a map has axes and a scale, which need room.
        let (width, height) = match chart {
            Chart::Field(_) => (640, 420),
            _ => (320, 200),
        };
        canvas.get_untracked().map_or((800, 400), |c| {
            (
                c.client_width().max(width) as u32,
                c.client_height().max(height) as u32,
            )
        })
    };
    let svg = move |()| {
        if let Ok(text) = chart.with_untracked(|c| charts::to_svg(c, &theme(), size(c))) {
            browser::save_text(&name("svg"), "image/svg+xml", &text);
        }
    };
    let png = move |()| {
        if let Some(picture) = chart.with_untracked(|c| paint::picture(c, &theme(), size(c))) {
            browser::save_png(&name("png"), &picture);
        }
    };
    let csv = move |()| {
        let text = chart.with_untracked(|c| charts::rows(c, number::exact).to_csv());
        browser::save_text(&name("csv"), "text/csv", &text);
    };
    view! {
        <Menu label="Export" about=title>
            <MenuItem label="Picture (SVG)" on_choose=svg />
            <MenuItem label="Picture (PNG)" on_choose=png />
            <MenuItem label="Data (CSV)" on_choose=csv />
        </Menu>
    }
    .into_any()
}
