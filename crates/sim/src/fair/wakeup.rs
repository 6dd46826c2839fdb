//! Where a waking task goes: near its waker or back, and to which idle CPU there.

use super::Fair;
use crate::class::Select;
use crate::topology::{Cpu, SimDomain};
use crate::world::{TaskId, World};
use kernel::SdFlags;

/// A task changes partners often enough to count only over the last second (`record_wakee`).
const FLIP_DECAY_SECONDS: u64 = 1;
/// Divisor of the average idle time that a scan may use (`select_idle_cpu`).
const SCAN_FUZZ: u64 = 512;

/// A wake-up as the functions below pass it on.
#[derive(Clone, Copy)]
struct WakeUp {
    cpu: Cpu,
    prev: Cpu,
    sync: bool,
    waker: Option<TaskId>,
}

impl Fair {
    /// `select_task_rq_fair`.
    pub(super) fn select_task_rq(&mut self, w: &mut World, task: TaskId, why: Select) -> Cpu {
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

    fn select_wake(&mut self, w: &mut World, task: TaskId, wake: WakeUp) -> Cpu {
        if let Some(waker) = wake.waker {
            self.record_wakee(w, waker, task);
        }
        let near = !self.wake_wide(w, task, wake) && w.allowed(task, wake.cpu);
        let mut target = wake.prev;
        if near && wake.cpu != wake.prev {
            let topo = w.topo;
            let shared = topo.domains[wake.cpu as usize].iter().find(|d| {
                d.flags.contains(SdFlags::WAKE_AFFINE) && d.span.contains(wake.prev as usize)
            });
            if let Some(domain) = shared {
                target = self.wake_affine(w, domain, task, wake);
            }
        }
        let chosen = self.select_idle_sibling(w, task, wake, target);
        if near && let Some(waker) = wake.waker {
            self.entities[waker.index()].recent_used_cpu = wake.cpu;
        }
        if w.allowed(task, chosen) { chosen } else { self.select_fallback_rq(w, task) }
    }

    /// `select_fallback_rq`: the first CPU that the task may use.
    fn select_fallback_rq(&self, w: &World, task: TaskId) -> Cpu {
        let task = &w.tasks[task.index()];
        task.allowed.first().map_or(task.cpu, |c| c as Cpu)
    }

    /// `record_wakee`: how often a waker changes the task it wakes.
    fn record_wakee(&mut self, w: &World, waker: TaskId, wakee: TaskId) {
        let jiffies = w.jiffies();
        let decay_after = FLIP_DECAY_SECONDS * w.hz();
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
        let Some(waker) = wake.waker else { return false };
        let (a, b) =
            (self.entities[waker.index()].wakee_flips, self.entities[task.index()].wakee_flips);
        let factor = w.topo.llcs[w.topo.llc_of[wake.cpu as usize] as usize].cpus.len() as u32;
        let (master, slave) = (a.max(b), a.min(b));
        slave >= factor && master >= slave * factor
    }

    /// `wake_affine`: the waker's CPU or the previous one.
    fn wake_affine(&self, w: &World, domain: &SimDomain, task: TaskId, wake: WakeUp) -> Cpu {
        self.wake_affine_idle(w, wake)
            .or_else(|| self.wake_affine_weight(w, domain, task, wake))
            .unwrap_or(wake.prev)
    }

    /// `wake_affine_idle`: an interrupt on an idle CPU that shares the cache, or a waker alone that is about to sleep.
    fn wake_affine_idle(&self, w: &World, wake: WakeUp) -> Option<Cpu> {
        if w.idle_cpu(wake.cpu) && w.topo.share_cache(wake.cpu, wake.prev) {
            return Some(if w.idle_cpu(wake.prev) { wake.prev } else { wake.cpu });
        }
        (wake.sync && w.cpus[wake.cpu as usize].nr_running == 1).then_some(wake.cpu)
    }

    /// `wake_affine_weight`: the waker's CPU if it would carry less load, with the bias of the domain.
    fn wake_affine_weight(
        &self,
        w: &World,
        domain: &SimDomain,
        task: TaskId,
        wake: WakeUp,
    ) -> Option<Cpu> {
        let mut here = self.target_load(wake.cpu, 0);
        if wake.sync {
            let waker_load = wake.waker.map_or(0, |t| self.task_load(t));
            if waker_load > here {
                return Some(wake.cpu);
            }
            here -= waker_load;
        }
        let task_load = self.task_load(task);
        let capacity = |cpu: Cpu| w.topo.capacity[cpu as usize] as i128;
        let here = i128::from(here + task_load) * 100 * capacity(wake.prev);
        let there = i128::from(self.source_load(wake.prev, 0)) - i128::from(task_load);
        let bias = 100 + (i128::from(domain.imbalance_pct) - 100) / 2;
        let there = there * bias * capacity(wake.cpu) + i128::from(wake.sync);
        (here < there).then_some(wake.cpu)
    }

    /// `select_idle_sibling`: an idle CPU that shares the target's cache, else the target.
    fn select_idle_sibling(
        &mut self,
        w: &mut World,
        task: TaskId,
        wake: WakeUp,
        target: Cpu,
    ) -> Cpu {
        let prev = wake.prev;
        if w.idle_cpu(target) {
            return target;
        }
        if prev != target && w.topo.share_cache(prev, target) && w.idle_cpu(prev) {
            return prev;
        }
        let recent = self.entities[task.index()].recent_used_cpu;
        if recent != prev
            && recent != target
            && w.topo.share_cache(recent, target)
            && w.idle_cpu(recent)
            && w.allowed(task, recent)
        {
            self.entities[task.index()].recent_used_cpu = prev;
            return recent;
        }
        if !w.topo.has_llc_domain[target as usize] {
            return target;
        }
        self.select_idle_core(w, task, wake.cpu, target)
            .or_else(|| self.select_idle_cpu(w, task, wake.cpu, target))
            .or_else(|| self.select_idle_smt(w, task, wake.cpu, target))
            .unwrap_or(target)
    }

    /// `select_idle_core`: a core with all threads idle, where one is said to exist.
    fn select_idle_core(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        target: Cpu,
    ) -> Option<Cpu> {
        let topo = w.topo;
        let llc = topo.llc_of[target as usize] as usize;
        if topo.smt[target as usize].len() < 2 || !self.llcs[llc].has_idle_cores {
            return None;
        }
        let mut looked = 0;
        let mut found = None;
        for cpu in wrapped(&topo.llcs[llc].cpus, topo.llc_position[target as usize]) {
            let core = &topo.smt[cpu as usize];
            // A core is looked at once, when its first usable thread in wrapped order comes up.
            let mut usable = core.iter().copied().filter(|&c| w.allowed(task, c));
            let first = usable.clone().find(|&c| c >= target).or_else(|| usable.next());
            if first != Some(cpu) {
                continue;
            }
            looked += core.len();
            if core.iter().all(|&c| w.idle_cpu(c)) {
                found = Some(cpu);
                break;
            }
        }
        charge_scan(w, here, looked);
        if found.is_none() {
            self.llcs[llc].has_idle_cores = false;
        }
        found
    }

    /// `select_idle_cpu`: any idle CPU of the LLC, looking no further than the average idle time pays
    /// (`SIS_PROP`). Idle time and scan cost are those of the waking CPU `here` (`this_rq`, its `sd_llc`).
    fn select_idle_cpu(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        target: Cpu,
    ) -> Option<Cpu> {
        let topo = w.topo;
        let llc = &topo.llcs[topo.llc_of[target as usize] as usize];
        let level = llc_level(&topo.domains[here as usize])?;
        let avg_idle = self.queues[here as usize].avg_idle_ns / SCAN_FUZZ;
        let avg_cost = self.queues[here as usize].domains[level].avg_scan_cost_ns + 1;
        let span_avg = llc.cpus.len() as u64 * avg_idle;
        let limit = if span_avg > 4 * avg_cost { span_avg / avg_cost } else { 4 };
        let mut looked = 0;
        let mut found = None;
        let mut left = limit;
        for cpu in wrapped(&llc.cpus, topo.llc_position[target as usize]) {
            left -= 1;
            if left == 0 {
                break;
            }
            looked += 1;
            if w.allowed(task, cpu) && w.idle_cpu(cpu) {
                found = Some(cpu);
                break;
            }
        }
        let cost_ns = w.hw.ns(looked as f64 * w.hw.scan_cycles);
        charge_scan(w, here, looked);
        if left > 0 {
            let state = &mut self.queues[here as usize].domains[level];
            let change = (cost_ns as i64 - state.avg_scan_cost_ns as i64) / 8;
            state.avg_scan_cost_ns = state.avg_scan_cost_ns.saturating_add_signed(change);
        }
        found
    }

    /// `select_idle_smt`: an idle thread of the target's core.
    fn select_idle_smt(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        target: Cpu,
    ) -> Option<Cpu> {
        let core = &w.topo.smt[target as usize];
        let found = core.iter().copied().find(|&c| w.allowed(task, c) && w.idle_cpu(c));
        charge_scan(w, here, core.len());
        found
    }

    /// `__update_idle_core`: a CPU went idle; if its whole core did, the LLC has an idle core.
    pub(super) fn update_idle_core(&mut self, w: &World, cpu: Cpu) {
        let core = &w.topo.smt[cpu as usize];
        let llc = &mut self.llcs[w.topo.llc_of[cpu as usize] as usize];
        if core.len() > 1 && !llc.has_idle_cores {
            llc.has_idle_cores = core.iter().all(|&c| c == cpu || w.idle_cpu(c));
        }
    }
}

/// The search costs the CPU on which the wake-up happens.
fn charge_scan(w: &mut World, here: Cpu, looked: usize) {
    w.charge(here, looked as f64 * w.hw.scan_cycles);
}

/// The level of `sd_llc`: the highest domain that shares the last-level cache.
pub(super) fn llc_level(chain: &[SimDomain]) -> Option<usize> {
    chain.iter().rposition(|d| d.flags.contains(SdFlags::SHARE_LLC))
}

/// `for_each_cpu_wrap` over a list, from the place `start` on.
fn wrapped(cpus: &[Cpu], start: u16) -> impl Iterator<Item = Cpu> {
    let (before, from) = cpus.split_at(start as usize);
    from.iter().chain(before).copied()
}

#[cfg(test)]
mod tests;
