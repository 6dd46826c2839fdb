//! The words of single files, by the rules of the functions that read them (`cpu_cgrp_files` and cpuset's `dfl_files`, 6.12).

use super::{Partition, Weight};
use machine::CpuSet;
use std::ops::RangeInclusive;

/// `CGROUP_WEIGHT_MIN` to `CGROUP_WEIGHT_MAX`.
const WEIGHTS: RangeInclusive<u32> = 1..=10_000;
/// `MIN_NICE` to `MAX_NICE`.
const NICES: RangeInclusive<i8> = -20..=19;
/// `min_cfs_quota_period`: the shortest quota and the shortest period, in us.
const SHORTEST_US: u64 = 1_000;
/// `max_cfs_quota_period`, in us.
const LONGEST_PERIOD_US: u64 = 1_000_000;
/// `max_cfs_runtime` (`MAX_BW`), in us.
const LONGEST_RUNTIME_US: u64 = (1 << 44) - 1;
/// `UCLAMP_PERCENT_SCALE`: hundredths of a percent.
const PERCENT_SCALE: u64 = 10_000;
/// `SCHED_CAPACITY_SCALE`.
const CAPACITY_SCALE: u64 = 1024;

/// `cpu.weight` or `cpu.weight.nice`.
pub(super) fn any_weight(file: &str, text: &str) -> Result<Weight, &'static str> {
    if file == "cpu.weight" { weight(text) } else { nice(text) }
}

/// `cpu_weight_write_u64`.
fn weight(text: &str) -> Result<Weight, &'static str> {
    let weight = text.parse().ok().filter(|weight| WEIGHTS.contains(weight));
    weight.map(Weight::Cgroup).ok_or("1 to 10000")
}

/// `cpu_weight_nice_write_s64`.
fn nice(text: &str) -> Result<Weight, &'static str> {
    let nice = text.parse().ok().filter(|nice| NICES.contains(nice));
    nice.map(Weight::Nice).ok_or("-20 to 19")
}

/// `cpu_idle_write_s64`.
pub(super) fn idle(text: &str) -> Result<bool, &'static str> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err("0 or 1"),
    }
}

/// Quota, if there is one, and period (`cpu_period_quota_parse`, `tg_set_cfs_bandwidth`). A file that has never been written to has
/// `period_us`.
pub(super) fn max(text: &str, period_us: u64) -> Result<(Option<u64>, u64), &'static str> {
    let mut words = text.split_whitespace();
    let (quota, period) = (words.next().unwrap_or(""), words.next());
    let form = "a quota in us or `max`, and a period in us, such as `50000 100000`";
    if words.next().is_some() {
        return Err(form);
    }
    let quota = match quota {
        "max" => None,
        us => Some(us.parse::<u64>().map_err(|_| form)?),
    };
    if quota.is_some_and(|us| us < SHORTEST_US) {
        return Err("a quota of at least 1000 us");
    }
    if quota.is_some_and(|us| us > LONGEST_RUNTIME_US) {
        return Err("a quota of at most 17592186044415 us");
    }
    let period = period.map_or(Ok(period_us), |us| us.parse().map_err(|_| form))?;
    match (SHORTEST_US..=LONGEST_PERIOD_US).contains(&period) {
        true => Ok((quota, period)),
        false => Err("a period of 1000 to 1000000 us"),
    }
}

/// `cpu_burst_write_u64` beside a quota.
pub(super) fn burst(text: &str, quota_us: Option<u64>) -> Result<u64, &'static str> {
    let burst: u64 = text.parse().map_err(|_| "a burst in us")?;
    match quota_us {
        Some(quota) if burst > quota => Err("a burst that is not larger than the quota"),
        Some(quota) if burst + quota > LONGEST_RUNTIME_US => {
            Err("a burst that is at most 17592186044415 us with the quota")
        }
        _ => Ok(burst),
    }
}

/// A clamp of 1024 (`capacity_from_percent`, `cgroup_parse_float`).
pub(super) fn clamp(text: &str) -> Result<u16, &'static str> {
    let expected = "0.00 to 100.00, in percent, or `max`";
    if text == "max" {
        return Ok(CAPACITY_SCALE as u16);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str| {
        (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
    };
    if !is_number(whole) || !is_number(fraction) {
        return Err(expected);
    }
    let value = |digits: &str| digits.parse::<u64>().map_err(|_| expected);
    let unit = 10_u64.pow(fraction.len() as u32);
    let hundredths = value(whole)? * 100 + (value(fraction)? * 100 + unit / 2) / unit;
    match hundredths {
        0..=PERCENT_SCALE => {
            Ok(((hundredths * CAPACITY_SCALE + PERCENT_SCALE / 2) / PERCENT_SCALE) as u16)
        }
        _ => Err(expected),
    }
}

/// `update_cpumask`; an empty set is none.
pub(super) fn cpus(text: &str) -> Result<Option<CpuSet>, &'static str> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let cpus: CpuSet = text.trim().parse().map_err(|_| "CPUs such as `0-3,8`")?;
    Ok(Some(cpus).filter(|cpus| !cpus.is_empty()))
}

/// `sched_partition_write`.
pub(super) fn partition(text: &str) -> Result<Partition, &'static str> {
    match text {
        "member" => Ok(Partition::Member),
        "root" => Ok(Partition::Root),
        "isolated" => Ok(Partition::Isolated),
        _ => Err("`member`, `root` or `isolated`"),
    }
}
