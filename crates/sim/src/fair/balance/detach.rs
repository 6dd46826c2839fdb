//! Moving tasks: waiting ones from queue to queue (`detach_tasks`), a running one by the stopper
//! (`active_load_balance_cpu_stop`).
//!
//! Kernels that are not preemptible are meant: newly idle balancing may move more than one task. Kernel threads that
//! are bound to a CPU count as any bound task, where kernels from 5.13 on pass them over.

use super::env::{CpuIdle, Env, Migration};
use crate::class::{Class, Dequeue, Enqueue};
use crate::fair::queue::ids::QueueId;
use crate::fair::{Fair, MIGRATION_COST_NS, resched};
use crate::topology::Cpu;
use crate::world::{TaskId, World};
use kernel::SdFlags;

/// Most tasks looked at in one attempt (`sysctl_sched_nr_migrate`).
const NR_MIGRATE: usize = 32;

/// What `can_migrate_task` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Migrates {
    Yes,
    /// Though it is cache hot.
    Hot,
    No,
}

impl Fair {
    /// `detach_tasks` and `attach_tasks`: waiting tasks of `src` up to the imbalance; how many.
    pub(in crate::fair) fn detach_tasks(&mut self, w: &mut World, env: &mut Env, src: Cpu) -> u32 {
        if w.cpus[src as usize].nr_running <= 1 {
            env.all_pinned = false;
            return 0;
        }
        if env.imbalance <= 0 {
            return 0;
        }
        let looked = self.nr_waiting(src).min(NR_MIGRATE);
        let (mut at, mut moved, mut every) = (0, 0, true);
        for _ in 0..looked {
            if env.is_idle() && w.cpus[src as usize].nr_running <= 1 {
                every = false;
                break;
            }
            let Some(task) = self.waiting_task(src, at) else { break };
            let migrates = self.can_migrate_task(w, env, src, task);
            if migrates == Migrates::No || !self.takes(w, env, src, task) {
                at += 1;
                continue;
            }
            env.idle.counters(&mut w.counters).hot_gained += u64::from(migrates == Migrates::Hot);
            self.move_waiting(w, task, env.dst_cpu);
            moved += 1;
            if env.imbalance <= 0 {
                every = false;
                break;
            }
        }
        // The running task is the last of the list.
        if every && let Some(curr) = self.running_task(src) {
            is_allowed(w, env, curr);
        }
        env.idle.counters(&mut w.counters).gained += u64::from(moved);
        if moved > 0 {
            resched(w, env.dst_cpu);
        }
        moved
    }

    /// Tasks that wait on `cpu`, in groups or not.
    fn nr_waiting(&self, cpu: Cpu) -> usize {
        let root = &self.queues[cpu as usize];
        root.h_nr_queued as usize - usize::from(root.curr.is_some_and(|c| self.entities[c].on_rq))
    }

    /// One of them, in the order in which balancing looks at them: queue by queue, the last in order first.
    fn waiting_task(&self, cpu: Cpu, at: usize) -> Option<TaskId> {
        let root = QueueId::root(cpu);
        match self.groups.is_empty() {
            true => self.queues[root.index()].waiting().get(at)?.1.task(),
            false => self.nth_waiting(root, &mut { at }),
        }
    }

    fn nth_waiting(&self, q: QueueId, left: &mut usize) -> Option<TaskId> {
        let rq = &self.queues[q.index()];
        let running = rq.curr.filter(|c| c.is_group());
        for id in rq.waiting().iter().map(|&(_, id)| id).chain(running) {
            match self.group_cfs_rq(id) {
                None if *left == 0 => return id.task(),
                None => *left -= 1,
                Some(below) => {
                    if let Some(task) = self.nth_waiting(below, left) {
                        return Some(task);
                    }
                }
            }
        }
        None
    }

    /// `can_migrate_task` of a waiting task.
    fn can_migrate_task(&self, w: &World, env: &mut Env, src: Cpu, task: TaskId) -> Migrates {
        // A task that is asleep but not gone yet has load and nothing else (6.14).
        let stays = self.rules.delayed_moves_as_load && env.migration_type != Migration::Load;
        if stays && self.entities[task.index()].delayed {
            return Migrates::No;
        }
        // A group without time on either CPU would wait there, too (`throttled_lb_pair`).
        let id = task.into();
        let here = self.queue_of(id, src);
        let there = self.queue_of(id, env.dst_cpu);
        if self.throttled_hierarchy(here) || self.throttled_hierarchy(there) {
            return Migrates::No;
        }
        if !is_allowed(w, env, task) {
            return Migrates::No;
        }
        let failed = self.rqs[env.cpu as usize].domains[env.level].nr_balance_failed;
        let degrades = self.migrate_degrades_locality(w, env, src, env.dst_cpu, task);
        let hot = degrades.unwrap_or_else(|| self.task_hot(w, env, src, task));
        match (hot, failed > env.domain.cache_nice_tries) {
            (false, _) => Migrates::Yes,
            (true, true) => Migrates::Hot,
            (true, false) => Migrates::No,
        }
    }

    fn task_hot(&self, w: &World, env: &Env, src: Cpu, task: TaskId) -> bool {
        if self.rules.smt_never_hot && env.domain.flags.contains(SdFlags::SHARE_CPUCAPACITY) {
            return false;
        }
        // A task of `SCHED_IDLE` has nothing in caches that counts (`task_has_idle_policy`).
        if self.entities[task.index()].idle {
            return false;
        }
        let (id, rq) = (Some(task.into()), &self.queues[self.queue_of(task.into(), src).index()]);
        let next = rq.next == id || rq.last == id;
        if self.rules.cache_hot_buddy && next && w.cpus[env.dst_cpu as usize].nr_running > 0 {
            return true;
        }
        let since_ns = w.now_ns.saturating_sub(self.entities[task.index()].exec_start_ns);
        since_ns < MIGRATION_COST_NS
    }

    /// Whether a task is within the imbalance, which shrinks by it.
    fn takes(&mut self, w: &World, env: &mut Env, src: Cpu, task: TaskId) -> bool {
        if env.migration_type == Migration::Load {
            self.update_h_load(w, self.queue_of(task.into(), src));
        }
        let counts = match env.migration_type {
            Migration::Load => self.task_h_load(w, task).max(1),
            Migration::Util => self.task_util_est(task),
            Migration::Task => 1,
            Migration::Misfit if self.task_fits_cpu(w, task, src) => return false,
            Migration::Misfit => env.imbalance.unsigned_abs(),
        };
        let failed = self.rqs[env.cpu as usize].domains[env.level].nr_balance_failed;
        let bounded = match env.migration_type {
            Migration::Load if !self.rules.group_classes => counts / 2,
            Migration::Load if !self.rules.failures_shrink_tasks => {
                if failed <= env.domain.cache_nice_tries { counts / 2 } else { 0 }
            }
            Migration::Util if !self.rules.failures_shrink_tasks => counts,
            Migration::Load | Migration::Util => counts >> failed.min(63),
            Migration::Task | Migration::Misfit => 0,
        };
        if bounded as i64 > env.imbalance {
            return false;
        }
        env.imbalance -= counts as i64;
        true
    }

    pub(in crate::fair) fn move_waiting(&mut self, w: &mut World, task: TaskId, dst: Cpu) {
        let src = w.tasks[task.index()].cpu;
        self.dequeue(w, task, Dequeue::Move);
        w.balance_to(task, dst);
        self.enqueue(w, task, Enqueue::Moved);
        w.charge_kernel(dst, w.hw.kernel.queue.other.instructions);
        w.hold_queue(dst, src, w.hw.kernel.queue.held);
        w.write_queue(src, dst);
    }

    /// `active_load_balance_cpu_stop`: with nothing running on `from`, moves one task that may go.
    pub(in crate::fair) fn active_load_balance(
        &mut self,
        w: &mut World,
        from: Cpu,
        to: Cpu,
    ) -> bool {
        self.rqs[from as usize].active_balance = false;
        let level = w.topo.domains[to as usize].iter().position(|d| d.span.contains(from as usize));
        let (Some(level), true) = (level, w.cpus[from as usize].nr_running > 0) else {
            return false;
        };
        w.counters.alb_count += 1;
        let mut waiting = (0..self.nr_waiting(from)).filter_map(|at| self.waiting_task(from, at));
        let Some(task) = waiting.find(|&t| w.allowed(t, to)) else {
            w.counters.alb_failed += 1;
            return false;
        };
        self.move_waiting(w, task, to);
        self.rqs[to as usize].domains[level].nr_balance_failed = 0;
        CpuIdle::Idle.counters(&mut w.counters).gained += 1;
        true
    }
}

/// Whether `task` may go to the destination; if not, notes that, and where in the group it could go.
fn is_allowed(w: &World, env: &mut Env, task: TaskId) -> bool {
    if w.allowed(task, env.dst_cpu) {
        env.all_pinned = false;
        return true;
    }
    env.some_pinned = true;
    if env.idle != CpuIdle::NewlyIdle && env.new_dst_cpu.is_none() {
        let mut mask = env.domain.groups[0].mask.iter().copied();
        env.new_dst_cpu = mask.find(|&c| env.cpus.contains(c as usize) && w.allowed(task, c));
    }
    false
}
