//! Idle CPUs without a tick: who balances for them, and when their blocked load is brought up to date.
//!
//! What a kick asks for is stats or balancing, as before 5.15: `NOHZ_NEXT_KICK`, which only keeps `nohz.next_balance`
//! exact, has no effect on results because every visit computes it anew. Newly idle CPUs update blocked load at once,
//! where kernels from 5.12 on do so a little later, in the idle loop.

use super::asym;
use super::env::CpuIdle;
use crate::fair::{Fair, MIGRATION_COST_NS};
use crate::pelt::HALF_LIFE_PERIODS;
use crate::topology::Cpu;
use crate::world::{NohzKick, Request, World};
use kernel::SdFlags;
use machine::CpuSet;

/// The state behind `nohz` in the kernel.
#[derive(Debug)]
pub(in crate::fair) struct Nohz {
    idle_cpus: CpuSet,
    /// Those that their LLC's `nr_busy_cpus` leaves out (`sd->nohz_idle`): not those idle since before their domains
    /// were built.
    counted_idle: CpuSet,
    has_blocked: bool,
    next_blocked: u64,
    next_balance: u64,
    /// By CPU: whether load was left on it when it was last looked at.
    pub(in crate::fair) has_blocked_load: Vec<bool>,
    last_blocked_update: Vec<u64>,
}

impl Nohz {
    pub(in crate::fair) fn new(nr_cpus: usize) -> Nohz {
        Nohz {
            idle_cpus: CpuSet::EMPTY,
            counted_idle: CpuSet::EMPTY,
            has_blocked: false,
            next_blocked: 0,
            next_balance: 0,
            has_blocked_load: vec![false; nr_cpus],
            last_blocked_update: vec![0; nr_cpus],
        }
    }

    /// New domains for the CPUs `online`: all of them count as busy, and a CPU that leaves is idle for nobody.
    pub(in crate::fair) fn rebuild(&mut self, online: &CpuSet) {
        self.counted_idle = CpuSet::EMPTY;
        self.idle_cpus = &self.idle_cpus & online;
    }
}

impl Fair {
    /// `nohz_balance_enter_idle`: the tick of an idle CPU stops.
    pub(in crate::fair) fn nohz_balance_enter_idle(&mut self, w: &World, cpu: Cpu) {
        self.nohz.has_blocked_load[cpu as usize] = true;
        self.nohz.has_blocked = true;
        if !self.nohz.idle_cpus.contains(cpu as usize) {
            self.nohz.idle_cpus.insert(cpu as usize);
            self.nohz.counted_idle.insert(cpu as usize);
            let llc = &mut self.llcs[w.topo.llc_of[cpu as usize] as usize];
            llc.nr_busy_cpus = llc.nr_busy_cpus.saturating_sub(1);
        }
    }

    /// `nohz_balance_exit_idle`: the first tick of a busy CPU.
    fn nohz_balance_exit_idle(&mut self, w: &World, cpu: Cpu) {
        if self.nohz.idle_cpus.contains(cpu as usize) {
            self.nohz.idle_cpus.remove(cpu as usize);
            if self.nohz.counted_idle.contains(cpu as usize) {
                self.nohz.counted_idle.remove(cpu as usize);
                self.llcs[w.topo.llc_of[cpu as usize] as usize].nr_busy_cpus += 1;
            }
        }
    }

    /// `nohz_balancer_kick`, from the tick of a busy CPU: more than one task here, or another busy CPU in the
    /// LLC, makes an idle CPU balance for all idle ones.
    pub(in crate::fair) fn nohz_balancer_kick(&mut self, w: &mut World, cpu: Cpu) {
        self.nohz_balance_exit_idle(w, cpu);
        let now = w.jiffies();
        if self.nohz.idle_cpus.is_empty() {
            return;
        }
        let mut kick =
            (self.nohz.has_blocked && now > self.nohz.next_blocked).then_some(NohzKick::Stats);
        if now >= self.nohz.next_balance && self.rules.nohz_balance && self.could_move(w, cpu) {
            kick = Some(NohzKick::Balance);
        }
        if let Some(kick) = kick {
            self.kick_ilb(w, kick);
        }
    }

    /// Whether an idle CPU could take something over from the busy `cpu`.
    fn could_move(&self, w: &World, cpu: Cpu) -> bool {
        if w.cpus[cpu as usize].nr_running >= 2 {
            return true;
        }
        let chain = &w.topo.domains[cpu as usize];
        let packing = chain.iter().rfind(|d| d.flags.contains(SdFlags::ASYM_PACKING));
        let packs = packing.is_some_and(|d| {
            let mut idle = d.span.iter_and(&self.nohz.idle_cpus);
            idle.any(|c| asym::prefers(c as Cpu, cpu))
        });
        if packs {
            return true;
        }
        if self.rules.group_classes
            && chain.iter().any(|d| d.flags.contains(SdFlags::ASYM_CPUCAPACITY))
        {
            // Such machines want capacity for each task, not an even use of caches.
            return self.misfit_wants_help(w, cpu);
        }
        let busy = self.llcs[w.topo.llc_of[cpu as usize] as usize].nr_busy_cpus;
        w.topo.has_llc_domain[cpu as usize] && busy > 1
    }

    /// `kick_ilb`: the first idle CPU (`find_new_ilb`).
    fn kick_ilb(&mut self, w: &mut World, kick: NohzKick) {
        let ilb = self.nohz.idle_cpus.iter().map(|c| c as Cpu).find(|&c| w.idle_cpu(c));
        if kick == NohzKick::Balance {
            self.nohz.next_balance = w.jiffies() + 1;
        }
        if let Some(ilb) = ilb {
            w.requests.push(Request::Kick(ilb, kick));
        }
    }

    /// `nohz_newidle_balance`: a CPU that goes idle for long brings the others' blocked load up to date.
    pub(in crate::fair) fn nohz_newidle_balance(&mut self, w: &mut World, cpu: Cpu) {
        let long_idle = self.rqs[cpu as usize].avg_idle_ns >= MIGRATION_COST_NS;
        if long_idle && self.nohz.has_blocked && w.jiffies() >= self.nohz.next_blocked {
            self.nohz_idle_balance(w, cpu, NohzKick::Stats, false);
        }
    }

    /// `_nohz_idle_balance` by `cpu`; `is_idle` unless it is only about to go idle.
    pub(in crate::fair) fn nohz_idle_balance(
        &mut self,
        w: &mut World,
        cpu: Cpu,
        kick: NohzKick,
        is_idle: bool,
    ) {
        let now = w.jiffies();
        let mut next_balance = None;
        let mut blocked = false;
        self.nohz.has_blocked = false;
        let start = if self.rules.nohz_own_last { cpu as usize + 1 } else { 0 };
        // Nobody goes idle or wakes up while balancing, so that no one misses the set.
        let idle_cpus = std::mem::take(&mut self.nohz.idle_cpus);
        for other in idle_cpus.iter_wrap(start).map(|c| c as Cpu) {
            if !w.idle_cpu(other) || (other == cpu && !self.rules.nohz_own_last) {
                continue;
            }
            blocked |= self.update_nohz_stats(w, other);
            if now >= self.rqs[other as usize].next_balance {
                self.cpu_load_update_idle(w, other);
                if kick == NohzKick::Balance {
                    self.rebalance_domains(w, other, CpuIdle::Idle);
                }
            }
            let due = self.rqs[other as usize].next_balance;
            next_balance = Some(next_balance.map_or(due, |next: u64| next.min(due)));
        }
        self.nohz.idle_cpus = idle_cpus;
        self.nohz.next_balance = next_balance.unwrap_or(self.nohz.next_balance);
        if is_idle && !self.rules.nohz_own_last {
            blocked |= self.update_blocked_averages(w, cpu);
            if kick == NohzKick::Balance {
                self.rebalance_domains(w, cpu, CpuIdle::Idle);
                let due = self.rqs[cpu as usize].next_balance;
                self.nohz.next_balance = self.nohz.next_balance.min(due);
            }
        }
        self.nohz.next_blocked = now + w.ms_to_jiffies(HALF_LIFE_PERIODS);
        self.nohz.has_blocked |= blocked;
    }

    /// `update_nohz_stats`: whether blocked load is left on an idle CPU, brought up to date once a tick.
    fn update_nohz_stats(&mut self, w: &World, cpu: Cpu) -> bool {
        if !self.nohz.has_blocked_load[cpu as usize] {
            return false;
        }
        let now = w.jiffies();
        if now <= self.nohz.last_blocked_update[cpu as usize] {
            return true;
        }
        self.nohz.last_blocked_update[cpu as usize] = now;
        self.update_blocked_averages(w, cpu)
    }
}
