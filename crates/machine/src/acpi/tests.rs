use super::testing::*;
use super::*;
use crate::resolve;
use proptest::prelude::*;

/// Two packages of two clusters of two cores, an L1 a core and an L2 a cluster.
fn pptt() -> Vec<u8> {
    let mut t = Pptt::default();
    let l2 = t.add(cache(0, 1 << 20, 2));
    let (l1d, l1i) = (t.add(cache(0, 64 << 10, 0)), t.add(cache(0, 64 << 10, 1)));
    for package in 0..2 {
        let parent = t.add(processor(1 | 2, 0, package, &[]));
        for cluster in 0..2 {
            let parent = t.add(processor(0, parent, 0, &[l2]));
            for core in 0..2 {
                let uid = 4 * package + 2 * cluster + core;
                t.add(processor(0xa, parent, uid, &[l1d, l1i]));
            }
        }
    }
    t.table(2)
}

fn tables() -> Vec<(&'static str, Vec<u8>)> {
    let mut affinity: Vec<_> = (0..8).map(|uid| gicc_affinity(uid / 4, uid)).collect();
    affinity.extend((0..2).map(|domain| memory_affinity(domain, 1 << 30, 1)));
    vec![
        ("APIC", giccs(8)),
        ("PPTT", pptt()),
        ("SRAT", srat(3, &affinity)),
        ("SLIT", slit(2, &[10, 12, 12, 10])),
    ]
}

/// Reads `tables` from memory.
fn read_made(tables: &[(&str, Vec<u8>)]) -> Result<Machine, String> {
    let tables: Vec<(&str, &[u8])> = tables.iter().map(|(n, b)| (*n, b.as_slice())).collect();
    read_tables(&tables, "made").map_err(|e| e.to_string())
}

#[test]
fn four_tables_give_a_machine() {
    let machine = read_made(&tables()).unwrap();
    assert_eq!((machine.arch, machine.cpus.len(), machine.online.len()), (Arch::Arm64, 8, 8));
    let cpu = Cpu {
        hw_id: 5,
        core: 5,
        thread: 0,
        cluster: Some(4),
        die: 4,
        package: 1,
        node: 1,
        ids: OsIds {
            core: Some(5),
            cluster: Some(machine.cpus[4].ids.cluster.unwrap()),
            ..OsIds::default()
        },
        capacity: None,
    };
    assert_eq!(machine.cpus[5], cpu);
    assert_eq!(machine.caches.len(), 8 + 8 + 4);
    assert_eq!(machine.caches[16].cpus.to_string(), "0-1");
    let nodes: Vec<_> = machine.nodes.iter().map(|n| (n.id, n.cpus.to_string())).collect();
    assert_eq!(nodes, [(0, "0-3".to_string()), (1, "4-7".to_string())]);
    assert_eq!(machine.nodes[0].distances, [10, 12]);
    assert_eq!(machine.nodes[1].memory_kib, Some(1 << 20));
    assert_eq!(machine.unknown.len(), 3, "{:?}", machine.unknown);
}

#[test]
fn threads_count_from_0_in_their_core() {
    let mut t = Pptt::default();
    let package = t.add(processor(1, 0, 0, &[]));
    let cores = [0, 1].map(|id| t.add(processor(0, package, id, &[])));
    for uid in 0..4 {
        t.add(processor(0xe, cores[uid % 2], uid as u32, &[]));
    }
    let machine = read_made(&[("APIC", giccs(4)), ("PPTT", t.table(2))]).unwrap();
    let threads: Vec<_> = machine.cpus.iter().map(|c| (c.core, c.thread)).collect();
    assert_eq!(threads, [(0, 0), (1, 0), (0, 1), (1, 1)]);
    assert!(machine.unknown.iter().any(|u| u.starts_with("Caches of CPUs 0-3: the PPTT")));
}

#[test]
fn without_pptt_each_cpu_is_a_core_and_the_machine_says_so() {
    let mut arm = tables();
    arm.remove(1);
    let machine = read_made(&arm).unwrap();
    assert_eq!(machine.cores().len(), 8);
    assert_eq!((machine.cpus[3].package, machine.cpus[4].package), (0, 1));
    assert!(machine.unknown.iter().any(|u| u.contains("the NUMA node stands in for the package")));

    let apics = madt(&[lapic(0, 0, 1), lapic(1, 2, 1)]);
    let entries = [lapic_affinity(0, 0), lapic_affinity(1, 2), memory_affinity(0, 2048, 1)];
    let x86 = read_made(&[("APIC", apics), ("SRAT", srat(1, &entries))]).unwrap();
    assert_eq!((x86.arch, x86.cpus[1].package, x86.cpus[1].node), (Arch::X86, 0, 1));
    assert_eq!((x86.nodes[0].memory_kib, x86.nodes[1].memory_kib), (Some(2), Some(0)));
    assert_eq!(x86.nodes[1].distances, [20, 10]);
    assert!(x86.unknown.iter().any(|u| u.contains("package 0 holds all")));
    assert!(x86.unknown.iter().any(|u| u.starts_with("Distances of NUMA nodes: there is no SLIT")));
}

#[test]
fn domains_without_cpu_and_memory_are_no_nodes_and_keep_their_number() {
    let entries = [
        gicc_affinity(0, 70),
        gicc_affinity(2, 1),
        memory_affinity(1, 1024, 1),
        memory_affinity(3, 1024, 3),
    ];
    let distances = [10, 20, 30, 20, 10, 40, 31, 41, 10];
    let tables = [
        ("APIC", madt(&[gicc(1, 0, 1)])),
        ("SRAT", srat(3, &entries)),
        ("SLIT", slit(3, &distances)),
    ];
    let machine = read_made(&tables).unwrap();
    let nodes: Vec<_> = machine.nodes.iter().map(|n| (n.id, n.distances.clone())).collect();
    assert_eq!(nodes, [(1, vec![10, 41]), (2, vec![40, 10])]);
    assert!(machine.unknown.iter().any(|u| u.contains("ranges for hot-plugging are left out")));
}

#[test]
fn cpus_the_srat_leaves_out_go_to_node_0() {
    let entries = [gicc_affinity(4, 1), memory_affinity(4, 1024, 1)];
    let machine = read_made(&[("APIC", giccs(2)), ("SRAT", srat(3, &entries))]).unwrap();
    assert_eq!(machine.nodes[0].cpus.to_string(), "0-1");
    assert!(machine.unknown.iter().any(|u| u.starts_with("NUMA node of CPUs 0: the SRAT")));
}

#[test]
fn a_srat_without_memory_makes_no_nodes() {
    let entries = [gicc_affinity(0, 0), gicc_affinity(1, 1)];
    let machine = read_made(&[("APIC", giccs(2)), ("SRAT", srat(3, &entries))]).unwrap();
    assert_eq!(machine.nodes.len(), 1);
    assert!(machine.unknown.iter().any(|u| u.contains("no SRAT names any with memory")));
}

#[test]
fn tables_behind_one_another_are_the_tables() {
    let dir = directory(&tables());
    let mut of_dir = read(dir.path()).unwrap();
    let file: Vec<u8> = tables().into_iter().rev().flat_map(|(_, bytes)| bytes).collect();
    let parts: Vec<(&str, &[u8])> =
        split(&file, "dump").unwrap().into_iter().map(|part| ("dump", part)).collect();
    let of_dump = read_tables(&parts, "dump").unwrap();
    assert_eq!(of_dump.title, "8 CPUs, from ACPI tables in dump");
    (of_dir.name, of_dir.title) = (of_dump.name.clone(), of_dump.title.clone());
    assert_eq!(of_dir, of_dump);

    let twice = [parts.clone(), parts].concat();
    let error = read_tables(&twice, "dump").unwrap_err().to_string();
    assert_eq!(error, "dump: offset 0x0: found a second SLIT, expected each table once");
    let cut = split(&file[..file.len() - 1], "dump").unwrap_err().to_string();
    assert!(cut.contains("expected a table of 36 to"), "{cut}");
    assert!(split(&[0; 7], "dump").unwrap_err().to_string().contains("offset 0x0: found 7 bytes"));
    assert!(split(&[0; 64], "dump").unwrap_err().to_string().contains("a table of 0 bytes"));
}

#[test]
fn seeds_for_fuzzing_are_machines() {
    let apics = madt(&[lapic(0, 0, 1), lapic(1, 2, 1), x2apic(2, 0x1000, 1)]);
    let entries = [
        lapic_affinity(0, 0),
        lapic_affinity(1, 2),
        x2apic_affinity(1, 0x1000),
        memory_affinity(0, 2048, 1),
        memory_affinity(1, 2048, 1),
    ];
    let x86 =
        vec![("APIC", apics), ("SRAT", srat(3, &entries)), ("SLIT", slit(2, &[10, 21, 21, 10]))];
    let lone = vec![("APIC", giccs(2))];
    for (name, tables) in [("arm64", tables()), ("x86", x86), ("madt", lone)] {
        read_made(&tables).unwrap();
        let dump: Vec<u8> = tables.into_iter().flat_map(|(_, bytes)| bytes).collect();
        crate::devicetree::testing::seed("acpi", name, &dump);
    }
}

#[test]
fn errors_name_the_file() {
    let dir = directory(&[("PPTT", pptt())]);
    assert_eq!(
        read(dir.path()).unwrap_err().to_string(),
        format!("{}: found no file APIC, expected the MADT", dir.path().display())
    );
    for broken in 0..4 {
        let mut tables = tables();
        tables[broken].1[9] ^= 1;
        let (name, dir) = (tables[broken].0, directory(&tables));
        let error = resolve(dir.path().to_str().unwrap()).unwrap_err().to_string();
        let place = dir.path().join(name);
        assert!(error.starts_with(&format!("{}: offset 0x9: found", place.display())), "{error}");
    }
    let dir = directory(&[]);
    std::fs::create_dir(dir.path().join("APIC")).unwrap();
    let error = read(dir.path()).unwrap_err().to_string();
    assert!(error.contains("expected a readable file"), "{error}");
}

/// Reads `tables`; whatever machine comes out holds together.
fn reads_or_refuses(tables: &[(&str, Vec<u8>)]) {
    let Ok(machine) = read_made(tables) else { return };
    let all: usize = machine.nodes.iter().map(|n| n.cpus.len()).sum();
    assert_eq!(all, machine.cpus.len());
    assert!(machine.nodes.iter().all(|n| n.distances.len() == machine.nodes.len()));
    assert!(machine.caches.iter().all(|c| c.cpus.is_subset(&machine.possible())));
}

fn small_or_any() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(0u32), 8 => 0u32..16, 4 => (0u32..12).prop_map(|i| 36 + 20 * i), 1 => any::<u32>()]
}

proptest! {
    #[test]
    fn arbitrary_dumps_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(parts) = split(&bytes, "dump") {
            prop_assert_eq!(parts.concat(), bytes);
        }
    }

    #[test]
    fn arbitrary_tables_never_panic(
        which in 0usize..4,
        revision in 0u8..4,
        body in prop::collection::vec(any::<u8>(), 0..256),
        raw in any::<bool>(),
    ) {
        let mut tables = tables();
        let name = tables[which].0;
        tables[which].1 = if raw { body } else { sealed(name, revision, &body) };
        reads_or_refuses(&tables);
    }

    #[test]
    fn mutated_tables_never_panic(
        which in 0usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut tables = tables();
        let (name, bytes) = (tables[which].0, tables[which].1.split_off(36));
        let mut body = bytes;
        changes.iter().for_each(|(at, value)| { let at = at.index(body.len()); body[at] = *value; });
        if let Some(cut) = cut {
            body.truncate(cut.index(body.len()));
        }
        tables[which].1 = sealed(name, 2, &body);
        reads_or_refuses(&tables);
    }

    #[test]
    fn arbitrary_hierarchies_terminate(
        nodes in prop::collection::vec(
            (0u32..16, small_or_any(), 0u32..4, prop::collection::vec(small_or_any(), 0..3)), 1..12),
        caches in prop::collection::vec((small_or_any(), 0u32..4, 0u8..4), 0..6),
        revision in 1u8..4,
    ) {
        let mut t = Pptt::default();
        for (next, kib, kind) in caches {
            t.add(cache(next, kib << 10, kind));
        }
        for (flags, parent, id, resources) in nodes {
            t.add(processor(flags, parent, id, &resources));
        }
        reads_or_refuses(&[("APIC", giccs(3)), ("PPTT", t.table(revision))]);
    }
}
