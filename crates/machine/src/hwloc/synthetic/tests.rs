use crate::cpuset::CpuSet;
use crate::hwloc::read_synthetic;
use crate::model::{CacheKind, Machine};
use proptest::prelude::*;

fn read(spec: &str) -> Machine {
    read_synthetic(spec).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

/// CPUs of each node.
fn node_lists(machine: &Machine) -> Vec<String> {
    machine.nodes.iter().map(|n| n.cpus.to_string()).collect()
}

#[test]
fn types_and_sizes() {
    let m = read("pack:2 numa:2(memory=4GiB) l3:1(size=12MB) l1i:2 core:1 pu:2");
    assert_eq!((m.cpus.len(), m.online.clone()), (16, CpuSet::first_n(16)));
    assert_eq!(node_lists(&m), ["0-3", "4-7", "8-11", "12-15"]);
    assert_eq!(m.nodes[3].memory_kib, Some(4 << 20));
    assert_eq!(m.package_cpus(9).to_string(), "8-15");
    let levels: Vec<_> = m.caches.iter().map(|c| (c.level, c.kind, c.size_kib)).collect();
    assert_eq!(levels[0], (1, CacheKind::Instruction, Some(32)));
    assert_eq!((levels[8], levels.len()), ((3, CacheKind::Unified, Some(11718)), 12));
}

#[test]
fn numbers_alone_get_the_usual_types() {
    let m = read("2 3 4 5 6");
    assert_eq!((m.cpus.len(), m.nodes.len(), m.cores().len()), (720, 6, 120));
    assert_eq!((m.caches.len(), m.caches[0].level, m.caches[0].cpus.len()), (24, 2, 30));
    assert_eq!(read("4").nodes.len(), 1);
}

#[test]
fn attached_nodes_beside_levels() {
    let m = read("package:2 [numa] [numa(memory=1GB)] core:2 pu:1");
    assert_eq!(node_lists(&m), ["0-1", "", "2-3", ""]);
    assert_eq!(m.nodes[1].memory_kib, Some(976_562));
    let m = read("[numa] package:2 [numa] core:2 pu:1");
    assert_eq!(node_lists(&m), ["0-1", "2-3", ""]);
    let m = read("package:2 [numa(indexes=3,2,1,0)] [numa] core:2 pu:1");
    assert_eq!(node_lists(&m), ["2-3", "", "0-1", ""]);
}

#[test]
fn indexes_interleave() {
    let list = |spec: &str| {
        let m = read(spec);
        m.cores()
            .iter()
            .map(|&core| {
                let first = m.cpus.iter().position(|c| c.core == core).unwrap();
                m.core_cpus(first).to_string()
            })
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(list("core:2 pu:2(indexes=0,2,1,3)"), "0,2 1,3");
    assert_eq!(list("core:4 pu:2(indexes=2*4:1*2)"), "0,4 1,5 2,6 3,7");
    assert_eq!(list("core:4 pu:2(indexes=core:pu)"), "0,4 1,5 2,6 3,7");
    assert_eq!(list("pack:2 core:2 pu:2(indexes=pack:core)"), "0,4 1,5 2,6 3,7");
    assert_eq!(list("core:2 pu:2(indexes=0,9,1,3)"), "0,9 1,3 2 4 5 6 7 8");
}

#[test]
fn errors_name_the_place() {
    for (spec, wanted) in [
        ("", "character 1: found no level"),
        ("core:0 pu:1", "character 6: found `0`, expected a number from 1"),
        ("moon:2 pu:1", "character 1: found `moon`, expected package, die"),
        ("core 2", "found `core`, expected `core:` and a number"),
        ("core:2", "found a last level of another type"),
        ("core:2 3 pu:2", "found levels with and without a type"),
        ("core:2 core:2 pu:1", "several levels of type Core"),
        ("numa:2 [numa] pu:2", "found NUMA nodes both"),
        ("core:8193 pu:1", "found 1 times 8193 objects of a level, expected 8192 at most"),
        ("core:99999999999 pu:99999999999", "8192 at most"),
        ("core:99999999999999999999 pu:1", "expected a number from 1"),
        ("[l3] pu:2", "found `[l3`"),
        ("[numa pu:2", "found `numa pu:2`, expected package"),
        ("[numa(memory=1GB)", "expected a closing `]`"),
        ("pu:2(indexes=0,1", "expected a closing `)`"),
        ("core:2(size=3) pu:1", "found `size=3`, expected memory=…"),
        ("l2:2(size=3XB) pu:1", "found `3XB`, expected a size"),
        ("l2:2(size=99999999TiB) pu:1", "expected a size below 2^64"),
        ("pu:4(indexes=0,1,2)", "found indexes `0,1,2`, expected 4 numbers"),
        ("pu:2(indexes=0,0)", "objects of type PU: found one of CPUs 0"),
        ("pu:2(indexes=0,8192)", "found PU 8192"),
        ("pu:4(indexes=3*2)", "expected loops that give each number below 4 once"),
        ("pu:4(indexes=2*0)", "expected step*count"),
        ("pack:2 pu:2(indexes=core)", "expected types that are levels"),
        ("pack:2 pu:2(indexes=pack:pack)", "expected each type once"),
        ("pack:2 pu:2(indexes=0,1,2,3 indexes=0,1,2,3)", "each attribute once"),
        ("l2:2 l2:2 pu:1", "objects of type L2Cache: found one of"),
    ] {
        let error = read_synthetic(spec).unwrap_err().to_string();
        assert!(
            error.starts_with("synthetic string: ") && error.contains(wanted),
            "{spec}: {error}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_is_an_error_or_a_machine(
        spec in "(\\(?[0-9a-z:*=,\\[\\] ()]{0,60})|.{0,40}",
        typed in "((pack|numa|die|l3|l2|l1d|group|core):[0-9]{1,2}(\\(indexes=[a-z0-9:*,]{0,8}\\))? ){0,5}pu:[1-4](\\(indexes=[a-z0-9:*,]{0,8}\\))?",
    ) {
        let _ = read_synthetic(&spec);
        let _ = read_synthetic(&typed);
    }
}
