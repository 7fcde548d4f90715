//! Numbers as people read them.

/// A number with `digits` significant digits, in powers of ten where that is shorter.
pub fn significant(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-3..6).contains(&exponent) {
        return format!("{}e{exponent}", trim(mantissa))
            .replace('-', "−")
            .replace("e−", "e-");
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}")).replace('-', "−")
}

/// Four significant digits: enough for tables and descriptions.
pub fn short(value: f64) -> String {
    significant(value, 4)
}

/// Three significant digits of a distance [m], to the micrometre: what is below is rounding.
pub fn metres(value: f64) -> String {
    significant((1e6 * value).round() / 1e6, 3)
}

/// A number for CSV files: shortest text that gives the same number back.
pub fn exact(value: f64) -> String {
    if value.is_finite() {
        format!("{value}")
    } else {
        String::new()
    }
}

fn trim(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_their_size() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "−2.5"),
            (0.00123456, "0.001235"),
            (1.5e-7, "1.5e-7"),
            (-1.5e-7, "−1.5e-7"),
            (123456.0, "123456"),
            (1234567.0, "1.235e6"),
            (99.99999, "100"),
            (f64::NAN, "–"),
            (f64::NEG_INFINITY, "−∞"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn exact_numbers_survive_the_round_trip() {
        for value in [0.1, 1.0 / 3.0, 1e-300, -7.25] {
            assert_eq!(exact(value).parse(), Ok(value));
        }
        assert_eq!(exact(f64::NAN), "");
    }
}
