//! Asymmetric packing (`SD_ASYM_PACKING`): the lower CPU is preferred.

use crate::fair::balance::env::{CpuIdle, Env, Migration};
use crate::fair::testing::{machine, running, scenario, waiting, world};
use crate::topology::Cpu;
use kernel::SdFlags;

/// The CPU from which CPU `to` would take one of two tasks, of which one runs on CPU 0 alone and, with `waits`,
/// another waits there.
fn source(release: &str, from: Cpu, to: Cpu, waits: bool) -> Option<Cpu> {
    let switches = [("asym-packing", true), ("small-core-smt", true)];
    let s = scenario(&machine("power9-big-core", 8), release, &switches);
    let (mut w, mut fair) = world(&s);
    running(&mut w, &mut fair, from);
    if waits {
        waiting(&mut w, &mut fair, from);
    }
    let domain = &s.setup.topo.domains[to as usize][0];
    assert!(domain.flags.contains(SdFlags::ASYM_PACKING), "{release}");
    let mut env = Env::new(domain, 0, to, CpuIdle::Idle);
    (env.migration_type, env.imbalance) = (Migration::Task, 1);
    let group = domain.groups.iter().find(|g| g.cpus.contains(&from)).unwrap();
    fair.find_busiest_queue(&w, &env, group)
}

/// `find_busiest_queue` (5.16): the only task of a preferred CPU is left there.
#[test]
fn the_only_task_of_a_preferred_cpu_stays_from_5_16_on() {
    for (release, taken) in [("5.15", Some(0)), ("5.16", None), ("6.12", None)] {
        assert_eq!(source(release, 0, 2, false), taken, "{release}");
        assert_eq!(source(release, 2, 0, false), Some(2), "{release}");
        assert_eq!(source(release, 0, 2, true), Some(0), "{release}");
    }
}
