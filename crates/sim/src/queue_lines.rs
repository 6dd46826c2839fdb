//! Who has the lines of run queues.
//!
//! Searches for an idle CPU and balancing read other CPUs' run queues. What a CPU has read and nobody has written since costs nothing
//! but its instructions; the rest has to be fetched from the CPU that wrote last. So for each queue this room knows who wrote it last and
//! how often it was written, for each CPU how much of that it has seen, and when it last balanced at which level.
//!
//! A search looks at single queues. What a CPU has not seen comes from the last of its last-level cache that fetched it, if nobody has
//! written since, and else from the CPU that wrote last. A balance looks at a domain: it goes through the queues written since it last
//! looked there or at a larger one, newest first.

use crate::counters::milli_lines;
use crate::topology::{Cpu, Topology};
use crate::world::World;

/// Levels of domains that are told apart; looking at a higher one counts as looking at the highest of these.
const LEVELS: usize = 8;
/// Nobody, at the end of a list.
const NONE: Cpu = Cpu::MAX;

/// One queue.
#[derive(Debug, Clone, Copy)]
struct Written {
    /// CPU that wrote it last.
    by: Cpu,
    writes: u32,
    at_ns: u64,
    /// The next in the last-level cache that was written later, and earlier.
    later: Cpu,
    earlier: Cpu,
}

/// What a last-level cache has of a queue.
#[derive(Debug, Clone, Copy)]
struct Copied {
    /// CPU that fetched it, or wrote it.
    by: Cpu,
    /// Writes up to then.
    writes: u32,
}

/// All run queues.
#[derive(Debug, Default)]
pub(crate) struct QueueLines {
    queues: Vec<Written>,
    /// By last-level cache: the queue written last.
    newest: Vec<Cpu>,
    /// By CPU and queue: writes that it has seen.
    seen: Vec<Box<[u32]>>,
    /// By last-level cache and queue.
    copied: Vec<Box<[Copied]>>,
    /// By CPU and level: when it looked at the domain last.
    looked_ns: Vec<[u64; LEVELS]>,
}

impl QueueLines {
    /// Nothing written.
    pub(crate) fn new(topo: &Topology) -> QueueLines {
        let fresh = |cpu: usize| Written {
            by: cpu as Cpu,
            writes: 0,
            at_ns: 0,
            later: NONE,
            earlier: NONE,
        };
        let mut all = QueueLines {
            queues: (0..topo.nr_cpus).map(fresh).collect(),
            newest: vec![NONE; topo.llcs.len()],
            seen: vec![vec![0; topo.nr_cpus].into_boxed_slice(); topo.nr_cpus],
            copied: vec![
                vec![Copied { by: 0, writes: 0 }; topo.nr_cpus].into_boxed_slice();
                topo.llcs.len()
            ],
            looked_ns: vec![[0; LEVELS]; topo.nr_cpus],
        };
        for (llc, at) in topo.llcs.iter().zip(0..) {
            llc.cpus.iter().for_each(|&cpu| all.push(at, cpu));
        }
        all
    }

    /// `by` has written the queue of `cpu` at `now_ns`.
    pub(crate) fn write(&mut self, topo: &Topology, cpu: Cpu, by: Cpu, now_ns: u64) {
        let llc = topo.llc_of[cpu as usize] as usize;
        let queue = &mut self.queues[cpu as usize];
        queue.by = by;
        queue.writes = queue.writes.wrapping_add(1);
        queue.at_ns = now_ns;
        let writes = queue.writes;
        self.seen[by as usize][cpu as usize] = writes;
        self.copied[topo.llc_of[by as usize] as usize][cpu as usize] = Copied { by, writes };
        if self.newest[llc] != cpu {
            self.unlink(cpu);
            self.push(llc, cpu);
        }
    }

    /// CPU that wrote the queue of `cpu` last.
    pub(crate) fn writer(&self, cpu: Cpu) -> Cpu {
        self.queues[cpu as usize].by
    }

    /// `cpu` looks at the queue of `other`; from where it has to fetch it, if it has to.
    pub(crate) fn look(&mut self, topo: &Topology, cpu: Cpu, other: Cpu) -> Option<Cpu> {
        let Written { by, writes, .. } = self.queues[other as usize];
        let seen = &mut self.seen[cpu as usize][other as usize];
        if std::mem::replace(seen, writes) == writes {
            return None;
        }
        let copied = &mut self.copied[topo.llc_of[cpu as usize] as usize][other as usize];
        let found = std::mem::replace(copied, Copied { by: cpu, writes });
        Some(if found.writes == writes { found.by } else { by })
    }

    /// `cpu` looks at all queues of its domain at `level`; `fetch` hears from where it fetches each that it has to.
    pub(crate) fn look_at_domain(
        &mut self,
        topo: &Topology,
        cpu: Cpu,
        level: usize,
        now_ns: u64,
        mut fetch: impl FnMut(Cpu),
    ) {
        let level = level.min(LEVELS - 1);
        let domain = &topo.domains[cpu as usize][level];
        let own = topo.llc_of[cpu as usize];
        let since_ns = self.since_ns(cpu);
        let lowest = topo.lowest_levels(cpu);
        // Nothing beyond the domain is new.
        let seen_ns = |at: Cpu| match usize::from(lowest[at as usize]) {
            l if l <= level => since_ns[l],
            _ => u64::MAX,
        };
        for &llc in &domain.llcs {
            // Domains hold all of another last-level cache or nothing.
            let outer = topo.llcs[llc as usize].cpus.first().filter(|_| llc != own);
            let outer_ns = outer.map(|&first| seen_ns(first)).filter(|&ns| ns != u64::MAX);
            let least_ns = outer_ns.unwrap_or(since_ns[level]);
            let mut at = self.newest[llc as usize];
            while at != NONE {
                let queue = &self.queues[at as usize];
                if queue.at_ns <= least_ns {
                    break;
                }
                let new = outer_ns.is_some() || queue.at_ns > seen_ns(at);
                if new && queue.by != cpu {
                    fetch(queue.by);
                }
                at = queue.earlier;
            }
        }
        self.looked_ns[cpu as usize][level] = now_ns;
    }

    /// By the lowest level whose domain holds a queue: when `cpu` looked at it last, at this level or a higher one.
    fn since_ns(&self, cpu: Cpu) -> [u64; LEVELS] {
        let mut since_ns = self.looked_ns[cpu as usize];
        for level in (0..LEVELS - 1).rev() {
            since_ns[level] = since_ns[level].max(since_ns[level + 1]);
        }
        since_ns
    }

    fn unlink(&mut self, cpu: Cpu) {
        let Written { later, earlier, .. } = self.queues[cpu as usize];
        // The newest of all has been left in place, so there is a later one.
        if later != NONE {
            self.queues[later as usize].earlier = earlier;
        }
        if earlier != NONE {
            self.queues[earlier as usize].later = later;
        }
    }

    fn push(&mut self, llc: usize, cpu: Cpu) {
        let before = std::mem::replace(&mut self.newest[llc], cpu);
        self.queues[cpu as usize].later = NONE;
        self.queues[cpu as usize].earlier = before;
        if before != NONE {
            self.queues[before as usize].later = cpu;
        }
    }
}

impl World<'_> {
    /// `cpu` looks at `other` in a search for an idle CPU; how many cycles that takes.
    pub(crate) fn look(&mut self, cpu: Cpu, other: Cpu) -> f64 {
        let look = self.hw.kernel.search;
        let mut cycles = self.kernel_cycles(look.instructions);
        if let Some(from) = self.queue_lines.look(self.topo, cpu, other) {
            cycles += self.fetch_queue(cpu, from, look.lines);
        }
        self.charge(cpu, cycles);
        cycles
    }

    /// `cpu` compares the groups of its domain at `level`.
    pub(crate) fn look_at_domain(&mut self, cpu: Cpu, level: usize) {
        let look = self.hw.kernel.balance;
        let domain = &self.topo.domains[cpu as usize][level];
        let mut cycles = self.kernel_cycles(domain.looked as f64 * look.instructions);
        let (topo, hw, now_ns) = (self.topo, self.hw, self.now_ns);
        let (clock, of_queue) = (self.cpus[cpu as usize].clock, milli_lines(look.lines));
        let mut lines = std::mem::take(&mut self.queue_lines);
        lines.look_at_domain(topo, cpu, level, now_ns, |from| {
            let distance = topo.distance(from, cpu);
            self.counters.note_milli_lines(distance, of_queue);
            // A queue's lines come side by side.
            cycles += hw.travel(distance, 1.0).cycles(clock);
        });
        self.queue_lines = lines;
        self.charge(cpu, cycles);
    }

    /// Lines of one run queue, which come side by side.
    fn fetch_queue(&mut self, cpu: Cpu, from: Cpu, lines: f64) -> f64 {
        self.travel(cpu, from, lines, 1.0).cycles(self.cpus[cpu as usize].clock)
    }

    /// `by` writes the run queue of `cpu`, which is not its own; what that takes.
    pub(crate) fn write_queue(&mut self, cpu: Cpu, by: Cpu) {
        let from = self.queue_lines.writer(cpu);
        self.charge_lines(by, from, self.hw.kernel.queue.other.lines);
        self.queue_lines.write(self.topo, cpu, by, self.now_ns);
    }

    /// `cpu` writes its own run queue, which another CPU may have written.
    pub(crate) fn write_own_queue(&mut self, cpu: Cpu) {
        let from = self.queue_lines.writer(cpu);
        self.charge_lines(cpu, from, self.hw.kernel.queue.own);
        self.queue_lines.write(self.topo, cpu, cpu, self.now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::testing::{machine, scenario};
    use crate::scenario::Scenario;
    use machine::CpuSet;

    /// Two last-level caches of four cores, 0-3 and 4-7, one thread each.
    fn two_llcs() -> Scenario {
        scenario(&machine("epyc-7742-1s-nps1", 8), "6.12", &[])
    }

    fn fetched(
        lines: &mut QueueLines,
        topo: &Topology,
        cpu: Cpu,
        level: usize,
        now_ns: u64,
    ) -> Vec<Cpu> {
        let mut from = Vec::new();
        lines.look_at_domain(topo, cpu, level, now_ns, |cpu| from.push(cpu));
        from
    }

    #[test]
    fn a_search_fetches_what_was_written_since() {
        let s = two_llcs();
        let topo = &s.setup.topo;
        let mut lines = QueueLines::new(topo);
        assert_eq!(lines.look(topo, 0, 1), None);
        lines.write(topo, 1, 1, 10);
        assert_eq!(lines.look(topo, 0, 1), Some(1));
        assert_eq!(lines.look(topo, 0, 1), None);
        lines.write(topo, 1, 2, 20);
        assert_eq!(
            (lines.writer(1), lines.look(topo, 0, 1), lines.look(topo, 2, 1)),
            (2, Some(2), None)
        );
        // From another last-level cache it comes once; the next one here has it from the first.
        lines.write(topo, 5, 5, 30);
        assert_eq!([lines.look(topo, 0, 5), lines.look(topo, 0, 5)], [Some(5), None]);
        assert_eq!([lines.look(topo, 1, 5), lines.look(topo, 2, 5)], [Some(0), Some(1)]);
        lines.write(topo, 5, 0, 40);
        assert_eq!([lines.look(topo, 0, 5), lines.look(topo, 5, 5)], [None, Some(0)]);
    }

    #[test]
    fn a_balance_fetches_queues_written_since_one_looked_there() {
        let s = two_llcs();
        let topo = &s.setup.topo;
        let mut lines = QueueLines::new(topo);
        let top = topo.domains[0].len() - 1;
        assert!(topo.domains[0][0].span == CpuSet::first_n(4) && top == 1);
        for (cpu, at_ns) in [(1, 10), (2, 20), (5, 30)] {
            lines.write(topo, cpu, cpu, at_ns);
        }
        assert_eq!(fetched(&mut lines, topo, 0, 0, 40), [2, 1]);
        assert_eq!(fetched(&mut lines, topo, 0, top, 50), [5]);
        assert!(fetched(&mut lines, topo, 0, top, 60).is_empty());
        lines.write(topo, 2, 2, 70);
        lines.write(topo, 1, 0, 80);
        assert_eq!(fetched(&mut lines, topo, 0, top, 90), [2]);
        assert!(fetched(&mut lines, topo, 0, 0, 100).is_empty());
    }
}
