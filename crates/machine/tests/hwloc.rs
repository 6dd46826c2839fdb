//! hwloc's XML and synthetic strings against what hwloc itself finds in them.

use machine::{CacheKind, CpuSet, Machine, hwloc};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/hwloc/dev");

/// Levels where the model differs from hwloc, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("40intel64-4n10c+pci-conflicts", "Package", "hwloc drops one that its source contradicts"),
    ("fakeheterocpunuma", "NUMANode", "node 2 spans nodes 0 and 1, and half the CPUs have none"),
    ("fakememinitiators-1np2c+1npp+gi", "NUMANode", "nodes without CPUs are near those of others"),
];

/// Online parts of sets, without empty ones, in the order of their first CPUs.
fn shown(sets: impl IntoIterator<Item = CpuSet>, machine: &Machine) -> BTreeSet<String> {
    let online = sets.into_iter().map(|set| set & &machine.online);
    online.filter(|set| !set.is_empty()).map(|set| set.to_string()).collect()
}

/// CPU sets by hwloc's name of the level.
fn levels(m: &Machine) -> BTreeMap<String, BTreeSet<String>> {
    let cpus = || 0..m.cpus.len();
    let mut levels = BTreeMap::new();
    let mut put = |name: &str, sets: Vec<CpuSet>| levels.insert(name.to_string(), shown(sets, m));
    put("PU", cpus().map(CpuSet::single).collect());
    put("Core", cpus().map(|cpu| m.core_cpus(cpu)).collect());
    put("Group:Cluster", cpus().filter_map(|cpu| m.cluster_cpus(cpu)).collect());
    put("Die", cpus().map(|cpu| m.die_cpus(cpu)).collect());
    put("Package", cpus().map(|cpu| m.package_cpus(cpu)).collect());
    put("NUMANode", m.nodes.iter().map(|n| n.cpus.clone()).collect());
    for level in 1..=5 {
        for (name, instructions) in [("Cache", false), ("iCache", true)] {
            let wanted = |c: &&machine::Cache| {
                c.level == level && (c.kind == CacheKind::Instruction) == instructions
            };
            let sets = m.caches.iter().filter(wanted).map(|c| c.cpus.clone()).collect();
            put(&format!("L{level}{name}"), sets);
        }
    }
    levels
}

/// What the model has where hwloc has no such level: cores of one CPU, the package as die, nodes as packages.
fn stand_in(level: &str, ours: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    match level {
        "Core" => ours["PU"].clone(),
        "Die" => ours["Package"].clone(),
        "Package" => ours["NUMANode"].clone(),
        _ => BTreeSet::new(),
    }
}

fn snapshots() -> Vec<String> {
    let Ok(dir) = fs::read_dir(SNAPSHOTS) else {
        assert!(std::env::var_os("CI").is_none(), "no {SNAPSHOTS}");
        println!("skipped: no ../shared");
        return Vec::new();
    };
    let names = dir.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".xml").map(str::to_string)).collect();
    names.sort();
    assert!(names.len() > 20, "{names:?}");
    names
}

fn read(name: &str) -> Machine {
    let text = fs::read_to_string(Path::new(SNAPSHOTS).join(format!("{name}.xml"))).unwrap();
    hwloc::read_xml(&text, &format!("{name}.xml")).unwrap()
}

/// Snapshot, level, the model's sets and hwloc's.
type Difference = (String, String, BTreeSet<String>, BTreeSet<String>);

#[test]
fn levels_are_those_that_hwloc_finds() {
    let mut differences: Vec<Difference> = Vec::new();
    let names = snapshots();
    for name in &names {
        let ours = levels(&read(name));
        let json = fs::read_to_string(Path::new(SNAPSHOTS).join(format!("{name}.levels.json")));
        let theirs: BTreeMap<String, BTreeSet<String>> =
            serde_json::from_str(&json.unwrap()).unwrap();
        for (level, sets) in &ours {
            let wanted = match theirs.get(level) {
                Some(sets) => sets.clone(),
                None => stand_in(level, &ours),
            };
            if *sets != wanted {
                differences.push((name.clone(), level.clone(), sets.clone(), wanted));
            }
        }
    }
    let excused =
        |name: &str, level: &str| EXCEPTIONS.iter().any(|(n, l, _)| *n == name && *l == level);
    let wrong: Vec<&Difference> = differences.iter().filter(|d| !excused(&d.0, &d.1)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(names.is_empty() || differences.len() == EXCEPTIONS.len(), "{differences:#?}");
}

#[test]
fn snapshots_survive_being_written() {
    for name in snapshots() {
        let machine = read(&name);
        let text = hwloc::write_xml(&machine);
        assert_eq!(hwloc::read_xml(&text, "other.xml").unwrap(), machine, "{name}");
    }
}

/// XML that lstopo writes for `input`, or `None` (and a line saying so) where there is no lstopo.
fn lstopo(input: &str) -> Option<String> {
    let flags = ["--of", "xml", "--filter", "all:all", "--no-io", "-i", input];
    let Ok(output) = Command::new("lstopo-no-graphics").args(flags).output() else {
        println!("skipped: no lstopo");
        return None;
    };
    assert!(output.status.success() && !output.stdout.is_empty(), "{input}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn synthetic_strings_mean_what_lstopo_says() {
    for spec in [
        "pack:2 numa:2 l3:1 core:4 pu:2",
        "pu:4",
        "8",
        "2 4",
        "2 3 4",
        "2 3 4 5 6",
        "2 1 2 2 2 2 2 2 2",
        "die:2 l2:2(size=1MB) l1d:2 l1i:1 core:1 pu:2",
        "package:2 [numa(memory=1MiB)] [numa(memory=16GiB)] group:2 core:2 pu:4",
        "[numa(memory=5MB)] pack:2 [numa(memory=7GB)] core:2 pu:2",
        "pack:2 [numa(memory=1TB indexes=1,0)] core:2 pu:2",
        "pack:2(indexes=1,0) numa:2(memory=4096 indexes=3,2,1,0) core:2 pu:2",
        "pack:2 core:4 pu:2(indexes=pack:core)",
        "numa:2 core:4 pu:2(indexes=numa:core)",
        "pack:2 core:4 pu:2(indexes=2*8:1*2)",
        "core:4(indexes=4,8,12,0) pu:2(indexes=0,2,4,6,1,3,5,7)",
        "socket:2 node:1 l4:1 l2u:2(size=0x100000) Core:2 PU:1",
        "numa:2 pack:2 group2:2 l1icache:1 co:1 pu:1(indexes=8,9,10,11,4,5,6,7)",
    ] {
        let Some(xml) = lstopo(spec) else { return };
        let theirs = hwloc::read_xml(&xml, "lstopo").unwrap();
        let ours = hwloc::read_synthetic(spec).unwrap();
        let (name, title) = (theirs.name.clone(), theirs.title.clone());
        let unknown = theirs.unknown.clone();
        assert_eq!(Machine { name, title, unknown, ..ours }, theirs, "{spec}");
    }
}

#[test]
fn lstopo_keeps_what_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("machine.xml");
    let catalog = machine::resolve("power9-big-core").unwrap();
    let synthetic = hwloc::read_synthetic("pack:2 die:2 numa:2 l3:1 l2:2 l1d:2 core:1 pu:2");
    let mut offline = synthetic.clone().unwrap();
    offline.online.remove(3);
    offline.online.remove(9);
    let real = snapshots().into_iter().map(|name| read(&name));
    for machine in real.chain([catalog, synthetic.unwrap(), offline]) {
        fs::write(&path, hwloc::write_xml(&machine)).unwrap();
        let Some(xml) = lstopo(path.to_str().unwrap()) else { return };
        let again = hwloc::read_xml(&xml, "lstopo").unwrap();
        assert_eq!(levels(&again), levels(&machine), "{}", machine.name);
        assert_eq!(again, machine, "{}", machine.name);
    }
}
