//! An experiment as a link: `#/experiments?v=1&system=cartpole&rank=3&run=1`.
//!
//! A link names only what differs from the recommended settings of its system and method. Reading
//! one never fails: whatever is unknown, broken or out of range is left out or corrected, and each
//! such case is a [`Remark`] for the visitor.

use std::fmt;

use form_urlencoded::{Serializer, parse};

use super::{
    spec::{DEFAULT_METHOD, DEFAULT_SYSTEM, Draft, NUMBERS, Spec, SpecError, shortened},
    view,
};
use crate::learners::Optimiser;

/// Version of the format. A reader accepts every version up to its own.
pub const VERSION: u32 = 1;

/// A page of the site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Page {
    /// The front page.
    #[default]
    Play,
    /// One experiment: settings, training, results.
    Experiments,
    /// A visitor's own data.
    Data,
    /// All systems with sliders.
    Gallery,
    /// Errors of every method beside the paper's.
    Tables,
    /// The idea on one page.
    How,
    /// The speed of this machine.
    Bench,
    /// Where this project differs from the paper.
    Differences,
}

impl Page {
    /// All pages, in the order of the navigation.
    pub const ALL: &[Self] = &[
        Self::Play,
        Self::Experiments,
        Self::Data,
        Self::Gallery,
        Self::Tables,
        Self::How,
        Self::Bench,
        Self::Differences,
    ];

    /// Whether the navigation lists it; the others are reached from another page.
    pub fn is_listed(self) -> bool {
        self != Self::Differences
    }

    /// Name in links.
    pub fn name(self) -> &'static str {
        match self {
            Self::Play => "play",
            Self::Experiments => "experiments",
            Self::Data => "data",
            Self::Gallery => "gallery",
            Self::Tables => "tables",
            Self::How => "how",
            Self::Bench => "bench",
            Self::Differences => "differences",
        }
    }

    /// Name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Play => "Play",
            Self::Experiments => "Experiments",
            Self::Data => "Your data",
            Self::Gallery => "Systems",
            Self::Tables => "Tables",
            Self::How => "How it works",
            Self::Bench => "Bench",
            Self::Differences => "Where we differ",
        }
    }
}

/// What a link leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The page.
    pub page: Page,
    /// The experiment.
    pub spec: Spec,
    /// Whether it starts at once.
    pub run: bool,
    /// What else the page shows, in its own words: at most [`LONGEST_VIEW`] printable ASCII
    /// characters.
    pub view: String,
}

/// Most characters of [`Link::view`].
pub const LONGEST_VIEW: usize = 1_500;

/// Name in a view that says that something was too long for it.
pub const CUT: &str = "cut";

/// Something in a link that was ignored or corrected.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark(String);

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Remark {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<SpecError> for Remark {
    fn from(error: SpecError) -> Self {
        Self(error.to_string())
    }
}

impl Link {
    /// Writes the part of the address that starts with `#`.
    pub fn write(&self) -> String {
        let draft: &Draft = &self.spec;
        let mut pairs = Serializer::new(String::new());
        pairs.append_pair("v", &VERSION.to_string());
        pairs.append_pair("system", &draft.system);
        pairs.append_pair("method", &draft.method);
        let usual = recommended(&draft.system, &draft.method);
        for number in NUMBERS {
            let value = (number.get)(draft);
            if value != (number.get)(&usual) {
                pairs.append_pair(number.key, &value.to_string());
            }
        }
        if draft.device != usual.device {
            pairs.append_pair("device", draft.device.name());
        }
        if draft.optimiser != usual.optimiser {
            pairs.append_pair("optimiser", draft.optimiser.name());
        }
        if draft.first_order != usual.first_order {
            pairs.append_pair("first_order", if draft.first_order { "1" } else { "0" });
        }
        if !draft.phi.is_empty() {
            let phi: Vec<_> = draft.phi.iter().map(f64::to_string).collect();
            pairs.append_pair("phi", &phi.join(" "));
        }
        for (key, list) in [("points", &draft.points), ("places", &draft.places)] {
            if !list.is_empty() {
                let list: Vec<_> = list.iter().map(|[x, y]| format!("{x},{y}")).collect();
                pairs.append_pair(key, &list.join(" "));
            }
        }
        if self.run {
            pairs.append_pair("run", "1");
        }
        if !self.view.is_empty() {
            pairs.append_pair("view", &self.view);
        }
        format!("#/{}?{}", self.page.name(), pairs.finish())
    }

    /// The same link with other choices in its view: names, and values or nothing. What is too long is
    /// left out, and the view says so.
    pub fn with_choices(&self, choices: &[(&str, Option<String>)]) -> Self {
        let mut view = view::set(&self.view, CUT, None);
        let mut cut = None;
        for (name, value) in choices {
            let longer = view::set(&view, name, value.as_deref());
            // Some room is left for the word on the cut.
            if value.is_none() || longer.len() + " cut_1".len() <= LONGEST_VIEW {
                view = longer;
            } else {
                view = view::set(&view, name, None);
                cut = Some("1");
            }
        }
        Self {
            view: view::set(&view, CUT, cut),
            ..self.clone()
        }
    }

    /// Whether choices were too long for the link.
    pub fn is_cut(&self) -> bool {
        view::get(&self.view, CUT).is_some()
    }

    /// Reads a link, with a remark on each part that could not be used as it is.
    pub fn read(text: &str) -> (Self, Vec<Remark>) {
        let text = text.strip_prefix('#').unwrap_or(text);
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let mut remarks = Vec::new();
        let page = read_page(path.trim_matches('/'), &mut remarks);
        let pairs: Vec<_> = parse(query.as_bytes()).collect();
        let last = |key: &str| {
            pairs
                .iter()
                .rev()
                .find(|(k, _)| k == key)
                .map(|(_, v)| v.as_ref())
        };

        read_version(last("v"), &mut remarks);
        let mut draft = read_names(last("system"), last("method"), &mut remarks);
        let (mut run, mut view) = (false, String::new());
        for (key, value) in &pairs {
            let outcome = match key.as_ref() {
                "v" | "system" | "method" => Ok(()),
                "run" => read_flag("run", value).map(|flag| run = flag),
                "view" => read_view(value).map(|text| view = text),
                key => read_setting(&mut draft, key, value),
            };
            remarks.extend(outcome.err());
        }
        // Own data have other tasks. Places that cannot be used would hide those of the system.
        if page != Page::Data
            && let Err(fault) = draft.clone().corrected().0.check_tasks()
        {
            if let SpecError::Rank { tasks, .. } = fault {
                draft.rank = tasks;
            }
            remarks.push(Remark(format!("{fault}; it was corrected")));
        }
        let (spec, faults) = draft.corrected();
        remarks.extend(
            faults
                .into_iter()
                .map(|fault| Remark(format!("{fault}; it was corrected"))),
        );
        let link = Self {
            page,
            spec,
            run,
            view,
        };
        (link, remarks)
    }
}

fn recommended(system: &str, method: &str) -> Draft {
    Draft::recommended(system, method).unwrap_or_else(|_| Draft {
        system: system.to_owned(),
        method: method.to_owned(),
        rank: 3,
        width: 16,
        depth: 3,
        steps: 10_000,
        rate: 1e-2,
        batch: 200,
        seed: 0,
        shots: 100,
        noise: 0.0,
        device: Default::default(),
        phi: Vec::new(),
        points: Vec::new(),
        places: Vec::new(),
        optimiser: Default::default(),
        first_order: false,
    })
}

fn read_page(name: &str, remarks: &mut Vec<Remark>) -> Page {
    if name.is_empty() {
        return Page::default();
    }
    Page::ALL
        .iter()
        .copied()
        .find(|page| page.name() == name)
        .unwrap_or_else(|| {
            remarks.push(Remark(format!("there is no page '{}'", shortened(name))));
            Page::default()
        })
}

fn read_version(version: Option<&str>, remarks: &mut Vec<Remark>) {
    let Some(text) = version else { return };
    if !text
        .parse()
        .is_ok_and(|version: u32| (1..=VERSION).contains(&version))
    {
        remarks.push(Remark(format!(
            "this page reads links up to version {VERSION}, but this one says '{}'; it was read as far as possible",
            shortened(text)
        )));
    }
}

/// The recommended settings of the named system and method, which the other keys then change.
fn read_names(system: Option<&str>, method: Option<&str>, remarks: &mut Vec<Remark>) -> Draft {
    let system = system.unwrap_or(DEFAULT_SYSTEM);
    let method = method.unwrap_or(DEFAULT_METHOD);
    let attempts = [
        (system, method),
        (system, DEFAULT_METHOD),
        (DEFAULT_SYSTEM, method),
    ];
    for (system, method) in attempts {
        match Draft::recommended(system, method) {
            Ok(draft) => return draft,
            Err(fault) => {
                let remark = Remark::from(fault);
                if !remarks.contains(&remark) {
                    remarks.push(remark);
                }
            }
        }
    }
    recommended(DEFAULT_SYSTEM, DEFAULT_METHOD)
}

fn read_flag(key: &str, text: &str) -> Result<bool, Remark> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(Remark(format!(
            "{key} must be 0 or 1, but is '{}'",
            shortened(text)
        ))),
    }
}

fn read_view(text: &str) -> Result<String, Remark> {
    let printable = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if printable && text.len() <= LONGEST_VIEW {
        return Ok(text.to_owned());
    }
    Err(Remark(format!(
        "view must be at most {LONGEST_VIEW} printable characters, but is '{}'",
        shortened(text)
    )))
}

fn read_setting(draft: &mut Draft, key: &str, value: &str) -> Result<(), Remark> {
    if let Some(number) = NUMBERS.iter().find(|number| number.key == key) {
        let parsed = number.parse(value)?;
        if let Err(fault) = number.check(parsed) {
            (number.set)(draft, parsed.clamp(number.min, number.max));
            return Err(Remark(format!("{fault}; it was corrected")));
        }
        (number.set)(draft, parsed);
        return Ok(());
    }
    match key {
        "device" => {
            draft.device = value
                .parse()
                .map_err(|fault: SpecError| Remark::from(fault))?
        }
        "optimiser" => draft.optimiser = read_optimiser(value)?,
        "first_order" => draft.first_order = read_flag(key, value)?,
        "phi" => draft.phi = read_phi(value)?,
        "points" => draft.points = read_points(key, value)?,
        "places" => draft.places = read_points(key, value)?,
        _ => return Err(Remark(format!("'{}' is not a setting", shortened(key)))),
    }
    Ok(())
}

fn read_optimiser(text: &str) -> Result<Optimiser, Remark> {
    let mut all = Optimiser::ALL.into_iter();
    all.find(|optimiser| optimiser.name() == text)
        .ok_or_else(|| {
            Remark(format!(
                "optimiser must be one of {}, but is '{}'",
                Optimiser::ALL.map(Optimiser::name).join(", "),
                shortened(text)
            ))
        })
}

fn read_phi(text: &str) -> Result<Vec<f64>, Remark> {
    let numbers: Result<Vec<f64>, _> = text
        .split([' ', ','])
        .filter(|part| !part.is_empty())
        .map(str::parse)
        .collect();
    numbers.map_err(|_| {
        Remark(format!(
            "phi must be numbers with spaces between, but is '{}'",
            shortened(text)
        ))
    })
}

fn read_points(key: &str, text: &str) -> Result<Vec<[f64; 2]>, Remark> {
    let point = |part: &str| {
        let (x, y) = part.split_once(',')?;
        Some([x.parse().ok()?, y.parse().ok()?])
    };
    let parts = text.split(' ').filter(|part| !part.is_empty());
    parts.map(point).collect::<Option<_>>().ok_or_else(|| {
        Remark(format!(
            "{key} must be pairs such as '0.5,-0.2' with spaces between, but is '{}'",
            shortened(text)
        ))
    })
}

#[cfg(test)]
mod tests;
