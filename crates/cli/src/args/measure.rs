//! The command line of `schedscape measure`.

use super::CacheArgs;
use clap::{Args as ClapArgs, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum MeasureCommand {
    /// Count the cache lines and instructions of a kernel's operations in a guest
    Costs(CostsArgs),
    /// Run an experiment in guests and in the simulator, and compare cache lines and instructions of both
    Lines(LinesArgs),
    /// Show counted costs, or the names of the tables that come with the program
    Show(ShowCostsArgs),
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape measure show
  schedscape measure show arm64-6.12
  schedscape measure show mine.toml --json")]
pub struct ShowCostsArgs {
    /// A table's name, or a file that `measure costs` wrote [default: all names]
    pub table: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape measure lines experiments/lines-check.toml
  schedscape measure lines experiments/lines-check.toml --workload 'sched pipe' --within 10 --json

Each workload (hackbench, sched_pipe, netperf, schbench) runs in a guest of the experiment's machine that a plugin of QEMU
watches, and in the simulator; and again with half of its work. Figures are the difference of the two for each message,
transaction or request.

Exit code: 0 if instructions of the kernel and lines by distance agree, 1 if not, 2 if they could not be compared.")]
pub struct LinesArgs {
    /// The experiment file
    pub experiment: PathBuf,
    /// Only this workload; may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    pub workload: Vec<String>,
    /// Percent by which the simulator's counts may differ from the guest's
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0, value_parser = percent)]
    pub within: f64,
    /// Let the guest's clock be slower than this computer's by this factor, so that as much work is done between
    /// two ticks as on hardware; only arm64 can [default: 12 for each of its CPUs on
    /// arm64, else 1]
    #[arg(long, value_name = "FACTOR", value_parser = clap::value_parser!(u32).range(1..))]
    pub slowed: Option<u32>,
    /// Kernel release that boots and is simulated [default: each variant's own]
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kernel::Version>,
    /// Instructions by which the guest's CPUs may be apart
    #[arg(long, value_name = "INSTRUCTIONS", default_value_t = 200, value_parser = clap::value_parser!(u32).range(50..=10_000))]
    pub quantum: u32,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent > 0.0 => Ok(percent),
        _ => Err(format!("found {text}, expected a number above 0")),
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape measure costs --arch arm64
  schedscape measure costs --arch amd64 --kernel 6.12 -o amd64-6.12.toml
  schedscape measure costs --arch arm64 --only pipe --only futex

The guest has two sockets of two CPUs. A plugin of QEMU watches every access to memory and keeps which CPU has which
line. Each operation is done N times and then 2 N times; where the two do not agree, nothing is written.
`schedscape vm fetch` fetches what it needs.")]
pub struct CostsArgs {
    /// Architecture of the guest: amd64, arm64 or ppc64el
    #[arg(long, value_name = "ARCH")]
    pub arch: vm::Arch,
    /// Kernel release [default: the newest that is fetched]
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kernel::Version>,
    /// Measure only this operation, such as pipe; may be given several times
    #[arg(long, value_name = "OPERATION")]
    pub only: Vec<String>,
    /// Repetitions of a quick operation in the first window
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(200..=100_000))]
    pub rounds: u64,
    /// Bytes of a cache line [default: the architecture's: 64, on POWER 128]
    #[arg(long, value_name = "BYTES", value_parser = line_bytes)]
    pub line_bytes: Option<u32>,
    /// Instructions by which the guest's CPUs may be apart
    #[arg(long, value_name = "INSTRUCTIONS", default_value_t = 200, value_parser = clap::value_parser!(u32).range(50..=10_000))]
    pub quantum: u32,
    /// Where windows never agree, measure so often again and take the mean of all windows; the table has each [default: fail]
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub again: Option<u32>,
    /// Words for the kernel's command line, such as mitigations=off; the table has them
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    pub append: String,
    /// Show also which functions of the kernel take the locks
    #[arg(long, conflicts_with = "json")]
    pub callers: bool,
    /// File for the table, as TOML; it is shown in any case
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

fn line_bytes(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(bytes) if bytes.is_power_of_two() && (16..=4096).contains(&bytes) => Ok(bytes),
        _ => Err(format!("found {text}, expected a power of two from 16 to 4096")),
    }
}
