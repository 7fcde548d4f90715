//! What a link to the bench holds: `length_brief device_webgpu sheet_2%3B8%3Bcpu…`.
//!
//! A link of the former form is a sheet and nothing else; it is still read.

use super::{bench_sheet::Sheet, link::LONGEST_VIEW, view};

/// The choices of the page, and the figures that it shows or compares with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchLink {
    /// Whether only the first problem is measured.
    pub brief: bool,
    /// Whether it is measured on the graphics card.
    pub webgpu: bool,
    /// Figures as [`Sheet::write`] gives them; empty without any.
    pub sheet: String,
}

impl BenchLink {
    /// Reads the view of a link; what is missing or unknown is as usual.
    pub fn read(view: &str) -> Self {
        let is = |name, text| view::get(view, name).as_deref() == Some(text);
        let sheet = view::get(view, "sheet").unwrap_or_else(|| view.to_owned());
        Self {
            brief: is("length", "brief"),
            webgpu: is("device", "webgpu"),
            sheet: Sheet::read(&sheet).map_or_else(String::new, |sheet| sheet.write()),
        }
    }

    /// The view of a link. Figures that do not fit are left out.
    pub fn write(&self) -> String {
        let mut text = String::new();
        for (name, value, is_set) in [
            ("length", "brief", self.brief),
            ("device", "webgpu", self.webgpu),
            ("sheet", &*self.sheet, !self.sheet.is_empty()),
        ] {
            let longer = view::set(&text, name, is_set.then_some(value));
            if longer.len() <= LONGEST_VIEW {
                text = longer;
            }
        }
        text
    }

    /// Name of the device.
    pub fn device(&self) -> &'static str {
        if self.webgpu { "webgpu" } else { "cpu" }
    }

    /// Name of the length.
    pub fn length(&self) -> &'static str {
        if self.brief { "brief" } else { "whole" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{
        fuzz,
        link::{Link, Page},
    };

    const SHEET: &str = "2;8;cpu;Acme Röntgen_3;Firefox 140;cartpole.camel,1.00e3,1.00e2";

    #[test]
    fn every_choice_comes_back_from_a_link() {
        for (brief, webgpu) in [(false, false), (true, false), (false, true), (true, true)] {
            for sheet in ["", SHEET] {
                let choices = BenchLink {
                    brief,
                    webgpu,
                    sheet: sheet.to_owned(),
                };
                let link = Link {
                    page: Page::Bench,
                    view: choices.write(),
                    ..Link::read("").0
                };
                let (read, remarks) = Link::read(&link.write());
                assert!(remarks.is_empty(), "{}", link.write());
                assert_eq!(BenchLink::read(&read.view), choices);
            }
        }
        assert_eq!(BenchLink::default().write(), "");
    }

    #[test]
    fn links_that_are_only_a_sheet_are_still_read() {
        for former in ["8,cpu;1000,100", SHEET] {
            let read = BenchLink::read(former);
            assert_eq!(Sheet::read(&read.sheet), Sheet::read(former), "{former}");
            assert_eq!((read.length(), read.device()), ("whole", "cpu"));
        }
    }

    #[test]
    fn what_is_unknown_is_as_usual_and_what_is_too_long_is_left_out() {
        let unknown = "length_endless device_abacus sheet_none";
        assert_eq!(BenchLink::read(unknown), BenchLink::default());
        let choices = BenchLink {
            brief: true,
            webgpu: false,
            sheet: "x".repeat(LONGEST_VIEW),
        };
        assert_eq!(choices.write(), "length_brief");
    }

    #[test]
    fn a_hundred_thousand_damaged_views_never_panic() {
        let whole = BenchLink {
            brief: true,
            webgpu: true,
            sheet: SHEET.to_owned(),
        };
        fuzz::damaged(&whole.write(), |view| {
            BenchLink::read(view).write();
        });
    }
}
