//! `schedscape prefetch-sweep`.

use crate::Failure;
use crate::args::PrefetchSweepArgs;
use crate::output::{print, print_json, write_whole};
use experiment::sweep;
use report::prefetch_sweep::prefetch_sweep as text_of;
use report::prefetch_sweep_svg::prefetch_sweep_svg;
use results::prefetch_sweep::Grid;

pub fn prefetch_sweep(args: &PrefetchSweepArgs) -> Result<(), Failure> {
    let machine = machine::resolve(&args.machine)?;
    if let Some(dir) = &args.output {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    let grid = Grid { l3: args.l3, ..Grid::default() };
    let swept = sweep(&machine, grid, args.threads)?;
    let text = text_of(&swept);
    if let Some(dir) = &args.output {
        write_whole(&dir.join("prefetch-sweep.svg"), &prefetch_sweep_svg(&swept))?;
        write_whole(&dir.join("prefetch-sweep.txt"), &text)?;
    }
    if args.json { print_json(&swept) } else { print(&text) }
}
