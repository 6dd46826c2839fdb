//! Pinned tasks make others move (`sgc->imbalance`, `group_imbalanced`).

use crate::fair::Fair;
use crate::fair::balance::classes::GroupType;
use crate::fair::balance::env::CpuIdle;
use crate::fair::testing::{machine, running, scenario, waiting, world};
use crate::world::World;

/// `load_balance` (3.x on): a core that could not take a task from its sibling because of affinities is marked for the
/// level above, which takes it for `group_imbalanced`, until balancing finds its level in order.
#[test]
fn a_core_that_affinities_keep_from_balance_is_marked_for_the_level_above() {
    for release in ["4.18", "5.5", "6.1", "6.12"] {
        let s = scenario(&machine("power9-big-core", 16), release, &[("small-core-smt", true)]);
        let (mut w, mut fair) = world(&s);
        let view = s.setup.topo.domains[0][1].groups[0].view;
        let marked = |f: &Fair| f.sums.empty(view).imbalanced;
        running(&mut w, &mut fair, 2);
        let bound = waiting(&mut w, &mut fair, 2);
        w.tasks[bound.index()].allowed = "2".parse().unwrap();
        averages(&mut fair, 2, 2048);
        let balance = |w: &mut World, f: &mut Fair| {
            f.load_balance(w, 0, 0, CpuIdle::Idle, &mut true);
        };
        balance(&mut w, &mut fair);
        assert!(marked(&fair), "{release}");
        if fair.rules.group_classes {
            let class = fair.sums.empty(view).group_classify(&fair.rules, 117);
            assert_eq!(class, GroupType::Imbalanced, "{release}");
        }
        // The task may go now, does, and the next attempt finds nothing.
        w.tasks[bound.index()].allowed = s.setup.topo.online_set.clone();
        balance(&mut w, &mut fair);
        assert!(marked(&fair), "{release}");
        balance(&mut w, &mut fair);
        assert!(!marked(&fair), "{release}");
    }
}

fn averages(fair: &mut Fair, cpu: u16, load: u64) {
    crate::fair::testing::averages(fair, cpu, load, 1024, load);
}
