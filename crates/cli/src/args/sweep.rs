//! The command line of `schedscape sweep`.

use clap::Args as ClapArgs;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape sweep sweep.toml --out out/sweep
  schedscape sweep sweep.toml --out out/sweep --threads 8 --json

Cells that the directory has already are not run again, so an interrupted sweep goes on when it is given again, and a wider
one adds what is new. Exit code 2 if cells are missing at the end.")]
pub struct SweepArgs {
    /// An experiment file with a table [sweep]
    pub sweep: PathBuf,
    /// Directory of the dataset: a new one, or one that this sweep began
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Threads to use; 0 means one per CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print what the dataset has and lacks as JSON
    #[arg(long)]
    pub json: bool,
}
