//! A run as a file: save it, save its model, open one again.

use leptos::{prelude::*, task::spawn_local};
use web_sys::File;

use crate::{
    experiments::{
        link::{Link, Page},
        report::Report,
        saved,
    },
    ui::{
        browser,
        components::{DropZone, Notice, Tone},
        route::Route,
        session::Session,
    },
};

/// Saves and opens runs.
#[component]
pub fn Transfer() -> impl IntoView {
    let session = expect_context::<Session>();
    let route = expect_context::<Route>();
    let problem = RwSignal::new(String::new());
    let none = move || session.report.with(Option::is_none);
    let no_weights = move || session.weights.with(Vec::is_empty);
    let save_run = move |_| {
        session.report.with_untracked(|report| {
            if let Some(Ok(text)) = report.as_ref().map(|r| saved::write(r, &browser::name())) {
                browser::save_text(
                    &file_name(report.as_ref(), "json"),
                    "application/json",
                    &text,
                );
            }
        });
    };
    let save_weights = move |_| {
        let name = session
            .report
            .with_untracked(|r| file_name(r.as_ref(), "safetensors"));
        let kind = "application/octet-stream";
        session
            .weights
            .with_untracked(|bytes| browser::save(&name, kind, bytes));
    };
    let open = move |file: File| {
        problem.set(String::new());
        spawn_local(async move {
            let read = browser::read_text(&file).await;
            match read.and_then(|text| saved::read::<Report>(&text).map_err(|e| e.to_string())) {
                Ok(report) => {
                    let spec = report.spec.clone();
                    session.show(report, Vec::new());
                    let page = Page::Experiments;
                    route.replace(Link {
                        page,
                        spec,
                        run: false,
                        view: String::new(),
                    });
                }
                Err(error) => problem.set(format!("{} was not opened: {error}", file.name())),
            }
        });
    };
    view! {
        <section class="card stack stack--tight" id="transfer" aria-label="Files">
            <h2>"Files"</h2>
            <div class="row">
                <button type="button" class="button button--quiet button--small" id="save-run" disabled=none
                    on:click=save_run>"Save run (JSON)"</button>
                <button type="button" class="button button--quiet button--small" id="save-weights"
                    disabled=no_weights on:click=save_weights>"Save model (safetensors)"</button>
            </div>
            <DropZone id="open-run" label="Open a saved run" accept=".json,application/json" on_file=open>
                <p class="small muted">"Drop a saved run here to see it again."</p>
            </DropZone>
            <Show when=move || problem.with(|p| !p.is_empty())>
                <Notice tone=Tone::Error title=problem on_close=move |()| problem.set(String::new()) />
            </Show>
        </section>
    }
    .into_any()
}

fn file_name(report: Option<&Report>, ending: &str) -> String {
    let title = report.map_or(String::new(), |report| {
        format!(
            "{} {} {}",
            report.spec.system, report.spec.method, report.spec.seed
        )
    });
    browser::file_name(&title, ending)
}
