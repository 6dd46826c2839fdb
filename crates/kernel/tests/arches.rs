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

/// CPU `cpu`'s domains on a machine of one core a CPU, with `cores` cores in each package, `count` nodes
/// and the node of each CPU as `nodes` says.
fn chain_of_nodes(cpu: usize, cores: usize, nodes: &[u32], count: usize, version: &str) -> String {
    let distances =
        (0..count).map(|a| (0..count).map(|b| if a == b { 10 } else { 20 }).collect()).collect();
    let cores_a_node = nodes.len();
    let shape = Shape { distances, cores_a_node, threads_a_core: 1, ..Shape::default() };
    let mut machine = of(Arch::X86, &shape);
    machine.cpus.truncate(nodes.len());
    machine.online = machine.possible();
    for (i, (cpu, &node)) in machine.cpus.iter_mut().zip(nodes).enumerate() {
        (cpu.node, cpu.package) = (node, (i / cores) as u32);
    }
    for node in &mut machine.nodes {
        node.cpus = (0..nodes.len()).filter(|&c| nodes[c] == node.id).collect();
    }
    let domains = built(&machine, version);
    let chain = domains.by_cpu[cpu].iter().map(|d| format!("{} {}", d.name, d.span));
    chain.collect::<Vec<_>>().join(", ")
}

/// To 6.x a package that nodes divide decides, from 7.0 on the number of nodes with CPUs a package, rounded up.
#[test]
fn x86_counts_nodes_and_packages_from_7_0_on() {
    // Two packages of three cores, two nodes: the border of the nodes is not that of the packages.
    let uneven = |version| chain_of_nodes(5, 3, &[0, 0, 1, 1, 1, 1], 2, version);
    assert_eq!(uneven("6.19"), "NODE 2-5, NUMA 0-5");
    assert_eq!(uneven("7.0"), "PKG 2-5, NUMA 0-5");
    // A third node without CPUs does not count.
    let memory_only = |version| chain_of_nodes(5, 3, &[0, 0, 1, 1, 1, 1], 3, version);
    assert_eq!(memory_only("6.19"), "NODE 2-5, NUMA 0-5");
    assert_eq!(memory_only("7.0"), "PKG 2-5, NUMA 0-5");
    for version in ["6.19", "7.0"] {
        // One and a half nodes a package are two, four nodes in two packages too.
        let three = chain_of_nodes(0, 4, &[0, 0, 0, 0, 1, 1, 2, 2], 3, version);
        assert_eq!(three, "NODE 0-3, NUMA 0-7", "{version}");
        let four = chain_of_nodes(0, 4, &[0, 0, 1, 1, 2, 2, 3, 3], 4, version);
        assert_eq!(four, "NODE 0-1, NUMA 0-7", "{version}");
        // A node of each package, and a node of both.
        let even = chain_of_nodes(0, 2, &[0, 0, 1, 1], 2, version);
        assert_eq!(even, "PKG 0-1, NUMA 0-3", "{version}");
        assert_eq!(chain_of_nodes(0, 2, &[0; 4], 1, version), "PKG 0-3", "{version}");
    }
    // Fewer nodes than packages, one of which they divide.
    let fewer = |version| chain_of_nodes(0, 2, &[0, 0, 0, 1, 1, 1, 2, 2], 3, version);
    assert_eq!(fewer("6.19"), "NODE 0-2, NUMA 0-7");
    assert_eq!(fewer("7.0"), "PKG 0-2, NUMA 0-7");
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
