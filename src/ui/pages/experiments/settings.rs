//! The form of an experiment.

use leptos::prelude::*;

use crate::{
    experiments::{
        compare,
        spec::{DeviceChoice, Draft, NUMBERS, Spec},
    },
    learners::{self, METHODS, Optimiser},
    systems,
    ui::{
        components::{NumberField, SelectField},
        entry::Range,
        pages::experiments::explorer::OF_ENVIRONMENT,
    },
};

/// Every setting of an experiment. Each change gives a checked spec; a value that is not allowed
/// stays in its field with a message beside it.
#[component]
pub fn SettingsForm(
    /// The experiment as it is.
    spec: Memo<Spec>,
    /// Told of every valid change.
    change: Callback<Spec>,
    /// Whether the data are the visitor's own, so that there is no system to choose.
    #[prop(optional)]
    own_data: bool,
) -> impl IntoView {
    let update = move |edit: &dyn Fn(&mut Draft)| {
        let mut draft = Draft::from(spec.get_untracked());
        edit(&mut draft);
        change.run(draft.corrected().0);
    };
    let rename = move |system: &str, method: &str| {
        if let Ok(draft) = Draft::recommended(system, method) {
            let before = Draft::from(spec.get_untracked());
            // Another method looks at the same environment.
            let next = if before.system == system {
                draft.in_environment_of(&before)
            } else {
                let Draft { seed, device, .. } = before;
                Draft {
                    seed,
                    device,
                    ..draft
                }
            };
            change.run(next.corrected().0);
        }
    };
    let choose_method = move |name: String| {
        if own_data {
            update(&|draft| draft.method.clone_from(&name));
        } else {
            rename(&spec.get_untracked().system, &name);
        }
    };
    let method = Memo::new(move |_| spec.get().method.clone());
    let variant = move || {
        let options = variants(&method.get());
        (!options.is_empty()).then(|| {
            view! {
                <SelectField id="variant" label="Training" options=options
                    value=Signal::derive(move || spec.with(|spec| variant_name(spec).to_owned()))
                    on_change=move |name: String| update(&|draft| choose_variant(draft, &name)) />
            }
        })
    };
    // The environment has its own place on the page; own data have no noise to add.
    let hidden: &[&str] = if own_data {
        &["noise"]
    } else {
        &OF_ENVIRONMENT
    };
    let shown = NUMBERS
        .iter()
        .filter(|number| !hidden.contains(&number.key));
    let numbers = shown.map(|number| {
        let value = Signal::derive(move || (number.get)(&spec.get()));
        let range = Range { min: number.min, max: number.max, whole: number.whole };
        let set = move |value: f64| update(&|draft| (number.set)(draft, value));
        view! { <NumberField id=number.key label=number.label hint=number.help value=value range=range on_change=set /> }
    });
    view! {
        <form class="card" aria-label="Settings" on:submit=|event| event.prevent_default()>
            <h2>"Settings"</h2>
            <div class="form">
                {(!own_data).then(|| view! {
                    <SelectField id="system" label="System" options=system_options()
                        value=Signal::derive(move || spec.get().system.clone())
                        on_change=move |name: String| rename(&name, &spec.get_untracked().method) />
                })}
                <SelectField id="method" label="Method" options=method_options(own_data)
                    value=Signal::derive(move || spec.get().method.clone())
                    on_change=choose_method />
                <SelectField id="device" label="Device" options=device_options()
                    value=Signal::derive(move || spec.get().device.to_string())
                    on_change=move |name: String| if let Ok(device) = name.parse() {
                        update(&|draft| draft.device = device);
                    } />
                {variant}
                {numbers.collect_view()}
            </div>
        </form>
    }
    .into_any()
}

fn system_options() -> Vec<(String, String)> {
    systems::NAMES
        .iter()
        .map(|&name| (name.to_owned(), compare::short_title(name).to_owned()))
        .collect()
}

fn method_options(own_data: bool) -> Vec<(String, String)> {
    METHODS
        .iter()
        .filter(|method| !own_data || !method.zero_shot)
        .map(|method| (method.name.to_owned(), method.title.to_owned()))
        .collect()
}

/// The ways in which a method can be trained, where there are several.
fn variants(name: &str) -> Vec<(String, String)> {
    let Ok(method) = learners::method(name) else {
        return Vec::new();
    };
    let options = [
        (true, "adam", "Adam"),
        (method.lbfgs, "lbfgs", "L-BFGS"),
        (method.first_order, "first", "First order"),
    ];
    let options = options.iter().filter(|(possible, ..)| *possible);
    let options: Vec<_> = options
        .map(|&(_, name, title)| (name.to_owned(), title.to_owned()))
        .collect();
    if options.len() > 1 {
        options
    } else {
        Vec::new()
    }
}

fn variant_name(draft: &Draft) -> &'static str {
    match draft.first_order {
        true => "first",
        false => draft.optimiser.name(),
    }
}

fn choose_variant(draft: &mut Draft, name: &str) {
    draft.first_order = name == "first";
    draft.optimiser = match name {
        "lbfgs" => Optimiser::Lbfgs,
        _ => Optimiser::Adam,
    };
}

fn device_options() -> Vec<(String, String)> {
    let title = |device| match device {
        DeviceChoice::Auto => "Auto",
        DeviceChoice::Cpu => "CPU",
        DeviceChoice::Webgpu => "WebGPU",
    };
    DeviceChoice::ALL
        .iter()
        .map(|&device| (device.name().to_owned(), title(device).to_owned()))
        .collect()
}
