//! NUMA balancing (`kernel.numa_balancing`): memory moves to who uses it, tasks move to their memory.
//!
//! `scan` has a running task's tick unmap a part of its address space now and then (`task_tick_numa`, `task_numa_work`).
//! Who touches such a page faults: `faults` says whether the page moves to the node of the CPU
//! (`should_numa_migrate_memory`), counts where a task faults (`task_numa_fault`), and from that which node it prefers
//! (`task_numa_placement`) and how often it is scanned (`update_task_scan_period`). `migrate` looks for a CPU on the
//! preferred node, or for a task to change places with (`task_numa_migrate`); the engine moves them. `balance` is what
//! load balancing and fork ask (`migrate_degrades_locality`, `fbq_classify_rq`).
//!
//! A task's memory is its own, so all faults are private: there are no numa groups (`task_numa_group`), and weights are
//! those of tasks. An address space is taken for one mapping, as the kernel joins what lies side by side, so the filter
//! by who touched a mapping (`vma_is_accessed`, 6.4) never passes one over. Nodes are taken to be all directly connected
//! (`NUMA_DIRECT`), and memory for pages that move to be free. Memory tiers are left out.
//!
//! Which pages are where is `crate::pages`' business, what faults cost is the engine's. 6.12 is read from its source; what
//! other releases do is in `rules`.

mod balance;
mod faults;
mod migrate;
mod scan;

use super::Fair;
use crate::counters::NumaBalancing;
use crate::hardware::Memory;
use crate::topology::Cpu;
use crate::world::{State, TaskId, World};
use scan::SCAN_DELAY_MS;

/// What is known of a task.
#[derive(Debug, Clone, Default)]
struct TaskNuma {
    /// Run time up to which it has been looked at (`node_stamp`), in ns.
    node_stamp_ns: u64,
    scan_seq: u32,
    scan_period_ms: u64,
    scan_period_max_ms: u64,
    /// Tick after which it tries again to move to its preferred node.
    migrate_retry: u64,
    preferred: Option<u16>,
    /// By node: pages that it faulted on, decaying (`NUMA_MEM`), and since the last placement (`NUMA_MEMBUF`); empty before
    /// its first fault.
    faults: Vec<f64>,
    buffered: Vec<f64>,
    total_faults: f64,
    /// Pages that it faulted on from afar and on its node, and that could not move (`numa_faults_locality`).
    remote: f64,
    local: f64,
    failed: f64,
    /// Whether it counts on a queue.
    queued: bool,
    /// The node on which it was queued last.
    last_node: Option<u16>,
}

impl TaskNuma {
    /// `task_weight`: which part of its faults were on `node`, in thousandths.
    fn weight(&self, node: u16) -> i64 {
        if self.total_faults <= 0.0 {
            return 0;
        }
        (1000.0 * self.faults.get(usize::from(node)).copied().unwrap_or(0.0) / self.total_faults)
            as i64
    }
}

/// An address space, numbered by the task that began it.
#[derive(Debug, Clone, Default)]
struct Space {
    /// Tick from which it may be scanned; 0 where that is not set yet.
    next_scan: u64,
    scan_seq: u32,
    offset_bytes: f64,
    /// What has been touched of it, when last looked at.
    touched_bytes: f64,
}

/// A node's limit on pages that move to it (`numamigrate_update_ratelimit`).
#[derive(Debug, Clone, Copy, Default)]
struct RateLimit {
    next_window: u64,
    bytes: f64,
}

/// The state of NUMA balancing.
#[derive(Debug)]
pub(super) struct Numa {
    node_of: Vec<u16>,
    cpus: Vec<Vec<Cpu>>,
    /// By node, in bytes a ns.
    bandwidth: Vec<f64>,
    tasks: Vec<TaskNuma>,
    spaces: Vec<Space>,
    /// By CPU: queued tasks that prefer a node, and those that prefer this one (`nr_numa_running`, `nr_preferred_running`).
    nr_numa_running: Vec<u32>,
    nr_preferred_running: Vec<u32>,
    limits: Vec<RateLimit>,
    counted: Counted,
    /// Room for the tasks of an address space.
    members: Vec<TaskId>,
}

/// What counters add up, in pages.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    pte_updates: f64,
    hint_faults: f64,
    hint_faults_local: f64,
    pages_migrated: f64,
}

impl Fair {
    /// The same with NUMA balancing among the nodes of `memory`.
    pub(crate) fn with_numa(mut self, memory: &Memory) -> Fair {
        let nodes = memory.bandwidth.len();
        let mut cpus = vec![Vec::new(); nodes];
        for (cpu, &node) in memory.node_of.iter().enumerate() {
            cpus[usize::from(node)].push(cpu as Cpu);
        }
        let nr_cpus = memory.node_of.len();
        self.numa = Some(Box::new(Numa {
            node_of: memory.node_of.clone(),
            cpus,
            bandwidth: memory.bandwidth.clone(),
            tasks: Vec::new(),
            spaces: Vec::new(),
            nr_numa_running: vec![0; nr_cpus],
            nr_preferred_running: vec![0; nr_cpus],
            limits: vec![RateLimit::default(); nodes],
            counted: Counted::default(),
            members: Vec::new(),
        }));
        self
    }

    /// `init_numa_balancing`: `task` exists, in an address space of its own or its parent's.
    pub(super) fn init_numa_balancing(&mut self, w: &World, task: TaskId, parent: Option<TaskId>) {
        let Some(numa) = &mut self.numa else { return };
        let at = task.index();
        let empty = TaskNuma { scan_period_ms: SCAN_DELAY_MS, ..TaskNuma::default() };
        numa.tasks.resize(at + 1, empty);
        numa.spaces.resize(at + 1, Space::default());
        let mm = w.tasks[at].mm as usize;
        match parent.filter(|_| mm != at) {
            None => {
                numa.spaces[at].next_scan = w.jiffies() + w.ms_to_jiffies(SCAN_DELAY_MS);
            }
            Some(parent) => {
                let of_parent = &numa.tasks[parent.index()];
                // The kernel takes the number of milliseconds for one of nanoseconds here.
                let longest_ms = numa.spaces[mm].scan_max_ms();
                let preferred = of_parent.preferred;
                let child = &mut numa.tasks[at];
                child.preferred = preferred;
                child.scan_seq = numa.spaces[mm].scan_seq;
                child.node_stamp_ns = longest_ms + 2 * w.tick_period_ns;
            }
        }
    }

    /// A task gets a new address space by `execve`, which has not been scanned.
    pub(super) fn forget_numa_faults(&mut self, task: TaskId) {
        let Some(numa) = &mut self.numa else { return };
        numa.spaces[task.index()] = Space::default();
        let t = &mut numa.tasks[task.index()];
        (t.total_faults, t.remote, t.local, t.failed) = (0.0, 0.0, 0.0, 0.0);
        t.faults.fill(0.0);
        t.buffered.fill(0.0);
    }

    /// `account_numa_enqueue`; before, `update_scan_period` where the task comes from another node.
    pub(super) fn account_numa_enqueue(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        let resets = self.rules.numa_moves_early;
        let Some(numa) = &mut self.numa else { return };
        let node = numa.node(cpu);
        let from = numa.tasks[task.index()].last_node.replace(node);
        if let Some(from) = from.filter(|&from| from != node && resets) {
            numa.update_scan_period(w, task, from, node);
        }
        numa.count_queued(cpu, task, true);
    }

    /// `account_numa_dequeue`.
    pub(super) fn account_numa_dequeue(&mut self, cpu: Cpu, task: TaskId) {
        if let Some(numa) = &mut self.numa {
            numa.count_queued(cpu, task, false);
        }
    }

    /// What was counted; tasks that moved are counted where they do.
    pub(super) fn numa_pages(&self) -> NumaBalancing {
        let counted = self.numa.as_ref().map_or_else(Counted::default, |numa| numa.counted);
        NumaBalancing {
            pte_updates: counted.pte_updates.round() as u64,
            hint_faults: counted.hint_faults.round() as u64,
            hint_faults_local: counted.hint_faults_local.round() as u64,
            pages_migrated: counted.pages_migrated.round() as u64,
            ..NumaBalancing::default()
        }
    }
}

impl Numa {
    fn node(&self, cpu: Cpu) -> u16 {
        self.node_of[cpu as usize]
    }

    /// Counts a task that joins or leaves the queue of `cpu`.
    fn count_queued(&mut self, cpu: Cpu, task: TaskId, queued: bool) {
        let node = self.node(cpu);
        let t = &mut self.tasks[task.index()];
        if t.queued == queued {
            return;
        }
        t.queued = queued;
        let step = if queued { 1 } else { u32::MAX };
        let at = cpu as usize;
        if t.preferred.is_some() {
            self.nr_numa_running[at] = self.nr_numa_running[at].wrapping_add(step);
        }
        if t.preferred == Some(node) {
            self.nr_preferred_running[at] = self.nr_preferred_running[at].wrapping_add(step);
        }
    }

    /// `sched_setnuma`.
    fn set_preferred(&mut self, cpu: Cpu, task: TaskId, node: u16) {
        let queued = self.tasks[task.index()].queued;
        self.count_queued(cpu, task, false);
        self.tasks[task.index()].preferred = Some(node);
        self.count_queued(cpu, task, queued);
    }

    /// The living tasks of an address space into `members`, and what they have touched.
    fn look_at_space(&mut self, w: &World, mm: u32) {
        self.members.clear();
        let tasks =
            w.tasks.iter().enumerate().filter(|(_, t)| t.mm == mm && t.state != State::Dead);
        self.members.extend(tasks.map(|(at, _)| TaskId(at as u32)));
        let touched = self.members.iter().map(|&t| w.pages.touched_bytes(t)).sum();
        self.spaces[mm as usize].touched_bytes = touched;
    }
}
