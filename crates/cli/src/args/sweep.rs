//! The command line of `schedscape sweep`.

use clap::{Args as ClapArgs, Subcommand};
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  schedscape sweep sweep.toml --out out/sweep
  schedscape sweep sweep.toml --out out/sweep --threads 8 --json
  schedscape sweep show out/sweep --rows machine --columns mechanism --svg effects.svg
  schedscape sweep bisect bisect.toml --out out/bisect

Cells that the directory has already are not run again, so an interrupted sweep goes on when it is given again, and a wider
one adds what is new. Exit code 2 if cells are missing at the end."
)]
pub struct SweepArgs {
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    /// An experiment file with a table [sweep]
    #[arg(required = true)]
    pub sweep: Option<PathBuf>,
    /// Directory of the dataset: a new one, or one that this sweep began
    #[arg(long, value_name = "DIR", required = true)]
    pub out: Option<PathBuf>,
    /// Threads to use; 0 means one per CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print what the dataset has and lacks as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum SweepCommand {
    /// Show where a change matters: its effect over two axes of a sweep, proven or not
    Show(SweepShowArgs),
    /// Find at which value of a parameter a change turns from gain to loss
    Bisect(BisectArgs),
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape sweep show out/sweep
  schedscape sweep show out/sweep --rows machine --columns mechanism --only kernel=6.12
  schedscape sweep show out/sweep --rows variant --columns workload.tbench.tbench.clients --metric latency
  schedscape sweep show out/sweep --svg effects.svg --csv > effects.csv

Seeds are pooled: their runs are further runs. Any other axis with several values is one of the two, or has one value by --only.
What is proven is proven over the whole map, by Holm's correction.")]
pub struct SweepShowArgs {
    /// A directory that `sweep --out` wrote
    pub dir: PathBuf,
    /// The axis down, or `variant`
    #[arg(long, value_name = "AXIS", default_value = "machine")]
    pub rows: String,
    /// The axis across, or `variant`
    #[arg(long, value_name = "AXIS", default_value = "mechanism")]
    pub columns: String,
    /// The workload, if there are several
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// What is measured [default: the workload's first metric]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// The variant that is compared with the first, if there are several
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Look only at cells with this value; may be repeated
    #[arg(long, value_name = "AXIS=VALUE")]
    pub only: Vec<String>,
    /// Also write the heat map as a picture
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print one line per effect, separated by commas
    #[arg(long)]
    pub csv: bool,
    /// Print JSON instead of text
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape sweep bisect bisect.toml --out out/bisect
  schedscape sweep bisect bisect.toml --out out/bisect --json

Runs are cells of a sweep over the parameter and seeds, so what the directory has is not run again.")]
pub struct BisectArgs {
    /// An experiment file with a table `[bisect]`: parameter, from, to, width
    pub file: PathBuf,
    /// Directory of the dataset: a new one, or that of a sweep over the same parameter and seeds
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Threads to use; 0 means one per CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
