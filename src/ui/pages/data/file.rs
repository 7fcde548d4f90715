//! The file: drop it, choose it, or take the example.

use leptos::prelude::*;
use web_sys::File;

use crate::{
    experiments::dataset::example,
    ui::{
        browser,
        components::{DropZone, Notice, Tone},
        data_session::DataSession,
    },
};

/// Where a file comes in, and what it has to look like.
#[component]
pub fn FileCard() -> impl IntoView {
    let data = expect_context::<DataSession>();
    let save_example = move |_| {
        if let Ok(text) = example::csv() {
            browser::save_text(example::NAME, "text/csv", &text);
        }
    };
    let use_example = move |_| {
        let text = example::csv().unwrap_or_default();
        if let Some(file) = browser::file(example::NAME, &text) {
            data.open(&file);
        }
    };
    let said = move || {
        let (file, reading) = (data.file.get(), data.reading.get());
        let rows = data
            .outline
            .with(|o| o.as_ref().map(|o| (o.rows, o.columns.len())));
        match rows {
            _ if !reading.is_empty() => format!("Reading {reading} …"),
            Some((rows, columns)) => format!(
                "{file}: {} rows, {columns} columns, read in {:.2} s",
                grouped(rows),
                data.read_in.get()
            ),
            None if data.problem.with(String::is_empty) => {
                "No file yet: take your own, or try the example of six carts.".to_owned()
            }
            None => String::new(),
        }
    };
    view! {
        <section class="card stack" aria-label="File">
            <DropZone id="data-file" label="Choose a file" accept=".csv,.tsv,.txt,text/csv,.json"
                on_file=Callback::new(move |file: File| data.open(&file))>
                <p>"Drop a CSV file here, or results that this page has saved"</p>
            </DropZone>
            <div class="row row--spread">
                <p id="file-status" role="status">{said}</p>
                <div class="row">
                    <button type="button" class="button button--quiet button--small" id="use-example"
                        on:click=use_example>"Try the example"</button>
                    <button type="button" class="button button--bare button--small" id="save-example"
                        on:click=save_example>"Download the example"</button>
                </div>
            </div>
            <Show when=move || data.problem.with(|p| !p.is_empty())>
                <Notice tone=Tone::Error title=data.problem on_close=move |()| data.problem.set(String::new()) />
            </Show>
            <Format />
        </section>
    }
    .into_any()
}

/// What a file has to look like.
#[component]
fn Format() -> impl IntoView {
    view! {
        <details class="details" id="format">
            <summary>"What the file looks like"</summary>
            <div class="stack stack--tight">
                <p>
                    "One row a sample, under a header. The separator is a comma, a semicolon or a tab; numbers have a decimal
                    point. Any column may stand for anything; the headings below are recognised."
                </p>
                <pre class="small"><code>{EXCERPT}</code></pre>
                <ul class="small">
                    <li><code>"environment"</code>" (or "<code>"env"</code>", "<code>"task"</code>
                        ") names where the row was measured. There must be at least three environments: two or more to train
                        on and one to adapt to."</li>
                    <li><code>"param:NAME [unit]"</code>" is a physical parameter that you know and that is the same in all
                        rows of an environment. With n of them, n + 1 training environments or more that vary them
                        independently, the parameters of the new environment are identified with standard errors."</li>
                    <li>"The last column is the target; the other columns are inputs."</li>
                </ul>
            </div>
        </details>
    }
    .into_any()
}

const EXCERPT: &str = "environment,param:mass [kg],speed [m/s],angle [rad],force [N]\ncart 1,1.0,0.12,0.03,1.71\ncart 1,1.0,0.15,0.02,1.64\ncart 2,2.5,0.11,0.05,4.02";

/// A whole number with its thousands apart.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
