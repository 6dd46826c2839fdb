//! Machines read from ACPI tables against what real kernels show in sysfs for the same firmware.

use flate2::read::GzDecoder;
use machine::{Arch, Cache, Machine, acpi, resolve, sysfs};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/oracle/dev");

/// What one capture holds: the machine by its ACPI tables, that by sysfs, and the text of `/proc/cpuinfo`.
struct Capture {
    name: String,
    tables: Machine,
    kernel: Machine,
    cpuinfo: String,
    /// `core_id` and `cluster_id` of each CPU.
    ids: Vec<[Option<u32>; 2]>,
}

/// Captures of `arch` with ACPI tables; `None` (and a line saying so) where there are no captures at all.
fn captures(arch: Arch, prefix: &str) -> Option<Vec<Capture>> {
    let Ok(dir) = fs::read_dir(CAPTURES) else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no captures in {CAPTURES}");
        println!("skipped: no ../shared");
        return None;
    };
    let mut archives: Vec<PathBuf> = dir.map(|entry| entry.unwrap().path()).collect();
    archives.sort();
    let of_arch = archives.iter().filter(|p| {
        let name = p.file_name().unwrap().to_str().unwrap();
        name.starts_with(prefix) && name.ends_with(".tar.gz")
    });
    let captures: Vec<Capture> = of_arch.filter_map(|archive| capture(archive, arch)).collect();
    assert!(!captures.is_empty(), "no capture {prefix}* with ACPI tables in {CAPTURES}");
    Some(captures)
}

fn capture(archive: &Path, arch: Arch) -> Option<Capture> {
    let (_dir, folder) = unpack(archive);
    let acpi = folder.join("fw/acpi");
    if !acpi.is_dir() {
        return None;
    }
    let tables = acpi::read(&acpi).unwrap();
    assert_eq!(resolve(acpi.to_str().unwrap()).unwrap(), tables);
    let name = folder.file_name().unwrap().to_str().unwrap().to_string();
    let kernel = sysfs::read(&folder.join("boot"), arch).unwrap();
    let cpuinfo = fs::read_to_string(folder.join("boot/proc/cpuinfo")).unwrap();
    let ids = (0..kernel.cpus.len())
        .map(|cpu| ["core_id", "cluster_id"].map(|id| number(&folder, cpu, id)));
    let ids = ids.collect();
    let in_memory = in_memory(&acpi);
    assert_eq!(
        Machine { name: tables.name.clone(), title: tables.title.clone(), ..in_memory },
        tables
    );
    Some(Capture { name, tables, kernel, cpuinfo, ids })
}

/// A number of the topology files after boot; `None` where there is none or the kernel's -1.
fn number(folder: &Path, cpu: usize, name: &str) -> Option<u32> {
    let file = folder.join(format!("boot/sys/devices/system/cpu/cpu{cpu}/topology/{name}"));
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The machine of the tables in `acpi`, put behind one another and split again.
fn in_memory(acpi: &Path) -> Machine {
    let files = fs::read_dir(acpi).unwrap().map(|entry| entry.unwrap().path());
    let dump: Vec<u8> = files.flat_map(|file| fs::read(file).unwrap()).collect();
    let parts = acpi::split(&dump, "dump").unwrap();
    let tables: Vec<(&str, &[u8])> = parts.into_iter().map(|part| ("dump", part)).collect();
    acpi::read_tables(&tables, "dump").unwrap()
}

/// Unpacks tables, and sysfs and `/proc/cpuinfo` after boot; gives the directory and the capture's folder in it.
fn unpack(archive: &Path) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let mut tar = tar::Archive::new(GzDecoder::new(File::open(archive).unwrap()));
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap();
        let inner: PathBuf = path.components().skip(1).collect();
        if ["fw/acpi", "boot/sys", "boot/proc/cpuinfo"].iter().any(|part| inner.starts_with(part)) {
            assert!(entry.unpack_in(dir.path()).unwrap());
        }
    }
    let folder = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    (dir, folder)
}

/// Number, CPUs and distances of each node.
fn nodes(machine: &Machine) -> Vec<(u32, String, Vec<u32>)> {
    let of = |n: &machine::Node| (n.id, n.cpus.to_string(), n.distances.clone());
    machine.nodes.iter().map(of).collect()
}

fn compare_nodes(Capture { name, tables, kernel, .. }: &Capture) {
    assert_eq!(nodes(tables), nodes(kernel), "{name}: nodes");
    for (table, kernel) in tables.nodes.iter().zip(&kernel.nodes) {
        let (Some(table), Some(kernel)) = (table.memory_kib, kernel.memory_kib) else { continue };
        // The kernel counts what it did not reserve for itself.
        assert!(kernel <= table && kernel >= table / 2, "{name}: {kernel} of {table} KiB");
    }
}

#[test]
fn arm64_tables_give_what_kernels_show() {
    let Some(captures) = captures(Arch::Arm64, "arm64-") else { return };
    for capture in captures {
        let Capture { name, tables, kernel, ids, .. } = &capture;
        assert_eq!(tables.arch, Arch::Arm64, "{name}");
        assert_eq!(tables.cpus.len(), kernel.cpus.len(), "{name}: CPUs");
        assert_eq!(tables.online, kernel.online, "{name}: CPUs online");
        for (cpu, &shown_ids) in ids.iter().enumerate() {
            let what = format!("{name}: CPU {cpu}");
            let (table, shown) = (&tables.cpus[cpu], &kernel.cpus[cpu]);
            assert_eq!((table.core, table.thread), (shown.core, shown.thread), "{what}: core");
            assert_eq!(tables.core_cpus(cpu), kernel.core_cpus(cpu), "{what}: core");
            assert_eq!(table.cluster, shown.cluster, "{what}: cluster");
            assert_eq!(tables.cluster_cpus(cpu), kernel.cluster_cpus(cpu), "{what}: cluster");
            assert_eq!((table.package, table.die), (shown.package, shown.die), "{what}: package");
            assert_eq!(tables.package_cpus(cpu), kernel.package_cpus(cpu), "{what}: package");
            assert_eq!([table.ids.core, table.ids.cluster], shown_ids, "{what}: ids");
        }
        // Without firmware's word on a cache, the kernel takes level and type from the CPU's registers, has no
        // size and calls the cache everybody's.
        let told = |c: &&Cache| c.size_kib.is_some() || c.cpus != kernel.possible();
        let told: Vec<Cache> = kernel.caches.iter().filter(told).cloned().collect();
        assert_eq!(tables.caches, told, "{name}: caches");
        let silent = tables.unknown.iter().any(|u| u.contains("the PPTT names none"));
        assert_eq!(silent, told.is_empty(), "{name}: {:?}", tables.unknown);
        // Of two nodes the captured kernel shows one. No rule about SRAT or SLIT in `acpi_numa_init` and
        // `numa_register_nodes` of 6.12 and 7.3 refuses these tables, and ACPI_NUMA is on in its configuration; what
        // is left is RAM outside of the SRAT's ranges, by the firmware's memory map, which no capture has.
        match tables.nodes.len() {
            1 => compare_nodes(&capture),
            _ => {
                assert_eq!(name, "arm64-7.3-kunpeng-2node", "compare its nodes");
                assert_eq!(kernel.nodes.len(), 1, "{name}: compare its nodes");
                let dropped = "NUMA nodes: Linux drops them where RAM lies outside";
                assert!(tables.unknown.iter().any(|u| u.starts_with(dropped)), "{name}");
            }
        }
    }
}

#[test]
fn arm64_nodes_are_those_that_the_machine_was_made_with() {
    let Some(captures) = captures(Arch::Arm64, "arm64-7.3-kunpeng-2node") else { return };
    let expected = [(0, "0-23".to_string(), vec![10, 12]), (1, "24-47".to_string(), vec![12, 10])];
    assert_eq!(nodes(&captures[0].tables), expected);
    let memory: Vec<_> = captures[0].tables.nodes.iter().map(|n| n.memory_kib).collect();
    assert_eq!(memory, [Some(512 << 10), Some(512 << 10)]);
}

#[test]
fn x86_tables_give_cpus_and_nodes_as_kernels_show_them() {
    let Some(captures) = captures(Arch::X86, "x86-") else { return };
    for capture in captures {
        let Capture { name, tables, kernel, cpuinfo, .. } = &capture;
        assert_eq!(tables.arch, Arch::X86, "{name}");
        assert_eq!(tables.cpus.len(), kernel.cpus.len(), "{name}: CPUs");
        assert!(tables.unknown.iter().any(|u| u.contains("there is no PPTT")), "{name}");
        compare_nodes(&capture);
        let value = |key: &str| -> Vec<usize> {
            let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
            let lines = lines.filter(|(name, _)| name.trim() == key);
            lines.map(|(_, value)| value.trim().parse().unwrap()).collect()
        };
        let (cpus, ids) = (value("processor"), value("apicid"));
        assert_eq!((cpus.len(), ids.len()), (kernel.online.len(), kernel.online.len()), "{name}");
        for (cpu, id) in cpus.into_iter().zip(ids) {
            assert_eq!(tables.cpus[cpu].hw_id as usize, id, "{name}: CPU {cpu}: APIC id");
        }
    }
}
