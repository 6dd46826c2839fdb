//! What goes offline and what is left: the CPU that goes, single CPUs, empty nodes.

mod machines;

use kernel::{Domains, Kernel, KernelError, Version, build, build_after_offline};
use machine::{Arch, Firmware, Machine};
use machines::Shape;

/// Two nodes of two cores of two threads.
fn two_nodes(arch: Arch) -> Machine {
    let shape = Shape {
        distances: vec![vec![10, 20], vec![20, 10]],
        cores_a_node: 2,
        threads_a_core: 2,
        ..Shape::default()
    };
    Machine { arch, ..shape.machine() }
}

fn online(machine: &Machine, list: &str) -> Machine {
    machine.with_online(list.parse().unwrap()).unwrap()
}

fn after(machine: &Machine, version: &str, leaving: usize) -> Domains {
    build_after_offline(machine, &Kernel::new(version.parse().unwrap()), leaving).unwrap()
}

fn intervals(domains: &Domains, cpu: usize) -> Vec<u32> {
    domains.by_cpu[cpu].iter().map(|d| d.min_interval_ms).collect()
}

/// CPU 3 goes: its core keeps CPU 2, which has no SMT domain then. From 6.10 to 7.0 node and machine count CPU 3.
#[test]
fn the_cpu_that_goes_counts_in_intervals_from_6_10_to_7_0() {
    for arch in [Arch::Powerpc, Arch::X86, Arch::Arm64] {
        let left = online(&two_nodes(arch), "0-2,4-7");
        let of = |version| intervals(&after(&left, version, 3), 0);
        assert_eq!(of("6.9"), [2, 3, 7], "{arch:?}");
        assert_eq!(of("6.10"), [2, 4, 8], "{arch:?}");
        assert_eq!(of("7.0"), [2, 4, 8], "{arch:?}");
        assert_eq!(of("7.1"), [2, 3, 7], "{arch:?}");
    }
}

/// Nothing else tells the CPU that goes.
#[test]
fn spans_and_groups_leave_it_out() {
    let left = online(&two_nodes(Arch::X86), "0-2,4-7");
    let mut with = after(&left, "6.12", 3);
    let without = build(&left, &Kernel::new(Version::new(6, 12))).unwrap();
    assert_ne!(with, without);
    for (a, b) in with.by_cpu.iter_mut().flatten().zip(without.by_cpu.iter().flatten()) {
        (a.min_interval_ms, a.max_interval_ms) = (b.min_interval_ms, b.max_interval_ms);
    }
    assert_eq!(with, without);
}

/// The last CPU of a node takes its node out of the NUMA masks first.
#[test]
fn the_last_cpu_of_a_node_counts_nowhere() {
    let left = online(&two_nodes(Arch::X86), "0-3");
    assert_eq!(intervals(&after(&left, "6.12", 7), 0), [2, 4]);
}

#[test]
fn a_cpu_that_stays_cannot_have_gone() {
    let left = online(&two_nodes(Arch::X86), "0-2,4-7");
    for cpu in [0, 8, usize::MAX] {
        let error = build_after_offline(&left, &Kernel::new(Version::new(6, 12)), cpu);
        assert_eq!(error, Err(KernelError::NotOffline { found: cpu, expected: "3".into() }));
    }
}

#[test]
fn one_cpu_has_no_domains() {
    let one =
        Shape { distances: vec![vec![10]], cores_a_node: 1, threads_a_core: 1, ..Shape::default() };
    for arch in [Arch::Powerpc, Arch::X86, Arch::Arm64] {
        let alone = Machine { arch, ..one.machine() };
        let last = online(&two_nodes(arch), "5");
        for version in ["4.18", "5.9", "5.11", "5.16", "6.1", "6.12", "7.3"] {
            for machine in [&alone, &last] {
                let kernel = Kernel::new(version.parse().unwrap());
                let domains = build(machine, &kernel).unwrap();
                assert!(domains.by_cpu.iter().all(Vec::is_empty), "{arch:?} {version}");
                let log = kernel::log::log(&domains, kernel.version);
                assert!(log.contains(" attaching NULL sched-domain.\n"), "{log}");
            }
        }
    }
}

/// Two nodes 40 apart, and 20 from each a node without CPUs. Until 5.17 its distance makes a level, until 5.9 one
/// that stays attached: it adds no CPU, but has flags of NUMA levels that the level below has not.
#[test]
fn memory_only_nodes_make_levels_until_5_17() {
    let mut machine = Machine { arch: Arch::Arm64, ..two_nodes(Arch::Arm64) };
    let distances = [[10, 40, 20], [40, 10, 20], [20, 20, 10]];
    machine.nodes.push(machine::Node {
        id: 2,
        cpus: machine::CpuSet::EMPTY,
        ..machine.nodes[0].clone()
    });
    for (node, distances) in machine.nodes.iter_mut().zip(distances) {
        node.distances = distances.to_vec();
    }
    let top = |version: &str| {
        let domains = build(&machine, &Kernel::new(version.parse().unwrap())).unwrap();
        let chain = &domains.by_cpu[0];
        let spans: Vec<String> = chain.iter().map(|d| format!("{} {}", d.name, d.span)).collect();
        (spans, chain.last().unwrap().level)
    };
    let strings = |names: &[&str]| names.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let plain = strings(&["SMT 0-1", "MC 0-3", "NUMA 0-7"]);
    assert_eq!(top("5.9").0, strings(&["SMT 0-1", "MC 0-3", "NUMA 0-3", "NUMA 0-7"]));
    assert_eq!(top("5.10"), (plain.clone(), 5));
    assert_eq!(top("5.15"), (plain.clone(), 5));
    assert_eq!(top("5.18"), (plain, 5), "one level less, CLS one more");
}

/// Kernels before 5.12 take the first node's distances for all there are, but for larger ones.
#[test]
fn distances_come_from_node_0_before_5_12() {
    let shape = Shape {
        distances: vec![vec![10, 30, 30], vec![30, 10, 20], vec![30, 20, 10]],
        cores_a_node: 1,
        threads_a_core: 1,
        ..Shape::default()
    };
    let spans = |version: &str| -> Vec<String> {
        let domains = build(&shape.machine(), &Kernel::new(version.parse().unwrap())).unwrap();
        domains.by_cpu[1].iter().map(|d| d.span.to_string()).collect()
    };
    assert_eq!(spans("5.11"), ["0-2"]);
    assert_eq!(spans("5.12"), ["1-2", "0-2"]);
}

/// Eight cores in clusters of four that share an L2, told by a device tree: a cluster is a package before 6.0, and
/// caches are unknown.
#[test]
fn old_kernels_take_a_trees_clusters_for_packages() {
    let shape = Shape {
        distances: vec![vec![10]],
        cores_a_node: 8,
        threads_a_core: 1,
        cores_a_cluster: 4,
        cores_an_l2: 2,
        ..Shape::default()
    };
    let machine = Machine { arch: Arch::Arm64, ..shape.machine() };
    let tree = Machine { firmware: Some(Firmware::DeviceTree), ..machine.clone() };
    let chain = |machine: &Machine, version: &str| -> Vec<String> {
        let domains = build(machine, &Kernel::new(version.parse().unwrap())).unwrap();
        domains.by_cpu[0].iter().map(|d| format!("{} {}", d.name, d.span)).collect()
    };
    assert_eq!(chain(&tree, "4.18"), ["MC 0-3", "DIE 0-7"]);
    assert_eq!(chain(&tree, "5.19"), ["MC 0-3", "DIE 0-7"]);
    // The cluster reaches beyond the L2: it is a level of its own before 6.0, the core group later.
    assert_eq!(chain(&machine, "5.15"), ["MC 0-1", "DIE 0-7"]);
    assert_eq!(chain(&machine, "5.16"), ["CLS 0-3", "DIE 0-7"]);
    for machine in [&tree, &machine] {
        assert_eq!(chain(machine, "6.0"), ["MC 0-3", "DIE 0-7"]);
    }
}
