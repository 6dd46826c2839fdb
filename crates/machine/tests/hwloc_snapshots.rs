//! Machines read from snapshots of sysfs against what hwloc finds in the same ones, level by level.

use machine::{Cache, CacheKind, CpuSet, Machine};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

const SNAPSHOTS: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/hwloc/dev"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/hwloc/more"),
];

/// Kinds of hwloc objects that are compared; the others are no levels of a [`Machine`].
const LEVELS: &[&str] = &[
    "PU",
    "Core",
    "Group:Book",
    "Group:Cluster",
    "Group:Drawer",
    "L1Cache",
    "L1iCache",
    "L2Cache",
    "L2iCache",
    "L3Cache",
    "Die",
    "Package",
    "NUMANode",
];

/// Where our machine may differ: snapshot, level, reason. An exception that is no difference fails the test.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "256ppc-8n8s4t",
        "Package",
        "core_siblings of this kernel holds one core's threads; the device tree beside it tells the packages",
    ),
    (
        "2ps3-2t",
        "Package",
        "sysfs names none and hwloc has none; in our model every CPU is in a package",
    ),
    (
        "40intel64-4n10c+pci-conflicts",
        "L3Cache",
        "the map of CPU 2 was edited to contradict the others' on purpose; hwloc drops both, we keep both",
    ),
    (
        "40intel64-4n10c+pci-conflicts",
        "Package",
        "the map of CPU 3 was edited to contradict the others' on purpose; hwloc drops the package",
    ),
    ("4fake-4gr1nu1pu", "Core", "there are no cores in sysfs; in our model every CPU is in a core"),
    (
        "64amd64-4s2n4ca2co",
        "Core",
        "compute units of two cores: the kernel's thread_siblings, which its SMT domain follows; hwloc splits them \
         by core_id",
    ),
    (
        "fakeheterocpunuma",
        "NUMANode",
        "nodes 3, 4 and 5 overlap, which no kernel has; hwloc drops two, we give each CPU to its first",
    ),
    (
        "fakememinitiators-1np2c+1npp+gi",
        "NUMANode",
        "hwloc places memory without CPUs at its access initiators, which have no part in scheduling",
    ),
    (
        "offline-cpu0-node0",
        "NUMANode",
        "sysfs has no directory of node 0, to which CPUs link: hwloc leaves it out, we keep them apart from node 1",
    ),
];

/// CPU sets of the machine's online CPUs by the names of [`LEVELS`].
fn levels(machine: &Machine) -> BTreeMap<&'static str, BTreeSet<String>> {
    let online = machine.online.clone();
    let each = |set: &dyn Fn(usize) -> Option<CpuSet>| -> BTreeSet<String> {
        let sets = online.iter().filter_map(set).map(|s| s & &online);
        sets.filter(|s| !s.is_empty()).map(|s| s.to_string()).collect()
    };
    let caches = |level: u8, instruction: bool| -> BTreeSet<String> {
        let of = |c: &&Cache| c.level == level && (c.kind == CacheKind::Instruction) == instruction;
        let sets = machine.caches.iter().filter(of).map(|c| &c.cpus & &online);
        sets.filter(|s| !s.is_empty()).map(|s| s.to_string()).collect()
    };
    let dies = each(&|c| Some(machine.die_cpus(c)));
    let packages = each(&|c| Some(machine.package_cpus(c)));
    let nodes = machine.nodes.iter().map(|n| &n.cpus & &online).filter(|cpus| !cpus.is_empty());
    let mut levels = BTreeMap::from([
        ("PU", each(&|c| Some(CpuSet::single(c)))),
        ("Core", each(&|c| Some(machine.core_cpus(c)))),
        // hwloc leaves clusters of one CPU out.
        ("Group:Book", each(&|c| machine.book_cpus(c))),
        ("Group:Drawer", each(&|c| machine.drawer_cpus(c))),
        ("Group:Cluster", each(&|c| machine.cluster_cpus(c).filter(|set| set.len() > 1))),
        ("L1Cache", caches(1, false)),
        ("L1iCache", caches(1, true)),
        ("L2Cache", caches(2, false)),
        ("L2iCache", caches(2, true)),
        ("L3Cache", caches(3, false)),
        // hwloc leaves dies out where every package has one.
        ("Die", if dies == packages { BTreeSet::new() } else { dies }),
        ("Package", packages),
        ("NUMANode", nodes.map(|cpus| cpus.to_string()).collect()),
    ]);
    levels.retain(|_, sets| !sets.is_empty());
    levels
}

/// Snapshots with hwloc's findings beside them, by name; `None` (and a line saying so) without `../shared`.
fn snapshots() -> Option<Vec<(String, PathBuf)>> {
    let mut all = Vec::new();
    for dir in SNAPSHOTS {
        let Ok(dir) = fs::read_dir(dir) else {
            assert!(env::var("CI").is_err(), "CI must have ../shared");
            println!("skipped: no ../shared");
            return None;
        };
        let paths = dir.map(|entry| entry.unwrap().path());
        let name = |p: &Path| Some(p.file_name()?.to_str()?.strip_suffix(".tar.bz2")?.to_string());
        all.extend(paths.filter_map(|p| Some((name(&p)?, p))));
    }
    all.sort();
    assert!(!all.is_empty());
    Some(all)
}

#[test]
fn levels_are_those_that_hwloc_finds() {
    let Some(all) = snapshots() else { return };
    let mut wrong = Vec::new();
    for (name, archive) in all {
        let machine = match machine::resolve(archive.to_str().unwrap()) {
            Ok(machine) => machine,
            Err(error) => {
                wrong.push(error.to_string());
                continue;
            }
        };
        let ours = levels(&machine);
        let json =
            fs::read_to_string(archive.with_file_name(format!("{name}.levels.json"))).unwrap();
        let theirs: BTreeMap<String, BTreeSet<String>> = serde_json::from_str(&json).unwrap();
        for &level in LEVELS {
            let empty = BTreeSet::new();
            let (ours, theirs) =
                (ours.get(level).unwrap_or(&empty), theirs.get(level).unwrap_or(&empty));
            let excepted = EXCEPTIONS.iter().any(|(n, l, _)| *n == name && *l == level);
            if (ours == theirs) == excepted {
                wrong.push(format!("{name} {level}: {ours:?} instead of {theirs:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
