//! Arguments of `schedscape kernel`.

use super::{CacheArgs, MachineArgs, Ns};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use std::path::PathBuf;
use tree::Sanitizer;

#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Give a tree, or a release's source package, a name
    Add(AddArgs),
    /// List the trees that have names
    List(ListArgs),
    /// Build a tree's scheduler, unless that is done
    Build(BuildArgs),
    /// Show the sched domains that a tree's own code builds on a machine
    Domains(KernelDomainsArgs),
    /// Show the features of a tree's scheduler, as sched/features does
    Features(FeaturesArgs),
    /// Show the sysctls of a tree's scheduler, perhaps after writing NAME=VALUE
    Sysctls(FeaturesArgs),
    /// Build a tree and compare its domains with the predicted ones; exit code 1 if they differ
    Check(CheckArgs),
    /// Hold the model's decisions against those of the trees that an experiment's variants name
    Judge(JudgeArgs),
    /// Open gdb in a run of an experiment under a tree's code, stopped at a simulated moment
    Debug(DebugArgs),
    /// Search a tree for scheduler bugs with random cases; exit code 1 if one is found
    Fuzz(FuzzArgs),
    /// Forget a tree and what was built of it; the tree itself stays
    Remove(NameArgs),
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape kernel add ~/linux --name mine
  schedscape kernel add 6.12
  schedscape kernel add 6.12 --patch wa-idler.patch --name patched
  schedscape kernel add 6.12 --config /boot/config-6.12.0-amd64 --name distribution")]
pub struct AddArgs {
    /// A kernel tree as it is checked out, or a release such as 6.12, whose source package Debian has
    pub source: String,
    /// Its name from now on [default: the release]
    #[arg(long)]
    pub name: Option<String>,
    /// A patch to apply, as `git apply` does; may be repeated. The tree is not written to
    #[arg(long = "patch", value_name = "FILE")]
    pub patches: Vec<PathBuf>,
    /// A .config whose options about the scheduler it is built with; others do not matter
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
pub struct FeaturesArgs {
    /// The tree's name, as `kernel list` shows it
    pub name: String,
    /// What to write before: a feature, such as NO_WA_BIAS, or a sysctl, as kernel.sched_rt_runtime_us=900000
    pub words: Vec<String>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Each decision of a tree's fair class (the CPU for a wake-up, the next task, a preemption, the busiest group) is told with the state
that it was made from. The model takes that state over and decides, too.

Examples:
  schedscape kernel judge experiments/my-patch.toml --runs 1
  schedscape kernel judge experiments/my-patch.toml --workload hackbench --differences 3")]
pub struct JudgeArgs {
    /// An experiment with variants that have a source; the others are left out
    pub experiment: PathBuf,
    /// Judge only this of the experiment's machines; may be repeated
    #[arg(long = "machine", value_name = "NAME")]
    pub machines: Vec<String>,
    /// Judge only this variant; may be repeated
    #[arg(long = "variant", value_name = "NAME")]
    pub variants: Vec<String>,
    /// Judge only this workload; may be repeated
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Runs of each workload under each variant; overrides the file's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Differences of each kind to show, with what was decided from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub differences: usize,
    /// Threads to use; 0 means one per CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Each case is a random machine with random tasks, hotplug and settings. Besides warnings, bugs, faults and loops, it fails where a
task starves or is lost, shares do not follow weights, CPUs stay idle beside waiting tasks, or a queue's sums are wrong. A case that
fails is made as small as it still fails, and written as an experiment file.

Examples:
  schedscape kernel fuzz mine --seconds 600
  schedscape kernel fuzz mine --seed 7 --cases 200 --sanitize undefined
  schedscape kernel fuzz --replay out/fuzz/starvation-7-12.toml
  schedscape kernel debug out/fuzz/starvation-7-12.toml --at 120ms")]
pub struct FuzzArgs {
    /// The tree's name, as `kernel list` shows it
    #[arg(required_unless_present = "replay")]
    pub name: Option<String>,
    /// Seed of the cases: the same seed gives the same cases
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Stop after so many seconds, if no case fails [default: 60]
    #[arg(long, value_name = "S", conflicts_with = "cases", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
    /// Stop after so many cases, if none fails
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub cases: Option<u64>,
    /// Draw these, too. Their bounds are young: a failure may be the bound's
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub with: Vec<With>,
    /// Directory for the case that fails
    #[arg(long, value_name = "DIR", default_value = "out/fuzz")]
    pub out: PathBuf,
    /// Compile with these sanitizers: address, undefined
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sanitize: Vec<Sanitizer>,
    /// Ticks a second to choose from; a library is built for each
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "250,1000",
        value_parser = clap::builder::PossibleValuesParser::new(["100", "250", "300", "1000"]))]
    pub hz: Vec<String>,
    /// Check the experiment of this file, as `kernel fuzz` wrote it, instead of a search
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "seed", "seconds", "cases", "sanitize", "hz", "out", "with"])]
    pub replay: Option<PathBuf>,
    /// Threads to use; 0 means one per CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// What random cases may have beside what they always may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum With {
    /// `SCHED_BATCH`, `SCHED_IDLE`, real-time and deadline tasks
    Policies,
    /// Control groups with weights, quotas and cpusets
    Groups,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape kernel build mine
  schedscape kernel build mine --sanitize address,undefined")]
pub struct BuildArgs {
    /// The tree's name, as `kernel list` shows it
    pub name: String,
    /// Compile with these sanitizers: address, undefined
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sanitize: Vec<Sanitizer>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
pub struct NameArgs {
    /// The tree's name, as `kernel list` shows it
    pub name: String,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape kernel domains 6.12 power9-big-core
  schedscape kernel domains mine kunpeng920-2node --online 0-23
  schedscape kernel domains mine epyc-7742-2s-nps1 --diff")]
pub struct KernelDomainsArgs {
    /// The tree's name, as `kernel list` shows it
    pub name: String,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Compare with the predicted domains of the tree's release; exit code 1 if they differ
    #[arg(long)]
    pub diff: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape kernel check 6.12
  schedscape kernel check mine power9-big-core host capture/boot
  schedscape kernel check mine --sanitize undefined")]
pub struct CheckArgs {
    /// The tree's name, as `kernel list` shows it
    pub name: String,
    /// Machines to compare on [default: all of the catalog]
    pub machines: Vec<String>,
    /// Compile with these sanitizers: address, undefined
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sanitize: Vec<Sanitizer>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape kernel debug experiments/my-patch.toml --machine power10-8core --workload schbench \\
      --variant patched --run 3 --at 12.5ms
  schedscape kernel debug mine.toml --variant base --at 80ms -- -batch -ex 'sc-rq 0' -ex 'sc-domains 0'

In gdb, beside its own commands:
  sc-rq CPU       the run queue: its task, and what the fair class has queued
  sc-domains CPU  the sched domains with their groups
  sc-tasks        all tasks
  sc-bt PID       the kernel stack of a task that does not execute
  sc-time         the simulated time
  sc-until MS     goes on to a later moment

The run is the same each time: same seed, same decisions, same moment.")]
pub struct DebugArgs {
    /// The experiment file (TOML)
    pub experiment: PathBuf,
    /// Machine, if the experiment lists several
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Workload [default: the only one of the experiment]
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Variant, which has a source [default: the only one of the workload]
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Number of the run, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub run: u32,
    /// Seed; overrides the experiment's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Stop at the first turn of a CPU at or after this time of the run, as 12.5ms
    #[arg(long, value_name = "MS", value_parser = super::trace::ms)]
    pub at: Ns,
    /// The library of the variant's source, to be loaded into this process
    #[arg(long, hide = true, value_name = "FILE")]
    pub library: Option<PathBuf>,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Options for gdb, which come after the stop
    #[arg(last = true, value_name = "GDB OPTIONS")]
    pub gdb: Vec<String>,
}
