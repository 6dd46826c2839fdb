//! NUMA levels and overlapping groups, worked out by hand from the kernel's rules:
//! * a level for each distance; a node's domain there is every node within that distance;
//! * a domain's groups: from its own CPU on and round its span, for each CPU not yet covered the domain one
//!   level below of that CPU (from 5.13 on, further below while that one reaches out of the span);
//! * a group's mask: those of its CPUs whose own domain one level below is the group; printed where it is not
//!   the whole group. The group's number is the mask's first CPU;
//! * a CPU's levels end with the first that spans all CPUs.

mod machines;

use kernel::{Kernel, SdFlags, Version, build, log};
use machine::Machine;
use machines::Shape;

/// One CPU a node, nothing else told.
fn one_cpu_a_node<const N: usize>(distances: [[u32; N]; N]) -> Shape {
    let distances = distances.map(|row| row.to_vec()).to_vec();
    Shape { distances, cores_a_node: 1, threads_a_core: 1, ..Shape::default() }
}

/// The log without the lines that name the CPUs, by CPU.
fn logs(machine: &Machine, version: Version) -> Vec<Vec<String>> {
    let domains = build(machine, &Kernel::new(version)).unwrap();
    let body = |cpu: usize| {
        let text = log::cpu_log(&domains.by_cpu[cpu], cpu, usize::MAX);
        text.lines().skip(1).map(|line| line.trim().to_string()).collect()
    };
    (0..machine.cpus.len()).map(body).collect()
}

const NEW: Version = Version::new(6, 12);

/// 0 - 1
/// |   |
/// 3 - 2
const RING: [[u32; 4]; 4] =
    [[10, 20, 30, 20], [20, 10, 20, 30], [30, 20, 10, 20], [20, 30, 20, 10]];

/// First level: a node and its two neighbours, groups the nodes. Second level: all nodes; the own group is the
/// first level's span, the opposite node is left, and stands for its own first level. Only the middle node of
/// three has the three as its domain, so it alone is the mask.
#[test]
fn ring_of_four() {
    for version in [Version::new(4, 18), NEW] {
        let logs = logs(&one_cpu_a_node(RING).machine(), version);
        let expected = [
            [
                "domain-0: span=0-1,3 level=NUMA",
                "groups: 0:{ span=0 }, 1:{ span=1 }, 3:{ span=3 }",
                "domain-1: span=0-3 level=NUMA",
                "groups: 0:{ span=0-1,3 mask=0 cap=3072 }, 2:{ span=1-3 mask=2 cap=3072 }",
            ],
            [
                "domain-0: span=0-2 level=NUMA",
                "groups: 1:{ span=1 }, 2:{ span=2 }, 0:{ span=0 }",
                "domain-1: span=0-3 level=NUMA",
                "groups: 1:{ span=0-2 mask=1 cap=3072 }, 3:{ span=0,2-3 mask=3 cap=3072 }",
            ],
            [
                "domain-0: span=1-3 level=NUMA",
                "groups: 2:{ span=2 }, 3:{ span=3 }, 1:{ span=1 }",
                "domain-1: span=0-3 level=NUMA",
                "groups: 2:{ span=1-3 mask=2 cap=3072 }, 0:{ span=0-1,3 mask=0 cap=3072 }",
            ],
            [
                "domain-0: span=0,2-3 level=NUMA",
                "groups: 3:{ span=3 }, 0:{ span=0 }, 2:{ span=2 }",
                "domain-1: span=0-3 level=NUMA",
                "groups: 3:{ span=0,2-3 mask=3 cap=3072 }, 1:{ span=0-2 mask=1 cap=3072 }",
            ],
        ];
        assert_eq!(logs, expected, "{version}");
    }
}

/// The same with a core of two threads a node: threads of a core share their domains above SMT, so masks are
/// whole cores. PKG and NODE span what SMT spans and go.
#[test]
fn ring_of_four_cores() {
    let machine = Shape { threads_a_core: 2, ..one_cpu_a_node(RING) }.machine();
    let logs = logs(&machine, NEW);
    let expected = [
        "domain-0: span=2-3 level=SMT",
        "groups: 3:{ span=3 }, 2:{ span=2 }",
        "domain-1: span=0-5 level=NUMA",
        "groups: 2:{ span=2-3 cap=2048 }, 4:{ span=4-5 cap=2048 }, 0:{ span=0-1 cap=2048 }",
        "domain-2: span=0-7 level=NUMA",
        "groups: 2:{ span=0-5 mask=2-3 cap=6144 }, 6:{ span=0-1,4-7 mask=6-7 cap=6144 }",
    ];
    assert_eq!(logs[3], expected);
}

/// 0 - 1 - 2 - 3
const LINE: [[u32; 4]; 4] =
    [[10, 20, 30, 40], [20, 10, 20, 30], [30, 20, 10, 20], [40, 30, 20, 10]];

/// Nodes 1 and 2 see all nodes at the second level and stop; nodes 0 and 3 need a third.
///
/// Second level of node 0 is 0-2. Its own group is 0-1. Node 2 is left: its level below is 1-3, which holds node
/// 3. Before 5.13 that is the group all the same; later node 2's level below that, the node alone, is.
#[test]
fn line_of_four() {
    let one = vec![
        "domain-0: span=0-2 level=NUMA",
        "groups: 1:{ span=1 }, 2:{ span=2 }, 0:{ span=0 }",
        "domain-1: span=0-3 level=NUMA",
        "groups: 1:{ span=0-2 mask=1 cap=3072 }, 3:{ span=2-3 mask=3 cap=2048 }",
    ];
    let two = vec![
        "domain-0: span=1-3 level=NUMA",
        "groups: 2:{ span=2 }, 3:{ span=3 }, 1:{ span=1 }",
        "domain-1: span=0-3 level=NUMA",
        "groups: 2:{ span=1-3 mask=2 cap=3072 }, 0:{ span=0-1 mask=0 cap=2048 }",
    ];
    let outer = |second_of_0: &'static str, second_of_3: &'static str| {
        let zero = vec![
            "domain-0: span=0-1 level=NUMA",
            "groups: 0:{ span=0 }, 1:{ span=1 }",
            "domain-1: span=0-2 level=NUMA",
            second_of_0,
            "domain-2: span=0-3 level=NUMA",
            "groups: 0:{ span=0-2 mask=0 cap=3072 }, 3:{ span=1-3 mask=3 cap=3072 }",
        ];
        let three = vec![
            "domain-0: span=2-3 level=NUMA",
            "groups: 3:{ span=3 }, 2:{ span=2 }",
            "domain-1: span=1-3 level=NUMA",
            second_of_3,
            "domain-2: span=0-3 level=NUMA",
            "groups: 3:{ span=1-3 mask=3 cap=3072 }, 0:{ span=0-2 mask=0 cap=3072 }",
        ];
        [zero, one.clone(), two.clone(), three]
    };
    let machine = one_cpu_a_node(LINE).machine();
    let reaching_out = outer(
        "groups: 0:{ span=0-1 mask=0 cap=2048 }, 2:{ span=1-3 mask=2 cap=3072 }",
        "groups: 3:{ span=2-3 mask=3 cap=2048 }, 1:{ span=0-2 mask=1 cap=3072 }",
    );
    let descended = outer(
        "groups: 0:{ span=0-1 mask=0 cap=2048 }, 2:{ span=2 }",
        "groups: 3:{ span=2-3 mask=3 cap=2048 }, 1:{ span=1 }",
    );
    assert_eq!(logs(&machine, Version::new(5, 12)), reaching_out);
    assert_eq!(logs(&machine, Version::new(5, 13)), descended);
}

/// Nodes 1 and 2 reach every node at the first level and stop there; 0 and 3 do not reach each other. At the
/// second level of node 0 the span of node 3 is left, and only nodes 0 and 3 have that level at all.
#[test]
fn asymmetric_four() {
    let distances = [[10, 20, 20, 30], [20, 10, 20, 20], [20, 20, 10, 20], [30, 20, 20, 10]];
    let logs = logs(&one_cpu_a_node(distances).machine(), NEW);
    let expected = [
        vec![
            "domain-0: span=0-2 level=NUMA",
            "groups: 0:{ span=0 }, 1:{ span=1 }, 2:{ span=2 }",
            "domain-1: span=0-3 level=NUMA",
            "groups: 0:{ span=0-2 mask=0 cap=3072 }, 3:{ span=1-3 mask=3 cap=3072 }",
        ],
        vec![
            "domain-0: span=0-3 level=NUMA",
            "groups: 1:{ span=1 }, 2:{ span=2 }, 3:{ span=3 }, 0:{ span=0 }",
        ],
        vec![
            "domain-0: span=0-3 level=NUMA",
            "groups: 2:{ span=2 }, 3:{ span=3 }, 0:{ span=0 }, 1:{ span=1 }",
        ],
        vec![
            "domain-0: span=1-3 level=NUMA",
            "groups: 3:{ span=3 }, 1:{ span=1 }, 2:{ span=2 }",
            "domain-1: span=0-3 level=NUMA",
            "groups: 3:{ span=1-3 mask=3 cap=3072 }, 0:{ span=0-2 mask=0 cap=3072 }",
        ],
    ];
    assert_eq!(logs, expected);
}

/// Distances count between nodes with online CPUs only: of the ring's nodes 0, 1 and 3, the pair 1 and 3 is 30
/// apart, so node 0 spans them at 20 and the others take two levels.
#[test]
fn offline_node_is_left_out() {
    let machine = one_cpu_a_node(RING).machine().with_online("0-1,3".parse().unwrap()).unwrap();
    let logs = logs(&machine, NEW);
    assert_eq!(logs[0].len(), 2);
    let expected = [
        "domain-0: span=0-1 level=NUMA",
        "groups: 1:{ span=1 }, 0:{ span=0 }",
        "domain-1: span=0-1,3 level=NUMA",
        "groups: 1:{ span=0-1 mask=1 cap=2048 }, 3:{ span=0,3 mask=3 cap=2048 }",
    ];
    assert_eq!(logs[1], expected);
    assert_eq!(logs[2], [""; 0]);
}

/// The offline node brings a distance of its own, 20, which makes no level: SMT, PKG, NODE, and one NUMA.
#[test]
fn distance_of_an_offline_node_makes_no_level() {
    let distances = [[10, 40, 20], [40, 10, 20], [20, 20, 10]];
    let machine = one_cpu_a_node(distances).machine();
    let machine = machine.with_online("0-1".parse().unwrap()).unwrap();
    let domains = build(&machine, &Kernel::new(NEW)).unwrap();
    let chain = &domains.by_cpu[0];
    assert_eq!((chain.len(), chain[0].level, chain[0].name), (1, 3, "NUMA"));
}

/// powerpc sets the reclaim distance to 10, so no NUMA level there balances fork or exec or pulls wake-ups.
#[test]
fn numa_levels_of_powerpc_balance_new_idle_only() {
    let domains = build(&one_cpu_a_node(RING).machine(), &Kernel::new(NEW)).unwrap();
    let expected = SdFlags::BALANCE_NEWIDLE | SdFlags::SERIALIZE | SdFlags::OVERLAP | SdFlags::NUMA;
    for domain in domains.by_cpu.iter().flatten() {
        assert_eq!(domain.flags, expected);
        assert_eq!(domain.cache_nice_tries, 2);
    }
    // SMT, PKG and NODE lie below and have degenerated.
    let levels: Vec<usize> = domains.by_cpu[0].iter().map(|d| d.level).collect();
    assert_eq!(levels, [3, 4]);
}
