//! A result as a file: save it, save its model, open either again.

use leptos::{prelude::*, task::spawn_local};
use web_sys::File;

use crate::{
    experiments::{
        explore::{self, Answer, Origin},
        link::Link,
        online_report::OnlineReport,
        report::Report,
        saved::{self, Saveable as _, Saved},
        spec::{Draft, Spec},
    },
    ui::{
        browser,
        components::{DropZone, Notice, Tone},
        online::Online,
        pages::experiments::with_spec,
        route::Route,
        run::Status,
        session::Session,
    },
};

/// Ending of the files that hold a model alone.
const MODEL: &str = "safetensors";

/// Saves and opens results and models.
#[component]
pub fn Transfer(
    /// The experiment.
    spec: Memo<Spec>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let (route, online) = (expect_context::<Route>(), expect_context::<Online>());
    let problem = RwSignal::new(String::new());
    let answer = Memo::new(move |_| spec.with(|spec| session.answer_for(spec)));
    let none = move || answer.with(Option::is_none);
    let no_model = move || {
        let has = |answer: &Answer| {
            answer.origin == Origin::Shipped || session.model(&answer.spec).is_some()
        };
        answer.with(|answer| !answer.as_ref().is_some_and(has))
    };
    let save = move |ending: &'static str| {
        if let Some(answer) = answer.get_untracked() {
            spawn_local(async move { save(session, &answer, ending).await });
        }
    };
    let tell = move |file: String, why: String| {
        problem.try_set(format!("{file} was not opened: {why}"));
    };
    let open = move |file: File| {
        problem.set(String::new());
        // Opening takes the engine, and a file that is no good would have stopped the training for nothing.
        if session.run.status.with_untracked(Status::is_active) {
            let why = "a training runs; wait for its end or cancel it first";
            return tell(file.name(), why.to_owned());
        }
        spawn_local(async move {
            let name = file.name();
            let then = {
                let name = name.clone();
                move |why| tell(name.clone(), why)
            };
            if let Err(why) = open_file(session, online, route, &file, then).await {
                tell(name, why);
            }
        });
    };
    view! {
        <section class="card stack stack--tight" id="transfer" aria-label="Files">
            <h2>"Files"</h2>
            <div class="row">
                <button type="button" class="button button--quiet button--small" id="save-run" disabled=none
                    on:click=move |_| save("json")>"Save result (JSON)"</button>
                <button type="button" class="button button--quiet button--small" id="save-weights" disabled=no_model
                    on:click=move |_| save(MODEL)>"Save model (safetensors)"</button>
            </div>
            <DropZone id="open-run" label="Open a result or a model" accept=".json,application/json,.safetensors" on_file=open>
                <p class="small muted">"Drop a saved result or run here to see it again, or a model that was trained with the settings of this page."</p>
            </DropZone>
            <Show when=move || problem.with(|p| !p.is_empty())>
                <Notice tone=Tone::Error title=problem on_close=move |()| problem.set(String::new()) />
            </Show>
        </section>
    }
    .into_any()
}

/// Saves what is on the page, or only its model.
async fn save(session: Session, answer: &Answer, ending: &str) {
    let spec = &answer.spec;
    let weights = match (session.model(spec), explore::shipped_file(spec)) {
        (Some(weights), _) => weights,
        (None, Some(file)) if answer.origin == Origin::Shipped => {
            browser::fetch_bytes(&file).await.unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let title = format!("{} {} {}", spec.system, spec.method, spec.seed);
    let name = browser::file_name(&title, ending);
    if ending == MODEL {
        return browser::save(&name, "application/octet-stream", &weights);
    }
    let trained = session.runs.with_untracked(|runs| {
        let fits = |run: &&Report| spec.trains_like(&run.spec);
        runs.iter().rev().find(fits).cloned()
    });
    let report = answer.report(trained.as_ref());
    if let Ok(text) = saved::write(&report, &weights, &browser::name()) {
        browser::save_text(&name, "application/json", &text);
    }
}

/// Opens a file; `refused` hears of a model that the engine does not take.
async fn open_file(
    session: Session,
    online: Online,
    route: Route,
    file: &File,
    refused: impl Fn(String) + 'static,
) -> Result<(), String> {
    if file.name().ends_with(MODEL) {
        let spec = route.link_untracked().spec;
        let weights = browser::read_bytes(file).await?;
        session.adopt(
            spec.clone(),
            weights,
            Origin::File,
            move |outcome| match outcome {
                Ok(()) => session.ask(spec.clone()),
                Err(why) => refused(why),
            },
        );
        return Ok(());
    }
    let text = browser::read_text(file).await?;
    if saved::format(&text).as_deref() == Some(OnlineReport::FORMAT) {
        let saved = saved::read::<OnlineReport>(&text).map_err(|e| e.to_string())?;
        return show_online(online, route, saved.report);
    }
    let Saved { report, weights } = saved::read::<Report>(&text).map_err(|e| e.to_string())?;
    let show = move |report: &Report, weights: &[u8]| {
        session.show(report.clone(), weights.to_vec(), Origin::File);
        route.replace(with_spec(route.link_untracked(), report.spec.clone()));
    };
    if weights.0.is_empty() {
        show(&report, &[]);
        return Ok(());
    }
    let (spec, weights) = (report.spec.clone(), weights.0);
    session.adopt(
        spec,
        weights.clone(),
        Origin::File,
        move |outcome| match outcome {
            Ok(()) => show(&report, &weights),
            Err(why) => refused(why),
        },
    );
    Ok(())
}

/// Shows a run of online control and goes to its system, with the settings of the run.
fn show_online(online: Online, route: Route, report: OnlineReport) -> Result<(), String> {
    let (link, system) = (route.link_untracked(), &report.spec.system);
    let spec = match link.spec.system == *system {
        true => link.spec.clone(),
        false => {
            let usual = Draft::recommended(system, &link.spec.method);
            usual.map_err(|error| error.to_string())?.corrected().0
        }
    };
    let link = with_spec(link, spec);
    let view = report.spec.in_view(&link.view);
    online.show(report);
    route.replace(Link { view, ..link });
    Ok(())
}
