use super::*;
use crate::acpi::header::Table;
use crate::acpi::pptt;
use crate::acpi::testing::{Pptt as Builder, cache, processor};

const THREAD_LEAF: u32 = 0xe;
const LEAF: u32 = 0xa;

fn cpus(count: u32, multithreaded: bool) -> Vec<madt::Processor> {
    (0..count).map(|uid| madt::Processor { uid, hw_id: uid, multithreaded }).collect()
}

fn table(builder: &Builder, revision: u8) -> Table {
    Table::parse("PPTT", builder.table(revision), "PPTT").unwrap()
}

fn places_in(
    builder: &Builder,
    revision: u8,
    cpus: &[madt::Processor],
) -> Result<Vec<Place>, String> {
    let table = table(builder, revision);
    let pptt = pptt::read(&table).unwrap();
    places(&pptt, Arch::Arm64, cpus).map_err(|e| e.to_string())
}

fn caches_in(builder: &Builder, count: u32) -> Result<Vec<Cache>, String> {
    let table = table(builder, 2);
    let pptt = pptt::read(&table).unwrap();
    caches(&pptt, &cpus(count, false)).map(|c| c.caches).map_err(|e| e.to_string())
}

/// Level, kind, KiB and CPUs of each cache.
fn shape(caches: &[Cache]) -> Vec<(u8, CacheKind, Option<u32>, String)> {
    caches.iter().map(|c| (c.level, c.kind, c.size_kib, c.cpus.to_string())).collect()
}

#[test]
fn threads_have_their_parent_as_core_and_its_parent_as_cluster() {
    let mut t = Builder::default();
    let package = t.add(processor(1 | 2, 0, 77, &[]));
    let cluster = t.add(processor(0, package, 0, &[]));
    let core = t.add(processor(0, cluster, 0, &[]));
    t.add(processor(THREAD_LEAF, core, 0, &[]));
    t.add(processor(THREAD_LEAF, core, 1, &[]));
    let lone = t.add(processor(LEAF, cluster, 2, &[]));
    let bare = t.add(processor(LEAF, package, 3, &[]));
    let expected = [
        // Core, cluster and package; Linux's numbers of the first two.
        (core, Some(cluster), 77, Some(core), Some(cluster)),
        (core, Some(cluster), 77, Some(core), Some(cluster)),
        (lone, Some(cluster), 77, Some(2), Some(cluster)),
        // Its parent is the package, which then is the cluster too.
        (bare, Some(package), 77, Some(3), Some(77)),
    ];
    let found = places_in(&t, 2, &cpus(4, false)).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|p| (p.core as u32, p.cluster.map(|c| c as u32), p.package, p.ids.core, p.ids.cluster))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn package_is_the_nearest_marked_node_or_the_root() {
    let mut t = Builder::default();
    let root = t.add(processor(0, 0, 0, &[]));
    let package = t.add(processor(1, root, 0, &[]));
    t.add(processor(LEAF, package, 0, &[]));
    t.add(processor(LEAF, root, 1, &[]));
    t.add(processor(LEAF | 1, root, 2, &[]));
    let all = places_in(&t, 2, &cpus(3, false)).unwrap();
    assert_eq!(all.iter().map(|p| p.package).collect::<Vec<_>>(), [package, root, 2]);
    assert_eq!(
        all.iter().map(|p| p.cluster).collect::<Vec<_>>(),
        [package, root, root].map(|node| Some(node as usize))
    );
}

#[test]
fn revision_1_has_unmarked_leaves_and_leaves_threads_to_mpidr() {
    let mut t = Builder::default();
    let package = t.add(processor(1, 0, 9, &[]));
    let core = t.add(processor(0, package, 8, &[]));
    let leaf = t.add(processor(2, core, 0, &[]));
    let cores = |mt| places_in(&t, 1, &cpus(1, mt)).unwrap()[0].core;
    assert_eq!((cores(false), cores(true)), (leaf as usize, core as usize));
    // Linux looks for the cluster above the leaf even where MPIDR says that the leaf is a thread.
    let place = places_in(&t, 1, &cpus(1, true)).unwrap()[0];
    assert_eq!(place.cluster, Some(core as usize));
}

#[test]
fn says_which_processor_has_no_place() {
    let mut t = Builder::default();
    t.add(processor(LEAF, 0, 0, &[]));
    assert_eq!(
        places_in(&t, 2, &cpus(2, false)).unwrap_err(),
        "PPTT: offset 0x0: found no leaf for ACPI processor UID 1, expected one for each enabled \
         processor of the MADT"
    );
    let mut t = Builder::default();
    t.add(processor(THREAD_LEAF, 0, 0, &[]));
    assert_eq!(
        places_in(&t, 2, &cpus(1, false)).unwrap_err(),
        "PPTT: offset 0x24: found a thread without parent, expected the core as its parent"
    );
}

#[test]
fn levels_count_from_the_leaf_and_sharing_follows_the_nodes() {
    use CacheKind::{Data, Instruction, Unified};
    let mut t = Builder::default();
    let l3 = t.add(cache(0, 32 << 20, 2));
    let l2 = t.add(cache(0, 512 << 10, 2));
    let (l1d, l1i) = (t.add(cache(l2, 64 << 10, 0)), t.add(cache(l2, 32 << 10, 1)));
    let package = t.add(processor(1, 0, 0, &[l3]));
    for cpu in 0..4 {
        // CPUs name the same structures, yet each has caches of its own; the first also lists its L2.
        let own: &[u32] = if cpu == 0 { &[l1d, l1i, l2] } else { &[l1d, l1i] };
        t.add(processor(LEAF, package, cpu, own));
    }
    let found = caches_in(&t, 4).unwrap();
    let mut expected = Vec::new();
    for (level, kind, kib) in [(1, Instruction, 32), (1, Data, 64), (2, Unified, 512)] {
        expected.extend((0..4).map(|cpu| (level, kind, Some(kib), cpu.to_string())));
    }
    expected.push((3, Unified, Some(32 << 10), "0-3".to_string()));
    assert_eq!(shape(&found), expected);
    assert!(found.iter().all(|c| c.line_bytes == Some(64)));
}

#[test]
fn threads_share_the_caches_of_their_core_and_cores_those_of_their_cluster() {
    use CacheKind::{Data, Unified};
    let mut t = Builder::default();
    let (l1, l2) = (t.add(cache(0, 64 << 10, 0)), t.add(cache(0, 1 << 20, 2)));
    let package = t.add(processor(1, 0, 0, &[]));
    let cluster = t.add(processor(0, package, 0, &[l2]));
    for core in 0..2 {
        let node = t.add(processor(0, cluster, core, &[l1]));
        t.add(processor(THREAD_LEAF, node, 2 * core, &[]));
        t.add(processor(THREAD_LEAF, node, 2 * core + 1, &[]));
    }
    let expected = [
        (1, Data, Some(64), "0-1".to_string()),
        (1, Data, Some(64), "2-3".to_string()),
        (2, Unified, Some(1024), "0-3".to_string()),
    ];
    assert_eq!(shape(&caches_in(&t, 4).unwrap()), expected);
}

#[test]
fn caches_of_one_id_are_one_wherever_cpus_find_them() {
    let with_id = |id: u32| {
        let mut bytes = cache(0, 1 << 20, 2);
        bytes[1] += 4;
        bytes[4] |= 0x80;
        [bytes, id.to_le_bytes().to_vec()].concat()
    };
    let mut t = Builder::default();
    let shared = [7, 7, 8].map(|id| t.add(with_id(id)));
    for (cpu, l1) in (0..).zip(shared) {
        t.add(processor(LEAF, 0, cpu, &[l1]));
    }
    let sets = |revision| {
        let table = table(&t, revision);
        let pptt = pptt::read(&table).unwrap();
        let caches = caches(&pptt, &cpus(3, false)).unwrap().caches;
        caches.iter().map(|c| c.cpus.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(sets(3), ["0-1", "2"]);
    // Before revision 3 the field is reserved.
    assert_eq!(sets(2), ["0", "1", "2"]);
}

#[test]
fn ways_are_told_and_caches_without_type_are_a_level_but_no_cache() {
    let mut t = Builder::default();
    let l3 = t.add(cache(0, 4 << 20, 2));
    let mut untyped = cache(l3, 1 << 20, 2);
    untyped[4] &= !0x10;
    let untyped = t.add(untyped);
    let mut l1 = cache(untyped, 64 << 10, 0);
    l1[4] |= 4;
    l1[20] = 8;
    let l1 = t.add(l1);
    t.add(processor(LEAF, 0, 0, &[l1]));
    let table = table(&t, 2);
    let pptt = pptt::read(&table).unwrap();
    let found = caches(&pptt, &cpus(1, false)).unwrap();
    let shape: Vec<_> = found.caches.iter().map(|c| (c.level, c.ways)).collect();
    assert_eq!(shape, [(1, Some(8)), (3, None)]);
    assert_eq!(found.untyped, [untyped as usize].into());
}

#[test]
fn invalid_fields_of_a_cache_stay_unknown() {
    let mut t = Builder::default();
    let mut blank = cache(0, 3, 1);
    blank[4..8].copy_from_slice(&0x10u32.to_le_bytes());
    let blank = t.add(blank);
    t.add(processor(LEAF, 0, 0, &[blank]));
    let found = caches_in(&t, 1).unwrap();
    assert_eq!(shape(&found), [(1, CacheKind::Instruction, None, "0".to_string())]);
    assert_eq!(found[0].line_bytes, None);
}

#[test]
fn refuses_two_caches_of_one_level_and_type_and_endless_levels() {
    let mut t = Builder::default();
    let (a, b) = (t.add(cache(0, 1024, 0)), t.add(cache(0, 2048, 0)));
    t.add(processor(LEAF, 0, 0, &[a, b]));
    assert_eq!(
        caches_in(&t, 1).unwrap_err(),
        "PPTT: offset 0x54: found two level-1 caches of one type, at 0x24 and 0x3c, expected one for \
         each level and type"
    );
    let mut t = Builder::default();
    let first = (0..256).fold(0, |next, _| t.add(cache(next, 1024, 2)));
    t.add(processor(LEAF, 0, 0, &[first]));
    assert!(caches_in(&t, 1).unwrap_err().contains("found a cache of level 256"));
}
