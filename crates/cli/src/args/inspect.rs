//! The command line of `schedscape inspect`.

use clap::Args as ClapArgs;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape inspect trace.dat
  schedscape inspect perf.data --machine other.tar.gz --json > inspected.json
  schedscape inspect capture/trace.txt --machine capture/boot --dot wakeups.dot
  schedscape inspect trace.dat --machine other.tar.gz --html trace.html --out trace-tables
  schedscape inspect trace.dat --machine other.tar.gz --kernel 6.12 --rule sis-cluster=off

What it takes is what `trace` takes: sched_switch, sched_waking, sched_wakeup, sched_wakeup_new and
sched_migrate_task, and cpu_frequency and cpu_idle if they are there. To record them:
  trace-cmd record -e sched -e power -o trace.dat -- COMMAND
  perf sched record -o perf.data -- COMMAND")]
pub struct InspectArgs {
    /// A recording: trace.dat, perf.data, Perfetto's protobuf, or ftrace text
    pub trace: PathBuf,
    /// The machine on which it was recorded, as for `machine show`
    #[arg(long, default_value = machine::HOST, value_name = "MACHINE")]
    pub machine: String,
    /// Longest lists of text, JSON and HTML: names, tasks, pairs of wakers
    #[arg(long, default_value_t = 15, value_name = "N")]
    pub most: usize,
    /// Also make a page of it: one HTML file that loads nothing, as `report` makes of stored runs; it appears only when complete
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also store it in this new directory: a Parquet file for each table, whole lists whatever `--most` says, and
    /// columns.parquet, which has the unit and meaning of each column
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write who wakes whom as a graph for Graphviz
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write the tasks as a file for rt-app: how long they ran and slept; takes a machine with a nominal clock
    #[arg(long, value_name = "FILE")]
    pub rt_app: Option<PathBuf>,
    /// In that file, let tasks wake each other (`sem_post`, `sem_wait`), which rt-app's releases up to 1.0 do not know
    #[arg(long, requires = "rt_app")]
    pub rt_app_semaphores: bool,
    /// A catalog machine whose clock holds for `--rt-app`, for a machine that brings none
    #[arg(long, value_name = "NAME", requires = "rt_app")]
    pub constants: Option<String>,
    /// Also judge every wake-up by the model of this kernel, the one that recorded the trace, such as 6.12
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kernel::Version>,
    /// Switch a mechanism of that kernel (listed by `schedscape mechanisms`); may be repeated
    #[arg(long = "mechanism", value_name = "NAME=on|off", requires = "kernel")]
    pub mechanisms: Vec<String>,
    /// Ask another rule, too: another release (`kernel=VERSION`), or a mechanism switched (`NAME=on|off`);
    /// may be repeated
    #[arg(long = "rule", value_name = "WHAT", requires = "kernel")]
    pub rules: Vec<String>,
    /// Show so many wake-ups that the model decides otherwise
    #[arg(long, default_value_t = 0, value_name = "N", requires = "kernel")]
    pub differences: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
