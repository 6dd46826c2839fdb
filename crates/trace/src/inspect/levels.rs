//! Over time: runnable tasks, idle CPUs, uneven queues; clocks and idle states.

use serde::Serialize;
use std::collections::BTreeMap;

/// Bins of time, at most.
const BINS: usize = 200;
/// Length of a bin at first.
const FIRST_NS: u64 = 1_000_000;

/// Means over a bin of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Level {
    /// When it begins.
    pub from_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// Runnable tasks, those that run included.
    pub runnable: f64,
    /// CPUs that idle, of those of which something is known.
    pub idle_cpus: f64,
    /// Longest less shortest queue, the running task included.
    pub imbalance: f64,
}

/// Time of a CPU at each clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clocks {
    /// The CPU.
    pub cpu: usize,
    /// By clock in kHz: time in ns.
    pub time_ns: BTreeMap<u32, u64>,
}

/// Time of a CPU in each idle state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IdleStates {
    /// The CPU.
    pub cpu: usize,
    /// By number of the state: time in ns.
    pub time_ns: BTreeMap<u32, u64>,
    /// By number of the state: how often it was entered.
    pub entries: BTreeMap<u32, u64>,
}

/// Sums over a bin, times ns.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    runnable: f64,
    idle: f64,
    imbalance: f64,
}

/// Follows queues.
#[derive(Debug)]
pub(super) struct Levels {
    waiting: Vec<u32>,
    busy: Vec<Option<bool>>,
    first_ns: Option<u64>,
    last_ns: u64,
    bin_ns: u64,
    bins: Vec<Bin>,
    /// By CPU: its clock, and since when.
    clocks: Vec<Option<(u32, u64)>>,
    clock_times: Vec<BTreeMap<u32, u64>>,
    /// By CPU: its idle state, and since when.
    states: Vec<Option<(u32, u64)>>,
    state_times: Vec<BTreeMap<u32, u64>>,
    entries: Vec<BTreeMap<u32, u64>>,
}

impl Levels {
    pub(super) fn new(cpus: usize) -> Levels {
        Levels {
            waiting: vec![0; cpus],
            busy: vec![None; cpus],
            first_ns: None,
            last_ns: 0,
            bin_ns: FIRST_NS,
            bins: vec![],
            clocks: vec![None; cpus],
            clock_times: vec![BTreeMap::new(); cpus],
            states: vec![None; cpus],
            state_times: vec![BTreeMap::new(); cpus],
            entries: vec![BTreeMap::new(); cpus],
        }
    }

    pub(super) fn waits(&mut self, cpu: usize, at_ns: u64, by: i32) {
        self.advance(at_ns);
        self.waiting[cpu] = self.waiting[cpu].saturating_add_signed(by);
    }

    pub(super) fn runs(&mut self, cpu: usize, at_ns: u64, busy: bool) {
        self.advance(at_ns);
        self.busy[cpu] = Some(busy);
    }

    pub(super) fn clock(&mut self, cpu: usize, at_ns: u64, khz: u32) {
        if let Some((old, since_ns)) = self.clocks[cpu].replace((khz, at_ns)) {
            *self.clock_times[cpu].entry(old).or_default() += at_ns.saturating_sub(since_ns);
        }
    }

    pub(super) fn idle_state(&mut self, cpu: usize, at_ns: u64, state: Option<u32>) {
        if let Some((old, since_ns)) = self.states[cpu].take() {
            *self.state_times[cpu].entry(old).or_default() += at_ns.saturating_sub(since_ns);
        }
        if let Some(state) = state {
            *self.entries[cpu].entry(state).or_default() += 1;
            self.states[cpu] = Some((state, at_ns));
        }
    }

    /// What holds now held until `at_ns`.
    fn advance(&mut self, at_ns: u64) {
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        let mut from_ns = self.last_ns.max(first_ns);
        self.last_ns = self.last_ns.max(at_ns);
        if from_ns >= at_ns {
            return;
        }
        let known =
            self.busy.iter().zip(&self.waiting).filter_map(|(busy, n)| Some(((*busy)?, *n)));
        let (mut runnable, mut idle, mut low, mut high) = (0, 0, u32::MAX, 0);
        for (busy, waiting) in known {
            let queue = waiting + u32::from(busy);
            runnable += queue;
            idle += u32::from(!busy);
            (low, high) = (low.min(queue), high.max(queue));
        }
        let imbalance = high.saturating_sub(low.min(high));
        while from_ns < at_ns {
            let at = ((from_ns - first_ns) / self.bin_ns) as usize;
            if at >= BINS {
                self.merge();
                continue;
            }
            let end_ns = (first_ns + (at as u64 + 1) * self.bin_ns).min(at_ns);
            if self.bins.len() <= at {
                self.bins.resize(at + 1, Bin::default());
            }
            let length = (end_ns - from_ns) as f64;
            let bin = &mut self.bins[at];
            bin.runnable += length * f64::from(runnable);
            bin.idle += length * f64::from(idle);
            bin.imbalance += length * f64::from(imbalance);
            from_ns = end_ns;
        }
    }

    /// Makes one bin of each two.
    fn merge(&mut self) {
        self.bin_ns = self.bin_ns.saturating_mul(2);
        let sum = |pair: &[Bin]| {
            pair.iter().fold(Bin::default(), |a, b| Bin {
                runnable: a.runnable + b.runnable,
                idle: a.idle + b.idle,
                imbalance: a.imbalance + b.imbalance,
            })
        };
        self.bins = self.bins.chunks(2).map(sum).collect();
    }

    /// By CPU: clocks and idle states until `end_ns`; those of CPUs of which the trace has none are left out.
    pub(super) fn finish_states(&mut self, end_ns: u64) -> (Vec<Clocks>, Vec<IdleStates>) {
        for cpu in 0..self.clocks.len() {
            if let Some((khz, _)) = self.clocks[cpu] {
                self.clock(cpu, end_ns, khz);
            }
            self.idle_state(cpu, end_ns, None);
        }
        let clocks = self.clock_times.iter().cloned().enumerate();
        let clocks = clocks.map(|(cpu, time_ns)| Clocks { cpu, time_ns });
        let states = self.state_times.iter().cloned().zip(self.entries.iter().cloned()).enumerate();
        let states = states.map(|(cpu, (time_ns, entries))| IdleStates { cpu, time_ns, entries });
        (
            clocks.filter(|c| !c.time_ns.is_empty()).collect(),
            states.filter(|s| !s.entries.is_empty()).collect(),
        )
    }

    pub(super) fn finish(mut self, end_ns: u64) -> Vec<Level> {
        self.advance(end_ns);
        let first_ns = self.first_ns.unwrap_or(0);
        let level = |(at, bin): (usize, &Bin)| {
            let from_ns = first_ns + at as u64 * self.bin_ns;
            let length_ns = self.bin_ns.min(end_ns.saturating_sub(from_ns)).max(1);
            let mean = |sum: f64| sum / length_ns as f64;
            Level {
                from_ns,
                length_ns,
                runnable: mean(bin.runnable),
                idle_cpus: mean(bin.idle),
                imbalance: mean(bin.imbalance),
            }
        };
        self.bins.iter().enumerate().map(level).collect()
    }
}
