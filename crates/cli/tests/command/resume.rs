//! Interrupted commands go on where they stopped; experiments that list a parameter's values print a study's tables.

use crate::shell::{BIG_CORE, command, refused, schedscape, stdout};
use std::path::Path;
use std::time::{Duration, Instant};

const EPYC: &str = include_str!("../../../../experiments/epyc-7742-frequency-invariance.toml");

fn lines(path: &Path) -> usize {
    std::fs::read(path).map_or(0, |bytes| bytes.iter().filter(|&&b| b == b'\n').count())
}

fn bytes(dir: &Path) -> [Vec<u8>; 2] {
    ["manifest.json", "runs.parquet"].map(|f| std::fs::read(dir.join(f)).expect("a file"))
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_bytes() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("x.toml");
    let text = BIG_CORE
        .replace("seconds = 10", "seconds = 0.1")
        .replace("loops_run = 25000", "loops_run = 1000");
    std::fs::write(&file, text).expect("a file");
    let file = file.display().to_string();
    let place = |name: &str| dir.path().join(name);
    let (whole, kept) = (place("whole"), place("kept"));
    stdout(&["run", &file, "--out", &whole.display().to_string()]);
    let out = kept.display().to_string();
    let again = ["run", file.as_str(), "--out", out.as_str(), "--threads", "1"];
    let mut child = command(&again).stdout(std::process::Stdio::null()).spawn().expect("it starts");
    let partial = place("kept.partial");
    let begun = Instant::now();
    while lines(&partial) < 5 && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let done = lines(&partial);
    assert!(done >= 5, "{done} lines");
    assert!(!kept.exists());
    let other = refused(&["run", &file, "--seed", "2", "--out", &out]);
    assert!(other.contains("kept.partial") && other.contains("another experiment"), "{other}");
    let last = schedscape(&again);
    assert!(last.status.success());
    assert!(last.stderr.is_empty(), "progress is for terminals");
    assert_eq!(bytes(&kept), bytes(&whole));
    assert!(!partial.exists());
}

#[test]
fn a_refused_experiment_leaves_no_journal() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("x.toml");
    std::fs::write(&file, BIG_CORE.replace("cpus = \"0-7\"", "cpus = \"900\"")).expect("a file");
    let out = dir.path().join("out").display().to_string();
    refused(&["run", &file.display().to_string(), "--out", &out]);
    assert_eq!(std::fs::read_dir(dir.path()).expect("the directory").count(), 1);
}

/// The frequency study with two rows of tbench, one of dbench and a few of git's tests, two governors.
fn small_study() -> String {
    let tbench = EPYC.find("# The rows of tbench").expect("rows");
    let (head, _) = EPYC.split_at(tbench);
    let variants = head.find("[[variant]]\nname = \"sugov-noinv\"").expect("variants");
    let head = head[..variants].replace("study = ", "# study = ");
    format!(
        "{head}\
[[workload]]
name = \"tbench\"
title = \"t\"
runs = 3
[workload.tbench]
clients = [1, 4]
warmup_s = 0.02
seconds = 0.02
[[workload]]
name = \"dbench\"
title = \"d\"
runs = 3
[workload.dbench]
clients = [2]
parts_run = 1
warmup_s = 0.05
seconds = 0.2
[[workload]]
name = \"gitsource\"
title = \"g\"
runs = 3
[workload.gitsource]
cases = 1000
cases_run = 10
"
    )
}

#[test]
fn an_experiment_with_rows_prints_ratios_tables_and_watts() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("x.toml");
    std::fs::write(&file, small_study()).expect("a file");
    let (file, out) = (file.display().to_string(), dir.path().join("out").display().to_string());
    let text = stdout(&["run", &file, "--out", &out]);
    let order = [
        "Performance ratios",
        "better if",
        "Performance-per-watt ratios",
        "Varying: clients",
        "Hmean 1 ",
        "Hmean 4 ",
        "dbench\nVarying: clients\nUnit: ms (lower is better)",
        "SubAmean 2 ",
        "gitsource\nUnit: s (lower is better)",
        "Amean ",
        "average power consumption",
        "Amean tbench ",
        "Amean dbench ",
        "Amean gitsource ",
    ];
    let mut rest = text.as_str();
    for part in order {
        let at = rest.find(part).unwrap_or_else(|| panic!("no `{part}` in {rest}"));
        rest = &rest[at..];
    }
    let dbench = text.lines().find(|l| l.starts_with("SubAmean 2 ")).expect("dbench's row");
    assert!(dbench.contains("+-") && !dbench[..45].contains('%'), "half widths in ms: {dbench}");
    let ratios: Vec<&str> = text
        .lines()
        .filter(|l| l.starts_with("   tbench") || l.trim_start().starts_with("tbench  "))
        .collect();
    assert_eq!(ratios.len(), 2, "{text}");
    assert!(ratios[0].contains("1.00") && ratios[0].ends_with("higher"), "{ratios:?}");
    assert!(!text.contains("x ondemand"), "no ministat beside it");
    let tables = text.split("Performance ratios").nth(1).expect("tables");
    assert!(tables.lines().all(|l| l.chars().count() <= 100), "{tables}");
    assert!(stdout(&["compare", &out]).ends_with(tables));
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["compare", &out, "--json"])).expect("JSON");
    assert_eq!(json["tables"]["tables"][0]["rows"][1]["label"], "4");
    assert_eq!(json["tables"]["power"][0]["rows"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["tables"]["performance"]["lines"][1]["better"], "lower");
}
