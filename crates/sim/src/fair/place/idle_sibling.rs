//! An idle CPU near the target of a wake-up (`select_idle_sibling` and what it calls).
//!
//! First come the target, the previous CPU and the one used before that: each is taken if it is idle, shares the
//! target's cache and has the capacity. Where CPUs differ in capacity, `select_idle_capacity` then searches a domain of
//! such CPUs, and that is all. Elsewhere the target's LLC is searched: up to 5.11 for a core, a CPU and a thread in
//! turn (`search_by_steps`), from 5.12 on for a core and a CPU at once (`search_at_once`). If nothing is found, the
//! target it is; where clusters count, an idle previous or recent CPU of another cluster comes before it.
//!
//! A core is searched for while `has_idle_cores` is set: `update_idle_core` sets it, a vain search clears it.
//! `select_idle_cpu` looks as far as `scan_limit` lets it. The CPU on which the wake-up happens pays for each search;
//! besides that only what later searches need is written. `wakeup` chooses the target and checks the result against the
//! task's affinity.

use super::wakeup::WakeUp;
use crate::fair::Fair;
use crate::fair::rules::ScanLimit;
use crate::topology::{Cpu, SimDomain};
use crate::world::{TaskId, World};
use kernel::SdFlags;
use machine::CpuSet;

/// Divisor of the average idle time that a scan may use (`select_idle_cpu` up to 5.13).
const SCAN_FUZZ: u64 = 512;

/// How far a search may look: CPUs left, `None` for all.
struct Scan(Option<u64>);

impl Scan {
    /// Takes one CPU off the limit; false where it is reached (`--nr <= 0`).
    fn goes_on(&mut self) -> bool {
        if let Some(left) = &mut self.0 {
            *left = left.saturating_sub(1);
            return *left > 0;
        }
        true
    }
}

impl Fair {
    /// `select_idle_sibling`: an idle CPU that shares the target's cache, else the target.
    pub(in crate::fair) fn select_idle_sibling(
        &mut self,
        w: &mut World,
        task: TaskId,
        wake: WakeUp,
        target: Cpu,
    ) -> Cpu {
        let prev = wake.prev;
        if self.choose_idle_cpu(w, target) && self.asym_fits_cpu(w, task, target) {
            return target;
        }
        let near = |f: &Fair, cpu: Cpu| !f.cluster_active || w.topo.share_cluster(cpu, target);
        let mut fallback = None;
        if prev != target
            && w.topo.share_cache(prev, target)
            && self.choose_idle_cpu(w, prev)
            && self.asym_fits_cpu(w, task, prev)
        {
            if near(self, prev) {
                return prev;
            }
            fallback = Some(prev);
        }
        if let Some(recent) = self.recent_used_cpu(w, task, prev, target) {
            if near(self, recent) {
                return recent;
            }
            fallback = fallback.or(Some(recent));
        }
        if let Some(span) = self.sd_asym_cpucapacity(w, target) {
            return self.select_idle_capacity(w, task, wake.cpu, target, span).unwrap_or(target);
        }
        if !w.topo.has_llc_domain[target as usize] {
            return target;
        }
        let found = if self.rules.one_search {
            self.search_at_once(w, task, wake, target)
        } else {
            self.search_by_steps(w, task, wake.cpu, target)
        };
        found.or(fallback).unwrap_or(target)
    }

    /// The CPU used before the previous one, if it is idle, near, and large enough for the task.
    fn recent_used_cpu(&mut self, w: &World, task: TaskId, prev: Cpu, target: Cpu) -> Option<Cpu> {
        if !self.rules.recent_used_cpu {
            return None;
        }
        let entity = &mut self.entities[task.index()];
        let recent = entity.recent_used_cpu;
        if self.rules.recent_always {
            entity.recent_used_cpu = prev;
        }
        let usable = recent != prev
            && recent != target
            && w.topo.share_cache(recent, target)
            && self.choose_idle_cpu(w, recent)
            && w.allowed(task, recent);
        if usable {
            self.entities[task.index()].recent_used_cpu = prev;
        }
        (usable && self.asym_fits_cpu(w, task, recent)).then_some(recent)
    }

    /// Up to 5.11: an idle core, an idle CPU of the cluster (RFC), an idle CPU, an idle thread of the target's core, each by a search of its own.
    fn search_by_steps(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        target: Cpu,
    ) -> Option<Cpu> {
        if let Some(cpu) = self.select_idle_core(w, task, here, target) {
            return Some(cpu);
        }
        if let Some(cpu) = self.select_idle_cluster(w, task, here, target) {
            return Some(cpu);
        }
        self.select_idle_cpu(w, task, here, target)
            .or_else(|| self.select_idle_smt(w, task, here, target, target))
    }

    /// From 5.12 on: threads of the previous core where no core is idle (5.13), then one pass over the LLC that
    /// looks for an idle core and notes an idle CPU, or for an idle CPU.
    fn search_at_once(
        &mut self,
        w: &mut World,
        task: TaskId,
        wake: WakeUp,
        target: Cpu,
    ) -> Option<Cpu> {
        let llc = w.topo.llc_of[target as usize] as usize;
        let smt = w.topo.smt[target as usize].len() > 1;
        let idle_core = smt && self.rules.idle_core_search && self.llcs[llc].has_idle_cores;
        if smt
            && !idle_core
            && self.rules.smt_of_prev_first
            && w.topo.share_cache(wake.prev, target)
            && let Some(cpu) = self.select_idle_smt(w, task, wake.cpu, wake.prev, target)
        {
            return Some(cpu);
        }
        if let Some(cpu) = self.select_idle_cluster(w, task, wake.cpu, target) {
            return Some(cpu);
        }
        let overloaded =
            self.rules.scan_limit == ScanLimit::Utilisation && self.llcs[llc].nr_idle_scan == 0;
        if overloaded {
            None
        } else if idle_core {
            self.select_idle_core_or_cpu(w, task, wake.cpu, target)
        } else {
            self.select_idle_cpu(w, task, wake.cpu, target)
        }
    }

    /// The search for an idle core that notes the first idle CPU on its way.
    fn select_idle_core_or_cpu(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        target: Cpu,
    ) -> Option<Cpu> {
        let topo = w.topo;
        let llc = topo.llc_of[target as usize] as usize;
        let mut idle_cpu = None;
        for cpu in self.search_order(w, target) {
            let core = &topo.smt[cpu as usize];
            // A core is looked at once, when its first usable thread comes up.
            if !first_of_core(w, task, core, cpu, self.start_cpu(w, target)) {
                continue;
            }
            look_at(w, here, core);
            if core.iter().all(|&c| w.idle_cpu(c)) {
                return Some(cpu);
            }
            if idle_cpu.is_none() {
                idle_cpu = core
                    .iter()
                    .copied()
                    .find(|&c| w.allowed(task, c) && self.choose_idle_cpu(w, c));
            }
        }
        self.llcs[llc].has_idle_cores = false;
        idle_cpu
    }

    /// `select_idle_core` up to 5.11: a core with all threads idle, where one is said to exist.
    fn select_idle_core(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        target: Cpu,
    ) -> Option<Cpu> {
        let topo = w.topo;
        let llc = topo.llc_of[target as usize] as usize;
        let possible = self.rules.idle_core_search && self.llcs[llc].has_idle_cores;
        if topo.smt[target as usize].len() < 2 || !possible {
            return None;
        }
        let mut found = None;
        for cpu in wrapped(&topo.llcs[llc].cpus, topo.llc_position[target as usize]) {
            let core = &topo.smt[cpu as usize];
            if !first_of_core(w, task, core, cpu, target) {
                continue;
            }
            look_at(w, here, core);
            if core.iter().all(|&c| w.idle_cpu(c)) {
                found = Some(cpu);
                break;
            }
        }
        if found.is_none() {
            self.llcs[llc].has_idle_cores = false;
        }
        found
    }

    /// `select_idle_cluster` of the clusters study's RFC: any idle CPU of the target's cluster. Not on SMT machines.
    fn select_idle_cluster(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        target: Cpu,
    ) -> Option<Cpu> {
        if !self.rules.cluster_scan_rfc || w.topo.smt[target as usize].len() > 1 {
            return None;
        }
        let cluster = w.topo.cluster[target as usize].as_deref()?;
        let from = cluster.iter().position(|&c| c == target).unwrap_or(0);
        wrapped(cluster, from as u16).find(|&cpu| {
            w.look(here, cpu);
            w.allowed(task, cpu) && self.choose_idle_cpu(w, cpu)
        })
    }

    /// `select_idle_cpu`: any idle CPU of the LLC within the limit; with `cluster_scan` those of the target's
    /// cluster come first.
    fn select_idle_cpu(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        target: Cpu,
    ) -> Option<Cpu> {
        let topo = w.topo;
        let level = llc_level(&topo.domains[here as usize])?;
        let llc = topo.llc_of[target as usize] as usize;
        let mut scan = Scan(self.scan_limit(w, here, level, llc)?);
        let (mut found, mut cycles) = (None, 0.0);
        for cpu in self.search_order(w, target) {
            // Up to 5.11 a CPU that the task may not use counts as one looked at.
            let allowed = w.allowed(task, cpu);
            if self.rules.one_search && !allowed {
                continue;
            }
            if !scan.goes_on() {
                break;
            }
            cycles += w.look(here, cpu);
            if allowed && self.choose_idle_cpu(w, cpu) {
                found = Some(cpu);
                break;
            }
        }
        if self.rules.scan_limit == ScanLimit::IdleTime && scan.0 != Some(0) {
            self.note_scan_cost(w, here, level, cycles);
        }
        found
    }

    /// CPUs that a search may look at, plus one; `None` where it may not begin. Idle time and scan cost are those of
    /// the waking CPU `here` (`this_rq`, its `sd_llc`).
    fn scan_limit(
        &mut self,
        w: &World,
        here: Cpu,
        level: usize,
        llc: usize,
    ) -> Option<Option<u64>> {
        match self.rules.scan_limit {
            ScanLimit::None => Some(None),
            ScanLimit::Utilisation => {
                let nr = self.llcs[llc].nr_idle_scan + 1;
                (nr > 1).then_some(Some(nr))
            }
            ScanLimit::IdleTime => {
                let avg_idle_ns = if self.rules.wake_avg_idle {
                    self.rqs[here as usize].age_wake_avg_idle(w.jiffies())
                } else {
                    self.rqs[here as usize].avg_idle_ns / SCAN_FUZZ
                };
                let cost_ns = self.rqs[here as usize].domains[level].avg_scan_cost_ns + 1;
                let span_avg = w.topo.llcs[llc].cpus.len() as u64 * avg_idle_ns;
                Some(Some(if span_avg > 4 * cost_ns { span_avg / cost_ns } else { 4 }))
            }
        }
    }

    fn note_scan_cost(&mut self, w: &World, here: Cpu, level: usize, cycles: f64) {
        let cost_ns = w.hw.ns(cycles);
        let rq = &mut self.rqs[here as usize];
        if self.rules.wake_avg_idle {
            rq.wake_avg_idle_ns = rq.wake_avg_idle_ns.saturating_sub(cost_ns);
        }
        let state = &mut rq.domains[level];
        let change = (cost_ns as i64 - state.avg_scan_cost_ns as i64) / 8;
        state.avg_scan_cost_ns = state.avg_scan_cost_ns.saturating_add_signed(change);
    }

    /// `select_idle_smt`: an idle thread of the core of `of`; within the target's LLC.
    fn select_idle_smt(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        of: Cpu,
        target: Cpu,
    ) -> Option<Cpu> {
        let core = &w.topo.smt[of as usize];
        let usable = |c: Cpu| {
            w.allowed(task, c) && self.choose_idle_cpu(w, c) && w.topo.share_cache(c, target)
        };
        let found = core.iter().copied().find(|&c| usable(c));
        look_at(w, here, core);
        found
    }

    /// CPUs of `sd_asym_cpucapacity`: of the lowest domain that sees all capacities (5.14), before that different ones.
    fn sd_asym_cpucapacity<'t>(&self, w: &World<'t>, target: Cpu) -> Option<&'t CpuSet> {
        if !self.asym_capacity {
            return None;
        }
        let sees = match self.rules.asym_by_full_domain {
            true => SdFlags::ASYM_CPUCAPACITY_FULL,
            false => SdFlags::ASYM_CPUCAPACITY,
        };
        let chain = &w.topo.domains[target as usize];
        chain.iter().find(|d| d.flags.contains(sees)).map(|d| &d.span)
    }

    /// `select_idle_capacity`: the first idle CPU on which the task fits, else the idle one with most capacity.
    fn select_idle_capacity(
        &mut self,
        w: &mut World,
        task: TaskId,
        here: Cpu,
        target: Cpu,
        span: &CpuSet,
    ) -> Option<Cpu> {
        let topo = w.topo;
        let mut best = None;
        let usable = span & &w.tasks[task.index()].allowed;
        let all = || usable.iter().map(|c| c as Cpu);
        for cpu in all().filter(|&c| c >= target).chain(all().filter(|&c| c < target)) {
            w.look(here, cpu);
            if !w.idle_cpu(cpu) {
                continue;
            }
            if self.asym_fits_cpu(w, task, cpu) {
                best = Some((u64::MAX, cpu));
                break;
            }
            let capacity = topo.capacity[cpu as usize];
            if best.is_none_or(|(most, _)| capacity > most) {
                best = Some((capacity, cpu));
            }
        }
        best.map(|(_, cpu)| cpu)
    }

    /// `asym_fits_cpu`: on CPUs that differ, whether a fifth of the capacity is left.
    fn asym_fits_cpu(&self, w: &World, task: TaskId, cpu: Cpu) -> bool {
        !self.asym_capacity || self.task_fits_cpu(w, task, cpu)
    }

    /// Where a search of the LLC begins: at the target, later behind it.
    fn start(&self, w: &World, target: Cpu) -> u16 {
        let position = w.topo.llc_position[target as usize];
        let cpus = w.topo.llcs[w.topo.llc_of[target as usize] as usize].cpus.len() as u16;
        if self.rules.recent_always { (position + 1) % cpus } else { position }
    }

    /// The LLC from the start on; with `cluster_scan` the target's cluster comes first.
    fn search_order<'a>(&self, w: &World<'a>, target: Cpu) -> impl Iterator<Item = Cpu> + use<'a> {
        let topo = w.topo;
        let cluster = topo.cluster[target as usize].as_deref().filter(|_| self.cluster_active);
        let from = move |cluster: &[Cpu]| {
            let at = cluster.iter().position(|&c| c == target).unwrap_or(0) as u16;
            (at + 1) % cluster.len() as u16
        };
        let first = cluster.into_iter().flat_map(move |c| wrapped(c, from(c)));
        let llc = &topo.llcs[topo.llc_of[target as usize] as usize].cpus;
        let rest = wrapped(llc, self.start(w, target));
        let in_cluster = cluster.is_some();
        first.chain(rest.filter(move |&c| !in_cluster || !topo.share_cluster(c, target)))
    }

    fn start_cpu(&self, w: &World, target: Cpu) -> Cpu {
        let llc = &w.topo.llcs[w.topo.llc_of[target as usize] as usize].cpus;
        llc.get(self.start(w, target) as usize).copied().unwrap_or(target)
    }

    /// `__update_idle_core`: a CPU went idle; if its whole core did, the LLC has an idle core.
    pub(in crate::fair) fn update_idle_core(&mut self, w: &World, cpu: Cpu) {
        let core = &w.topo.smt[cpu as usize];
        let llc = &mut self.llcs[w.topo.llc_of[cpu as usize] as usize];
        if core.len() > 1 && !llc.has_idle_cores {
            llc.has_idle_cores = core.iter().all(|&c| c == cpu || w.idle_cpu(c));
        }
    }
}

/// Whether `cpu` is the thread at which its core comes up, in an order that wraps at `start`.
fn first_of_core(w: &World, task: TaskId, core: &[Cpu], cpu: Cpu, start: Cpu) -> bool {
    let mut usable = core.iter().copied().filter(|&c| w.allowed(task, c));
    usable.clone().find(|&c| c >= start).or_else(|| usable.next()) == Some(cpu)
}

/// Looking costs the CPU on which the wake-up happens.
pub(super) fn look_at(w: &mut World, here: Cpu, cpus: &[Cpu]) {
    for &cpu in cpus {
        w.look(here, cpu);
    }
}

/// The level of `sd_llc`: the highest domain that shares the last-level cache.
pub(in crate::fair) fn llc_level(chain: &[SimDomain]) -> Option<usize> {
    chain.iter().rposition(|d| d.flags.contains(SdFlags::SHARE_LLC))
}

/// `for_each_cpu_wrap` over a list, from the place `start` on.
fn wrapped(cpus: &[Cpu], start: u16) -> impl Iterator<Item = Cpu> + use<'_> {
    let (before, from) = cpus.split_at(start as usize);
    from.iter().chain(before).copied()
}
