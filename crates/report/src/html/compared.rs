//! What was compared: variants, workloads, constants; and what came out, in words.

use super::Source;
use crate::charts::colours;
use crate::words::in_words;
use definition::file::VariantEntry;
use results::analysis::{Finding, TableAnalysis};
use results::{MetricInfo, WorkloadResults};
use stats::table::OverviewCell;
use stats::{Better, Verdict};

/// A variant.
#[derive(Debug)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) colour: String,
    /// Kernel, mechanisms and whatever else it has of its own.
    pub(super) facts: Vec<String>,
}

/// A workload.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) runs: u32,
    pub(super) metrics: String,
    pub(super) ignored: String,
}

/// A constant of the machine.
#[derive(Debug)]
pub(super) struct Constant {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) unit: String,
    pub(super) mark: String,
    pub(super) source: String,
}

/// One thing that came out.
#[derive(Debug)]
pub(super) struct Outcome {
    /// `better`, `worse`, `none` or, where samples carry no comparison, `apart`.
    pub(super) class: &'static str,
    pub(super) what: String,
    pub(super) words: String,
}

impl Outcome {
    /// Whether a difference is claimed.
    pub(super) fn is_proven(&self) -> bool {
        matches!(self.class, "better" | "worse")
    }
}

/// `15 comparisons: 1 better, 1 worse, 13 not proven.`
pub(super) fn tally(outcomes: &[Outcome]) -> String {
    let count = |class: &str| outcomes.iter().filter(|o| o.class == class).count();
    let classes = [
        ("better", "better"),
        ("worse", "worse"),
        ("none", "not proven"),
        ("apart", "not compared"),
    ];
    let parts: Vec<String> = (classes.into_iter())
        .filter(|(class, _)| count(class) > 0)
        .map(|(class, name)| format!("{} {name}", count(class)))
        .collect();
    format!("{} comparisons: {}.", outcomes.len(), parts.join(", "))
}

pub(super) fn variants(source: &Source) -> Vec<Variant> {
    let all = source.analysis.results.experiment.variants.iter().enumerate();
    all.map(|(at, v)| Variant {
        name: v.name.clone(),
        title: v.title.clone(),
        colour: colours::hex(colours::variant(at)),
        facts: facts(v, source.analysis.results.experiment.groups_set(at)),
    })
    .collect()
}

/// All that a variant has of its own, and its control `groups`; a field that is new to the file has no way around this.
fn facts(v: &VariantEntry, groups: Vec<String>) -> Vec<String> {
    let VariantEntry {
        name: _,
        title: _,
        kernel,
        source,
        features,
        debug,
        sysctl,
        groups: _,
        mechanisms,
        hz,
        smt,
        numa_balancing,
        hotplug,
        frequency,
        prefetch,
        scheduler,
        guest: _,
        host,
        seed,
    } = v;
    let mut facts = vec![format!("kernel {kernel}")];
    facts.extend(mechanisms.iter().map(|(name, on)| format!("{name}={}", on_off(*on))));
    facts.extend(source.iter().flat_map(|source| source.set()));
    facts.extend(features.iter().map(|(name, on)| format!("{name}={}", on_off(*on))));
    facts.extend(groups);
    facts.extend(debug.iter().map(|(name, value)| format!("{name}={value}")));
    facts.extend(sysctl.iter().map(|(name, value)| format!("{name}={value}")));
    facts.extend(hz.map(|hz| format!("HZ {hz}")));
    facts.extend(numa_balancing.map(|on| format!("NUMA balancing {}", on_off(on))));
    facts.extend(frequency.iter().flat_map(|f| f.set()));
    facts.extend(prefetch.iter().flat_map(|p| p.set()));
    facts.extend(scheduler.iter().map(|scheduler| scheduler.set()));
    facts.extend(host.iter().flat_map(|host| host.set()));
    facts.extend(smt.map(|smt| format!("SMT {smt}")));
    facts.extend(seed.map(|seed| format!("seed {seed}")));
    if !hotplug.is_empty() {
        facts.push(format!("{} hotplug steps", hotplug.iter().flat_map(|h| h.steps()).count()));
    }
    if !v.command_line().is_empty() {
        facts.push(format!("command line: {}", v.command_line()));
    }
    facts
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

pub(super) fn workloads(source: &Source) -> Vec<Workload> {
    let of = |w: &WorkloadResults| {
        let entry = source.analysis.results.experiment.workload(&w.name);
        let metric = |m: &MetricInfo| match m.unit.as_str() {
            "" => m.name.clone(),
            unit => format!("{} ({unit})", m.name),
        };
        let ignored = w.ignored.iter().map(|i| format!("{} ({})", i.feature.name(), i.path));
        Workload {
            name: w.name.clone(),
            title: w.title.clone(),
            runs: entry.map_or(0, |e| e.runs),
            metrics: w.metrics.iter().map(metric).collect::<Vec<_>>().join(", "),
            ignored: ignored.collect::<Vec<_>>().join(", "),
        }
    };
    source.analysis.results.workloads.iter().map(of).collect()
}

pub(super) fn constants(source: &Source) -> Vec<Constant> {
    let all = source.analysis.results.constants.iter();
    all.map(|(name, c)| Constant {
        name: name.to_string(),
        value: c.value.to_string(),
        unit: c.unit.clone(),
        mark: c.mark.to_string(),
        source: c.source.clone(),
    })
    .collect()
}

/// A finding as the verdict of each variant.
pub(super) fn outcomes_of(finding: &Finding) -> Vec<Outcome> {
    let baseline = finding.sides.first().map_or("", |s| s.variant.as_str());
    let sides = finding.sides.iter().skip(1);
    sides
        .map(|side| Outcome {
            class: class(side.change.map(|c| c.verdict)),
            what: format!("{}, {} ({})", finding.workload, finding.metric, sense(finding)),
            words: in_words(side, baseline),
        })
        .collect()
}

fn sense(finding: &Finding) -> String {
    let sense = match finding.better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    };
    format!("{}, {sense}", finding.unit)
}

pub(super) fn class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Better) => "better",
        Some(Verdict::Worse) => "worse",
        Some(Verdict::NoDifference) => "none",
        None => "apart",
    }
}

/// Verdicts: of tables as wholes where there are tables, else of each workload and metric.
pub(super) fn outcomes(source: &Source) -> Vec<Outcome> {
    let Some(tables) = &source.analysis.tables else {
        return source.analysis.single_findings().iter().flat_map(outcomes_of).collect();
    };
    let mut out = Vec::new();
    for overview in tables.parts().map(|part| &part.overview) {
        let Some((baseline, variants)) = overview.columns.split_first() else { continue };
        for line in &overview.lines {
            for (variant, cell) in variants.iter().zip(&line.cells) {
                out.push(Outcome {
                    class: class(cell.map(|c| c.verdict)),
                    what: line.metric.clone(),
                    words: of_whole(
                        variant,
                        baseline,
                        *cell,
                        smallest(source, &line.metric, variant),
                    ),
                });
            }
        }
    }
    out
}

/// The range of the smallest detectable effects over a table's rows.
fn smallest(source: &Source, metric: &str, variant: &str) -> Option<(f64, f64)> {
    let mut tables = source.analysis.tables.iter().flat_map(|t| t.parts()).flat_map(|p| &p.tables);
    let TableAnalysis { samples, compared } = tables.find(|t| t.samples.metric == metric)?;
    let column = samples.columns.iter().position(|c| c == variant)?;
    let effects = compared.rows.iter().filter_map(|row| row.cells.get(column)?.change());
    effects.map(|c| c.smallest_detectable_percent).fold(None, |range: Option<(f64, f64)>, v| {
        Some(range.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
    })
}

fn of_whole(
    variant: &str,
    baseline: &str,
    cell: Option<OverviewCell>,
    smallest: Option<(f64, f64)>,
) -> String {
    let Some(cell) = cell else {
        return format!(
            "{variant} and {baseline} cannot be compared: a row is missing, or has one run only."
        );
    };
    let r = &cell.ratio;
    let (level, low, high) = (r.confidence.percent(), r.low, r.high);
    let ratio = format!("{:.3} ({level:.0} % interval {low:.3} to {high:.3})", r.estimate);
    let smallest = smallest.map_or(String::new(), |(low, high)| {
        let (low, high) = (format!("{low:.2}"), format!("{high:.2}"));
        let span = if low == high { low } else { format!("{low} to {high}") };
        format!(" Single rows could show effects of {span} % and more.")
    });
    match cell.verdict {
        Verdict::NoDifference => format!(
            "No difference proven between {variant} and {baseline} over all rows: ratio {ratio}.{smallest}"
        ),
        verdict => {
            format!(
                "{variant} is {verdict} than {baseline} over all rows: ratio {ratio}.{smallest}"
            )
        }
    }
}
