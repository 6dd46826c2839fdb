//! The command line of `schedscape vm`.

use super::{DomainsFormat, MachineArgs};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum VmCommand {
    /// Fetch QEMU, kernels and guest programs as Debian packages, without root
    Fetch(FetchArgs),
    /// Check what guests need, and say how to get what is missing; exit code 1 if something is
    Doctor(DoctorArgs),
    /// Boot a machine as a guest and show the sched domains that its kernel builds
    Domains(VmDomainsArgs),
    /// Boot a machine as a guest and store its sysfs, firmware tables, sched domains and log
    Capture(CaptureArgs),
    /// Compare where a kernel sends woken tasks with where the model would send them
    Check(VmCheckArgs),
    /// Boot a machine as a guest and run a shell script in it, with programs and files of this computer
    Exec(ExecArgs),
}

/// Where fetched things are.
#[derive(Debug, Clone, ClapArgs)]
pub struct CacheArgs {
    /// Directory of fetched packages [default: $XDG_CACHE_HOME/schedscape or ~/.cache/schedscape]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape vm fetch --arch ppc64el
  schedscape vm fetch --arch amd64 --suite bookworm --only kernel
  schedscape vm fetch --arch arm64 --suite sid --kernel 7.2 --only kernel

apt resolves, downloads and verifies with the keys of this computer, in a directory of its own; nothing is installed.
An interrupted download goes on when the same command is given again.")]
pub struct FetchArgs {
    /// Architecture of the guests: amd64, arm64 or ppc64el [default: all]
    #[arg(long = "arch", value_name = "ARCH")]
    pub archs: Vec<vm::Arch>,
    /// Debian suite
    #[arg(long, default_value = "stable")]
    pub suite: String,
    /// Kernel release; the suite must have it [default: its newest]
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kernel::Version>,
    /// Fetch only these
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub only: Vec<Part>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// A part of what guests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// QEMU for this computer
    Qemu,
    /// The guest's kernel
    Kernel,
    /// Benchmarks and tools for guests
    Programs,
    /// schedscape's own benchmark program, built by an installed or fetched compiler
    Worker,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape vm doctor
  schedscape vm doctor --arch ppc64el --json")]
pub struct DoctorArgs {
    /// Architecture of the guests; all where absent
    #[arg(long = "arch", value_name = "ARCH")]
    pub archs: Vec<vm::Arch>,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// What guests boot and run on.
#[derive(Debug, Clone, ClapArgs)]
pub struct GuestArgs {
    /// Kernel release, such as 6.12 [default: each variant's own; without an experiment, the newest
    /// that is fetched]
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kernel::Version>,
    #[command(flatten)]
    pub own: OwnKernelArgs,
    /// How to execute the guest's instructions
    #[arg(long, value_enum, default_value_t = AccelName::Tcg)]
    pub accel: AccelName,
    /// Let the guest's clock count instructions of 2^SHIFT ns each (SHIFT from 0 to 10). Results
    /// are then reproducible, and one guest CPU runs at a time
    #[arg(long, value_name = "SHIFT", num_args = 0..=1, default_missing_value = "1", value_parser = clap::value_parser!(u8).range(0..=10))]
    pub icount: Option<u8>,
    /// Words to add to the kernel command line
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub append: String,
    /// Longest time for a boot with all its runs, in s [default: 3600]
    #[arg(long, value_name = "S")]
    pub limit_s: Option<u64>,
    /// Longest time without output from a guest, in s [default: 600]
    #[arg(long, value_name = "S")]
    pub silence_s: Option<u64>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

impl GuestArgs {
    /// Refuses `other` and all of these options, of which the simulator takes none.
    pub fn refuse_for_sim(&self, other: Option<&'static str>) -> Result<(), String> {
        match other.or(self.given()) {
            Some(option) => Err(format!("{option}: found --engine sim, expected vm")),
            None => Ok(()),
        }
    }

    /// An option that was given, by its name; none where all are as without any.
    fn given(&self) -> Option<&'static str> {
        let options = [
            ("--kernel", self.kernel.is_some()),
            ("--accel", self.accel != AccelName::Tcg),
            ("--icount", self.icount.is_some()),
            ("--append", !self.append.is_empty()),
            ("--limit-s", self.limit_s.is_some()),
            ("--silence-s", self.silence_s.is_some()),
            ("--cache", self.cache.cache.is_some()),
        ];
        let given = options.into_iter().find(|option| option.1).map(|option| option.0);
        given.or(self.own.given())
    }
}

/// A kernel of the user's own.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct OwnKernelArgs {
    /// Build the kernel from this tree: a directory, or a release whose source package is fetched
    #[arg(long = "source", value_name = "TREE", conflicts_with_all = ["kernel", "kernel_image", "kernel_deb"])]
    pub kernel_source: Option<String>,
    /// With `--source`: a commit of the tree, if not what is checked out
    #[arg(long, value_name = "COMMIT", requires = "kernel_source")]
    pub commit: Option<String>,
    /// With `--source`: a patch; repeat it for more, in order
    #[arg(long = "patch", value_name = "FILE", requires = "kernel_source")]
    pub patches: Vec<PathBuf>,
    /// With `--source`: a `.config` in place of schedscape's small one
    #[arg(long, value_name = "FILE", requires = "kernel_source")]
    pub config: Option<PathBuf>,
    /// Build kernels of sources with what finds bugs: lockdep, KASAN, checks of sleeping and lists
    #[arg(long)]
    pub debug_config: bool,
    /// Boot this kernel; its configuration lies beside it, or in the tree that it was built in
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernel", "kernel_deb"])]
    pub kernel_image: Option<PathBuf>,
    /// With `--kernel-image`: its modules, a directory `lib/modules/RELEASE`
    #[arg(long, value_name = "DIR", requires = "kernel_image")]
    pub modules: Option<PathBuf>,
    /// Boot the kernel of this package, `linux-image-RELEASE`
    #[arg(long, value_name = "FILE", conflicts_with = "kernel")]
    pub kernel_deb: Option<PathBuf>,
}

impl OwnKernelArgs {
    /// An option that was given, by its name.
    fn given(&self) -> Option<&'static str> {
        let options = [
            ("--source", self.kernel_source.is_some()),
            ("--debug-config", self.debug_config),
            ("--kernel-image", self.kernel_image.is_some()),
            ("--kernel-deb", self.kernel_deb.is_some()),
        ];
        options.into_iter().find(|option| option.1).map(|option| option.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AccelName {
    /// QEMU's translation; works for every architecture
    Tcg,
    /// Hardware virtualisation; only for guests of this computer's architecture
    Kvm,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape vm domains power9-big-core
  schedscape vm domains power9-big-core --smt 4 --diff
  schedscape vm domains power9-big-core --plain --format study
  schedscape vm domains 'qemu:-M q35 -smp 16,sockets=2,cores=4,threads=2' --kernel 6.12 --diff

Exit code with --diff: 0 if the kernel builds the predicted domains, 1 if not, 2 if they could not be compared.")]
pub struct VmDomainsArgs {
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Leave thread groups (POWER) or clusters (arm64) out of the firmware
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub guest: GuestArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = DomainsFormat::Log)]
    pub format: DomainsFormat,
    /// Compare with the prediction
    #[arg(long, conflicts_with = "format")]
    pub diff: bool,
    /// Store the capture in this new directory
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape vm capture power9-big-core -o capture
  schedscape vm capture power9-big-core -o capture --steps 'smt4:7.6.5.4.15.14.13.12;smt2:3.2.11.10'
  schedscape vm capture kunpeng920-1node -o capture --trace
  schedscape domains capture/boot --diff recorded")]
pub struct CaptureArgs {
    /// A catalog name, `qemu:ARGUMENTS`, or a path, as for `machine show`
    pub machine: String,
    /// Directory to create
    #[arg(long, short, value_name = "DIR")]
    pub output: PathBuf,
    /// Steps to capture after `boot`. Each has a name and CPUs to take offline first, as in
    /// NAME:CPU.CPU;NAME:CPU
    #[arg(long, value_name = "STEPS", default_value = "", value_parser = steps)]
    pub steps: Steps,
    /// Also record scheduler, idle-state and frequency tracepoints while two tasks exchange
    /// messages, as ftrace text in trace.txt
    #[arg(long)]
    pub trace: bool,
    /// Leave thread groups (POWER) or clusters (arm64) out of the firmware
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub guest: GuestArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape vm check experiments/wakeups-amd64.toml
  schedscape vm check experiments/wakeups-arm64.toml --workload hackbench --differences 5
  schedscape vm check experiments/wakeups-ppc64el.toml --json --at-least 90,98

Each workload runs once under each variant with the scheduler's tracepoints and a probe of select_task_rq_fair on. The model follows
the trace and is asked at each wake-up. Exit code 1 if --at-least is missed.")]
pub struct VmCheckArgs {
    /// An experiment (.toml)
    pub experiment: PathBuf,
    /// Only this machine; repeat it for more
    #[arg(long = "machine", value_name = "NAME")]
    pub machines: Vec<String>,
    /// Only this workload; repeat it for more
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Only this variant; repeat it for more
    #[arg(long = "variant", value_name = "NAME")]
    pub variants: Vec<String>,
    #[command(flatten)]
    pub guest: GuestArgs,
    /// Show the first N wake-ups that differ, with what they were decided from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub differences: usize,
    /// Percentages of the determined wake-ups that must go to the same CPU, and to the same cache
    #[arg(long, value_name = "CPU,LLC", value_delimiter = ',', num_args = 1)]
    pub at_least: Vec<f64>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape vm exec 'qemu:-M q35 -smp 4,cores=2,threads=2' lscpu.sh --program lscpu
  schedscape vm exec epyc-7742-1s-nps1 run.sh --program ./a.out --file data.txt --file big.conf:/etc/small.conf
  schedscape vm exec power9-big-core topology.sh --kernel 6.12 > topology.txt

The script runs as root, in busybox's shell, with /proc, /sys, /dev, /tmp and debugfs mounted; what it left in the background is
ended with it. What it prints comes out as it comes, line by line.

Exit code: 0 if the script's is 0, 1 if it is another, which stderr names, 2 if the guest failed or could not boot.")]
pub struct ExecArgs {
    /// A catalog name, `qemu:ARGUMENTS`, or a path, as for `machine show`
    pub machine: String,
    /// The shell script
    pub script: PathBuf,
    /// A program of this computer, by its path or its name in PATH, for the script's PATH; may be repeated.
    /// It comes with its libraries, and must be of the guest's architecture
    #[arg(long = "program", value_name = "PATH")]
    pub programs: Vec<PathBuf>,
    /// Also give the guest Debian's bpftool, which is fetched where it is missing
    #[arg(long)]
    pub bpftool: bool,
    /// A file or directory of this computer for the guest; may be repeated. Without a place, or with a
    /// relative one, it is in the directory in which the script begins
    #[arg(long = "file", value_name = "FROM[:TO]")]
    pub files: Vec<String>,
    /// Leave thread groups (POWER) or clusters (arm64) out of the firmware
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub guest: GuestArgs,
}

/// Steps of a capture.
#[derive(Debug, Clone)]
pub struct Steps(pub Vec<vm::capture::Step>);

fn steps(text: &str) -> Result<Steps, String> {
    vm::capture::parse_steps(text).map(Steps)
}
