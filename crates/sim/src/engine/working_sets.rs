//! What caches hold of each task's working set, brought up to date when a task's work is accounted for.
//!
//! `pace` calls at three moments. `begin` says how a task uses memory from now on: a set of the same size keeps what is
//! warm, another starts cold. `account` takes the cycles that were done,
//! updates what is warm, and adds what they cost beyond what was paid to what the task owes. `forecast` says what the
//! next cycles will cost, debt included, and changes nothing. Both go by `WorkingSet::outcome`: touches hit the CPU's
//! caches, first level first; what misses comes from last-level caches elsewhere that still hold it, and the rest from
//! memory, on whose nodes `crate::pages` has the set.
//!
//! Tasks affect each other through `filled_bytes` alone: what others brought into a cache evicts part of what was warm.
//! How a cache fills is `crate::warmth`'s; what things cost is `hardware::Memory`'s. No clock, rate or event is known
//! here: `pace` turns a forecast into speed, and `bandwidth` shares what memory can give.

use crate::hardware::{Hardware, MAX_LEVELS, Memory};
use crate::topology::{Cpu, Topology};
use crate::warmth::{Fit, survives};
use crate::world::TaskId;
use workload::MemoryUse;

/// Caches in which a task's bytes are remembered; those with the fewest are forgotten first.
const MAX_PLACES: usize = 16;
/// A debt that is not worth slowing a step down for, in ns.
const DEBT_NS: f64 = 1.0;

/// Part of a working set in one cache.
#[derive(Debug, Clone, Copy)]
struct Warm {
    cache: u16,
    bytes: f64,
    /// What had come into the cache when this was noted.
    seen_bytes: f64,
    /// What others brought in, in bytes a core cycle of the task, over the work accounted for last; 0 after none.
    pressure: f64,
}

#[derive(Debug)]
struct WorkingSet {
    used: MemoryUse,
    warm: Vec<Warm>,
    /// Memory time of work done that the task has not spent yet; what others did meanwhile is known late.
    owed: MemoryTime,
}

/// Time spent on memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MemoryTime {
    /// Whatever the core's clock.
    ns: f64,
    /// At the nominal clock; it goes with the core's.
    core_ns: f64,
}

impl MemoryTime {
    fn add(&mut self, ns: f64, at_core_clock: bool) {
        *(if at_core_clock { &mut self.core_ns } else { &mut self.ns }) += ns;
    }

    /// Of work of the core, in ns at the nominal clock.
    pub(super) fn of_core(core_ns: f64) -> MemoryTime {
        MemoryTime { ns: 0.0, core_ns }
    }

    /// Of memory, in ns.
    pub(super) fn of_memory(ns: f64) -> MemoryTime {
        MemoryTime { ns, core_ns: 0.0 }
    }

    pub(super) fn plus(self, more: MemoryTime) -> MemoryTime {
        MemoryTime { ns: self.ns + more.ns, core_ns: self.core_ns + more.core_ns }
    }

    pub(super) fn times(self, factor: f64) -> MemoryTime {
        MemoryTime { ns: self.ns * factor, core_ns: self.core_ns * factor }
    }

    fn positive(self) -> MemoryTime {
        MemoryTime { ns: self.ns.max(0.0), core_ns: self.core_ns.max(0.0) }
    }

    /// In ns, of a core at `clock` in terms of the nominal one.
    pub(super) fn ns(self, clock: f64) -> f64 {
        self.ns + self.core_ns / clock
    }
}

/// What so many cycles of a task cost and leave.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    pub(super) memory: MemoryTime,
    /// Of the working set, from memory.
    pub(super) set_bytes: f64,
    /// Streamed, from or to memory.
    pub(super) stream_bytes: f64,
    /// Touches of the working set, in caches or not.
    pub(super) touches: f64,
    /// By level: warm bytes at the end, and bytes that came in.
    levels: [(f64, f64); MAX_LEVELS],
    /// Part of the working set that was not touched.
    untouched: f64,
}

/// The working sets of all tasks.
#[derive(Debug, Default)]
pub(super) struct WorkingSets {
    sets: Vec<Option<WorkingSet>>,
    /// By cache: bytes that ever came in.
    filled_bytes: Vec<f64>,
}

/// What does not change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fixed<'a> {
    pub(super) memory: &'a Memory,
    pub(super) hw: &'a Hardware,
    pub(super) topo: &'a Topology,
}

/// Where a task computes, and what its touches cost that no cache holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) cpu: Cpu,
    pub(super) task: TaskId,
    /// Mean latency of its working set's memory for the CPU, in ns.
    pub(super) memory_ns: f64,
}

impl WorkingSets {
    pub(super) fn new(memory: &Memory) -> WorkingSets {
        WorkingSets { sets: Vec::new(), filled_bytes: vec![0.0; memory.caches.len()] }
    }

    /// From now on `task` uses memory like this.
    pub(super) fn begin(&mut self, task: TaskId, used: MemoryUse) {
        if self.sets.len() <= task.index() {
            self.sets.resize_with(task.index() + 1, || None);
        }
        let slot = &mut self.sets[task.index()];
        let same = |s: &&mut WorkingSet| s.used.is_same_memory(&used);
        if let Some(set) = slot.as_mut().filter(same) {
            set.used = used;
            return;
        }
        // What the task owes for the set before remains.
        let owed = slot.as_ref().map_or(MemoryTime::default(), |s| s.owed);
        *slot = Some(WorkingSet { used, warm: Vec::with_capacity(MAX_PLACES), owed });
    }

    /// Whether steps of `task` take memory time: it uses memory now, or owes for what it used.
    pub(super) fn is_used(&self, task: TaskId) -> bool {
        let Some(Some(set)) = self.sets.get(task.index()) else { return false };
        let MemoryUse { touches_per_kcycle, stream_bytes_per_kcycle, .. } = set.used;
        touches_per_kcycle + stream_bytes_per_kcycle > 0.0 || set.owed.ns(1.0) > DEBT_NS
    }

    /// The task did `cycles` since it was last accounted for, and spent `paid` on memory; what came of that.
    pub(super) fn account(
        &mut self,
        fixed: Fixed,
        place: Place,
        cycles: f64,
        paid: MemoryTime,
    ) -> Outcome {
        let Place { cpu, task, .. } = place;
        let WorkingSets { sets, filled_bytes } = self;
        let Some(Some(set)) = sets.get_mut(task.index()) else { return Outcome::default() };
        let path = fixed.memory.path(cpu);
        path.iter().for_each(|&cache| set.note(cache, path, filled_bytes));
        let came_in = |w: &Warm| filled_bytes[w.cache as usize] - w.seen_bytes;
        let outcome = set.outcome(fixed, place, cycles, filled_bytes, came_in);
        set.owed = set.owed.plus(outcome.memory).plus(paid.times(-1.0));
        for warm in &mut set.warm {
            let filled = &mut filled_bytes[warm.cache as usize];
            let others = *filled - warm.seen_bytes;
            match path.iter().position(|&c| c == warm.cache) {
                Some(level) => {
                    let (bytes, came_in) = outcome.levels[level];
                    warm.bytes = bytes;
                    warm.pressure = if cycles > 0.0 { others / cycles } else { 0.0 };
                    *filled += came_in;
                }
                None => {
                    let size_bytes = fixed.memory.caches[warm.cache as usize].size_bytes;
                    warm.bytes *= survives(others, size_bytes) * outcome.untouched;
                }
            }
            warm.seen_bytes = *filled;
        }
        outcome
    }

    /// `task` has spent `more` time than it was slowed down for.
    pub(super) fn owe(&mut self, task: TaskId, more: MemoryTime) {
        if let Some(Some(set)) = self.sets.get_mut(task.index()) {
            set.owed = set.owed.plus(more);
        }
    }

    /// What the next `cycles` will cost if others go on as in the work accounted for last, with what the task owes.
    pub(super) fn forecast(&self, fixed: Fixed, place: Place, cycles: f64) -> Outcome {
        let set = self.sets.get(place.task.index());
        let Some(Some(set)) = set else { return Outcome::default() };
        let others = |w: &Warm| w.pressure * cycles;
        let mut outcome = set.outcome(fixed, place, cycles, &self.filled_bytes, others);
        outcome.memory = outcome.memory.plus(set.owed).positive();
        outcome
    }
}

impl WorkingSet {
    /// Makes sure that there is an entry for `cache`, one of the `path` in use.
    fn note(&mut self, cache: u16, path: &[u16], filled_bytes: &[f64]) {
        if self.warm.iter().any(|w| w.cache == cache) {
            return;
        }
        if self.warm.len() == MAX_PLACES {
            let left = self.warm.iter().enumerate().filter(|(_, w)| !path.contains(&w.cache));
            let least = left.min_by(|a, b| a.1.bytes.total_cmp(&b.1.bytes)).map(|(i, _)| i);
            least.map(|i| self.warm.swap_remove(i));
        }
        let seen_bytes = filled_bytes[cache as usize];
        self.warm.push(Warm { cache, bytes: 0.0, seen_bytes, pressure: 0.0 });
    }

    /// `cycles` at `place`, while `others` come into each cache.
    fn outcome(
        &self,
        fixed: Fixed,
        place: Place,
        cycles: f64,
        filled_bytes: &[f64],
        others: impl Fn(&Warm) -> f64,
    ) -> Outcome {
        let (Fixed { memory, .. }, cpu) = (fixed, place.cpu);
        let touches = cycles / 1000.0 * self.used.touches_per_kcycle;
        let stream_bytes = cycles / 1000.0 * self.used.stream_bytes_per_kcycle;
        let mut out = Outcome { touches, stream_bytes, ..Outcome::default() };
        let (mut lines, mut time) = (touches, MemoryTime::default());
        let path = memory.path(cpu);
        for (level, &number) in path.iter().enumerate() {
            let Some(warm) = self.warm.iter().find(|w| w.cache == number) else { continue };
            let cache = &memory.caches[number as usize];
            let fit = Fit {
                set_bytes: self.used.working_set_bytes,
                size_bytes: cache.size_bytes,
                line_bytes: memory.line_bytes,
            };
            let stretch = fit.stretch(warm.bytes, touches, others(warm) + stream_bytes);
            let misses = stretch.misses.min(lines);
            time.add((lines - misses) * cache.hit_ns, cache.at_core_clock);
            lines = misses;
            let came_in = misses * memory.line_bytes + stream_bytes;
            out.levels[level] = (stretch.warm_bytes, came_in);
        }
        out.untouched = libm::exp(-touches * memory.line_bytes / self.used.working_set_bytes);
        for warm in self.warm.iter().filter(|w| !path.contains(&w.cache)) {
            let cache = &memory.caches[warm.cache as usize];
            if !cache.last_level {
                continue;
            }
            let came_in = filled_bytes[warm.cache as usize] - warm.seen_bytes;
            let there = warm.bytes * survives(came_in, cache.size_bytes) / memory.line_bytes;
            let fetched = (there * (1.0 - out.untouched)).min(lines);
            let distance = memory.distance(fixed.topo, cpu, warm.cache);
            let ns = fetched * fixed.hw.handover_ns(distance);
            time.add(ns, fixed.hw.at_core_clock(distance));
            lines -= fetched;
        }
        time.add(lines * place.memory_ns, false);
        out.memory = time.times(1.0 / self.used.overlap);
        out.set_bytes = lines * memory.line_bytes;
        out
    }
}
