//! `schedscape compare --mmtests` as a user meets it.

use crate::shell::{self, LOG, schedscape};
use std::process::Output;

/// `args` after the command and its log.
fn of_log<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["compare", "--mmtests", LOG][..], args].concat()
}

fn compare(args: &[&str]) -> Output {
    schedscape(&of_log(args))
}

fn stdout(args: &[&str]) -> String {
    shell::stdout(&of_log(args))
}

#[test]
fn runs_are_compared_as_mmtests_prints_them() {
    let text = stdout(&["base", "patched"]);
    let line = |start: &str| text.lines().find(|l| l.starts_with(start)).expect(start).to_string();
    let four = line("Amean 4");
    assert!(four.contains("1.5934 +-") && four.contains("1.4374 +-"), "{four}");
    assert!(four.ends_with("(    9.79%*)"), "{four}");
    assert!(line("Amean 7").ends_with("missing"));
    assert!(text.contains("left out: stream"), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
}

#[test]
fn many_runs_stay_within_a_mails_width() {
    let text = stdout(&["base", "patched", "base", "patched", "base", "patched"]);
    assert!(text.lines().filter(|l| !l.contains("kernbench")).all(|l| l.chars().count() <= 100));
    assert!(text.contains('~'));
}

#[test]
fn data_holds_samples_and_figures() {
    let text = stdout(&["base", "patched", "--json"]);
    let data: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let tables = data["tables"].as_array().expect("tables");
    let table = tables.iter().find(|t| t["metric"] == "kernbench Elapsed").expect("a table");
    assert_eq!(table["estimator"], "amean");
    let cell = &table["compared"]["rows"][0]["cells"][1]["present"];
    assert_eq!(cell["change"]["verdict"], "better");
    assert_eq!(table["rows"][0]["cells"][0].as_array().expect("runs").len(), 2);
    assert_eq!(data["left_out"][0], "stream");
}

#[test]
fn bad_input_is_one_line() {
    for (args, found) in [
        (&["base"][..], "found 1 run, expected two or more"),
        (&["base", "absent"], "absent: found"),
    ] {
        let out = compare(args);
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!((out.status.code(), stderr.lines().count()), (Some(2), 1), "{stderr}");
        assert!(stderr.contains(found) && out.stdout.is_empty(), "{stderr}");
    }
}
