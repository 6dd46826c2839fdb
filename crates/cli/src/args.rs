//! The command line.

mod guests;
mod host;
mod inspect;
mod kernels;
mod measure;
mod replay;
mod report;
mod sweep;
mod trace;
mod trees;

pub use self::report::{LayoutArgs, ReportArgs};

pub use guests::{
    AccelName, CacheArgs, CaptureArgs, DoctorArgs, ExecArgs, FetchArgs, GuestArgs, OwnKernelArgs,
    Part, VmCheckArgs, VmCommand, VmDomainsArgs,
};

pub use host::{HostArgs, HostCommand, HostShowArgs};
pub use inspect::InspectArgs;
pub use kernels::{
    AddArgs, CheckArgs, DebugArgs, FeaturesArgs, FuzzArgs, JudgeArgs, KernelCommand,
    KernelDomainsArgs, NameArgs, With,
};
pub use measure::{CostsArgs, LinesArgs, MeasureCommand, ShowCostsArgs};
pub use replay::ReplayArgs;
pub use sweep::{BisectArgs, SweepArgs, SweepCommand, SweepShowArgs};
pub use trace::{Ns, TraceArgs, TraceFormat};
pub use trees::CompareTreesArgs;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use machine::CpuSet;
use std::path::PathBuf;
use tree::Sanitizer;

/// What will this scheduling change do to this workload on that machine?
#[derive(Debug, Parser)]
#[command(
    name = "schedscape",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  schedscape run experiments/power9-big-core.toml
  schedscape run experiments/power9-big-core.toml --out out/big-core
  schedscape compare out/big-core
  schedscape report out/big-core --output big-core.html
  schedscape compare --mmtests work/log 6.12-vanilla 6.12-patched
  schedscape validate power9-big-core --json
  schedscape trace out/big-core --workload sched-pipe --variant vanilla -o pipe.pftrace
  schedscape machine show power9-big-core --small-cores
  schedscape machine diff power9-big-core host
  schedscape domains power9-big-core --kernel 4.18 --mechanism small-core-smt=on --smt 4
  schedscape kernel add ~/linux --name mine
  schedscape kernel check mine"
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment and show its machine, sched domains and results
    Run(RunArgs),
    /// Print stored results, compare two engines, or compare MMTests results
    Compare(CompareArgs),
    /// Compare two trees by one metric, with exit codes for `git bisect run`
    CompareTrees(CompareTreesArgs),
    /// Make a single HTML file from stored results
    Report(ReportArgs),
    /// Predict what studies published, and show both
    Validate(ValidateArgs),
    /// Show and compare machines
    Machine {
        #[command(subcommand)]
        command: MachineCommand,
    },
    /// Show the sched domains that a kernel builds on a machine
    Domains(DomainsArgs),
    /// Build the scheduler of a kernel tree and run it on any machine, without a boot
    Kernel {
        #[command(subcommand)]
        command: KernelCommand,
    },
    /// Boot real kernels in QEMU, as guests shaped like a machine
    Vm {
        #[command(subcommand)]
        command: VmCommand,
    },
    /// Show what this computer is, and put back what runs on it had set
    Host {
        #[command(subcommand)]
        command: HostCommand,
    },
    /// Count on real kernels what the simulator charges
    Measure {
        #[command(subcommand)]
        command: MeasureCommand,
    },
    /// Write the timeline of a run for Perfetto, as ftrace text or as trace.dat
    Trace(TraceArgs),
    /// Tell what happened in a trace: waits, wake-ups by distance, idle CPUs while somebody waited, moves
    Inspect(InspectArgs),
    /// Run what a trace recorded again, as it was and under other kernels, mechanisms, machines
    Replay(ReplayArgs),
    /// List the mechanisms that a variant can switch
    Mechanisms,
    /// Run an experiment over machines, kernels, mechanisms, parameters and seeds, each cell once
    Sweep(SweepArgs),
    /// Find out when logging a vcore's caches pays, by working set, time slice and restore rate
    PrefetchSweep(PrefetchSweepArgs),
    /// Serve one request of `kernel`, or runs of `run`, in a process of its own
    #[command(hide = true)]
    Replica {
        /// Serve runs
        #[arg(long)]
        runs: bool,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, Subcommand)]
pub enum MachineCommand {
    /// Show one machine
    Show(ShowArgs),
    /// Compare two machines level by level; exit code 1 if they differ
    Diff(DiffArgs),
    /// List the machines of the catalog
    List,
}

#[derive(Debug, Clone, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape run experiments/power9-big-core.toml
  schedscape run experiments/power9-big-core.toml --json > results.json
  schedscape run experiments/power9-big-core.toml --out out/big-core --threads 1
  schedscape run experiments/big-core-guest.toml --engine vm --out out/vm
  schedscape run experiments/my-patch-guest.toml --engine sim,vm
  schedscape run experiments/my-patch.toml --runs 1 --sanitize address,undefined
  schedscape run experiments/my-patch.toml --runs 1 --coverage out/coverage

To resume an interrupted experiment, give the same command again:
  schedscape run experiments/epyc-7742-frequency-invariance.toml --out out/epyc")]
pub struct RunArgs {
    /// The experiment file (TOML)
    pub experiment: PathBuf,
    /// Engine that runs the workloads, or several with commas: `sim,vm` runs both and sets them side by side
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1, default_value = "sim")]
    pub engine: Vec<EngineName>,
    /// Store all runs in this new directory (a Parquet file and a manifest). Finished runs are kept
    /// in DIR.partial until then; after an interruption, give the same command again to resume
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seed; overrides the file's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Runs of each workload under each variant; overrides the file's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Run only this workload; may be repeated
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Threads to use; 0 means one per CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Also show counters: wake-ups, where they landed, their latencies, balancing, moves by
    /// distance
    #[arg(long)]
    pub counters: bool,
    /// Whose constants to move, to list those on which verdicts hang
    #[arg(long, value_enum, default_value_t = SensitivityName::Cheap, value_name = "WHEN")]
    pub sensitivity: SensitivityName,
    /// Also run every workload over the ranges in which constants may lie, and say whether each verdict is robust or undecided
    #[arg(long)]
    pub robust: bool,
    /// Compile the kernels of sources with these sanitizers: address, undefined
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sanitize: Vec<Sanitizer>,
    /// Count which lines of the sources' kernel/sched run, and write an lcov file for each variant into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub coverage: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub layout: LayoutArgs,
    /// With `--engine vm`: spread the runs over this many boots of each kernel and firmware
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub boots: Option<u32>,
    #[command(flatten, next_help_heading = "Guests, with `--engine vm`")]
    pub guest: GuestArgs,
    #[command(flatten, next_help_heading = "This computer, with `--engine host`")]
    pub host: HostArgs,
}

/// Whose constants are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SensitivityName {
    /// Those of workloads that have no fewer runs than it takes (64 a variant or more)
    Cheap,
    /// Those of all workloads on the model
    Always,
    /// Nobody's
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// The discrete-event simulator
    Sim,
    /// A real kernel in QEMU, with the real programs
    Vm,
    /// This computer's kernel, with the real programs
    Host,
}

impl EngineName {
    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            EngineName::Sim => "sim",
            EngineName::Vm => "vm",
            EngineName::Host => "host",
        }
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape compare out/big-core
  schedscape compare out/big-core --style markdown
  schedscape compare out/big-core --csv > big-core.csv
  schedscape compare out/sim out/vm out/host
  schedscape compare out/boot-6.12 out/boot-7.2
  schedscape compare --mmtests work/log 6.12-vanilla 6.12-patched
  schedscape compare --mmtests work/log 5.9-ondemand 5.9-perfgov 5.9-schedutil --json")]
pub struct CompareArgs {
    /// A directory written by `run --out`, or several of the same experiment: those of different engines are set side by
    /// side, those of this computer's boots (`--engine host`) joined. With --mmtests: two or more runs, the first of which is
    /// the baseline
    #[arg(required = true, value_name = "DIR|RUN")]
    pub names: Vec<PathBuf>,
    /// Compare MMTests results; LOG is MMTests' work/log, which contains the runs
    #[arg(long, value_name = "LOG", conflicts_with = "counters")]
    pub mmtests: Option<PathBuf>,
    /// Also show counters: wake-ups, where they landed, their latencies, balancing, moves by
    /// distance
    #[arg(long)]
    pub counters: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub layout: LayoutArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape validate
  schedscape validate power9-big-core --json")]
pub struct ValidateArgs {
    /// A study [default: all]
    pub study: Option<String>,
    /// Also predict with the own scheduler of this release's source package, patched as the study proposes, and show both
    #[arg(long, value_name = "RELEASE")]
    pub source: Option<kernel::Version>,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Threads that run replicas; 0 is one a CPU
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print JSON (one object per cell) instead of tables
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape prefetch-sweep
  schedscape prefetch-sweep --output out/sweep
  schedscape prefetch-sweep --l3 --json > sweep.json")]
pub struct PrefetchSweepArgs {
    /// A machine with the constants of the prefetch engine, such as the catalog's POWER8
    #[arg(default_value = "power8-16core")]
    pub machine: String,
    /// Also log the most recently used way of the L3
    #[arg(long)]
    pub l3: bool,
    /// Write the heat map (prefetch-sweep.svg) and the tables (prefetch-sweep.txt) into this directory
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Threads to use; 0 means one per CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Which machine, and which of its CPUs are online.
#[derive(Debug, ClapArgs)]
pub struct MachineArgs {
    /// A machine: a catalog name, `host`, a machine file (.toml), a copy of sysfs (directory, tar
    /// archive or listing), a device tree, ACPI tables, hwloc XML, `synthetic:LEVELS` or
    /// `qemu:ARGUMENTS`
    pub machine: String,
    /// Use N threads per core, as `ppc64_cpu --smt=N` does
    #[arg(long, value_name = "N")]
    pub smt: Option<u32>,
    /// Use only these CPUs; take the others offline
    #[arg(long, value_name = "LIST", conflicts_with = "smt")]
    pub online: Option<CpuSet>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape machine show power9-big-core
  schedscape machine show power9-big-core --small-cores
  schedscape machine show power9-big-core --constants
  schedscape machine show power9-big-core --format svg --output power9.svg
  schedscape machine show host --format sysfs")]
pub struct ShowArgs {
    #[command(flatten)]
    pub machine: MachineArgs,
    /// List the small-core siblings of each online CPU, as in the big-core study's sysfs file
    #[arg(long, conflicts_with = "constants")]
    pub small_cores: bool,
    /// List the machine's constants (costs of operations) with unit and provenance
    #[arg(long)]
    pub constants: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = MachineFormat::Tree)]
    pub format: MachineFormat,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Write to this file instead of standard output; it appears only when complete
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MachineFormat {
    /// A tree of what CPUs share
    Tree,
    /// A picture of nested boxes
    Svg,
    /// The whole model
    Json,
    /// hwloc XML (version 2), for `lstopo -i`
    Hwloc,
    /// The kernel's files, as printed by `grep -r . /sys/devices/system/cpu`
    Sysfs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape machine diff power9-big-core host
  schedscape machine diff capture/boot capture/smt4 --json")]
pub struct DiffArgs {
    /// First machine, as for `machine show`
    pub a: String,
    /// The second machine
    pub b: String,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape domains power9-big-core --kernel 6.12 --format tree
  schedscape domains host
  schedscape domains capture/smt4 --format debugfs
  schedscape domains power9-big-core --kernel 4.18 --mechanism small-core-smt=on --smt 2 --format study
  schedscape domains power9-big-core --kernel 6.12 --smt 4 --went-offline 12 --format debugfs

Comparisons (exit code 0: equal, 1: different, 2: could not be compared):
  schedscape domains power9-big-core --kernel 5.9 --diff kernel=5.11
  schedscape domains power9-big-core --kernel 6.12 --diff small-core-smt=off
  schedscape domains capture/boot --diff recorded
  sudo schedscape domains host --diff running")]
pub struct DomainsArgs {
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Kernel release, such as 6.12 [default for `host` and captures: the kernel recorded there]
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kernel::Version>,
    /// Switch a mechanism (listed by `schedscape mechanisms`); may be repeated
    #[arg(long = "mechanism", value_name = "NAME=on|off")]
    pub mechanisms: Vec<String>,
    /// The CPU that went offline last; kernels from 6.10 to 7.0 still count it in balance intervals
    /// [default for captures: from config.json]
    #[arg(long, value_name = "CPU")]
    pub went_offline: Option<usize>,
    /// Output format
    #[arg(long, value_enum, default_value_t = DomainsFormat::Log)]
    pub format: DomainsFormat,
    /// Print JSON instead of text
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Compare with another kernel (`kernel=VERSION`), with a mechanism switched (`NAME=on|off`),
    /// with the running kernel (`running`, for `host`) or with what a capture recorded (`recorded`)
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["format", "json"])]
    pub diff: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DomainsFormat {
    /// The kernel's own log lines, for every online CPU
    Log,
    /// `cpuN/domainM/FILE: VALUE`, as in the kernel's debugfs
    Debugfs,
    /// The SMT domains of CPUs 0 and 1, as the big-core study prints them
    Study,
    /// The hierarchy from the top down, each domain once
    Tree,
}
