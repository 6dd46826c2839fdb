//! The command line of `schedscape trace`.

use super::{EngineName, GuestArgs};
use clap::{Args as ClapArgs, ValueEnum};
use machine::CpuSet;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape trace experiments/power9-big-core.toml --workload sched-pipe --variant big-core -o pipe.pftrace
  schedscape trace out/big-core --workload ebizzy --variant vanilla --run 7 -o ebizzy.trace
  schedscape trace experiments/power9-big-core.toml --workload ebizzy --variant vanilla \\
      --from-ms 100 --to-ms 150 --cpus 0-7 --task ebizzy -o window.pftrace
  schedscape trace out/big-core --workload ebizzy --variant vanilla -o trace.dat
  schedscape trace experiments/big-core-guest.toml --engine vm --workload sched-pipe \\
      --variant thread-groups -o guest.pftrace
  schedscape vm capture power9-big-core -o capture --trace
  schedscape trace capture/trace.txt -o capture.pftrace
  schedscape trace trace.dat -o recorded.pftrace
  schedscape trace perf.data --from-ms 100 --to-ms 150 -o window.trace

A run is simulated again with its own seed, so a stored run needs no timeline; on a real kernel it is
run anew. What a real machine recorded is told by its first bytes: `trace-cmd record -e sched -e power`
and `perf sched record` write files that can be read as they are. Perfetto's form opens in https://ui.perfetto.dev; ftrace's text is what
/sys/kernel/tracing/trace prints; trace-cmd and KernelShark read trace.dat.")]
pub struct TraceArgs {
    /// An experiment file (.toml), a directory written by `run --out`, or what a kernel recorded:
    /// ftrace's text (also .gz), trace-cmd's trace.dat, perf's perf.data, Perfetto's protobuf
    pub source: PathBuf,
    /// Workload [default: the only one of the experiment]
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Engine, if the source is an experiment
    #[arg(long, value_enum, default_value_t = EngineName::Sim)]
    pub engine: EngineName,
    /// Variant [default: the only one of the workload]
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Number of the run, counted from 0
    #[arg(long, value_name = "N")]
    pub run: Option<u32>,
    /// Seed; overrides the experiment's
    #[arg(long)]
    pub seed: Option<u64>,
    /// File to write; it appears only when complete
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Output format [default: by extension: .pftrace, .perfetto-trace; .txt, .trace; .dat]
    #[arg(long, value_enum)]
    pub format: Option<TraceFormat>,
    /// Start of the window, in ms of the timeline's clock
    #[arg(long, value_name = "MS", value_parser = ns)]
    pub from_ms: Option<Ns>,
    /// End of the window, in ms, exclusive
    #[arg(long, value_name = "MS", value_parser = ns)]
    pub to_ms: Option<Ns>,
    /// Only records made by these CPUs or about them
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<CpuSet>,
    /// Only records about tasks with this name or thread ID; may be repeated
    #[arg(long = "task", value_name = "NAME|PID")]
    pub tasks: Vec<String>,
    /// The library of the variant's source, to be loaded into this process
    #[arg(long, hide = true, value_name = "FILE")]
    pub library: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Guests, with `--engine vm`")]
    pub guest: GuestArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// Perfetto's protobuf
    Perfetto,
    /// ftrace's text
    Ftrace,
    /// trace-cmd's trace.dat
    TraceDat,
}

/// A point in time, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ns(pub u64);

/// Milliseconds with or without their unit.
pub(super) fn ms(text: &str) -> Result<Ns, String> {
    ns(text.strip_suffix("ms").unwrap_or(text).trim_end())
}

/// Milliseconds with up to six decimals.
fn ns(text: &str) -> Result<Ns, String> {
    let expected = || format!("found {text:?}, expected milliseconds, as 150 or 0.25");
    let (ms, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if !digits(ms) || !digits(fraction) || fraction.len() > 6 {
        return Err(expected());
    }
    let fraction: u64 = format!("{fraction:0<6}").parse().map_err(|_| expected())?;
    let ms: u64 = ms.parse().map_err(|_| expected())?;
    ms.checked_mul(1_000_000).and_then(|ns| ns.checked_add(fraction)).map(Ns).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (text, expected) in
            [("0", 0), ("150", 150_000_000), ("0.25", 250_000), ("1.000001", 1_000_001)]
        {
            assert_eq!(ns(text), Ok(Ns(expected)), "{text}");
            assert_eq!(ms(&format!("{text}ms")), Ok(Ns(expected)), "{text}");
            assert_eq!(ms(text), Ok(Ns(expected)), "{text}");
        }
        for bad in ["", "-1", "1.", ".5", "1e3", "0.0000001", "99999999999999999999"] {
            assert!(ns(bad).is_err(), "{bad}");
        }
    }
}
