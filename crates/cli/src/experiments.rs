//! `schedscape run`, `compare` and `validate`.

use crate::Failure;
use crate::args::{CompareArgs, EngineName, RunArgs, SensitivityName};
use crate::coverage::Counting;
use crate::guests;
use crate::guests::cache;
use crate::mmtests;
use crate::output::{print, print_json};
use crate::progress::bar;
use crate::sources::{self, libraries};
use crate::this_computer;
use definition::{ExperimentFile, Plan};
use experiment::journal::Identity;
use experiment::{ExperimentError, Further, Journal, Progress, SourceEngine, When};
use report::{Layout, json, setup, text};
use results::analysis::resampling;
use results::robust::Robustness;
use results::sensitivity::Sensitivity;
use results::{Analysis, Engine, Results, ResultsError, join, sides, store};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use tree::Library;

/// Runs a plan, or what `journal` lacks of it, with progress on a terminal's stderr, and tells what the kernels of sources
/// warned of. Libraries that count what is executed write that below `counts`.
pub fn simulate(
    plan: &Plan,
    threads: usize,
    libraries: &[Option<Library>],
    counts: Option<&Path>,
    journal: Option<&Journal>,
) -> Result<Results, Failure> {
    let mut engine = source_engine(libraries)?;
    engine.coverage = counts.map(Path::to_owned);
    let results = run_all(plan, &engine, threads, journal)?;
    let warnings = engine.warnings.into_inner().unwrap_or_else(PoisonError::into_inner);
    for ((variant, what), (times, calls)) in warnings {
        let times = if times == 1 { "once".to_string() } else { format!("{times} times") };
        anstream::eprint!("warning: variant `{variant}`: {what}, {times}\n{calls}");
    }
    Ok(results)
}

/// The engine of a plan's variants, whose replicas are this program.
pub fn source_engine(libraries: &[Option<Library>]) -> Result<SourceEngine, Failure> {
    Ok(SourceEngine::new(libraries.to_vec(), sources::replica()?))
}

/// All runs of a plan, with progress on a terminal's stderr.
pub fn run_all(
    plan: &Plan,
    engine: &SourceEngine,
    threads: usize,
    journal: Option<&Journal>,
) -> Result<Results, Failure> {
    let bar = bar("{msg} {wide_bar} {pos}/{len} runs, {eta} left")?;
    let results = experiment::run_from(plan, engine, threads, journal, &|progress| {
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

/// The experiment on each of its machines, with what the command line changes of it.
fn asked(args: &RunArgs) -> Result<Vec<ExperimentFile>, Failure> {
    let files = ExperimentFile::load_each(&args.experiment)?;
    let path = args.experiment.display().to_string();
    for file in files.iter().filter(|f| f.has_groups()) {
        experiment::check_groups(&Plan::new(file.clone(), &path)?)?;
    }
    files.into_iter().map(|file| changed(file, args)).collect()
}

fn changed(mut file: ExperimentFile, args: &RunArgs) -> Result<ExperimentFile, Failure> {
    if args.seed.is_some() {
        file.seed = args.seed;
    }
    sources::sanitize(&mut file, &args.sanitize, args.coverage.is_some())?;
    narrowed(file, &args.workloads, args.runs)
}

/// Of an experiment only these workloads, unless there are none, and so many runs of each.
pub fn narrowed(
    mut file: ExperimentFile,
    workloads: &[String],
    runs: Option<u32>,
) -> Result<ExperimentFile, Failure> {
    let names: Vec<&str> = file.workloads.iter().map(|w| w.name.as_str()).collect();
    known("--workload", workloads, &names)?;
    file.workloads.retain(|w| is_asked(workloads, &w.name));
    if let Some(runs) = runs {
        file.workloads.iter_mut().for_each(|w| w.runs = runs);
    }
    Ok(file)
}

/// The experiment in `path` on each of its machines, or only on those that are `asked`.
pub fn on_machines(path: &Path, asked: &[String]) -> Result<Vec<ExperimentFile>, Failure> {
    let mut files = ExperimentFile::load_each(path)?;
    let machines: Vec<&str> = files.iter().map(|f| f.machine.as_str()).collect();
    known("--machine", asked, &machines)?;
    files.retain(|f| is_asked(asked, &f.machine));
    Ok(files)
}

/// Keeps all variants, or only those that are `asked`.
pub fn keep_variants(file: &mut ExperimentFile, asked: &[String]) -> Result<(), Failure> {
    let names: Vec<&str> = file.variants.iter().map(|v| v.name.as_str()).collect();
    known("--variant", asked, &names)?;
    file.variants.retain(|v| is_asked(asked, &v.name));
    Ok(())
}

/// Whether `name` is among the `asked` ones, or none were named.
pub fn is_asked(asked: &[String], name: &str) -> bool {
    asked.is_empty() || asked.iter().any(|a| a == name)
}

/// Refuses names that the experiment does not have.
pub fn known(option: &str, asked: &[String], names: &[&str]) -> Result<(), Failure> {
    match asked.iter().find(|a| !names.contains(&a.as_str())) {
        Some(unknown) => {
            let expected = names.join(", ");
            Err(format!("{option}: found `{unknown}`, expected one of {expected}").into())
        }
        None => Ok(()),
    }
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
        // Each machine has directories of its own.
        let of_machine = |dir: &PathBuf| match several {
            true => dir.join(&plan.file.machine),
            false => dir.clone(),
        };
        let out = args.out.as_ref().map(of_machine);
        let coverage = args.coverage.as_ref().map(of_machine);
        run_plan(&RunArgs { out, coverage, ..args.clone() }, plan)?;
    }
    Ok(())
}

fn run_plan(args: &RunArgs, plan: Plan) -> Result<(), Failure> {
    if !args.engine.contains(&EngineName::Vm) {
        args.guest.refuse_for_sim(args.boots.map(|_| "--boots"))?;
    }
    args.host.refuse_for_others(&args.engine)?;
    refuse_robust(args)?;
    match args.engine[..] {
        [engine] => by_engine(args, plan, engine).and_then(|ran| ran.show(args)),
        ref several => by_several(args, plan, several),
    }
}

/// Runs `plan` by each of `engines`, each stored in a directory of its own below `--out`, and sets them side by side.
fn by_several(args: &RunArgs, plan: Plan, engines: &[EngineName]) -> Result<(), Failure> {
    let is_twice = |(at, engine): (usize, &EngineName)| engines[..at].contains(engine);
    if engines.iter().enumerate().any(is_twice) {
        let found = engines.iter().map(|e| e.name()).collect::<Vec<_>>().join(",");
        return Err(format!("--engine: found {found}, expected each engine once").into());
    }
    args.layout.refuse_for_several(engines.len())?;
    let before = setup_of(args, &plan)?;
    let mut ran: Vec<Store> = Vec::new();
    for &engine in engines {
        let out = args.out.as_ref().map(|dir| dir.join(engine.name()));
        let by = by_engine(&RunArgs { out, ..args.clone() }, plan.clone(), engine)?;
        ran.push((by.results, PathBuf::from(engine.name())));
    }
    print(&before)?;
    show_sides(&ran, args.json, args.counters)
}

/// What stands before the results of `plan`; nothing where data are wanted.
fn setup_of(args: &RunArgs, plan: &Plan) -> Result<String, Failure> {
    match args.json || args.layout.layout() == Layout::Csv {
        true => Ok(String::new()),
        false => Ok(setup::setup(plan)?),
    }
}

/// An experiment as an engine ran it.
struct Ran {
    plan: Plan,
    before: String,
    results: Results,
}

impl Ran {
    fn show(self, args: &RunArgs) -> Result<(), Failure> {
        let analysis = Analysis::of(&self.results, resampling()?)?;
        if args.json {
            return print_json(&json::run(&self.plan, &analysis)?);
        }
        let shown = text::results(&analysis, args.layout.layout(), args.counters)?;
        print(&(self.before + &shown))
    }
}

fn by_engine(args: &RunArgs, plan: Plan, engine: EngineName) -> Result<Ran, Failure> {
    match engine {
        EngineName::Sim => {
            let cache = cache(&args.guest.cache)?;
            let counting = args.coverage.as_deref().map(Counting::new).transpose()?;
            let more = counting.as_ref().map(|_| tree::coverage::CONFIG);
            let libraries = libraries(&plan, &cache, more.as_slice())?;
            let run = |journal: Option<&Journal>| {
                let counts = counting.as_ref().map(Counting::counts);
                let results = simulate(&plan, args.threads, &libraries, counts, journal)?;
                counting.as_ref().map(|c| c.tell(&plan, &cache, &libraries)).transpose()?;
                Ok(results)
            };
            let keys: Vec<String> = libraries.iter().flatten().map(|l| l.key.clone()).collect();
            let before = setup_of(args, &plan)?;
            let results = run_by(args, &plan, Engine::Sim, &keys, &run)?;
            Ok(Ran { plan, before, results })
        }
        EngineName::Vm => {
            let (bench, options) = guests::bench(plan, &args.guest, args.boots.unwrap_or(1))?;
            let run = |journal: Option<&Journal>| guests::run_bench(&bench, &options, journal);
            // The directory of a kernel from a source is named by what it was built of.
            let own = options.own.iter().flatten().chain(&options.given);
            let kernels = own.map(|kernel| kernel.image.display().to_string());
            let schedulers = options.schedulers.iter().flatten();
            let keys = kernels.chain(schedulers.map(|s| format!("{} {}", s.name, s.version)));
            let keys: Vec<String> = keys.collect();
            let before = setup_of(args, &bench.plan)?;
            let results = run_by(args, &bench.plan, options.engine(), &keys, &run)?;
            Ok(Ran { plan: bench.plan, before, results })
        }
        EngineName::Host => {
            let (bench, options) = this_computer::bench(plan, args)?;
            let run =
                |journal: Option<&Journal>| this_computer::run_bench(&bench, &options, journal);
            let schedulers = options.schedulers.iter().flatten();
            let keys = schedulers.map(|s| format!("{} {}", s.name, s.version));
            let keys: Vec<String> = keys.chain([bench.boot()]).collect();
            let before = setup_of(args, &bench.plan)?;
            let results = run_by(args, &bench.plan, Engine::Host, &keys, &run)?;
            Ok(Ran { plan: bench.plan, before, results })
        }
    }
}

/// Runs with moved constants, where there are to be some: neither in guests, nor for layouts that do not show them.
fn sensitivity(
    args: &RunArgs,
    plan: &Plan,
    results: &Results,
    journal: Option<&Journal>,
) -> Result<Option<Sensitivity>, Failure> {
    let when = match args.sensitivity {
        SensitivityName::Cheap => When::Cheap,
        SensitivityName::Always => When::Always,
        SensitivityName::Never => return Ok(None),
    };
    if !results.engine.is_simulated() || !shows_constants(args) {
        return Ok(None);
    }
    let run = |progress: &(dyn Fn(usize, usize) + Sync)| {
        let further = Further { journal, progress, ..Further::new(args.threads) };
        experiment::sensitivity(plan, results, when, further)
    };
    with_bar(&format!("{}: constants moved", plan.file.name), run).map(Some)
}

/// Whether what is printed or stored has room for what moved constants say.
fn shows_constants(args: &RunArgs) -> bool {
    args.json || args.out.is_some() || args.layout.layout() == Layout::Whole
}

/// What `run` gives, with its progress on a terminal's stderr.
fn with_bar<T>(
    message: &str,
    run: impl FnOnce(&(dyn Fn(usize, usize) + Sync)) -> Result<T, ExperimentError>,
) -> Result<T, Failure> {
    let bar = bar("{msg} {wide_bar} {pos}/{len} runs, {eta} left")?;
    bar.set_message(message.to_string());
    let found = run(&|done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    Ok(found?)
}

/// Refuses `--robust` where nothing would come of it.
fn refuse_robust(args: &RunArgs) -> Result<(), Failure> {
    let found = match args.robust {
        true if !args.engine.contains(&EngineName::Sim) => "an engine whose constants are its own",
        true if !shows_constants(args) => "a style that does not show it, and nothing to store",
        _ => return Ok(()),
    };
    Err(format!(
        "--robust: found {found}, expected `--engine sim` with the whole text, --json or --out"
    )
    .into())
}

/// Runs over the ranges of constants, where they are asked for.
fn robustness(
    args: &RunArgs,
    plan: &Plan,
    results: &Results,
    journal: Option<&Journal>,
) -> Result<Option<Robustness>, Failure> {
    if !args.robust || !results.engine.is_simulated() {
        return Ok(None);
    }
    let run = |progress: &(dyn Fn(usize, usize) + Sync)| {
        let further = Further { journal, progress, ..Further::new(args.threads) };
        experiment::robustness(plan, results, further)
    };
    with_bar(&format!("{}: over ranges", plan.file.name), run).map(Some)
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

/// Runs `plan` by an engine and stores what was asked for.
fn run_by(
    args: &RunArgs,
    plan: &Plan,
    engine: Engine,
    libraries: &[String],
    run: &dyn Fn(Option<&Journal>) -> Result<Results, Failure>,
) -> Result<Results, Failure> {
    let journal =
        args.out.as_deref().map(|dir| journal(args, plan, engine, libraries, dir)).transpose()?;
    let run = || {
        let mut results = run(journal.as_ref())?;
        results.sensitivity = sensitivity(args, plan, &results, journal.as_ref())?;
        results.robustness = robustness(args, plan, &results, journal.as_ref())?;
        Ok(results)
    };
    let results = match (run(), &journal) {
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
    Ok(results)
}

pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    if let Some(log) = &args.mmtests {
        return mmtests::compare(log, &args.names, args);
    }
    let read = |dir: &PathBuf| Ok((store::read(dir)?, dir.clone()));
    let stores: Vec<Store> = args.names.iter().map(read).collect::<Result<_, ResultsError>>()?;
    let stores = join::joined(stores)?;
    let [(results, _)] = &stores[..] else {
        args.layout.refuse_for_several(stores.len())?;
        return show_sides(&stores, args.json, args.counters);
    };
    let analysis = Analysis::of(results, resampling()?)?;
    if args.json {
        return print_json(&json::results(&analysis));
    }
    print(&text::results(&analysis, args.layout.layout(), args.counters)?)
}

/// Results with the path that errors name.
type Store = (Results, PathBuf);

/// Results of one experiment by several engines, side by side.
fn show_sides(stores: &[Store], json: bool, with_counters: bool) -> Result<(), Failure> {
    let resampling = resampling()?;
    let analyses = stores.iter().map(|(results, _)| Analysis::of(results, resampling));
    let analyses: Vec<Analysis> = analyses.collect::<Result<_, _>>()?;
    let paths = stores.iter().map(|(_, path)| path.as_path());
    let compared = sides::compare(&analyses.iter().zip(paths).collect::<Vec<_>>())?;
    match json {
        true => print_json(&compared),
        false => print(&report::sides::sides(&compared, with_counters)),
    }
}
