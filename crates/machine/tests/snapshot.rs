//! A device-tree directory of a real POWER7 against what its kernel showed in sysfs.

use bzip2::read::BzDecoder;
use machine::{Cache, CacheKind, Machine, devicetree};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

const SNAPSHOT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/hwloc/dev/256ppc-8n8s4t.tar.bz2");
const TREE: &str = "256ppc-8n8s4t/proc/device-tree/";
const CPUS: &str = "256ppc-8n8s4t/sys/devices/system/cpu/";

/// Files of the snapshot by path; `None` (and a line saying so) where it is absent.
fn snapshot() -> Option<BTreeMap<String, Vec<u8>>> {
    let Ok(file) = File::open(SNAPSHOT) else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no {SNAPSHOT}");
        println!("skipped: no ../shared");
        return None;
    };
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(BzDecoder::new(file)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_string();
        if entry.header().entry_type().is_file() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.insert(path, bytes);
        }
    }
    Some(files)
}

fn text(files: &BTreeMap<String, Vec<u8>>, path: &str) -> String {
    String::from_utf8(files[path].clone()).unwrap().trim().to_string()
}

/// CPUs of a mask in sysfs: hexadecimal words, the highest first.
fn mask(text: &str) -> Vec<usize> {
    let words = text.split(',').rev().map(|word| u32::from_str_radix(word, 16).unwrap());
    let bits = |(i, word): (usize, u32)| {
        (0..32).filter(move |b| word >> b & 1 == 1).map(move |b| 32 * i + b)
    };
    words.enumerate().flat_map(bits).collect()
}

fn find(machine: &Machine, cpu: usize, level: u8, kind: CacheKind) -> &Cache {
    let here = |c: &&Cache| c.cpus.contains(cpu) && (c.level, c.kind) == (level, kind);
    machine.caches.iter().find(here).unwrap()
}

#[test]
fn a_device_tree_directory_gives_what_sysfs_shows() {
    let Some(files) = snapshot() else { return };
    let tree = files.iter().filter_map(|(path, bytes)| Some((path.strip_prefix(TREE)?, bytes)));
    let tree = tree.map(|(path, bytes)| (path.to_string(), bytes.clone()));
    let machine = devicetree::read_files(tree, "256ppc").unwrap();
    assert_eq!((machine.cpus.len(), machine.cores().len()), (256, 64));
    let mut caches = 0;
    for cpu in 0..256 {
        let topology = format!("{CPUS}cpu{cpu}/topology");
        let siblings = mask(&text(&files, &format!("{topology}/thread_siblings")));
        assert_eq!(machine.core_cpus(cpu).iter().collect::<Vec<_>>(), siblings, "CPU {cpu}");
        let core_id = text(&files, &format!("{topology}/core_id")).parse().ok();
        assert_eq!(machine.cpus[cpu].ids.core, core_id, "CPU {cpu}");
        for index in 0.. {
            let file = |name: &str| format!("{CPUS}cpu{cpu}/cache/index{index}/{name}");
            if !files.contains_key(&file("level")) {
                break;
            }
            let number =
                |name: &str| text(&files, &file(name)).trim_end_matches('K').parse::<u32>().ok();
            let kind = match text(&files, &file("type")).as_str() {
                "Data" => CacheKind::Data,
                "Instruction" => CacheKind::Instruction,
                _ => CacheKind::Unified,
            };
            let cache = find(&machine, cpu, number("level").unwrap() as u8, kind);
            let found = (cache.size_kib, cache.line_bytes, cache.ways);
            let shown = ["size", "coherency_line_size", "ways_of_associativity"].map(number);
            assert_eq!(found, (shown[0], shown[1], shown[2]), "CPU {cpu}: index{index}");
            let sharers = mask(&text(&files, &file("shared_cpu_map")));
            assert_eq!(cache.cpus.iter().collect::<Vec<_>>(), sharers, "CPU {cpu}: index{index}");
            caches += 1;
        }
    }
    assert_eq!(caches, 256 * 4);
    // The snapshot keeps no more of the tree than the CPUs.
    assert!(machine.unknown.iter().any(|u| u.starts_with("NUMA nodes: the device tree has no")));
}
