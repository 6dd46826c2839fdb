//! `schedscape sweep` as a user meets it.

use crate::shell::schedscape;
use std::path::Path;

const SMALL: &str = "name = \"small\"\nmachine = \"power9-big-core\"\n\
    variant = [{ name = \"base\", kernel = \"4.18\" }]\n\
    workload = [{ name = \"pipe\", runs = 2, sched_pipe = { loops = 1000, loops_run = 20 } }]\n\
    [sweep]\nseed = [1, 2, 3]\n";

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("text")
}

fn swept(dir: &Path, file: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let (sweep, out) = (dir.join("sweep.toml"), dir.join("out"));
    std::fs::write(&sweep, file).expect("a file");
    let (sweep, out) = (sweep.display().to_string(), out.display().to_string());
    let output = schedscape(&[&["sweep", &sweep, "--out", &out], more].concat());
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_sweep_runs_once() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (code, said, _) = swept(dir.path(), SMALL, &["--threads", "2"]);
    assert_eq!(code, Some(0));
    assert!(said.ends_with("out: 3 cells, 3 run now, 0 before\n"), "{said}");
    let (_, said, _) = swept(dir.path(), SMALL, &[]);
    assert!(said.ends_with("out: 3 cells, 0 run now, 3 before\n"), "{said}");
    let (_, said, _) = swept(dir.path(), SMALL, &["--json"]);
    let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((&said["cells"], &said["axes"][0]), (&3.into(), &"seed".into()));
    assert_eq!(said["missing"].as_object().map(|all| all.len()), Some(0));
}

#[test]
fn a_bad_axis_is_one_line_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (code, said, error) = swept(dir.path(), &SMALL.replace("[1, 2, 3]", "[1, \"x\"]"), &[]);
    assert_eq!((code, said.as_str(), error.lines().count()), (Some(2), "", 1));
    assert!(error.contains("sweep.toml: seed: "), "{error}");
    assert!(!dir.path().join("out").exists());
}
