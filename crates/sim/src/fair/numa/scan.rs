//! When a task's address space is scanned (`task_tick_numa`, `task_numa_work`), and how often it may be.

use super::{Numa, Space};
use crate::fair::Fair;
use crate::pages::{SCAN_BYTES, Scan};
use crate::topology::Cpu;
use crate::world::{KERNEL_MM, TaskId, World};

/// Shortest and longest time in ms in which a task's memory is scanned as a whole
/// (`sysctl_numa_balancing_scan_period_min`, `_max`).
const SCAN_PERIOD_MIN_MS: u64 = 1000;
const SCAN_PERIOD_MAX_MS: u64 = 60_000;
/// From the start of an address space to its first scan, in ms (`sysctl_numa_balancing_scan_delay`).
pub(super) const SCAN_DELAY_MS: u64 = 1000;
/// Most that is scanned in a second (`MAX_SCAN_WINDOW`), in scan sizes: no period is shorter than a second by this.
const SCANS_PER_SECOND: u64 = 2560 / 256;
/// Instructions to unmap a page of 4 KiB or of 2 MiB (`change_pte_range`, `change_huge_pmd`). Assumed.
const UNMAP_INSTRUCTIONS: f64 = 60.0;

impl Space {
    /// `task_nr_scan_windows`.
    fn scan_windows(&self) -> u64 {
        ((self.touched_bytes / SCAN_BYTES) as u64
            + u64::from(self.touched_bytes % SCAN_BYTES > 0.0))
        .max(1)
    }

    /// `task_scan_min` and, without groups, `task_scan_start`.
    pub(super) fn scan_min_ms(&self) -> u64 {
        (SCAN_PERIOD_MIN_MS / self.scan_windows()).max(1000 / SCANS_PER_SECOND)
    }

    /// `task_scan_max`.
    pub(super) fn scan_max_ms(&self) -> u64 {
        (SCAN_PERIOD_MAX_MS / self.scan_windows()).max(self.scan_min_ms())
    }
}

impl Fair {
    /// `task_tick_numa`: after so much run time, it is the running task's turn.
    pub(in crate::fair) fn task_tick_numa(&mut self, w: &mut World, cpu: Cpu) {
        let Some(task) = self.running_task(cpu).filter(|_| self.numa.is_some()) else { return };
        let run_ns = self.entities[task.index()].sum_exec_ns;
        let Some(numa) = &mut self.numa else { return };
        let t = &numa.tasks[task.index()];
        let period_ns = t.scan_period_ms * 1_000_000;
        if run_ns <= t.node_stamp_ns + period_ns {
            return;
        }
        let mm = w.tasks[task.index()].mm;
        if mm == KERNEL_MM {
            return;
        }
        if t.node_stamp_ns == 0 {
            numa.look_at_space(w, mm);
            numa.tasks[task.index()].scan_period_ms = numa.spaces[mm as usize].scan_min_ms();
        }
        numa.tasks[task.index()].node_stamp_ns += period_ns;
        if w.jiffies() >= numa.spaces[mm as usize].next_scan {
            self.task_numa_work(w, cpu, task, mm);
        }
    }

    /// `task_numa_work`: scans a part of the task's address space, if no thread of it has done so lately.
    fn task_numa_work(&mut self, w: &mut World, cpu: Cpu, task: TaskId, mm: u32) {
        let delay = w.ms_to_jiffies(SCAN_DELAY_MS);
        let new_waits = self.rules.numa_new_memory_waits.then_some(delay);
        let Some(numa) = &mut self.numa else { return };
        let now = w.jiffies();
        let space = &mut numa.spaces[mm as usize];
        if space.next_scan == 0 {
            space.next_scan = now + delay;
        }
        if now < space.next_scan {
            return;
        }
        space.next_scan = now + w.ms_to_jiffies(numa.tasks[task.index()].scan_period_ms);
        numa.tasks[task.index()].node_stamp_ns += 2 * w.tick_period_ns;
        numa.look_at_space(w, mm);
        let unmapped = numa.scan(w, mm, numa.node(cpu), new_waits);
        // Pages of 4 KiB are what the counter counts, whatever they are.
        numa.counted.pte_updates += unmapped.bytes / crate::pages::PAGE_BYTES;
        w.charge_kernel(cpu, unmapped.entries * UNMAP_INSTRUCTIONS);
    }
}

/// What a scan unmapped.
struct Unmapped {
    bytes: f64,
    /// Entries of page tables.
    entries: f64,
}

impl Numa {
    /// Scans the address space whose tasks are `members`, for a CPU of node `here`. Pages on the node of a process with one
    /// thread stay mapped: it would only fault.
    fn scan(&mut self, w: &mut World, mm: u32, here: u16, new_waits: Option<u64>) -> Unmapped {
        let space = &mut self.spaces[mm as usize];
        let alone = self.members.len() == 1;
        let mut scan = Scan {
            offset_bytes: space.offset_bytes,
            seq: space.scan_seq,
            skip: alone.then_some(here),
            jiffies: w.jiffies(),
            new_waits,
            unmapped_bytes: 0.0,
            unmapped_entries: 0.0,
        };
        w.pages.scan(&self.members, &mut scan);
        (space.offset_bytes, space.scan_seq) = (scan.offset_bytes, scan.seq);
        Unmapped { bytes: scan.unmapped_bytes, entries: scan.unmapped_entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The more memory, the shorter the period in which a scan takes its part of it, down to 100 ms.
    #[test]
    fn all_of_a_tasks_memory_is_scanned_in_a_second_to_a_minute() {
        for (scans, least_ms, most_ms) in
            [(0.0, 1000, 60_000), (1.0, 1000, 60_000), (1.01, 500, 30_000), (4.0, 250, 15_000)]
        {
            let space = Space { touched_bytes: scans * SCAN_BYTES, ..Space::default() };
            assert_eq!((space.scan_min_ms(), space.scan_max_ms()), (least_ms, most_ms), "{scans}");
        }
        let large = Space { touched_bytes: 1000.0 * SCAN_BYTES, ..Space::default() };
        assert_eq!((large.scan_min_ms(), large.scan_max_ms()), (100, 100));
    }
}
