//! `schedscape sweep` as a user meets it.

use crate::shell::{refused, schedscape, stdout};
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

/// A sweep over two machines and two mechanisms, in `dir`/out.
fn grid(dir: &Path) -> String {
    let file = SMALL.replace("machine = \"power9-big-core\"\n", "").replace(
        "seed = [1, 2, 3]",
        "machine = [\"power9-big-core\", \"kunpeng920-1node\"]\nmechanism = [\"wa-weight=off\", \"small-core-smt=on\"]",
    );
    assert_eq!(swept(dir, &file, &[]).0, Some(0));
    dir.join("out").display().to_string()
}

#[test]
fn effects_are_shown_as_text_values_and_a_picture() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = grid(dir.path());
    let said = stdout(&["sweep", "show", &out]);
    assert!(said.starts_with("pipe, seconds (s, lower is better)\n"), "{said}");
    assert!(said.contains("machine \\ mechanism") && said.contains("power9-big-core"), "{said}");
    let csv =
        stdout(&["sweep", "show", &out, "--rows", "mechanism", "--columns", "machine", "--csv"]);
    assert!(csv.starts_with("mechanism,machine,workload,name,"), "{csv}");
    assert_eq!(csv.lines().count(), 5);
    let svg = dir.path().join("effects.svg");
    let json = stdout(&["sweep", "show", &out, "--json", "--svg", &svg.display().to_string()]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["effects"].as_array().map(Vec::len), Some(4));
    assert!(std::fs::read_to_string(svg).expect("a picture").contains("wa-weight=off"));
    let error = refused(&["sweep", "show", &out, "--rows", "kernel"]);
    assert!(error.contains("rows: found `kernel`, expected one of machine, mechanism"), "{error}");
    let error = refused(&["sweep", "show", &out, "--only", "seed"]);
    assert!(error.contains("--only: found `seed`, expected AXIS=VALUE"), "{error}");
    assert!(refused(&["sweep", "show", "no-such"]).contains("no-such/sweep.json: "));
}

#[test]
fn a_search_goes_on_from_what_was_run() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = SMALL
        .replace("kernel = \"4.18\" }", "kernel = \"4.18\" }, { name = \"b\", kernel = \"6.12\" }");
    let file = file.split("[sweep]").next().expect("a beginning").to_string()
        + "[bisect]\nparameter = \"workload.pipe.sched_pipe.loops_run\"\nfrom = 20\nto = 24\nwidth = 1\nseeds = 1\n";
    let path = dir.path().join("search.toml");
    std::fs::write(&path, &file).expect("a file");
    let (path, out) = (path.display().to_string(), dir.path().join("out").display().to_string());
    let command = ["sweep", "bisect", &path, "--out", &out];
    let said = stdout(&command);
    let head = "workload.pipe.sched_pipe.loops_run from 20 to 24, to a width of 1\n\
        pipe, seconds (s, lower is better): b against base\n";
    assert!(said.starts_with(head), "{said}");
    assert_eq!(stdout(&command), said);
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&[&command[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(json["points"].as_array().map(Vec::len), Some(5));
    std::fs::write(&path, file.replace("to = 24", "to = 20")).expect("a file");
    let error = refused(&command);
    assert!(error.contains("search.toml: bisect.to: found 20, expected more than"), "{error}");
}

#[test]
fn a_bad_axis_is_one_line_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (code, said, error) = swept(dir.path(), &SMALL.replace("[1, 2, 3]", "[1, \"x\"]"), &[]);
    assert_eq!((code, said.as_str(), error.lines().count()), (Some(2), "", 1));
    assert!(error.contains("sweep.toml: seed: "), "{error}");
    assert!(!dir.path().join("out").exists());
}
