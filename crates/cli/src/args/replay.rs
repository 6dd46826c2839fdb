//! The command line of `schedscape replay`.

use clap::Args as ClapArgs;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape replay trace.dat --machine other.tar.gz --constants epyc-7742-1s-nps1 --kernel 6.12
  schedscape replay perf.data --machine epyc-7742-1s-nps1 --kernel 6.12 --variant sis-util=off
  schedscape replay trace.dat --machine epyc-7742-1s-nps1 --kernel 6.12 --variant kernel=7.2 --runs 20
  schedscape replay trace.dat --machine epyc-7742-1s-nps1 --kernel 6.12 --on kunpeng920-2node
  schedscape replay trace.dat --machine epyc-7742-1s-nps1 --kernel 6.12 --write replay.toml

The trace becomes a workload: what each task did, in work instead of time, and who waited for whom. First it
runs as it was recorded, and a table shows how far the replay is the trace. Then the variants run.
Whatever else an experiment can have (a kernel tree, a governor, groups), the written file takes.")]
pub struct ReplayArgs {
    /// A recording: trace.dat, perf.data, Perfetto's protobuf, or ftrace text
    pub trace: PathBuf,
    /// The machine on which it was recorded, as for `machine show`
    #[arg(long, default_value = machine::HOST, value_name = "MACHINE")]
    pub machine: String,
    /// A catalog machine whose constants hold, for a machine that brings none
    #[arg(long, value_name = "NAME")]
    pub constants: Option<String>,
    /// The kernel that recorded it, such as 6.12
    #[arg(long, value_name = "VERSION")]
    pub kernel: kernel::Version,
    /// Switch a mechanism of that kernel (listed by `schedscape mechanisms`); may be repeated
    #[arg(long = "mechanism", value_name = "NAME=on|off")]
    pub mechanisms: Vec<String>,
    /// Another kernel to compare: a release (`kernel=VERSION`), or a mechanism switched (`NAME=on|off`);
    /// may be repeated
    #[arg(long = "variant", value_name = "WHAT")]
    pub variants: Vec<String>,
    /// Replay the variants on another machine
    #[arg(long, value_name = "MACHINE")]
    pub on: Option<String>,
    /// Start, in ms of the trace's clock
    #[arg(long, value_name = "MS")]
    pub from_ms: Option<f64>,
    /// End, in ms of the trace's clock, exclusive
    #[arg(long, value_name = "MS")]
    pub to_ms: Option<f64>,
    /// Let new tasks of the variants begin on the CPU where they began in the trace
    #[arg(long)]
    pub keep_forks: bool,
    /// Runs of each variant
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Seed
    #[arg(long)]
    pub seed: Option<u64>,
    /// Threads to use; 0 means one per CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Write the experiment for `schedscape run`, and run nothing
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
