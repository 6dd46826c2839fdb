//! The busiest queue of the busiest group (`find_busiest_queue`).
//!
//! Only CPUs that the attempt still considers (`env.cpus`) are looked at, and between nodes only those that give tasks as willingly
//! as the group does (`numa::balance`). Up to 5.4 the CPU with the most load for its
//! capacity is the source. From 5.5 on CPUs that have nothing to give are left out first (`can_give`), and the kind of
//! imbalance says what is compared: load for capacity, utilisation, tasks, or the load of a misfit task. Where load is
//! compared, a CPU whose only task is more than the imbalance is passed over. Of equals the first wins; if no CPU has
//! anything, there is no source.
//!
//! This room only reads. `busiest` or `groups` has chosen the group and the imbalance before; `detach` takes the tasks
//! after.

use super::asym;
use super::env::{Env, Migration};
use crate::fair::Fair;
use crate::topology::{Cpu, Group};
use crate::world::World;
use kernel::SdFlags;

impl Fair {
    /// `find_busiest_queue` by what the imbalance is counted in; by load before 5.5.
    pub(in crate::fair) fn find_busiest_queue(
        &self,
        w: &World,
        env: &Env,
        group: &Group,
    ) -> Option<Cpu> {
        let considered = group.cpus.iter().copied().filter(|&c| env.cpus.contains(c as usize));
        let gives = self.group_gives(w, env, group);
        let considered = considered.filter(|&c| self.queue_gives(w, c) <= gives);
        if !self.rules.group_classes {
            return self.most_loaded(w, env, considered);
        }
        let usable = considered.filter(|&c| self.can_give(w, env, c));
        let most = |of: &dyn Fn(Cpu) -> u64| {
            // The first of the highest, as long as there is anything at all.
            let seen = usable.clone().map(|c| (of(c), c)).filter(|&(n, _)| n > 0);
            seen.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, c)| c)
        };
        let running = |c: Cpu| u64::from(w.cpus[c as usize].nr_running);
        match env.migration_type {
            Migration::Load => self.most_loaded(w, env, usable),
            Migration::Util => most(&|c| if running(c) > 1 { self.boosted_util(w, c) } else { 0 }),
            Migration::Task => most(&running),
            Migration::Misfit => most(&|c| self.misfit_task_load(w, c)),
        }
    }

    /// Whether a CPU's tasks may come to the destination at all.
    fn can_give(&self, w: &World, env: &Env, cpu: Cpu) -> bool {
        let nr_running = w.cpus[cpu as usize].nr_running;
        if nr_running != 1 {
            return nr_running > 1;
        }
        // The only task of a CPU as good as the destination stays.
        let capacity = |c: Cpu| w.topo.capacity[c as usize];
        let differ = env.domain.flags.contains(SdFlags::ASYM_CPUCAPACITY);
        if differ && !asym::capacity_greater(capacity(env.dst_cpu), capacity(cpu)) {
            return false;
        }
        let packs = self.rules.asym_source && env.domain.flags.contains(SdFlags::ASYM_PACKING);
        !(packs && asym::prefers(cpu, env.dst_cpu))
    }

    /// The CPU with the most load for its capacity.
    fn most_loaded(&self, w: &World, env: &Env, cpus: impl Iterator<Item = Cpu>) -> Option<Cpu> {
        let mut busiest: Option<(u64, u64, Cpu)> = None;
        for cpu in cpus {
            let load = self.cpu_load(cpu);
            // One task that is more than should move would only change places.
            if w.cpus[cpu as usize].nr_running == 1 && load as i64 > env.imbalance {
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
