//! `schedscape sweep`.

use crate::Failure;
use crate::args::{BisectArgs, SweepArgs, SweepCommand, SweepShowArgs};
use crate::output::{print, print_json, write_whole};
use crate::progress::bar;
use results::analysis::resampling;
use results::effects::{EffectMap, Question};
use results::swept::Choice;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sweep::{Bisection, Cell, Dataset, Summary, Sweep};

pub fn sweep(args: &SweepArgs) -> Result<(), Failure> {
    match (&args.command, &args.sweep, &args.out) {
        (Some(SweepCommand::Show(args)), ..) => show(args),
        (Some(SweepCommand::Bisect(args)), ..) => bisect(args),
        (None, Some(file), Some(out)) => cells(args, file, out),
        (None, ..) => Err("sweep: found no file, expected FILE --out DIR".into()),
    }
}

fn cells(args: &SweepArgs, file: &Path, out: &Path) -> Result<(), Failure> {
    let cells = Sweep::load(file)?.cells()?;
    let dataset = Dataset::open(out, &cells)?;
    let begun = cells.len() - dataset.missing().len();
    let stop = stopped()?;
    let summary = ran(&cells, &dataset, args.threads, &stop)?;
    let run = cells.len() - summary.missing.len() - begun;
    match args.json {
        true => print_json(&summary)?,
        false => print(&format!(
            "{}: {} cells, {run} run now, {begun} before\n",
            out.display(),
            summary.cells
        ))?,
    }
    complete(&summary)
}

/// What is set by ctrl-C: cells that have begun end, and the dataset says which are missing.
fn stopped() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}

fn ran(
    cells: &[Cell],
    dataset: &Dataset,
    threads: usize,
    stop: &AtomicBool,
) -> Result<Summary, Failure> {
    let bar = bar("{msg} {wide_bar} {pos}/{len} cells, {eta} left")?;
    let summary = sweep::run(cells, dataset, threads, stop, &|progress| {
        bar.set_length(progress.cells as u64);
        bar.set_position(progress.done as u64);
    });
    bar.finish_and_clear();
    Ok(summary?)
}

/// Refuses a dataset that lacks cells.
fn complete(summary: &Summary) -> Result<(), Failure> {
    match summary.missing.iter().next() {
        None => Ok(()),
        Some((_, Some(reason))) => {
            Err(format!("{} cells are missing, the first: {reason}", summary.missing.len()).into())
        }
        Some((_, None)) => {
            let again = "the same command runs them";
            Err(format!("interrupted: {} cells are missing, {again}", summary.missing.len()).into())
        }
    }
}

fn show(args: &SweepShowArgs) -> Result<(), Failure> {
    let pair = |text: &String| -> Result<(String, String), Failure> {
        // Values may hold the sign, names of axes do not.
        let (axis, value) = text
            .split_once('=')
            .ok_or_else(|| format!("--only: found `{text}`, expected AXIS=VALUE"))?;
        Ok((axis.to_string(), value.to_string()))
    };
    let question = Question {
        rows: args.rows.clone(),
        columns: args.columns.clone(),
        choice: Choice {
            workload: args.workload.clone(),
            metric: args.metric.clone(),
            variant: args.variant.clone(),
        },
        only: args.only.iter().map(pair).collect::<Result<_, _>>()?,
    };
    let map = EffectMap::of(&sweep::read(&args.dir)?, &question, &resampling()?)?;
    if let Some(path) = &args.svg {
        write_whole(path, &report::effects_svg::svg(&map))?;
    }
    match (args.json, args.csv) {
        (true, _) => print_json(&map),
        (_, true) => print(&report::effects::csv(&map)?),
        _ => print(&report::effects::text(&map)),
    }
}

fn bisect(args: &BisectArgs) -> Result<(), Failure> {
    let bisection = Bisection::load(&args.file)?;
    let stop = stopped()?;
    let turns = loop {
        let cells = match bisection.next(&args.out)? {
            sweep::Next::Run(cells) => cells,
            sweep::Next::Ended(turns) => break turns,
        };
        let dataset = Dataset::open(&args.out, &cells)?;
        complete(&ran(&cells, &dataset, args.threads, &stop)?)?;
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted: the same command goes on".into());
        }
    };
    if args.json { print_json(&turns) } else { print(&report::turns::text(&turns)) }
}
