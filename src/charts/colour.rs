//! Colours, and the perceptual space in which they are compared and mixed.

/// An opaque sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// Red, 0 to 255.
    pub r: u8,
    /// Green, 0 to 255.
    pub g: u8,
    /// Blue, 0 to 255.
    pub b: u8,
}

impl Colour {
    /// A colour from `0xRRGGBB`.
    pub const fn hex(rgb: u32) -> Self {
        Self {
            r: (rgb >> 16) as u8,
            g: (rgb >> 8) as u8,
            b: rgb as u8,
        }
    }

    /// The colour as CSS text, with opacity `alpha` from 0 to 1.
    pub fn css(self, alpha: f64) -> String {
        format!("rgba({},{},{},{alpha:.3})", self.r, self.g, self.b)
    }

    /// Lightness, green-red and blue-yellow in the OKLab space: equal distances look equally
    /// different.
    pub fn oklab(self) -> [f64; 3] {
        let [r, g, b] = self.linear();
        let l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b).cbrt();
        let m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b).cbrt();
        let s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b).cbrt();
        [
            0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
        ]
    }

    /// The nearest displayable colour to an OKLab value.
    pub fn from_oklab([l, a, b]: [f64; 3]) -> Self {
        let long = (l + 0.3963377774 * a + 0.2158037573 * b).powi(3);
        let medium = (l - 0.1055613458 * a - 0.0638541728 * b).powi(3);
        let short = (l - 0.0894841775 * a - 1.2914855480 * b).powi(3);
        Self::from_linear([
            4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
        ])
    }

    /// The colour a share `part` (0 to 1) of the way to `other`, mixed in OKLab.
    pub fn mix(self, other: Self, part: f64) -> Self {
        let (from, to) = (self.oklab(), other.oklab());
        let part = part.clamp(0.0, 1.0);
        Self::from_oklab(std::array::from_fn(|i| from[i] + part * (to[i] - from[i])))
    }

    /// Contrast ratio of WCAG 2, from 1 (same) to 21 (black on white).
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn luminance(self) -> f64 {
        let [r, g, b] = self.linear();
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Light intensities from 0 to 1, without the sRGB curve.
    pub(crate) fn linear(self) -> [f64; 3] {
        [self.r, self.g, self.b].map(|channel| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        })
    }

    /// The displayable colour of light intensities, clipped to 0 to 1.
    pub(crate) fn from_linear(rgb: [f64; 3]) -> Self {
        let [r, g, b] = rgb.map(|intensity| {
            let c = intensity.clamp(0.0, 1.0);
            let s = if c <= 0.0031308 {
                12.92 * c
            } else {
                1.055 * c.powf(1.0 / 2.4) - 0.055
            };
            (255.0 * s).round() as u8
        });
        Self { r, g, b }
    }
}

/// Distance of two colours in OKLab; below 0.02 they are hard to tell apart.
pub fn difference(one: Colour, other: Colour) -> f64 {
    let (a, b) = (one.oklab(), other.oklab());
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oklab_and_back_gives_the_same_colour() {
        for rgb in [0x000000, 0xFFFFFF, 0xB03F08, 0x0B57B8, 0x22A27C, 0x808080] {
            let colour = Colour::hex(rgb);
            assert_eq!(Colour::from_oklab(colour.oklab()), colour);
        }
    }

    #[test]
    fn black_on_white_has_the_largest_contrast() {
        let contrast = Colour::hex(0).contrast(Colour::hex(0xFFFFFF));
        assert!((contrast - 21.0).abs() < 1e-9, "contrast is {contrast}");
    }

    #[test]
    fn a_mix_starts_and_ends_at_its_colours() {
        let (a, b) = (Colour::hex(0x123456), Colour::hex(0xFEDCBA));
        assert_eq!(a.mix(b, -1.0), a);
        assert_eq!(a.mix(b, 1.0), b);
    }
}
