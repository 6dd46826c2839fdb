//! A core while programs touch lines: caches, prefetchers, and what an access costs a hardware thread.

use super::costs::Costs;
use crate::SimError;
use cache::{
    CacheError, Engine, EnginePace, Hierarchy, Kind, Level, Line, Sampling, Streams, Tables,
};

/// The clock of a hardware thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thread {
    /// Where it has got to, in ns.
    pub(crate) now_ns: f64,
    /// When memory has given it all lines so far.
    pub(crate) free_ns: f64,
    /// What memory takes for a line of its.
    pub(crate) line_ns: f64,
    /// Lines from and to memory since the bandwidth was last shared out.
    pub(crate) lines: f64,
}

impl Thread {
    /// A thread that has memory to itself.
    pub(crate) fn new(line_ns: f64) -> Thread {
        Thread { now_ns: 0.0, free_ns: 0.0, line_ns, lines: 0.0 }
    }
}

/// A core.
#[derive(Debug, Clone)]
pub(crate) struct Core {
    pub(crate) caches: Hierarchy,
    pub(crate) streams: Streams,
    pub(crate) engine: Engine,
    pub(crate) pace: EnginePace,
    /// Lines that the engine moved since the bandwidth was last shared out.
    pub(crate) engine_lines: f64,
    /// Length of a core cycle of each of its threads, in ns.
    pub(crate) cycle_ns: f64,
    /// By level: what waiting for a line costs, in ns.
    latency_ns: [f64; Level::COUNT],
    factor: f64,
    /// Accesses so far: programs see by it whether anything else used the caches.
    pub(crate) accesses: u64,
    /// Lines that the engine had brought before they were touched.
    pub(crate) useful: u64,
}

/// Refusals of the cache model on `machine`.
pub(crate) fn refused(machine: &str) -> impl Fn(CacheError) -> SimError + '_ {
    move |source| SimError::Cache { machine: machine.to_string(), source }
}

impl Core {
    /// A core with empty caches, of which one set in so many is simulated.
    pub(crate) fn new(costs: &Costs, log_ns: f64, sampling: Sampling) -> Result<Core, CacheError> {
        let factor = f64::from(sampling.factor());
        let transfer_ns = costs.line_bytes / costs.core_bandwidth;
        Ok(Core {
            caches: Hierarchy::new(&costs.shape, sampling.factor())?,
            streams: Streams::new(costs.stream_ramp_lines, sampling),
            engine: Engine::new(costs.shape.l2.line_bytes, sampling),
            pace: EnginePace { log_ns, restore_ns: costs.restore_ns, transfer_ns },
            engine_lines: 0.0,
            cycle_ns: 1.0 / costs.ghz,
            latency_ns: [0.0, costs.l2_ns, costs.l3_ns, costs.memory_ns],
            factor,
            accesses: 0,
            useful: 0,
        })
    }

    /// Lets the engine do what is due until `now_ns`.
    pub(crate) fn engine_until(&mut self, now_ns: f64, tables: &mut Tables) {
        if self.engine.due_ns() <= now_ns {
            let (pace, caches) = (&self.pace, &mut self.caches);
            self.engine_lines += self.engine.advance(now_ns, pace, caches, tables);
        }
    }
}

/// A hardware thread at work on its core.
pub(crate) struct At<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) thread: &'a mut Thread,
    pub(crate) tables: &'a mut Tables,
    /// Whether nobody else can use the core's caches before the thread is next looked at, the engine apart.
    pub(crate) alone: bool,
}

impl At<'_> {
    /// Works for so many core cycles.
    #[inline]
    pub(crate) fn compute(&mut self, cycles: f64) {
        self.thread.now_ns += cycles * self.core.cycle_ns;
    }

    /// Accesses a line, of whose misses `overlap` are under way at a time; whether it cost nothing.
    #[inline]
    pub(crate) fn access(&mut self, line: Line, kind: Kind, overlap: f64) -> bool {
        let (core, thread) = (&mut *self.core, &mut *self.thread);
        core.engine_until(thread.now_ns, self.tables);
        core.accesses += 1;
        let found = core.caches.access(line, kind);
        core.useful += u64::from(found.prefetched);
        // Stores that the L2 takes drain behind the core's back.
        if found.level == Level::L1 || (found.level == Level::L2 && kind == Kind::Write) {
            return true;
        }
        let waits = core.streams.miss(line);
        let stall_ns = waits * core.latency_ns[found.level as usize] / overlap;
        let before_ns = thread.now_ns;
        thread.now_ns += stall_ns;
        if found.level == Level::Memory {
            thread.now_ns = thread.now_ns.max(thread.free_ns);
        }
        let lines =
            core.factor * f64::from(found.writebacks + u32::from(found.level == Level::Memory));
        if lines > 0.0 {
            thread.free_ns = thread.free_ns.max(before_ns) + lines * thread.line_ns;
            thread.lines += lines;
        }
        false
    }

    /// Whether the next lap through lines that were all in the L1 can only be as the last one: nothing used the caches
    /// since `accesses`, nor will before the thread is next looked at.
    pub(crate) fn undisturbed(&self, accesses: u64) -> bool {
        self.alone && self.core.accesses == accesses && self.core.engine.due_ns().is_infinite()
    }
}
