//! CPUs of different capacity, worked out by hand from the kernel's rules:
//! * from 4.20 on the level at which every CPU sees the highest capacity has `ASYM_CPUCAPACITY`, from 5.10 on those
//!   above it too; the level below does not prefer siblings;
//! * from 5.14 on each domain goes by its own CPUs, and has the full flag where it sees every capacity;
//! * before 5.7 such a domain and those below balance on wake-up.

mod machines;

use kernel::{Domains, Kernel, SdFlags, build, debugfs, log};
use machine::{Arch, Machine};
use machines::Shape;

const ASYM: SdFlags = SdFlags::ASYM_CPUCAPACITY;
const FULL: SdFlags = SdFlags::ASYM_CPUCAPACITY_FULL;

/// Cores of one thread that share a last-level cache by `cores_an_l2`, with these capacities.
fn cores(cores_an_l2: usize, capacities: &[Option<u32>]) -> Machine {
    let shape = Shape {
        distances: vec![vec![10]],
        cores_a_node: capacities.len(),
        threads_a_core: 1,
        cores_an_l2,
        ..Shape::default()
    };
    let mut machine = Machine { arch: Arch::Arm64, ..shape.machine() };
    for (cpu, &capacity) in machine.cpus.iter_mut().zip(capacities) {
        cpu.capacity = capacity;
    }
    machine
}

/// Four small cores and four large ones, each four with a cache of their own.
fn big_little() -> Machine {
    cores(4, &[[Some(446); 4], [Some(1024); 4]].concat())
}

fn built(machine: &Machine, version: &str) -> Domains {
    build(machine, &Kernel::new(version.parse().unwrap())).unwrap()
}

/// Flags of interest of each of `cpu`'s domains.
fn flags(domains: &Domains, cpu: usize, of: SdFlags) -> Vec<(&'static str, SdFlags)> {
    domains.by_cpu[cpu].iter().map(|d| (d.name, d.flags & of)).collect()
}

#[test]
fn the_level_that_sees_both_has_the_flag() {
    let of = |version| flags(&built(&big_little(), version), 0, ASYM | FULL);
    let none = SdFlags::empty();
    assert_eq!(of("4.19"), [("MC", none), ("DIE", none)]);
    assert_eq!(of("4.20"), [("MC", none), ("DIE", ASYM)]);
    assert_eq!(of("5.13"), [("MC", none), ("DIE", ASYM)]);
    assert_eq!(of("5.14"), [("MC", none), ("DIE", ASYM | FULL)]);
    assert_eq!(of("6.12"), [("MC", none), ("PKG", ASYM | FULL)]);
}

#[test]
fn the_level_below_does_not_prefer_siblings() {
    let of = |version| flags(&built(&big_little(), version), 5, SdFlags::PREFER_SIBLING);
    let prefer = SdFlags::PREFER_SIBLING;
    assert_eq!(of("4.19"), [("MC", prefer), ("DIE", prefer)]);
    for version in ["4.20", "5.9", "5.14"] {
        assert_eq!(of(version), [("MC", SdFlags::empty()), ("DIE", prefer)], "{version}");
    }
    let alike = built(&cores(4, &[Some(1024); 8]), "6.12");
    assert_eq!(flags(&alike, 5, prefer), [("MC", prefer), ("PKG", prefer)]);
}

#[test]
fn wake_ups_balance_before_5_7() {
    let of = |version| flags(&built(&big_little(), version), 0, SdFlags::BALANCE_WAKE);
    let wake = SdFlags::BALANCE_WAKE;
    assert_eq!(of("4.19"), [("MC", SdFlags::empty()), ("DIE", SdFlags::empty())]);
    assert_eq!(of("5.6"), [("MC", wake), ("DIE", wake)]);
    assert_eq!(of("5.7"), [("MC", SdFlags::empty()), ("DIE", SdFlags::empty())]);
}

/// One node has small and middle cores, the other large ones. CPU 0 sees middle at MC and large at NUMA.
#[test]
fn three_capacities_on_two_nodes() {
    let shape = Shape {
        distances: vec![vec![10, 20], vec![20, 10]],
        cores_a_node: 4,
        threads_a_core: 1,
        cores_an_l2: 4,
        ..Shape::default()
    };
    let mut machine = Machine { arch: Arch::Arm64, ..shape.machine() };
    for (i, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.capacity = Some([300, 300, 600, 600, 1024, 1024, 1024, 1024][i]);
    }
    let of = |version, cpu| flags(&built(&machine, version), cpu, ASYM | FULL);
    let none = SdFlags::empty();
    for version in ["5.9", "5.13"] {
        assert_eq!(of(version, 0), [("MC", none), ("NUMA", ASYM)], "{version}");
    }
    assert_eq!(of("5.14", 0), [("MC", ASYM), ("NUMA", ASYM | FULL)]);
    assert_eq!(of("5.14", 4), [("MC", none), ("NUMA", ASYM | FULL)]);
    // With the large node offline, MC sees all there is.
    let small = machine.with_online("0-3".parse().unwrap()).unwrap();
    assert_eq!(flags(&built(&small, "5.14"), 0, ASYM | FULL), [("MC", ASYM | FULL)]);
}

/// Two nodes, each with a small and a large core: DIE sees both. Levels above it have the flag from 5.10 on.
#[test]
fn the_flag_goes_upwards_from_5_10_on() {
    let shape = Shape {
        distances: vec![vec![10, 20], vec![20, 10]],
        cores_a_node: 2,
        threads_a_core: 1,
        ..Shape::default()
    };
    let mut machine = Machine { arch: Arch::Arm64, ..shape.machine() };
    for (i, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.capacity = Some([512, 1024][i % 2]);
    }
    let of = |version| flags(&built(&machine, version), 0, ASYM);
    assert_eq!(of("5.9"), [("MC", ASYM), ("NUMA", SdFlags::empty())]);
    assert_eq!(of("5.10"), [("MC", ASYM), ("NUMA", ASYM)]);
}

#[test]
fn groups_add_up_and_the_log_names_the_largest() {
    let domains = built(&big_little(), "6.1");
    let log = log::cpu_log(&domains.by_cpu[0], 0, usize::MAX);
    let expected = "\
CPU0 attaching sched-domain(s):
 domain-0: span=0-3 level=MC
  groups: 0:{ span=0 cap=446 }, 1:{ span=1 cap=446 }, 2:{ span=2 cap=446 }, 3:{ span=3 cap=446 }
  domain-1: span=0-7 level=DIE
   groups: 0:{ span=0-3 cap=1784 }, 4:{ span=4-7 cap=4096 }
";
    assert_eq!(log, expected);
    let small = big_little().with_online("0-3".parse().unwrap()).unwrap();
    let version = "6.1".parse().unwrap();
    let log = log::log(&built(&small, "6.1"), version);
    assert!(log.ends_with("root domain span: 0-3 (max cpu_capacity = 446)\n"), "{log}");
}

#[test]
fn flags_stand_in_the_order_of_their_bits() {
    let text = debugfs::debugfs(&built(&big_little(), "6.12"), "6.12".parse().unwrap());
    let flags = "cpu0/domain1/flags: SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE \
                 SD_ASYM_CPUCAPACITY SD_ASYM_CPUCAPACITY_FULL SD_PREFER_SIBLING \n";
    assert!(text.contains(flags), "{text}");
}

/// Firmware's values count where every online CPU has one. A CPU that is offline need not.
#[test]
fn all_or_nothing() {
    let mut capacities = [[Some(446); 4], [Some(1024); 4]].concat();
    capacities[7] = None;
    let machine = cores(4, &capacities);
    assert_eq!(built(&machine, "6.12").capacity, [1024; 8]);
    let machine = machine.with_online("0-6".parse().unwrap()).unwrap();
    assert_eq!(built(&machine, "6.12").capacity, [446, 446, 446, 446, 1024, 1024, 1024, 0]);
}

#[test]
fn x86_has_capacities_from_6_12_on_without_smt_and_powerpc_has_none() {
    let x86 = |version| built(&Machine { arch: Arch::X86, ..big_little() }, version).capacity[0];
    assert_eq!((x86("6.11"), x86("6.12")), (1024, 446));
    let shape =
        Shape { distances: vec![vec![10]], cores_a_node: 2, threads_a_core: 2, ..Shape::default() };
    let mut smt = Machine { arch: Arch::X86, ..shape.machine() };
    smt.cpus.iter_mut().for_each(|c| c.capacity = Some(if c.core == 0 { 1024 } else { 700 }));
    assert_eq!(built(&smt, "6.12").capacity[2], 1024);
    assert_eq!(built(&smt.with_smt(1).unwrap(), "6.12").capacity[2], 700);
    let power = Machine { arch: Arch::Powerpc, ..big_little() };
    assert_eq!(built(&power, "6.12").capacity[0], 1024);
}
