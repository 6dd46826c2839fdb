use super::*;
use crate::machine_testing::{bare, big_cores, cache, node};
use machine::{Cache, CacheKind, CpuSet, FrequencyPolicy, ThreadGroupProperty, ThreadGroups};
use proptest::prelude::*;

#[test]
fn draws_big_cores() {
    let mut m = big_cores();
    m.unknown.push("Firmware names no idle state.".to_string());
    let expected = "\
test: A machine (16 CPUs)
└── package 0 (CPUs 0-15)
    ├── big core 0 (CPUs 0-7)  L2 512 KiB L3 10 MiB (catalog)
    │   ├── small core (CPUs 0,2,4,6)  L1d 32 KiB L1i 32 KiB
    │   └── small core (CPUs 1,3,5,7)  L1d 32 KiB L1i 32 KiB
    └── big core 8 (CPUs 8-15)  L2 of unknown size
        ├── small core (CPUs 8,10,12,14)  L1d 32 KiB L1i 32 KiB
        └── small core (CPUs 9,11,13,15)  L1d 32 KiB L1i 32 KiB
(catalog): from published documents; a kernel on this machine cannot see it
Not known from this source:
- Firmware names no idle state.
";
    assert_eq!(machine_tree(&m), expected);
}

#[test]
fn marks_offline_threads() {
    let text = machine_tree(&big_cores().with_smt(4).unwrap());
    assert!(text.starts_with("test: A machine (16 CPUs, 8 online)\n"), "{text}");
    assert!(text.contains("── small core (CPUs 0,2,4,6; offline 4,6)  L1d"), "{text}");
    assert!(text.contains("── big core 0 (CPUs 0-7)  L2"), "{text}");
    let text = machine_tree(
        &bare([(0, 0, 0, 0), (1, 0, 0, 0)]).with_online("0".parse().unwrap()).unwrap(),
    );
    assert!(text.contains("── core 1 (CPU 1; offline 1)\n"), "{text}");
}

#[test]
fn puts_nodes_and_shared_caches_at_their_levels() {
    let mut m = bare((0..8).map(|i| (i, 0, i / 4, i / 2)));
    m.nodes = vec![
        node(0, "0-1", &[10, 12, 20, 20, 80]),
        node(1, "2-3", &[12, 10, 20, 20, 80]),
        node(2, "4-5", &[20, 20, 10, 12, 80]),
        node(3, "6-7", &[20, 20, 12, 10, 80]),
        node(8, "", &[80, 80, 80, 80, 10]),
    ];
    m.caches.push(cache(1, CacheKind::Data, 64, "7"));
    m.caches.push(cache(3, CacheKind::Unified, 16 << 10, "0-3"));
    m.caches.push(cache(3, CacheKind::Unified, 16 << 10, "4-5"));
    m.caches.push(cache(4, CacheKind::Unified, 1 << 20, "1-2"));
    let expected = "\
test: A machine (8 CPUs)
├── package 0 (CPUs 0-3)  L3 16 MiB
│   ├── node 0 (CPUs 0-1)  memory 16 GiB  distances 10 12 20 20 80
│   │   ├── core 0 (CPU 0)
│   │   └── core 1 (CPU 1)
│   └── node 1 (CPUs 2-3)  memory 16 GiB  distances 12 10 20 20 80
│       ├── core 2 (CPU 2)
│       └── core 3 (CPU 3)
├── package 1 (CPUs 4-7)
│   ├── node 2 (CPUs 4-5)  L3 16 MiB  memory 16 GiB  distances 20 20 10 12 80
│   │   ├── core 4 (CPU 4)
│   │   └── core 5 (CPU 5)
│   └── node 3 (CPUs 6-7)  memory 16 GiB  distances 20 20 12 10 80
│       ├── core 6 (CPU 6)
│       └── core 7 (CPU 7)  L1d 64 KiB
└── node 8 (no CPU)  memory 16 GiB  distances 80 80 80 80 10
Shared across the branches above:
- L4 1 GiB (CPUs 1-2)
";
    assert_eq!(machine_tree(&m), expected);
}

/// An LLC wider than a core and narrower than its package gets a branch; long lists get short.
#[test]
fn draws_cache_domains_and_shortens_lists() {
    let mut m = bare((0..64).map(|i| (i / 2 % 16 * 2 + i % 2, i / 32, i % 2, 0)));
    m.caches.push(cache(3, CacheKind::Unified, 4096, "0,2,32,34"));
    let text = machine_tree(&m);
    assert!(text.contains("├── package 0 (CPUs 0,2,4,6,... 32 in all)\n"), "{text}");
    assert!(
        text.contains("│   ├── L3 4 MiB (CPUs 0,2,32,34)\n│   │   ├── core 0 (CPUs 0,32)\n"),
        "{text}"
    );
    assert!(text.contains("│   └── 14 × core 4,6,…,30 (CPUs 4,36 6,38 … 30,62)\n"), "{text}");
}

/// Neighbours of one shape are one branch, with what is in each of them; one that differs stands alone.
#[test]
fn merges_neighbours_of_one_shape() {
    let mut m = bare((0..32).map(|i| (i % 16, i / 16, i % 16 / 8, 0)));
    for first in (0..16).step_by(2) {
        let cpus = format!("{first}-{},{}-{}", first + 1, first + 16, first + 17);
        m.caches.push(cache(3, CacheKind::Unified, 16 << 10, &cpus));
    }
    m.caches.push(cache(2, CacheKind::Unified, 512, "15,31"));
    let expected = "\
test: A machine (32 CPUs)
├── package 0 (CPUs 0-7,16-23)
│   └── 4 × L3 16 MiB (CPUs 0-1,16-17 2-3,18-19 … 6-7,22-23)
│       └── each: 2 × core 0-7 (CPUs 0,16 1,17 … 7,23)
└── package 1 (CPUs 8-15,24-31)
    ├── 3 × L3 16 MiB (CPUs 8-9,24-25 … 12-13,28-29)
    │   └── each: 2 × core 8-13 (CPUs 8,24 9,25 … 13,29)
    └── L3 16 MiB (CPUs 14-15,30-31)
        ├── core 14 (CPUs 14,30)
        └── core 15 (CPUs 15,31)  L2 512 KiB
";
    assert_eq!(machine_tree(&m), expected);
    let text = machine_tree(&m.with_smt(1).unwrap());
    let expected = "each: 2 × core 0-7 (CPUs 0,16 1,17 … 7,23; offline 16-23)\n";
    assert!(text.contains(expected), "{text}");
}

/// One group by L1 is no big core: the core is as wide as its small core.
#[test]
fn one_thread_group_is_a_plain_core() {
    let mut m = bare((0..4).map(|i| (0, i, 0, 0)));
    let groups = vec![CpuSet::first_n(4)];
    m.thread_groups.push(ThreadGroups { property: ThreadGroupProperty::L1, core: 0, groups });
    m.caches.push(cache(1, CacheKind::Data, 32, "0-3"));
    let text = machine_tree(&m);
    assert!(
        text.ends_with("└── package 0 (CPUs 0-3)\n    └── core 0 (CPUs 0-3)  L1d 32 KiB\n"),
        "{text}"
    );
}

#[test]
fn wraps_what_is_not_known() {
    let mut m = bare([(0, 0, 0, 0)]);
    m.unknown.push("word ".repeat(40));
    let text = machine_tree(&m);
    assert!(text.lines().all(|l| l.chars().count() <= WIDTH), "{text}");
    assert_eq!(text.matches("word").count(), 40);
}

proptest! {
    /// Every CPU's core and every cache shows once, whatever overlaps what.
    #[test]
    fn any_machine_is_drawn_whole(
        cpus in prop::collection::vec((0u32..6, 0u32..4, 0u32..3, 0u32..3), 0..16),
        sets in prop::collection::vec(prop::collection::vec(0usize..30, 0..8), 0..8),
    ) {
        let mut m = bare(cpus);
        m.nodes = vec![node(0, "0", &[10, 20]), node(1, "", &[20, 10])];
        for cpus in &sets {
            let cpus = cpus.iter().copied().collect();
            m.caches.push(Cache { cpus, ..cache(3, CacheKind::Unified, 77, "0") });
        }
        let groups = sets.iter().map(|s| s.iter().copied().collect()).collect();
        m.thread_groups.push(ThreadGroups { property: ThreadGroupProperty::L1, core: 1, groups });
        let text = machine_tree(&m);
        prop_assert_eq!(text.matches("L3 77 KiB").count(), sets.len());
        let cores = text.matches("── core ").count() + text.matches("── big core ").count();
        prop_assert_eq!(cores, m.cores().len());
    }
}

#[test]
fn shows_dies_clusters_capacities_and_clocks() {
    let mut m = bare((0..8).map(|i| (i, 0, 0, 0)));
    for (number, cpu) in (0..).zip(&mut m.cpus) {
        cpu.die = number / 4;
        cpu.cluster = Some(number / 2);
        cpu.capacity = Some(if number < 4 { 1024 } else { 430 });
    }
    m.smt_control = Some("notsupported".to_string());
    m.policies = ["0-3", "4-7"]
        .map(|cpus| FrequencyPolicy {
            cpus: cpus.parse().unwrap(),
            driver: Some("cppc_cpufreq".to_string()),
            min_khz: 800_000,
            max_khz: 2_400_000,
            base_khz: None,
            available_khz: vec![],
        })
        .to_vec();
    let text = machine_tree(&m);
    for expected in [
        "    ├── die 0 (CPUs 0-3)\n    │   ├── cluster 0 (CPUs 0-1)\n",
        "core 7 (CPU 7)  capacity 430\n",
        "SMT control: notsupported\nCapacities: 1024 (CPUs 0-3), 430 (CPUs 4-7)\n",
        "Clocks: 800 MHz to 2.4 GHz (cppc_cpufreq); 2 policies, CPUs 0-7\n",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

/// A die that overlaps nodes stands below the tree.
#[test]
fn what_no_tree_can_hold_stands_apart() {
    let mut m = bare((0..4).map(|i| (i, 0, 0, i / 2)));
    m.nodes = vec![node(0, "0-1", &[10, 20]), node(1, "2-3", &[20, 10])];
    m.cpus.iter_mut().zip([0, 1, 1, 0]).for_each(|(cpu, die)| cpu.die = die);
    let text = machine_tree(&m);
    assert!(text.contains("above:\n- die 0 (CPUs 0,3)\n- die 1 (CPUs 1-2)\n"), "{text}");
}
