//! Small experiments whose figures must not change by themselves: fair class, hotplug, governors, partitions, overridden
//! constants. `golden/NAME.toml` is the experiment, the files beside it what `compare` prints of its runs.
//!
//! A change of the model that is meant changes these files: a failing test says where it left what it found.

use crate::shell::stdout;
use std::path::Path;

const TEXT: (&str, &[&str]) = ("txt", &["--counters"]);
const CSV: (&str, &[&str]) = ("csv", &["--csv"]);
const JSON: (&str, &[&str]) = ("json", &["--json"]);

/// Runs the experiment and compares what is printed of it: by suffix of the file, the options of `compare`.
fn holds(name: &str, printed: &[(&str, &[&str])]) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/golden");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let store = dir.path().join("store");
    let store = store.to_str().expect("UTF-8");
    let experiment = golden.join(format!("{name}.toml"));
    stdout(&["run", experiment.to_str().expect("UTF-8"), "--out", store]);
    for &(suffix, options) in printed {
        let file = format!("{name}.{suffix}");
        let found = stdout(&[&["compare", store], options].concat());
        let expected = std::fs::read_to_string(golden.join(&file)).unwrap_or_default();
        if found != expected {
            let left = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&file);
            std::fs::write(&left, &found).expect("the target directory takes files");
            panic!("{file} differs: diff {} {}", golden.join(&file).display(), left.display());
        }
    }
}

#[test]
fn clocks() {
    holds("clocks", &[TEXT, CSV]);
}

#[test]
fn clusters() {
    holds("clusters", &[TEXT, CSV, JSON]);
}

#[test]
fn partitions() {
    holds("partitions", &[TEXT, CSV]);
}

#[test]
fn wakeups() {
    holds("wakeups", &[TEXT, CSV]);
}

#[test]
fn together() {
    holds("together", &[TEXT, CSV]);
}
