//! Parser of schbench's percentiles, interval by interval.

use super::Log;
use crate::Series;
use crate::error::MmtestsError;
use crate::layout::{Label, Metric};

/// The percentiles that MMTests uses.
const PERCENTILES: [&str; 5] = ["20.0th", "50.0th", "90.0th", "99.0th", "99.9th"];

/// Percentiles of wake-up latency, request latency and requests per second. Each interval ends with its `current rps` line.
/// What follows the last one summarises the whole run and is not a sample.
pub(super) fn series(log: &Log, workers: u64) -> Result<Vec<Series>, MmtestsError> {
    let mut all: Vec<Series> = Vec::new();
    let mut interval: Vec<(Metric, Label, f64)> = Vec::new();
    let mut metric = None;
    for (line, text) in log.lines() {
        if text.contains("current rps") {
            for (metric, label, value) in interval.drain(..) {
                match all.iter_mut().find(|s| s.metric == metric && s.label == label) {
                    Some(series) => series.samples.push(value),
                    None => all.push(Series { metric, label, samples: vec![value] }),
                }
            }
        } else if text.contains("percentile") {
            metric = Some(section(log, line, text)?);
        } else if let Some((percentile, value)) = percentile(text) {
            let expected = "a percentile below a line `Wakeup Latencies percentiles ...`";
            let metric = metric.ok_or_else(|| log.refused(line, text, expected))?;
            let value = log.number(line, value, "a percentile's value")?;
            let label = Label { count: Some(workers), percentile: Some(percentile.to_string()) };
            interval.push((metric, label, value));
        }
    }
    Ok(all)
}

fn section(log: &Log, line: usize, text: &str) -> Result<Metric, MmtestsError> {
    match text.split_whitespace().next() {
        Some("Wakeup") => Ok(Metric::Wakeup),
        Some("Request") => Ok(Metric::Request),
        Some("RPS") => Ok(Metric::Rps),
        _ => Err(log.refused(line, text, "percentiles of Wakeup, Request or RPS")),
    }
}

/// Parses `  50.0th: 12 (345 samples)` or `* 99.0th: 12 (345 samples)`, if it is one of the percentiles used.
fn percentile(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.trim_start().trim_start_matches("* ").split_once(':')?;
    let value = rest.split_whitespace().next().unwrap_or(rest);
    PERCENTILES.contains(&name).then_some((name, value))
}
