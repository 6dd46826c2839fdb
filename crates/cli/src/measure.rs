//! `schedscape measure`.

use crate::Failure;
use crate::args::{CostsArgs, MeasureCommand, ShowCostsArgs};
use crate::guests::{cache, stop_on_signals};
use crate::output::{print, print_json, write_whole};
use crate::progress::bar;
use machine::costs::{self, CostTable};
use std::path::Path;
use vm::Arch;
use vm::boot::Limits;
use vm::measure::{Case, Counted, Measurement, Taker, cases};
use vm::plugin::Watching;

/// How long a guest may take, and how long it may be silent.
const LIMITS: Limits = Limits { silent_s: 900, total_s: 7200 };

pub fn run(command: &MeasureCommand) -> Result<(), Failure> {
    match command {
        MeasureCommand::Costs(args) => measure_costs(args),
        MeasureCommand::Show(args) => show(args),
    }
}

fn measure_costs(args: &CostsArgs) -> Result<(), Failure> {
    let cache = cache(&args.cache)?;
    let kernel = cache.kernel(args.arch, args.kernel)?;
    let cases = wanted(args)?;
    let line_bytes = args.line_bytes.unwrap_or(match args.arch {
        Arch::Powerpc => 128,
        Arch::X86 | Arch::Arm64 => 64,
    });
    let measurement = Measurement {
        kernel: &kernel,
        cache: &cache,
        watching: Watching { line_bytes, quantum: args.quantum },
        cases: &cases,
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

/// A line for each function that takes locks.
fn callers(takers: &[Taker]) -> String {
    takers
        .iter()
        .map(|t| {
            format!(
                "{} {:?} {:?} {} {} {:.3} {:.3} {:.1} {:.2} {:.1}\n",
                t.operation.replace(' ', "_"),
                t.side,
                t.class,
                t.shared,
                t.function,
                t.taken,
                t.contended,
                t.instructions / t.taken.max(1e-9),
                t.stalls / t.taken.max(1e-9),
                t.spun
            )
        })
        .collect()
}

fn show(args: &ShowCostsArgs) -> Result<(), Failure> {
    let Some(table) = &args.table else {
        let names: Vec<&str> = costs::names().collect();
        return if args.json { print_json(&names) } else { print(&(names.join("\n") + "\n")) };
    };
    told(&costs::find(table, Path::new(""))?, args.json)
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
