//! The kernel's own files, read into a machine and printed again, are the same.

use flate2::read::GzDecoder;
use machine::{Machine, form, resolve, sysfs};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/oracle/dev");

/// A captured state: what to call it, its folder, and its files of sysfs by path.
struct Step {
    what: String,
    dir: PathBuf,
    files: BTreeMap<String, String>,
}

/// All captures unpacked, with their steps; `None` (and a line saying so) where there are none.
fn captures() -> Option<Vec<(TempDir, Vec<Step>)>> {
    let Ok(dir) = fs::read_dir(CAPTURES) else {
        assert!(std::env::var_os("CI").is_none(), "no captures in {CAPTURES}");
        println!("skipped: no ../shared");
        return None;
    };
    let paths = dir.map(|entry| entry.unwrap().path());
    let archives = paths.filter(|p| p.extension().is_some_and(|e| e == "gz"));
    let captures: Vec<_> = archives.map(|archive| unpack(&archive)).collect();
    assert!(!captures.is_empty(), "no capture in {CAPTURES}");
    Some(captures)
}

fn unpack(archive: &Path) -> (TempDir, Vec<Step>) {
    let dir = tempfile::tempdir().unwrap();
    let mut tar = tar::Archive::new(GzDecoder::new(File::open(archive).unwrap()));
    let mut steps: BTreeMap<PathBuf, BTreeMap<String, String>> = BTreeMap::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        let parts: Vec<&str> = path.iter().map(|p| p.to_str().unwrap()).collect();
        if !matches!(parts[..], [_, _, "sys", ..] | [_, _, "uname"]) {
            continue;
        }
        assert!(entry.unpack_in(dir.path()).unwrap());
        if parts[2] == "sys" && entry.header().entry_type().is_file() {
            let text = fs::read_to_string(dir.path().join(&path)).unwrap();
            let step = steps.entry(path.iter().take(2).collect()).or_default();
            step.insert(parts[2..].join("/"), text);
        }
    }
    let steps = steps.into_iter().map(|(step, files)| Step {
        what: step.display().to_string(),
        dir: dir.path().join(step),
        files,
    });
    let steps: Vec<Step> = steps.collect();
    assert!(!steps.is_empty(), "{}", archive.display());
    (dir, steps)
}

/// Why a file may differ from what the model prints.
fn exception(step: &Step, machine: &Machine, path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.split('/').collect();
    let name = *parts.last().unwrap();
    let own = || {
        let cpu: usize = parts[4].strip_prefix("cpu").unwrap().parse().unwrap();
        &machine.cpus[cpu]
    };
    let ids = || own().ids;
    match name {
        "core_id" if ids().core.is_none() => Some("the reader does not tell the number"),
        "cluster_id" if ids().cluster.is_none() && own().cluster.is_some() => {
            Some("the reader does not tell the number")
        }
        "die_id" if ids().die.is_none() => Some("the reader does not tell the number"),
        "cluster_cpus" | "cluster_cpus_list" if step.what.starts_with("x86-6.1-") => {
            Some("before 6.5 a CPU without an L2's number was a cluster of its own")
        }
        "shared_cpu_list" | "shared_cpu_map" if keeps_offline_sharers(step) => {
            Some("x86 leaves CPUs that went offline in the sharers of their cache")
        }
        _ => None,
    }
}

fn keeps_offline_sharers(step: &Step) -> bool {
    step.what.starts_with("x86-7.3-offline-steps/off")
}

/// Every file of a capture that the machine prints too holds the same bytes, and the important ones are there.
#[test]
fn printed_files_are_those_of_the_kernel() {
    let Some(captures) = captures() else { return };
    for step in captures.iter().flat_map(|(_, steps)| steps) {
        let machine = resolve_sysfs(step);
        let printed: BTreeMap<String, String> = form::files(&machine).into_iter().collect();
        let mut common = 0;
        for (path, text) in &printed {
            let Some(kernel) = step.files.get(path) else {
                assert!(may_be_absent(step, path), "{}: {path} is printed", step.what);
                continue;
            };
            common += 1;
            let reason = exception(step, &machine, path);
            let kernel = if path.ends_with("/meminfo") { first_line(kernel) } else { kernel };
            assert!(
                reason.is_some() || text == kernel,
                "{}: {path}: {text:?}, not {kernel:?}",
                step.what
            );
        }
        assert!(common > 15 * machine.online.len(), "{}: {common} files", step.what);
        for path in step.files.keys().filter(|p| is_printed(p)) {
            assert!(printed.contains_key(path), "{}: {path} is not printed", step.what);
        }
    }
}

fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap()
}

/// Files that the model prints though the kernel of this capture has none.
fn may_be_absent(step: &Step, path: &str) -> bool {
    let dies_came_later = step.what.starts_with("ppc64-6.");
    let is_die = path.contains("/topology/die_");
    dies_came_later && is_die || path.ends_with("/smt/control")
}

/// Files of a capture that the model must print.
fn is_printed(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap();
    let is_list = name.ends_with("_cpus_list") || name.ends_with("siblings_list");
    is_list
        || ["level", "type", "shared_cpu_list", "cpulist", "distance", "core_id"].contains(&name)
}

fn resolve_sysfs(step: &Step) -> Machine {
    let machine = resolve(step.dir.to_str().unwrap()).unwrap();
    // Without firmware beside it: sysfs alone is what is printed again.
    sysfs::read(&step.dir, machine.arch).unwrap()
}

/// What is printed reads back as the same machine.
#[test]
fn printed_files_read_back() {
    let Some(captures) = captures() else { return };
    for step in captures.iter().flat_map(|(_, steps)| steps) {
        let machine = resolve_sysfs(step);
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in form::files(&machine) {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut again = sysfs::read(dir.path(), machine.arch).unwrap();
        again.name.clone_from(&machine.name);
        again.title.clone_from(&machine.title);
        // Links tell the node of an offline CPU; they are no files.
        again.unknown.clone_from(&machine.unknown);
        // The numbers that stand in are told as real ones.
        for (again, cpu) in again.cpus.iter_mut().zip(&machine.cpus) {
            again.ids = cpu.ids;
        }
        if keeps_offline_sharers(step) {
            again.caches.clone_from(&machine.caches);
        }
        assert_eq!(again, machine, "{}", step.what);
    }
}
