//! Load balancing: periodic, when about to go idle, and by pushing a running task (`load_balance`, 4.18).

use super::busiest::{CpuIdle, Env};
use super::{Fair, MIGRATION_COST_NS, resched};
use crate::class::Enqueue;
use crate::topology::Cpu;
use crate::world::{Request, TaskId, World};
use kernel::SdFlags;

/// Most tasks looked at in one attempt (`sysctl_sched_nr_migrate`).
const NR_MIGRATE: usize = 32;
/// Longest interval in ms after which a domain whose tasks are all pinned is looked at again (`MAX_PINNED_INTERVAL`).
const MAX_PINNED_INTERVAL_MS: u64 = 512;

/// What moving tasks came to.
struct Moved {
    tasks: u32,
    all_pinned: bool,
}

impl Fair {
    /// `trigger_load_balance`: balances when it is time, and sees to the idle CPUs.
    pub(super) fn trigger_load_balance(&mut self, w: &mut World, cpu: Cpu) {
        let jiffies = w.jiffies();
        if jiffies >= self.queues[cpu as usize].next_balance {
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
        let mut next_balance = jiffies + 60 * w.hz();
        for level in 0..w.topo.domains[cpu as usize].len() {
            let state = &mut self.queues[cpu as usize].domains[level];
            let mut decays = false;
            if jiffies > state.next_decay {
                state.max_newidle_cost_ns = state.max_newidle_cost_ns * 253 / 256;
                state.next_decay = jiffies + w.hz();
                decays = true;
                decayed = true;
            }
            max_cost_ns += state.max_newidle_cost_ns;
            if !go_on {
                if decays {
                    continue;
                }
                break;
            }
            let due = state.last_balance + self.balance_interval(w, cpu, level, idle);
            if jiffies >= due {
                if self.load_balance(w, cpu, level, idle, &mut go_on) > 0 {
                    idle = if w.idle_cpu(cpu) { CpuIdle::Idle } else { CpuIdle::Busy };
                }
                self.queues[cpu as usize].domains[level].last_balance = jiffies;
            }
            let interval = self.balance_interval(w, cpu, level, idle);
            let due = self.queues[cpu as usize].domains[level].last_balance + interval;
            next_balance = next_balance.min(due);
        }
        let rq = &mut self.queues[cpu as usize];
        if decayed {
            rq.max_idle_balance_cost_ns = max_cost_ns.max(MIGRATION_COST_NS);
        }
        rq.next_balance = next_balance;
    }

    /// `get_sd_balance_interval`, in ticks.
    fn balance_interval(&self, w: &World, cpu: Cpu, level: usize, idle: CpuIdle) -> u64 {
        let domain = &w.topo.domains[cpu as usize][level];
        let mut ms = self.queues[cpu as usize].domains[level].balance_interval_ms;
        if idle != CpuIdle::Idle {
            ms *= domain.busy_factor;
        }
        let longest = w.hz() * w.topo.online.len() as u64 / 10;
        w.ms_to_jiffies(ms).clamp(1, longest.max(1))
    }

    /// `idle_balance`: pulls when the CPU is about to go idle, if it will be idle for long enough.
    pub(super) fn idle_balance(&mut self, w: &mut World, cpu: Cpu) -> bool {
        let jiffies = w.jiffies();
        self.queues[cpu as usize].idle_since_ns = Some(w.now_ns);
        let mut next_balance = jiffies + w.hz();
        let avg_idle_ns = self.queues[cpu as usize].avg_idle_ns;
        let levels = w.topo.domains[cpu as usize].len();
        let mut pulled = false;
        if avg_idle_ns < MIGRATION_COST_NS || !self.overload {
            if levels > 0 {
                next_balance = next_balance.min(self.next_due(w, cpu, 0));
            }
            self.nohz_newidle_balance(w, cpu);
        } else {
            self.update_blocked_averages(w, cpu);
            let mut cost_ns = 0;
            for level in 0..levels {
                let domain = &w.topo.domains[cpu as usize][level];
                let known_ns = self.queues[cpu as usize].domains[level].max_newidle_cost_ns;
                next_balance = next_balance.min(self.next_due(w, cpu, level));
                if avg_idle_ns < cost_ns + known_ns {
                    break;
                }
                if domain.flags.contains(SdFlags::BALANCE_NEWIDLE) {
                    let looked = domain.weight as f64 * w.hw.balance_cycles;
                    let spent_ns = w.hw.ns(looked);
                    pulled = self.load_balance(w, cpu, level, CpuIdle::NewlyIdle, &mut true) > 0;
                    let state = &mut self.queues[cpu as usize].domains[level];
                    state.max_newidle_cost_ns = state.max_newidle_cost_ns.max(spent_ns);
                    cost_ns += spent_ns;
                }
                if pulled || w.cpus[cpu as usize].nr_running > 0 {
                    break;
                }
            }
        }
        let rq = &mut self.queues[cpu as usize];
        rq.next_balance = rq.next_balance.min(next_balance);
        pulled |= w.cpus[cpu as usize].nr_running > 0;
        if pulled {
            rq.idle_since_ns = None;
        }
        pulled
    }

    fn next_due(&self, w: &World, cpu: Cpu, level: usize) -> u64 {
        let last = self.queues[cpu as usize].domains[level].last_balance;
        last + self.balance_interval(w, cpu, level, CpuIdle::Idle)
    }

    /// `load_balance` at one level for `cpu`; the number of tasks moved. Clears `go_on` where another CPU
    /// balances for the group.
    fn load_balance(
        &mut self,
        w: &mut World,
        cpu: Cpu,
        level: usize,
        idle: CpuIdle,
        go_on: &mut bool,
    ) -> u32 {
        let topo = w.topo;
        let domain = &topo.domains[cpu as usize][level];
        if !self.should_we_balance(w, cpu, level, idle) {
            *go_on = false;
            return 0;
        }
        w.counters.lb_count += 1;
        let mut env = Env { domain, level, dst: cpu, idle, cpus: topo.online_set, imbalance: 0 };
        loop {
            let busiest = self
                .find_busiest_group(w, &mut env)
                .and_then(|g| self.find_busiest_queue(w, &env, &domain.groups[g]));
            let Some(src) = busiest else {
                self.queues[cpu as usize].domains[level].nr_balance_failed = 0;
                self.lengthen_interval(cpu, level, domain.max_interval_ms, false);
                return 0;
            };
            let moved = self.move_tasks(w, &mut env, src);
            if moved.tasks > 0 {
                let state = &mut self.queues[cpu as usize].domains[level];
                state.nr_balance_failed = 0;
                state.balance_interval_ms = domain.min_interval_ms;
                return moved.tasks;
            }
            if moved.all_pinned {
                env.cpus.remove(src as usize);
                let others = env.cpus - domain.groups[0].span;
                if others.intersects(&domain.span) {
                    continue;
                }
                self.lengthen_interval(cpu, level, domain.max_interval_ms, true);
                return 0;
            }
            self.load_balance_failed(w, &env, src);
            return 0;
        }
    }

    /// `should_we_balance`: of a group only its first idle CPU balances, or its first CPU.
    fn should_we_balance(&self, w: &World, cpu: Cpu, level: usize, idle: CpuIdle) -> bool {
        if idle == CpuIdle::NewlyIdle {
            return true;
        }
        let mask = &w.topo.domains[cpu as usize][level].groups[0].mask;
        let first_idle = mask.iter().copied().find(|&c| w.idle_cpu(c));
        first_idle.or(mask.first().copied()) == Some(cpu)
    }

    /// Nothing could move though there was something to move: after some failures the running task is pushed.
    fn load_balance_failed(&mut self, w: &mut World, env: &Env, src: Cpu) {
        w.counters.lb_failed += 1;
        let state = &mut self.queues[env.dst as usize].domains[env.level];
        if env.idle != CpuIdle::NewlyIdle {
            state.nr_balance_failed += 1;
        }
        if state.nr_balance_failed <= env.domain.cache_nice_tries + 2 {
            state.balance_interval_ms = env.domain.min_interval_ms;
            return;
        }
        let movable =
            self.queues[src as usize].curr.is_some_and(|running| w.allowed(running, env.dst));
        if !movable {
            self.lengthen_interval(env.dst, env.level, env.domain.max_interval_ms, true);
            return;
        }
        if !self.queues[src as usize].active_balance {
            self.queues[src as usize].active_balance = true;
            w.requests.push(Request::Push { from: src, to: env.dst });
        }
        let state = &mut self.queues[env.dst as usize].domains[env.level];
        state.nr_balance_failed = env.domain.cache_nice_tries + 1;
        self.lengthen_interval(env.dst, env.level, env.domain.max_interval_ms, false);
    }

    fn lengthen_interval(&mut self, cpu: Cpu, level: usize, max_ms: u64, all_pinned: bool) {
        let state = &mut self.queues[cpu as usize].domains[level];
        if state.balance_interval_ms < max_ms
            || (all_pinned && state.balance_interval_ms < MAX_PINNED_INTERVAL_MS)
        {
            state.balance_interval_ms *= 2;
        }
    }

    /// `detach_tasks` and `attach_tasks`: waiting tasks of `src` up to the imbalance.
    fn move_tasks(&mut self, w: &mut World, env: &mut Env, src: Cpu) -> Moved {
        let mut moved = Moved { tasks: 0, all_pinned: true };
        if w.cpus[src as usize].nr_running <= 1 {
            moved.all_pinned = false;
            return moved;
        }
        let mut left = env.imbalance as i64;
        let looked = self.queues[src as usize].waiting().len().min(NR_MIGRATE);
        let mut at = 0;
        for _ in 0..looked {
            if env.idle != CpuIdle::Busy && w.cpus[src as usize].nr_running <= 1 {
                break;
            }
            let Some(&(_, task)) = self.queues[src as usize].waiting().get(at) else { break };
            at += 1;
            if !w.allowed(task, env.dst) || self.entities[task.index()].delayed {
                continue;
            }
            moved.all_pinned = false;
            let load = self.task_load(task) as i64;
            if load / 2 > left || !self.can_migrate_task(w, env, task) {
                continue;
            }
            self.move_waiting(w, task, src, env.dst);
            at -= 1;
            moved.tasks += 1;
            left -= load;
            if left <= 0 {
                break;
            }
        }
        if moved.tasks > 0 {
            resched(w, env.dst);
        }
        moved
    }

    /// The cache-hot part of `can_migrate_task`.
    fn can_migrate_task(&self, w: &World, env: &Env, task: TaskId) -> bool {
        let since_ns = w.now_ns.saturating_sub(self.entities[task.index()].exec_start_ns);
        let failed = self.queues[env.dst as usize].domains[env.level].nr_balance_failed;
        since_ns >= MIGRATION_COST_NS || failed > env.domain.cache_nice_tries
    }

    fn move_waiting(&mut self, w: &mut World, task: TaskId, src: Cpu, dst: Cpu) {
        self.dequeue_entity(w, src, task, false);
        w.cpus[src as usize].nr_running -= 1;
        w.balance_to(task, dst);
        self.enqueue_entity(w, dst, task, Enqueue::Moved);
        w.cpus[dst as usize].nr_running += 1;
        w.charge(dst, w.hw.wakeup_cycles);
    }

    /// `active_load_balance_cpu_stop`: with nothing running on `from`, moves one task that may go.
    pub(super) fn active_load_balance(&mut self, w: &mut World, from: Cpu, to: Cpu) -> bool {
        self.queues[from as usize].active_balance = false;
        let waiting = self.queues[from as usize].waiting();
        let task = waiting
            .iter()
            .map(|&(_, t)| t)
            .find(|&t| w.allowed(t, to) && !self.entities[t.index()].delayed);
        if let Some(task) = task {
            self.move_waiting(w, task, from, to);
        }
        task.is_some()
    }
}
