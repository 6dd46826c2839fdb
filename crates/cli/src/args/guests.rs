//! The command line of `schedscape vm`.

use super::{DomainsFormat, MachineArgs};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum VmCommand {
    /// Fetch QEMU, kernels and guest programs as Debian packages, without root
    Fetch(FetchArgs),
    /// Say what is missing to boot guests, and the command that installs it; exit code 1 where something is
    Doctor(DoctorArgs),
    /// Boot a machine and show the sched domains that its kernel builds
    Domains(VmDomainsArgs),
    /// Boot a machine and keep what its kernel says of it, in the form that `domains` and `machine` read
    Capture(CaptureArgs),
}

/// Where fetched things are.
#[derive(Debug, Clone, ClapArgs)]
pub struct CacheArgs {
    /// Directory of what is fetched; $XDG_CACHE_HOME/schedscape or ~/.cache/schedscape where absent
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
    /// Architecture of the guests: amd64, arm64 or ppc64el; all where absent
    #[arg(long = "arch", value_name = "ARCH")]
    pub archs: Vec<vm::Arch>,
    /// Debian's suite
    #[arg(long, default_value = "stable")]
    pub suite: String,
    /// Kernel release that the suite must have; its newest where absent
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kernel::Version>,
    /// Just these
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
    /// What runs in guests, as packages
    Programs,
    /// Our own worker for guests, built with a compiler that is installed or fetched
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
    /// Print data instead of text
    #[arg(long)]
    pub json: bool,
}

/// What guests boot and run on.
#[derive(Debug, Clone, ClapArgs)]
pub struct GuestArgs {
    /// Kernel release. Where absent, the newest that is fetched, and for an experiment that of each variant
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kernel::Version>,
    /// What executes the guest's instructions
    #[arg(long, value_enum, default_value_t = AccelName::Tcg)]
    pub accel: AccelName,
    /// Let the guest's clock count instructions, of so many nanoseconds each as a power of two (0 to 10); one CPU of
    /// the guest runs at a time then
    #[arg(long, value_name = "SHIFT", num_args = 0..=1, default_missing_value = "1", value_parser = clap::value_parser!(u8).range(0..=10))]
    pub icount: Option<u8>,
    /// Further words for the kernel's command line
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub append: String,
    /// Seconds that a boot with all its runs may take; 3600 where absent
    #[arg(long, value_name = "S")]
    pub limit_s: Option<u64>,
    /// Seconds that a guest may be silent; 600 where absent
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
        options.into_iter().find(|option| option.1).map(|option| option.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AccelName {
    /// QEMU's own translation: any architecture on any
    Tcg,
    /// The processor itself, for guests of this computer's architecture
    Kvm,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape vm domains power9-big-core
  schedscape vm domains power9-big-core --smt 4 --diff
  schedscape vm domains power9-big-core --plain --format study
  schedscape vm domains 'qemu:-M q35 -smp 16,sockets=2,cores=4,threads=2' --kernel 6.12 --diff

With --diff the exit code is 0 where the kernel builds what is predicted, 1 where not, 2 where that cannot be said.")]
pub struct VmDomainsArgs {
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Leave firmware's thread groups (POWER) or clusters (arm64) away
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub guest: GuestArgs,
    /// Form
    #[arg(long, value_enum, default_value_t = DomainsFormat::Log)]
    pub format: DomainsFormat,
    /// Show what differs from the prediction
    #[arg(long, conflicts_with = "format")]
    pub diff: bool,
    /// Keep the capture in this new directory
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
    /// The new directory
    #[arg(long, short, value_name = "DIR")]
    pub output: PathBuf,
    /// States to capture after `boot`: name and CPUs that go offline first, as NAME:CPU.CPU;NAME:CPU
    #[arg(long, value_name = "STEPS", default_value = "", value_parser = steps)]
    pub steps: Steps,
    /// Record the scheduler's tracepoints and those of idle states and frequencies while messages go to and fro, as
    /// ftrace's text in trace.txt
    #[arg(long)]
    pub trace: bool,
    /// Leave firmware's thread groups (POWER) or clusters (arm64) away
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
