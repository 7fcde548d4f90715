//! What a mark stands for, and the colours of the light and the dark page.

use serde::{Deserialize, Serialize};

use super::colour::Colour;

/// What a curve, bar or point stands for. Each method has one colour on the whole site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hue {
    /// CAMEL.
    Camel,
    /// φ-CAMEL, zero-shot from physical parameters.
    PhiCamel,
    /// ANIL.
    Anil,
    /// MAML.
    Maml,
    /// CoDA.
    Coda,
    /// R2D2.
    R2d2,
    /// CAVIA.
    Cavia,
    /// The analytic model without friction.
    Analytic,
    /// The truth, or a method that is told it.
    Oracle,
    /// Anything else: references, limits, noise floors.
    Neutral,
}

impl Hue {
    /// All roles, in the order of legends.
    pub const ALL: [Self; 10] = [
        Self::Camel,
        Self::PhiCamel,
        Self::Anil,
        Self::Maml,
        Self::Coda,
        Self::R2d2,
        Self::Cavia,
        Self::Analytic,
        Self::Oracle,
        Self::Neutral,
    ];

    /// The name in links, files and the style sheet.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Camel => "camel",
            Self::PhiCamel => "phi-camel",
            Self::Anil => "anil",
            Self::Maml => "maml",
            Self::Coda => "coda",
            Self::R2d2 => "r2d2",
            Self::Cavia => "cavia",
            Self::Analytic => "analytic",
            Self::Oracle => "oracle",
            Self::Neutral => "neutral",
        }
    }

    /// The role of a method by its name in links, such as `phi-camel`; unknown names are neutral.
    pub fn of_method(name: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|hue| hue.name() == name)
            .unwrap_or(Self::Neutral)
    }

    /// Gaps that set the role's lines apart without colour: drawn and skipped lengths [px].
    pub fn dash(self) -> Option<(f64, f64)> {
        match self {
            Self::PhiCamel => Some((7.0, 4.0)),
            Self::Analytic => Some((2.0, 3.5)),
            Self::Oracle => Some((10.0, 5.0)),
            Self::Neutral => Some((4.0, 4.0)),
            _ => None,
        }
    }
}

/// Colours and sizes of a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theme {
    /// Whether the page is dark.
    pub dark: bool,
    /// Behind the drawing.
    pub paper: Colour,
    /// Titles and strong text.
    pub ink: Colour,
    /// Tick labels and axis names.
    pub muted: Colour,
    /// Grid lines.
    pub grid: Colour,
    /// Axis lines.
    pub axis: Colour,
    /// Device pixels in a CSS pixel.
    pub scale: f64,
}

impl Theme {
    /// Dark ink on white.
    pub const fn light() -> Self {
        Self {
            dark: false,
            paper: Colour::hex(0xFFFFFF),
            ink: Colour::hex(0x1C1B19),
            muted: Colour::hex(0x66625B),
            grid: Colour::hex(0xEAE7E1),
            axis: Colour::hex(0xB9B4AA),
            scale: 1.0,
        }
    }

    /// Light ink on near-black.
    pub const fn dark() -> Self {
        Self {
            dark: true,
            paper: Colour::hex(0x1D1C19),
            ink: Colour::hex(0xF4F1EA),
            muted: Colour::hex(0xA8A399),
            grid: Colour::hex(0x33312C),
            axis: Colour::hex(0x5D5950),
            scale: 1.0,
        }
    }

    /// The dark or the light theme.
    pub const fn new(dark: bool) -> Self {
        if dark { Self::dark() } else { Self::light() }
    }

    /// The same colours for a device with `scale` pixels in a CSS pixel.
    pub fn at_scale(self, scale: f64) -> Self {
        let scale = if scale.is_finite() {
            scale.clamp(0.5, 8.0)
        } else {
            1.0
        };
        Self { scale, ..self }
    }

    /// The colour of a role.
    pub fn hue(&self, hue: Hue) -> Colour {
        let (light, dark) = match hue {
            Hue::Camel => (0xB03F08, 0xFF7C1F),
            Hue::PhiCamel => (0xE8A013, 0xFFD658),
            Hue::Anil => (0x0B57B8, 0x4A80FF),
            Hue::Maml => (0x36A6F5, 0x30CBFF),
            Hue::Coda => (0x22A27C, 0x06B77A),
            Hue::R2d2 => (0xDA7DB9, 0xFF95C0),
            Hue::Cavia => (0x641F78, 0xAE52BA),
            Hue::Analytic => (0x6B6863, 0x7C766E),
            Hue::Oracle => (0x1C1B19, 0xF4F1EA),
            Hue::Neutral => (0x8F8B83, 0x938E85),
        };
        Colour::hex(if self.dark { dark } else { light })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::colour::difference;

    /// What people with full protanopia, deuteranopia and tritanopia see (Machado 2009).
    const DEFICIENCIES: [(&str, [[f64; 3]; 3]); 4] = [
        ("none", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ),
    ];

    fn seen(colour: Colour, matrix: [[f64; 3]; 3]) -> Colour {
        let light = colour.linear();
        Colour::from_linear(matrix.map(|row| (0..3).map(|i| row[i] * light[i]).sum()))
    }

    #[test]
    fn methods_are_told_apart_with_every_kind_of_colour_vision() {
        for theme in [Theme::light(), Theme::dark()] {
            for (name, matrix) in DEFICIENCIES {
                for (i, &one) in Hue::ALL[..9].iter().enumerate() {
                    for &other in &Hue::ALL[i + 1..9] {
                        let (a, b) = (seen(theme.hue(one), matrix), seen(theme.hue(other), matrix));
                        let apart = difference(a, b);
                        assert!(
                            apart > 0.06,
                            "{name}: {one:?} and {other:?} are {apart} apart"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn text_has_the_contrast_that_small_print_needs() {
        for theme in [Theme::light(), Theme::dark()] {
            assert!(theme.ink.contrast(theme.paper) > 12.0);
            assert!(theme.muted.contrast(theme.paper) > 4.5);
            assert!(theme.hue(Hue::Camel).contrast(theme.paper) > 4.5);
        }
    }

    #[test]
    fn the_style_sheet_has_the_same_colours() {
        let (light, dark) = include_str!("../../style/main.css")
            .split_once("@media (prefers-color-scheme: dark)")
            .unwrap();
        for (sheet, theme) in [(light, Theme::light()), (dark, Theme::dark())] {
            let hex = |c: Colour| format!("#{:02x}{:02x}{:02x}", c.r, c.g, c.b);
            for hue in Hue::ALL {
                let line = format!("--{}: {};", hue.name(), hex(theme.hue(hue)));
                assert!(sheet.contains(&line), "{line}");
            }
            for (name, colour) in [
                ("card", theme.paper),
                ("ink", theme.ink),
                ("muted", theme.muted),
            ] {
                let line = format!("--{name}: {};", hex(colour));
                assert!(sheet.contains(&line), "{line}");
            }
        }
    }

    #[test]
    fn link_names_and_serialised_names_agree() {
        for hue in Hue::ALL {
            assert_eq!(serde_json::to_value(hue).unwrap(), hue.name());
            assert_eq!(Hue::of_method(hue.name()), hue);
        }
    }

    #[test]
    fn a_scale_that_is_not_a_number_is_one() {
        assert_eq!(Theme::light().at_scale(f64::NAN).scale, 1.0);
        assert_eq!(Theme::light().at_scale(1e9).scale, 8.0);
    }
}
