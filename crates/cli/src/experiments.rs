//! `schedscape run`, `compare` and `validate`.

use crate::Failure;
use crate::args::{CompareArgs, EngineName, RunArgs, ValidateArgs};
use crate::guests;
use crate::guests::cache;
use crate::mmtests;
use crate::output::{print, print_json};
use crate::progress::bar;
use crate::sources::libraries;
use definition::{ExperimentFile, Plan};
use experiment::journal::Identity;
use experiment::{Journal, Progress, SourceEngine};
use report::text::heading;
use report::{Layout, constants, json, setup, text, validation};
use results::analysis::resampling;
use results::validate::Cell;
use results::{Analysis, Engine, Results, sides, store, study};
use std::path::Path;
use std::sync::PoisonError;
use tree::Library;

/// Runs a plan, or what `journal` lacks of it, with progress on a terminal's stderr, and tells what the kernels of sources
/// warned of.
fn simulate(
    plan: &Plan,
    threads: usize,
    libraries: Vec<Option<Library>>,
    journal: Option<&Journal>,
) -> Result<Results, Failure> {
    let files = libraries.into_iter().map(|l| Some(l?.file)).collect();
    let engine = SourceEngine::new(files, std::env::current_exe()?, &["replica", "--runs"]);
    let bar = bar("{msg} {wide_bar} {pos}/{len} runs, {eta} left")?;
    let results = experiment::run_from(plan, &engine, threads, journal, &|progress| {
        bar.set_length(progress.runs_in_all as u64);
        bar.set_message(message(&plan.file.name, progress));
        bar.set_position(progress.runs as u64);
    });
    bar.finish_and_clear();
    let warnings = engine.warnings.into_inner().unwrap_or_else(PoisonError::into_inner);
    for ((variant, place), (times, calls)) in warnings {
        let times = if times == 1 { "once".to_string() } else { format!("{times} times") };
        anstream::eprint!("warning: variant `{variant}`: WARN at {place}, {times}\n{calls}");
    }
    Ok(results?)
}

fn message(name: &str, progress: Progress) -> String {
    let resumed = match progress.resumed {
        0 => String::new(),
        runs => format!(", {runs} runs resumed"),
    };
    format!("{name}: {} of {} cells{resumed}", progress.cells, progress.cells_in_all)
}

/// The experiment on each of its machines, with what the command line changes of it.
fn asked(args: &RunArgs) -> Result<Vec<ExperimentFile>, Failure> {
    let files = ExperimentFile::load_each(&args.experiment)?;
    files.into_iter().map(|file| changed(file, args)).collect()
}

fn changed(mut file: ExperimentFile, args: &RunArgs) -> Result<ExperimentFile, Failure> {
    if args.seed.is_some() {
        file.seed = args.seed;
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
    let files = asked(args)?;
    let path = args.experiment.display().to_string();
    let plans: Vec<Plan> =
        files.into_iter().map(|file| Plan::new(file, &path)).collect::<Result<_, _>>()?;
    if let [_, _, ..] = &plans[..]
        && (args.json || args.layout.layout() == Layout::Csv)
    {
        let found = format!("{} machines", plans.len());
        return Err(format!("{path}: machine: found {found}, expected one with data").into());
    }
    let several = plans.len() > 1;
    for plan in plans {
        // Each machine has a store of its own.
        let out = args.out.as_ref().map(|dir| match several {
            true => dir.join(&plan.file.machine),
            false => dir.clone(),
        });
        run_plan(&RunArgs { out, ..args.clone() }, plan)?;
    }
    Ok(())
}

fn run_plan(args: &RunArgs, plan: Plan) -> Result<(), Failure> {
    match args.engine {
        EngineName::Sim => {
            args.guest.refuse_for_sim(args.boots.map(|_| "--boots"))?;
            let libraries = libraries(&plan, &cache(&args.guest.cache)?)?;
            let run = |journal: Option<&Journal>| {
                simulate(&plan, args.threads, libraries.clone(), journal)
            };
            let keys: Vec<String> = libraries.iter().flatten().map(|l| l.key.clone()).collect();
            run_by(args, &plan, Engine::Sim, &keys, &run)
        }
        EngineName::Vm => {
            let (bench, options) = guests::bench(plan, &args.guest, args.boots.unwrap_or(1))?;
            let run = |journal: Option<&Journal>| guests::run_bench(&bench, &options, journal);
            run_by(args, &bench.plan, options.engine(), &[], &run)
        }
    }
}

/// The journal of the runs by `engine` that are to be stored in `dir`; `libraries` are the keys of what sources became.
fn journal(
    args: &RunArgs,
    plan: &Plan,
    engine: Engine,
    libraries: &[String],
    dir: &Path,
) -> Result<Journal, Failure> {
    store::check_new(dir)?;
    let mut program = std::fs::read(std::env::current_exe()?)?;
    // Another library is another program.
    libraries.iter().for_each(|key| program.extend(key.as_bytes()));
    Ok(Journal::open(dir, &Identity::of(plan, engine, &args.guest.append, &program)?)?)
}

/// Runs `plan` by an engine, stores what was asked for and shows it.
fn run_by(
    args: &RunArgs,
    plan: &Plan,
    engine: Engine,
    libraries: &[String],
    run: &dyn Fn(Option<&Journal>) -> Result<Results, Failure>,
) -> Result<(), Failure> {
    let journal =
        args.out.as_deref().map(|dir| journal(args, plan, engine, libraries, dir)).transpose()?;
    let layout = args.layout.layout();
    let is_data = args.json || layout == Layout::Csv;
    let before = if is_data { String::new() } else { setup::setup(plan)? };
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
    let analysis = Analysis::of(&results, resampling()?)?;
    if args.json {
        return print_json(&json::run(plan, &analysis)?);
    }
    print(&(before + &text::results(&analysis, layout, args.counters)?))
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
    let analysis = Analysis::of(&results, resampling()?)?;
    if args.json {
        return print_json(&json::results(&analysis));
    }
    print(&text::results(&analysis, args.layout.layout(), args.counters)?)
}

/// Two stores of one experiment side by side.
fn engines(one: &Path, other: &Path, args: &CompareArgs) -> Result<(), Failure> {
    if args.layout.layout() != Layout::Whole {
        return Err("--style and --csv: found two directories, expected one".into());
    }
    let (a, b) = (store::read(one)?, store::read(other)?);
    let resampling = resampling()?;
    let (a, b) = (Analysis::of(&a, resampling)?, Analysis::of(&b, resampling)?);
    let compared = sides::compare((&a, one), (&b, other))?;
    if args.json {
        return print_json(&compared);
    }
    print(&report::sides::sides(&compared, args.counters))
}

pub fn validate(args: &ValidateArgs) -> Result<(), Failure> {
    let names: Vec<&str> = match &args.study {
        Some(name) => vec![name.as_str()],
        None => study::names(),
    };
    let mut all: Vec<Cell> = Vec::new();
    let mut text = String::new();
    for name in names {
        let (source, path) = study::experiment(name)?;
        let plan = Plan::new(ExperimentFile::parse(source, &path)?, &path)?;
        let results = simulate(&plan, args.threads, vec![], None)?;
        let published = Analysis::of(&results, resampling()?)?.published;
        let published = published.ok_or_else(|| format!("{path}: study: found none"))?;
        text.push_str(&heading(&format!("{name}: {}", published.study.title)));
        text.push_str(&validation::validation(&published));
        text.push_str(&constants::by_mark(&plan.machine.name, &plan.machine.constants));
        all.extend(published.validation.cells);
    }
    if args.json { print_json(&all) } else { print(&text) }
}
