//! `schedscape run --engine vm`.

use super::cache;
use super::guest::{accel, limits, stop_on_signals};
use crate::Failure;
use crate::args::RunArgs;
use crate::progress::bar;
use experiment::guests::{Bench, Options, Told};
use experiment::{Journal, Plan, Results};

/// What of `plan` guests can run, and how.
pub fn bench(plan: Plan, args: &RunArgs) -> Result<(Bench, Options), Failure> {
    let options = Options {
        cache: cache(&args.guest.cache)?,
        release: args.guest.kernel,
        accel: accel(&args.guest)?,
        append: args.guest.append.clone(),
        limits: limits(&args.guest),
        boots: args.boots.unwrap_or(1),
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
    let results = bench.run(options, journal, &stop, &mut |told| match told {
        Told::Lost(text) => bar.suspend(|| anstream::eprint!("vm: {text}")),
        Told::Boot { number, of, boot, machine } => {
            let plain = if boot.plain { ", without thread groups and clusters" } else { "" };
            let release = &boot.kernel.release;
            bar.suspend(|| {
                anstream::eprintln!("vm: boot {number} of {of}: {release}{plain}, {machine}")
            });
            bar.set_message(format!("boot {number} of {of}"));
        }
        Told::Progress(progress) => {
            bar.set_length(progress.runs_in_all as u64);
            bar.set_position(progress.runs as u64);
        }
    });
    bar.finish_and_clear();
    Ok(results?)
}
