//! Load balancing: when it is due, and one attempt at it (`rebalance_domains`, `load_balance`).
//!
//! A tick calls `trigger_load_balance`. At `next_balance` the CPU goes up its domains and tries each whose interval is
//! over, up to one that another CPU of its group balances (`rebalance_domains`). A busy CPU then lets `nohz` see
//! whether to kick an idle one.
//!
//! An attempt asks in this order: is it this CPU's turn (`should_we_balance`), which group is the busiest (`busiest`,
//! `groups`), which of its queues (`source`), which tasks come (`detach`). If all tasks of a queue are pinned, that CPU
//! is left out and the attempt begins anew. A success sets the interval to the domain's shortest; nothing to do doubles
//! it, up to the longest. After failures, or where the destination suits the running task better, a push is requested:
//! the engine stops the task and calls `active_load_balance` in `detach`. Intervals and failures are kept in the
//! `DomainState` of the CPU. Nothing is charged here: who compares groups or moves tasks charges.

use super::asym;
use super::env::{CpuIdle, Env, Migration};
use crate::fair::Fair;
use crate::fair::MIGRATION_COST_NS;
use crate::topology::Cpu;
use crate::world::{Request, World};
use kernel::SdFlags;

/// Longest interval in ms after which a domain whose tasks are all pinned is looked at again (`MAX_PINNED_INTERVAL`).
const MAX_PINNED_INTERVAL_MS: u64 = 512;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Another CPU of the group balances for it.
    NotOurs,
    /// Nothing to do.
    Balanced,
    /// The tasks of every busy queue are pinned.
    AllPinned,
    /// Tasks moved.
    Moved(u32),
    /// Nothing could move from this queue.
    Failed(Cpu),
}

impl Fair {
    /// `trigger_load_balance`: balances when it is time, and sees to the idle CPUs.
    pub(in crate::fair) fn trigger_load_balance(&mut self, w: &mut World, cpu: Cpu) {
        let jiffies = w.jiffies();
        if jiffies >= self.rqs[cpu as usize].next_balance {
            let idle = if w.idle_cpu(cpu) { CpuIdle::Idle } else { CpuIdle::Busy };
            self.rebalance_domains(w, cpu, idle);
        }
        if !w.idle_cpu(cpu) {
            self.nohz_balancer_kick(w, cpu);
        }
    }

    /// `rebalance_domains`: every domain whose interval is over, from the lowest up.
    pub(super) fn rebalance_domains(&mut self, w: &mut World, cpu: Cpu, idle: CpuIdle) {
        self.update_blocked_averages(w, cpu);
        let jiffies = w.jiffies();
        let (mut idle, mut decayed, mut go_on, mut max_cost_ns) = (idle, false, true, 0);
        let mut next_balance = jiffies + 60 * w.hz;
        for level in 0..w.topo.domains[cpu as usize].len() {
            let decays = self.decay_newidle_cost(w, cpu, level);
            decayed |= decays;
            max_cost_ns += self.rqs[cpu as usize].domains[level].max_newidle_cost_ns;
            if !go_on {
                if decays {
                    continue;
                }
                break;
            }
            let due = self.next_due(w, cpu, level, idle);
            if jiffies >= due {
                if self.load_balance(w, cpu, level, idle, &mut go_on) > 0 {
                    idle = if w.idle_cpu(cpu) { CpuIdle::Idle } else { CpuIdle::Busy };
                }
                self.rqs[cpu as usize].domains[level].last_balance = jiffies;
            }
            next_balance = next_balance.min(self.next_due(w, cpu, level, idle));
        }
        let rq = &mut self.rqs[cpu as usize];
        if decayed {
            rq.max_idle_balance_cost_ns = max_cost_ns.max(MIGRATION_COST_NS);
        }
        rq.next_balance = next_balance;
    }

    /// `get_sd_balance_interval`, in ticks.
    fn balance_interval(&self, w: &World, cpu: Cpu, level: usize, idle: CpuIdle) -> u64 {
        let domain = &w.topo.domains[cpu as usize][level];
        let mut ms = self.rqs[cpu as usize].domains[level].balance_interval_ms;
        let busy = idle != CpuIdle::Idle;
        if busy {
            ms *= domain.busy_factor;
        }
        let short = u64::from(busy && self.rules.odd_busy_interval);
        let longest = w.hz * w.topo.online.len() as u64 / 10;
        w.ms_to_jiffies(ms).saturating_sub(short).clamp(1, longest.max(1))
    }

    /// Tick at which a domain is due.
    pub(in crate::fair) fn next_due(
        &self,
        w: &World,
        cpu: Cpu,
        level: usize,
        idle: CpuIdle,
    ) -> u64 {
        let last = self.rqs[cpu as usize].domains[level].last_balance;
        last + self.balance_interval(w, cpu, level, idle)
    }

    /// `load_balance` at one level for `cpu`; the number of tasks moved. Clears `go_on` where another CPU
    /// balances for the group.
    pub(in crate::fair) fn load_balance(
        &mut self,
        w: &mut World,
        cpu: Cpu,
        level: usize,
        idle: CpuIdle,
        go_on: &mut bool,
    ) -> u32 {
        let topo = w.topo;
        let domain = &topo.domains[cpu as usize][level];
        let mut env = Env::new(domain, level, cpu, idle);
        idle.counters(&mut w.counters).count += 1;
        let outcome = self.attempt(w, &mut env);
        *go_on &= outcome != Outcome::NotOurs;
        match outcome {
            Outcome::Moved(tasks) => {
                let state = &mut self.rqs[cpu as usize].domains[level];
                state.nr_balance_failed = 0;
                state.balance_interval_ms = domain.min_interval_ms;
                return tasks;
            }
            Outcome::Failed(src) => self.load_balance_failed(w, &env, src),
            Outcome::NotOurs | Outcome::Balanced | Outcome::AllPinned => {
                if outcome != Outcome::AllPinned && !env.all_pinned {
                    self.note_imbalance(w, &env, false);
                }
                idle.counters(&mut w.counters).balanced += 1;
                self.rqs[cpu as usize].domains[level].nr_balance_failed = 0;
                self.lengthen_interval(&env);
            }
        }
        0
    }

    /// Pulls from the busiest queue; where all its tasks are pinned, from the next.
    fn attempt(&mut self, w: &mut World, env: &mut Env) -> Outcome {
        loop {
            if !self.should_we_balance(w, env) {
                return Outcome::NotOurs;
            }
            let Some(group) = self.find_busiest_group(w, env) else {
                env.idle.counters(&mut w.counters).nobusyg += 1;
                return Outcome::Balanced;
            };
            let Some(src) = self.find_busiest_queue(w, env, &env.domain.groups[group]) else {
                env.idle.counters(&mut w.counters).nobusyq += 1;
                return Outcome::Balanced;
            };
            env.idle.counters(&mut w.counters).imbalance += env.imbalance.unsigned_abs();
            let mut moved = 0;
            if w.cpus[src as usize].nr_running > 1 {
                env.all_pinned = true;
                moved = self.pull(w, env, src);
                if env.some_pinned && env.imbalance > 0 {
                    self.note_imbalance(w, env, true);
                }
                if env.all_pinned {
                    env.exclude(src);
                    if env.cpus.is_subset(&env.domain.groups[0].span) {
                        return Outcome::AllPinned;
                    }
                    continue;
                }
            }
            return if moved > 0 { Outcome::Moved(moved) } else { Outcome::Failed(src) };
        }
    }

    /// `find_busiest_group`: its index in the domain; what should leave it goes into `env`.
    pub(in crate::fair) fn find_busiest_group(
        &mut self,
        w: &mut World,
        env: &mut Env,
    ) -> Option<usize> {
        match self.rules.group_classes {
            true => self.find_busiest_group_by_type(w, env),
            false => self.find_busiest_group_by_load(w, env),
        }
    }

    /// Pulls from `src` to the destination, then to others of its group that tasks may go to.
    fn pull(&mut self, w: &mut World, env: &mut Env, src: Cpu) -> u32 {
        let mut moved = 0;
        loop {
            moved += self.detach_tasks(w, env, src);
            match env.new_dst_cpu.take() {
                Some(next) if env.imbalance > 0 => {
                    env.exclude(env.dst_cpu);
                    env.dst_cpu = next;
                }
                _ => return moved,
            }
        }
    }

    /// `sgc->imbalance` of the group that this domain is to its parent.
    fn note_imbalance(&mut self, w: &World, env: &Env, imbalanced: bool) {
        let parent = w.topo.domains[env.cpu as usize].get(env.level + 1);
        if let Some(parent) = parent {
            self.sums.set_imbalanced(parent.groups[0].state, imbalanced);
        }
    }

    /// `should_we_balance`: of a group only its first idle CPU balances, or its first CPU. From 6.6 on an idle CPU of a
    /// core that is idle comes before one with busy siblings.
    pub(in crate::fair) fn should_we_balance(&self, w: &World, env: &Env) -> bool {
        if env.idle == CpuIdle::NewlyIdle {
            return true;
        }
        let mask = &env.domain.groups[0].mask;
        let usable = mask.iter().copied().filter(|&c| env.cpus.contains(c as usize));
        let mut idle = usable.filter(|&c| w.idle_cpu(c));
        let by_core =
            self.rules.smt_balance && !env.domain.flags.contains(SdFlags::SHARE_CPUCAPACITY);
        let idle_core = match by_core {
            true => idle.clone().find(|&c| is_core_idle(w, c)),
            false => None,
        };
        let first = idle_core.or_else(|| idle.next()).or(mask.first().copied());
        first == Some(env.dst_cpu)
    }

    /// Nothing could move though there was something to move: the running task is pushed where that may help.
    fn load_balance_failed(&mut self, w: &mut World, env: &Env, src: Cpu) {
        env.idle.counters(&mut w.counters).failed += 1;
        if env.idle != CpuIdle::NewlyIdle && !self.is_apart(env) {
            self.rqs[env.cpu as usize].domains[env.level].nr_balance_failed += 1;
        }
        let forced = self.voluntary_active_balance(env, src);
        if !forced && !self.imbalanced_active_balance(env) {
            self.rqs[env.cpu as usize].domains[env.level].balance_interval_ms =
                env.domain.min_interval_ms;
            return;
        }
        let movable = self.running_task(src).is_some_and(|running| w.allowed(running, env.cpu));
        if !movable {
            self.lengthen_interval(&Env { all_pinned: true, ..env.clone() });
            return;
        }
        let starts = !self.rqs[src as usize].active_balance;
        if starts {
            self.rqs[src as usize].active_balance = true;
            w.requests.push(Request::Push { from: src, to: env.cpu });
        }
        let state = &mut self.rqs[env.cpu as usize].domains[env.level];
        if !self.rules.push_for_tasks_only {
            state.nr_balance_failed = env.domain.cache_nice_tries + 1;
            if starts && !forced {
                self.lengthen_interval(env);
                return;
            }
        }
        state.balance_interval_ms = env.domain.min_interval_ms;
    }

    /// `voluntary_active_balance`: the destination suits the running task better.
    fn voluntary_active_balance(&self, env: &Env, src: Cpu) -> bool {
        let packs = env.is_idle()
            && env.domain.flags.contains(SdFlags::ASYM_PACKING)
            && asym::prefers(env.dst_cpu, src);
        self.rules.active_balance && (packs || env.migration_type == Migration::Misfit)
    }

    /// A misfit task is no sign of how busy the machine is (6.10).
    fn is_apart(&self, env: &Env) -> bool {
        self.rules.misfit_apart && env.migration_type == Migration::Misfit
    }

    /// `need_active_balance` after failures (`imbalanced_active_balance` from 5.13 on).
    fn imbalanced_active_balance(&self, env: &Env) -> bool {
        let failed = self.rqs[env.cpu as usize].domains[env.level].nr_balance_failed;
        self.rules.active_balance
            && failed > env.domain.cache_nice_tries + 2
            && (!self.rules.push_for_tasks_only || env.migration_type == Migration::Task)
    }

    /// Doubles the interval up to the domain's longest, or longer where all tasks are pinned; not for newly idle CPUs from 5.1
    /// on, nor for misfit tasks from 6.10 on.
    fn lengthen_interval(&mut self, env: &Env) {
        let keeps = env.idle == CpuIdle::NewlyIdle && self.rules.newidle_keeps_interval;
        if keeps || self.is_apart(env) {
            return;
        }
        let state = &mut self.rqs[env.cpu as usize].domains[env.level];
        if state.balance_interval_ms < env.domain.max_interval_ms
            || (env.all_pinned && state.balance_interval_ms < MAX_PINNED_INTERVAL_MS)
        {
            state.balance_interval_ms *= 2;
        }
    }
}

/// `is_core_idle`: no sibling of `cpu` runs anything.
fn is_core_idle(w: &World, cpu: Cpu) -> bool {
    w.topo.smt[cpu as usize].iter().all(|&c| c == cpu || w.idle_cpu(c))
}
