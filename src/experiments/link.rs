//! An experiment as a link: `#/experiments?v=1&system=cartpole&rank=3&run=1`.
//!
//! A link names only what differs from the recommended settings of its system and method. Reading
//! one never fails: whatever is unknown, broken or out of range is left out or corrected, and each
//! such case is a [`Remark`] for the visitor.

use std::fmt;

use form_urlencoded::{Serializer, parse};

use super::spec::{DEFAULT_METHOD, DEFAULT_SYSTEM, Draft, NUMBERS, Spec, SpecError, shortened};
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

/// Something in a link that was ignored or corrected.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark(String);

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
        // Own data have other tasks.
        if page != Page::Data
            && let Err(fault) = draft.check_rank()
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
mod tests {
    use super::*;
    use crate::{
        experiments::spec::DeviceChoice, learners::METHODS, random::generator, systems::NAMES,
    };
    use rand::{Rng as _, RngExt as _};

    fn random_spec(rng: &mut impl rand::Rng) -> Spec {
        let system = NAMES[rng.random_range(0..NAMES.len())];
        let method = METHODS[rng.random_range(0..METHODS.len())].name;
        let mut draft = Draft::recommended(system, method).unwrap();
        for number in NUMBERS {
            if rng.random_bool(0.5) {
                let value = rng.random_range(number.min..=number.max);
                (number.set)(&mut draft, if number.whole { value.floor() } else { value });
            }
        }
        draft.device = DeviceChoice::ALL[rng.random_range(0..3)];
        let about = crate::learners::method(method).unwrap();
        draft.optimiser = Optimiser::ALL[usize::from(about.lbfgs && rng.random_bool(0.5))];
        draft.first_order = about.first_order && rng.random_bool(0.5);
        let about = crate::systems::by_name(system).unwrap();
        if rng.random_bool(0.5) {
            let ranges = about.description().parameters.iter().map(|p| p.test);
            draft.phi = ranges.map(|(a, b)| rng.random_range(a..=b)).collect();
        }
        if let Some([low, high]) = about.field().map(|field| field.domain()) {
            let mut inside = || [0, 1].map(|k| rng.random_range(low[k]..=high[k]));
            draft.points = (0..3).map(|_| inside()).collect();
        }
        if system == "charges-pair" {
            draft.places = vec![[-1.5, 0.5], [1.25, -0.1]];
        }
        if let Err(SpecError::Rank { tasks, .. }) = draft.check_rank() {
            draft.rank = tasks;
        }
        draft.shots = draft.shots.max(draft.rank);
        draft.check().unwrap()
    }

    fn random_view(rng: &mut impl rand::Rng) -> String {
        let length = rng.random_range(0..40);
        let letter = |_| char::from(rng.random_range(0x20..0x7f_u8));
        (0..length).map(letter).collect()
    }

    #[test]
    fn a_view_that_is_too_long_or_not_printable_is_left_out_with_a_remark() {
        for view in ["a".repeat(LONGEST_VIEW + 1), "%01".to_owned()] {
            let (link, remarks) = Link::read(&format!("#/how?v=1&view={view}"));
            assert_eq!((link.view.as_str(), remarks.len()), ("", 1));
        }
    }

    #[test]
    fn every_checked_spec_survives_the_round_trip() {
        let mut rng = generator(0, 0);
        for _ in 0..2_000 {
            let page = Page::ALL[rng.random_range(0..Page::ALL.len())];
            let link = Link {
                page,
                spec: random_spec(&mut rng),
                run: rng.random_bool(0.5),
                view: random_view(&mut rng),
            };
            let (read, remarks) = Link::read(&link.write());
            assert_eq!((read, remarks), (link.clone(), vec![]), "{}", link.write());
        }
    }

    #[test]
    fn a_hundred_thousand_random_and_mutated_links_never_panic() {
        let mut rng = generator(1, 0);
        for round in 0..100_000 {
            let link = Link {
                page: Page::Experiments,
                spec: random_spec(&mut rng),
                run: true,
                view: random_view(&mut rng),
            };
            let mut bytes = if round % 2 == 0 {
                link.write().into_bytes()
            } else {
                vec![0; 60]
            };
            for _ in 0..rng.random_range(1..20) {
                let place = rng.random_range(0..bytes.len());
                bytes[place] = (rng.next_u32() & 0xff) as u8;
            }
            let (read, _) = Link::read(&String::from_utf8_lossy(&bytes));
            assert!(Draft::from(read.spec).check().is_ok());
        }
    }

    #[test]
    fn what_was_ignored_or_corrected_is_listed() {
        let (link, remarks) = Link::read(
            "#/experiments?v=1&rank=99&colour=red&steps=many&phi=-1%201&run=yes&device=tpu&points=1,x&places=3\
             &optimiser=sgd&first_order=1",
        );
        let said: Vec<_> = remarks.iter().map(Remark::to_string).collect();
        assert_eq!(link.spec.rank, 4);
        for part in [
            "rank must be between 1 and 16, but is 99",
            "rank must be at most 4, the number of training tasks of cartpole, but is 16",
            "'colour' is not a setting",
            "steps must be",
            "run must be 0 or 1",
            "device must be one of",
            "phi",
            "points must be pairs",
            "places must be pairs",
            "optimiser must be one of adam, lbfgs, but is 'sgd'",
            "first_order must be 0 for CAMEL, but is '1'; it was corrected",
        ] {
            assert!(said.iter().any(|s| s.contains(part)), "{part} in {said:?}");
        }
    }

    #[test]
    fn what_no_training_could_use_is_corrected_before_it_starts() {
        let (link, remarks) =
            Link::read("#/experiments?v=1&system=cartpole&method=camel&rank=9&shots=2&batch=1");
        let said: Vec<_> = remarks.iter().map(Remark::to_string).collect();
        assert!(said[0].contains("batch must be between 2"), "{said:?}");
        assert!(said[1].contains("rank must be at most"), "{said:?}");
        assert!(said[2].contains("shots must be at least"), "{said:?}");
        assert_eq!((said.len(), link.spec.shots), (3, link.spec.rank));
        let (own, remarks) = Link::read("#/data?v=1&rank=9");
        assert_eq!((own.spec.rank, remarks), (9, vec![]));
    }

    #[test]
    fn an_empty_link_is_the_front_page_without_a_remark() {
        let (link, remarks) = Link::read("");
        assert_eq!((link.page, link.run, remarks), (Page::Play, false, vec![]));
    }

    #[test]
    fn a_link_stays_short() {
        let spec = Draft::recommended("cartpole", "camel")
            .unwrap()
            .check()
            .unwrap();
        let link = Link {
            page: Page::Experiments,
            spec,
            run: true,
            view: String::new(),
        }
        .write();
        assert_eq!(link, "#/experiments?v=1&system=cartpole&method=camel&run=1");
    }
}
