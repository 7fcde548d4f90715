//! How far 95 % of errors lie: `|z| ≤ 1.96` if their size is known, `|t| ≤ t_ν` if it was found from ν
//! numbers.

/// Standard errors to either side within which 95 % of normal errors lie.
pub const NOMINAL_95: f64 = 1.96;

/// t_ν/1.96: by how much wider a bar has to be whose standard error was found from ν numbers, 1 or more of
/// them. `t² = ν (exp(1.96² (2ν + 2)/((2ν + 1) ν)) − 1)` is right within 2 %.
pub fn widening(freedom: f64) -> f64 {
    if freedom.is_infinite() {
        return 1.0;
    }
    let exponent = NOMINAL_95.powi(2) * (2.0 * freedom + 2.0) / (2.0 * freedom + 1.0);
    (freedom * (exponent / freedom).exp_m1()).sqrt() / NOMINAL_95
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_widen_bars_as_tables_of_student_say() {
        for (freedom, quantile) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (3.0, 3.182),
            (5.0, 2.571),
            (10.0, 2.228),
            (30.0, 2.042),
            (1e9, 1.96),
            (f64::INFINITY, 1.96),
        ] {
            let found = NOMINAL_95 * widening(freedom);
            assert!((found / quantile - 1.0).abs() < 0.02, "{found}: {freedom}");
        }
    }
}
