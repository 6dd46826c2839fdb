//! When is logging worth it? Two vcores take turns on one core, without the scheduler: a pointer chase over a working set,
//! or a stream through it, and a neighbour that streams through memory of its own. What matters is how much of the working
//! set the neighbour pushes out, how much of it an L2 can hold, how long there is to use what comes back, and what the
//! restore takes from others' bandwidth.

use super::core::{At, Core, Thread, refused};
use super::costs::Costs;
use super::host::HostCpu;
use super::programs::{Chaser, LOAD_OVERLAP, Memory};
use super::share::{User, share_out};
use crate::SimError;
use crate::hardware::counted;
use crate::rng::{Purpose, Stream};
pub use cache::SizeClass;
use cache::{
    CacheError, Extent, Kind, LogControl, Logmpp, Mppr, Sampling, TableAddress, Tables, Walk,
};
use machine::Machine;
use setting::Rate;
use workload::kvm;

/// One set in so many is simulated.
const ONE_SET_IN: u32 = 16;
/// Slices before anything is measured, and slices measured: at least so long together and so many, which is enough to push
/// out an L3 and to go through it.
const WARMUP: (f64, u32) = (24e6, 3);
const MEASURED: (f64, u32) = (12e6, 6);
/// How long bandwidth stays shared out as it is.
const ROUND_NS: f64 = 2_000.0;
/// Core cycles of a load beside its wait. Assumed.
const LOAD_CYCLES: f64 = 2.0;
/// Core cycles for a line of a stream. Assumed.
const STREAM_CYCLES: f64 = 16.0;
/// Later than every release.
const NEWEST: (u16, u16) = (u16::MAX, 0);

/// What goes through the working set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goes {
    /// A pointer chase: every load waits for the one before.
    Chase,
    /// A stream of loads, which the core's prefetcher follows.
    Stream,
}

/// One case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// What is measured.
    pub goes: Goes,
    /// Its working set, in KiB.
    pub working_set_kib: f64,
    /// How long each runs before the other does, in us.
    pub slice_us: f64,
    /// What the neighbour streams through, in KiB.
    pub neighbour_kib: f64,
    /// What is logged and how fast it is restored; without, the engine rests.
    pub engine: Option<(SizeClass, Rate)>,
}

/// What a case gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turned {
    /// Lines loaded in a slice.
    pub loads: f64,
    /// Lines that the engine brought in a slice.
    pub restored: f64,
    /// Of these, lines that something touched before they went out.
    pub useful: f64,
}

/// A core with two vcores.
struct Turns<'a> {
    core: Core,
    tables: Tables,
    host: HostCpu,
    costs: &'a Costs,
    thread: Thread,
    now_ns: f64,
}

impl Turns<'_> {
    /// What comes between two slices: the way out, the switch, the way in.
    fn switch(&mut self, switch_ns: f64) {
        let mut at = At {
            core: &mut self.core,
            thread: &mut self.thread,
            tables: &mut self.tables,
            alone: false,
        };
        let ns = self.costs.guest_exit_ns + switch_ns;
        at.thread.now_ns = self.now_ns;
        self.host.works(&mut at, ns);
        self.now_ns += ns;
        self.core.engine_until(self.now_ns, &mut self.tables);
        self.core.streams.forget();
    }

    /// Shares the core's bandwidth out between the one who runs and the engine, by what they moved in `ns`.
    fn share(&mut self, ns: f64) {
        let bytes = |lines: &mut f64| std::mem::take(lines) * self.costs.line_bytes / ns;
        let user = |moved, line_ns| User { core: 0, package: 0, moved, line_ns };
        let mut users = [
            user(bytes(&mut self.thread.lines), self.thread.line_ns),
            user(bytes(&mut self.core.engine_lines), self.core.pace.transfer_ns),
        ];
        share_out(&mut users, 1, self.costs);
        let [thread, engine] = users;
        (self.thread.line_ns, self.core.pace.transfer_ns) = (thread.line_ns, engine.line_ns);
    }

    /// A slice of `slice_ns`, which `work` fills, with table `table` of the one who runs.
    fn slice(
        &mut self,
        slice_ns: f64,
        operands: Option<(u64, u64)>,
        mut work: impl FnMut(&mut At<'_>, f64) -> f64,
    ) -> Result<f64, CacheError> {
        if let Some((_, restore)) = operands {
            self.core.engine.mppr(restore, &self.tables, self.now_ns)?;
        }
        let until_ns = self.now_ns + slice_ns;
        self.thread.now_ns = self.now_ns + self.costs.guest_entry_ns;
        let mut done = 0.0;
        while self.now_ns < until_ns {
            let round_ns = (self.now_ns + ROUND_NS).min(until_ns);
            let mut at = At {
                core: &mut self.core,
                thread: &mut self.thread,
                tables: &mut self.tables,
                alone: true,
            };
            done += work(&mut at, round_ns);
            self.core.engine_until(round_ns, &mut self.tables);
            self.share(round_ns - self.now_ns);
            self.now_ns = round_ns;
        }
        self.now_ns = until_ns.max(self.thread.now_ns);
        self.core.engine_until(self.now_ns, &mut self.tables);
        if let Some((log, _)) = operands {
            self.core.engine.logmpp(log, &mut self.tables, self.now_ns)?;
        }
        Ok(done)
    }
}

fn operands(
    table: Option<TableAddress>,
    engine: Option<(SizeClass, Rate)>,
) -> Result<Option<(u64, u64)>, CacheError> {
    let (Some(table), Some((class, rate))) = (table, engine) else { return Ok(None) };
    let control = match class {
        SizeClass::L2 => LogControl::L2,
        SizeClass::L2AndL3 => LogControl::L2AndL3,
    };
    let restore = Mppr { table, extent: Extent::UntilEnd, rate };
    Ok(Some((Logmpp { table, control }.encode()?, restore.encode())))
}

/// Runs `case` on a core of `machine`.
///
/// # Errors
/// Constants or caches that the machine lacks.
pub fn turn(machine: &Machine, case: &Case) -> Result<Turned, SimError> {
    let costs = Costs::new(machine)?;
    take_turns(&costs, switch_ns(machine)?, case).map_err(refused(&machine.name))
}

/// A switch of processes, by the kernel whose costs were counted last.
fn switch_ns(machine: &Machine) -> Result<f64, SimError> {
    let constant = |name: &str| {
        let missing = |e| SimError::Constant { machine: machine.name.clone(), missing: e };
        machine.constants.value(name).map_err(missing)
    };
    let parts = counted(machine, NEWEST)?;
    let cycles = parts.switch * constant("kernel_cycles_per_instruction")?;
    Ok(cycles / constant("nominal_khz")? * 1e6)
}

fn take_turns(costs: &Costs, switch_ns: f64, case: &Case) -> Result<Turned, CacheError> {
    let sampling = Sampling::one_in(ONE_SET_IN)?;
    let mut draws = Stream::new(1, Purpose::Partitions);
    let mut memory = Memory::new(costs, sampling, &mut draws);
    let own = memory.region(costs.lines(case.working_set_kib));
    let chase = kvm::Chase { working_set_kib: case.working_set_kib, load_cycles: LOAD_CYCLES };
    let mut chaser = Chaser::new(&chase, own, &mut memory);
    let lines = costs.lines(case.neighbour_kib);
    let mut stroll = Walk::new(own, costs.lines(case.working_set_kib), sampling);
    let mut neighbour = Walk::new(memory.region(lines), lines, sampling);
    let line_ns = costs.line_bytes / costs.core_bandwidth;
    let class = case.engine.map_or(SizeClass::L2, |e| e.0);
    let mut turns = Turns {
        core: Core::new(costs, costs.log_ns, sampling)?,
        tables: Tables::new(super::TABLES, class, costs.table_bytes(class), sampling, 2)?,
        host: HostCpu::new(0, Thread::new(line_ns), &mut memory),
        costs,
        thread: Thread::new(line_ns),
        now_ns: 0.0,
    };
    let first = operands(turns.tables.address(0), case.engine)?;
    let second = operands(turns.tables.address(1), case.engine)?;
    let slice_ns = case.slice_us * 1e3;
    let factor = f64::from(sampling.factor());
    let brought = |t: &Turns<'_>| {
        let c = t.core.engine.counters();
        c.from_memory + c.from_l3
    };
    let mut sum = Turned { loads: 0.0, restored: 0.0, useful: 0.0 };
    let turns_of = |(ns, least): (f64, u32)| least.max((ns / slice_ns).ceil() as u32);
    let (warmup, measured) = (turns_of(WARMUP), turns_of(MEASURED));
    for number in 0..warmup + measured {
        let (before, useful) = (brought(&turns), turns.core.useful);
        let loads = turns.slice(slice_ns, first, |at, until| match case.goes {
            Goes::Chase => chaser.run(at, until),
            Goes::Stream => stream(&mut stroll, at, until, factor),
        })?;
        if number >= warmup {
            sum.loads += loads;
            sum.restored += (brought(&turns) - before) as f64 * factor;
            sum.useful += (turns.core.useful - useful) as f64 * factor;
        }
        turns.switch(switch_ns);
        turns.slice(slice_ns, second, |at, until| stream(&mut neighbour, at, until, factor))?;
        turns.switch(switch_ns);
    }
    let mean = |total: f64| total / f64::from(measured);
    Ok(Turned { loads: mean(sum.loads), restored: mean(sum.restored), useful: mean(sum.useful) })
}

/// Line after line: lines read.
fn stream(walk: &mut Walk, at: &mut At<'_>, until_ns: f64, factor: f64) -> f64 {
    let mut lines = 0.0;
    while at.thread.now_ns < until_ns {
        at.access(walk.next_line(), Kind::Read, LOAD_OVERLAP);
        at.compute(STREAM_CYCLES * factor);
        lines += factor;
    }
    lines
}
