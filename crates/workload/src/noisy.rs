//! A neighbour: threads that take one thing away from whatever runs beside them.
//!
//! * `cpu`: each works for a part of every period.
//! * `bandwidth`: each reads memory without end, at a rate if nothing holds it back.
//! * `cache`: each goes over a working set without end, and so keeps it in the caches that others want.
//! * `wakeups`: each is woken at a rate, by its timer or through a pipe by a thread that a timer wakes, and works for a moment.

pub use crate::clock_costs::ClockCosts as Costs;
use crate::footprint::Footprint;
use crate::placement::Placement;
use crate::program::{
    HistogramId, Metric, Missed, Op, Program, Reading, Since, Spread, Work, Workload,
};
use crate::window::Window;
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "noisy";
/// Work after which a thread that works without end counts, in us.
const BURST_US: f64 = 1000.0;
/// Misses in flight of a thread that goes over a working set: as many as independent loads have. Assumed.
const OVERLAP: f64 = 4.0;
/// Working set of a thread that reads memory once: what its code and its stack are. Assumed.
const SMALL_KIB: f64 = 16.0;
/// Percentiles of how late woken threads run.
const PERCENTS: [f64; 2] = [50.0, 99.0];

/// What a neighbour does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// Takes CPU time.
    Cpu {
        /// Part of a CPU that a thread alone takes, more than 0 and at most 1.
        share: f64,
        /// Its period in ms.
        period_ms: f64,
    },
    /// Takes memory bandwidth.
    Bandwidth {
        /// 10^9 bytes a second that a thread alone reads.
        gb_per_s: f64,
    },
    /// Takes caches.
    Cache {
        /// Working set of a thread in KiB.
        working_set_kib: f64,
        /// Lines of it touched in a us of work.
        touches_per_us: f64,
    },
    /// Takes wake-ups.
    Wakeups {
        /// Wake-ups of a thread in a second.
        per_s: f64,
        /// Work after each, in us.
        work_us: f64,
        /// Whether another thread sends it a byte through a pipe each time.
        #[serde(default)]
        pipe: bool,
    },
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What it takes.
    pub kind: Kind,
    /// Threads.
    pub threads: u16,
    /// Warm-up in seconds.
    pub warmup_s: f64,
    /// Measured time in seconds.
    pub seconds: f64,
    /// On which nodes its memory lies.
    #[serde(default, skip_serializing_if = "Placement::is_default")]
    pub placement: Placement,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// Work done.
pub const WORK_MS_PER_S: &str = "work_ms_per_s";
/// Bytes read.
pub const MB_PER_S: &str = "mb_per_s";
/// Lines touched.
pub const TOUCHES_PER_US: &str = "touches_per_us";
/// Wake-ups.
pub const WAKEUPS_PER_S: &str = "wakeups_per_s";

impl Params {
    fn check(&self) -> Result<(), WorkloadError> {
        check::within(NAME, "threads", self.threads, 1..=4096, "1 to 4096")?;
        check::window(NAME, self.warmup_s, self.seconds)?;
        match self.kind {
            Kind::Cpu { share, period_ms } => {
                check::within(NAME, "kind.cpu.share", share, 1e-4..=1.0, "0.0001 to 1")?;
                check::within(NAME, "kind.cpu.period_ms", period_ms, 1e-2..=1e5, "0.01 to 100000")
            }
            Kind::Bandwidth { gb_per_s } => check::within(
                NAME,
                "kind.bandwidth.gb_per_s",
                gb_per_s,
                1e-3..=1e3,
                "0.001 to 1000",
            ),
            Kind::Cache { working_set_kib, touches_per_us } => {
                let kib = working_set_kib;
                check::within(NAME, "kind.cache.working_set_kib", kib, 1.0..=1e9, "1 to 1e9")?;
                let touches = touches_per_us;
                check::within(
                    NAME,
                    "kind.cache.touches_per_us",
                    touches,
                    1e-3..=1e4,
                    "0.001 to 10000",
                )
            }
            Kind::Wakeups { per_s, work_us, .. } => {
                check::within(NAME, "kind.wakeups.per_s", per_s, 1e-3..=1e6, "0.001 to 1e6")?;
                check::work_us(NAME, "kind.wakeups.work_us", work_us)
            }
        }
    }

    /// What a thread that works without end does to memory.
    pub fn footprint(&self) -> Option<Footprint> {
        let none = Footprint {
            working_set_kib: SMALL_KIB,
            touches_per_us: 0.0,
            overlap: OVERLAP,
            gb_per_s: 0.0,
            placement: self.placement,
        };
        match self.kind {
            Kind::Bandwidth { gb_per_s } => Some(Footprint { gb_per_s, ..none }),
            Kind::Cache { working_set_kib, touches_per_us } => {
                Some(Footprint { working_set_kib, touches_per_us, ..none })
            }
            Kind::Cpu { .. } | Kind::Wakeups { .. } => None,
        }
    }

    /// The result's name, its unit, and how much of it a burst is.
    pub fn result(&self) -> (&'static str, &'static str, f64) {
        let burst_us = self.burst_us();
        match self.kind {
            Kind::Cpu { .. } => (WORK_MS_PER_S, "ms/s", burst_us / 1e3),
            Kind::Bandwidth { gb_per_s } => (MB_PER_S, "MB/s", gb_per_s * burst_us / 1e3),
            Kind::Cache { touches_per_us, .. } => {
                (TOUCHES_PER_US, "touches/us", touches_per_us * burst_us / 1e6)
            }
            Kind::Wakeups { .. } => (WAKEUPS_PER_S, "wake-ups/s", 1.0),
        }
    }

    /// Work in a row, in us.
    pub fn burst_us(&self) -> f64 {
        match self.kind {
            Kind::Cpu { share, period_ms } if share < 1.0 => share * period_ms * 1e3,
            Kind::Wakeups { work_us, .. } => work_us,
            _ => BURST_US,
        }
    }
}

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    params.check()?;
    let mut w = Workload::default();
    let window = Window::new(&mut w);
    let times = w.histogram(Some(window.open));
    let burst = Op::Compute(Work::fixed(params.burst_us() * costs.cycles_per_us));
    let mut main = Vec::new();
    for _ in 0..params.threads {
        let ops = match params.kind {
            Kind::Cpu { share, period_ms } if share < 1.0 => {
                let due = wait(&mut w, period_ms * 1e6);
                repeated(None, vec![due, burst.clone(), record(times, Since::Due)])
            }
            Kind::Wakeups { per_s, pipe: false, .. } => {
                let due = wait(&mut w, 1e9 / per_s);
                repeated(None, vec![due, record(times, Since::Due), burst.clone()])
            }
            Kind::Wakeups { per_s, pipe: true, .. } => {
                let pipe = w.pipe();
                let due = wait(&mut w, 1e9 / per_s);
                let sender = repeated(None, vec![due, Op::Send(pipe)]);
                main.push(Op::Clone(w.program(NAME, sender)));
                let read = vec![Op::Receive(pipe), record(times, Since::Message), burst.clone()];
                repeated(None, read)
            }
            _ => {
                let memory = params.footprint().map(|f| f.begin(costs.cycles_per_us));
                repeated(memory, vec![Op::Stamp, burst.clone(), record(times, Since::Stamp)])
            }
        };
        main.push(Op::Clone(w.program(NAME, ops)));
    }
    main.extend(window.ops(params.warmup_s, params.seconds));
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    metrics(&mut w, params, times, window);
    Ok(w)
}

fn record(histogram: HistogramId, since: Since) -> Op {
    Op::Record { histogram, since }
}

/// Waits for a timer of its own; who is late goes by when it comes.
fn wait(w: &mut Workload, period_ns: f64) -> Op {
    let (timer, spread, missed) = (w.timer(), Spread::Fixed, Missed::Restart);
    Op::TimerWait { timer, period_ns: period_ns as u64, spread, missed }
}

/// `first`, and then `ops` again and again.
fn repeated(first: Option<Op>, ops: Vec<Op>) -> Vec<Op> {
    let mut all: Vec<Op> = first.into_iter().collect();
    let to = all.len() as u16;
    all.extend(ops);
    all.push(Op::Loop { to, times: 0 });
    all
}

fn metrics(w: &mut Workload, params: &Params, times: HistogramId, window: Window) {
    let (name, unit, units) = params.result();
    let Window { from, to, .. } = window;
    w.metrics.push(Metric {
        name: name.to_string(),
        unit: unit.to_string(),
        better: Better::Higher,
        reading: Reading::RecordsPerSecond { histogram: times, units, from, to },
    });
    if matches!(params.kind, Kind::Wakeups { .. }) {
        w.metrics.extend(Metric::latencies("late", times, &PERCENTS));
    }
}
