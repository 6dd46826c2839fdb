use super::*;
use crate::machine_testing::{bare, big_cores, cache, node};
use machine::{CacheKind, Constant, FrequencyPolicy, Mark};
use proptest::prelude::*;

fn lines(a: &Machine, b: &Machine) -> Vec<String> {
    machine_diff(a, b).iter().map(|d| format!("{}: {}", d.part, line(d))).collect()
}

#[test]
fn names_and_what_is_unknown_do_not_count() {
    let (a, mut b) = (big_cores(), big_cores());
    b.name = "other".to_string();
    b.title = "Another".to_string();
    b.unknown.push("Nothing.".to_string());
    b.cpus.iter_mut().for_each(|c| (c.core, c.die) = (c.core + 5, c.die + 5));
    b.thread_groups.iter_mut().for_each(|tg| tg.core += 5);
    assert_eq!(machine_diff(&a, &b), []);
    assert_eq!(text(&[]), "The machines do not differ.\n");
}

#[test]
fn levels_are_compared_by_their_cpus() {
    let a = bare((0..16).map(|i| (i / 2, i % 2, 0, 0)));
    let b = bare((0..16).map(|i| (i / 4, i % 4, i / 8, 0)));
    let found = lines(&a, &b);
    for expected in [
        "packages: only in A: CPUs 0-15",
        "packages: only in B: CPUs 0-7; CPUs 8-15",
        "cores: only in A: CPUs 0-1, 2-3 to 14-15 (8 of 2 CPUs)",
        "cores: only in B: CPUs 0-3; CPUs 4-7; CPUs 8-11; CPUs 12-15",
        "CPUs: package of CPUs 8-15: 0 -> 1",
        "CPUs: position in the core of CPUs 2,6,10,14: 0 -> 2",
    ] {
        assert!(found.iter().any(|l| l == expected), "{expected}\n{found:#?}");
    }
}

#[test]
fn caches_nodes_and_constants_are_compared_by_value() {
    let (a, mut b) = (big_cores(), big_cores());
    b.caches.iter_mut().filter(|c| c.level == 1).for_each(|c| c.size_kib = Some(64));
    b.caches.retain(|c| c.level != 3);
    b.caches.push(cache(3, CacheKind::Unified, 10240, "0-15"));
    b.nodes[0].memory_kib = None;
    b.nodes.push(node(8, "", &[40, 10]));
    b.cpus[3].capacity = Some(430);
    b.policies = vec![FrequencyPolicy {
        cpus: CpuSet::first_n(16),
        driver: None,
        min_khz: 2_000_000,
        max_khz: 4_000_000,
        base_khz: None,
        available_khz: vec![],
    }];
    let constant = |value: f64| {
        let (unit, source) = ("ns".to_string(), String::new());
        Constant { value, unit, mark: Mark::Assumed, source, range: None }
    };
    let mut a = Machine { ..a };
    a.constants.set("tick", constant(1.5));
    b.constants.set("tick", constant(2.0));
    b.constants.set("wake", constant(1.0));
    let expected = [
        "CPUs: capacity of CPUs 3: not known -> 430",
        "L1i caches: size (CPUs 0,2,4,6; CPUs 1,3,5,7; CPUs 8,10,12,14; CPUs 9,11,13,15): 32 KiB -> 64 KiB",
        "L1d caches: size (CPUs 0,2,4,6; CPUs 1,3,5,7; CPUs 8,10,12,14; CPUs 9,11,13,15): 32 KiB -> 64 KiB",
        "L3 caches: only in A: CPUs 0-7",
        "L3 caches: only in B: CPUs 0-15",
        "NUMA nodes: only in B: node 8: no CPU, 16 GiB",
        "NUMA nodes: memory of node 0: 16 GiB -> not known",
        "frequency policies: only in B: CPUs 0-15",
        "constants: tick: 1.5 ns -> 2 ns",
        "constants: only in B: wake: 1 ns",
    ];
    assert_eq!(lines(&a, &b), expected);
}

#[test]
fn text_names_each_part_once() {
    let a = big_cores();
    let b = a.with_smt(4).unwrap();
    assert_eq!(text(&machine_diff(&a, &b)), "CPUs\n  online: 0-15 -> 0-3,8-11\n");
}

#[test]
fn distances_are_merged_by_change() {
    let mut a = bare((0..2).map(|i| (i, 0, i, i)));
    a.nodes = vec![node(0, "0", &[10, 20]), node(1, "1", &[20, 10])];
    let mut b = a.clone();
    b.nodes[0].distances = vec![10, 32];
    b.nodes[1].distances = vec![32, 10];
    assert_eq!(lines(&a, &b), ["distances: node 0 to 1, 1 to 0: 20 -> 32"]);
}

proptest! {
    /// A machine does not differ from itself; the other way round, the same differences turn.
    #[test]
    fn turning_the_machines_turns_the_differences(
        x in prop::collection::vec((0u32..6, 0u32..4, 0u32..3, 0u32..3), 1..24),
        y in prop::collection::vec((0u32..6, 0u32..4, 0u32..3, 0u32..3), 1..24),
    ) {
        let (a, b) = (bare(x.clone()), bare(y.clone()));
        prop_assert_eq!(machine_diff(&a, &a), vec![]);
        let (there, back) = (machine_diff(&a, &b), machine_diff(&b, &a));
        let key = |d: &Difference| (d.part.clone(), d.what.clone());
        let mut there: Vec<_> = there.iter().map(|d| (key(d), d.a.clone(), d.b.clone())).collect();
        let mut back: Vec<_> = back.iter().map(|d| (key(d), d.b.clone(), d.a.clone())).collect();
        there.sort();
        back.sort();
        prop_assert_eq!(there.is_empty(), x.len() == y.len() && machine_diff(&a, &b).is_empty());
        prop_assert_eq!(there, back);
    }
}
