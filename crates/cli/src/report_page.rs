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
use results::{Analysis, Results, reproduce, sides};

pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    let stored = stored(args)?;
    let results = &stored.results;
    let plan =
        Plan::new(results.experiment.clone(), &args.base.join("experiment").display().to_string());
    let plan = plan.map_err(|e| e.to_string());
    let analysis = match stored.damage {
        None => Analysis::of(results, resampling()?)?,
        Some(_) => Analysis::of_partial(results, resampling()?)?,
    };
    let other = args.beside.as_deref().map(store::read).transpose()?;
    let other = other.as_ref().map(|results| Analysis::of(results, resampling()?)).transpose()?;
    let sides = other.as_ref().zip(args.beside.as_deref());
    let sides = sides.map(|other| sides::compare((&analysis, args.dir.as_path()), other));
    let sides = sides.transpose()?;
    let reproduction = reproduce::reproduce(&results.experiment, results.engine)?;
    let source = Source {
        analysis: &analysis,
        schedscape: &stored.schedscape,
        damage: stored.damage.as_ref().map(ToString::to_string),
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

/// The store, whole unless less is enough.
fn stored(args: &ReportArgs) -> Result<Stored, Failure> {
    let stored = store::read_partly(&args.dir)?;
    match &stored.damage {
        Some(damage) if !args.partial => {
            Err(format!("{damage}; `report --partial` shows what is left").into())
        }
        _ => Ok(stored),
    }
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
