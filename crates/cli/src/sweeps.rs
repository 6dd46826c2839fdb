//! `schedscape sweep`.

use crate::Failure;
use crate::args::SweepArgs;
use crate::output::{print, print_json};
use crate::progress::bar;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use sweep::{Dataset, Sweep};

pub fn sweep(args: &SweepArgs) -> Result<(), Failure> {
    let cells = Sweep::load(&args.sweep)?.cells()?;
    let dataset = Dataset::open(&args.out, &cells)?;
    let begun = cells.len() - dataset.missing().len();
    // Cells that have begun end, and the dataset says which are missing.
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    let bar = bar("{msg} {wide_bar} {pos}/{len} cells, {eta} left")?;
    let summary = sweep::run(&cells, &dataset, args.threads, &stop, &|progress| {
        bar.set_length(progress.cells as u64);
        bar.set_position(progress.done as u64);
    });
    bar.finish_and_clear();
    let summary = summary?;
    let run = cells.len() - summary.missing.len() - begun;
    match args.json {
        true => print_json(&summary)?,
        false => print(&format!(
            "{}: {} cells, {run} run now, {begun} before\n",
            args.out.display(),
            summary.cells
        ))?,
    }
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
