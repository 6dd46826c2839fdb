//! Numbers as text. Zero has no sign of its own: what rounds to zero from below is not printed as `-0.00`.

/// `value` with `digits` behind the point.
pub(crate) fn fixed(value: f64, digits: usize) -> String {
    format!("{:.digits$}", zero(value, digits))
}

/// The same with a sign, `+` for zero.
pub(crate) fn signed(value: f64, digits: usize) -> String {
    format!("{:+.digits$}", zero(value, digits))
}

/// `value` with four significant digits, or as many as stand before the point; no zeros at the end behind it.
pub fn significant(value: f64) -> String {
    let before = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    let digits = (3.0 - before).clamp(0.0, 12.0) as usize;
    let text = fixed(value, digits);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
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
    fn four_digits_matter() {
        for (value, text) in [
            (0.636, "0.636"),
            (0.53, "0.53"),
            (1.0 / 1.2, "0.8333"),
            (3_800_000.0, "3800000"),
            (938.333, "938.3"),
            (0.0, "0"),
            (-12.0, "-12"),
            (1e-5, "0.00001"),
        ] {
            assert_eq!(significant(value), text);
        }
    }

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
