//! Hinting faults: which pages move, and what they say of their task (`do_numa_page`, `task_numa_fault`).

use super::Numa;
use crate::class::Faulted;
use crate::fair::Fair;
use crate::pages::{Hint, PAGE_BYTES};
use crate::world::{TaskId, World};

/// First rounds of scans in which pages move at their first fault (`should_numa_migrate_memory`).
const EARLY_SCANS: u32 = 4;
/// Parts of a scan period by which it changes, and how many of ten faults have to be private for it to grow
/// (`NUMA_PERIOD_SLOTS`, `NUMA_PERIOD_THRESHOLD`).
const PERIOD_SLOTS: u64 = 10;
const PERIOD_THRESHOLD: u64 = 7;
/// What may move to a node in a window of so many ms (`ratelimit_pages`, `migrate_interval_millisecs`, up to 4.19).
const RATE_LIMIT_BYTES: f64 = 128.0 * 1024.0 * 1024.0;
const RATE_WINDOW_MS: u64 = 100;

impl Fair {
    /// `task` faulted on `hints`, on the CPU where it is.
    pub(in crate::fair) fn note_hinting_faults(
        &mut self,
        w: &mut World,
        task: TaskId,
        hints: &[Hint],
    ) -> Faulted {
        let mut out = Faulted::default();
        for hint in hints {
            self.hinting_fault(w, task, hint, &mut out);
        }
        out
    }

    /// `do_numa_page` and `task_numa_fault` for pages that are all alike.
    fn hinting_fault(&mut self, w: &mut World, task: TaskId, hint: &Hint, out: &mut Faulted) {
        let rate_limited = self.rules.numa_rate_limit;
        let early = self.rules.numa_moves_early;
        let Some(numa) = &mut self.numa else { return };
        let here = numa.node(w.tasks[task.index()].cpu);
        let (faults, pages) = (hint.bytes / hint.page_bytes, hint.bytes / PAGE_BYTES);
        let local = hint.node == here;
        out.faults += faults;
        numa.counted.hint_faults += faults;
        numa.counted.hint_faults_local += if local { faults } else { 0.0 };
        let moves = !local && numa.should_migrate_memory(task, hint.last, here, early);
        let fails = moves && rate_limited && !numa.within_limit(w, here, hint.bytes);
        let moves = moves && !fails;
        if moves {
            w.pages.migrate(task, hint.part, hint.node, here, hint.bytes);
            numa.counted.pages_migrated += pages;
            let slower =
                |a: u16, b: u16| numa.bandwidth[usize::from(a)].min(numa.bandwidth[usize::from(b)]);
            out.moved += faults;
            out.moved_bytes += hint.bytes;
            out.moved_ns += hint.bytes / slower(hint.node, here);
        }
        let nodes = numa.cpus.len();
        let t = &mut numa.tasks[task.index()];
        if t.faults.is_empty() {
            t.faults = vec![0.0; nodes];
            t.buffered = vec![0.0; nodes];
        }
        if w.jiffies() > numa.tasks[task.index()].migrate_retry {
            self.task_numa_placement(w, task);
            self.numa_migrate_preferred(w, task);
        }
        let Some(numa) = &mut self.numa else { return };
        let t = &mut numa.tasks[task.index()];
        t.buffered[usize::from(if moves { here } else { hint.node })] += pages;
        *(if local { &mut t.local } else { &mut t.remote }) += pages;
        t.failed += if fails { pages } else { 0.0 };
    }

    /// `task_numa_placement`: once a round of scans, which node the task prefers.
    fn task_numa_placement(&mut self, w: &World, task: TaskId) {
        let Some(numa) = &mut self.numa else { return };
        let (mm, cpu) = (w.tasks[task.index()].mm, w.tasks[task.index()].cpu);
        let seq = numa.spaces[mm as usize].scan_seq;
        if numa.tasks[task.index()].scan_seq == seq {
            return;
        }
        numa.look_at_space(w, mm);
        let space = &numa.spaces[mm as usize];
        let t = &mut numa.tasks[task.index()];
        t.scan_seq = seq;
        t.scan_period_max_ms = space.scan_max_ms();
        let mut most: Option<(f64, u16)> = None;
        let mut faults = 0.0;
        for node in 0..t.faults.len() {
            let new = std::mem::take(&mut t.buffered[node]);
            let change = new - t.faults[node] / 2.0;
            faults += new;
            t.faults[node] += change;
            t.total_faults += change;
            if t.faults[node] > most.map_or(0.0, |m| m.0) {
                most = Some((t.faults[node], node as u16));
            }
        }
        if let Some((_, node)) = most.filter(|m| t.preferred != Some(m.1)) {
            numa.set_preferred(cpu, task, node);
        }
        numa.update_task_scan_period(w, task, mm, faults);
    }
}

impl Numa {
    /// `update_scan_period` (4.20): a task that leaves its memory behind is scanned sooner.
    pub(super) fn update_scan_period(&mut self, w: &World, task: TaskId, from: u16, to: u16) {
        let space = &self.spaces[w.tasks[task.index()].mm as usize];
        let t = &mut self.tasks[task.index()];
        let elsewhere = t.preferred.is_some_and(|preferred| preferred != from);
        let expected = t.scan_seq > 0 && (t.preferred == Some(to) || elsewhere);
        if !t.faults.is_empty() && !expected {
            t.scan_period_ms = space.scan_min_ms();
        }
    }

    /// `should_numa_migrate_memory` of a private fault: early in a task's life at once, else at the second fault from one
    /// node.
    fn should_migrate_memory(
        &self,
        task: TaskId,
        last: Option<u16>,
        here: u16,
        early: bool,
    ) -> bool {
        let t = &self.tasks[task.index()];
        let is_early = early && (t.preferred.is_none() || t.scan_seq <= EARLY_SCANS);
        is_early || last.is_none_or(|last| last == here)
    }

    /// Whether so much may move to `node` still.
    fn within_limit(&mut self, w: &World, node: u16, bytes: f64) -> bool {
        let limit = &mut self.limits[usize::from(node)];
        if w.jiffies() > limit.next_window {
            limit.bytes = 0.0;
            limit.next_window = w.jiffies() + w.ms_to_jiffies(RATE_WINDOW_MS);
        }
        let within = limit.bytes <= RATE_LIMIT_BYTES;
        limit.bytes += if within { bytes } else { 0.0 };
        within
    }

    /// `update_task_scan_period`, where all of the `private` faults since the last placement are the task's own.
    fn update_task_scan_period(&mut self, w: &World, task: TaskId, mm: u32, private: f64) {
        let space = &mut self.spaces[mm as usize];
        let t = &mut self.tasks[task.index()];
        if t.local == 0.0 || t.failed > 0.0 {
            t.scan_period_ms = (t.scan_period_ms * 2).min(t.scan_period_max_ms);
            space.next_scan = w.jiffies() + w.ms_to_jiffies(t.scan_period_ms);
        } else if private > 0.0 {
            let slot_ms = t.scan_period_ms.div_ceil(PERIOD_SLOTS);
            let longer = t.scan_period_ms + (PERIOD_SLOTS - PERIOD_THRESHOLD) * slot_ms;
            t.scan_period_ms = longer.clamp(space.scan_min_ms(), space.scan_max_ms());
        }
        (t.local, t.remote, t.failed) = (0.0, 0.0, 0.0);
    }
}
