//! Constants on which verdicts hang: what `run` lists, `compare` and `report` show again.

use crate::shell::{BIG_CORE, stdout};

const HEADING: &str = "Constants on which verdicts hang";

/// What follows the heading, up to the next empty section.
fn section(text: &str) -> &str {
    let from = text.find(HEADING).expect("the section");
    let rest = &text[from..];
    &rest[..rest.find("\nConstants of ").unwrap_or(rest.len())]
}

#[test]
fn run_lists_constants_and_stores_what_compare_and_report_show() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("x.toml");
    let text = BIG_CORE
        .replace("seconds = 10", "seconds = 0.1")
        .replace("loops_run = 25000", "loops_run = 500");
    std::fs::write(&file, text).expect("a file");
    let file = file.display().to_string();
    let out = dir.path().join("out").display().to_string();
    let page = dir.path().join("x.html").display().to_string();
    let run = stdout(&["run", &file, "--runs", "64", "--out", &out]);
    let listed = section(&run);
    assert!(listed.contains("sched-pipe, seconds: big-core-v5 against vanilla"), "{listed}");
    assert!(listed.contains("Elasticity: percentage points"), "{listed}");
    assert_eq!(section(&stdout(&["compare", &out])), listed);
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["compare", &out, "--json"])).expect("JSON");
    assert_eq!(json["sensitivity"]["comparisons"].as_array().map(Vec::len), Some(3));
    stdout(&["report", &out, "--output", &page]);
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains(HEADING) && html.contains("big-core-v5 against vanilla"));
    let few = stdout(&["run", &file, "--runs", "4"]);
    assert!(section(&few).contains("No constants moved for ebizzy, sched-pipe"), "{few}");
    assert!(!stdout(&["run", &file, "--runs", "4", "--sensitivity", "never"]).contains(HEADING));
}
