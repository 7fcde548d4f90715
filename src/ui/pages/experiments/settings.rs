//! The form of an experiment.

use leptos::prelude::*;

use crate::{
    experiments::spec::{DeviceChoice, Draft, NUMBERS, Number, Spec},
    learners::METHODS,
    systems,
};

/// Every setting of an experiment. Each change gives a checked spec; a value that is not allowed
/// stays in its field with a message beside it.
#[component]
pub fn SettingsForm(
    /// The experiment as it is.
    spec: Memo<Spec>,
    /// Told of every valid change.
    change: Callback<Spec>,
) -> impl IntoView {
    let update = move |edit: &dyn Fn(&mut Draft)| {
        let mut draft = Draft::from(spec.get_untracked());
        edit(&mut draft);
        change.run(draft.corrected().0);
    };
    let rename = move |system: &str, method: &str| {
        if let Ok(draft) = Draft::recommended(system, method) {
            let seed = spec.get_untracked().seed;
            change.run(Draft { seed, ..draft }.corrected().0);
        }
    };
    let systems = systems::NAMES.map(|name| (name, title_of(name)));
    let methods: Vec<_> = METHODS.iter().map(|method| (method.name, method.title.to_owned())).collect();
    let devices = DeviceChoice::ALL.map(|device| (device.name(), device_title(device).to_owned()));
    view! {
        <form class="card settings" aria-label="Settings" on:submit=|event| event.prevent_default()>
            <h2>"Settings"</h2>
            <Choice id="system" label="System" options=systems.to_vec() value=move || spec.get().system.clone()
                choose=Callback::new(move |name: String| rename(&name, &spec.get_untracked().method)) />
            <Choice id="method" label="Method" options=methods value=move || spec.get().method.clone()
                choose=Callback::new(move |name: String| rename(&spec.get_untracked().system, &name)) />
            <Choice id="device" label="Device" options=devices.to_vec() value=move || spec.get().device.to_string()
                choose=Callback::new(move |name: String| if let Ok(device) = name.parse() {
                    update(&|draft| draft.device = device);
                }) />
            {NUMBERS.iter().map(|number| view! {
                <NumberField number=number value=Signal::derive(move || (number.get)(&spec.get()))
                    set=Callback::new(move |value| update(&|draft| (number.set)(draft, value))) />
            }).collect_view()}
        </form>
    }
}

fn title_of(system: &str) -> String {
    systems::by_name(system).map_or_else(|_| system.to_owned(), |s| s.description().title.to_owned())
}

fn device_title(device: DeviceChoice) -> &'static str {
    match device {
        DeviceChoice::Auto => "Automatic",
        DeviceChoice::Cpu => "CPU",
        DeviceChoice::Webgpu => "WebGPU",
    }
}

/// A choice between named options.
#[component]
fn Choice(
    /// Id of the field.
    id: &'static str,
    /// What is chosen.
    label: &'static str,
    /// Names and titles.
    options: Vec<(&'static str, String)>,
    /// The chosen name.
    #[prop(into)]
    value: Signal<String>,
    /// Told of a choice.
    choose: Callback<String>,
) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <select id=id prop:value=value on:change=move |event| choose.run(event_target_value(&event))>
                {options.into_iter().map(|(name, title)| view! {
                    <option value=name selected=move || value.get() == name>{title}</option>
                }).collect_view()}
            </select>
        </div>
    }
}

/// A number with its range. What is not allowed is said beside the field.
#[component]
fn NumberField(
    /// Key, meaning and range.
    number: &'static Number,
    /// The value as it is.
    value: Signal<f64>,
    /// Told of every allowed value.
    set: Callback<f64>,
) -> impl IntoView {
    let fault = RwSignal::new(None::<String>);
    let typed = move |text: String| {
        let parsed = number.parse(&text).and_then(|value| number.check(value).map(|()| value));
        match parsed {
            Ok(value) => {
                fault.set(None);
                set.run(value);
            }
            Err(error) => fault.set(Some(error.to_string())),
        }
    };
    let message = format!("{}-fault", number.key);
    let described = message.clone();
    view! {
        <div class="field">
            <label for=number.key>{number.label}</label>
            <input id=number.key inputmode="decimal" autocomplete="off" title=number.help
                aria-invalid=move || fault.get().map(|_| "true")
                aria-describedby=move || fault.get().map(|_| described.clone())
                prop:value=move || value.get().to_string()
                on:change=move |event| typed(event_target_value(&event)) />
            <p class="fault" id=message role="alert">{fault}</p>
        </div>
    }
}
