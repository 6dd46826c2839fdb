//! The command line.

mod guests;
mod report;
mod trace;

pub use self::report::{LayoutArgs, ReportArgs};

pub use guests::{
    AccelName, CacheArgs, CaptureArgs, DoctorArgs, FetchArgs, GuestArgs, Part, VmCommand,
    VmDomainsArgs,
};

pub use trace::{Ns, TraceArgs, TraceFormat};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use machine::CpuSet;
use std::path::PathBuf;

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
  schedscape domains power9-big-core --kernel 4.18 --mechanism small-core-smt=on --smt 4"
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment and show machine, domains, results and predictions
    Run(RunArgs),
    /// Show the results that `run --out` stored, or compare MMTests' results
    Compare(CompareArgs),
    /// Make one HTML file of the results that `run --out` stored, to look at and to send
    Report(ReportArgs),
    /// Show published beside predicted figures, study by study
    Validate(ValidateArgs),
    /// Show machines
    Machine {
        #[command(subcommand)]
        command: MachineCommand,
    },
    /// Show the sched domains that a kernel builds on a machine
    Domains(DomainsArgs),
    /// Boot real kernels in QEMU on machines that schedscape knows
    Vm {
        #[command(subcommand)]
        command: VmCommand,
    },
    /// Write the timeline of a simulated run, or of a guest's, for Perfetto, as ftrace's text or as trace.dat
    Trace(TraceArgs),
    /// List the mechanisms that can be switched
    Mechanisms,
    /// Show when it is worth logging a vcore's caches: working set by time slice by rate of the restore
    PrefetchSweep(PrefetchSweepArgs),
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
    /// Compare two machines level by level; exit code 1 where they differ
    Diff(DiffArgs),
    /// List the catalog
    List,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape run experiments/power9-big-core.toml
  schedscape run experiments/power9-big-core.toml --json > results.json
  schedscape run experiments/power9-big-core.toml --out out/big-core --threads 1
  schedscape run experiments/big-core-guest.toml --engine vm --out out/vm

Interrupted runs go on where they stopped when the same command is given again:
  schedscape run experiments/epyc-7742-frequency-invariance.toml --out out/epyc")]
pub struct RunArgs {
    /// The experiment file (TOML)
    pub experiment: PathBuf,
    /// What runs the workloads
    #[arg(long, value_enum, default_value_t = EngineName::Sim)]
    pub engine: EngineName,
    /// Store all runs in this new directory (Parquet and a manifest). Until it is whole, finished runs are kept in
    /// DIR.partial; the same command goes on from there after an interruption
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seed instead of the file's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Runs of each workload under each variant instead of the file's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Just these workloads of the file
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Threads that run replicas; 0 is one a CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Show what runs counted as well: wake-ups, where they landed, their latencies, balancing, moves by distance
    #[arg(long)]
    pub counters: bool,
    /// Print data instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub layout: LayoutArgs,
    /// With `--engine vm`: boots of each kernel and firmware, over which the runs are spread
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub boots: Option<u32>,
    #[command(flatten, next_help_heading = "Guests, with `--engine vm`")]
    pub guest: GuestArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// The discrete-event simulator
    Sim,
    /// A real kernel in QEMU, with the real programs
    Vm,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape compare out/big-core
  schedscape compare out/big-core --style markdown
  schedscape compare out/big-core --csv > big-core.csv
  schedscape compare out/sim out/vm
  schedscape compare --mmtests work/log 6.12-vanilla 6.12-patched
  schedscape compare --mmtests work/log 5.9-ondemand 5.9-perfgov 5.9-schedutil --json")]
pub struct CompareArgs {
    /// A directory that `run --out` wrote, or two of one experiment by two engines, side by side; with --mmtests two or more runs, the first being the baseline
    #[arg(required = true, value_name = "DIR|RUN")]
    pub names: Vec<PathBuf>,
    /// Compare MMTests' results: the directory with the runs' directories, MMTests' work/log
    #[arg(long, value_name = "LOG", conflicts_with = "counters")]
    pub mmtests: Option<PathBuf>,
    /// Show what runs counted as well: wake-ups, where they landed, their latencies, balancing, moves by distance
    #[arg(long)]
    pub counters: bool,
    /// Print data instead of text
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
    /// One study; all that work so far where absent
    pub study: Option<String>,
    /// Threads that run replicas; 0 is one a CPU
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print a list of cells instead of tables
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
    /// A machine with the engine's constants, as POWER8 of the catalog
    #[arg(default_value = "power8-16core")]
    pub machine: String,
    /// Log the L3's most recently used way as well
    #[arg(long)]
    pub l3: bool,
    /// Write the heat map (prefetch-sweep.svg) and the tables (prefetch-sweep.txt) into this directory
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Threads; 0 is one a CPU. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Print data instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Which machine, and which of its CPUs are online.
#[derive(Debug, ClapArgs)]
pub struct MachineArgs {
    /// A catalog name, `host`, a device tree (.dtb) or a directory with sys/devices/system/cpu
    pub machine: String,
    /// Take the machine in this SMT mode, as `ppc64_cpu --smt=N` leaves it
    #[arg(long, value_name = "N")]
    pub smt: Option<u32>,
    /// Take the machine with just these CPUs online
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
    /// List each online CPU's small-core siblings, as the big-core study's sysfs file
    #[arg(long, conflicts_with = "constants")]
    pub small_cores: bool,
    /// List what things cost on it, with unit and provenance
    #[arg(long)]
    pub constants: bool,
    /// Form
    #[arg(long, value_enum, default_value_t = MachineFormat::Tree)]
    pub format: MachineFormat,
    /// Print data instead of text; the same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Write to this file, whole or not at all, instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MachineFormat {
    /// A tree of what CPUs share
    Tree,
    /// A picture of nested boxes
    Svg,
    /// All that is known, as data
    Json,
    /// hwloc's XML (version 2), which `lstopo -i` draws
    Hwloc,
    /// The kernel's own files, as `grep -r . /sys/devices/system/cpu` prints them
    Sysfs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape machine diff power9-big-core host
  schedscape machine diff capture/boot capture/smt4 --json")]
pub struct DiffArgs {
    /// The first machine: a catalog name, `host` or a path, as for `machine show`
    pub a: String,
    /// The second machine
    pub b: String,
    /// Print data instead of text
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

What changes, and whether the prediction holds (exit code 0: equal, 1: different, 2: could not be compared):
  schedscape domains power9-big-core --kernel 5.9 --diff kernel=5.11
  schedscape domains power9-big-core --kernel 6.12 --diff small-core-smt=off
  schedscape domains capture/boot --diff recorded
  sudo schedscape domains host --diff running")]
pub struct DomainsArgs {
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Kernel release, as 4.18 or 6.12; for `host` and a capture's step the one recorded there where absent
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kernel::Version>,
    /// Switch a mechanism (see `schedscape mechanisms`)
    #[arg(long = "mechanism", value_name = "NAME=on|off")]
    pub mechanisms: Vec<String>,
    /// The offline CPU that went last: kernels from 6.10 to 7.0 still count it in balance intervals. For a
    /// capture's step the one in `config.json` beside it where absent
    #[arg(long, value_name = "CPU")]
    pub went_offline: Option<usize>,
    /// Form
    #[arg(long, value_enum, default_value_t = DomainsFormat::Log)]
    pub format: DomainsFormat,
    /// Print data instead of text
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Show what differs: under another kernel (`kernel=VERSION`), with a mechanism switched (`NAME=on|off`), on
    /// the kernel that runs (`running`, for `host`), or in a capture's step (`recorded`)
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["format", "json"])]
    pub diff: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DomainsFormat {
    /// The kernel's own log lines, for every online CPU
    Log,
    /// `cpuN/domainM/FILE: VALUE`, as in the kernel's debugfs
    Debugfs,
    /// The SMT domain of CPU 0 and 1, as the big-core study prints it
    Study,
    /// The hierarchy from the top down, each domain once
    Tree,
}
