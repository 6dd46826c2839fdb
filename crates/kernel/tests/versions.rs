//! What changes with the release: the last release before a change and the first with it.

mod machines;

use kernel::{Domain, Domains, Kernel, MechanismId, SdFlags, Version, build, debugfs, log};
use machine::{Cache, CacheKind, Machine, Origin};
use machines::Shape;

/// Two nodes of big cores of two small cores of four threads.
fn big_cores(cores_a_node: usize) -> Machine {
    let distances = vec![vec![10, 40], vec![40, 10]];
    let threads_a_core = 8;
    Shape { distances, cores_a_node, threads_a_core, small_cores: 2, ..Shape::default() }.machine()
}

fn built(version: &str) -> (Domains, Version) {
    let version = version.parse().unwrap();
    (build(&big_cores(2), &Kernel::new(version)).unwrap(), version)
}

/// CPU 0's domain called `name`.
fn domain(version: &str, name: &str) -> Domain {
    built(version).0.by_cpu[0].iter().find(|d| d.name == name).unwrap().clone()
}

fn shows(version: &str, file: &str) -> Option<String> {
    let (domains, version) = built(version);
    let text = debugfs::debugfs(&domains, version);
    let line = text.lines().find_map(|l| l.strip_prefix(&format!("{file}: ")));
    line.map(String::from)
}

#[test]
fn levels() {
    let names =
        |version| -> Vec<&str> { built(version).0.by_cpu[0].iter().map(|d| d.name).collect() };
    assert_eq!(names("4.19"), ["SMT", "DIE", "NUMA"]);
    assert_eq!(names("4.20"), ["SMT", "CACHE", "DIE", "NUMA"]);
    assert_eq!(names("6.6"), ["SMT", "CACHE", "DIE", "NUMA"]);
    assert_eq!(names("6.7"), ["SMT", "CACHE", "PKG", "NUMA"]);
}

#[test]
fn capacity_of_a_thread() {
    assert_eq!(built("4.19").0.capacity[0], 1178 / 8);
    assert_eq!(built("4.20").0.capacity[0], 1178 / 4);
    assert_eq!(built("5.0").0.capacity[0], 1024);
}

#[test]
fn threads_of_a_core() {
    assert_eq!(built("5.8").0.smt_mask[0].to_string(), "0-7");
    assert_eq!(built("5.9").0.smt_mask[0].to_string(), "0,2,4,6");
}

#[test]
fn thresholds() {
    let of = |version, name| {
        let d = domain(version, name);
        (d.imbalance_pct, d.busy_factor, d.cache_nice_tries, d.busy_idx, d.idle_idx)
    };
    assert_eq!(of("5.9", "SMT"), (110, 32, 0, 0, 0));
    assert_eq!(of("5.9", "CACHE"), (117, 32, 1, 2, 0));
    assert_eq!(of("5.9", "DIE"), (125, 32, 1, 2, 1));
    assert_eq!(of("5.9", "NUMA"), (125, 32, 2, 3, 2));
    assert_eq!(of("5.10", "SMT"), (110, 16, 0, 0, 0));
    assert_eq!(of("5.10", "CACHE"), (117, 16, 1, 2, 0));
    assert_eq!(of("5.10", "DIE"), (117, 16, 1, 2, 1));
    assert_eq!(of("5.10", "NUMA"), (117, 16, 2, 3, 2));
    let smt = domain("6.12", "SMT");
    assert_eq!((smt.min_interval_ms, smt.max_interval_ms), (4, 8));
}

/// Every level but NUMA prefers siblings, in every release that is modelled.
#[test]
fn levels_that_prefer_siblings() {
    for version in ["4.18", "6.12"] {
        let kernel = Kernel::new(version.parse().unwrap())
            .with(MechanismId::SmallCoreSmt, true)
            .with(MechanismId::BigCoreCache, true);
        let chain = build(&big_cores(2), &kernel).unwrap().by_cpu[0].clone();
        let prefer: Vec<bool> =
            chain.iter().map(|d| d.flags.contains(SdFlags::PREFER_SIBLING)).collect();
        assert_eq!(prefer, [true, true, true, false], "{version}");
    }
}

/// Cores that point at one L2 cache node share a CACHE domain in every release.
#[test]
fn cores_that_share_an_l2() {
    let (distances, threads_a_core) = (vec![vec![10]], 4);
    let shape = Shape { distances, cores_a_node: 4, threads_a_core, ..Shape::default() };
    let machine = Shape { cores_an_l2: 2, ..shape }.machine();
    for version in ["4.18", "6.12"] {
        let domains = build(&machine, &Kernel::new(version.parse().unwrap())).unwrap();
        let spans = domains.by_cpu[9].iter().map(|d| format!("{} {}", d.name, d.span));
        let top = if version == "4.18" { "DIE 0-15" } else { "PKG 0-15" };
        assert_eq!(spans.collect::<Vec<_>>(), ["SMT 8-11", "CACHE 8-15", top]);
        assert_eq!(domains.llc(9).to_string(), "8-15");
    }
}

/// A level above a removed one: its groups keep the removed level's flags before 6.6. With one core a node, PKG
/// spans what CACHE spans and goes; NUMA's own group then stands for CACHE.
#[test]
fn group_flags_follow_the_level_that_stays() {
    let machine = big_cores(1);
    let group = |version: &str| {
        let domains = build(&machine, &Kernel::new(version.parse().unwrap())).unwrap();
        let top = domains.by_cpu[0].last().unwrap();
        assert_eq!((top.name, top.level), ("NUMA", 4));
        top.groups[0].flags.contains(SdFlags::SHARE_LLC)
    };
    assert!(!group("6.5"));
    assert!(group("6.6"));
}

/// SMT degenerates where every core has one thread online; CACHE is the lowest level then, and its own group
/// stands for no domain. All CPUs of a ring see that, wherever the group stands.
#[test]
fn groups_of_the_lowest_level_have_no_flags() {
    let online = "0-1,8-9,16-17,24-25".parse().unwrap();
    let machine = big_cores(2).with_online(online).unwrap();
    let domains = build(&machine, &Kernel::new(Version::new(6, 12))).unwrap();
    for cpu in machine.online.iter() {
        let lowest = &domains.by_cpu[cpu][0];
        assert_eq!(lowest.name, "CACHE");
        assert!(lowest.groups.iter().all(|g| g.flags.is_empty()), "CPU {cpu}");
        assert!(!domains.by_cpu[cpu][1].groups[0].flags.is_empty(), "CPU {cpu}");
    }
}

#[test]
fn last_line_of_the_log() {
    let last = |version| {
        let (domains, version) = built(version);
        log::log(&domains, version).lines().last().map(String::from).unwrap()
    };
    assert_eq!(last("4.19"), "span: 0-31 (max cpu_capacity = 147)");
    assert_eq!(last("5.7"), "span: 0-31 (max cpu_capacity = 1024)");
    assert_eq!(last("5.8"), "root domain span: 0-31 (max cpu_capacity = 1024)");
    assert_eq!(last("6.9"), "root domain span: 0-31 (max cpu_capacity = 1024)");
    assert_eq!(last("6.10"), "root domain span: 0-31");
}

#[test]
fn files_of_debugfs() {
    assert_eq!(shows("6.5", "cpu0/domain1/groups_flags"), None);
    assert!(shows("6.6", "cpu0/domain1/groups_flags").unwrap().starts_with("SD_BALANCE_NEWIDLE "));
    assert_eq!(shows("6.9", "cpu0/domain3/level"), None);
    assert_eq!(shows("6.10", "cpu0/domain3/level").unwrap(), "4");
    let common = "SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE ";
    let flags = |version| shows(version, "cpu8/domain1/flags").unwrap();
    let old = format!("{common}SD_SHARE_PKG_RESOURCES SD_PREFER_SIBLING ");
    assert_eq!(flags("6.8"), old);
    assert_eq!(flags("6.9"), format!("{common}SD_SHARE_LLC SD_PREFER_SIBLING "));
}

#[test]
fn levels_that_do_not_fit_are_refused() {
    let mut machine = big_cores(2);
    // An L2 that two nodes share would make a CACHE domain that PKG does not hold.
    machine.caches.push(Cache {
        level: 2,
        kind: CacheKind::Unified,
        size_kib: None,
        line_bytes: None,
        ways: None,
        cpus: "8,16".parse().unwrap(),
        origin: Origin::Firmware,
    });
    let kernel = Kernel::new(Version::new(6, 12));
    let text = build(&machine, &kernel).unwrap_err().to_string();
    assert_eq!(
        text,
        "domains of machine `hand-built`: level CACHE of CPU 8: found 8-23, \
         expected the CPUs that CPU 9 has, 8-15"
    );
}

#[test]
fn asymmetric_packing_marks_smt_domains_of_powerpc_where_it_is_switched_on() {
    let machine = big_cores(2);
    let flags = |version: Version, on| {
        let kernel = Kernel::new(version).with(MechanismId::AsymPacking, on);
        let domains = build(&machine, &kernel).unwrap();
        assert!(on || domains == build(&machine, &Kernel::new(version)).unwrap());
        let text = debugfs::debugfs(&domains, version);
        let of = |m: usize| {
            let file = format!("cpu0/domain{m}/flags: ");
            text.lines().find_map(|l| l.strip_prefix(&file)).unwrap().to_string()
        };
        (of(0), of(1))
    };
    for version in [Version::new(4, 20), Version::new(6, 12)] {
        let (smt, above) = flags(version, true);
        assert!(smt.contains("SD_ASYM_PACKING "), "{smt}");
        assert!(!above.contains("SD_ASYM_PACKING"), "{above}");
        assert!(!flags(version, false).0.contains("SD_ASYM_PACKING"));
    }
}

#[test]
fn tolerated_imbalance_goes_by_llcs_from_5_18_on() {
    // Two cores of two small cores of four threads a node: the L2 is the small core's.
    let of = |version| domain(version, "NUMA").imb_numa_nr;
    assert_eq!((of("5.17"), of("5.18") > 0), (0, true));
    let node = domain("6.12", "PKG");
    let llc = domain("6.12", "CACHE");
    let llcs = node.span.len() / llc.span.len();
    assert_eq!(node.imb_numa_nr as usize, llcs);
}
