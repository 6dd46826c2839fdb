//! Checks of parameters that several benchmarks make.

use crate::WorkloadError;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Refuses `found` where it is outside of `range`, which `expected` says in words. A NaN is outside.
pub(crate) fn within<V: PartialOrd + Display>(
    program: &'static str,
    field: &'static str,
    found: V,
    range: RangeInclusive<V>,
    expected: &'static str,
) -> Result<(), WorkloadError> {
    if range.contains(&found) {
        return Ok(());
    }
    Err(WorkloadError { program, field, found: found.to_string(), expected })
}

/// A run time or a window: more than nothing, at most an hour.
pub(crate) fn seconds(
    program: &'static str,
    field: &'static str,
    found: f64,
) -> Result<(), WorkloadError> {
    within(program, field, found, 1e-6..=3600.0, "more than 0, at most 3600")
}

/// A measured time and the warm-up before it.
pub(crate) fn window(
    program: &'static str,
    warmup_s: f64,
    measured_s: f64,
) -> Result<(), WorkloadError> {
    within(program, "warmup_s", warmup_s, 0.0..=3600.0, "0 to 3600")?;
    seconds(program, "seconds", measured_s)
}

/// Work in us.
pub(crate) fn work_us(
    program: &'static str,
    field: &'static str,
    found: f64,
) -> Result<(), WorkloadError> {
    within(program, field, found, 0.0..=1e9, "0 to 1e9")
}
