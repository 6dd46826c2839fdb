//! The kernel's own files, read into a machine and printed again, are the same.

use flate2::read::GzDecoder;
use machine::{Machine, form, resolve, snapshot};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/oracle/dev");

/// A captured state: what to call it, how to ask for it, and its files of sysfs by path.
struct Step {
    what: String,
    spec: String,
    files: BTreeMap<String, String>,
}

/// All steps of all captures; `None` (and a line saying so) where there are none.
fn steps() -> Option<Vec<Step>> {
    let Ok(dir) = fs::read_dir(CAPTURES) else {
        assert!(std::env::var_os("CI").is_none(), "no captures in {CAPTURES}");
        println!("skipped: no ../shared");
        return None;
    };
    let paths = dir.map(|entry| entry.unwrap().path());
    let archives = paths.filter(|p| p.extension().is_some_and(|e| e == "gz"));
    let steps: Vec<Step> = archives.flat_map(|archive| steps_of(&archive)).collect();
    assert!(!steps.is_empty(), "no capture in {CAPTURES}");
    Some(steps)
}

fn steps_of(archive: &Path) -> Vec<Step> {
    let mut tar = tar::Archive::new(GzDecoder::new(File::open(archive).unwrap()));
    let mut steps: BTreeMap<[String; 2], BTreeMap<String, String>> = BTreeMap::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_string();
        let parts: Vec<&str> = path.splitn(3, '/').collect();
        let &[capture, step, file] = parts.as_slice() else { continue };
        if file.starts_with("sys/") && entry.header().entry_type().is_file() {
            let files = steps.entry([capture, step].map(str::to_string)).or_default();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            files.insert(file.to_string(), text);
        }
    }
    let step = |([capture, step], files): ([String; 2], _)| Step {
        what: format!("{capture}/{step}"),
        spec: format!("{}:{step}", archive.display()),
        files,
    };
    steps.into_iter().map(step).collect()
}

/// Why a file may differ from what the model prints.
fn exception(step: &Step, path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap();
    match name {
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
    let Some(steps) = steps() else { return };
    let mut wrong = Vec::new();
    for step in &steps {
        let machine = resolve(&step.spec).unwrap();
        let printed: BTreeMap<String, String> = form::files(&machine).into_iter().collect();
        let mut common = 0;
        for (path, text) in &printed {
            let Some(kernel) = step.files.get(path) else {
                assert!(may_be_absent(step, path), "{}: {path} is printed", step.what);
                continue;
            };
            common += 1;
            let reason = exception(step, path);
            let kernel = if path.ends_with("/meminfo") { first_line(kernel) } else { kernel };
            if reason.is_none() && text != kernel {
                wrong.push(format!("{}: {path}: {text:?}, not {kernel:?}", step.what));
            }
        }
        assert!(common > 15 * machine.online.len(), "{}: {common} files", step.what);
        for path in step.files.keys().filter(|p| is_printed(p)) {
            assert!(printed.contains_key(path), "{}: {path} is not printed", step.what);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap()
}

/// Files that the model prints though this capture has none.
fn may_be_absent(step: &Step, path: &str) -> bool {
    let dies_came_later = step.what.starts_with("ppc64-6.");
    let is_die = path.contains("/topology/die_");
    // Captures hold neither idle states nor the study's file, which firmware tells of.
    let not_gathered = path.contains("/cpuidle/") || path.ends_with("/small_core_siblings");
    dies_came_later && is_die || not_gathered || path.ends_with("/smt/control")
}

/// Files of a capture that the model must print.
fn is_printed(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap();
    let is_list = name.ends_with("_cpus_list") || name.ends_with("siblings_list");
    is_list
        || ["level", "type", "shared_cpu_list", "cpulist", "distance", "core_id"].contains(&name)
}

/// The machine by its files of sysfs alone, which `files` are.
fn by_sysfs(files: impl IntoIterator<Item = (String, String)>) -> Machine {
    let lines = |(path, text): (String, String)| {
        text.lines().map(|line| format!("/{path}:{line}\n")).collect::<String>()
    };
    let listing: String = files.into_iter().map(lines).collect();
    snapshot::read_listing(&listing, "machine").unwrap().machine
}

/// What is printed reads back as the same machine.
#[test]
fn printed_files_read_back() {
    let Some(steps) = steps() else { return };
    for step in &steps {
        let mut machine = by_sysfs(step.files.clone());
        machine.arch = resolve(&step.spec).unwrap().arch;
        let mut again = by_sysfs(form::files(&machine));
        again.arch = machine.arch;
        // The numbers that stand in are told as real ones, and links, which tell an offline CPU's node, are no files.
        again.unknown.clone_from(&machine.unknown);
        for (again, cpu) in again.cpus.iter_mut().zip(&machine.cpus) {
            again.ids = cpu.ids;
        }
        if keeps_offline_sharers(step) {
            again.caches.clone_from(&machine.caches);
        }
        assert_eq!(again, machine, "{}", step.what);
    }
}
