use super::*;
use crate::{
    experiments::{
        cost::Sizes,
        dataset::roles::Roles,
        online_run::{self, FACTORS, OnlineSpec},
        spec::DeviceChoice,
        view,
    },
    learners::METHODS,
    random::generator,
    systems::{NAMES, charges::Charges},
    ui::stage::{Push, push::PERIODS},
};
use rand::RngExt as _;

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
    let by_adam = draft.optimiser == Optimiser::Adam;
    draft.first_order = about.first_order && by_adam && rng.random_bool(0.5);
    if let (true, Some(charges)) = (rng.random_bool(0.5), Charges::by_name(system)) {
        draft.places = random_places(&charges, rng);
    }
    let about = draft.physics().unwrap();
    if rng.random_bool(0.5) {
        let ranges = about.description().parameters.iter().map(|p| p.test);
        draft.phi = ranges.map(|(a, b)| rng.random_range(a..=b)).collect();
    }
    if let Some([low, high]) = about.field().map(|field| field.domain()) {
        let mut inside = || [0, 1].map(|k| rng.random_range(low[k]..=high[k]));
        draft.points = (0..3).map(|_| inside()).collect();
    }
    if let Err(SpecError::Rank { tasks, .. }) = draft.check_tasks() {
        draft.rank = tasks;
    }
    draft.shots = draft.shots.max(draft.rank);
    draft.check().unwrap()
}

/// Places that are allowed: apart, and outside of where the field is measured.
fn random_places(charges: &Charges, rng: &mut impl rand::Rng) -> Vec<[f64; 2]> {
    loop {
        let count = rng.random_range(1..=8);
        let place = |_| [0, 1].map(|_| rng.random_range(-10.0..=10.0));
        let places: Vec<_> = (0..count).map(place).collect();
        if charges.moved(&places).is_ok() {
            return places;
        }
    }
}

/// What hostile links are made of, besides the keys of settings.
const SCRAPS: &str = "# / ? & = % , + - . %2 %00 %ff %20 é \u{0} 0 1 99 1e999 nan -inf 0.1,0.5 \
    experiments v system method device phi points places run view charges-pair cartpole camel webgpu";

fn scrap(rng: &mut impl rand::Rng) -> &'static str {
    let keys = NUMBERS.iter().map(|number| number.key);
    let scraps: Vec<_> = SCRAPS.split(' ').chain(keys).collect();
    scraps[rng.random_range(0..scraps.len())]
}

/// A link out of scraps, most of them keys and values.
fn random_link(rng: &mut impl rand::Rng) -> Vec<u8> {
    let mut link = String::from(if rng.random_bool(0.5) { "#/play?" } else { "" });
    for _ in 0..rng.random_range(0..20) {
        link += scrap(rng);
        if rng.random_bool(0.8) {
            link += &format!("={}&", scrap(rng));
        }
    }
    link.into_bytes()
}

/// Changes a byte, puts a scrap in, takes some bytes out, or doubles them.
fn mutate(bytes: &mut Vec<u8>, rng: &mut impl rand::Rng) {
    let place = rng.random_range(0..=bytes.len());
    let end = bytes.len().min(place + rng.random_range(1..9));
    match rng.random_range(0..4) {
        0 => drop(bytes.splice(place..end.min(place + 1), [(rng.next_u32() & 0xff) as u8])),
        1 => drop(bytes.splice(place..place, scrap(rng).bytes())),
        2 => drop(bytes.drain(place..end)),
        _ => bytes.extend_from_within(place..end),
    }
}

/// Views as pages write them.
const VIEWS: [&str; 7] = [
    "online_camel-3-2.5 compare_camel.anil",
    "online=anil,2,8",
    "sine 8 3",
    "none",
    "1000 3 3 10",
    "roles_eiipt held_cart+6 shots_first",
    "mass_3 speed_4 paused_1",
];

/// A view of a page with a few faults, or with none.
fn damaged_view(rng: &mut impl rand::Rng) -> String {
    let mut view = VIEWS[rng.random_range(0..VIEWS.len())].as_bytes().to_vec();
    for _ in 0..rng.random_range(0..4) {
        mutate(&mut view, rng);
    }
    String::from_utf8_lossy(&view).into_owned()
}

/// Reads a view as each page does. What is taken is allowed; says who has taken something.
fn taken(text: &str) -> [bool; 4] {
    let online = |system: &str| {
        let Some(run) = OnlineSpec::of_view(system, text) else {
            return false;
        };
        let known = online_run::METHODS.contains(&&*run.method);
        let fits = (FACTORS.0..=FACTORS.1).contains(&run.factor);
        assert!(
            known && fits && online_run::may_change_at(system, run.time),
            "{text}: {run:?}"
        );
        true
    };
    let push = |robot: &str| {
        let push = Push::read(robot, text);
        let fits = Push::amplitudes(robot).check(push.amplitude).is_ok();
        assert!(
            fits && PERIODS.check(push.period).is_ok(),
            "{text}: {push:?}"
        );
        push != Push::usual(robot)
    };
    let sizes = Sizes::read(text);
    assert_eq!(sizes.and_then(|sizes| Sizes::of_list(sizes.list())), sizes);
    let word = view::get(text, "roles").unwrap_or_default();
    let roles = |columns: usize| {
        let roles = Roles::read(&word, columns);
        roles.is_some_and(|roles| roles.0.len() == columns && columns > 0)
    };
    [
        ["cartpole", "upkie"].map(online).contains(&true),
        ["pendulum", "cartpole", "arm"].map(push).contains(&true),
        sizes.is_some(),
        (0..9).any(roles),
    ]
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
    let (mut rng, mut views) = (generator(1, 0), generator(1, 1));
    let mut complaints = [0, 0];
    let mut readers = [0; 4];
    for round in 0..100_000 {
        let mut bytes = if round % 2 == 0 {
            let link = Link {
                page: Page::Experiments,
                spec: random_spec(&mut rng),
                run: true,
                view: random_view(&mut rng),
            };
            link.write().into_bytes()
        } else {
            random_link(&mut rng)
        };
        for _ in 0..rng.random_range(1..20) {
            mutate(&mut bytes, &mut rng);
        }
        let (read, remarks) = Link::read(&String::from_utf8_lossy(&bytes));
        let of_query = |remark: &&Remark| !remark.0.starts_with("there is no page");
        complaints[round % 2] += remarks.iter().filter(of_query).count();
        assert!(Draft::from(read.spec).check().is_ok());
        for view in [read.view, damaged_view(&mut views)] {
            let taken = taken(&view).map(usize::from);
            readers = std::array::from_fn(|k| readers[k] + taken[k]);
        }
    }
    // Both kinds get as far as the settings, or they would try nothing.
    assert!(
        complaints.iter().all(|&count| count > 100_000),
        "{complaints:?}"
    );
    assert!(readers.iter().all(|&count| count > 1_000), "{readers:?}");
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
fn a_link_of_a_later_version_is_read_as_far_as_possible() {
    let (link, remarks) = Link::read("#/experiments?v=2&system=arm");
    assert_eq!(link.spec.system, "arm");
    let said = remarks[0].to_string();
    assert!(said.contains("links up to version 1"), "{said}");
}

/// What a link says of one thing, as `tests/golden/links.txt` writes it.
fn said(link: &Link, key: &str) -> String {
    let list = |numbers: &mut dyn Iterator<Item = f64>| {
        let numbers: Vec<_> = numbers.map(|number| number.to_string()).collect();
        numbers.join(",")
    };
    let spec = &link.spec;
    match key {
        "page" => link.page.name().to_owned(),
        "system" => spec.system.clone(),
        "method" => spec.method.clone(),
        "device" => spec.device.to_string(),
        "run" => u8::from(link.run).to_string(),
        "view" => link.view.replace(' ', "+"),
        "phi" => list(&mut spec.phi.iter().copied()),
        "points" => list(&mut spec.points.iter().flatten().copied()),
        "places" => list(&mut spec.places.iter().flatten().copied()),
        number => {
            let number = NUMBERS.iter().find(|n| n.key == number).unwrap();
            (number.get)(spec).to_string()
        }
    }
}

#[test]
fn links_that_people_have_kept_still_mean_the_same() {
    let kept = include_str!("../../../tests/golden/links.txt");
    let kept = kept.lines().filter(|line| !line.starts_with("# "));
    for (text, meaning) in kept.map(|line| line.split_once(" => ").unwrap()) {
        let (link, remarks) = Link::read(text);
        assert_eq!(remarks, [], "{text}");
        for (key, value) in meaning.split(' ').map(|pair| pair.split_once('=').unwrap()) {
            assert_eq!(said(&link, key), value, "{key} of {text}");
        }
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
    let bad_places = "#/experiments?v=1&system=cartpole&method=camel&rank=9&places=1,2";
    assert!(Link::read(bad_places).0.spec.check_rank().is_ok());
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

#[test]
fn choices_that_are_too_long_are_left_out_and_the_link_says_so() {
    let long = "x".repeat(LONGEST_VIEW);
    let choice = |name, value: &str| (name, Some(value.to_owned()));
    let short = Link::read("#/data?v=1&view=roles_eit+shots_first").0;
    let cut = short.with_choices(&[choice("roles", &long), choice("held", "b")]);
    assert_eq!(cut.view, "shots_first held_b cut_1");
    assert!(cut.is_cut() && !short.is_cut());
    let (read, remarks) = Link::read(&cut.write());
    assert_eq!((read, remarks), (cut.clone(), vec![]));

    let whole = cut.with_choices(&[choice("roles", "eit"), ("held", None)]);
    assert_eq!(whole.view, "shots_first roles_eit");
    let room = LONGEST_VIEW - " cut_1".len() - "held_".len();
    let empty = Link::read("#/data").0;
    let held = |length: usize| empty.with_choices(&[choice("held", &long[..length])]);
    assert!(!held(room).is_cut() && held(room + 1).is_cut());
}
