//! One workload's results: histograms and the ministat table.

use crate::histogram::{Column, side_by_side, study_form};
use crate::ministat::ministat;
use definition::file::WorkloadEntry;
use results::analysis::WorkloadAnalysis;
use results::study::{PublishedHistogram, Study};
use results::{Ignored, WorkloadResults};
use stats::Histogram;

/// What was left out, histogram where the experiment asks for one, published counts beside it where there are some, and
/// ministat's table of every metric.
pub fn workload(
    results: &WorkloadResults,
    analysis: &WorkloadAnalysis,
    entry: Option<&WorkloadEntry>,
    study: Option<&Study>,
) -> String {
    let mut out = ignored(results);
    for metric in &analysis.metrics {
        let info = &metric.info;
        let samples: Vec<(&str, &[f64])> =
            metric.variants.iter().map(|v| (v.name.as_str(), v.samples.as_slice())).collect();
        if let Some(bins) = entry.and_then(|e| e.histogram) {
            let published = published_histogram(study, &results.name, &info.name);
            let histograms: Vec<(&str, Histogram)> = samples
                .iter()
                .filter_map(|(name, s)| {
                    Some((*name, Histogram::of(s, bins.low, bins.width, bins.bins).ok()?))
                })
                .collect();
            out.push_str(&histogram_text(&info.unit, &histograms, published));
            out.push('\n');
        }
        let has_parts = entry.is_some_and(|e| e.alone().is_none());
        if analysis.metrics.len() > 1 || has_parts {
            out.push_str(&format!("{}\n", info.name));
        }
        let comparisons: Vec<_> = metric.variants.iter().skip(1).map(|v| v.comparison).collect();
        out.push_str(&ministat(&samples, &info.unit, info.better, &comparisons));
    }
    out
}

/// A line for each thing that was left out of the workload.
pub fn ignored(results: &WorkloadResults) -> String {
    let line = |i: &Ignored| format!("left out: {} ({})\n", i.feature.name(), i.path);
    results.ignored.iter().map(line).collect()
}

fn published_histogram<'a>(
    study: Option<&'a Study>,
    workload: &str,
    metric: &str,
) -> Option<&'a PublishedHistogram> {
    let table = study?.tables.iter().find(|t| t.workload == workload && t.metric == metric)?;
    table.histogram.as_ref()
}

/// The baseline beside each other variant; alone where it is the only one.
fn histogram_text(
    unit: &str,
    histograms: &[(&str, Histogram)],
    published: Option<&PublishedHistogram>,
) -> String {
    let counts = |name: &str| published.and_then(|p| p.counts.get(name)).map(Vec::as_slice);
    let Some((first, others)) = histograms.split_first() else { return String::new() };
    if others.is_empty() {
        return format!("{}\n{}", first.0, study_form(unit, &first.1));
    }
    others
        .iter()
        .map(|other| {
            let left = Column { name: first.0, histogram: &first.1, published: counts(first.0) };
            let right = Column { name: other.0, histogram: &other.1, published: counts(other.0) };
            side_by_side(unit, &left, &right)
        })
        .collect::<Vec<_>>()
        .join("\n")
}
