//! The visitor's file and what was learned from it, kept while the visitor moves between pages.

use gloo::events::EventListener;
use leptos::{prelude::*, task::spawn_local};
use web_sys::File;

use super::{
    browser,
    keeper::{self, FORGET},
    route::Route,
    run::{Run, Status},
};
use crate::{
    engine::protocol::{Event, Work},
    experiments::{
        dataset::{
            report::{DataReport, DataSpec},
            roles::{Columns, Role, Roles},
            table::Outline,
            tasks::Order,
        },
        saved,
        spec::Spec,
        view,
    },
};

/// A file, the choices that go with it, and the results.
#[derive(Clone, Copy)]
pub struct DataSession {
    route: Route,
    /// The engine that reads and learns.
    pub run: Run,
    /// Name of the file; empty without one.
    pub file: RwSignal<String>,
    /// The file itself, for when the engine could not read the next one.
    kept: StoredValue<Option<File>, LocalStorage>,
    /// Name of the file that is being read; empty without one.
    pub reading: RwSignal<String>,
    /// What is in the file, once it is read.
    pub outline: RwSignal<Option<Outline>>,
    /// Time that reading took, until the columns could be shown [s].
    pub read_in: RwSignal<f64>,
    /// When reading began [ms].
    begun: StoredValue<f64>,
    /// What the columns stand for.
    pub roles: RwSignal<Roles>,
    /// The environment that is held out.
    pub held_out: RwSignal<String>,
    /// Whether the rows are a recording, in order of time.
    pub recording: RwSignal<bool>,
    /// Whether the environments share a part c(x).
    pub shared_part: RwSignal<bool>,
    /// Why the file cannot be used; empty if it can.
    pub problem: RwSignal<String>,
    /// What was found.
    pub report: RwSignal<Option<DataReport>>,
}

/// Name under which results are kept.
const KEPT: &str = "data";

impl DataSession {
    /// A session without a file.
    fn new(route: Route) -> Self {
        Self {
            route,
            run: Run::new(),
            file: RwSignal::default(),
            kept: StoredValue::new_local(None),
            reading: RwSignal::default(),
            outline: RwSignal::default(),
            read_in: RwSignal::default(),
            begun: StoredValue::default(),
            roles: RwSignal::default(),
            held_out: RwSignal::default(),
            recording: RwSignal::default(),
            shared_part: RwSignal::new(true),
            problem: RwSignal::default(),
            report: RwSignal::default(),
        }
    }

    /// A session with the results of the last visit, which keeps new ones for the next.
    pub fn follow(route: Route) -> Self {
        let session = Self::new(route);
        if let Some(saved) = keeper::kept(KEPT) {
            session.show(saved.report);
        }
        Effect::new(move || {
            session
                .report
                .with(|report| keeper::keep(KEPT, report.as_ref(), &[]));
        });
        EventListener::new(&window(), FORGET, move |_| session.forget()).forget();
        session
    }

    /// Reads a file, data or saved results. What is there stays until the file has proved good.
    pub fn open(self, file: &File) {
        self.problem.set(String::new());
        if self.run.status.with_untracked(Status::is_active) {
            return self.refuse(file, "a training runs; wait for its end or cancel it first");
        }
        let file = file.clone();
        if file.name().ends_with(".json") {
            return self.open_results(file);
        }
        self.reading.set(file.name());
        self.begun.set_value(browser::now());
        self.run.offer((*file).clone());
        let hear = move |event| self.hear_of_file(&file, event);
        self.run
            .engine
            .with_value(|engine| engine.start(Work::Outline, hear));
    }

    fn open_results(self, file: File) {
        spawn_local(async move {
            let text = browser::read_text(&file).await;
            let saved = text.and_then(|text| saved::read(&text).map_err(|e| e.to_string()));
            match saved {
                Ok(saved) => {
                    self.forget_file();
                    self.run.forget();
                    self.run.weights.set(saved.weights.0);
                    self.show(saved.report);
                }
                Err(why) => self.refuse(&file, &why),
            }
        });
    }

    /// Says why a file was not opened.
    fn refuse(self, file: &File, why: &str) {
        self.problem
            .set(format!("{} was not opened: {why}", file.name()));
    }

    /// What the visitor has chosen, for the view of a link; nothing where it is what the page would
    /// choose by itself.
    pub fn choices(self) -> [(&'static str, Option<String>); 4] {
        let word = self.roles.with(Roles::write);
        let guess = |outline: &Outline| Roles::guess(outline).write();
        let guess = self.outline.with(|outline| outline.as_ref().map(guess));
        let last = self.environments().pop().map(|(name, _)| name);
        let chosen = |word: String, usual: Option<String>| {
            let other = !word.is_empty() && Some(&word) != usual.as_ref();
            other.then_some(word)
        };
        let flag = |set: bool, text: &str| set.then(|| text.to_owned());
        [
            ("roles", chosen(word, guess)),
            ("held", chosen(self.held_out.get(), last)),
            ("shots", flag(self.recording.get(), "first")),
            ("shared", flag(!self.shared_part.get(), "no")),
        ]
    }

    /// Takes over the choices of a link that fit the file.
    fn choose(self, outline: &Outline, linked: &str) {
        let roles = view::get(linked, "roles");
        if let Some(roles) = roles.and_then(|word| Roles::read(&word, outline.columns.len())) {
            self.roles.set(roles);
        }
        self.choose_last_environment();
        let environments = untrack(|| self.environments());
        if let Some(held) = view::get(linked, "held")
            && environments.iter().any(|(name, _)| *name == held)
        {
            self.held_out.set(held);
        }
        let is = |name, text: &str| view::get(linked, name).is_some_and(|value| value == text);
        self.recording.set(is("shots", "first"));
        self.shared_part.set(!is("shared", "no"));
    }

    /// Learns from the file.
    pub fn start(self, training: Spec) {
        let columns = match self.columns_untracked() {
            Ok(columns) => columns,
            Err(problem) => return self.problem.set(problem),
        };
        let spec = DataSpec {
            file: self.file.get_untracked(),
            columns,
            held_out: self.held_out.get_untracked(),
            order: if self.recording.get_untracked() {
                Order::First
            } else {
                Order::Random
            },
            shared_part: self.shared_part.get_untracked(),
            training,
        };
        self.report.set(None);
        self.run
            .begin(Work::Dataset(Box::new(spec)), move |event| self.hear(event));
    }

    /// Gives a column another role.
    pub fn set_role(self, column: usize, role: Role) {
        self.roles.update(|roles| roles.set(column, role));
        if role == Role::Environment {
            self.choose_last_environment();
        }
    }

    /// The columns of each role, or what is wrong with the choice.
    pub fn columns(self) -> Result<Columns, String> {
        self.outline.with(|outline| match outline {
            Some(outline) => self
                .roles
                .with(|roles| roles.check(outline))
                .map_err(|error| error.to_string()),
            None => Err("choose a file first".to_owned()),
        })
    }

    /// The environments of the file, with their numbers of rows.
    pub fn environments(self) -> Vec<(String, usize)> {
        self.outline
            .with(|outline| {
                let outline = outline.as_ref()?;
                let column = self.roles.with(|roles| {
                    let roles = roles.0.iter();
                    roles.clone().position(|&role| role == Role::Environment)
                })?;
                outline.columns.get(column)?.groups.clone()
            })
            .unwrap_or_default()
    }

    /// Shows results of an earlier visit.
    pub fn show(self, report: DataReport) {
        self.run.losses.set(report.losses.clone());
        self.report.set(Some(report));
    }

    /// Forgets the file and the results.
    pub fn forget(self) {
        self.forget_file();
        self.run.close();
    }

    fn forget_file(self) {
        self.file.set(String::new());
        self.kept.set_value(None);
        self.reading.set(String::new());
        self.outline.set(None);
        self.problem.set(String::new());
        self.report.set(None);
    }

    fn columns_untracked(self) -> Result<Columns, String> {
        untrack(|| self.columns())
    }

    fn choose_last_environment(self) {
        let environments = untrack(|| self.environments());
        let last = environments.last().map(|(name, _)| name.clone());
        self.held_out.set(last.unwrap_or_default());
    }

    fn hear_of_file(self, file: &File, event: Event) {
        match event {
            Event::Outline(outline) => match outline.open() {
                Ok(outline) => self.take_in(file, outline),
                Err(problem) => self.keep_file(file, &problem),
            },
            Event::Failed(problem) => self.keep_file(file, &problem),
            _ => {}
        }
    }

    /// Goes over to a file that could be read.
    fn take_in(self, file: &File, outline: Outline) {
        self.forget_file();
        self.run.forget();
        self.file.set(file.name());
        self.kept.set_value(Some(file.clone()));
        self.read_in
            .set(1e-3 * (browser::now() - self.begun.get_value()));
        self.roles.set(Roles::guess(&outline));
        self.outline.set(Some(outline.clone()));
        self.choose(&outline, &self.route.link_untracked().view);
    }

    /// Stays with the file that is there, since another one could not be read.
    fn keep_file(self, other: &File, why: &str) {
        self.reading.set(String::new());
        if let Some(file) = self.kept.get_value() {
            self.run.offer((*file).clone());
        }
        self.refuse(other, why);
    }

    fn hear(self, event: Event) {
        match event {
            Event::Learned(report) => match report.open() {
                Ok(report) => {
                    self.run.losses.set(report.losses.clone());
                    self.report.set(Some(report));
                    self.run.status.set(Status::Finished);
                }
                Err(problem) => self.run.status.set(Status::Failed(problem)),
            },
            other => self.run.follow(other),
        }
    }
}
