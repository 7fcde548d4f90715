//! Another machine's benchmark, from a file, a paste or a link.

use leptos::{ev, prelude::*, task::spawn_local};
use web_sys::HtmlInputElement;

use crate::{
    charts::Table,
    experiments::bench_sheet::Sheet,
    ui::{
        browser,
        components::{DataTable, Notice, Tone},
    },
};

/// Takes in a saved benchmark and says what machine it is of.
#[component]
pub fn Import(
    /// The other machine.
    other: RwSignal<Option<Sheet>>,
) -> impl IntoView {
    let problem = RwSignal::new(String::new());
    let take = move |text: Result<String, String>| {
        let sheet = text.and_then(|text| Sheet::from_json(&text));
        problem.try_set(sheet.as_ref().err().cloned().unwrap_or_default());
        if let Ok(sheet) = sheet {
            other.try_set(Some(sheet));
        }
    };
    let chosen = move |event: ev::Event| {
        let input = event_target::<HtmlInputElement>(&event);
        let Some(file) = input.files().and_then(|files| files.get(0)) else {
            return;
        };
        spawn_local(async move { take(browser::read_text(&file).await) });
    };
    let pasted = move |event: ev::Event| {
        let text = event_target_value(&event);
        if !text.trim().is_empty() {
            take(Ok(text));
        }
    };
    let about = move || {
        other.get().map(|sheet| {
            let machine = &sheet.machine;
            let facts = [&machine.device, &machine.gpu, &machine.browser];
            let facts = facts.into_iter().filter(|fact| !fact.is_empty());
            let facts: Vec<&str> = facts.map(String::as_str).collect();
            let title = format!(
                "Comparing with a machine of {} cores: {}",
                machine.cores,
                facts.join(" · ")
            );
            let table = Table {
                title: "Speed of the other machine".to_owned(),
                ..sheet.table(None)
            };
            view! {
                <Notice title=title on_close=move |()| other.set(None)>
                    <p>"Its figures stand beside yours once you have measured."</p>
                </Notice>
                <DataTable table=Signal::stored(table) />
            }
        })
    };
    view! {
        <section class="card stack" aria-label="Compare with another machine">
            <h2>"Compare with another machine"</h2>
            <div class="grid grid--wide">
                <label class="field">
                    <span class="field__label">"A saved benchmark"</span>
                    <input class="input" type="file" accept=".json,application/json" on:change=chosen />
                </label>
                <label class="field">
                    <span class="field__label">"or its text"</span>
                    <input class="input" type="text" id="bench-paste" autocomplete="off" on:change=pasted />
                </label>
            </div>
            <Show when=move || problem.with(|p| !p.is_empty())><Notice tone=Tone::Error title=problem /></Show>
            {about}
        </section>
    }
    .into_any()
}
