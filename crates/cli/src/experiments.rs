//! `schedscape run`, `compare` and `validate`.

use crate::Failure;
use crate::args::{CompareArgs, EngineName, RunArgs, ValidateArgs};
use crate::domains::study_form;
use crate::guests;
use crate::json;
use crate::mmtests;
use crate::output::{heading, print, print_json};
use crate::progress::bar;
use crate::styles::{self, Layout};
use crate::tables;
use experiment::guests::measured_in_guests;
use experiment::journal::Identity;
use experiment::study::Study;
use experiment::validate::{Cell, Validation};
use experiment::{
    Engine, ExperimentFile, Journal, Plan, Progress, Results, SimEngine, Tables, store, study,
};
use report::{constants, counters, machine_tree, results, validation};
use stats::{Confidence, Resampling};
use std::path::Path;

/// Resamples behind every bootstrap interval.
const RESAMPLES: u32 = 10_000;

pub fn resampling() -> Result<Resampling, Failure> {
    Ok(Resampling::new(RESAMPLES, 1, Confidence::P95)?)
}

/// Runs a plan, or what `journal` lacks of it, with progress on a terminal's stderr.
fn simulate(plan: &Plan, threads: usize, journal: Option<&Journal>) -> Result<Results, Failure> {
    let bar = bar("{msg} {wide_bar} {pos}/{len} runs, {eta} left")?;
    let results = plan.run_from(&SimEngine, threads, journal, &|progress| {
        bar.set_length(progress.runs_in_all as u64);
        bar.set_message(message(&plan.file.name, progress));
        bar.set_position(progress.runs as u64);
    });
    bar.finish_and_clear();
    Ok(results?)
}

fn message(name: &str, progress: Progress) -> String {
    let resumed = match progress.resumed {
        0 => String::new(),
        runs => format!(", {runs} runs resumed"),
    };
    format!("{name}: {} of {} cells{resumed}", progress.cells, progress.cells_in_all)
}

/// The journal of the runs by `engine` that are to be stored in `dir`.
fn journal(plan: &Plan, engine: &str, dir: &Path) -> Result<Journal, Failure> {
    store::check_new(dir)?;
    let program = std::fs::read(std::env::current_exe()?)?;
    Ok(Journal::open(dir, &Identity::of(plan, engine, &program)?)?)
}

/// The experiment with what the command line changes of it.
fn asked(args: &RunArgs) -> Result<ExperimentFile, Failure> {
    let mut file = ExperimentFile::load(&args.experiment)?;
    if let Some(seed) = args.seed {
        file.seed = seed;
    }
    let names: Vec<String> = file.workloads.iter().map(|w| w.name.clone()).collect();
    if let Some(unknown) = args.workloads.iter().find(|w| !names.contains(w)) {
        let expected = names.join(", ");
        return Err(format!("--workload: found `{unknown}`, expected one of {expected}").into());
    }
    if !args.workloads.is_empty() {
        file.workloads.retain(|w| args.workloads.contains(&w.name));
    }
    if let Some(runs) = args.runs {
        file.workloads.iter_mut().for_each(|w| w.runs = runs);
    }
    Ok(file)
}

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let plan = Plan::new(asked(args)?, &args.experiment.display().to_string())?;
    match args.engine {
        EngineName::Sim => {
            args.guest.refuse_for_sim(args.boots.map(|_| "--boots"))?;
            run_by(args, &plan, SimEngine.name(), &|journal| simulate(&plan, args.threads, journal))
        }
        EngineName::Vm => {
            let (bench, options) = guests::bench(plan, &args.guest, args.boots.unwrap_or(1))?;
            let run = |journal: Option<&Journal>| guests::run_bench(&bench, &options, journal);
            run_by(args, &bench.plan, &options.identity(), &run)
        }
    }
}

/// Runs `plan` by an engine, stores what was asked for and shows it.
fn run_by(
    args: &RunArgs,
    plan: &Plan,
    engine: &str,
    run: &dyn Fn(Option<&Journal>) -> Result<Results, Failure>,
) -> Result<(), Failure> {
    let journal = args.out.as_deref().map(|dir| journal(plan, engine, dir)).transpose()?;
    let layout = styles::asked(&args.layout);
    let is_data = args.json || matches!(layout, Some(Layout::Csv));
    let before = if is_data { String::new() } else { machine_and_domains(plan)? };
    let results = match (run(journal.as_ref()), &journal) {
        (Err(failure), Some(_)) => {
            journal.map(Journal::remove_if_empty).transpose()?;
            return Err(failure);
        }
        (results, _) => results?,
    };
    if let Some((dir, journal)) = args.out.as_deref().zip(journal) {
        store::write(&results, dir)?;
        journal.remove()?;
    }
    if args.json {
        let (tables, cells) = (Tables::of(&results), cells_of(&results)?);
        let tables = tables.as_ref().map(tables::study).transpose()?;
        return print_json(&json::run(plan, &results, tables, &cells, &resampling()?)?);
    }
    print(&(before + &shown(&results, layout.as_ref(), args.counters)?))
}

pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let dir = match (&args.mmtests, &args.names[..]) {
        (Some(log), runs) => return mmtests::compare(log, runs, args),
        (None, [dir]) => dir,
        (None, [one, other]) => return engines(one, other, args),
        (None, several) => {
            let found = several.len();
            let expected =
                "one directory of `run --out`, two, or --mmtests LOG before MMTests' runs";
            return Err(format!("compare: found {found} names, expected {expected}").into());
        }
    };
    let results = store::read(dir)?;
    if args.json {
        let (tables, cells) = (Tables::of(&results), cells_of(&results)?);
        let tables = tables.as_ref().map(tables::study).transpose()?;
        return print_json(&json::results(&results, tables, &cells, &resampling()?));
    }
    print(&shown(&results, styles::asked(&args.layout).as_ref(), args.counters)?)
}

/// Two stores of one experiment side by side.
fn engines(one: &Path, other: &Path, args: &CompareArgs) -> Result<(), Failure> {
    if styles::asked(&args.layout).is_some() {
        return Err("--style and --csv: found two directories, expected one".into());
    }
    let (a, b) = (store::read(one)?, store::read(other)?);
    let compared = experiment::engines::compare((&a, one), (&b, other), &resampling()?)?;
    if args.json {
        return print_json(&compared);
    }
    print(&report::engines::engines(&compared))
}

pub fn validate(args: &ValidateArgs) -> Result<(), Failure> {
    let names: Vec<&str> = match &args.study {
        Some(name) => vec![name.as_str()],
        None => study::names(),
    };
    let mut all: Vec<Cell> = Vec::new();
    let mut text = String::new();
    for name in names {
        let study = study::load(name)?;
        let (source, path) = study::experiment(name)?;
        let plan = Plan::new(ExperimentFile::parse(source, &path)?, &path)?;
        let results = simulate(&plan, args.threads, None)?;
        let validation = predicted(&study, &results)?;
        text.push_str(&heading(&format!("{name}: {}", study.title)));
        text.push_str(&validation::validation(&study, &validation));
        text.push_str(&constants::by_mark(&plan.machine.name, &plan.machine.constants));
        all.extend(validation.cells);
    }
    if args.json { print_json(&all) } else { print(&text) }
}

/// The study that the experiment names, if it does. Times of guests are not those of a machine, so no figure that was
/// published for one goes beside them.
pub fn study_of(results: &Results) -> Result<Option<Study>, Failure> {
    if measured_in_guests(&results.engine) {
        return Ok(None);
    }
    Ok(results.experiment.study.as_deref().map(study::load).transpose()?)
}

/// Published beside predicted.
pub fn predicted(study: &Study, results: &Results) -> Result<Validation, Failure> {
    Ok(experiment::validate::validate(study, results, &resampling()?))
}

/// The cells of the study that the experiment names; none without one.
fn cells_of(results: &Results) -> Result<Vec<Cell>, Failure> {
    match study_of(results)? {
        None => Ok(vec![]),
        Some(study) => Ok(predicted(&study, results)?.cells),
    }
}

fn machine_and_domains(plan: &Plan) -> Result<String, Failure> {
    let mut out = heading(&plan.file.title);
    out.push_str(&format!("\n{}\n", machine_tree::machine_tree(&plan.machine)));
    for (v, variant) in plan.file.variants.iter().enumerate() {
        for &smt in &plan.file.smt_modes {
            let machine = plan.machine.with_smt(smt)?;
            let built = kernel::build(&machine, &plan.kernels[v])?;
            let title = format!("{} (ppc64_cpu --smt={smt})", variant.title);
            out.push_str(&study_form(&machine, &built, &title));
            out.push('\n');
        }
    }
    for &version in &plan.file.log_kernels {
        let built = kernel::build(&plan.machine, &kernel::Kernel::new(version))?;
        out.push_str(&heading(&format!("kernel {version}, as it logs its domains")));
        out.push_str(&kernel::log::log(&built, version));
        out.push('\n');
    }
    Ok(out)
}

/// Stored runs in the layout asked for, with what was counted where that was asked for.
fn shown(
    results: &Results,
    layout: Option<&Layout>,
    with_counters: bool,
) -> Result<String, Failure> {
    let Some(layout) = layout else { return tables(results, with_counters) };
    let mut out = styles::results(results, layout)?;
    for workload in results.workloads.iter().filter(|_| with_counters) {
        out.push_str(&heading(&workload.title));
        out.push_str(&counters::counters(workload));
        out.push('\n');
    }
    Ok(out)
}

/// Everything that follows from stored runs.
fn tables(results: &Results, with_counters: bool) -> Result<String, Failure> {
    let study = study_of(results)?;
    let mut out = String::new();
    let rows = Tables::of(results);
    if let Some(rows) = &rows {
        out.push_str(&tables::study(rows)?.text());
    }
    for workload in &results.workloads {
        let entry = results.experiment.workloads.iter().find(|w| w.name == workload.name);
        // In tables of rows a workload has only what these do not show.
        let own = rows.is_none() || entry.is_some_and(|e| e.histogram.is_some());
        if own || with_counters || !workload.ignored.is_empty() {
            out.push_str(&heading(&workload.title));
        }
        if own {
            out.push_str(&results::workload(workload, entry, study.as_ref(), &resampling()?));
            out.push('\n');
        } else {
            out.push_str(&results::ignored(workload));
        }
        if with_counters {
            out.push_str(&counters::counters(workload));
            out.push('\n');
        }
    }
    if let Some(study) = &study {
        out.push_str(&heading("Published beside predicted"));
        out.push_str(&validation::validation(study, &predicted(study, results)?));
        out.push_str(&constants::by_mark(&results.experiment.machine, &results.constants));
    } else if results.constants.iter().any(|(_, c)| c.mark == machine::Mark::Overridden) {
        out.push_str(&constants::by_mark(&results.experiment.machine, &results.constants));
    }
    Ok(out)
}
