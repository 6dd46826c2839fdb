//! Machines read from device trees against what real kernels show in sysfs for the same firmware.

use flate2::read::GzDecoder;
use machine::{Arch, Cache, Machine, devicetree, resolve, sysfs};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/oracle/dev");

/// Captures whose names start with `prefix`; `None` (and a line saying so) where there are none at all.
fn captures(prefix: &str) -> Option<Vec<PathBuf>> {
    let Ok(dir) = fs::read_dir(CAPTURES) else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no captures in {CAPTURES}");
        println!("skipped: no ../shared");
        return None;
    };
    let paths = dir.map(|entry| entry.unwrap().path());
    let name = |p: &Path| p.file_name().unwrap().to_str().unwrap().to_string();
    let mut paths: Vec<PathBuf> =
        paths.filter(|p| name(p).starts_with(prefix) && name(p).ends_with(".tar.gz")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no capture {prefix}* in {CAPTURES}");
    Some(paths)
}

/// Files of sysfs that the comparison needs, by name; the captures hold many more.
const SYSFS_FILES: &[&str] = &[
    "online",
    "possible",
    "present",
    "physical_id",
    "core_cpus_list",
    "thread_siblings_list",
    "physical_package_id",
    "core_id",
    "cluster_id",
    "cluster_cpus_list",
    "cpu_capacity",
    "level",
    "type",
    "size",
    "coherency_line_size",
    "shared_cpu_list",
    "cpulist",
    "distance",
    "meminfo",
];

fn is_needed(path: &Path) -> bool {
    let part = |i: usize| path.components().nth(i).and_then(|c| c.as_os_str().to_str());
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else { return false };
    match (part(1), part(2)) {
        (Some("fw"), _) | (_, Some("uname")) => true,
        (_, Some("sys")) => SYSFS_FILES.contains(&name) || name.starts_with("node"),
        _ => false,
    }
}

/// Unpacks firmware, sysfs and `uname` of a capture; gives the directory and the capture's folder in it.
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

/// Step folders of a capture: those that hold `sys`.
fn steps(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut steps: Vec<PathBuf> = all.filter(|p| p.join("sys").is_dir()).collect();
    steps.sort();
    steps
}

fn caches_of(cpu: usize, machine: &Machine) -> Vec<Cache> {
    let online = machine.online.clone();
    let here = machine.caches.iter().filter(|c| c.cpus.contains(cpu));
    // The captures have no file with the ways.
    here.map(|c| Cache { cpus: &c.cpus & &online, ways: None, ..c.clone() }).collect()
}

/// The number in the topology file `name` of `cpu` below `step`; `None` for the kernel's -1.
fn topology_id(step: &Path, cpu: usize, name: &str) -> Option<u32> {
    let file = step.join(format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}"));
    fs::read_to_string(file).unwrap().trim().parse().ok()
}

/// Compares `tree` with `kernel`, which has no more than what sysfs shows of online CPUs.
fn compare(tree: &Machine, kernel: &Machine, what: &str) {
    assert_eq!(tree.arch, kernel.arch, "{what}");
    assert_eq!(tree.cpus.len(), kernel.cpus.len(), "{what}: CPUs");
    let online = kernel.online.clone();
    for cpu in 0..tree.cpus.len() {
        let what = format!("{what}: CPU {cpu}");
        assert_eq!(tree.cpus[cpu].hw_id, kernel.cpus[cpu].hw_id, "{what}: hardware id");
        assert_eq!(tree.cpus[cpu].node, kernel.cpus[cpu].node, "{what}: node");
        assert_eq!(tree.node_cpus(cpu), kernel.node_cpus(cpu), "{what}: CPUs of its node");
        if online.contains(cpu) {
            assert_eq!(tree.cpus[cpu].package, kernel.cpus[cpu].package, "{what}: package");
            let packages = (tree.package_cpus(cpu) & &online, kernel.package_cpus(cpu) & &online);
            assert_eq!(packages.0, packages.1, "{what}: package");
            assert_eq!(tree.core_cpus(cpu) & &online, kernel.core_cpus(cpu), "{what}: core");
            assert_eq!(caches_of(cpu, tree), caches_of(cpu, kernel), "{what}: caches");
        }
    }
    let shape = |m: &Machine| -> Vec<(u32, String, Vec<u32>)> {
        let of = |n: &machine::Node| (n.id, n.cpus.to_string(), n.distances.clone());
        m.nodes.iter().map(of).collect()
    };
    assert_eq!(shape(tree), shape(kernel), "{what}: nodes");
    for (tree, kernel) in tree.nodes.iter().zip(&kernel.nodes) {
        // The kernel counts what it did not reserve for itself.
        let (tree, kernel) = (tree.memory_kib.unwrap(), kernel.memory_kib.unwrap());
        assert!(kernel <= tree && kernel > tree / 10 * 8, "{what}: {kernel} of {tree} KiB");
    }
}

#[test]
fn device_trees_give_what_kernels_show() {
    let Some(archives) = captures("ppc64-") else { return };
    for archive in archives {
        let (_dir, folder) = unpack(&archive);
        let fdt = folder.join("fw/fdt");
        let blob = fs::read(&fdt).unwrap();
        let tree = devicetree::read(&blob, &fdt.display().to_string()).unwrap();
        for step in steps(&folder) {
            let kernel = sysfs::read(&step, Arch::Powerpc).unwrap();
            let tree = tree.with_online(kernel.online.clone()).unwrap();
            compare(&tree, &kernel, &step.display().to_string());
            for cpu in kernel.online.iter() {
                let id = topology_id(&step, cpu, "core_id");
                assert_eq!(tree.cpus[cpu].ids.core, id, "{}: CPU {cpu}: core_id", step.display());
            }
        }
    }
}

#[test]
fn smt_modes_are_those_of_the_captures() {
    let Some(archives) = captures("ppc64-6.12-p9-bigcore-groups") else { return };
    let (_dir, folder) = unpack(&archives[0]);
    let tree = resolve(folder.join("fw/fdt").to_str().unwrap()).unwrap();
    for (step, threads) in [("boot", 8), ("smt4", 4), ("smt2", 2)] {
        let kernel = sysfs::read(&folder.join(step), Arch::Powerpc).unwrap();
        let tree = tree.with_smt(threads).unwrap();
        assert_eq!(tree.online, kernel.online, "{step}");
        for cpu in kernel.online.iter() {
            let data = kernel.caches.iter().find(|c| c.cpus.contains(cpu)).unwrap();
            assert_eq!(tree.small_core_siblings(cpu), Some(data.cpus.clone()), "{step}: CPU {cpu}");
        }
    }
}

#[test]
fn catalog_machine_is_the_captured_one() {
    let Some(archives) = captures("ppc64-6.12-p9-bigcore-groups") else { return };
    let (_dir, folder) = unpack(&archives[0]);
    let kernel = sysfs::read(&folder.join("boot"), Arch::Powerpc).unwrap();
    let mut machine = machine::catalog::load("power9-big-core").unwrap();
    machine.caches.retain(|c| c.origin == machine::Origin::Firmware);
    compare(&machine, &kernel, "power9-big-core");
}

#[test]
fn sysfs_of_other_architectures_reads() {
    let kinds =
        ["arm64-7.3-offline", "x86-7.3-offline-steps", "x86-7.3-memless-node", "x86-7.3-1cpu"];
    for kind in kinds {
        let Some(archives) = captures(kind) else { return };
        let (_dir, folder) = unpack(&archives[0]);
        for step in steps(&folder) {
            let machine = resolve(step.to_str().unwrap()).unwrap();
            let list = step.join("sys/devices/system/cpu/online");
            assert_eq!(machine.online.to_string(), fs::read_to_string(list).unwrap().trim());
            for cpu in machine.online.iter() {
                let topology = step.join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
                let siblings = fs::read_to_string(topology.join("thread_siblings_list")).unwrap();
                assert_eq!(machine.core_cpus(cpu).to_string(), siblings.trim(), "{step:?}: {cpu}");
            }
            let all: usize = machine.nodes.iter().map(|n| n.cpus.len()).sum();
            assert_eq!(all, machine.cpus.len(), "{step:?}");
        }
    }
}

/// All but the caches: this tree names none, so that the kernel has them from the CPU's registers, the first level
/// private and the others everybody's.
#[test]
fn arm64_device_tree_gives_what_its_kernel_shows() {
    let Some(archives) = captures("arm64-7.3-kunpeng-1node-dt") else { return };
    let (_dir, folder) = unpack(&archives[0]);
    let tree = resolve(folder.join("fw/fdt").to_str().unwrap()).unwrap();
    let kernel = sysfs::read(&folder.join("boot"), Arch::Arm64).unwrap();
    assert_eq!((tree.arch, tree.cpus.len()), (Arch::Arm64, 24));
    assert_eq!(tree.firmware, Some(machine::Firmware::DeviceTree));
    assert_eq!(tree.online, kernel.online);
    for cpu in 0..24 {
        let (of_tree, shown) = (&tree.cpus[cpu], &kernel.cpus[cpu]);
        let what = format!("CPU {cpu}");
        assert_eq!((of_tree.core, of_tree.thread), (shown.core, shown.thread), "{what}: core");
        assert_eq!((of_tree.cluster, of_tree.die), (shown.cluster, shown.die), "{what}: cluster");
        assert_eq!((of_tree.package, of_tree.node), (shown.package, shown.node), "{what}: package");
        assert_eq!(tree.core_cpus(cpu), kernel.core_cpus(cpu), "{what}");
        assert_eq!(tree.cluster_cpus(cpu), kernel.cluster_cpus(cpu), "{what}");
        assert_eq!(tree.package_cpus(cpu), kernel.package_cpus(cpu), "{what}");
        let ids = ["core_id", "cluster_id"].map(|id| topology_id(&folder.join("boot"), cpu, id));
        assert_eq!([of_tree.ids.core, of_tree.ids.cluster], ids, "{what}: ids");
        let capacity = folder.join(format!("boot/sys/devices/system/cpu/cpu{cpu}/cpu_capacity"));
        let capacity = fs::read_to_string(capacity).unwrap().trim().parse().unwrap();
        assert_eq!(of_tree.capacity, Some(capacity), "{what}: capacity");
    }
    // QEMU counts Aff0 to 15.
    assert_eq!(tree.cpus[17].hw_id, 0x101);
    let nodes: Vec<_> = [&tree, &kernel]
        .iter()
        .map(|m| {
            m.nodes.iter().map(|n| (n.id, n.cpus.clone(), n.distances.clone())).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(nodes[0], nodes[1]);
    let memory = [&tree, &kernel].map(|m| m.nodes[0].memory_kib.unwrap());
    assert!(memory[1] <= memory[0] && memory[1] > memory[0] / 10 * 8, "{memory:?}");

    assert!(tree.caches.is_empty());
    assert!(tree.unknown.iter().any(|u| u.starts_with("Caches of CPUs 0-23")));
    for cache in &kernel.caches {
        let sharers = if cache.level == 1 { 1 } else { 24 };
        assert_eq!((cache.size_kib, cache.cpus.len()), (None, sharers), "{cache:?}");
    }
}

/// EFI firmware with ACPI tables hands on a device tree with nothing but `/chosen`.
#[test]
fn arm64_device_trees_beside_acpi_name_no_cpus() {
    let Some(archives) = captures("arm64-") else { return };
    let mut stubs = 0;
    for archive in archives {
        let (_dir, folder) = unpack(&archive);
        if folder.join("fw/acpi").is_dir() {
            let error = resolve(folder.join("fw/fdt").to_str().unwrap()).unwrap_err().to_string();
            assert!(error.ends_with("fdt: /: found no node `cpus`, expected one"), "{error}");
            stubs += 1;
        }
    }
    assert!(stubs > 0, "no arm64 capture with ACPI in {CAPTURES}");
}

/// A step is read with its firmware's tables: the device tree's cores and small cores, this step's CPUs online.
#[test]
fn steps_are_read_with_the_firmware_beside_them() {
    let Some(archives) = captures("ppc64-6.12-p9-bigcore-groups") else { return };
    let (_dir, folder) = unpack(&archives[0]);
    let machine = resolve(folder.join("smt4").to_str().unwrap()).unwrap();
    assert_eq!(machine.online.to_string(), "0-3,8-11");
    assert_eq!(machine.core_cpus(0).to_string(), "0-7");
    assert_eq!(machine.small_core_siblings(9).unwrap().to_string(), "9,11");
    let snapshot = machine::resolve_snapshot(folder.join("smt4").to_str().unwrap()).unwrap();
    assert!(snapshot.release.unwrap().starts_with("6.12."));
}
