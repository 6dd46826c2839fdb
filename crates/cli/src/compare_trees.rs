//! `schedscape compare-trees`: whether a tree is worse than another by one metric, as `git bisect run` wants to be told.

use crate::Failure;
use crate::args::CompareTreesArgs;
use crate::experiments::simulate;
use crate::guests::cache;
use crate::output::print;
use crate::sources::library;
use crate::timelines::{chosen, on_machine};
use definition::file::VariantEntry;
use definition::{ExperimentFile, Plan, SourceEntry};
use experiment::ExperimentError;
use results::analysis::{MetricAnalysis, resampling};
use results::{Analysis, Results};
use stats::Verdict;
use std::path::Path;
use std::process::ExitCode;
use vm::Cache;

/// Exit codes: worse; a commit that cannot be judged; a question that cannot be asked.
const BAD: u8 = 1;
const SKIP: u8 = 125;
pub const WRONG: u8 = 128;

/// Names of both variants, the baseline first.
const NAMES: [&str; 2] = ["base", "tree"];

/// Why there is no verdict.
enum Stop {
    /// The tree does not build or run.
    Skip(Failure),
    /// Anything else.
    Wrong(Failure),
}

impl<E: Into<Failure>> From<E> for Stop {
    fn from(failure: E) -> Stop {
        Stop::Wrong(failure.into())
    }
}

pub fn compare_trees(args: &CompareTreesArgs) -> ExitCode {
    let (failure, kind, code) = match judged(args) {
        Ok(true) => return ExitCode::from(BAD),
        Ok(false) => return ExitCode::SUCCESS,
        Err(Stop::Skip(failure)) => (failure, "skipped", SKIP),
        Err(Stop::Wrong(failure)) => (failure, "error", WRONG),
    };
    anstream::eprintln!("\x1b[1;31m{kind}\x1b[0m: {failure}");
    ExitCode::from(code)
}

/// Whether the tree is worse.
fn judged(args: &CompareTreesArgs) -> Result<bool, Stop> {
    let cache = cache(&args.cache)?;
    let mut file = on_machine(&args.experiment, args.machine.as_deref())?;
    let names: Vec<&str> = file.workloads.iter().map(|w| w.name.as_str()).collect();
    let workload = chosen("--workload", args.workload.as_deref(), &names)?.to_string();
    file.workloads.retain(|w| w.name == workload);
    file.workloads.iter_mut().for_each(|w| {
        w.variants = None;
        w.runs = args.runs.unwrap_or(w.runs);
    });
    file.seed = args.seed.or(file.seed);
    file.study = None;
    file.variants = variants(&file, args)?.into();
    let plan = Plan::new(file, &args.experiment.display().to_string())?;
    let libraries =
        [Some(built(&plan, &cache, 0)?), Some(built(&plan, &cache, 1).map_err(Stop::Skip)?)];
    let results = simulate(&plan, args.threads, &libraries, None, None).map_err(of_run)?;
    verdict(&results, &workload, args)
}

fn built(plan: &Plan, cache: &Cache, at: usize) -> Result<tree::Library, Failure> {
    let variant = &plan.file.variants[at];
    let source = variant.source.as_ref().ok_or("found no source, expected one")?;
    library(plan, cache, variant, source, &[])
}

/// A run that failed under the tree is the tree's; all else is not.
fn of_run(failure: Failure) -> Stop {
    match failure.downcast_ref::<ExperimentError>() {
        Some(ExperimentError::Run { variant, .. }) if variant == NAMES[1] => Stop::Skip(failure),
        _ => Stop::Wrong(failure),
    }
}

/// The experiment's first variant with a source, with both trees in place of its own.
fn variants(file: &ExperimentFile, args: &CompareTreesArgs) -> Result<[VariantEntry; 2], Stop> {
    let path = args.experiment.display();
    let sourced = file.variants.iter().find_map(|v| Some((v, v.source.clone()?)));
    let (like, own) = sourced
        .ok_or_else(|| format!("{path}: variant: found none with a source, expected one"))?;
    let of_tree = |dir: &Path, option: &str, commit: Option<String>| {
        let dir =
            std::fs::canonicalize(dir).map_err(|e| format!("{option}: {}: {e}", dir.display()))?;
        let tree = Some(dir.to_string_lossy().into_owned());
        let patch = Default::default();
        Ok::<_, Failure>(SourceEntry { kernel: None, tree, commit, patch, ..own.clone() })
    };
    let base = match (&args.base, &args.base_commit) {
        (None, None) => own.clone(),
        (Some(dir), commit) => of_tree(dir, "--base", commit.clone())?,
        (None, commit) => of_tree(&args.tree, "--tree", commit.clone())?,
    };
    let tree = of_tree(&args.tree, "--tree", None)?;
    let variant = |name: &str, source: SourceEntry| -> Result<VariantEntry, Failure> {
        let kernel = match (source.kernel, &source.tree) {
            (None, Some(_)) => {
                let root = source.root(definition::folder_of(&args.experiment));
                tree::release(&root.unwrap_or_default())?
            }
            _ => like.kernel,
        };
        let (name, title) = (name.to_string(), name.to_string());
        Ok(VariantEntry { name, title, kernel, source: Some(source), seed: None, ..like.clone() })
    };
    let base = variant(NAMES[0], base)?;
    Ok([base, variant(NAMES[1], tree).map_err(Stop::Skip)?])
}

/// Says how the trees compare, and whether that is bad.
fn verdict(results: &Results, workload: &str, args: &CompareTreesArgs) -> Result<bool, Stop> {
    let analysis = Analysis::of_partial(results, resampling()?)?;
    let metrics = analysis.workload(workload).map_or(&[][..], |w| &w.metrics);
    let names: Vec<&str> = metrics.iter().map(|m| m.info.name.as_str()).collect();
    let name = chosen("--metric", args.metric.as_deref(), &names)?;
    let metric = metrics.iter().find(|m| m.info.name == name);
    let (bad, text) = metric.and_then(|m| of_metric(m, args.worse_by)).ok_or_else(|| {
        format!("workload `{workload}`: {name}: found samples without a percent change, expected some with")
    })?;
    print(&format!("{}: {workload}: {text}\n", if bad { "bad" } else { "good" }))?;
    Ok(bad)
}

fn of_metric(metric: &MetricAnalysis, worse_by: f64) -> Option<(bool, String)> {
    let [base, tree] = &metric.variants[..] else { return None };
    if base.samples == tree.samples {
        return Some((false, format!("{}: the same in every run", metric.info.name)));
    }
    let comparison = tree.comparison?;
    let (percent, is_worse) = (comparison.percent, comparison.verdict == Verdict::Worse);
    let how = if percent.estimate < 0.0 { "worse" } else { "better" };
    let text = format!(
        "{}: {:.2} % {how} (95 % interval {:+.2} .. {:+.2}, positive is better), {:.6} {unit} after {:.6} {unit}; {}; the bound is {worse_by} %",
        metric.info.name,
        percent.estimate.abs(),
        percent.low,
        percent.high,
        comparison.variant.mean,
        comparison.base.mean,
        if is_worse { "no chance" } else { "no proof that it is worse" },
        unit = metric.info.unit,
    );
    Some((is_worse && -percent.estimate > worse_by, text))
}
