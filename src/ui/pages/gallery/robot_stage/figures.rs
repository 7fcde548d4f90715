//! Numbers under a robot.

use leptos::prelude::*;

use crate::ui::stage::Figure;

/// Time, input, energy and state with their units.
#[component]
pub fn Figures(
    /// The numbers; their labels stay the same.
    figures: RwSignal<Vec<Figure>>,
) -> impl IntoView {
    let count = Memo::new(move |_| figures.with(Vec::len));
    let item = move |index: usize| {
        let read = move |part: fn(&Figure) -> String| {
            move || figures.with(|figures| figures.get(index).map(part))
        };
        view! {
            <div class="readout">
                <dt>{read(|figure| figure.label.to_owned())}</dt>
                <dd>{read(Figure::text)} " " <small>{read(|figure| figure.unit.to_owned())}</small></dd>
            </div>
        }
    };
    view! {
        <dl class="readouts readouts--small" id="figures">
            {move || (0..count.get()).map(item).collect_view()}
        </dl>
    }
    .into_any()
}
