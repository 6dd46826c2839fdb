//! Imbalance that NUMA domains tolerate while few tasks run (`adjust_numa_imbalance`).
//!
//! `imbalance` asks [`balancing`] what is left of an imbalance in tasks between two nodes. A pair of tasks is
//! tolerated: from 5.6 on where the busiest node runs no more, from 5.11 on while its tasks are fewer than a quarter of
//! its CPUs, from 5.18 on while those of the local node are fewer than `imb_numa_nr`. `place::idlest_class` asks
//! [`fork_stays`] whether fork and exec keep a task on its node though another has spare capacity too. From 5.5 to 5.10
//! they do while the node has an idle CPU, from then on while it runs few tasks.
//!
//! Which of these holds is in `rules`. Both functions compute from their arguments alone; the callers ask for NUMA
//! domains only.

use super::classes::SgLbStats;
use crate::fair::rules::{NumaImbalance, Rules};

/// Imbalance in tasks that a pair of tasks makes (`NUMA_IMBALANCE_MIN`).
const MIN_IMBALANCE: i64 = 2;

/// What is left of `imbalance` tasks between nodes when balancing: nothing, where few enough tasks run.
/// `imb_numa_nr` is the domain's.
pub(in crate::fair) fn balancing(
    rules: &Rules,
    imbalance: i64,
    local: &SgLbStats,
    busiest: &SgLbStats,
    imb_numa_nr: u32,
) -> i64 {
    let few = match rules.numa_imbalance {
        NumaImbalance::Never => return imbalance,
        // A pair stays whatever the imbalance is.
        NumaImbalance::Pair => {
            return if busiest.sum_nr_running <= MIN_IMBALANCE as u64 { 0 } else { imbalance };
        }
        NumaImbalance::Quarter => busiest.sum_nr_running < busiest.weight / 4,
        NumaImbalance::ByLlc => local.sum_nr_running < u64::from(imb_numa_nr),
    };
    if few && imbalance <= MIN_IMBALANCE { 0 } else { imbalance }
}

/// What is left of `imbalance` tasks between nodes where NUMA balancing wants to bring one from a node that would then run
/// `src` tasks to one that would run `dst.0` on `dst.1` CPUs (`task_numa_find_cpu`, 5.7).
pub(in crate::fair) fn placing(
    rules: &Rules,
    imbalance: i64,
    src: u64,
    dst: (u64, u64),
    imb_numa_nr: u32,
) -> i64 {
    let few = match rules.numa_imbalance {
        NumaImbalance::Never => return imbalance,
        NumaImbalance::Pair => return if src <= MIN_IMBALANCE as u64 { 0 } else { imbalance },
        NumaImbalance::Quarter => dst.0 < dst.1 / 4,
        NumaImbalance::ByLlc => dst.0 <= u64::from(imb_numa_nr),
    };
    if few && imbalance <= MIN_IMBALANCE { 0 } else { imbalance }
}

/// Whether fork and exec keep a task in the `local` group of a NUMA domain of `span` CPUs, though `idlest` has spare
/// capacity too. `usable` CPUs of the local group may run the task.
pub(in crate::fair) fn fork_stays(
    rules: &Rules,
    local: &SgLbStats,
    idlest: &SgLbStats,
    span: u64,
    usable: u32,
    imb_numa_nr: u32,
) -> bool {
    if rules.fork_stays_on_node {
        return local.idle_cpus > 0;
    }
    match rules.numa_imbalance {
        NumaImbalance::Never | NumaImbalance::Pair => false,
        NumaImbalance::Quarter => local.sum_nr_running < span / 4,
        NumaImbalance::ByLlc => {
            let few = local.sum_nr_running < u64::from(imb_numa_nr.min(usable));
            let small = local.idle_cpus.abs_diff(idlest.idle_cpus) <= MIN_IMBALANCE as u64;
            few && (small || !rules.numa_whole_imbalance)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Kernel, Version};

    fn rules(major: u16, minor: u16) -> Rules {
        Rules::new(&Kernel::new(Version::new(major, minor)))
    }

    fn group(running: u64, idle_cpus: u64) -> SgLbStats {
        SgLbStats { sum_nr_running: running, idle_cpus, weight: 16, ..SgLbStats::default() }
    }

    #[test]
    fn what_a_release_tolerates_when_balancing() {
        // Release, tasks here, tasks there, imbalance, imb_numa_nr, what is left.
        let rows = [
            ((5, 5), 0, 2, 1, 0, 1),
            ((5, 6), 0, 2, 1, 0, 0),
            ((5, 6), 0, 3, 1, 0, 1),
            ((5, 11), 0, 3, 1, 0, 0),
            ((5, 11), 0, 4, 2, 0, 2),
            ((5, 18), 0, 4, 2, 2, 0),
            ((5, 18), 2, 4, 2, 2, 2),
            ((5, 18), 0, 6, 3, 2, 3),
        ];
        for ((major, minor), here, there, imbalance, imb_numa_nr, left) in rows {
            let (local, busiest) = (group(here, 16 - here), group(there, 16 - there));
            let rules = rules(major, minor);
            let found = balancing(&rules, imbalance, &local, &busiest, imb_numa_nr);
            assert_eq!(found, left, "{major}.{minor}: {here} and {there} tasks");
        }
    }

    #[test]
    fn what_a_release_tolerates_at_fork() {
        // Release, tasks here, imb_numa_nr, usable CPUs, whether the task stays. The other node is idle.
        let rows = [
            ((5, 10), 15, 0, 16, true),
            ((5, 10), 16, 0, 16, false),
            ((5, 11), 7, 0, 16, true),
            ((5, 11), 8, 0, 16, false),
            ((5, 18), 3, 4, 16, true),
            ((5, 18), 3, 4, 2, false),
            ((6, 0), 2, 4, 16, true),
            ((6, 0), 3, 4, 16, false),
        ];
        for ((major, minor), here, imb_numa_nr, usable, stays) in rows {
            let (local, idlest) = (group(here, 16 - here), group(0, 16));
            let rules = rules(major, minor);
            let found = fork_stays(&rules, &local, &idlest, 32, usable, imb_numa_nr);
            assert_eq!(found, stays, "{major}.{minor}: {here} tasks, {usable} CPUs");
        }
    }
}
