//! A slider for each physical parameter.

use leptos::prelude::*;

use crate::{
    charts::number::short,
    systems::Parameter,
    ui::{
        components::{Notice, Slider, Tone},
        pages::gallery::setting::Setting,
        stage::span,
    },
};

/// The parameters φ of a system as sliders. Refused values are explained; the stage then keeps
/// the last accepted ones.
#[component]
pub fn Parameters(
    /// Names, units and ranges.
    parameters: &'static [Parameter],
    /// The values.
    setting: Setting,
) -> impl IntoView {
    let Setting { phi, problem, .. } = setting;
    let slider = move |(index, parameter): (usize, &'static Parameter)| {
        let value = Signal::derive(move || {
            phi.with(|phi| phi.get(index).copied().unwrap_or(parameter.typical))
        });
        let (range, step) = span::slider(parameter, value.get_untracked());
        let set = move |value: f64| {
            phi.update(|phi| {
                if let Some(place) = phi.get_mut(index) {
                    *place = value;
                }
            });
        };
        view! {
            <Slider label=label(parameter) unit=parameter.quantity.unit value=value on_input=set range=range step=step
                hint=hint(parameter) />
        }
    };
    let usual = move |_| {
        phi.set(
            parameters
                .iter()
                .map(|parameter| parameter.typical)
                .collect(),
        )
    };
    view! {
        <form class="card" aria-label="Parameters" on:submit=|event| event.prevent_default()>
            <div class="card__head">
                <h3>"Parameters φ"</h3>
                <button type="button" class="button button--bare button--small" aria-label="Usual parameters" on:click=usual>"Usual"</button>
            </div>
            {parameters.iter().enumerate().map(slider).collect_view()}
            <Show when=move || problem.with(|problem| !problem.is_empty())>
                <Notice tone=Tone::Warn title="Not possible; the last possible values stay">
                    <p>{problem}</p>
                </Notice>
            </Show>
        </form>
    }
    .into_any()
}

fn label(parameter: &Parameter) -> String {
    let mut name: String = parameter.name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{name} {}", parameter.quantity.symbol)
}

fn hint(parameter: &Parameter) -> String {
    let ((low, high), (least, most)) = (parameter.test, parameter.allowed);
    format!(
        "Test environments: {} to {}. Allowed: {} to {}.",
        short(low),
        short(high),
        short(least),
        short(most)
    )
}
