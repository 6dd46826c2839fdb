//! `schedscape host`, and `schedscape run --engine host`.

use crate::Failure;
use crate::args::{HostArgs, HostCommand, HostShowArgs, RunArgs};
use crate::experiments::{is_asked, known};
use crate::guests::{cache, stop_on_signals};
use crate::output::{print, print_json};
use crate::progress::bar;
use definition::Plan;
use definition::file::{SchedulerEntry, SchedulerKind, VariantEntry};
use experiment::Journal;
use experiment::host::{Bench, HostScheduler, Options, Told, Until};
use host::facts::Facts;
use host::noise::Sources;
use host::scheduler::Loader;
use host::{Computer, Counters};
use results::Results;
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use vm::sched_ext::digest_of;
use vm::{Workers, host_arch};
use workload::Benchmark;

/// Where this computer's files are.
const ROOT: &str = "/";
/// Where root's journal of changes is.
const ROOTS_STATE: &str = "/var/lib/schedscape";
const JOURNAL: &str = "host.journal";
/// Minutes that runs go on, if nobody says.
const BUDGET_MIN: f64 = 60.0;
const REST_S: f64 = 0.2;
const RUN_LIMIT_S: f64 = 3600.0;

/// The journal of changes: root's, or this user's below `$XDG_STATE_HOME`.
fn journal() -> Result<PathBuf, Failure> {
    if host::process::is_root() {
        return Ok(Path::new(ROOTS_STATE).join(JOURNAL));
    }
    let of = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let state = of("XDG_STATE_HOME").or_else(|| Some(of("HOME")?.join(".local/state")));
    match state {
        Some(state) => Ok(state.join("schedscape").join(JOURNAL)),
        None => {
            Err("found neither $XDG_STATE_HOME nor $HOME, expected a directory for the journal"
                .into())
        }
    }
}

pub fn run(command: &HostCommand) -> Result<(), Failure> {
    match command {
        HostCommand::Show(args) => show(args),
        HostCommand::Restore => restore(),
    }
}

/// What `host show` says.
#[derive(Debug, Serialize)]
struct Shown {
    facts: Vec<(String, String)>,
    warnings: Vec<host::facts::Warning>,
    not_counted: Vec<String>,
}

fn show(args: &HostShowArgs) -> Result<(), Failure> {
    let root = Path::new(ROOT);
    let facts = Facts::read(root)?;
    let mut not_counted = Sources::find(root).not_here();
    not_counted.extend(Counters::find().missing);
    let shown = Shown { facts: facts.values(), warnings: facts.warnings(root, None), not_counted };
    if args.json {
        return print_json(&shown);
    }
    let width = shown.facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in &shown.facts {
        text.push_str(&format!("{name:width$}  {value}\n"));
    }
    for warning in &shown.warnings {
        text.push_str(&format!("warning: {}\n", warning.text));
    }
    for line in &shown.not_counted {
        text.push_str(&format!("not counted: {line}\n"));
    }
    print(&text)
}

fn restore() -> Result<(), Failure> {
    let mut computer = Computer::left(Path::new(ROOT), &journal()?)?;
    let changes = computer.changes();
    computer.undo_from(0)?;
    match changes {
        0 => print("Nothing to put back.\n"),
        1 => print("Put back 1 change.\n"),
        n => print(&format!("Put back {n} changes.\n")),
    }
}

/// What of `plan` this computer can run, and how.
pub fn bench(plan: Plan, args: &RunArgs) -> Result<(Bench, Options), Failure> {
    let HostArgs { only, until, budget_min, trial, wakeups, rest_s, run_limit_s } =
        args.host.clone();
    let names: Vec<&str> = plan.file.variants.iter().map(|v| v.name.as_str()).collect();
    known("--only", &only, &names)?;
    let seconds =
        |given: Option<f64>, default: f64| Duration::from_secs_f64(given.unwrap_or(default));
    let budget = Duration::from_secs_f64(60.0 * budget_min.unwrap_or(BUDGET_MIN));
    let options = Options {
        root: ROOT.into(),
        journal: journal()?,
        workers: workers(&plan, args)?,
        schedulers: schedulers(&plan, args)?,
        only,
        until: until.map(|percent| Until { percent, budget }),
        trial_runs: trial,
        wakeups,
        rest: seconds(rest_s, REST_S),
        limit: seconds(run_limit_s, RUN_LIMIT_S),
    };
    let bench = Bench::of(plan, &options)?;
    bench.notes.iter().for_each(|note| anstream::eprintln!("host: {note}"));
    bench.warnings.iter().for_each(|warning| anstream::eprintln!("warning: {warning}"));
    Ok((bench, options))
}

/// Our programs, where a benchmark needs them.
fn workers(plan: &Plan, args: &RunArgs) -> Result<Option<Workers>, Failure> {
    let needs = |b: &Benchmark| {
        matches!(
            b,
            Benchmark::Ebizzy(_)
                | Benchmark::FalseSharing(_)
                | Benchmark::Stream(_)
                | Benchmark::Schbench(_)
                | Benchmark::Netperf(_)
                | Benchmark::Service(_)
                | Benchmark::Oltp(_)
                | Benchmark::Parallel(_)
                | Benchmark::Copies(_)
                | Benchmark::Pipeline(_)
                | Benchmark::Build(_)
                | Benchmark::Noisy(_)
        )
    };
    match plan.file.workloads.iter().flat_map(|w| w.benchmarks()).any(needs) {
        true => Ok(Some(cache(&args.guest.cache)?.workers(host_arch()?)?)),
        false => Ok(None),
    }
}

/// By variant: its scheduler, built or found for this computer.
fn schedulers(plan: &Plan, args: &RunArgs) -> Result<Vec<Option<HostScheduler>>, Failure> {
    let of = |variant: &VariantEntry| {
        let wanted = is_asked(&args.host.only, &variant.name);
        let Some(entry) = variant.scheduler.as_ref().filter(|_| wanted) else { return Ok(None) };
        scheduler(plan, args, entry).map(Some).map_err(|e| {
            format!("{}: variant `{}`: scheduler: {e}", plan.path, variant.name).into()
        })
    };
    plan.file.variants.iter().map(of).collect()
}

fn scheduler(
    plan: &Plan,
    args: &RunArgs,
    entry: &SchedulerEntry,
) -> Result<HostScheduler, Failure> {
    let name_of = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = |file: PathBuf, version: String| {
        let options = entry.options.iter().map(OsString::from);
        let words = std::iter::once(file.clone().into_os_string()).chain(options).collect();
        HostScheduler { name: name_of(&file), version, loader: Loader::Program(words) }
    };
    match entry.kind(plan.folder()) {
        Some(SchedulerKind::Program(file)) => {
            let version = digest_of(&file)?;
            Ok(program(std::path::absolute(file)?, version))
        }
        Some(SchedulerKind::Object(file)) => Ok(HostScheduler {
            name: name_of(&file),
            version: digest_of(&file)?,
            loader: Loader::Object(std::path::absolute(file)?),
        }),
        Some(SchedulerKind::Crate(name)) => {
            let bar = bar("{spinner} {msg}, {elapsed}")?;
            let say = |step: &str| bar.set_message(format!("{name}: {step}"));
            let cache = cache(&args.guest.cache)?;
            let built = cache.scheduler(&name, entry.version.as_deref(), host_arch()?, &say);
            bar.finish_and_clear();
            let built = built?;
            Ok(program(built.program, built.version))
        }
        None => Err(format!("found `{}`, expected a crate or a path", entry.program).into()),
    }
}

/// Runs what `journal` lacks, with progress on a terminal's stderr.
pub fn run_bench(
    bench: &Bench,
    options: &Options,
    journal: Option<&Journal>,
) -> Result<Results, Failure> {
    let bar = bar("{msg} {wide_bar} {pos}/{len} runs, {elapsed}")?;
    let stop = stop_on_signals()?;
    let results = bench.run(options, journal, &stop, &mut |told| match told {
        Told::Trying(done, of) => {
            bar.set_message("baseline against itself");
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        }
        Told::Trial(trial) => bar.suspend(|| anstream::eprintln!("trial: {}", trial.words())),
        Told::Progress(progress) => {
            bar.set_message(bench.plan.file.name.clone());
            bar.set_length(progress.runs_in_all as u64);
            bar.set_position(progress.runs as u64);
        }
    });
    bar.finish_and_clear();
    Ok(results?)
}
