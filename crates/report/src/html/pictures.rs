//! From results to what charts draw.

use super::Source;
use crate::charts::intervals::{Line, intervals};
use crate::charts::latencies::{Waits, latencies};
use crate::charts::rows::{Ratio, Series, rows};
use crate::charts::shares::{Bar, shares};
use crate::charts::spread::{Spread, spread};
use crate::charts::{Picture, colours};
use crate::error::ReportError;
use crate::number::signed;
use crate::words::in_words;
use machine::distance::Distance;
use results::analysis::{Finding, Published, TableAnalysis};
use results::validate::Cell;
use results::{VariantRuns, WorkloadResults, counters};
use stats::Verdict;

/// Most lines of a picture of changes; the others go into further pictures.
const LINES: usize = 90;
/// Changes of more percent than this have a picture of their own, on whose scale the others would be one spot.
const LARGE: f64 = 200.0;

/// Draws what belongs to a source.
pub(super) struct Pictures<'a> {
    pub(super) source: &'a Source<'a>,
}

/// A file name of names: what is not plain becomes `-`.
pub(super) fn file_name(parts: &[&str]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = parts.join("-").chars().map(plain).collect();
    name.trim_start_matches('.').to_string()
}

fn picture(name: String, title: &str, svg: Option<String>) -> Option<Picture> {
    svg.map(|svg| Picture { name, title: title.to_string(), svg, is_titled: false })
}

impl Pictures<'_> {
    /// A variant's place, which gives its colour.
    pub(super) fn place(&self, variant: &str) -> usize {
        let variants = &self.source.analysis.results.experiment.variants;
        variants.iter().position(|v| v.name == variant).unwrap_or(variants.len())
    }

    /// Every change of `findings` with its interval; large ones apart.
    pub(super) fn changes(
        &self,
        name: &str,
        findings: &[Finding],
    ) -> Result<Vec<Picture>, ReportError> {
        let mut lines = Vec::new();
        for finding in findings {
            let baseline = finding.sides.first().map_or("", |s| s.variant.as_str());
            for side in &finding.sides {
                let Some(change) = side.change else { continue };
                let what = match finding.workload == *name {
                    true => &finding.metric,
                    false => &finding.workload,
                };
                lines.push(Line {
                    label: format!("{what}: {}", side.variant),
                    colour: colours::variant(self.place(&side.variant)),
                    estimate: change.percent.estimate,
                    ends: (change.percent.low, change.percent.high),
                    smallest: Some(change.smallest_detectable_percent),
                    proven: change.verdict != Verdict::NoDifference,
                    published: None,
                    tip: format!(
                        "{}, {}: {}",
                        finding.workload,
                        finding.metric,
                        in_words(side, baseline)
                    ),
                });
            }
        }
        let is_large = |l: &Line| l.ends.0.abs().max(l.ends.1.abs()) > LARGE;
        let (large, usual): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(is_large);
        let what = "change in percent, positive is better";
        let mut out = Vec::new();
        for (kind, lines) in [("change", usual), ("large-change", large)] {
            let title = format!("{name}: {} from the baseline", kind.replace('-', " "));
            for part in lines.chunks(LINES) {
                let svg = intervals(&title, what, part)?;
                out.extend(picture(file_name(&[kind, name]), &title, svg));
            }
        }
        Ok(out)
    }

    /// Single runs of a quantity.
    pub(super) fn spread(&self, finding: &Finding) -> Result<Option<Picture>, ReportError> {
        let of: Vec<Spread> = (finding.sides.iter())
            .map(|side| Spread {
                name: side.variant.clone(),
                variant: self.place(&side.variant),
                samples: side.samples.clone(),
            })
            .collect();
        let title = match finding.workload.starts_with(&finding.metric) {
            true => format!("{}: single runs", finding.workload),
            false => format!("{}, {}: single runs", finding.workload, finding.metric),
        };
        let svg = spread(&title, &finding.unit, &of)?;
        Ok(picture(file_name(&["runs", &finding.workload, &finding.metric]), &title, svg))
    }

    /// The rows of a table.
    pub(super) fn ratios(
        &self,
        TableAnalysis { samples: table, compared }: &TableAnalysis,
    ) -> Result<Option<Picture>, ReportError> {
        let labels: Vec<String> = compared.rows.iter().map(|r| r.label.clone()).collect();
        let ratio = |row: &stats::table::ComparedRow, column: usize| {
            let change = row.cells.get(column)?.change()?;
            let r = change.ratio;
            Some(Ratio { estimate: r.estimate, ends: (r.low, r.high) })
        };
        let of: Vec<Series> = (table.columns.iter().enumerate().skip(1))
            .map(|(column, name)| Series {
                name: name.clone(),
                variant: self.place(name),
                ratios: compared.rows.iter().map(|row| ratio(row, column)).collect(),
            })
            .collect();
        let title = format!("{}: ratio to the baseline", table.metric);
        let varying = if table.varying.is_empty() { "row" } else { &table.varying };
        let svg = rows(&title, varying, &labels, &of)?;
        Ok(picture(file_name(&["ratio", &table.metric]), &title, svg))
    }

    /// Where woken tasks landed.
    pub(super) fn distances(
        &self,
        name: &str,
        workloads: &[&WorkloadResults],
    ) -> Result<Option<Picture>, ReportError> {
        let results = self.source.analysis.results;
        let names = Distance::ALL.map(|d| d.name().replace('_', " "));
        let mut bars: Vec<Bar> = Vec::new();
        for w in workloads {
            for v in &w.variants {
                let label = match workloads.len() {
                    1 => v.name.clone(),
                    _ => format!("{}: {}", w.name, v.name),
                };
                let counts = counters::wakeups_by_distance(results, v).unwrap_or_default();
                let parts = counts.into_iter().filter(|(_, count)| *count > 0.0);
                bars.push((label, parts.map(|(d, n)| (names[d as usize].clone(), n)).collect()));
            }
        }
        in_order(&mut bars, &names);
        let title = format!("{name}: where woken tasks landed, by distance from the waking CPU");
        let what = "Share of wake-ups in percent, from the waking CPU itself to the furthest.";
        Ok(picture(file_name(&["wakeups", name]), &title, shares(&title, what, &bars)?))
    }

    /// How many threads shared a pipeline while it ran.
    pub(super) fn pipelines(&self, w: &WorkloadResults) -> Result<Option<Picture>, ReportError> {
        let part = |(k, ns): (usize, f64)| {
            let name = if k == 1 { "alone".to_string() } else { format!("{k} threads") };
            (ns > 0.0).then_some((name, ns))
        };
        let bar = |v: &VariantRuns| {
            let times = counters::run_ns_by_busy(self.source.analysis.results, v);
            (v.name.clone(), times.into_iter().filter_map(part).collect())
        };
        let bars: Vec<Bar> = w.variants.iter().map(bar).collect();
        let title = format!("{}: running time by busy threads on the pipeline", w.name);
        let what = "Share of running time in percent.";
        Ok(picture(file_name(&["pipelines", &w.name]), &title, shares(&title, what, &bars)?))
    }

    /// How long woken tasks waited.
    pub(super) fn waits(&self, w: &WorkloadResults) -> Result<Option<Picture>, ReportError> {
        let of: Vec<Waits> = (w.variants.iter())
            .map(|v| Waits {
                name: v.name.clone(),
                variant: self.place(&v.name),
                bins: counters::wakeups_by_wait(self.source.analysis.results, v),
            })
            .collect();
        let title = format!("{}: how long woken tasks waited", w.name);
        Ok(picture(file_name(&["waits", &w.name]), &title, latencies(&title, &of)?))
    }

    /// Published beside predicted changes, a picture a table.
    pub(super) fn published(
        &self,
        Published { study, validation }: &Published,
    ) -> Result<Vec<Picture>, ReportError> {
        let mut out = Vec::new();
        for table in &study.tables {
            let cells = validation.cells.iter().filter(|c| c.table == table.name);
            let lines: Vec<Line> = cells.map(|c| self.published_line(c)).collect();
            let title = format!("{}: published beside predicted", table.name);
            let what = "change in percent, positive is better";
            for part in lines.chunks(LINES) {
                let svg = intervals(&title, what, part)?;
                out.extend(picture(file_name(&["published", &table.name]), &title, svg));
            }
        }
        Ok(out)
    }

    fn published_line(&self, c: &Cell) -> Line {
        let mark = if c.calibrated { " (fitted)" } else { "" };
        Line {
            label: format!("{}: {}{mark}", c.row, c.column),
            colour: colours::variant(self.place(&c.column)),
            estimate: c.predicted_percent,
            ends: (c.predicted_low, c.predicted_high),
            smallest: None,
            proven: !c.calibrated,
            published: Some(c.published_percent),
            tip: format!(
                "{}, {}, {}: published {} %, predicted {} % [{}, {}], error {} points{mark}",
                c.table,
                c.row,
                c.column,
                signed(c.published_percent, 2),
                signed(c.predicted_percent, 2),
                signed(c.predicted_low, 2),
                signed(c.predicted_high, 2),
                signed(c.error(), 2)
            ),
        }
    }
}

/// Puts a part of 0 for every distance that any bar has before the first bar's own, so that the key has them in order.
fn in_order(bars: &mut [Bar], names: &[String]) {
    let has = |name: &String, bars: &[Bar]| bars.iter().any(|b| b.1.iter().any(|p| p.0 == *name));
    let seen: Vec<String> = names.iter().filter(|n| has(n, bars)).cloned().collect();
    if let Some((_, parts)) = bars.first_mut() {
        let value = |n: &String| parts.iter().find(|p| p.0 == *n).map_or(0.0, |p| p.1);
        *parts = seen.iter().map(|n| (n.clone(), value(n))).collect();
    }
}
