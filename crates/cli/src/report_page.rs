//! `schedscape report`.

use crate::args::ReportArgs;
use crate::guests::cache;
use crate::output::{print, write_whole};
use crate::{Failure, sources};
use definition::{ExperimentFile, Plan};
use experiment::{heat, watched};
use report::html::{Heats, Report, Source};
use results::analysis::resampling;
use results::heat::Heat;
use results::store::{self, Stored};
use results::{Analysis, Engine, Results, join, reproduce, sides};
use std::path::PathBuf;

pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    let Read { stores, schedscape, damage } = read(args)?;
    let analyses = stores.iter().map(|(results, _)| match damage {
        None => Analysis::of(results, resampling()?),
        Some(_) => Analysis::of_partial(results, resampling()?),
    });
    let analyses: Vec<Analysis> = analyses.collect::<Result<_, _>>()?;
    let Some((analysis, others)) = analyses.split_first() else { return Ok(()) };
    let results = analysis.results;
    let plan =
        Plan::new(results.experiment.clone(), &args.base.join("experiment").display().to_string());
    let plan = plan.map_err(|e| e.to_string());
    let paths = stores.iter().map(|(_, path)| path.as_path());
    let sides = match others {
        [] => None,
        _ => Some(sides::compare(&analyses.iter().zip(paths).collect::<Vec<_>>())?),
    };
    let reproduction = reproduce::of_results(results)?;
    let source = Source {
        analysis,
        schedscape: &schedscape,
        damage,
        beside: sides.as_ref(),
        heat: heats(args, results, plan.as_ref().ok())?,
        plan: plan.as_ref().map_err(Clone::clone),
        reproduction: &reproduction,
    };
    let report = Report::new(&source)?;
    let html = report.html()?;
    let mut told = format!("{} ({} KiB)\n", args.output.display(), html.len().div_ceil(1024));
    if let Some(dir) = &args.svg {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let pictures = report.pictures();
        for picture in &pictures {
            write_whole(&dir.join(format!("{}.svg", picture.name)), &picture.svg)?;
        }
        told.push_str(&format!("{} ({} pictures)\n", dir.display(), pictures.len()));
    }
    write_whole(&args.output, &html)?;
    print(&told)
}

/// What a report is made of.
struct Read {
    /// Results by engine, with the paths that errors name.
    stores: Vec<(Results, PathBuf)>,
    /// The versions of schedscape that ran the first of them.
    schedscape: String,
    /// What is wrong with any of them.
    damage: Option<String>,
}

/// Reads all stores, whole unless less is enough.
fn read(args: &ReportArgs) -> Result<Read, Failure> {
    let mut stores: Vec<(Results, PathBuf)> = Vec::new();
    let (mut versions, mut damages): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for dir in args.dirs.iter().chain(&args.beside) {
        let Stored { results, schedscape, damage } = store::read_partly(dir)?;
        if let Some(damage) = damage {
            if !args.partial {
                return Err(format!("{damage}; `report --partial` shows what is left").into());
            }
            damages.push(damage.to_string());
        }
        let of_host = |results: &Results| results.engine == Engine::Host;
        let is_first = stores.first().is_none_or(|(r, _)| of_host(r) && of_host(&results));
        if is_first && !versions.contains(&schedscape) {
            versions.push(schedscape);
        }
        stores.push((results, dir.clone()));
    }
    let damage = (!damages.is_empty()).then(|| damages.join("; "));
    Ok(Read { stores: join::joined(stores)?, schedscape: versions.join(" and "), damage })
}

/// The first run of a workload under each of its variants.
fn heats(args: &ReportArgs, results: &Results, plan: Option<&Plan>) -> Result<Heats, Failure> {
    let file = &results.experiment;
    let names: Vec<&str> = file.workloads.iter().map(|w| w.name.as_str()).collect();
    let chosen = match &args.workload {
        Some(name) => Some(names.iter().position(|n| n == name).ok_or_else(|| {
            format!("--workload: found `{name}`, expected one of {}", names.join(", "))
        })?),
        None => default_workload(file),
    };
    let none = |why: &str| Ok(Heats::None(why.to_string()));
    if !results.engine.is_simulated() {
        return none("what real kernels do is not watched CPU by CPU");
    }
    if args.no_heat_map {
        return none("it was left out (--no-heat-map)");
    }
    let (Some(plan), Some(workload)) = (plan, chosen) else {
        return none("the experiment cannot be simulated again here");
    };
    let mut changed = Vec::new();
    let mut variants = Vec::new();
    for v in file.variants_of(workload) {
        let name = file.variants[v].name.clone();
        let heat = one_heat(args, plan, workload, v).map_err(|e| e.to_string());
        let stored = results.workloads.get(workload).and_then(|w| {
            w.variants.iter().find(|of| of.name == name)?.runs.first().map(|run| &run.metrics)
        });
        if let (Ok(heat), Some(stored)) = (&heat, stored)
            && heat.metrics.iter().zip(stored).any(|(a, b)| a != b)
        {
            changed.push(name.clone());
        }
        variants.push((name, heat));
    }
    Ok(Heats::Of { workload: file.workloads[workload].title.clone(), variants, changed })
}

/// Run 0 of a workload under a variant, by its source where it has one.
fn one_heat(
    args: &ReportArgs,
    plan: &Plan,
    workload: usize,
    variant: usize,
) -> Result<Heat, Failure> {
    let entry = &plan.file.variants[variant];
    let Some(source) = &entry.source else { return Ok(heat(plan, workload, variant, 0)?) };
    let library = sources::library(plan, &cache(&args.cache)?, entry, source, &[])?;
    Ok(watched(plan, (workload, variant), 0, &library, &sources::replica()?)?)
}

/// The first workload that has variants to compare, else the first; of a table's rows the middle one, as the first says least.
fn default_workload(file: &ExperimentFile) -> Option<usize> {
    let all = 0..file.workloads.len();
    let first = all.clone().find(|&w| file.variants_of(w).len() > 1).or(all.clone().next())?;
    let Some(row) = &file.workloads[first].row else { return Some(first) };
    let of_table = |w: &usize| file.workloads[*w].row.as_ref().is_some_and(|r| r.of == row.of);
    let rows: Vec<usize> = all.filter(of_table).collect();
    rows.get(rows.len() / 2).copied()
}
