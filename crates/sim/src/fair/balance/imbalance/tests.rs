//! Rows of the decision table, with imbalances computed by hand.

use super::*;
use kernel::{Kernel, MechanismId, Version};
use machine::CpuSet;

fn rules(version: (u16, u16)) -> Rules {
    Rules::new(&Kernel::new(Version::new(version.0, version.1)))
}

fn domain(flags: SdFlags) -> SimDomain {
    SimDomain {
        span: CpuSet::first_n(8),
        weight: 8,
        flags,
        llcs: Box::default(),
        looked: 0,
        capacity: 0,
        groups: Box::default(),
        views: Box::default(),
        single_cpus: Box::default(),
        imbalance_pct: 117,
        cache_nice_tries: 1,
        min_interval_ms: 8,
        max_interval_ms: 16,
        busy_factor: 16,
        busy_idx: 0,
        idle_idx: 0,
        child_prefers_sibling: false,
        imb_numa_nr: 1,
    }
}

/// Four CPUs on four cores, `running` tasks, each of a full load and on a CPU of its own while there is one.
fn group(class: GroupType, running: u64) -> SgLbStats {
    let load = 1024 * running;
    SgLbStats {
        group_type: class,
        sum_nr_running: running,
        load,
        avg_load: load * 1024 / 4096,
        util: 1024 * running.min(4),
        capacity: 4096,
        idle_cpus: 4u64.saturating_sub(running),
        weight: 4,
        cores: 4,
        ..SgLbStats::default()
    }
}

fn compared(local: SgLbStats, busiest: SgLbStats) -> SdLbStats {
    SdLbStats {
        local,
        busiest,
        total_load: local.load + busiest.load,
        total_capacity: local.capacity + busiest.capacity,
        prefer_sibling: false,
    }
}

use GroupType::{AsymPacking, FullyBusy, HasSpare, Imbalanced, MisfitTask, Overloaded, SmtBalance};

#[test]
fn the_table_of_an_idle_cpu() {
    let task = |n| Some((Migration::Task, n));
    let spare_1 = group(HasSpare, 1);
    let rows = [
        // Three idle CPUs against none: three tasks more than even, one moves.
        ("spare, spare", spare_1, SgLbStats { weight: 4, ..group(HasSpare, 4) }, task(1)),
        ("spare, one CPU more", spare_1, group(HasSpare, 2), None),
        ("spare, fully busy", group(HasSpare, 0), group(FullyBusy, 4), task(2)),
        ("spare, misfit", spare_1, group(MisfitTask, 1), Some((Migration::Misfit, 1))),
        ("spare, SMT", spare_1, SgLbStats { smt: true, ..group(SmtBalance, 4) }, task(1)),
        ("spare, packing", spare_1, group(AsymPacking, 3), task(3)),
        ("spare, imbalanced", spare_1, group(Imbalanced, 1), task(1)),
        // 4096 - 1024 of capacity is left.
        ("spare, overloaded", spare_1, group(Overloaded, 6), Some((Migration::Util, 3072))),
        ("fully busy, spare", group(FullyBusy, 4), spare_1, None),
        ("fully busy, fully busy", group(FullyBusy, 4), group(FullyBusy, 4), None),
        // Average (4 + 8) x 1024 / 8 CPUs = 1536; 2048 - 1536 on 4 CPUs is 2048 of load.
        (
            "fully busy, overloaded",
            group(FullyBusy, 4),
            group(Overloaded, 8),
            Some((Migration::Load, 2048)),
        ),
        ("fully busy, imbalanced", group(FullyBusy, 4), group(Imbalanced, 4), task(1)),
        ("imbalanced, fully busy", group(Imbalanced, 4), group(FullyBusy, 4), None),
        ("imbalanced, packing", group(Imbalanced, 4), group(AsymPacking, 4), task(4)),
        // Average (5 + 8) x 1024 / 8 = 1664; 384 x 4 = 1536 above, 384 x 4 = 1536 below.
        (
            "overloaded, overloaded",
            group(Overloaded, 5),
            group(Overloaded, 8),
            Some((Migration::Load, 1536)),
        ),
        // 100 x 6/4 is not more than 117 x 6/4, nor is 7 against 6.
        ("as overloaded", group(Overloaded, 6), group(Overloaded, 7), None),
        ("overloaded, fully busy", group(Overloaded, 6), group(FullyBusy, 4), None),
    ];
    for (name, local, busiest, expected) in rows {
        let domain = domain(SdFlags::empty());
        let found = compared(local, busiest).imbalance(&rules((6, 12)), &domain, CpuIdle::Idle);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_busy_cpu_leaves_groups_that_are_not_overloaded_to_idle_ones() {
    let domain = domain(SdFlags::empty());
    let found = |busiest, idle| {
        compared(group(HasSpare, 1), busiest).imbalance(&rules((6, 1)), &domain, idle)
    };
    assert_eq!(found(group(FullyBusy, 4), CpuIdle::Busy), None);
    assert_eq!(found(group(FullyBusy, 4), CpuIdle::NewlyIdle), Some((Migration::Task, 1)));
    assert_eq!(found(group(Overloaded, 6), CpuIdle::Busy), Some((Migration::Util, 3072)));
}

#[test]
fn a_fully_used_idle_cpu_takes_one_task() {
    let local = SgLbStats { util: 4096, ..group(HasSpare, 3) };
    let both = compared(local, group(Overloaded, 6));
    let domain = domain(SdFlags::empty());
    let found = |idle| both.imbalance(&rules((5, 5)), &domain, idle);
    assert_eq!(found(CpuIdle::Idle), Some((Migration::Task, 1)));
    assert_eq!(found(CpuIdle::Busy), None);
}

#[test]
fn an_llc_evens_tasks_from_5_10_on() {
    let both = compared(group(HasSpare, 0), group(Overloaded, 8));
    let llc = domain(SdFlags::SHARE_LLC);
    let found = |version| both.imbalance(&rules(version), &llc, CpuIdle::Idle);
    assert_eq!(found((5, 9)), Some((Migration::Util, 4096)));
    // Four idle CPUs against none: half of them.
    assert_eq!(found((5, 10)), Some((Migration::Task, 2)));
}

#[test]
fn siblings_are_preferred_by_tasks_and_from_6_6_by_tasks_a_core() {
    let domain = domain(SdFlags::empty());
    let found = |version, local, busiest, idle| {
        SdLbStats { prefer_sibling: true, ..compared(local, busiest) }.imbalance(
            &rules(version),
            &domain,
            idle,
        )
    };
    let task = |n| Some((Migration::Task, n));
    let (empty, three) = (group(HasSpare, 0), group(HasSpare, 3));
    for version in [(5, 5), (6, 5), (6, 6)] {
        assert_eq!(found(version, empty, three, CpuIdle::Idle), task(1));
        assert_eq!(found(version, group(HasSpare, 2), three, CpuIdle::Idle), None);
    }
    // A busy CPU evens tasks as well, up to 6.5.
    assert_eq!(found((6, 5), empty, three, CpuIdle::Busy), task(1));
    assert_eq!(found((6, 6), empty, three, CpuIdle::Busy), None);
    // Two cores with three tasks against four with four: (2 x (4 x 3 - 2 x 4) + 6) / 6 = 2, half of it.
    let small = SgLbStats { weight: 2, cores: 2, idle_cpus: 0, ..three };
    let four = SgLbStats { idle_cpus: 4, weight: 8, ..group(HasSpare, 4) };
    assert_eq!(found((6, 6), four, small, CpuIdle::Idle), task(1));
    assert_eq!(found((6, 5), four, small, CpuIdle::Idle), None);
}

#[test]
fn nodes_tolerate_a_pair_and_the_switch_ends_it() {
    let numa = domain(SdFlags::NUMA);
    let both =
        |n| SdLbStats { prefer_sibling: true, ..compared(group(HasSpare, 0), group(HasSpare, n)) };
    let found = |version, n| both(n).imbalance(&rules(version), &numa, CpuIdle::Idle);
    assert_eq!(found((5, 5), 2), Some((Migration::Task, 1)));
    assert_eq!(found((5, 6), 2), None);
    assert_eq!(found((5, 6), 3), Some((Migration::Task, 1)));
    // From 5.18 on the tasks here count: one more is within imb_numa_nr. Half of four is tolerated, four in 6.0
    // is not.
    assert_eq!(found((5, 18), 4), None);
    assert_eq!(found((6, 0), 4), Some((Migration::Task, 2)));
    assert_eq!(found((6, 0), 2), None);
    let off = Kernel::new(Version::new(6, 12)).with(MechanismId::NumaImbalance, false);
    let off = both(2).imbalance(&Rules::new(&off), &numa, CpuIdle::Idle);
    assert_eq!(off, Some((Migration::Task, 1)));
}
