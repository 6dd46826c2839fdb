//! Which group is the busiest, by how much, and which of its queues (`find_busiest_group`, 4.18).

use super::Fair;
use super::weight::NICE_0_WEIGHT;
use crate::topology::{Cpu, Group, SimDomain};
use crate::world::World;
use machine::CpuSet;

/// For whom balancing is done (`enum cpu_idle_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CpuIdle {
    /// An idle CPU.
    Idle,
    /// A busy CPU.
    Busy,
    /// A CPU that is about to go idle.
    NewlyIdle,
}

/// One balancing attempt (`struct lb_env`).
pub(super) struct Env<'a> {
    pub(super) domain: &'a SimDomain,
    pub(super) level: usize,
    pub(super) dst: Cpu,
    pub(super) idle: CpuIdle,
    /// CPUs still considered.
    pub(super) cpus: CpuSet,
    /// Load to move.
    pub(super) imbalance: u64,
}

/// What a group looks like (`struct sg_lb_stats`).
#[derive(Debug, Clone, Default)]
pub(super) struct Stats {
    avg_load: u64,
    load: u64,
    weighted_load: u64,
    load_per_task: u64,
    capacity: u64,
    util: u64,
    running: u64,
    weight: u64,
    idle_cpus: u64,
    overloaded: bool,
}

impl Stats {
    /// `group_has_capacity`.
    fn has_capacity(&self, imbalance_pct: u64) -> bool {
        self.running < self.weight || self.capacity * 100 > self.util * imbalance_pct
    }

    /// `group_is_overloaded`.
    fn is_overloaded(&self, imbalance_pct: u64) -> bool {
        self.running > self.weight && self.capacity * 100 < self.util * imbalance_pct
    }
}

impl Fair {
    /// The busiest group of the domain, and in `env.imbalance` how much load should leave it.
    pub(super) fn find_busiest_group(&mut self, w: &mut World, env: &mut Env) -> Option<usize> {
        let mut stats = std::mem::take(&mut self.group_stats);
        self.update_sd_lb_stats(w, env, &mut stats);
        let busiest = self.pick_busiest(w, env, &mut stats);
        self.group_stats = stats;
        busiest
    }

    fn pick_busiest(&self, w: &World, env: &mut Env, stats: &mut [Stats]) -> Option<usize> {
        let pct = env.domain.imbalance_pct;
        let total_load: u64 = stats.iter().map(|s| s.load).sum();
        let total_capacity: u64 = stats.iter().map(|s| s.capacity).sum();
        let local = stats[0].clone();
        for s in &mut stats[1..] {
            if env.domain.child_prefers_sibling
                && local.has_capacity(pct)
                && s.running > local.running + 1
            {
                s.overloaded = true;
            }
        }
        // The first of the heaviest kind with the highest load (update_sd_pick_busiest).
        let at = (1..stats.len())
            .filter(|&i| stats[i].overloaded || stats[i].avg_load > 0)
            .reduce(|best, i| {
                let key = |i: usize| (stats[i].overloaded, stats[i].avg_load);
                if key(i) > key(best) { i } else { best }
            })?;
        let busiest = &stats[at];
        if busiest.running == 0 {
            return None;
        }
        let average = total_load * 1024 / total_capacity.max(1);
        let forced = env.idle != CpuIdle::Busy && local.has_capacity(pct) && busiest.overloaded;
        if !forced {
            if local.avg_load >= busiest.avg_load || local.avg_load >= average {
                return None;
            }
            let balanced = match env.idle {
                CpuIdle::Idle => !busiest.overloaded && local.idle_cpus <= busiest.idle_cpus + 1,
                CpuIdle::Busy | CpuIdle::NewlyIdle => {
                    100 * busiest.avg_load <= pct * local.avg_load
                }
            };
            if balanced {
                return None;
            }
        }
        let per_task_here = self.cpu_avg_load_per_task(w, env.dst);
        env.imbalance = calculate_imbalance(&local, busiest, average, per_task_here, pct);
        (env.imbalance > 0).then_some(at)
    }

    /// `update_sd_lb_stats`, the local group first.
    fn update_sd_lb_stats(&mut self, w: &mut World, env: &Env, stats: &mut Vec<Stats>) {
        let index = match env.idle {
            CpuIdle::Busy => env.domain.busy_idx,
            CpuIdle::NewlyIdle => 0,
            CpuIdle::Idle => env.domain.idle_idx,
        };
        let mut overload = false;
        let mut looked = 0;
        stats.clear();
        for (i, group) in env.domain.groups.iter().enumerate() {
            looked += group.cpus.len();
            stats.push(self.update_sg_lb_stats(w, env, group, i == 0, index, &mut overload));
        }
        w.charge(env.dst, looked as f64 * w.hw.balance_cycles);
        if env.level + 1 == w.topo.domains[env.dst as usize].len() {
            self.overload = overload;
        }
    }

    fn update_sg_lb_stats(
        &self,
        w: &World,
        env: &Env,
        group: &Group,
        local: bool,
        index: usize,
        overload: &mut bool,
    ) -> Stats {
        let mut s =
            Stats { capacity: group.capacity, weight: group.cpus.len() as u64, ..Stats::default() };
        for &cpu in group.cpus.iter().filter(|&&c| env.cpus.contains(c as usize)) {
            s.load +=
                if local { self.target_load(cpu, index) } else { self.source_load(cpu, index) };
            s.util += self.cpu_util(w, cpu);
            let running = u64::from(w.cpus[cpu as usize].nr_running);
            s.running += running;
            s.weighted_load += self.weighted_cpuload(cpu);
            s.idle_cpus += u64::from(running == 0 && w.idle_cpu(cpu));
            *overload |= running > 1;
        }
        s.avg_load = s.load * 1024 / s.capacity.max(1);
        s.load_per_task = s.weighted_load.checked_div(s.running).unwrap_or(0);
        s.overloaded = s.is_overloaded(env.domain.imbalance_pct);
        s
    }

    /// `find_busiest_queue`: the CPU of the group with the most load for its capacity.
    pub(super) fn find_busiest_queue(&self, w: &World, env: &Env, group: &Group) -> Option<Cpu> {
        let mut busiest: Option<(u64, u64, Cpu)> = None;
        for &cpu in group.cpus.iter().filter(|&&c| env.cpus.contains(c as usize)) {
            let load = self.weighted_cpuload(cpu);
            // One task that is more than should move would only change places.
            if w.cpus[cpu as usize].nr_running == 1 && load > env.imbalance {
                continue;
            }
            let capacity = w.topo.capacity[cpu as usize];
            let (best_load, best_capacity) = busiest.map_or((0, 1), |(l, c, _)| (l, c));
            if load * best_capacity > best_load * capacity {
                busiest = Some((load, capacity, cpu));
            }
        }
        busiest.map(|(_, _, cpu)| cpu)
    }
}

/// `calculate_imbalance`: how much load makes both sides average.
fn calculate_imbalance(
    local: &Stats,
    busiest: &Stats,
    average: u64,
    per_task_here: u64,
    imbalance_pct: u64,
) -> u64 {
    if busiest.avg_load <= average || local.avg_load >= average {
        return fix_small_imbalance(local, busiest, per_task_here);
    }
    let both_overloaded = busiest.overloaded && local.is_overloaded(imbalance_pct);
    let above_capacity = if both_overloaded {
        let wanted = busiest.running * 1024;
        match wanted.checked_sub(busiest.capacity) {
            Some(above) if above > 0 => above * NICE_0_WEIGHT / busiest.capacity,
            _ => u64::MAX,
        }
    } else {
        u64::MAX
    };
    let pull = (busiest.avg_load - average).min(above_capacity);
    let imbalance = u128::from(pull) * u128::from(busiest.capacity);
    let room = u128::from(average - local.avg_load) * u128::from(local.capacity);
    let imbalance = (imbalance.min(room) / 1024) as u64;
    if imbalance < busiest.load_per_task {
        return fix_small_imbalance(local, busiest, per_task_here);
    }
    imbalance
}

/// `fix_small_imbalance`: one task's load, where moving it brings the machine more capacity.
fn fix_small_imbalance(local: &Stats, busiest: &Stats, per_task_here: u64) -> u64 {
    let (local_per_task, factor) = match local.running {
        0 => (per_task_here, 2),
        _ => (local.load_per_task, if busiest.load_per_task > local.load_per_task { 1 } else { 2 }),
    };
    let scaled = busiest.load_per_task * 1024 / busiest.capacity.max(1);
    if busiest.avg_load + scaled >= local.avg_load + scaled * factor {
        return busiest.load_per_task;
    }
    let now = busiest.capacity * busiest.load_per_task.min(busiest.avg_load)
        + local.capacity * local_per_task.min(local.avg_load);
    let mut moved = 0;
    if busiest.avg_load > scaled {
        moved += busiest.capacity * busiest.load_per_task.min(busiest.avg_load - scaled);
    }
    let added = if busiest.avg_load * busiest.capacity < busiest.load_per_task * 1024 {
        busiest.avg_load * busiest.capacity / local.capacity.max(1)
    } else {
        busiest.load_per_task * 1024 / local.capacity.max(1)
    };
    moved += local.capacity * local_per_task.min(local.avg_load + added);
    if moved / 1024 > now / 1024 { busiest.load_per_task } else { 0 }
}
