//! Numbers as text. Zero has no sign of its own: what rounds to zero from below is not printed as `-0.00`.

/// `value` with `digits` behind the point.
pub(crate) fn fixed(value: f64, digits: usize) -> String {
    format!("{:.digits$}", zero(value, digits))
}

/// The same with a sign, `+` for zero.
pub(crate) fn signed(value: f64, digits: usize) -> String {
    format!("{:+.digits$}", zero(value, digits))
}

/// `value`, or zero where it is printed as one.
fn zero(value: f64, digits: usize) -> f64 {
    let printed = format!("{value:.digits$}");
    let is_zero = !printed.contains(|c: char| matches!(c, '1'..='9'));
    if value.is_finite() && is_zero { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign_of_its_own() {
        for (value, digits, plain, with_sign) in [
            (-0.004, 2, "0.00", "+0.00"),
            (-0.0, 0, "0", "+0"),
            (-0.006, 2, "-0.01", "-0.01"),
            (0.004, 2, "0.00", "+0.00"),
            (-12.5, 1, "-12.5", "-12.5"),
            (-0.05, 1, "-0.1", "-0.1"),
            (f64::NEG_INFINITY, 1, "-inf", "-inf"),
        ] {
            let found = (fixed(value, digits), signed(value, digits));
            assert_eq!((found.0.as_str(), found.1.as_str()), (plain, with_sign), "{value}");
        }
    }
}
