//! `schedscape run --engine vm` and `schedscape trace --engine vm`.

use super::cache;
use super::guest::{accel, limits, stop_on_signals};
use crate::args::GuestArgs;
use crate::progress::bar;
use crate::{Failure, images, schedulers};
use definition::Plan;
use experiment::Journal;
use experiment::guests::{Bench, Options, Told, Traced, loads_schedulers};
use indicatif::ProgressBar;
use results::Results;
use vm::board::Board;

/// What of `plan` guests can run, and how. Kernels of sources are built first.
pub fn bench(plan: Plan, args: &GuestArgs, boots: u32) -> Result<(Bench, Options), Failure> {
    let cache = cache(&args.cache)?;
    let own = images::of_variants(&plan, &cache, args.own.debug_config)?;
    let given = images::given(&args.own, &cache, || Ok(Board::of(&plan.machine, false)?.arch()))?;
    let schedulers = match plan.file.variants.iter().any(|v| v.scheduler.is_some()) {
        false => vec![],
        true => {
            let arch = Board::of(&plan.machine, false)?.arch();
            let can_load = |v: usize| {
                let own = own.get(v).and_then(Option::as_ref).or(given.as_ref());
                loads_schedulers(&plan.file.variants[v], arch, &cache, args.kernel, own)
            };
            schedulers::of_variants(&plan, &cache, arch, &can_load)?
        }
    };
    let options = Options {
        own,
        given,
        schedulers,
        cache,
        release: args.kernel,
        accel: accel(args)?,
        append: args.append.clone(),
        limits: limits(args),
        boots,
    };
    let bench = Bench::of(plan, &options)?;
    bench.notes.iter().for_each(|note| anstream::eprintln!("vm: {note}"));
    Ok((bench, options))
}

/// Runs what `journal` lacks, with progress on a terminal's stderr.
pub fn run(
    bench: &Bench,
    options: &Options,
    journal: Option<&Journal>,
) -> Result<Results, Failure> {
    let bar = bar("{msg} {wide_bar} {pos}/{len} runs, {elapsed}")?;
    let stop = stop_on_signals()?;
    let results = bench.run(options, journal, &stop, &mut |told| tell(&bar, told));
    bar.finish_and_clear();
    Ok(results?)
}

/// Runs `workload` under `variant` once and records what the scheduler does.
pub fn traced(
    plan: Plan,
    args: &GuestArgs,
    (workload, variant): (&str, &str),
) -> Result<Traced, Failure> {
    let (bench, options) = bench(plan, args, 1)?;
    let bar = bar("{spinner} {msg}, {elapsed}")?;
    let stop = stop_on_signals()?;
    let mut tell = |told: Told| tell(&bar, told);
    let traced = bench.trace(&options, (workload, variant), &stop, &mut tell);
    bar.finish_and_clear();
    Ok(traced?)
}

/// Shows what a bench says.
pub fn tell(bar: &ProgressBar, told: Told) {
    match told {
        Told::Lost(text) => bar.suspend(|| anstream::eprint!("vm: {text}")),
        Told::Boot { number, of, boot, machine } => {
            let plain = if boot.plain { ", without thread groups and clusters" } else { "" };
            let release = &boot.kernel.release;
            bar.suspend(|| {
                anstream::eprintln!("vm: boot {number} of {of}: {release}{plain}, {machine}")
            });
            bar.set_message(format!("boot {number} of {of}"));
        }
        Told::Splat { variant, splat } => bar.suspend(|| {
            anstream::eprintln!("vm: variant `{variant}`: {}", splat.title);
            splat.lines.iter().for_each(|line| anstream::eprintln!("  | {line}"));
        }),
        Told::Scheduler { variant, workload, scheduler, outcome } => bar.suspend(|| {
            let (name, version) = (&scheduler.name, &scheduler.version);
            anstream::eprintln!(
                "vm: variant `{variant}`: {name} {version} loaded as {} for {workload}, unloaded after it",
                outcome.ops
            );
            if let Some(statistics) = &outcome.statistics {
                anstream::eprintln!("  | statistics of the run: {statistics}");
            }
        }),
        Told::Counted { run, of } => bar.set_message(format!("{run} of {of} runs")),
        Told::Progress(progress) => {
            bar.set_length(progress.runs_in_all as u64);
            bar.set_position(progress.runs as u64);
        }
    }
}
