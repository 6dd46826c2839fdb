//! Machines read from QEMU arguments against what the kernels that booted with them show in sysfs.

use flate2::read::GzDecoder;
use machine::{Arch, Cache, Machine, devicetree, qemu, sysfs};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/oracle/dev");

/// What the arguments cannot say of a capture.
struct Exception {
    /// Captures whose names start with this.
    prefix: &'static str,
    /// What differs.
    part: &'static str,
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        prefix: "x86-6.1-2x4x2",
        part: "core",
        reason: "without TOPOEXT, kernels before 6.9 see no SMT on AMD",
    },
    Exception {
        prefix: "arm64-7.3-kunpeng-2node",
        part: "nodes",
        reason: "that kernel shows one node whatever the SRAT says",
    },
    Exception {
        prefix: "ppc64-6.1-p9-bigcore-groups",
        part: "caches",
        reason: "ibm,thread-groups was put into the device tree",
    },
    Exception {
        prefix: "ppc64-6.12-p9-bigcore-groups",
        part: "caches",
        reason: "ibm,thread-groups was put into the device tree",
    },
    Exception {
        prefix: "ppc64-6.12-p10-bigcore-l2",
        part: "caches",
        reason: "ibm,thread-groups was put into the device tree",
    },
    Exception {
        prefix: "ppc64-7.2-p10-bigcore-l2",
        part: "caches",
        reason: "ibm,thread-groups was put into the device tree",
    },
];

/// Files of sysfs that nothing here reads; most of a capture.
const UNREAD: &[&str] =
    &["uevent", "shared_cpu_map", "physical_line_partition", "cpumap", "number_of_sets"];

fn is_needed(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else { return false };
    if UNREAD.contains(&name) || name.ends_with("_siblings") || name.ends_with("_cpus") {
        return false;
    }
    let inner: PathBuf = path.components().skip(1).collect();
    ["config.json", "fw/fdt", "boot/sys", "boot/proc/cpuinfo"].iter().any(|p| inner.starts_with(p))
}

fn unpack(archive: &Path) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let mut tar = tar::Archive::new(GzDecoder::new(File::open(archive).unwrap()));
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        if is_needed(&entry.path().unwrap()) {
            assert!(entry.unpack_in(dir.path()).unwrap());
        }
    }
    let folder = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    (dir, folder)
}

/// Parts in which `made` differs from `shown`, of the CPUs online there.
fn differences(made: &Machine, shown: &Machine) -> BTreeSet<&'static str> {
    let online = shown.online.clone();
    let mut different = BTreeSet::new();
    let mut check = |part: &'static str, same: bool| {
        if !same {
            different.insert(part);
        }
    };
    check("cpus", made.cpus.len() == shown.cpus.len());
    for cpu in online.iter().filter(|&cpu| cpu < made.cpus.len()) {
        check("core", made.core_cpus(cpu) & &online == shown.core_cpus(cpu) & &online);
        let cluster = |m: &Machine| m.cluster_cpus(cpu).map(|set| set & &online);
        check("cluster", cluster(made) == cluster(shown));
        check("die", made.die_cpus(cpu) & &online == shown.die_cpus(cpu) & &online);
        check("package", made.package_cpus(cpu) & &online == shown.package_cpus(cpu) & &online);
        check("nodes", made.node_cpus(cpu) & &online == shown.node_cpus(cpu) & &online);
        // Caches without size are the kernel's guess: firmware tells arm64 of none.
        let caches = |m: &Machine| -> Vec<Cache> {
            let here = m.caches.iter().filter(|c| c.cpus.contains(cpu) && c.size_kib.is_some());
            here.map(|c| Cache { cpus: &c.cpus & &online, ways: None, ..c.clone() }).collect()
        };
        check("caches", caches(made) == caches(shown));
    }
    let shape = |m: &Machine| -> Vec<(u32, Vec<u32>)> {
        m.nodes.iter().map(|n| (n.id, n.distances.clone())).collect()
    };
    check("nodes", shape(made) == shape(shown));
    different
}

/// APIC ids by CPU, as far as `/proc/cpuinfo` lists them.
fn apic_ids(cpuinfo: &str) -> Vec<(usize, u32)> {
    let value = |key: &str| -> Vec<u32> {
        let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        let lines = lines.filter(|(name, _)| name.trim() == key);
        lines.map(|(_, value)| value.trim().parse().unwrap()).collect()
    };
    value("processor").into_iter().map(|c| c as usize).zip(value("apicid")).collect()
}

fn compare_hw_ids(made: &Machine, folder: &Path, name: &str) {
    match made.arch {
        Arch::X86 => {
            let cpuinfo = fs::read_to_string(folder.join("boot/proc/cpuinfo")).unwrap();
            let ids = apic_ids(&cpuinfo);
            assert!(!ids.is_empty(), "{name}");
            for (cpu, id) in ids {
                assert_eq!(made.cpus[cpu].hw_id, id, "{name}: APIC id of CPU {cpu}");
            }
        }
        Arch::Powerpc if !made.unknown.iter().any(|u| u.starts_with("Hardware ids")) => {
            let fdt = folder.join("fw/fdt");
            let tree = devicetree::read(&fs::read(&fdt).unwrap(), "fdt").unwrap();
            let ids = |m: &Machine| m.cpus.iter().map(|c| c.hw_id).collect::<Vec<_>>();
            assert_eq!(ids(made), ids(&tree), "{name}: hardware ids");
        }
        _ => {}
    }
}

#[test]
fn arguments_give_what_kernels_show() {
    let Ok(dir) = fs::read_dir(CAPTURES) else {
        assert!(std::env::var_os("CI").is_none(), "no captures in {CAPTURES}");
        println!("skipped: no ../shared");
        return;
    };
    let mut archives: Vec<PathBuf> = dir.map(|entry| entry.unwrap().path()).collect();
    archives.retain(|p| p.to_str().unwrap().ends_with(".tar.gz"));
    archives.sort();
    assert!(archives.len() > 20, "{} captures", archives.len());
    let mut needed = BTreeSet::new();
    for archive in archives {
        let (_dir, folder) = unpack(&archive);
        let name = folder.file_name().unwrap().to_str().unwrap().to_string();
        let config = fs::read_to_string(folder.join("config.json")).unwrap();
        let config: serde_json::Value = serde_json::from_str(&config).unwrap();
        let arguments = config["qemu"].as_array().unwrap().iter().map(|a| a.as_str().unwrap());
        let made = qemu::read(&arguments.collect::<Vec<_>>().join(" ")).unwrap();
        let shown = sysfs::read(&folder.join("boot"), made.arch).unwrap();
        let mut different = differences(&made, &shown);
        for (i, exception) in EXCEPTIONS.iter().enumerate() {
            if name.starts_with(exception.prefix) && different.remove(exception.part) {
                needed.insert(i);
                println!("{name}: {} differ: {}", exception.part, exception.reason);
            }
        }
        assert!(different.is_empty(), "{name}: {different:?}");
        compare_hw_ids(&made, &folder, &name);
    }
    assert_eq!(needed.len(), EXCEPTIONS.len(), "an exception that no capture needs: {needed:?}");
}
