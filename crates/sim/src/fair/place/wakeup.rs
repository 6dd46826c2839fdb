//! Where a waking task goes: near its waker or back (`select_task_rq_fair`, `wake_affine`).
//!
//! Fork and exec go to `idlest`, from the highest domain that balances so. A wake-up goes in this order: `record_wakee`
//! counts how often the waker changes partners; `want_affine` says whether the waker's CPU may be the target, which
//! `wake_wide` or the task's affinity may forbid; `wake_affine` chooses between that CPU and the previous one, where a
//! domain with `SD_WAKE_AFFINE` holds both; `idle_sibling` looks for an idle CPU near the target. If the task may not
//! use the result, `select_fallback_rq` finds another. `wake_affine` asks `wake_affine_idle`, `prefer_idler_llc` and
//! `wake_affine_weight` in turn and takes the first answer; without one the task goes back to its previous CPU.
//!
//! Written here are the waker's `wakee_flips` and `last_wakee`, up to 5.15 its recent CPU, and the counters of affine
//! wake-ups. Loads are read as they stand: no average is brought up to date, no CPU pays, and no task moves.

use crate::class::Select;
use crate::fair::Fair;
use crate::fair::queue::ids::QueueId;
use crate::topology::{Cpu, SimDomain};
use crate::world::{TaskId, World};
use kernel::SdFlags;

/// A task changes partners often enough to count only over the last second (`record_wakee`).
const FLIP_DECAY_SECONDS: u64 = 1;

/// A wake-up as the functions below pass it on.
#[derive(Clone, Copy)]
pub(crate) struct WakeUp {
    /// CPU on which it happens.
    pub(crate) cpu: Cpu,
    /// CPU on which the woken task last ran.
    pub(crate) prev: Cpu,
    /// Whether the waker is about to sleep (`WF_SYNC`).
    pub(crate) sync: bool,
    /// Who wakes it, unless a timer does.
    pub(crate) waker: Option<TaskId>,
}

impl Fair {
    /// `select_task_rq_fair`.
    pub(in crate::fair) fn select_task_rq(
        &mut self,
        w: &mut World,
        task: TaskId,
        why: Select,
    ) -> Cpu {
        let prev = w.tasks[task.index()].cpu;
        match why {
            Select::Fork(cpu) => self.select_slow(w, task, cpu, SdFlags::BALANCE_FORK),
            Select::Exec => self.select_slow(w, task, prev, SdFlags::BALANCE_EXEC),
            Select::Wake { cpu, sync, waker } => {
                self.select_wake(w, task, WakeUp { cpu, prev, sync, waker })
            }
        }
    }

    /// The way through `find_idlest_cpu`, from the highest domain with `flag` down.
    fn select_slow(&mut self, w: &mut World, task: TaskId, cpu: Cpu, flag: SdFlags) -> Cpu {
        let chain = &w.topo.domains[cpu as usize];
        let levels = chain.iter().take_while(|d| d.flags.contains(flag)).count();
        if levels == 0 { cpu } else { self.find_idlest_cpu(w, task, cpu, levels - 1, flag) }
    }

    /// The way of a task that wakes.
    pub(in crate::fair) fn select_wake(
        &mut self,
        w: &mut World,
        task: TaskId,
        wake: WakeUp,
    ) -> Cpu {
        if let Some(waker) = wake.waker {
            self.record_wakee(w, waker, task);
        }
        let want_affine = !self.wake_wide(w, task, wake) && w.allowed(task, wake.cpu);
        let mut target = wake.prev;
        if want_affine && wake.cpu != wake.prev {
            let topo = w.topo;
            let shared = topo.domains[wake.cpu as usize].iter().find(|d| {
                d.flags.contains(SdFlags::WAKE_AFFINE) && d.span.contains(wake.prev as usize)
            });
            if let Some(domain) = shared {
                target = self.wake_affine(w, domain, task, wake);
            }
        }
        let chosen = self.select_idle_sibling(w, task, wake, target);
        if want_affine
            && !self.rules.recent_always
            && let Some(waker) = wake.waker
        {
            self.entities[waker.index()].recent_used_cpu = wake.cpu;
        }
        if w.allowed(task, chosen) { chosen } else { w.select_fallback_rq(task) }
    }

    /// `record_wakee`: how often a waker changes the task it wakes.
    fn record_wakee(&mut self, w: &World, waker: TaskId, wakee: TaskId) {
        let jiffies = w.jiffies();
        let decay_after = FLIP_DECAY_SECONDS * w.hz;
        let entity = &mut self.entities[waker.index()];
        if jiffies > entity.wakee_flip_decay + decay_after {
            entity.wakee_flips >>= 1;
            entity.wakee_flip_decay = jiffies;
        }
        if entity.last_wakee != Some(wakee) {
            entity.last_wakee = Some(wakee);
            entity.wakee_flips += 1;
        }
    }

    /// `wake_wide`: one side has so many partners that an LLC cannot hold them.
    fn wake_wide(&self, w: &World, task: TaskId, wake: WakeUp) -> bool {
        let Some(waker) = wake.waker.filter(|_| self.rules.wake_wide) else { return false };
        let (a, b) =
            (self.entities[waker.index()].wakee_flips, self.entities[task.index()].wakee_flips);
        let factor = w.topo.llcs[w.topo.llc_of[wake.cpu as usize] as usize].cpus.len() as u32;
        let (master, slave) = (a.max(b), a.min(b));
        slave >= factor && master >= slave * factor
    }

    /// `wake_affine`: the waker's CPU or the previous one.
    fn wake_affine(
        &mut self,
        w: &mut World,
        domain: &SimDomain,
        task: TaskId,
        wake: WakeUp,
    ) -> Cpu {
        w.counters.affine_attempts += 1;
        let idle = if self.rules.wa_idle { self.wake_affine_idle(w, wake) } else { None };
        let chosen = idle
            .or_else(|| self.prefer_idler_llc(w, wake))
            .or_else(|| self.wake_affine_weight(w, domain, task, wake));
        // The idler-LLC study counts only moves to the waker's CPU; mainline counts every choice but the last resort.
        let affine = match chosen {
            Some(cpu) => cpu == wake.cpu || !self.rules.wa_idler_llc,
            None => false,
        };
        w.counters.affine_moves += u64::from(affine);
        chosen.unwrap_or(wake.prev)
    }

    /// `wake_affine_idle`: an interrupt on an idle CPU that shares the cache, or a waker alone that is about to
    /// sleep; from 5.10 on also an idle previous CPU.
    fn wake_affine_idle(&self, w: &World, wake: WakeUp) -> Option<Cpu> {
        if w.idle_cpu(wake.cpu) && w.topo.share_cache(wake.cpu, wake.prev) {
            return Some(if w.idle_cpu(wake.prev) { wake.prev } else { wake.cpu });
        }
        let delayed = self.queues[wake.cpu as usize].h_nr_delayed;
        if wake.sync && w.cpus[wake.cpu as usize].nr_running - delayed == 1 {
            return Some(wake.cpu);
        }
        let back = self.rules.wa_idle_prev && w.idle_cpu(wake.prev);
        back.then_some(wake.prev)
    }

    /// `prefer_idler_llc` of the idler-LLC study: of the two LLCs, the one with the smaller share of busy CPUs, or
    /// with WA_WAKER the waker's while it has an idle CPU.
    fn prefer_idler_llc(&self, w: &World, wake: WakeUp) -> Option<Cpu> {
        if !self.rules.wa_idler_llc || w.topo.share_cache(wake.cpu, wake.prev) {
            return None;
        }
        let llc = |cpu: Cpu| {
            let at = w.topo.llc_of[cpu as usize] as usize;
            (i64::from(self.llcs[at].nr_busy_cpus), w.topo.llcs[at].cpus.len() as i64)
        };
        let ((this_busy, this_size), (prev_busy, prev_size)) = (llc(wake.cpu), llc(wake.prev));
        // As the study has it, the waker's LLC is compared with the size of the previous one.
        if prev_busy == prev_size && this_busy == prev_size {
            return None;
        }
        if self.rules.wa_waker && this_busy < this_size {
            return Some(wake.cpu);
        }
        let difference = this_busy * prev_size - i64::from(wake.sync) - prev_busy * this_size;
        match difference {
            0 => None,
            ..0 => Some(wake.cpu),
            1.. => Some(wake.prev),
        }
    }

    /// `wake_affine_weight`: the waker's CPU if it would carry less load, with the bias of the domain.
    fn wake_affine_weight(
        &mut self,
        w: &World,
        domain: &SimDomain,
        task: TaskId,
        wake: WakeUp,
    ) -> Option<Cpu> {
        if !self.rules.wa_weight {
            return None;
        }
        let mut here = self.cpu_load(wake.cpu);
        if wake.sync {
            let waker = wake.waker.map(|t| self.queue_of(t.into(), wake.cpu));
            self.update_h_load(w, waker.unwrap_or(QueueId::root(wake.cpu)));
            let waker_load = wake.waker.map_or(0, |t| self.task_h_load(w, t));
            if waker_load > here {
                return Some(wake.cpu);
            }
            here -= waker_load;
        }
        self.update_h_load(w, self.task_cfs_rq(w, task));
        let task_load = self.task_h_load(w, task);
        let capacity = |cpu: Cpu| w.topo.capacity[cpu as usize] as i128;
        let bias =
            if self.rules.wa_bias { (i128::from(domain.imbalance_pct) - 100) / 2 } else { 0 };
        let here = i128::from(here + task_load) * 100 * capacity(wake.prev);
        let there = i128::from(self.cpu_load(wake.prev)) - i128::from(task_load);
        let there = there * (100 + bias) * capacity(wake.cpu) + i128::from(wake.sync);
        (here < there).then_some(wake.cpu)
    }
}

#[cfg(test)]
mod tests;
