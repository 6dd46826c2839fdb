use crate::devicetree::testing::{Dt, core, machine};
use crate::devicetree::{NO_OUTER_CACHES, read};
use crate::model::{CacheKind, Machine};

fn cache(name: &str, phandle: u32, kib: u32) -> Dt {
    Dt::node(name)
        .text("device_type", "cache")
        .cells("phandle", &[phandle])
        .bytes("cache-unified", &[])
        .cells("d-cache-size", &[kib * 1024])
}

/// Level, kind, size in KiB and CPUs of all caches beyond the first level.
fn outer(m: &Machine) -> Vec<(u8, CacheKind, Option<u32>, String)> {
    let outer = m.caches.iter().filter(|c| c.level > 1);
    outer.map(|c| (c.level, c.kind, c.size_kib, c.cpus.to_string())).collect()
}

fn two_cores() -> Vec<Dt> {
    vec![
        core(&[0, 1, 2, 3]).cells("l2-cache", &[0x20]),
        core(&[4, 5, 6, 7]).cells("next-level-cache", &[0x21]),
    ]
}

fn two_levels() -> Dt {
    machine(two_cores())
        .child(cache("l2-cache@0", 0x20, 512).cells("next-level-cache", &[0x30]))
        .child(cache("l2-cache@1", 0x21, 512).cells("l2-cache", &[0x30]))
        .child(cache("l3-cache@0", 0x30, 8192))
}

fn error(tree: Dt) -> String {
    read(&tree.blob(), "t.dtb").unwrap_err().to_string()
}

#[test]
fn follows_chains_upwards() {
    let m = read(&two_levels().blob(), "t.dtb").unwrap();
    let row = |level, kib, cpus: &str| (level, CacheKind::Unified, Some(kib), cpus.to_string());
    assert_eq!(outer(&m), [row(2, 512, "0-3"), row(2, 512, "4-7"), row(3, 8192, "0-7")]);
    assert!(!m.unknown.iter().any(|u| u == NO_OUTER_CACHES));
}

#[test]
fn thread_groups_divide_first_and_second_level() {
    let groups = [1, 2, 2, 0, 2, 1, 3, 2, 2, 2, 0, 2, 1, 3];
    let grouped = core(&[0, 1, 2, 3]).cells("ibm,thread-groups", &groups);
    let tree =
        machine(vec![grouped.cells("l2-cache", &[0x20]), core(&[4]).cells("l2-cache", &[0x20])])
            .child(cache("l2-cache@0", 0x20, 512));
    let m = read(&tree.blob(), "t.dtb").unwrap();
    let sets: Vec<String> = outer(&m).into_iter().map(|(.., cpus)| cpus).collect();
    assert_eq!(sets, ["0,2", "1,3", "4"]);
    let first: Vec<String> =
        m.caches.iter().filter(|c| c.kind == CacheKind::Data).map(|c| c.cpus.to_string()).collect();
    assert_eq!(first, ["0,2", "1,3", "4"]);
}

#[test]
fn says_what_the_tree_leaves_open() {
    let m = read(&machine(vec![core(&[0])]).blob(), "t.dtb").unwrap();
    assert!(m.unknown.iter().any(|u| u == NO_OUTER_CACHES), "{:?}", m.unknown);
    let tree = machine(vec![core(&[0]).cells("l2-cache", &[0x20])]).child(cache("l2@0", 0x20, 0));
    let m = read(&tree.blob(), "t.dtb").unwrap();
    assert_eq!(outer(&m), [(2, CacheKind::Unified, None, "0".to_string())]);
    assert!(
        m.unknown.iter().any(|u| u == "Size of the level-2 cache at /l2@0."),
        "{:?}",
        m.unknown
    );
    let bare = Dt::node("PowerPC,POWER9@0").text("device_type", "cpu").cells("reg", &[0]);
    let m = read(&machine(vec![bare]).blob(), "t.dtb").unwrap();
    assert!(m.unknown.iter().any(|u| u.starts_with("First-level caches")), "{:?}", m.unknown);
}

#[test]
fn an_outer_node_with_both_sizes_is_two_caches() {
    let split = Dt::node("l2@0")
        .cells("phandle", &[0x20])
        .cells("d-cache-size", &[0x80000])
        .cells("i-cache-size", &[0x40000]);
    let tree = machine(vec![core(&[0]).cells("l2-cache", &[0x20])]).child(split);
    let kinds: Vec<_> = outer(&read(&tree.blob(), "t.dtb").unwrap())
        .into_iter()
        .map(|(_, k, s, _)| (k, s))
        .collect();
    assert_eq!(kinds, [(CacheKind::Instruction, Some(256)), (CacheKind::Data, Some(512))]);
}

#[test]
fn refuses_loops_and_dangling_phandles() {
    let dangling = error(machine(two_cores()).child(cache("l2-cache@0", 0x20, 512)));
    assert_eq!(
        dangling,
        "t.dtb: /cpus/PowerPC,POWER9@4 next-level-cache: \
         found phandle 0x21, expected the phandle of a node"
    );
    let chained = |l2: Dt, l3: Dt| {
        error(machine(vec![core(&[0]).cells("l2-cache", &[0x20])]).child(l2).child(l3))
    };
    let l2 = || cache("l2@0", 0x20, 512).cells("l2-cache", &[0x30]);
    assert_eq!(
        chained(l2(), cache("l3@0", 0x30, 512).cells("l2-cache", &[0x20])),
        "t.dtb: /l3@0 l2-cache: found /l2@0, again, expected a chain of caches without a loop"
    );
    let low = chained(l2(), cache("l3@0", 0x30, 512).cells("cache-level", &[2]));
    assert!(low.contains("/l2@0 l2-cache: found /l3@0, which is not above level 2"), "{low}");
}

#[test]
fn refuses_levels_and_sizes_that_make_no_sense() {
    let cores = vec![core(&[0]).cells("l2-cache", &[0x20]), core(&[1]).cells("l2-cache", &[0x30])];
    let tree = machine(cores)
        .child(cache("l2@0", 0x20, 512).cells("l2-cache", &[0x30]))
        .child(cache("l3@0", 0x30, 512));
    assert_eq!(
        error(tree),
        "t.dtb: /l3@0: found level 3 and level 2 from /cpus/PowerPC,POWER9@1, expected one level"
    );
    let odd = error(machine(vec![core(&[0]).cells("d-cache-size", &[1000])]));
    assert_eq!(
        odd,
        "t.dtb: /cpus/PowerPC,POWER9@0 d-cache-size: found 1000 bytes, expected a multiple of 1024"
    );
}
