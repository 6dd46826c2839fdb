//! Verdicts over the ranges of constants: what `run --robust` says, `compare` and `report` show again.

use crate::shell::{refused, refused_in, small_big_core, stdout};

const HEADING: &str = "Over the ranges of constants";

/// What follows the heading, up to the next section.
fn section(text: &str) -> &str {
    let from = text.find(HEADING).expect("the section");
    let rest = &text[from..];
    &rest[..rest.find("\nConstants ").unwrap_or(rest.len())]
}

#[test]
fn run_concludes_and_stores_what_compare_and_report_show() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let of = |name: &str| dir.path().join(name).display().to_string();
    let (file, out, page) = (of("x.toml"), of("out"), of("x.html"));
    std::fs::write(&file, small_big_core(8, 0.1)).expect("a file");
    let run = |threads: &str, more: &[&str]| {
        let all = ["run", &file, "--workload", "sched-pipe", "--threads", threads, "--robust"];
        stdout(&[&all[..], more].concat())
    };
    let first = run("1", &["--out", &out]);
    let shown = section(&first);
    assert!(shown.contains("sched-pipe, seconds: big-core-v5 against vanilla"), "{shown}");
    assert!(shown.contains("In full runs from"), "{shown}");
    assert_eq!(section(&run("2", &[])), shown, "threads change nothing");
    assert_eq!(section(&stdout(&["compare", &out])), shown);
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["compare", &out, "--json"])).expect("JSON");
    let comparisons = json["robustness"]["comparisons"].as_array().expect("comparisons");
    assert_eq!(comparisons.len(), 2);
    let known = ["robust", "undecided", "no-difference-shown"];
    for comparison in comparisons {
        assert!(known.contains(&comparison["conclusion"].as_str().expect("a word")));
    }
    assert!(json["robustness"]["constants"]["sched-pipe"][0]["low"].is_number());
    stdout(&["report", &out, "--output", &page]);
    assert!(std::fs::read_to_string(&page).expect("a page").contains("id=\"ranges\""));
    assert!(!stdout(&["run", &file, "--runs", "2"]).contains(HEADING));
}

#[test]
fn robust_is_refused_where_nothing_would_come_of_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("x.toml").display().to_string();
    std::fs::write(&file, small_big_core(2, 0.01)).expect("a file");
    for more in [["--engine", "vm"], ["--style", "ministat"]] {
        let error = refused(&[&["run", &file, "--robust"], &more[..]].concat());
        assert!(error.contains("--robust: found ") && error.contains("expected `--engine sim`"));
    }
}

#[test]
fn machine_show_lists_ranges_and_bad_ones_are_refused() {
    let shown = stdout(&["machine", "show", "power9-big-core", "--constants"]);
    let row = |name: &str| {
        let line =
            shown.lines().map(str::trim_start).find(|line| line.starts_with(name)).expect("a row");
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(row("handover_big_core_ns ").ends_with("6.8 ns assumed 3.4 to 20"));
    assert!(row("smt_share_4 ").ends_with("0.4 ratio assumed 0.25 to 0.8"));
    assert!(shown.contains("; range: the published clock of 2.2-3.8 GHz"));
    let json = stdout(&["machine", "show", "epyc-7742-1s-nps1", "--constants", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let range = &json["handover_llc_ns"]["range"];
    assert!((range["low"].as_f64().expect("a number") - 25.3 / 1.1).abs() < 1e-9);
    let machine = include_str!("../../../machine/catalog/epyc-7742.toml");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("m.toml");
    for (from, to, wanted) in [
        (
            "low = 0.39, high = 0.88",
            "low = 0.6, high = 0.88",
            "constants.kernel_line_ratio.range.low: found 0.6 to 0.88 around 0.58, expected low and \
             high above 0, with the value within",
        ),
        ("low = 0.39, high = 0.88", "low = 0.39, high = 1.5", "expected a range within 0 to 1"),
        ("low = 0.39, high = 0.88", "low = 0, high = 0.88", "found 0 to 0.88 around 0.58"),
        ("low = 0.39, high = 0.88", "low = 0.39", "found missing field `high`"),
        ("low = 0.39, high = 0.88", "low = 0.39, high = inf", "found 0.39 to inf"),
        (
            "source = \"a set clock\"",
            "source = \" \"",
            "range.source: found no text, expected some",
        ),
    ] {
        assert!(machine.contains(from), "{from}");
        std::fs::write(&file, machine.replacen(from, to, 1)).expect("a file");
        let name = format!("{}#epyc-7742-1s-nps1", file.display());
        let error = refused_in(dir.path(), &["machine", "show", &name]);
        assert!(error.contains(wanted), "{error}");
    }
}
