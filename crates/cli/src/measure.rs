//! `schedscape measure`.

use crate::Failure;
use crate::args::{CostsArgs, LinesArgs, MeasureCommand, ShowCostsArgs};
use crate::guests::{cache, stop_on_signals, tell};
use crate::output::{print, print_json, write_whole};
use crate::progress::bar;
use definition::{ExperimentFile, Plan};
use experiment::guests::{Counting, Options};
use experiment::lines::Watched;
use machine::costs::{self, CostTable};
use report::table::table;
use results::lines::Compared;
use std::path::Path;
use std::process::ExitCode;
use vm::Accel;
use vm::Arch;
use vm::board::Board;
use vm::boot::Limits;
use vm::measure::{Case, Counted, Measurement, Taker, cases};
use vm::plugin::Watching;

/// For each of its CPUs, the factor by which a watched arm64 guest's clock is slower where nothing else is asked for. With four busy
/// CPUs, hackbench's messages then take about the guest's time that they take on hardware (found with two CPUs for QEMU).
const SLOWED_BY_CPU: u32 = 12;
/// The most that is taken without being asked for.
const MOST_SLOWED: u32 = 400;
/// How long a guest may take, and how long it may be silent.
const LIMITS: Limits = Limits { silent_s: 900, total_s: 7200 };

const CALLER_COLUMNS: [&str; 9] =
    ["operation", "side", "lock", "function", "taken", "contended", "kernel", "stalls", "spun"];

pub fn run(command: &MeasureCommand) -> Result<ExitCode, Failure> {
    match command {
        MeasureCommand::Costs(args) => measure_costs(args),
        MeasureCommand::Lines(args) => return compare_lines(args),
        MeasureCommand::Show(args) => show(args),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Bytes of a cache line.
fn line_bytes(arch: Arch) -> u32 {
    match arch {
        Arch::Powerpc => 128,
        Arch::X86 | Arch::Arm64 => 64,
    }
}

fn compare_lines(args: &LinesArgs) -> Result<ExitCode, Failure> {
    let path = args.experiment.display().to_string();
    let mut all = Vec::new();
    for file in ExperimentFile::load_each(&args.experiment)? {
        all.extend(compare_on(file, &path, args)?);
    }
    let limit = args.within / 100.0;
    match args.json {
        true => print_json(&all)?,
        false => print(&report::lines::lines(&all, limit))?,
    }
    let beyond = all.iter().any(|c| c.is_beyond(limit));
    Ok(if beyond { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The experiment on one of its machines.
fn compare_on(
    mut file: ExperimentFile,
    path: &str,
    args: &LinesArgs,
) -> Result<Vec<Compared>, Failure> {
    if let Some(unknown) = args.workload.iter().find(|name| file.workload(name).is_none()) {
        let known: Vec<&str> = file.workloads.iter().map(|w| w.name.as_str()).collect();
        let known = known.join(", ");
        return Err(format!("--workload: found {unknown}, expected one of {known}").into());
    }
    file.workloads.retain(|w| args.workload.is_empty() || args.workload.contains(&w.name));
    let plan = Plan::new(file, path)?;
    let arch = Board::of(&plan.machine, false)?.arch();
    let cpus = plan.machine.cpus.len() as u32;
    let slowed = if arch == Arch::Arm64 { (SLOWED_BY_CPU * cpus).min(MOST_SLOWED) } else { 1 };
    let options = Options {
        // Its experiment has none.
        schedulers: vec![],
        own: Vec::new(),
        given: None,
        cache: cache(&args.cache)?,
        release: args.kernel,
        accel: Accel::Tcg,
        append: "nokaslr".to_owned(),
        limits: LIMITS,
        boots: 1,
    };
    let counting = Counting {
        watching: Watching { line_bytes: line_bytes(arch), quantum: args.quantum },
        slowed: args.slowed.unwrap_or(slowed),
    };
    let watched = Watched::of(plan, &options)?;
    watched.bench.notes.iter().for_each(|note| anstream::eprintln!("vm: {note}"));
    let bar = bar("{spinner} {elapsed} {wide_msg}")?;
    let stop = stop_on_signals()?;
    let compared = watched.compare(&options, counting, &stop, &mut |told| tell(&bar, told));
    bar.finish_and_clear();
    Ok(compared?)
}

fn measure_costs(args: &CostsArgs) -> Result<(), Failure> {
    let cache = cache(&args.cache)?;
    let kernel = cache.kernel(args.arch, args.kernel)?;
    let cases = wanted(args)?;
    let line_bytes = args.line_bytes.unwrap_or(line_bytes(args.arch));
    let measurement = Measurement {
        kernel: &kernel,
        cache: &cache,
        watching: Watching { line_bytes, quantum: args.quantum },
        cases: &cases,
        again: args.again.unwrap_or(0),
        append: &args.append,
        limits: LIMITS,
    };
    let bar = bar("{spinner} {elapsed} {pos}/{len} {wide_msg}")?;
    bar.set_length(cases.len() as u64);
    bar.set_message(format!("kernel {} boots", kernel.release));
    let stop = stop_on_signals()?;
    let counted = measurement.run(&stop, &mut |done| {
        bar.inc(1);
        bar.set_message(done.to_owned());
    });
    bar.finish_and_clear();
    let Counted { table, takers } = counted?;
    if let Some(path) = &args.output {
        write_whole(path, &toml::to_string(&table)?)?;
    }
    told(&table, args.json)?;
    if args.callers { print(&callers(&takers)) } else { Ok(()) }
}

/// A row for each function that takes locks: what its holder does is for each taking, as in the table of locks.
fn callers(takers: &[Taker]) -> String {
    let row = |taker: &Taker| {
        let each = |of: f64| if taker.taken > 0.0 { of / taker.taken } else { 0.0 };
        let shared = if taker.shared { ", shared" } else { "" };
        vec![
            taker.operation.clone(),
            taker.side.name().to_string(),
            format!("{}{shared}", taker.class.name()),
            taker.function.clone(),
            format!("{:.3}", taker.taken),
            format!("{:.3}", taker.contended),
            format!("{:.0}", each(taker.instructions)),
            format!("{:.2}", each(taker.stalls)),
            format!("{:.1}", each(taker.spun)),
        ]
    };
    let rows: Vec<Vec<String>> = takers.iter().map(row).collect();
    format!("\nFunctions that take them\n{}", table(&CALLER_COLUMNS, &rows))
}

fn show(args: &ShowCostsArgs) -> Result<(), Failure> {
    let Some(table) = &args.table else {
        let names: Vec<&str> = costs::names().collect();
        return if args.json { print_json(&names) } else { print(&(names.join("\n") + "\n")) };
    };
    told(&*costs::find(table, Path::new(""))?, args.json)
}

fn told(table: &CostTable, as_json: bool) -> Result<(), Failure> {
    if as_json { print_json(table) } else { print(&report::costs::costs(table)) }
}

/// The measurements that were asked for.
fn wanted(args: &CostsArgs) -> Result<Vec<Case>, Failure> {
    let mut all = cases(args.rounds);
    let known: Vec<&str> = all.iter().map(Case::operation).collect();
    if let Some(unknown) = args.only.iter().find(|name| !known.contains(&name.as_str())) {
        let mut known = known;
        known.dedup();
        return Err(format!("--only: found {unknown}, expected one of {}", known.join(", ")).into());
    }
    all.retain(|case| {
        args.only.is_empty() || args.only.iter().any(|name| name == case.operation())
    });
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::costs::{LockClass, SideName};

    #[test]
    fn callers_have_the_words_and_units_of_the_table_of_locks() {
        let taker = Taker {
            operation: "pipe (idle)".to_owned(),
            side: SideName::Give,
            class: LockClass::RunQueue,
            shared: true,
            function: "try_to_wake_up".to_owned(),
            taken: 2.0,
            contended: 0.5,
            instructions: 300.0,
            stalls: 5.0,
            spun: 7.0,
        };
        let said = callers(&[taker]);
        let row = said.lines().last().unwrap();
        let words: Vec<&str> = row.split("  ").map(str::trim).filter(|w| !w.is_empty()).collect();
        let class = format!("{}, shared", LockClass::RunQueue.name());
        let expected = [
            "pipe (idle)",
            "give",
            &class,
            "try_to_wake_up",
            "2.000",
            "0.500",
            "150",
            "2.50",
            "3.5",
        ];
        assert_eq!(words, expected);
    }
}
