//! SMT cores in balancing from 6.6 on.

use crate::fair::balance::env::CpuIdle;
use crate::fair::testing::{machine, running, scenario, world};
use crate::topology::Cpu;

/// Which CPUs of a big core, with `busy` running tasks, balance for it at the level above.
fn balancers(release: &str, busy: &[Cpu]) -> Vec<Cpu> {
    let switches = [("small-core-smt", true), ("big-core-cache", true)];
    let s = scenario(&machine("power9-big-core", 16), release, &switches);
    let (mut w, mut fair) = world(&s);
    busy.iter().for_each(|&c| {
        running(&mut w, &mut fair, c);
    });
    let level = s.setup.topo.domains[0].iter().position(|d| d.groups[0].cpus.len() == 8).unwrap();
    let balances = |cpu: &Cpu| {
        let mut ours = true;
        let idle = if w.idle_cpu(*cpu) { CpuIdle::Idle } else { CpuIdle::Busy };
        fair.load_balance(&mut w, *cpu, level, idle, &mut ours);
        ours
    };
    (0..8).filter(balances).collect()
}

/// `should_we_balance`: the first idle CPU of the group; from 6.6 on the first of an idle core before those with busy
/// siblings; the first CPU where none is idle. Even and odd CPUs are a core each.
#[test]
fn an_idle_core_balances_first_from_6_6_on() {
    for (release, of_idle_core) in [("6.5", 0), ("6.6", 1), ("6.12", 1)] {
        assert_eq!(balancers(release, &[2]), [of_idle_core], "{release}");
        assert_eq!(balancers(release, &[]), [0], "{release}");
        assert_eq!(balancers(release, &[0, 1]), [2], "{release}");
        assert_eq!(balancers(release, &[0, 1, 2, 3, 4, 5, 6, 7]), [0], "{release}");
    }
}
