//! What pages cannot use of a link's view.

use crate::{
    experiments::{
        cost::Sizes,
        link::{CUT, Link, Page, Remark},
        online_run::{self, EXCITING, FACTORS},
        spec::shortened,
        view,
    },
    learners::{self, METHODS},
    ui::{
        entry::Range,
        stage::{Push, push::PERIODS},
    },
};

/// Masses of the cart on the front page [kg].
pub const MASS: Range = Range {
    min: 0.75,
    max: 3.5,
    whole: false,
};
/// Multiples of real time on the front page, and how they are written.
pub const SPEEDS: [(f64, &str); 3] = [(0.25, "¼ ×"), (1.0, "1 ×"), (4.0, "4 ×")];

/// A remark on each part of a view that its page leaves out or corrects.
pub fn faults(link: &Link) -> Vec<Remark> {
    let view = link.view.as_str();
    let whole =
        |good: bool, allowed: &str| Vec::from_iter((!good).then(|| wrong("view", allowed, view)));
    match link.page {
        _ if view.is_empty() => Vec::new(),
        Page::How => whole(Sizes::read(view).is_some(), "four sizes in their ranges"),
        Page::Gallery => whole(
            is_push(&link.spec.system, view),
            "'none' or 'sine' with an amplitude and a period in their ranges",
        ),
        // The figures of a machine, as former links have them: the page says what it read.
        Page::Bench if view.contains(';') => Vec::new(),
        _ => {
            let parts = view.split(' ').filter(|part| !part.is_empty());
            parts.filter_map(|part| fault(link, part)).collect()
        }
    }
}

/// What is wrong with a part of a view, if something is.
fn fault(link: &Link, part: &str) -> Option<Remark> {
    let (name, written) = part.split_once(['_', '=']).unwrap_or((part, ""));
    let value = view::get(&link.view, name).unwrap_or_else(|| written.to_owned());
    let (good, allowed) = match (link.page, name) {
        (_, CUT) => {
            let text = "choices that are too long for a link were left out of it";
            return Some(text.to_owned().into());
        }
        (Page::Play, "mass") => (within(&value, MASS), "between 0.75 and 3.5"),
        (Page::Play, "speed") => {
            let known = |(speed, _): &(f64, _)| value.parse::<f64>() == Ok(*speed);
            (SPEEDS.iter().any(known), "0.25, 1 or 4")
        }
        (Page::Play, "paused") => (matches!(&*value, "0" | "1"), "0 or 1"),
        (Page::Experiments, "compare") => (are_methods(&value), "methods with dots between"),
        (Page::Experiments, online_run::VIEW) => (
            is_online(&link.spec.system, &value),
            "a controller, a factor and a time that this system allows",
        ),
        (Page::Tables, "cell") => (is_cell(&value), "a cell such as camel.100.0"),
        (Page::Data, "roles") => (
            value.chars().all(|letter| "eitpx".contains(letter)),
            "a letter of e, i, t, p and x for each column",
        ),
        (Page::Data, "held") => (true, ""),
        (Page::Data, "shots") => (value == "first", "'first'"),
        (Page::Data, "shared") => (value == "no", "'no'"),
        (Page::Bench, "length") => (matches!(&*value, "brief" | "whole"), "brief or whole"),
        (Page::Bench, "device") => (matches!(&*value, "cpu" | "webgpu"), "cpu or webgpu"),
        (Page::Bench, "sheet") => (value.contains(';'), "the figures of a machine"),
        _ => {
            let text = format!("'{}' means nothing on this page", shortened(part));
            return Some(text.into());
        }
    };
    (!good).then(|| wrong(name, allowed, &value))
}

fn wrong(name: &str, allowed: &str, value: &str) -> Remark {
    let value = shortened(value);
    format!("{name} must be {allowed}, but is '{value}'; it was corrected").into()
}

fn within(text: &str, range: Range) -> bool {
    text.parse::<f64>()
        .is_ok_and(|number| range.check(number).is_ok())
}

fn are_methods(value: &str) -> bool {
    let trained = |name: &str| METHODS.iter().any(|m| m.name == name && !m.zero_shot);
    value.is_empty() || value.split('.').all(trained)
}

fn is_online(system: &str, value: &str) -> bool {
    let factors = Range {
        min: FACTORS.0,
        max: FACTORS.1,
        whole: false,
    };
    let on_time = |time: &str| {
        let time = time.parse();
        time.is_ok_and(|time| online_run::may_change_at(system, time))
    };
    let own = value
        .strip_suffix(EXCITING)
        .filter(|own| system == "cartpole" && own.starts_with(online_run::METHODS[0]));
    let value = own.and_then(|own| own.strip_suffix('-')).unwrap_or(value);
    match value.split(['-', ',']).collect::<Vec<_>>()[..] {
        [method, factor, time] => {
            let known = online_run::METHODS.contains(&method);
            known && within(factor, factors) && on_time(time)
        }
        _ => false,
    }
}

fn is_push(robot: &str, view: &str) -> bool {
    match view.split(' ').collect::<Vec<_>>()[..] {
        ["none"] => true,
        ["sine", amplitude, period] => {
            within(amplitude, Push::amplitudes(robot)) && within(period, PERIODS)
        }
        _ => false,
    }
}

fn is_cell(value: &str) -> bool {
    match value.splitn(3, '.').collect::<Vec<_>>()[..] {
        [method, shots, noise] => {
            let numbers = shots.parse::<usize>().is_ok() && noise.parse::<f64>().is_ok();
            numbers && learners::method(method).is_ok()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{bench_link::BenchLink, fuzz, online_run::OnlineSpec};

    /// The remarks on a link that the address bar may hold.
    fn said(text: &str) -> Vec<String> {
        let (link, remarks) = Link::read(text);
        assert_eq!(remarks, [], "{text}");
        faults(&link).iter().map(Remark::to_string).collect()
    }

    #[test]
    fn what_pages_write_and_wrote_is_without_fault() {
        let online = OnlineSpec::usual("upkie").in_view("compare_");
        let sheet = BenchLink {
            brief: true,
            webgpu: true,
            sheet: "2;8;cpu;Acme Röntgen_3;Firefox 140;cartpole.camel,1.00e3,1.00e2".to_owned(),
        };
        for (page, view) in [
            ("play", "mass_0.75+speed_0.25+paused_1"),
            ("play", "mass_3.5+speed_4+paused_0"),
            (
                "experiments",
                "online_camel-0.5-2.5+compare_camel.anil.r2d2",
            ),
            ("experiments", "online%3Danil,2,8"),
            ("experiments", "online_camel-2-8-exciting"),
            ("experiments", "compare_"),
            ("gallery", "sine+8+3"),
            ("gallery", "none"),
            ("how", "1000+3+3+1000"),
            ("tables", "cell_camel.100.0.01"),
            ("data", "roles_eiitpx+held_cart_6+shots_first+shared_no"),
            ("bench", "8,cpu;1000,100"),
            ("differences", ""),
        ] {
            let none: [&str; 0] = [];
            assert_eq!(said(&format!("#/{page}?v=1&view={view}")), none, "{view}");
        }
        for (page, system, view) in [
            (Page::Experiments, "upkie", online),
            (Page::Bench, "cartpole", sheet.write()),
        ] {
            let read = Link::read(&format!("#/play?v=1&system={system}")).0;
            assert_eq!(faults(&Link { page, view, ..read }), []);
        }
    }

    #[test]
    fn what_a_page_leaves_out_or_corrects_is_named_with_what_is_allowed() {
        for (page, view, part) in [
            (
                "play",
                "mass_99",
                "mass must be between 0.75 and 3.5, but is '99'",
            ),
            ("play", "mass_NaN", "mass must be between"),
            ("play", "speed_3", "speed must be 0.25, 1 or 4, but is '3'"),
            ("play", "paused_yes", "paused must be 0 or 1"),
            (
                "play",
                "colour_red",
                "'colour_red' means nothing on this page",
            ),
            ("how", "mass_2", "view must be four sizes"),
            ("gallery", "sine+99+3", "view must be 'none' or 'sine'"),
            (
                "tables",
                "cell_magic.3.0",
                "cell must be a cell such as camel.100.0, but is 'magic.3.0'",
            ),
            ("experiments", "compare_magic", "compare must be methods"),
            (
                "experiments",
                "online_camel-2-99",
                "online must be a controller",
            ),
            ("experiments", "online%3Dmagic,2,8", "but is 'magic,2,8'"),
            ("bench", "length_endless", "length must be brief or whole"),
            ("data", "roles_e%25+cut_1", "roles must be a letter"),
            ("data", "cut_1", "too long for a link"),
        ] {
            let said = said(&format!("#/{page}?v=1&view={view}"));
            assert!(said.iter().any(|text| text.contains(part)), "{said:?}");
        }
        let arm = said("#/experiments?v=1&system=arm&view=online_camel-2-8");
        assert_eq!(arm.len(), 1, "the arm has no online run: {arm:?}");
    }

    #[test]
    fn a_hundred_thousand_damaged_views_never_panic() {
        let whole = "mass_2 online_camel-2-8 compare_anil roles_eit cell_camel.9.0";
        let usual = Link::read("").0;
        fuzz::damaged(whole, |view| {
            for &page in Page::ALL {
                faults(&Link {
                    page,
                    view: view.to_owned(),
                    ..usual.clone()
                });
            }
        });
    }
}
