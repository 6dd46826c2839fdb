//! Axes of time.

/// Length in ns and name of the unit in which a run of `end_ns` is told.
pub(super) fn unit(end_ns: u64) -> (f64, &'static str) {
    match end_ns {
        0..10_000 => (1.0, "ns"),
        10_000..10_000_000 => (1e3, "\u{b5}s"),
        10_000_000..10_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
pub(super) fn step(least: f64) -> f64 {
    let mut power = 1e-3;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if power * factor >= least {
                return power * factor;
            }
        }
        power *= 10.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!([step(0.8), step(1.2), step(2.1), step(700.0)], [1.0, 2.0, 5.0, 1000.0]);
    }
}
