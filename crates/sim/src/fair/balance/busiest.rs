//! Which group is the busiest and by how much, by load alone (`find_busiest_group` up to 5.4).
//!
//! Misfit tasks on CPUs that differ in capacity (4.20 to 5.4) are left out.

use super::asym;
use super::env::{CpuIdle, Env, Migration};
use crate::fair::Fair;
use crate::fair::queue::weight::NICE_0_WEIGHT;
use crate::topology::Group;
use crate::world::World;
use kernel::SdFlags;

/// What a group is like, in the order in which groups are pulled from (`enum group_type` up to 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum LoadClass {
    /// Nothing of note.
    #[default]
    Other,
    /// Affinities kept the levels below from balancing.
    Imbalanced,
    /// It has more tasks than it can handle.
    Overloaded,
}

/// What a group looks like (`struct sg_lb_stats`).
#[derive(Debug, Clone, Default)]
pub(in crate::fair) struct LoadStats {
    avg_load: u64,
    load: u64,
    weighted_load: u64,
    load_per_task: u64,
    capacity: u64,
    util: u64,
    sum_nr_running: u64,
    weight: u64,
    idle_cpus: u64,
    group_type: LoadClass,
}

impl LoadStats {
    /// `group_has_capacity`.
    fn has_capacity(&self, imbalance_pct: u64) -> bool {
        self.sum_nr_running < self.weight || self.capacity * 100 > self.util * imbalance_pct
    }

    /// `group_is_overloaded`.
    fn is_overloaded(&self, imbalance_pct: u64) -> bool {
        self.sum_nr_running > self.weight && self.capacity * 100 < self.util * imbalance_pct
    }
}

impl Fair {
    /// The busiest group of the domain, and in `env.imbalance` how much load should leave it.
    pub(super) fn find_busiest_group_by_load(
        &mut self,
        w: &mut World,
        env: &mut Env,
    ) -> Option<usize> {
        let mut stats = std::mem::take(&mut self.group_stats);
        self.update_sd_lb_stats(w, env, &mut stats);
        let busiest = self.pick_busiest(w, env, &mut stats);
        self.group_stats = stats;
        busiest
    }

    fn pick_busiest(&self, w: &World, env: &mut Env, stats: &mut [LoadStats]) -> Option<usize> {
        let pct = env.domain.imbalance_pct;
        let total_load: u64 = stats.iter().map(|s| s.load).sum();
        let total_capacity: u64 = stats.iter().map(|s| s.capacity).sum();
        let local = stats[0].clone();
        for s in &mut stats[1..] {
            if env.domain.child_prefers_sibling
                && self.rules.prefer_sibling
                && local.has_capacity(pct)
                && s.sum_nr_running > local.sum_nr_running + 1
            {
                s.group_type = LoadClass::Overloaded;
            }
        }
        let at = busiest_of(env, stats)?;
        let mut busiest = stats[at].clone();
        if packs(env, at) {
            // To the preferred CPU comes all there is.
            env.imbalance = (busiest.avg_load * busiest.capacity).div_ceil(1024) as i64;
            return Some(at);
        }
        if busiest.sum_nr_running == 0 {
            return None;
        }
        let average = total_load * 1024 / total_capacity.max(1);
        let imbalanced = busiest.group_type == LoadClass::Imbalanced;
        let pulls =
            env.is_idle() && local.has_capacity(pct) && busiest.group_type == LoadClass::Overloaded;
        if !imbalanced && !pulls && is_balanced(&local, &busiest, average, env) {
            return None;
        }
        if imbalanced {
            busiest.load_per_task = busiest.load_per_task.min(average);
        }
        let per_task_here = self.cpu_avg_load_per_task(w, env.dst_cpu);
        let imbalance = calculate_imbalance(&local, &busiest, average, per_task_here, pct);
        env.migration_type = Migration::Load;
        env.imbalance = imbalance as i64;
        (imbalance > 0).then_some(at)
    }

    /// `update_sd_lb_stats`, the local group first.
    fn update_sd_lb_stats(&mut self, w: &mut World, env: &Env, stats: &mut Vec<LoadStats>) {
        let index = match env.idle {
            CpuIdle::Busy if self.rules.cpu_load_history => env.domain.busy_idx,
            CpuIdle::Idle if self.rules.cpu_load_history => env.domain.idle_idx,
            CpuIdle::Busy | CpuIdle::Idle | CpuIdle::NewlyIdle => 0,
        };
        let mut overload = false;
        stats.clear();
        for (i, group) in env.domain.groups.iter().enumerate() {
            stats.push(self.sum_sg_load(w, env, group, i == 0, index, &mut overload));
        }
        w.look_at_domain(env.cpu, env.level);
        if env.level + 1 == w.topo.domains[env.cpu as usize].len() {
            self.overload = overload;
        }
    }

    fn sum_sg_load(
        &mut self,
        w: &World,
        env: &Env,
        group: &Group,
        local: bool,
        index: usize,
        overload: &mut bool,
    ) -> LoadStats {
        let mut s = LoadStats {
            capacity: group.capacity,
            weight: group.cpus.len() as u64,
            ..LoadStats::default()
        };
        let sums = self.sums_of_group(w, env, group);
        (s.util, s.weighted_load) = (sums.util, sums.load);
        (s.sum_nr_running, s.idle_cpus) =
            (u64::from(sums.sum_nr_running), u64::from(sums.idle_cpus));
        *overload |= sums.crowded;
        s.load = match index {
            0 => sums.runnable,
            _ => {
                let load = |c| match local {
                    true => self.target_load(c, index),
                    false => self.source_load(c, index),
                };
                let cpus = group.cpus.iter().filter(|&&c| env.cpus.contains(c as usize));
                cpus.map(|&c| load(c)).sum()
            }
        };
        s.avg_load = s.load * 1024 / s.capacity.max(1);
        s.load_per_task = s.weighted_load.checked_div(s.sum_nr_running).unwrap_or(0);
        s.group_type = if s.is_overloaded(env.domain.imbalance_pct) {
            LoadClass::Overloaded
        } else if self.sums.empty(group.view).imbalanced {
            LoadClass::Imbalanced
        } else {
            LoadClass::Other
        };
        s
    }
}

/// The first of the heaviest class with the highest load (`update_sd_pick_busiest`). An idle CPU takes groups of lower
/// priority only, the lowest first, where packing is asymmetric.
fn busiest_of(env: &Env, stats: &[LoadStats]) -> Option<usize> {
    let asymmetric = env.domain.flags.contains(SdFlags::ASYM_PACKING) && env.is_idle();
    let mut best: Option<usize> = None;
    for (at, s) in stats.iter().enumerate().skip(1) {
        let (class, load) =
            best.map_or((LoadClass::Other, 0), |b| (stats[b].group_type, stats[b].avg_load));
        if s.group_type < class || (s.group_type == class && s.avg_load <= load) {
            continue;
        }
        let preferred = |g: usize| asym::preferred(&env.domain.groups[g]);
        if s.group_type > class || !asymmetric {
            best = Some(at);
        } else if s.sum_nr_running > 0
            && preferred(at).is_some_and(|cpu| asym::prefers(env.dst_cpu, cpu))
        {
            let lower = |b: usize| preferred(b) < preferred(at);
            if best.is_none_or(lower) {
                best = Some(at);
            }
        }
    }
    best
}

/// `check_asym_packing`: the idle destination is preferred to the busiest group.
fn packs(env: &Env, busiest: usize) -> bool {
    env.domain.flags.contains(SdFlags::ASYM_PACKING)
        && env.is_idle()
        && asym::preferred(&env.domain.groups[busiest])
            .is_some_and(|cpu| asym::prefers(env.dst_cpu, cpu))
}

/// The checks of `find_busiest_group` that leave things as they are.
fn is_balanced(local: &LoadStats, busiest: &LoadStats, average: u64, env: &Env) -> bool {
    if local.avg_load >= busiest.avg_load || local.avg_load >= average {
        return true;
    }
    match env.idle {
        CpuIdle::Idle => {
            busiest.group_type != LoadClass::Overloaded && local.idle_cpus <= busiest.idle_cpus + 1
        }
        CpuIdle::Busy | CpuIdle::NewlyIdle => {
            100 * busiest.avg_load <= env.domain.imbalance_pct * local.avg_load
        }
    }
}

/// `calculate_imbalance`: how much load makes both sides average.
fn calculate_imbalance(
    local: &LoadStats,
    busiest: &LoadStats,
    average: u64,
    per_task_here: u64,
    imbalance_pct: u64,
) -> u64 {
    if busiest.avg_load <= average || local.avg_load >= average {
        return fix_small_imbalance(local, busiest, per_task_here);
    }
    let both_overloaded =
        busiest.group_type == LoadClass::Overloaded && local.is_overloaded(imbalance_pct);
    let above_capacity = if both_overloaded {
        let wanted = busiest.sum_nr_running * 1024;
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
fn fix_small_imbalance(local: &LoadStats, busiest: &LoadStats, per_task_here: u64) -> u64 {
    let (local_per_task, factor) = match local.sum_nr_running {
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
