use super::*;
use crate::cpuset::CpuSet;
use crate::model::{Arch, Cache};
use crate::testing::machines;
use proptest::prelude::*;

/// A machine of two dual-threaded cores and an offline CPU; `extra` goes behind the Machine object.
fn xml(version: &str, extra: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="{version}">
  <object type="Machine" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000005f" allowed_cpuset="0x00000007" nodeset="0x1" gp_index="1">
    <info name="Architecture" value="x86_64"/>
    <object type="Package" os_index="3" cpuset="0x0000000f" gp_index="2">
      <info name="CPUVendor" value="GenuineIntel"/>
      <object type="NUMANode" os_index="1" cpuset="0x0000000f" local_memory="2097152">
        <page_type size="4096" count="512"/>
      </object>
      <object type="MemCache" cpuset="0x0000000f" cache_size="1"/>
      <object type="L3Cache" cpuset="0x0000000f" cache_size="3145728" depth="3" cache_linesize="64" cache_associativity="-1" cache_type="0">
        <object type="Group" subtype="Cluster" os_index="9" cpuset="0x00000005" kind="222">
          <object type="L1iCache" cpuset="0x00000005" cache_size="0" depth="1" cache_type="2">
            <object type="Core" os_index="7" cpuset="0x00000005">
              <object type="PU" os_index="0" cpuset="0x00000001"/>
              <object type="PU" os_index="2" cpuset="0x00000004"/>
            </object>
          </object>
        </object>
        <object type="Core" os_index="7" cpuset="0x0000000a" complete_cpuset="0x0000001a">
          <object type="PU" os_index="1" cpuset="0x00000002"/>
          <object type="PU" os_index="3" cpuset="0x00000008"/>
        </object>
      </object>
    </object>
    <object type="Misc" name="x"/>
  </object>
{extra}</topology>
"#
    )
}

const KINDS: &str = r#"<cpukind cpuset="0x5" forced_efficiency="1"><info name="LinuxCapacity" value="1024"/>
<info name="FrequencyMaxMHz" value="3000"/></cpukind>
"#;

fn error_of(text: &str) -> String {
    read_xml(text, "m.xml").unwrap_err().to_string()
}

#[test]
fn reads_objects_of_versions_2_and_3() {
    for version in ["2.0", "2.1", "3.0"] {
        let m = read_xml(&xml(version, KINDS), "dir/m.xml").unwrap();
        assert_eq!((m.name.as_str(), m.arch), ("m", Arch::X86));
        assert_eq!(m.vendor.as_deref(), Some("GenuineIntel"));
        assert_eq!((m.online.to_string(), m.cpus.len()), ("0-3".to_string(), 7));
        let shape: Vec<_> = m.cpus.iter().map(|c| (c.core, c.thread, c.cluster)).collect();
        let own = |core| (core, 0, None);
        let cluster = Some(0);
        assert_eq!(
            shape,
            [(0, 0, cluster), own(1), (0, 1, cluster), (1, 1, None), (1, 2, None), own(2), own(3)]
        );
        assert_eq!((m.cpus[2].ids.core, m.cpus[2].ids.cluster), (Some(7), Some(9)));
        assert_eq!((m.cpus[0].package, m.cpus[0].node, m.cpus[0].die), (3, 1, 0));
        assert_eq!((m.cpus[0].capacity, m.cpus[1].capacity), (Some(1024), None));
        assert_eq!(m.nodes[0].memory_kib, Some(2048));
        let values: Vec<_> =
            m.caches.iter().map(|c| (c.level, c.size_kib, c.line_bytes, c.ways)).collect();
        assert_eq!(values, [(1, None, None, None), (3, Some(3072), Some(64), Some(0))]);
    }
}

#[test]
fn topology_infos_of_version_3_count() {
    let text = xml("3.0", r#"<info name="Architecture" value="aarch64"/>"#);
    let text = text.replacen(r#"<info name="Architecture" value="x86_64"/>"#, "", 1);
    assert_eq!(read_xml(&text, "m.xml").unwrap().arch, Arch::Arm64);
}

#[test]
fn says_what_the_file_leaves_open() {
    let unknown = read_xml(&xml("2.0", KINDS), "m.xml").unwrap().unknown.join("\n");
    for wanted in [
        "CPUs 5: hwloc XML skips these numbers",
        "CPUs 3: they were closed",
        "Core of CPUs 5-6:",
        "Package of CPUs 4-6:",
        "NUMA node of CPUs 4-6:",
        "Capacity of CPUs 1,3-6:",
        "Clocks of CPUs 0,2: only that they run at at most 3000 MHz",
        "Hardware ids",
        "Idle states",
        "Size of some caches",
    ] {
        assert!(unknown.contains(wanted), "{wanted}: {unknown}");
    }
}

#[test]
fn distances_fill_the_nodes() {
    let second = r#"<object type="NUMANode" os_index="4" cpuset="0xf"/><object type="Misc"/>"#;
    let matrix = r#"<distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
<indexes length="4">4 1 </indexes><u64values length="6">10 32 </u64values><u64values length="6">16 11 </u64values></distances2>"#;
    let text = xml("2.0", matrix).replace(r#"<object type="Misc" name="x"/>"#, second);
    let m = read_xml(&text, "m.xml").unwrap();
    assert_eq!((&m.nodes[0].distances, &m.nodes[1].distances), (&vec![11, 16], &vec![32, 10]));
    assert_eq!(
        (m.nodes[1].id, m.nodes[1].cpus.clone(), m.nodes[1].memory_kib),
        (4, CpuSet::EMPTY, None)
    );
    let without = read_xml(&text.replace("NUMALatency", "Other"), "m.xml").unwrap();
    assert_eq!(without.nodes[0].distances, [10, 20]);
    assert!(without.unknown.iter().any(|u| u.starts_with("Distances of NUMA nodes 1, 4")));
    let error = error_of(&text.replace(">4 1 <", ">4 2 <"));
    assert!(error.ends_with("found node 2, expected nodes that the topology has"), "{error}");
    let error = error_of(&text.replace("32 ", ""));
    assert!(error.contains("2 indexes and 3 values"), "{error}");
}

#[test]
fn errors_name_line_and_place() {
    for (from, to, wanted) in [
        (r#"version="2.0""#, "", "m.xml: line 3: <topology> version: found none, as in version 1"),
        (r#"version="2.0""#, r#"version="1.0""#, "found `1.0`, expected hwloc XML of version 2 or"),
        ("</topology>", "</zoo>", "line 31: found expected 'topology' tag, not 'zoo'"),
        ("hwloc2.dtd\"", "x\" [<!ENTITY a \"b\">]", "line 2: found an entity declaration"),
        (r#"type="Misc""#, r#"type="Moon""#, "line 27: <object> type: found `Moon`"),
        (r#"cpuset="0x00000005" kind"#, "kind", "line 13: <object> cpuset: found nothing"),
        (r#"cpuset="0x00000005" kind"#, r#"cpuset="0xf...f" kind"#, "the infinite set `0xf...f`"),
        (r#"cpuset="0x00000005" kind"#, r#"cpuset="0x100" kind"#, "Group complete_cpuset: found"),
        (r#"0x0000001a"#, "0x1", "line 21: <object> complete_cpuset: found CPUs 0, expected at"),
        (r#"os_index="2""#, r#"os_index="1""#, "line 17: <object> cpuset: found CPUs `2`"),
        (r#"os_index="9""#, r#"os_index="nine""#, "os_index: found `nine`, expected a number"),
        ("0x0000001a", "0x0000001e", "objects of type Core: found one of"),
        (r#"<object type="PU" os_index="0" cpuset="0x00000001"/>"#, "", "of type PU: found CPUs"),
        (r#"cache_type="2""#, r#"cache_type="0""#, "cache_type: found `0`, expected 2, instr"),
        ("3145728", "99999999999999999", "L3Cache size: found 99999999999999999 bytes"),
        ("\"Architecture\" value=\"x86_64\"", "\"schedscape:moon\" value=\"\"", "found this name"),
        (
            "\"Architecture\" value=\"x86_64\"",
            "\"schedscape:core\" value=\"[1]\"",
            "info schedscape:core: found 1 numbers, expected 7, one for each CPU",
        ),
        (
            "\"Architecture\" value=\"x86_64\"",
            "\"schedscape:node\" value=\"[0,0,0,0,0,0,0]\"",
            "nodes: found CPUs `0-6` in node 1, expected ``",
        ),
    ] {
        let good = xml("2.0", KINDS);
        assert!(good.contains(from), "{from}");
        let error = error_of(&good.replacen(from, to, 1));
        assert!(error.starts_with("m.xml: "), "{error}");
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
}

#[test]
fn deep_nesting_costs_no_stack() {
    let depth = 100_000;
    let objects = r#"<object type="Misc">"#.repeat(depth) + &"</object>".repeat(depth);
    let text = xml("2.0", KINDS).replace(r#"<object type="Misc" name="x"/>"#, &objects);
    let read = std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(move || read_xml(&text, "m.xml").map(|m| m.cpus.len()))
        .unwrap();
    assert_eq!(read.join().unwrap(), Ok(7));
}

/// The machine with other numbers for cores, clusters, dies and threads than readers would give, and a cache that no
/// tree can hold.
fn unusual(mut machine: Machine) -> Machine {
    for cpu in &mut machine.cpus {
        cpu.core = 5000 - cpu.core;
        cpu.thread = 9 - cpu.thread;
        cpu.die += 1;
        cpu.cluster = cpu.cluster.map(|c| c * 3 + 1);
        cpu.node += 2000;
    }
    for groups in &mut machine.thread_groups {
        groups.core = 5000 - groups.core;
    }
    for node in &mut machine.nodes {
        node.id += 2000;
    }
    let count = machine.cpus.len();
    let cpus: CpuSet = (count / 2..count).collect();
    if let Some(cache) = machine.caches.last().cloned() {
        machine.caches.push(Cache { level: 9, size_kib: Some(0), cpus, ..cache });
    }
    machine
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_machines_read_back(machine in machines()) {
        check::check(&machine).unwrap();
        let text = write_xml(&machine);
        prop_assert_eq!(&read_xml(&text, "some.xml").unwrap(), &machine);
    }

    #[test]
    fn unusual_machines_read_back(machine in machines()) {
        let machine = unusual(machine);
        let text = write_xml(&machine);
        prop_assert_eq!(&read_xml(&text, "some.xml").unwrap(), &machine);
    }

    #[test]
    fn the_tree_needs_few_annotations(machine in machines()) {
        let text = write_xml(&machine);
        if machine.online == machine.possible() {
            for field in ["core", "thread", "cluster", "package"] {
                prop_assert!(!text.contains(&format!("\"schedscape:{field}\"")), "{}", field);
            }
        }
    }

    #[test]
    fn any_text_is_an_error_or_a_machine(text in ".{0,200}") {
        let _ = read_xml(&text, "x");
        let _ = read_xml(&xml("2.0", &text), "x");
    }

    #[test]
    fn mutated_files_never_panic(
        machine in machines(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = write_xml(&machine).into_bytes();
        for (place, byte) in edits {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(read) = read_xml(&text, "x") {
            check::check(&read).unwrap();
        }
    }
}
