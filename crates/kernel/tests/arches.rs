//! Levels of x86 and arm64 machines, worked out by hand from the kernel's rules: what captures do not show, and
//! what changes with the release.

mod machines;

use kernel::{Domain, Domains, Kernel, MechanismId, SdFlags, Version, build};
use machine::{Arch, Machine};
use machines::Shape;

/// Two nodes 32 apart, of four cores; neighbouring pairs are a cluster, fours share the last-level cache.
fn two_nodes() -> Shape {
    Shape {
        distances: vec![vec![10, 32], vec![32, 10]],
        cores_a_node: 4,
        threads_a_core: 2,
        cores_an_l2: 4,
        cores_a_cluster: 2,
        ..Shape::default()
    }
}

fn of(arch: Arch, shape: &Shape) -> Machine {
    Machine { arch, ..shape.machine() }
}

fn built(machine: &Machine, version: &str) -> Domains {
    build(machine, &Kernel::new(version.parse().unwrap())).unwrap()
}

/// CPU 0's domains as level name and span.
fn chain(domains: &Domains) -> Vec<String> {
    domains.by_cpu[0].iter().map(|d| format!("{} {}", d.name, d.span)).collect()
}

fn domain(domains: &Domains, name: &str) -> Domain {
    domains.by_cpu[0].iter().find(|d| d.name == name).unwrap().clone()
}

#[test]
fn cluster_level_comes_with_its_release_and_flag() {
    for arch in [Arch::X86, Arch::Arm64] {
        let machine = of(arch, &two_nodes());
        assert_eq!(chain(&built(&machine, "5.15")), ["SMT 0-1", "MC 0-7", "NUMA 0-15"]);
        let clustered = ["SMT 0-1", "CLS 0-3", "MC 0-7", "NUMA 0-15"];
        assert_eq!(chain(&built(&machine, "5.16")), clustered);
        let flagged = |version| {
            let domains = built(&machine, version);
            assert!(domain(&domains, "CLS").flags.contains(SdFlags::SHARE_LLC));
            domain(&domains, "CLS").flags.contains(SdFlags::CLUSTER)
        };
        assert_eq!((flagged("6.6"), flagged("6.7")), (false, true), "{arch:?}");
        let off = Kernel::new(Version::new(7, 3)).with(MechanismId::SchedCluster, false);
        let domains = build(&machine, &off).unwrap();
        assert_eq!(chain(&domains), ["SMT 0-1", "MC 0-7", "NUMA 0-15"], "{arch:?}");
    }
}

/// A cluster that reaches the core group's end is no level of its own on arm64, and where it reaches beyond the
/// last-level cache the core group grows to it.
#[test]
fn arm64_fits_core_group_and_cluster_to_each_other() {
    let equal = Shape { cores_a_cluster: 4, ..two_nodes() };
    let domains = built(&of(Arch::Arm64, &equal), "7.3");
    assert_eq!(chain(&domains), ["SMT 0-1", "MC 0-7", "NUMA 0-15"]);
    let beyond = Shape { cores_an_l2: 1, ..two_nodes() };
    let grown = built(&of(Arch::Arm64, &beyond), "7.3");
    assert_eq!(chain(&grown), ["SMT 0-1", "MC 0-3", "PKG 0-7", "NUMA 0-15"]);
    let off = Kernel::new(Version::new(7, 3)).with(MechanismId::SchedCluster, false);
    let small = build(&of(Arch::Arm64, &beyond), &off).unwrap();
    assert_eq!(chain(&small), ["SMT 0-1", "PKG 0-7", "NUMA 0-15"]);
    let no_cache = Shape { cores_an_l2: 0, ..two_nodes() };
    let package = built(&of(Arch::Arm64, &no_cache), "7.3");
    assert_eq!(chain(&package), ["SMT 0-1", "CLS 0-3", "MC 0-7", "NUMA 0-15"]);
}

/// PKG would end at the node; the distances span the package better. NUMA's index shows that the level is gone.
#[test]
fn x86_has_no_package_level_where_a_package_holds_nodes() {
    let level = |nodes_a_package| {
        let shape = Shape { cores_an_l2: 2, nodes_a_package, ..two_nodes() };
        let domains = built(&of(Arch::X86, &shape), "6.12");
        (chain(&domains), domain(&domains, "NUMA").level)
    };
    let chain = |third: &str| ["SMT 0-1", "CLS 0-3", third, "NUMA 0-15"].map(String::from).to_vec();
    assert_eq!(level(1), (chain("PKG 0-7"), 5));
    assert_eq!(level(2), (chain("NODE 0-7"), 4));
}

#[test]
fn x86_lists_smt_on_demand_from_6_17_on() {
    let single = of(Arch::X86, &Shape { threads_a_core: 1, ..two_nodes() });
    let level = |version| domain(&built(&single, version), "MC").level;
    assert_eq!((level("6.16"), level("6.17")), (2, 1));
    let threads = of(Arch::X86, &two_nodes());
    // Offline siblings still count: the kernel decides at boot.
    let threads = threads.with_smt(1).unwrap();
    assert_eq!(domain(&built(&threads, "6.17"), "MC").level, 2);
}

#[test]
fn far_nodes_of_x86() {
    let machine = of(Arch::X86, &two_nodes());
    let forks = |kernel: Kernel| {
        let domains = build(&machine, &kernel).unwrap();
        domain(&domains, "NUMA").flags.contains(SdFlags::BALANCE_FORK)
    };
    assert!(!forks(Kernel::new(Version::new(5, 3))));
    assert!(forks(Kernel::new(Version::new(5, 4))));
    let off = Kernel::new(Version::new(5, 4)).with(MechanismId::ZenReclaimDistance, false);
    assert!(!forks(off));
    let arm = built(&of(Arch::Arm64, &two_nodes()), "6.12");
    assert!(!domain(&arm, "NUMA").flags.contains(SdFlags::BALANCE_FORK));
}

/// `node_reclaim_distance` is raised by `init_amd_zn` and `init_hygon` (5.4), on no other maker's processors.
#[test]
fn the_maker_decides_about_far_nodes_of_x86() {
    let raised = |vendor: Option<&str>, kernel: &Kernel| {
        let machine = Machine { vendor: vendor.map(String::from), ..of(Arch::X86, &two_nodes()) };
        let domains = build(&machine, kernel).unwrap();
        domain(&domains, "NUMA").flags.contains(SdFlags::BALANCE_FORK)
    };
    let kernel = Kernel::new(Version::new(6, 12));
    for (vendor, expected) in
        [(Some("AuthenticAMD"), true), (Some("HygonGenuine"), true), (Some("GenuineIntel"), false)]
    {
        assert_eq!(raised(vendor, &kernel), expected, "{vendor:?}");
    }
    assert!(raised(None, &kernel));
    // Whoever switches it means it.
    let on = kernel.with(MechanismId::ZenReclaimDistance, true);
    assert!(raised(Some("GenuineIntel"), &on));
}

#[test]
fn overlap_has_no_name_from_6_17_on() {
    let flags = domain(&built(&of(Arch::X86, &two_nodes()), "6.12"), "NUMA").flags;
    let common = "SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE SD_SERIALIZE ";
    assert_eq!(flags.names(Version::new(6, 16)), format!("{common}SD_OVERLAP SD_NUMA "));
    assert_eq!(flags.names(Version::new(6, 17)), format!("{common}SD_NUMA "));
}

#[test]
fn threads_of_arm64_are_full_cpus_in_every_release() {
    assert_eq!(built(&of(Arch::X86, &two_nodes()), "4.19").capacity[0], 1178 / 2);
    assert_eq!(built(&of(Arch::Arm64, &two_nodes()), "4.19").capacity[0], 1024);
}
