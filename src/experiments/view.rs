//! What a page puts into the view of its link besides the settings: `mass_2.5 speed_4`.
//!
//! Names and values have an underscore between them, entries a space; both stay readable in an
//! address. Anything may be in a view that a visitor opens, so a page checks what it reads.

use form_urlencoded::{byte_serialize, parse};

/// The value of a name.
pub fn get(view: &str, name: &str) -> Option<String> {
    let entry = entries(view).find(|(other, _)| *other == name);
    let (_, value) = entry?;
    let mut pairs = parse(value.as_bytes());
    Some(pairs.next().map_or(String::new(), |(text, _)| text.into()))
}

/// The view with another value of a name, or without it.
pub fn set(view: &str, name: &str, value: Option<&str>) -> String {
    let others = entries(view).filter(|(other, _)| *other != name);
    let mut all: Vec<String> = others
        .map(|(name, value)| format!("{name}_{value}"))
        .collect();
    if let Some(value) = value {
        let value: String = byte_serialize(value.as_bytes()).collect();
        all.push(format!("{name}_{value}"));
    }
    all.join(" ")
}

fn entries(view: &str) -> impl Iterator<Item = (&str, &str)> {
    view.split(' ').filter_map(|entry| entry.split_once('_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{
        fuzz,
        link::{Link, Page},
    };

    #[test]
    fn values_of_any_kind_survive_a_link() {
        let odd = "cart_6 & Söhne + 50 %=";
        let view = set(&set("", "mass", Some("2.5")), "held", Some(odd));
        let link = Link {
            page: Page::Data,
            view,
            ..Link::read("").0
        };
        let (read, remarks) = Link::read(&link.write());
        assert!(remarks.is_empty(), "{}", link.write());
        assert_eq!(get(&read.view, "held").as_deref(), Some(odd));
        assert_eq!(get(&read.view, "mass").as_deref(), Some("2.5"));
        assert_eq!(get(&read.view, "speed"), None);
    }

    #[test]
    fn a_name_has_one_value_and_can_go() {
        let view = set("mass_2.5 speed_4", "mass", Some("3"));
        assert_eq!(view, "speed_4 mass_3");
        assert_eq!(set(&view, "speed", None), "mass_3");
        assert_eq!(set(&view, "paused", None), view);
    }

    #[test]
    fn a_hundred_thousand_damaged_views_never_panic() {
        fuzz::damaged("mass_2.5 held_cart+6%25 order_first", |view| {
            get(view, "held");
            set(view, "mass", get(view, "mass").as_deref());
        });
    }
}
