//! What `--json` prints.

use crate::Failure;
use crate::tables::StudyDocument;
use experiment::results::{Ignored, VariantRuns, WorkloadResults};
use experiment::validate::Cell;
use experiment::{Plan, Results};
use machine::Machine;
use serde::Serialize;
use stats::{Better, Comparison, Resampling, Summary};
use std::collections::BTreeMap;

/// `schedscape run --json`.
#[derive(Serialize)]
pub struct RunDocument<'a> {
    machine: &'a Machine,
    domains: Vec<DomainsDocument>,
    #[serde(flatten)]
    results: ResultsDocument<'a>,
}

/// The domains of one variant in one SMT mode, as log lines.
#[derive(Serialize)]
struct DomainsDocument {
    variant: String,
    kernel: String,
    smt: u32,
    log: Vec<String>,
}

/// `schedscape compare --json`.
#[derive(Serialize)]
pub struct ResultsDocument<'a> {
    experiment: &'a str,
    engine: &'a str,
    seed: u64,
    workloads: Vec<WorkloadDocument<'a>>,
    /// What an experiment that lists a parameter's values shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<StudyDocument<'a>>,
    validation: &'a [Cell],
}

#[derive(Serialize)]
struct WorkloadDocument<'a> {
    name: &'a str,
    /// What was left out of its rt-app file.
    ignored: &'a [Ignored],
    metrics: Vec<MetricDocument<'a>>,
    /// By variant and name: the mean over the variant's runs.
    counters: BTreeMap<&'a str, BTreeMap<&'a str, f64>>,
}

#[derive(Serialize)]
struct MetricDocument<'a> {
    name: &'a str,
    unit: &'a str,
    better: Better,
    variants: Vec<VariantDocument<'a>>,
}

#[derive(Serialize)]
struct VariantDocument<'a> {
    name: &'a str,
    summary: Option<Summary>,
    /// Against the first variant; absent for the first itself.
    comparison: Option<Comparison>,
    samples: Vec<f64>,
}

pub fn run<'a>(
    plan: &'a Plan,
    results: &'a Results,
    tables: Option<StudyDocument<'a>>,
    cells: &'a [Cell],
    resampling: &Resampling,
) -> Result<RunDocument<'a>, Failure> {
    let mut domains = Vec::new();
    for (v, variant) in plan.file.variants.iter().enumerate() {
        for &smt in &plan.file.smt_modes {
            let built = kernel::build(&plan.machine.with_smt(smt)?, &plan.kernels[v])?;
            let log = kernel::log::log(&built, variant.kernel);
            domains.push(DomainsDocument {
                variant: variant.name.clone(),
                kernel: variant.kernel.to_string(),
                smt,
                log: log.lines().map(String::from).collect(),
            });
        }
    }
    let results = self::results(results, tables, cells, resampling);
    Ok(RunDocument { machine: &plan.machine, domains, results })
}

fn counters<'a>(w: &WorkloadResults, variant: &'a VariantRuns) -> BTreeMap<&'a str, f64> {
    let names = variant.runs.first().into_iter().flat_map(|run| &run.counters);
    names
        .filter_map(|(name, _)| Some((name.as_str(), w.mean_counter(&variant.name, name)?)))
        .collect()
}

pub fn results<'a>(
    results: &'a Results,
    tables: Option<StudyDocument<'a>>,
    cells: &'a [Cell],
    resampling: &Resampling,
) -> ResultsDocument<'a> {
    let workloads = results.workloads.iter().map(|w| WorkloadDocument {
        name: &w.name,
        ignored: &w.ignored,
        metrics: w
            .metrics
            .iter()
            .enumerate()
            .map(|(m, info)| {
                let base = w.variants.first().map(|v| w.samples(&v.name, m));
                let variants = w.variants.iter().enumerate().map(|(i, v)| {
                    let samples = w.samples(&v.name, m);
                    let comparison = base
                        .as_ref()
                        .filter(|_| i > 0)
                        .and_then(|b| stats::compare(b, &samples, info.better, resampling));
                    let summary = Summary::of(&samples);
                    VariantDocument { name: &v.name, summary, comparison, samples }
                });
                MetricDocument {
                    name: &info.name,
                    unit: &info.unit,
                    better: info.better,
                    variants: variants.collect(),
                }
            })
            .collect(),
        counters: w.variants.iter().map(|v| (v.name.as_str(), counters(w, v))).collect(),
    });
    ResultsDocument {
        experiment: &results.experiment.name,
        engine: &results.engine,
        seed: results.experiment.seed,
        workloads: workloads.collect(),
        tables,
        validation: cells,
    }
}
