//! Results of several boots of one computer as one: each boot ran other variants of the same experiment by its own kernel.
//!
//! A store of some of the variants keeps the whole experiment. What all boots measure and count is joined by name; what
//! only some of them have is left out, and the computer that has it says so.

mod same;

use crate::runs::{MetricInfo, Results, Run, VariantRuns, WorkloadResults};
use crate::{Computer, Engine, ResultsError};
use definition::file::WorkloadEntry;
use same::check_same;
use std::path::{Path, PathBuf};
use workload::Counter;

/// Results with the path of their store.
type Store<'a> = (Results, &'a Path);

/// `stores`, with all those by [`Engine::Host`] joined in the place of the first of them.
///
/// # Errors
/// As [`join`].
pub fn joined(stores: Vec<(Results, PathBuf)>) -> Result<Vec<(Results, PathBuf)>, ResultsError> {
    let is_host = |store: &(Results, PathBuf)| store.0.engine == Engine::Host;
    let Some(at) = stores.iter().position(is_host) else { return Ok(stores) };
    let (of_host, mut out): (Vec<_>, Vec<_>) = stores.into_iter().partition(is_host);
    let path = of_host[0].1.clone();
    let of_host: Vec<Store> = of_host.iter().map(|(r, path)| (r.clone(), path.as_path())).collect();
    out.insert(at, (join(&of_host)?, path));
    Ok(out)
}

/// The results of all `stores` as one, variants in the experiment's order.
///
/// # Errors
/// No store, another engine, different experiments (runs and seed may differ), a variant of which two stores have runs,
/// and a workload without a metric that all measure.
pub fn join(stores: &[Store]) -> Result<Results, ResultsError> {
    let Some(((first, first_path), others)) = stores.split_first() else {
        return Err(ResultsError::store(Path::new(""), "stores", "none", "one or more"));
    };
    if let Some((results, path)) = stores.iter().find(|s| s.0.engine != Engine::Host) {
        let found = results.engine.to_string();
        return Err(ResultsError::store(path, "engine", &found, &Engine::Host.to_string()));
    }
    if others.is_empty() {
        return Ok(first.clone());
    }
    for (results, path) in others {
        check_same((&results.experiment, path), (&first.experiment, first_path))?;
    }
    check_disjoint(stores)?;
    let counters = counters(stores);
    let workloads = first.experiment.workloads.iter();
    let workloads = workloads.map(|entry| workload(stores, entry, &counters));
    let workloads: Vec<Option<WorkloadResults>> = workloads.collect::<Result<_, _>>()?;
    let mut counted: Vec<String> = Vec::new();
    for kernel in stores.iter().flat_map(|s| &s.0.counted) {
        if !counted.contains(kernel) {
            counted.push(kernel.clone());
        }
    }
    let workloads: Vec<WorkloadResults> = workloads.into_iter().flatten().collect();
    Ok(Results {
        computers: computers(stores, &counters, &workloads),
        counted,
        counters,
        workloads,
        ..first.clone()
    })
}

/// Variants of which a store has runs.
fn ran(results: &Results) -> impl Iterator<Item = &str> {
    results.workloads.iter().flat_map(|w| &w.variants).map(|v| v.name.as_str())
}

fn check_disjoint(stores: &[Store]) -> Result<(), ResultsError> {
    for (at, (results, path)) in stores.iter().enumerate() {
        for variant in ran(results) {
            let twin = stores[..at].iter().find(|(other, _)| ran(other).any(|v| v == variant));
            if let Some((_, other)) = twin {
                let found = format!("runs, of which {} has some as well", other.display());
                let place = format!("variant `{variant}`");
                let expected = "each variant in one of the stores that are joined";
                return Err(ResultsError::store(path, &place, &found, expected));
            }
        }
    }
    Ok(())
}

/// The counters that all stores have, in the order of the first. One whose whole is not among them is part of no other.
fn counters(stores: &[Store]) -> Vec<Counter> {
    let has = |results: &Results, c: &Counter| {
        results.counters.iter().any(|other| (&other.name, &other.unit) == (&c.name, &c.unit))
    };
    let Some((first, _)) = stores.first() else { return vec![] };
    let is_kept = |c: &&Counter| stores.iter().all(|(results, _)| has(results, c));
    let mut kept: Vec<Counter> = first.counters.iter().filter(is_kept).cloned().collect();
    let names: Vec<String> = kept.iter().map(|c| c.name.clone()).collect();
    for counter in &mut kept {
        counter.part_of = counter.part_of.take().filter(|whole| names.contains(whole));
    }
    kept
}

/// One workload of all stores that ran it; none where no store did.
fn workload(
    stores: &[Store],
    entry: &WorkloadEntry,
    counters: &[Counter],
) -> Result<Option<WorkloadResults>, ResultsError> {
    let of = stores.iter().map(|(results, path)| (results.workload(&entry.name), *path));
    let all: Vec<(&WorkloadResults, &Path)> = of.filter_map(|(w, path)| Some((w?, path))).collect();
    let Some((first, _)) = all.first() else { return Ok(None) };
    let in_all = |m: &&MetricInfo| all.iter().all(|(w, _)| w.metrics.contains(m));
    let metrics: Vec<MetricInfo> = first.metrics.iter().filter(in_all).cloned().collect();
    if let Some((last, path)) = all.last().filter(|_| metrics.is_empty()) {
        let names = |w: &WorkloadResults| {
            w.metrics.iter().map(|m| format!("{} in {}", m.name, m.unit)).collect::<Vec<_>>()
        };
        let (found, expected) = (names(last).join(", "), names(first).join(", "));
        let place = format!("workload `{}`: metrics", entry.name);
        return Err(ResultsError::store(path, &place, &found, &expected));
    }
    let variant = |name: &String| {
        let (results, _) = stores.iter().find(|(r, _)| ran(r).any(|v| v == name))?;
        let workload = results.workload(&entry.name)?;
        let runs = &workload.variant(name)?.runs;
        let runs = runs.iter().map(|run| only(run, (results, workload), &metrics, counters));
        Some(VariantRuns { name: name.clone(), runs: runs.collect() })
    };
    let variants = stores[0].0.experiment.variants.iter().map(|v| &v.name);
    Ok(Some(WorkloadResults {
        variants: variants.filter_map(variant).collect(),
        metrics,
        ..(*first).clone()
    }))
}

/// Of a run only `metrics` and `counters`.
fn only(
    run: &Run,
    (results, workload): (&Results, &WorkloadResults),
    metrics: &[MetricInfo],
    counters: &[Counter],
) -> Run {
    let of_metrics = || metrics.iter().filter_map(|m| workload.metric(&m.name));
    let of_counters = counters.iter().filter_map(|c| results.counter(&c.name));
    Run {
        metrics: of_metrics().filter_map(|m| run.metrics.get(m).copied()).collect(),
        single_times: of_metrics().filter_map(|m| run.single_times.get(m).cloned()).collect(),
        counters: of_counters.filter_map(|c| run.counters.get(c).copied()).collect(),
        ..run.clone()
    }
}

/// The computers of all stores in the order of their variants, each with what joining them did to its results.
fn computers(
    stores: &[Store],
    counters: &[Counter],
    workloads: &[WorkloadResults],
) -> Vec<Computer> {
    let mut all = Vec::new();
    for (results, _) in stores {
        let mut own = results.computers.clone();
        let notes = notes(results, &stores[0].0, counters, workloads);
        match own.last_mut() {
            Some(last) => last.warnings.extend(notes),
            None => {
                own.push(Computer { variants: distinct(results), facts: vec![], warnings: notes })
            }
        }
        all.extend(own);
    }
    let variants = &stores[0].0.experiment.variants;
    let place = |c: &Computer| {
        let first =
            c.variants.first().and_then(|name| variants.iter().position(|v| v.name == *name));
        first.unwrap_or(variants.len())
    };
    all.sort_by_key(place);
    all
}

/// Variants of which a store has runs, each once.
fn distinct(results: &Results) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in ran(results) {
        if names.iter().all(|n| n != name) {
            names.push(name.to_string());
        }
    }
    names
}

/// In which way a store is not like the first, and what of it is left out.
fn notes(
    results: &Results,
    first: &Results,
    counters: &[Counter],
    workloads: &[WorkloadResults],
) -> Vec<String> {
    let (own, file) = (&results.experiment, &first.experiment);
    let others = distinct(first).join(", ");
    let mut notes = Vec::new();
    if own.seed() != file.seed() {
        notes.push(format!("its seed is {}, that of {others} is {}", own.seed(), file.seed()));
    }
    for (one, other) in own.workloads.iter().zip(&file.workloads).filter(|(a, b)| a.runs != b.runs)
    {
        let (name, runs, theirs) = (&one.name, one.runs, other.runs);
        notes.push(format!(
            "workload `{name}` has {runs} runs a variant here, {theirs} under {others}"
        ));
    }
    let is_left_out = |c: &&Counter| counters.iter().all(|kept| kept.name != c.name);
    let mut left_out: Vec<String> =
        results.counters.iter().filter(is_left_out).map(|c| c.name.clone()).collect();
    for kept in workloads {
        let metrics = results.workload(&kept.name).into_iter().flat_map(|w| &w.metrics);
        let metrics = metrics.filter(|m| !kept.metrics.contains(m));
        left_out.extend(metrics.map(|m| format!("{} of {}", m.name, kept.name)));
    }
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        notes.push(format!(
            "other boots do not have these metrics and counters, which are left out: {names}"
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
