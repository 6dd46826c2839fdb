//! Captures of real kernels: firmware or sysfs, and per step what the kernel made of it.

use flate2::read::GzDecoder;
use kernel::{Domains, Kernel, MechanismId, Version, recorded};
use machine::{Arch, Machine, devicetree, sysfs};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Directories of captures.
const CAPTURES: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/oracle/dev"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/oracle/more"),
];

/// One step of a capture: what the kernel shows, and what is predicted for it.
pub struct Step {
    /// Capture and step, for messages.
    pub what: String,
    /// Whether the step is the boot, whose log is whole.
    pub is_boot: bool,
    pub version: Version,
    pub predicted: Domains,
    /// Files of the step by path below it.
    pub files: BTreeMap<String, String>,
}

/// Every step of every capture; `None` (and a line saying so) where there are no captures at all.
pub fn all_steps() -> Option<Vec<Step>> {
    let archives: Vec<PathBuf> = CAPTURES.into_iter().flat_map(archives_in).collect();
    if archives.is_empty() {
        println!("skipped: no ../shared");
        return None;
    }
    for prefix in ["ppc64-", "x86-", "arm64-"] {
        let is_of = |path: &PathBuf| name_of(path).starts_with(prefix);
        assert!(archives.iter().any(is_of), "no {prefix} capture in {CAPTURES:?}");
    }
    Some(archives.iter().flat_map(|archive| steps(archive)).collect())
}

/// The captures in `dir`, by name; none where there is no such directory.
fn archives_in(dir: &str) -> Vec<PathBuf> {
    let Ok(dir) = fs::read_dir(dir) else { return vec![] };
    let mut paths: Vec<PathBuf> = dir.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| name_of(path).ends_with(".tar.gz"));
    paths.sort();
    paths
}

fn name_of(archive: &Path) -> &str {
    archive.file_name().unwrap().to_str().unwrap()
}

/// Whether a comparison needs the file at `path` of a step.
fn is_needed(path: &str) -> bool {
    matches!(path, "attach.log" | "uname" | "proc/cpuinfo" | "sys/devices/system/cpu/online")
        || path.starts_with("debug/domains/")
}

fn arch(archive: &str) -> Arch {
    match archive.split('-').next().unwrap() {
        "ppc64" => Arch::Powerpc,
        "arm64" => Arch::Arm64,
        "x86" => Arch::X86,
        other => panic!("{archive}: found {other}, expected an architecture"),
    }
}

/// Whether domains depend on the file or link at `path` of a step's sysfs; all other files of it may be absent.
fn is_of_machine(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("sys/devices/system/") else { return false };
    let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
    match parts[..] {
        ["cpu" | "node", name] => matches!(name, "online" | "possible" | "present" | "has_cpu"),
        ["cpu", _, name] => name.starts_with("node") || name == "physical_id",
        ["cpu", _, "topology", name] => matches!(
            name,
            "core_cpus_list"
                | "cluster_cpus_list"
                | "cluster_id"
                | "die_cpus_list"
                | "die_id"
                | "physical_package_id"
        ),
        ["cpu", _, "cache", _, name] => matches!(name, "level" | "type" | "shared_cpu_list"),
        ["node", _, name] => matches!(name, "cpulist" | "distance"),
        _ => false,
    }
}

/// What a comparison needs of one capture.
struct Capture {
    fdt: Vec<u8>,
    /// `config.json`.
    config: String,
    /// Holds `boot/sys`, which tells of more CPUs than later steps: offline CPUs have no topology there.
    dir: TempDir,
    by_step: BTreeMap<String, BTreeMap<String, String>>,
}

fn unpack(archive: &Path, arch: Arch) -> Capture {
    let file = File::open(archive).unwrap();
    let (dir, mut fdt, mut config) = (tempfile::tempdir().unwrap(), Vec::new(), String::new());
    let mut by_step: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for entry in tar::Archive::new(GzDecoder::new(file)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_string();
        if path.ends_with("/config.json") {
            entry.read_to_string(&mut config).unwrap();
            continue;
        }
        let mut parts = path.splitn(3, '/').skip(1);
        let (Some(step), Some(path)) = (parts.next(), parts.next()) else { continue };
        let of_machine = step == "boot" && arch != Arch::Powerpc && is_of_machine(path);
        if (step, path) == ("fw", "fdt") {
            entry.read_to_end(&mut fdt).unwrap();
        } else if !entry.header().entry_type().is_file() {
            // The link from a CPU's directory to its node's; only the name counts.
            if of_machine {
                fs::create_dir_all(dir.path().join(entry.path().unwrap())).unwrap();
            }
        } else if of_machine || is_needed(path) {
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            if of_machine {
                let place = dir.path().join(entry.path().unwrap());
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                fs::write(place, &text).unwrap();
            }
            by_step.entry(step.to_string()).or_default().insert(path.to_string(), text);
        }
    }
    Capture { fdt, config, dir, by_step }
}

fn machine(capture: &Capture, archive: &str, arch: Arch) -> Machine {
    if arch == Arch::Powerpc {
        return devicetree::read(&capture.fdt, archive).unwrap();
    }
    let name = archive.strip_suffix(".tar.gz").unwrap();
    sysfs::read(&capture.dir.path().join(name).join("boot"), arch).unwrap()
}

/// The kernel of a step: Debian's configuration, and what the maker of the CPUs decides.
fn kernel_of(files: &BTreeMap<String, String>, arch: Arch) -> Kernel {
    let release = files["uname"].split_whitespace().nth(2).unwrap();
    let kernel = Kernel::new(release.parse().unwrap());
    match arch {
        Arch::Powerpc | Arch::Other => kernel,
        Arch::Arm64 if kernel.version <= Version::new(6, 12) => {
            kernel.with(MechanismId::SchedCluster, false)
        }
        Arch::Arm64 => kernel,
        Arch::X86 => {
            let zen = files["proc/cpuinfo"].contains("AuthenticAMD");
            kernel.with(MechanismId::ZenReclaimDistance, zen)
        }
    }
}

fn steps(path: &Path) -> Vec<Step> {
    let archive = name_of(path);
    let arch = arch(archive);
    let capture = unpack(path, arch);
    let machine = machine(&capture, archive, arch);
    let step = |(step, files): (String, BTreeMap<String, String>)| {
        let kernel = kernel_of(&files, arch);
        let online = files["sys/devices/system/cpu/online"].parse().unwrap();
        let machine = machine.with_online(online).unwrap();
        let predicted = match recorded::last_offline(&capture.config, &step).unwrap() {
            Some(cpu) => kernel::build_after_offline(&machine, &kernel, cpu).unwrap(),
            None => kernel::build(&machine, &kernel).unwrap(),
        };
        let what = format!("{archive} {step}");
        Step { what, is_boot: step == "boot", version: kernel.version, predicted, files }
    };
    capture.by_step.clone().into_iter().map(step).collect()
}
