//! What holds for the domains of any machine.

mod machines;

use kernel::recorded::log::{Extent, LogDifferences};
use kernel::{
    Domain, Domains, Kernel, KernelError, MECHANISMS, SdFlags, Version, build, build_after_offline,
    debugfs, log, recorded,
};
use machine::{Arch, Cache, CacheKind, CpuSet, Machine, Origin, ThreadGroupProperty, ThreadGroups};
use machines::Shape;
use proptest::prelude::*;

fn versions() -> impl Strategy<Value = Version> {
    let releases =
        ["4.18", "4.19", "4.20", "5.4", "5.9", "5.10", "5.13", "5.16", "6.1", "6.6", "6.12", "7.3"];
    prop::sample::select(releases.to_vec()).prop_map(|v| v.parse().unwrap())
}

fn kernels() -> impl Strategy<Value = Kernel> {
    let switches = prop::collection::vec(any::<Option<bool>>(), MECHANISMS.len());
    (versions(), switches).prop_map(|(version, switches)| {
        let ids = MECHANISMS.iter().map(|m| m.id);
        ids.zip(switches).fold(Kernel::new(version), |kernel, (id, on)| match on {
            Some(on) => kernel.with(id, on),
            None => kernel,
        })
    })
}

/// Symmetric distances of up to five nodes, 10 on the diagonal.
fn distances() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1usize..=5, prop::collection::vec(prop::sample::select(vec![20, 30, 40, 80]), 25)).prop_map(
        |(nodes, values)| {
            let distance = |a: usize, b: usize| match a == b {
                true => 10,
                false => values[a.min(b) * 5 + a.max(b)],
            };
            (0..nodes).map(|a| (0..nodes).map(|b| distance(a, b)).collect()).collect()
        },
    )
}

/// Machines that firmware could describe, some of their CPUs offline.
fn machines() -> impl Strategy<Value = Machine> {
    let sharing = (0usize..=2, 0usize..=2, 0usize..=2, 0usize..=2, 1usize..=2);
    let shape = (distances(), 1usize..=3, 0usize..=3, sharing).prop_map(
        |(distances, cores_a_node, threads, (small_cores, l2_groups, l2, cluster, package))| {
            Shape {
                distances,
                cores_a_node,
                threads_a_core: 1 << threads,
                small_cores: small_cores.min(1 << threads),
                // Groups that share an L2 hold whole small cores.
                l2_groups: l2_groups.min(small_cores).min(1 << threads),
                cores_an_l2: l2,
                // Clusters lie within the last-level cache.
                cores_a_cluster: cluster.min(l2),
                nodes_a_package: package,
            }
        },
    );
    let arch = prop::sample::select(vec![Arch::Powerpc, Arch::X86, Arch::Arm64]);
    (shape, arch).prop_flat_map(|(shape, arch)| {
        let machine = Machine { arch, ..shape.machine() };
        let count = machine.cpus.len();
        let capacity =
            prop::sample::select(vec![Some(300), Some(700), Some(1024), Some(1024), None]);
        let capacities = prop_oneof![
            prop::collection::vec(Just(None), count),
            prop::collection::vec(prop::sample::select(vec![Some(512), Some(1024)]), count),
            prop::collection::vec(capacity, count),
        ];
        let online = prop::collection::vec(prop::bool::weighted(0.7), count);
        (online, capacities).prop_map(move |(on, capacities)| {
            let online: CpuSet = (0..on.len()).filter(|&c| on[c]).collect();
            let mut machine = machine.with_online(online).unwrap_or_else(|_| machine.clone());
            for (cpu, capacity) in machine.cpus.iter_mut().zip(capacities) {
                cpu.capacity = capacity;
            }
            machine
        })
    })
}

fn union(domain: &Domain) -> CpuSet {
    domain.groups.iter().fold(CpuSet::EMPTY, |all, g| all | &g.span)
}

fn check_domain(domains: &Domains, cpu: usize, domain: &Domain, version: Version) {
    let overlaps = domain.flags.contains(SdFlags::OVERLAP);
    assert!(domain.span.contains(cpu) && domain.span.is_subset(&domains.cpus));
    assert!(domain.groups[0].span.contains(cpu));
    let covered = union(domain);
    // Groups of NUMA levels may reach out of the span before 5.13.
    let reaches_out = overlaps && version < Version::new(5, 13);
    assert!(if reaches_out { domain.span.is_subset(&covered) } else { domain.span == covered });
    let sizes: usize = domain.groups.iter().map(|g| g.span.len()).sum();
    assert!(overlaps || sizes == covered.len(), "groups of a tiling level overlap");
    for group in &domain.groups {
        let capacity: u64 = group.span.iter().map(|c| domains.capacity[c]).sum();
        assert_eq!(group.capacity, capacity);
        assert!(group.mask.is_subset(&group.span) && group.mask.first() == Some(group.id));
        assert!(overlaps || group.mask == group.span);
    }
    check_asymmetry(domains, domain, version);
    // A level that tiles the machine is the same for all its CPUs, but for where the ring of groups begins.
    for other in domain.span.iter().filter(|_| !overlaps) {
        let theirs = domains.by_cpu[other].iter().find(|d| d.level == domain.level).unwrap();
        assert_eq!(theirs.span, domain.span);
        assert_eq!(theirs.flags, domain.flags);
        let own = domain.groups.iter().position(|g| g.span.contains(other)).unwrap();
        let mut turned = domain.groups.clone();
        turned.rotate_left(own);
        assert_eq!(theirs.groups, turned);
    }
}

/// The flags of differing capacity against the capacities themselves.
fn check_asymmetry(domains: &Domains, domain: &Domain, version: Version) {
    let differ = |span: CpuSet| {
        let mut seen: Vec<u64> = span.iter().map(|c| domains.capacity[c]).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    let flags = domain.flags;
    let (here, everywhere) = (differ(domain.span.clone()), differ(domains.cpus.clone()));
    if version >= Version::new(5, 14) {
        assert_eq!(flags.contains(SdFlags::ASYM_CPUCAPACITY), here > 1);
        assert_eq!(flags.contains(SdFlags::ASYM_CPUCAPACITY_FULL), here > 1 && here == everywhere);
    } else {
        assert!(!flags.contains(SdFlags::ASYM_CPUCAPACITY_FULL));
        assert!(!flags.contains(SdFlags::ASYM_CPUCAPACITY) || everywhere > 1);
    }
    assert!(!flags.contains(SdFlags::BALANCE_WAKE) || version < Version::new(5, 7));
}

fn check(machine: &Machine, domains: &Domains, version: Version) {
    assert_eq!(domains.cpus, machine.online);
    for (cpu, chain) in domains.by_cpu.iter().enumerate() {
        let online = machine.online.contains(cpu);
        let alone = machine.online.len() == 1;
        assert_eq!(chain.is_empty(), !online || alone, "CPU {cpu}");
        assert_eq!(domains.capacity[cpu] > 0, online, "CPU {cpu}");
        chain.iter().for_each(|domain| check_domain(domains, cpu, domain, version));
        for pair in chain.windows(2) {
            assert!(pair[0].span.is_subset(&pair[1].span));
            // Before 5.10 a near NUMA level stays attached where it adds no CPU.
            let stays = version < Version::new(5, 10) && pair[1].flags.contains(SdFlags::OVERLAP);
            assert!(stays || pair[0].span != pair[1].span);
            assert!(pair[0].level < pair[1].level);
            assert_eq!(pair[0].span, pair[1].groups[0].span, "own group is the level below");
        }
        let top = chain.last().map(|d| d.span.clone());
        assert!(top.is_none_or(|span| span == machine.online), "CPU {cpu}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn domains_are_sound(machine in machines(), kernel in kernels()) {
        let domains = build(&machine, &kernel).unwrap();
        check(&machine, &domains, kernel.version);
    }

    /// The CPU that goes changes balance intervals, by one CPU at most, and nothing else.
    #[test]
    fn a_cpu_that_goes_is_in_intervals_only(machine in machines(), kernel in kernels()) {
        let without = build(&machine, &kernel).unwrap();
        for leaving in (machine.possible() - &machine.online).iter() {
            let mut with = build_after_offline(&machine, &kernel, leaving).unwrap();
            let chains = with.by_cpu.iter_mut().flatten().zip(without.by_cpu.iter().flatten());
            for (with, without) in chains {
                let more = with.min_interval_ms - without.min_interval_ms;
                prop_assert!(more <= 1 && with.max_interval_ms == 2 * with.min_interval_ms);
                (with.min_interval_ms, with.max_interval_ms) =
                    (without.min_interval_ms, without.max_interval_ms);
            }
            prop_assert_eq!(&with, &without);
        }
    }

    /// What is predicted matches itself, and a text of any kind is compared without panic.
    #[test]
    fn comparison_finds_itself_equal(machine in machines(), kernel in kernels(), at in 0usize..4000, junk in "[ -~\n]{0,30}") {
        let version = kernel.version;
        let domains = build(&machine, &kernel).unwrap();
        let text = log::log(&domains, version);
        for extent in [Extent::Whole, Extent::LastRebuild] {
            let found = recorded::log::compare(&domains, version, &text, extent);
            prop_assert_eq!(found, LogDifferences::default());
            let mut damaged = text.clone();
            damaged.insert_str(at.min(text.len()), &junk);
            let _ = recorded::log::compare(&domains, version, &damaged, extent);
        }
        let mut files = recorded::debugfs::predicted(&domains, version);
        let numbered = version < Version::new(5, 10);
        if !numbered {
            prop_assert_eq!(recorded::debugfs::compare(&domains, version, &files), vec![]);
        }
        files.insert(junk.clone(), junk);
        prop_assert!(!recorded::debugfs::compare(&domains, version, &files).is_empty());
    }

    #[test]
    fn log_and_debugfs_hold_every_domain(machine in machines(), kernel in kernels()) {
        let domains = build(&machine, &kernel).unwrap();
        let count: usize = domains.by_cpu.iter().map(Vec::len).sum();
        let log = log::log(&domains, kernel.version);
        let attached = log.lines().filter(|l| l.starts_with("CPU")).count();
        prop_assert_eq!(attached, machine.online.len());
        prop_assert_eq!(log.matches(" level=").count(), count);
        let debugfs = debugfs::debugfs(&domains, kernel.version);
        prop_assert_eq!(debugfs.matches("/name: ").count(), count);
    }

    /// Thread groups and caches that no machine has: an error that names the level, or sound domains.
    #[test]
    fn absurd_machines_are_refused_or_sound(
        shape in machines(),
        kernel in kernels(),
        groups in prop::collection::vec((any::<bool>(), prop::collection::vec(0usize..4, 120)), 0..3),
        cache in prop::collection::vec(prop::bool::weighted(0.1), 120),
    ) {
        let mut machine = shape;
        let cpus = machine.cpus.len();
        for (l1, group_of) in groups {
            let group = |g: usize| (0..cpus).filter(|&c| group_of[c] == g).collect::<CpuSet>();
            machine.thread_groups.insert(0, ThreadGroups {
                property: if l1 { ThreadGroupProperty::L1 } else { ThreadGroupProperty::L2 },
                core: 0,
                groups: (0..4).map(group).collect(),
            });
        }
        machine.caches.push(Cache {
            level: 2,
            kind: CacheKind::Unified,
            size_kib: None,
            line_bytes: None,
            ways: None,
            cpus: (0..cpus).filter(|&c| cache[c]).collect(),
            origin: Origin::Firmware,
        });
        match build(&machine, &kernel) {
            Ok(domains) => check(&machine, &domains, kernel.version),
            Err(error) => prop_assert!(matches!(error, KernelError::Level { .. }), "{}", error),
        }
    }
}
